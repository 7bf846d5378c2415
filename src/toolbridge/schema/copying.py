"""Copying: a node for a dialect that takes JSON Schema as it is.

References are named anew under `$defs` (or inlined where the dialect wants that), unknown keywords are left out, and
what would make a request illegal is added: `items`, properties that `required` names. Under `not`, `if` and `oneOf`
nothing is loosened, and what a repair does there is noted with its polarity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolbridge.schema.keywords import (
    ANNOTATIONS,
    NOT_MONOTONE,
    SCHEMA_IN_VALUE,
    SCHEMAS_IN_LIST,
    SCHEMAS_IN_MAP,
    VALUE_TYPES,
    subschemas,
)
from toolbridge.schema.refs import name_of

if TYPE_CHECKING:
    from toolbridge.schema.convert import Path, Walk

MOST_INLINED = 5_000
"""Nodes written because references were inlined; past that, a reference is cut instead (a reference bomb)."""

MOST_ASKED = 100
"""Targets that are looked into for recursion; a schema with more keeps its references."""

_DATA: Final = 0
_SCHEMA: Final = 1
_LIST: Final = 2
_MAP: Final = 3
_PLACES: dict[str, int] = {
    **dict.fromkeys(VALUE_TYPES, _DATA),
    "const": _DATA,
    "default": _DATA,
    **dict.fromkeys(SCHEMA_IN_VALUE, _SCHEMA),
    **dict.fromkeys(SCHEMAS_IN_LIST, _LIST),
    **dict.fromkeys(SCHEMAS_IN_MAP, _MAP),
}
for _keyword in ("$ref", "$dynamicRef", "$anchor", "$dynamicAnchor", "$defs", "definitions"):
    del _PLACES[_keyword]


def copied(walk: Walk, node: dict[str, Any], path: Path) -> dict[str, Any]:
    """A sound node as it is, with its subschemas copied likewise."""
    out: dict[str, Any] = {}
    for keyword, value in node.items():
        place = _PLACES.get(keyword)
        if place == _DATA:
            out[keyword] = value
        elif place == _MAP:
            out[keyword] = {
                key: each if type(each) is bool else walk.copy(each, (*path, keyword, key))
                for key, each in value.items()
            }
        elif place == _SCHEMA:
            out[keyword] = value if type(value) is bool else _below(walk, keyword, value, (*path, keyword))
        elif place == _LIST:
            out[keyword] = [
                each if type(each) is bool else _below(walk, keyword, each, (*path, keyword, str(i)))
                for i, each in enumerate(value)
            ]
    if "$ref" in node or "$dynamicRef" in node:
        _reference(walk, out, node, path)
    if walk.dialect.array_items and "items" not in out:
        declared = out.get("type")
        if declared == "array" or (type(declared) is list and "array" in declared):
            out["items"] = {}
    if "required" in out and walk.dialect.required_declared:
        _declare(walk, out, path)
    return out


def _declare(walk: Walk, out: dict[str, Any], path: Path) -> None:
    """Every name in `required` among the properties, as what it is there already: anything, or what is additional."""
    members = out.get("properties", {})
    missing = [key for key in out["required"] if key not in members]
    if missing:
        beyond = out.get("additionalProperties")
        if beyond is False:
            walk.note_at(path, "required.dropped", "widened", missing)
            out["required"] = [key for key in out["required"] if key in members]
            return
        out["properties"] = {**members, **dict.fromkeys(missing, beyond if type(beyond) is dict else {})}


def _below(walk: Walk, keyword: str, schema: Any, path: Path) -> dict[str, Any]:
    """A subschema, with the polarity of the keyword it stands under."""
    if keyword not in NOT_MONOTONE:
        return walk.copy(schema, path)
    outside = walk.polarity
    if outside == "unclear" or keyword != "not":
        walk.polarity = "unclear"
    else:
        walk.polarity = "" if outside == "reversed" else "reversed"
    try:
        return walk.copy(schema, path)
    finally:
        walk.polarity = outside


def _reference(walk: Walk, out: dict[str, Any], node: dict[str, Any], path: Path) -> None:
    target, ref = walk.target(node, path)
    if target is None or target is True:
        return
    if target is False:
        out["not"] = {}
    elif walk.dialect.refs == "inline" and not _recursive(walk, target):
        _inline(walk, out, target, path)
    else:
        name = walk.names.get(id(target))
        if name is None:
            name = walk.new_name(target, name_of(ref))
            walk.waiting.append((name, target))
        out["$ref"] = f"#/$defs/{name}"


def _recursive(walk: Walk, target: dict[str, Any]) -> bool:
    """Whether a target leads back to itself. Such a one is kept as a reference: to cut it would lose something."""
    known = walk.recursive.get(id(target))
    if known is not None:
        return known
    if len(walk.recursive) > MOST_ASKED:
        return True
    walk.recursive[id(target)] = answer = _leads_back(walk, target)
    return answer


def _leads_back(walk: Walk, target: dict[str, Any]) -> bool:
    seen: set[int] = set()
    waiting = [target]
    while waiting and len(seen) < MOST_INLINED:
        for each in subschemas(waiting.pop()):
            if type(each.get("$ref")) is str:
                found = walk.refs.resolve(each["$ref"])
                if found is target:
                    return True
                if type(found) is dict and id(found) not in seen:
                    seen.add(id(found))
                    waiting.append(found)
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)
    return bool(waiting)


def _inline(walk: Walk, out: dict[str, Any], target: dict[str, Any], path: Path) -> None:
    """The target's copy in the reference's place; beside other constraints, what both accept."""
    if walk.inlined > MOST_INLINED:
        walk.note_at(path, "recursion.cut", "widened", None)
        return
    before = walk.nodes
    whole = walk.copy(target, path)
    walk.inlined += walk.nodes - before
    if any(keyword not in ANNOTATIONS for keyword in out):
        out["allOf"] = [*out.get("allOf", ()), whole]
    else:
        out.update({**whole, **out})
