"""Coercion: what models get wrong in the same few ways, put right where the server's schema says how.

Only an invalid value is touched, only where the validator pointed, and only if the whole becomes valid by it. Each
coercion is a note. A string is never touched where the schema takes a string.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from toolbridge.notes import Note
from toolbridge.schema.check import Checker
from toolbridge.schema.restore import json_text, json_value

MOST_COERCIONS = 32
"""Values of one call that are put right; a call that is wrong in more places goes back to the model."""

_ABSENT = object()


def coerced(checker: Checker, arguments: dict[str, Any]) -> tuple[dict[str, Any], tuple[Note, ...]] | None:
    """The arguments put right, with a note for each change; `None` where that cannot be done."""
    value = copy.deepcopy(arguments)
    notes: list[Note] = []
    for _ in range(MOST_COERCIONS):
        errors = checker.errors(value)
        if not errors:
            return value, tuple(notes)
        if not any(_put_right(checker, value, tuple(path), len(errors), notes) for path in _places(errors)):
            return None
    return None


def _places(errors: list[Any]) -> Iterator[list[str | int]]:
    """Where the validator pointed, the inside of unions first."""
    for error in errors:
        for branch in getattr(error.kind, "context", None) or ():
            yield from _places(branch)
        yield list(error.instance_path)


def _put_right(
    checker: Checker, value: dict[str, Any], path: tuple[str | int, ...], wrong: int, notes: list[Note]
) -> bool:
    """Try what may have been meant at one place; keep the first that leaves less wrong."""
    if not path:
        return False
    holder: Any = value
    for step in path[:-1]:
        holder = holder[_key(holder, step)]
    last = _key(holder, path[-1])
    if isinstance(holder, dict) and last not in holder:
        return False
    given = holder[last]
    for code, meant in _meant(given):
        if meant is _ABSENT:
            if not isinstance(holder, dict):
                continue
            del holder[last]
        else:
            holder[last] = meant
        if len(checker.errors(value)) < wrong and not _still_wrong(checker, value, path):
            notes.append(Note(code, "changed", "/" + "/".join(map(str, path)), given))
            return True
        holder[last] = given
    return False


def _key(holder: Any, step: str | int) -> Any:
    """A step into a value; the validator writes a key of digits as a number."""
    return str(step) if isinstance(holder, dict) else step


def _still_wrong(checker: Checker, value: Any, path: tuple[str | int, ...]) -> bool:
    return any(tuple(each.instance_path)[: len(path)] == path for each in checker.errors(value))


def _meant(given: Any) -> Iterator[tuple[str, Any]]:
    """What a value may have stood for, the likeliest first."""
    if given is None:
        yield "null.dropped", _ABSENT
        return
    if isinstance(given, str):
        text = given.strip()
        try:
            parsed = json_value(text)
        except ValueError:
            parsed = given
        if not isinstance(parsed, str):
            yield "text.parsed", parsed
        if text.lower() in ("true", "false"):
            yield "text.parsed", text.lower() == "true"
        if text.lower() in ("null", "none", ""):
            yield "null.dropped", _ABSENT
    elif isinstance(given, bool | int | float):
        yield "value.written", json_text(given)
    if not isinstance(given, list):
        yield "value.listed", [given]
    elif len(given) == 1 and not isinstance(given[0], list):
        yield "list.opened", given[0]


