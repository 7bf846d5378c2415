"""A page: one text that is read from front to back, with everything that keeps the reading linear.

Searches remember what they found, so that a thousand openers without an end cost one search for that end, and JSON is
decoded in windows, since the decoder's errors count the lines of everything before them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

WINDOW: Final = 2048
"""Characters that are shown to the JSON decoder at first; four times as many whenever the value may go on."""

_LONGEST_TOKEN: Final = 16
"""A mistake this near to the end of a window may be the window's: a literal or an escape was cut."""

_BLANK = re.compile(r"\s*")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as it stands in the text, before it has an id."""

    name: str
    given: Any = None
    """The arguments: an object, or their text."""
    problem: str | None = None
    """Where it is set, the call cannot be read, and `given` is the text of it."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text, and the calls in it; none where it is marked as a call and cannot be read."""

    start: int
    end: int
    calls: tuple[Asked, ...] = ()


class Reading(NamedTuple):
    """What stands at a marker, and from where to look on: never before what was looked at."""

    end: int
    spans: tuple[Span, ...] = ()


class Limit(NamedTuple):
    """Where a broken call is over: before the tag that closes it, before another call opens, or with the text."""

    start: int
    end: int
    closed: bool


class Page:
    """A text, the names of the tools that were offered, and the markers that calls begin with."""

    __slots__ = ("_found", "_marker", "_markers", "names", "size", "text")

    def __init__(self, text: str, names: Iterable[str], markers: re.Pattern[str]) -> None:
        self.text = text
        self.size = len(text)
        self.names = frozenset(names)
        self._markers = markers
        self._found: dict[str, tuple[int, int]] = {}
        self._marker: tuple[int, re.Match[str] | None] | None = None

    def find(self, needle: str, at: int) -> int:
        """The first place from `at` on; the end of the text where there is none."""
        known = self._found.get(needle)
        if known is not None and known[0] <= at <= known[1]:
            return known[1]
        place = self.text.find(needle, at)
        place = self.size if place < 0 else place
        self._found[needle] = (at, place)
        return place

    def marker(self, at: int) -> re.Match[str] | None:
        """The first marker from `at` on."""
        known = self._marker
        if known is None or known[0] > at or (known[1] is not None and known[1].start() < at):
            known = self._marker = (at, self._markers.search(self.text, at))
        return known[1]

    def begins(self, at: int) -> bool:
        """Whether a marker stands here."""
        return self._markers.match(self.text, at) is not None

    def over(self, at: int) -> bool:
        """Whether the text is over here, or something else begins that is marked."""
        return at >= self.size or self.begins(at)

    def skip(self, at: int, what: re.Pattern[str] = _BLANK) -> int:
        """The place behind white space (or whatever the pattern is)."""
        found = what.match(self.text, at)
        return at if found is None else found.end()

    def starts(self, at: int, needles: Iterable[str]) -> int:
        """The place behind whichever of the needles stands here; -1 where none does."""
        return next((at + len(each) for each in needles if self.text.startswith(each, at)), -1)

    def limit(self, at: int, closers: Iterable[str], openers: Iterable[str]) -> Limit:
        """Where something that cannot be read is over."""
        close, length, opener = self.size, 0, self.size
        for each in closers:
            place = self.find(each, at)
            if place < close:
                close, length = place, len(each)
        for each in openers:
            opener = min(opener, self.find(each, at))
        if close < opener:
            return Limit(close, close + length, closed=True)
        return Limit(opener, opener, closed=False)

    def has_json(self, at: int) -> bool:
        return self.text.startswith(("{", "["), at)

    def decode(self, at: int) -> tuple[Any, int] | None:
        """The object or list that begins here, and the place behind it; `None` where it is not JSON."""
        width = WINDOW
        while True:
            piece = self.text[at : at + width]
            try:
                value, end = _DECODER.raw_decode(piece)
            except json.JSONDecodeError as failure:
                cut = failure.msg.startswith("Unterminated") or failure.pos >= len(piece) - _LONGEST_TOKEN
                if not cut or at + width >= self.size:
                    return None
                width *= 4
            except (ValueError, RecursionError):  # NaN, a number of thousands of digits; too deep
                return None
            else:
                return value, at + end


def read_value(text: str) -> tuple[Any] | None:
    """A whole text as the one JSON value that it is."""
    try:
        return (_DECODER.decode(text),)
    except (ValueError, RecursionError):
        return None
