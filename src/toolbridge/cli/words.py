"""Small words of the command line: numbers of things, and what stood somewhere before a change."""

from __future__ import annotations

from toolbridge.notes import Note
from toolbridge.schema.phrases import quoted

LONGEST_BEFORE = 60
"""Characters of what stood there before; enough to recognise it."""


def before(note: Note) -> str:
    """What stood there before the change, in short; empty where the note does not say."""
    return "" if note.before is None else quoted(note.before, LONGEST_BEFORE)


def counted(number: int, thing: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
