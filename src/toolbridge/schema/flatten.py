"""Flattening: one node for a node with its references and all parts of its `allOf`, and what kinds it may accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolbridge.schema.keywords import ANNOTATIONS, ANY, KINDS, KNOWN, kind_of, kinds_of_type
from toolbridge.schema.merge import Nothing, merged
from toolbridge.schema.refs import Refs
from toolbridge.schema.repair import sound

if TYPE_CHECKING:
    from toolbridge.schema.convert import Path, Walk

DEEPEST = 64
"""Nodes one inside the other. The deepest real tool has 12; a recursive walk and the validators bear this many."""


def flat(walk: Walk, node: dict[str, Any], path: Path, used: list[int], trail: tuple[int, ...] = ()) -> dict[str, Any]:
    """One node for a node with its references and all parts of its `allOf`. Raises `Nothing` if none can be."""
    parts: list[Any] = list(node.get("allOf", ()))
    base = {k: v for k, v in node.items() if k not in ("allOf", "$ref", "$dynamicRef")}
    if "$ref" in node or "$dynamicRef" in node:
        target, _ = walk.target(node, path)
        if target is not None:
            parts.insert(0, target)
            if type(target) is dict:
                used.append(id(target))
    for part in parts:
        if part is False:
            raise Nothing
        if part is True:
            continue
        if id(part) in trail or len(trail) >= DEEPEST:
            walk.note_at(path, "allOf.cyclic", "widened", None)
            continue
        walk.count()
        walk.here(path)
        whole = sound(part, walk.note)
        if "$ref" in whole or "allOf" in whole or "$dynamicRef" in whole:
            whole = flat(walk, whole, path, used, (*trail, id(part)))
        base = merged(base, whole)
    return base


def only_reference(node: dict[str, Any]) -> dict[str, Any] | None:
    """A node whose `allOf` is one reference and nothing else constrains: the reference itself, annotated."""
    parts = node.get("allOf", ())
    if len(parts) != 1 or type(parts[0]) is not dict or type(parts[0].get("$ref")) is not str:
        return None
    beside = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
    if any(keyword in KNOWN and keyword not in ANNOTATIONS for keyword in beside):
        return None
    if any(keyword in KNOWN and keyword not in ANNOTATIONS for keyword in parts[0] if keyword != "$ref"):
        return None
    return {**parts[0], **beside}


def source_kinds(refs: Refs, schema: Any, depth: int = 0) -> int:
    """The kinds of value that a source node may accept, at most."""
    if type(schema) is not dict or depth > 20:
        return 0 if schema is False else ANY
    kinds = ANY
    declared = schema.get("type")
    if type(declared) is str and declared in KINDS:
        kinds = KINDS[declared]
    elif type(declared) is list and all(type(each) is str and each in KINDS for each in declared):
        kinds = kinds_of_type(declared)
    if type(schema.get("enum")) is list:
        values = 0
        for each in schema["enum"]:
            values |= kind_of(each)
        kinds &= values
    if "const" in schema:
        kinds &= kind_of(schema["const"])
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        if type(branches) is list and 0 < len(branches) <= 50:
            some = 0
            for each in branches:
                some |= source_kinds(refs, each, depth + 1)
            kinds &= some
    if type(schema.get("allOf")) is list:
        for each in schema["allOf"][:50]:
            kinds &= source_kinds(refs, each, depth + 1)
    if type(schema.get("$ref")) is str:
        kinds &= source_kinds(refs, refs.resolve(schema["$ref"]), depth + 5)
    return kinds
