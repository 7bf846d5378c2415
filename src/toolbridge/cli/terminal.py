"""The terminal: how wide it is, whether it has colours, and what may be printed on it.

Names and reasons come from servers that nobody vetted, so nothing of theirs is printed that could move the cursor,
change colours or turn the writing round.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import TextIO

NO_TERMINAL_COLUMNS = 100
"""The width where no stream is a terminal: a file or a log, which can be scrolled but is still read by people."""

NARROWEST_COLUMNS = 60
"""A narrower terminal is written for as if it were this wide."""

STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}


def shown(text: str) -> str:
    """Text of others on one line: what is not printable is written as an escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def columns() -> int:
    """How wide the lines may be: COLUMNS, or the terminal that is being written to or that is watching."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return max(int(given), NARROWEST_COLUMNS)
    for stream in (sys.stdout, sys.stderr):  # behind a pager, stderr still is the terminal
        try:
            width = os.get_terminal_size(stream.fileno()).columns
        except (AttributeError, OSError, ValueError):  # there is no such stream, or it is no terminal
            continue
        if width > 0:
            return max(width, NARROWEST_COLUMNS)
    return NO_TERMINAL_COLUMNS


def cells(text: str) -> int:
    """How many columns the text takes: an ideograph takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def fitted(text: str, width: int) -> str:
    """The text in exactly that many columns: filled up, or cut in the middle, where names differ least."""
    if cells(text) > width:
        kept = max(width - 1, 0)
        tail = _ending(text, kept // 2)
        text = f"{_beginning(text, kept - cells(tail))}…{tail}" if width else ""
    return text + " " * (width - cells(text))


def _beginning(text: str, width: int) -> str:
    used = 0
    for i, each in enumerate(text):
        used += cells(each)
        if used > width:
            return text[:i]
    return text


def _ending(text: str, width: int) -> str:
    return _beginning(text[::-1], width)[::-1]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines of at most that many columns, each behind the indent."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and cells(indent) + cells(longer) > width:
            lines.append(indent + line)
            line = word
        else:
            line = longer
    return [*lines, indent + line] if line else lines


class Paint:
    """Colours for a stream; none where it is no terminal, or where NO_COLOR or TERM=dumb asks for none."""

    def __init__(self, stream: TextIO | None) -> None:
        forced = bool(os.environ.get("FORCE_COLOR"))
        terminal = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
        self.wanted = (forced or terminal) and not os.environ.get("NO_COLOR")

    def __call__(self, text: str, *styles: str) -> str:
        if not self.wanted or not text.strip():
            return text
        return f"\x1b[{';'.join(STYLES[each] for each in styles)}m{text}\x1b[0m"
