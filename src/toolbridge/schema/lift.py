"""Lifting: nested objects brought to the top level, for models that struggle with nesting; undone on the way back.

An object is lifted where its being there can be told from its members: it is required, or one of its members is. Only
plain objects that list their properties are lifted; a reference, a union or a map stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolbridge.schema.restore import Back

_LIFTABLE = frozenset({"type", "properties", "required", "title", "description", "additionalProperties", "default"})


@dataclass(frozen=True, slots=True)
class Lifted:
    """Top-level keys and the paths they stand for, and the objects that are there even when they are empty."""

    paths: tuple[tuple[str, tuple[str, ...]], ...]
    kept: tuple[tuple[str, ...], ...]

    def read(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        rest = dict(value)
        for path in self.kept:
            _holder(out, (*path, ""))
        for key, path in self.paths:
            if key in rest:
                _holder(out, path)[path[-1]] = rest.pop(key)
        out.update(rest)
        return out

    def write(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        roots = {path[0] for _, path in self.paths} | {path[0] for path in self.kept}
        for key, path in self.paths:
            node: Any = value
            for step in path:
                node = node.get(step, _MISSING) if isinstance(node, dict) else _MISSING
            if node is not _MISSING:
                out[key] = node
        out.update((key, each) for key, each in value.items() if key not in roots)
        return out


_MISSING = object()


def _holder(out: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for step in path[:-1]:
        out = out.setdefault(step, {})
    return out


def lifted(schema: Any) -> tuple[Any, Back | None]:
    """The schema with its nested objects lifted, and the way back; the schema itself where there are none."""
    members = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(members, dict) or not any(_liftable(each) for each in members.values()):
        return schema, None
    required = [each for each in schema.get("required") or () if isinstance(each, str)]
    flat: dict[str, Any] = {}
    needed: list[str] = []
    paths: list[tuple[str, tuple[str, ...]]] = []
    kept: list[tuple[str, ...]] = []
    taken: set[str] = set(members)

    def lift(path: tuple[str, ...], each: Any, always: bool) -> None:
        inner = set(each.get("required") or ()) if isinstance(each, dict) else set()
        if len(path) < 6 and _liftable(each) and (always or inner & each["properties"].keys()):
            if always:
                kept.append(path)
            for key, value in each["properties"].items():
                lift((*path, key), value, always and key in inner)
            return
        key = "_".join(path)
        while len(path) > 1 and (key in taken or key in flat):
            key += "_"
        taken.add(key)
        flat[key] = each
        paths.append((key, path))
        if always:
            needed.append(key)

    for name, each in members.items():
        lift((name,), each, name in required)
    out = {**schema, "properties": flat}
    if needed:
        out["required"] = needed
    else:
        out.pop("required", None)
    return out, Lifted(tuple(paths), tuple(kept))


def _liftable(schema: Any) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and isinstance(schema.get("properties"), dict)
        and bool(schema["properties"])
        and schema.get("additionalProperties") in (None, False)
        and _LIFTABLE.issuperset(schema)
    )
