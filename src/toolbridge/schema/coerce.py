"""Coercion: what models get wrong in the same few ways, put right where the server's schema says how.

Only an invalid value is touched, only where the validator pointed, and only if the whole becomes valid by it. Each
coercion is a note. A string is never touched where the schema takes a string.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from toolbridge.notes import Note, pointer
from toolbridge.schema.check import Checker
from toolbridge.schema.restore import json_text, json_value

MOST_COERCIONS = 32
"""Values of one call that are put right; a call that is wrong in more places goes back to the model."""

MOST_PLACES = 50
"""Places looked at in one round, and branches of a union that are asked where they failed."""

MOST_TRIES = 100
"""Places tried in all: a call is put right quickly or not at all."""

_ABSENT = object()


def coerced(checker: Checker, arguments: dict[str, Any]) -> tuple[dict[str, Any], tuple[Note, ...]] | None:
    """The arguments put right, with a note for each change; `None` where that cannot be done."""
    if checker.errors(arguments) is None:
        return None
    value = copy.deepcopy(arguments)
    notes: list[Note] = []
    tries = MOST_TRIES
    for _ in range(MOST_COERCIONS):
        errors = checker.errors(value)
        if errors is None:
            return None
        if not errors:
            return value, tuple(notes)
        for path, kinds in list(_places(errors).items())[:MOST_PLACES]:
            tries -= 1
            if tries < 0:
                return None
            if _put_right(checker, value, path, kinds, len(errors), notes):
                break
        else:
            return None
    return None


_Place = tuple[str | int, ...]


def _places(errors: list[Any], depth: int = 0) -> dict[_Place, set[str]]:
    """Where the validator pointed, the inside of unions first, and what it held against the value there."""
    found: dict[_Place, set[str]] = {}
    for error in errors[:MOST_PLACES]:
        if depth < 3:
            for branch in (getattr(error.kind, "context", None) or ())[:MOST_PLACES]:
                for place, kinds in _places(branch, depth + 1).items():
                    found.setdefault(place, set()).update(kinds)
        kinds = found.setdefault(tuple(error.instance_path), set())
        kinds.add(error.kind.name)
        if _of_declared(error):
            kinds.add(_DECLARED)
    return found


def _of_declared(error: Any) -> bool:
    """Whether an error is about a property that its object lists."""
    path = error.instance_path
    return bool(path) and ("properties", path[-1]) in pairwise(error.evaluation_path)


def _put_right(
    checker: Checker, value: dict[str, Any], path: _Place, kinds: set[str], wrong: int, notes: list[Note]
) -> bool:
    """Try what may have been meant at one place; keep the first that leaves less wrong."""
    if not path:
        return False
    holder: Any = value
    try:
        for step in path[:-1]:
            holder = holder[_key(holder, step)]
        last = _key(holder, path[-1])
        given = holder[last]
    except (KeyError, IndexError, TypeError):
        return False  # an error about a key, not about the value at it
    if isinstance(given, str) and kinds - _WRONG_TYPE:
        return False  # a string is due here, and only not this one
    for code, meant in _meant(given):
        if meant is _ABSENT:
            if not isinstance(holder, dict) or _DECLARED not in kinds:
                continue  # only a property may be absent: an entry of a map that is null is an entry
            del holder[last]
        else:
            holder[last] = meant
        left = checker.errors(value)
        if left is not None and len(left) < wrong and not any(_inside(each, path) for each in left):
            notes.append(Note(code, "changed", pointer(path), given))
            return True
        holder[last] = given
    return False


_DECLARED = "(declared)"
_WRONG_TYPE = frozenset({"type", "anyOf", "oneOf", _DECLARED})
"""What is held against a value of the wrong type, and nothing else."""


def _inside(error: Any, path: _Place) -> bool:
    return tuple(error.instance_path)[: len(path)] == path


def _key(holder: Any, step: str | int) -> Any:
    """A step into a value; the validator writes a key of digits as a number."""
    return str(step) if isinstance(holder, dict) else step


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
    elif isinstance(given, bool | int) or (isinstance(given, float) and math.isfinite(given)):
        yield "value.written", json_text(given)
    if not isinstance(given, list):
        yield "value.listed", [given]
