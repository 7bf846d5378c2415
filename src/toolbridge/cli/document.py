"""JSON on stdout: valid whatever the tools hold, and non-ASCII as it is."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from toolbridge.notes import Note


def write_json(document: Any, *, indented: bool = False) -> None:
    """One JSON document and a newline."""
    # A reader that is gone is noticed before anything else is said.
    print(json_text(document, indented=indented), file=sys.stdout, flush=True)


def json_text(document: Any, *, indented: bool = False) -> str:
    """One JSON document."""
    try:
        return _text(document, indented)
    except (ValueError, RecursionError):
        # Definitions are JSON by now; what a note says stood there before may not be.
        return _text(_legal(document), indented)


def note_fields(note: Note) -> dict[str, Any]:
    """A note as an object."""
    return {"code": note.code, "effect": note.effect, "path": note.path, "before": note.before}


_UNSAFE = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal would obey, or some take for the end of a line, and JSON does not escape by itself: control
characters, separators of lines and paragraphs, changes of direction."""


def _text(document: Any, indented: bool) -> str:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2 if indented else None)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


DEEPEST = 200
"""Levels of a document that are written; what is nested further is told by an ellipsis."""


def _legal(value: Any, level: int = 0) -> Any:
    """The value with text in place of what JSON does not have: NaN, infinities and endless nesting."""
    if level > DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {str(key): _legal(each, level + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_legal(each, level + 1) for each in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)
