"""Views of a text that is too long: its beginning and end, what stands at a place, and the lines that hold a word.

Each takes no more room than it is given, as far as that can be, and says which part it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from toolbridge.history.cutting import Items, fitting, fitting_tail, read_items, sensible_end, sensible_start
from toolbridge.tokens import Counter

LEAST_FOR_A_TAIL = 200
"""Tokens of a budget from which on the end of a text is shown too."""

TAIL = 0.25
"""The share of the budget that the end of a text gets: errors and sums stand there."""

LONGEST_LINE = 300
"""Characters that are shown of a line that was searched for."""

SHORTEST_LINE = 40
"""Characters that are shown of it at least, where the budget is small."""

MOST_TRIES = 6
"""How often a view is made smaller by just what is too much, before it is halved until it fits."""


class Whole:
    """A text that is too long, and the items in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def items(self) -> Items | None:
        return read_items(self.text)


@dataclass(frozen=True, slots=True)
class View:
    """A part of a text: `what` says which, and the rest begins at `next`."""

    text: str
    what: str
    next: int


def view_within(budget: int, count: Counter, look: Callable[[int], View], footer: Callable[[View], str]) -> str:
    """The largest view that fits together with its footer. The footer is there even where it does not fit."""
    room, tries = budget, 0
    while True:
        view = look(max(room, 1))
        text = view.text + footer(view)
        over = count(text) - budget
        if over <= 0 or room <= 1:
            return text
        tries += 1
        room = room - max(over, room // 50, 1) if tries < MOST_TRIES else room // 2


def beginning(whole: Whole, room: int, count: Counter) -> View:
    """The first items of its list, with what stands around the list; or the beginning of the text, and its end."""
    text, items = whole.text, whole.items
    if items is not None:
        before, after = text[: items.starts[0]], text[items.ends[-1] :]
        shown = items.before(fitting(text, items.starts[0], room - count(before + after), count))
        if 0 < shown < len(items.ends):
            return View(text[: items.ends[shown - 1]] + after, _which(items, 0, shown), items.starts[shown])
    tail = int(room * TAIL) if room >= LEAST_FOR_A_TAIL else 0
    end = sensible_end(text, 0, max(1, fitting(text, 0, room - tail, count)))
    if tail:
        start = sensible_start(text, max(end, fitting_tail(text, tail, count)))
        if end < start < len(text):
            what = f"characters 0 to {end} and {start} to {len(text)} of {len(text)}"
            return View(f"{text[:end]}\n[… {start - end:,} characters left out …]\n{text[start:]}", what, end)
    return View(text[:end], f"characters 0 to {end} of {len(text)}", end)


def page(whole: Whole, start: int, room: int, count: Counter) -> View:
    """What stands at a place: whole items, the rest of an item, or text."""
    text, items = whole.text, whole.items
    if items is not None and start == 0:
        return beginning(whole, room, count)
    end = max(start + 1, fitting(text, start, room, count))
    if items is not None:
        first, last = items.at(start), items.before(end)
        if first is not None and last > first:
            shown = text[items.starts[first] : items.ends[last - 1]]
            return View(f"[{shown}]", _which(items, first, last), _behind(text, items, last))
        inside = items.end_at(start)
        if inside is not None and inside < end:
            return View(text[start:inside], f"characters {start} to {inside} of {len(text)}", inside)
    end = sensible_end(text, start, end)
    return View(text[start:end], f"characters {start} to {end} of {len(text)}", end)


def _behind(text: str, items: Items, last: int) -> int:
    """Where the rest begins behind an item: at the next one, or at the text behind the list, if it says anything."""
    if last < len(items.starts):
        return items.starts[last]
    return items.ends[-1] if text[items.ends[-1] :].strip(" \t\r\n]}") else len(text)


def _which(items: Items, first: int, last: int) -> str:
    name = f" in {json.dumps(items.name, ensure_ascii=False)}" if items.name else ""
    return f"items {first + 1} to {last} of {len(items.ends)}{name}"


# ── searching ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds what was searched for, or the part of a long line around it."""

    text: str
    end: int
    """Where it ends in the whole text."""
    matches: int


def found_lines(text: str, start: int, find: str, longest: int = LONGEST_LINE) -> list[Line]:
    """The lines from `start` on that hold a text, each with its number and with the place where it was found."""
    lines: list[Line] = []
    number, counted, end = 1 + text.count("\n", 0, start), start, start
    for match in re.compile(re.escape(find), re.IGNORECASE).finditer(text, start):
        place = match.start()
        if lines and place < end:
            lines[-1] = Line(lines[-1].text, end, lines[-1].matches + 1)
            continue
        number += text.count("\n", counted, place)
        counted = place
        begin, end = _around(text, place, match.end(), longest)
        before = "" if begin == 0 or text[begin - 1] == "\n" else "…"
        behind = "" if end == len(text) or text[end] == "\n" else "…"
        lines.append(Line(f"{number} @{place}: {before}{text[begin:end]}{behind}", end, 1))
    return lines


def _around(text: str, start: int, end: int, longest: int) -> tuple[int, int]:
    """The line around a match, or the part of it that is not too far away."""
    side = max(longest - (end - start), 20) // 2
    begin = text.rfind("\n", max(0, start - longest), start) + 1 or (0 if start <= longest else start - side)
    stop = text.find("\n", end, end + longest)
    if stop < 0:
        stop = min(len(text), end + longest)
    if stop - begin > longest:
        return max(begin, start - side), min(stop, end + side)
    return begin, stop


def matches(lines: list[Line], length: int, room: int, count: Counter) -> View:
    """The first lines of those that were found."""
    shown: list[str] = []
    left = room
    for each in lines:
        left -= count(each.text) + 1
        if shown and left < 0:
            break
        shown.append(each.text)
    told = sum(each.matches for each in lines[: len(shown)])
    what = f"{told} of {sum(each.matches for each in lines)} matches, as line @character: text"
    return View("\n".join(shown), what, lines[len(shown) - 1].end if len(shown) < len(lines) else length)
