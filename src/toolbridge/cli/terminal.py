"""The terminal: how wide it is, and whether it has colours. What may be printed on it is `toolbridge.display`'s."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from toolbridge.display import cells, fitted, shown, wrapped

__all__ = ["Paint", "cells", "columns", "fitted", "shown", "wrapped"]

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
