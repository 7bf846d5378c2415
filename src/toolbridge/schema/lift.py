"""Lifting: nested objects brought to the top level, for models that struggle with nesting; undone on the way back.

An object is lifted where its being there can be told from its members: it is required, or one of its members is. Only
plain objects that list their properties are lifted; a reference, a union or a map stays where it is.
"""

from __future__ import annotations

from typing import Any

from toolbridge.schema.keywords import KNOWN
from toolbridge.schema.phrases import quoted
from toolbridge.schema.restore import Lifted

LONGEST_SEARCHED = 200_000
"""Characters of a schema that are searched for references into its properties."""

_AT_ROOT = frozenset({
    "type", "properties", "required", "additionalProperties", "title", "description", "$defs", "definitions", "default",
})  # fmt: skip
_LIFTABLE = frozenset({"type", "properties", "required", "title", "description", "additionalProperties", "default"})


def lifted(schema: Any) -> tuple[Any, Lifted | None]:
    """The schema with its nested objects lifted, and the way back; the schema itself where there are none."""
    members = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(members, dict) or not any(_liftable(each) for each in members.values()):
        return schema, None
    if KNOWN & schema.keys() - _AT_ROOT or "#/properties" in quoted(schema, LONGEST_SEARCHED):
        return schema, None  # something else speaks of the objects by their place or name
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
                lift((*path, key), _within(each, value), always and key in inner)
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


def _within(holder: dict[str, Any], member: Any) -> Any:
    """A member that keeps what was said of the object it stood in."""
    about = holder.get("description")
    if not isinstance(about, str) or not about or not isinstance(member, dict):
        return member
    own = member.get("description")
    return {**member, "description": f"{about.rstrip('. ')}: {own}" if isinstance(own, str) and own else about}


def _liftable(schema: Any) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and isinstance(schema.get("properties"), dict)
        and bool(schema["properties"])
        and schema.get("additionalProperties") in (None, False)
        and _LIFTABLE.issuperset(schema)
    )
