"""How large a schema is, as it stands and with its references replaced. Linear, without recursion, on a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""What holds nothing: most values, told apart before anything dearer is asked."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a schema measures."""

    values: int
    levels: int
    widest: int
    """Keys of its largest object."""
    longest: int
    """Items of its longest list."""
    refers: bool
    """Whether a part of it refers to another."""


def measured(schema: Any, most: int) -> Size:
    """The size of a schema. The count stops a little above `most`."""
    values = levels = widest = longest = 0
    refers = False
    level: list[Any] = [schema]
    while level and values <= most:
        levels += 1
        below: list[Any] = []
        for each in level:
            values += 1
            if type(each) in PLAIN:
                continue
            if isinstance(each, Mapping):
                widest = max(widest, len(each))
                refers = refers or "$ref" in each
                below += each.values()
            elif isinstance(each, list):
                longest = max(longest, len(each))
                below += each
            if values + len(below) > 2 * most:
                values += len(below)
                break
        level = below
    return Size(values, levels, widest, longest, refers)


def expanded_size(schema: Any, most: int) -> int:
    """How many values a schema has with its references replaced; a reference into what it is in counts as one value.

    Each part is summed up once, however many references lead to it, after all that it holds and refers to.
    """
    anchors = _anchors(schema)
    total: dict[int, int] = {}
    inside: set[int] = set()
    waiting = [schema]
    while waiting:
        part = waiting[-1]
        if id(part) in total:
            waiting.pop()
            continue
        below = [each for each in _below(part, schema, anchors) if isinstance(each, Mapping | list)]
        if id(part) not in inside:
            inside.add(id(part))
            waiting += [each for each in below if id(each) not in total and id(each) not in inside]
            continue
        waiting.pop()
        plain = len(part) - len(below)
        total[id(part)] = min(most + 1, 1 + max(0, plain) + sum(total.get(id(each), 1) for each in below))
    return total[id(schema)]


def _below(part: Any, schema: Any, anchors: Mapping[str, Any]) -> list[Any]:
    """What a part holds, and what it refers to."""
    if not isinstance(part, Mapping):
        return list(part)
    reference = part.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return list(part.values())
    return [*part.values(), anchors[reference] if reference in anchors else _target(schema, reference)]


def _anchors(schema: Any) -> dict[str, Any]:
    """The parts of a schema that have a name for references, by the reference."""
    found: dict[str, Any] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            name = part.get("$anchor")
            if isinstance(name, str):
                found.setdefault(f"#{name}", part)
        waiting += [each for each in (part.values() if isinstance(part, Mapping) else part)
                    if isinstance(each, Mapping | list)]  # fmt: skip
    return found


def _target(schema: Any, address: str) -> Any:
    """What a pointer within the schema points to; `None` where that is nothing, or no pointer."""
    found = schema
    first, *steps = unquote(address.removeprefix("#")).split("/")
    if first:
        return None
    for step in steps:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(key)
        elif isinstance(found, list) and key.isdecimal() and len(key) < 9 and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found
