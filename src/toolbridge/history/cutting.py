"""Where to cut a text that is too long: how much of it fits into a budget, and the sensible places near that.

JSON is cut between the items of its long list, everything else at the end of a paragraph, a line, a sentence or a word.
Pure functions over text; `history.views` shows what lies between.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from toolbridge.tokens import Counter

LEAST_KEPT = 0.6
"""How much of what fits is used at least: a sensible place before that is too far away."""

DEEPEST_LIST = 4
"""How many objects may stand around the list by whose items JSON is cut."""

_ENDS = (
    re.compile(r"\n[ \t]*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…](?=\s)|[。！？]"),
    re.compile(r"\s"),
    re.compile(r"[,;}\]>]"),
)
"""Places where a text may end, the best first. The text ends behind them."""

_JOINERS = "\u200d\ufe0e\ufe0f"
"""What ties characters into one: nothing is cut before these, nor behind the first of them."""

_WHITE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(strict=False)


# ── how much fits ────────────────────────────────────────────────────────────────────────────────────────────────


def fitting(text: str, start: int, budget: int, count: Counter) -> int:
    """Where the longest part from `start` ends that fits: about, and never past what was counted to fit."""
    return _most(len(text) - start, budget, lambda length: count(text[start : start + length])) + start


def fitting_tail(text: str, budget: int, count: Counter) -> int:
    """Where the longest part begins that fits and lasts to the end."""
    return len(text) - _most(len(text), budget, lambda length: count(text[len(text) - length :]))


def _most(length: int, budget: int, cost: Callable[[int], int]) -> int:
    """The greatest length that costs no more than the budget. Counts about as much text as fits, a few times over."""
    fits, too_long = 0, max(64, budget)
    while too_long < length and cost(too_long) <= budget:
        fits, too_long = too_long, too_long * 2
    if too_long >= length:
        if cost(length) <= budget:
            return length
        too_long = length
    while too_long - fits > max(1, fits // 100):
        middle = (fits + too_long) // 2
        if cost(middle) <= budget:
            fits = middle
        else:
            too_long = middle
    return fits


# ── sensible places ──────────────────────────────────────────────────────────────────────────────────────────────


def sensible_end(text: str, start: int, end: int) -> int:
    """The best place to end a part that begins at `start`, at `end` or not far before it. Always past `start`."""
    if end >= len(text):
        return len(text)
    least = start + int((end - start) * LEAST_KEPT)
    for pattern in _ENDS:
        place = max((each.end() for each in pattern.finditer(text, least, end)), default=0)
        if place > start:
            return place
    return _between_characters(text, start, end)


def sensible_start(text: str, start: int) -> int:
    """The best place to begin the last part of a text, at `start` or not far behind it."""
    if start <= 0 or start >= len(text):
        return start
    most = start + int((len(text) - start) * (1 - LEAST_KEPT))
    for pattern in _ENDS[1:4]:
        found = pattern.search(text, start - 1, most)
        if found:
            return found.end()
    return start


def _between_characters(text: str, start: int, end: int) -> int:
    """A place at `end` or just before it that parts nothing that is read as one character."""
    for place in range(end, max(start, end - 20), -1):
        before, after = text[place - 1], text[place]
        tied = (
            unicodedata.combining(after)
            or after in _JOINERS
            or before == "\u200d"
            or "\U0001f3fb" <= after <= "\U0001f3ff"  # the colour of a skin
            or (before, after) == ("\r", "\n")
        )
        if not tied:
            return place
    return max(end, start + 1)


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Items:
    """The long list in a JSON text: where each of its items begins and ends."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    name: str
    """The keys that lead to it, empty where the text is the list."""

    def at(self, place: int) -> int | None:
        """The item that begins at `place`, or next behind it between two items."""
        i = bisect_left(self.starts, place)
        between = i < len(self.starts) and place >= self.starts[0] and (i == 0 or self.ends[i - 1] <= place)
        return i if between else None

    def before(self, place: int) -> int:
        """How many items end at `place` or before."""
        return bisect_right(self.ends, place)

    def end_at(self, place: int) -> int | None:
        """Where the item ends that `place` is in the middle of."""
        i = self.before(place)
        return self.ends[i] if i < len(self.ends) and self.starts[i] < place else None


def read_items(text: str) -> Items | None:
    """The list of two or more items that a text begins with, or that makes up most of the object it begins with."""
    start, end = _white(text, 0), len(text.rstrip())
    if text[start : start + 1] not in ("[", "{"):
        return None
    try:
        return _items(text, start, end)
    except (ValueError, IndexError, RecursionError):
        return None


def _items(text: str, start: int, end: int) -> Items | None:
    names: list[str] = []
    for _ in range(DEEPEST_LIST + 1):
        members = _members(text, start)
        if text[start] == "[":
            starts, ends = tuple(each[1] for each in members), tuple(each[2] for each in members)
            return Items(starts, ends, ".".join(names)) if len(members) > 1 else None
        longest = max(members, key=lambda each: each[2] - each[1], default=("", 0, 0))
        if longest[2] - longest[1] < (end - start) / 2 or text[longest[1]] not in "[{":
            return None
        names.append(longest[0])
        _, start, end = longest
    return None


def _members(text: str, start: int) -> list[tuple[str, int, int]]:
    """(key, where it begins, where it ends) of each member of the list or object at `start`."""
    named = text[start] == "{"
    close = "}" if named else "]"
    members: list[tuple[str, int, int]] = []
    place = _white(text, start + 1)
    if text[place] == close:
        return members
    while True:
        key = ""
        if named:
            key, place = _DECODER.raw_decode(text, place)
            place = _white(text, place)
            if not isinstance(key, str) or text[place] != ":":
                raise ValueError("no key")
            place = _white(text, place + 1)
        _, end = _DECODER.raw_decode(text, place)
        members.append((key, place, end))
        place = _white(text, end)
        if text[place] == close:
            return members
        if text[place] != ",":
            raise ValueError("no comma")
        place = _white(text, place + 1)


def _white(text: str, place: int) -> int:
    found = _WHITE.match(text, place)
    return found.end() if found else place
