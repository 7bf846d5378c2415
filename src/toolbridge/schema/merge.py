"""Merging: what two schemas accept together (`allOf`), and what one object of several says (a union at the root).

Neither looks into subschemas: where two meet, an `allOf` or `anyOf` of both is left for the walk to find. What cannot
be said in one node stays behind as a rest in `allOf`, and the dialect says or keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from toolbridge.schema.keywords import ANNOTATIONS, KINDS, kinds_of_type, same

_LARGER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_SMALLER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_GROUPS = (frozenset({"if", "then", "else"}), frozenset({"contains", "minContains", "maxContains"}))
"""Keywords that mean something only together: two such groups never mix."""

_UNMIXED = frozenset({"items", "prefixItems"})
"""Keywords whose neighbours decide what they are about."""


class Nothing(Exception):
    """No value satisfies both."""


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A node that accepts what both accept. Where both annotate, the first one's word stands."""
    out = dict(one)
    rest: dict[str, Any] = {}
    for group in _GROUPS:
        if group & one.keys() and group & other.keys():
            rest.update((keyword, other[keyword]) for keyword in other if keyword in group)
    if _UNMIXED & one.keys() and _UNMIXED & other.keys() and ("prefixItems" in one or "prefixItems" in other):
        rest.update((keyword, other[keyword]) for keyword in other if keyword in _UNMIXED)
    _merge_properties(out, one, other)
    for keyword, value in other.items():
        if keyword in rest or keyword in ("properties", "additionalProperties", "$defs", "definitions"):
            continue
        if keyword == "allOf":
            out["allOf"] = [*out.get("allOf", ()), *value]
        elif keyword not in out:
            out[keyword] = value
        elif keyword not in ANNOTATIONS and not same(out[keyword], value):
            meet = _MEET.get(keyword)
            if meet is None:
                rest[keyword] = value
            else:
                out[keyword] = meet(out[keyword], value)
    if rest:
        out["allOf"] = [*out.get("allOf", ()), rest]
    return out


def _merge_properties(out: dict[str, Any], one: dict[str, Any], other: dict[str, Any]) -> None:
    """Each side's `additionalProperties` is about the keys that side does not name."""
    mine, theirs = one.get("properties", {}), other.get("properties", {})
    if theirs:
        members: dict[str, Any] = {}
        for key in {**mine, **theirs}:
            sides = [
                side["properties"][key] if key in side.get("properties", {}) else _beyond(side, key)
                for side in (one, other)
            ]  # fmt: skip
            members[key] = both(*sides)
        out["properties"] = members
    elif mine and "additionalProperties" in other:
        out["properties"] = {key: both(each, _beyond(other, key)) for key, each in mine.items()}
    if "additionalProperties" in other:
        out["additionalProperties"] = both(one.get("additionalProperties", True), other["additionalProperties"])


def _beyond(side: dict[str, Any], key: str) -> Any:
    """What a side says of a key it does not name: what its patterns say that match, else what it says of the rest."""
    said: Any = True
    matched = False
    for pattern, schema in side.get("patternProperties", {}).items():
        try:
            found = re.search(pattern, key) is not None
        except re.error:
            return True  # an expression of another engine: nothing can be told
        if found:
            matched, said = True, both(said, schema)
    return said if matched else side.get("additionalProperties", True)


def both(one: Any, other: Any) -> Any:
    """A schema for both, as small as can be seen at once."""
    if one is False or other is False:
        return False
    if one is True or one == {}:
        return other
    if other is True or other == {} or one == other:
        return one
    return {"allOf": [one, other]}


def either(schemas: list[Any]) -> Any:
    """A schema for any of several, as small as can be seen at once."""
    distinct: list[Any] = []
    for each in schemas:
        if each is not False and not any(same(each, other) for other in distinct):
            distinct.append(each)
    if not distinct:
        return False
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _types(one: Any, other: Any) -> Any:
    common = kinds_of_type(one) & kinds_of_type(other)
    if not common:
        raise Nothing
    # `number` covers `integer`: name the widest types that fit, and each kind once.
    names: list[str] = []
    for name in ("null", "boolean", "number", "integer", "string", "array", "object"):
        if KINDS[name] & common == KINDS[name]:
            names.append(name)
            common &= ~KINDS[name]
    return names[0] if len(names) == 1 else names


def _enums(one: Any, other: Any) -> Any:
    common = [each for each in one if any(same(each, another) for another in other)]
    if not common:
        raise Nothing
    return common


def _const(one: Any, other: Any) -> Any:
    raise Nothing


def _patterns(one: Any, other: Any) -> Any:
    return {key: both(one.get(key, True), other.get(key, True)) for key in {**one, **other}}


_MEET: dict[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _enums,
    "const": _const,
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    "uniqueItems": lambda one, other: one or other,
    "items": both,
    "propertyNames": both,
    "patternProperties": _patterns,
    "dependentRequired": lambda one, other: {
        key: list(dict.fromkeys([*one.get(key, ()), *other.get(key, ())])) for key in {**one, **other}
    },
    "dependentSchemas": _patterns,
    **dict.fromkeys(_LARGER, max),
    **dict.fromkeys(_SMALLER, min),
}


def _in_any(branches: list[dict[str, Any]], key: str) -> Any:
    """What a key may hold in any branch: what a branch says of it, or of the keys that it does not name."""
    said: list[Any] = []
    for each in branches:
        members = each.get("properties", {})
        if key in members:
            said.append(members[key])
        elif each.get("additionalProperties", False) is not False:
            said.append(each["additionalProperties"])
    return {} if any(each is True or each == {} for each in said) else either(said)


def union_object(branches: list[dict[str, Any]]) -> dict[str, Any]:
    """One object for several: every property of any, required what all require, open where any is."""
    keys = list(dict.fromkeys(key for each in branches for key in each.get("properties", {})))
    out: dict[str, Any] = {"type": "object", "properties": {key: _in_any(branches, key) for key in keys}}
    common = [
        key for key in branches[0].get("required", ()) if all(key in each.get("required", ()) for each in branches[1:])
    ]
    if common:
        out["required"] = common
    beyond = [each.get("additionalProperties") for each in branches]
    if all(each is False for each in beyond):
        out["additionalProperties"] = False
    else:
        open_ = [each for each in beyond if each is not None and each is not False]
        if open_:
            out["additionalProperties"] = True if None in beyond else either(open_)
    patterns = list(dict.fromkeys(key for each in branches for key in each.get("patternProperties", {})))
    # A pattern holds for the union only where every branch has it or lets no such key pass.
    kept = [
        key
        for key in patterns
        if all(
            key in each.get("patternProperties", {}) or each.get("additionalProperties") is False for each in branches
        )
    ]
    if kept:
        out["patternProperties"] = {
            key: either(
                [each["patternProperties"][key] for each in branches if key in each.get("patternProperties", {})]
            )
            for key in kept
        }
    if len(kept) < len(patterns):
        out["additionalProperties"] = True
    return out
