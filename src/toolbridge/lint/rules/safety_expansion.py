"""How large a schema is, as it stands and with its references replaced. Linear, without recursion, on a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MOST_TARGETS: Final = 2_000
"""Definitions of one schema that are followed."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a schema measures."""

    values: int
    levels: int
    widest: int
    """Keys of its largest object."""
    longest: int
    """Items of its longest list."""
    references: tuple[str, ...]
    """The addresses of its references within itself, as often as they occur."""


def measured(schema: Any, most: int) -> Size:
    """The size of a schema. The count stops a little above `most`."""
    values = levels = widest = longest = 0
    references: list[str] = []
    level: list[Any] = [schema]
    while level and values <= most:
        levels += 1
        below: list[Any] = []
        for each in level:
            values += 1
            if isinstance(each, Mapping):
                widest = max(widest, len(each))
                reference = each.get("$ref")
                if isinstance(reference, str) and reference.startswith("#"):
                    references.append(reference)
                below += each.values()
            elif isinstance(each, list):
                longest = max(longest, len(each))
                below += each
            if values + len(below) > 2 * most:
                values += len(below)
                break
        level = below
    return Size(values, levels, widest, longest, tuple(references))


def expanded_size(schema: Any, most: int) -> int:
    """How many values a schema has with its references replaced; a reference into what it is in counts as one value."""
    sizes: dict[str, Size] = {"#": measured(schema, most)}
    waiting = [*dict.fromkeys(sizes["#"].references)]
    while waiting and len(sizes) < MOST_TARGETS:
        address = waiting.pop()
        if address not in sizes:
            sizes[address] = measured(_target(schema, address), most)
            waiting += dict.fromkeys(sizes[address].references)
    return _sum(sizes, most)


def _sum(sizes: Mapping[str, Size], most: int) -> int:
    """The expanded size of the whole, each target summed up after all that it refers to."""
    total: dict[str, int] = {}
    inside: set[str] = set()
    waiting = ["#"]
    while waiting:
        address = waiting[-1]
        if address in total:
            waiting.pop()
            continue
        missing = [each for each in dict.fromkeys(sizes[address].references) if each in sizes and each not in total]
        missing = [each for each in missing if each not in inside and each != address]
        if missing and address not in inside:
            inside.add(address)
            waiting += missing
            continue
        waiting.pop()
        inside.discard(address)
        total[address] = min(
            most + 1, sizes[address].values + sum(total.get(each, 1) for each in sizes[address].references)
        )
    return total["#"]


def _target(schema: Any, address: str) -> Any:
    """What an address within the schema points to; `None` where that is nothing."""
    found = schema
    for step in address.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(key)
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found
