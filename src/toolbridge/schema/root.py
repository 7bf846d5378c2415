"""The root of a tool's schema: one plain object, whatever stood there.

Every provider wants an object at the top and refuses unions beside it. References and `allOf` are merged; a union
becomes one object with every property of its branches, and words that say which go together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolbridge.schema.flatten import flat
from toolbridge.schema.keywords import ANNOTATIONS
from toolbridge.schema.merge import Nothing, merged, union_object
from toolbridge.schema.objects import legal_names, named
from toolbridge.schema.phrases import phrase, quoted
from toolbridge.schema.repair import sound
from toolbridge.schema.restore import Fields

if TYPE_CHECKING:
    from toolbridge.schema.convert import Walk, Written

MOST_BRANCHES_TOLD = 20
"""Branches of a root union that are described one by one."""


class NotAnObject(Exception):
    """The root accepts no object, and MCP arguments are always one."""


def plain_root(walk: Walk, schema: Any) -> tuple[dict[str, Any], list[str]]:
    """The root as one plain object node, and what is to be said of the unions that stood there."""
    told: list[str] = []
    if schema is None:
        schema = {"type": "object", "properties": {}}
    elif schema is True:
        schema = {}
    if not isinstance(schema, dict):
        raise NotAnObject(f"its input schema is {quoted(schema, 60)}, not a JSON Schema object")
    try:
        node = _one_object(walk, schema, told, 0)
    except Nothing:
        raise NotAnObject("its input schema accepts no object at all") from None
    for keyword in sorted(walk.dialect.root_refused & node.keys()):
        value = node.pop(keyword)
        walk.note_at((), f"{keyword}.said", "widened", value)
        told += [phrase(keyword, each) for each in ([value] if keyword != "allOf" else [])]
        if keyword == "allOf":
            told += [phrase(k, v) for rest in value for k, v in rest.items() if k not in ANNOTATIONS]
    return node, told


def _one_object(walk: Walk, schema: dict[str, Any], told: list[str], depth: int) -> dict[str, Any]:
    walk.here(())
    node = sound(schema, walk.note)
    refused = walk.dialect.root_refused
    if "$ref" in node or "$dynamicRef" in node or ("allOf" in node and "allOf" in refused):
        node = flat(walk, node, (), [])
    declared = node.get("type")
    if declared != "object":
        if declared is not None and not (isinstance(declared, list) and "object" in declared):
            if "properties" not in node:
                raise NotAnObject(
                    f"its input schema describes {quoted(declared)}, and MCP arguments are always an object"
                )
            walk.note_at((), "type.repaired", "changed", declared)
        node = {**node, "type": "object"}
    for keyword in ("anyOf", "oneOf"):
        if keyword in node and keyword in refused:
            node = _merged_union(walk, node, keyword, told, depth)
    return dict(node)


def _merged_union(walk: Walk, node: dict[str, Any], keyword: str, told: list[str], depth: int) -> dict[str, Any]:
    """One object for a union of objects at the root: all properties, required what every branch requires."""
    base = {key: value for key, value in node.items() if key != keyword}
    branches: list[dict[str, Any]] = []
    bare: list[dict[str, Any]] = []
    for each in node[keyword]:
        if each is False or depth > 8:
            continue
        try:
            branch = _one_object(walk, {} if each is True else each, [], depth + 1)
            branches.append(merged(base, branch))
            bare.append(branch)
        except (Nothing, NotAnObject):
            continue
        if len(branches) > 500:
            break
    if not branches:
        raise Nothing
    walk.note_at((), f"{keyword}.merged", "changed", node[keyword])
    if len(branches) > 1:
        told.append(_which(bare, keyword))
    joined = union_object(branches)
    kept = {key: value for key, value in base.items() if key not in joined}
    if len(branches) == 1:
        return branches[0]
    return {**kept, **joined}


def _which(branches: list[dict[str, Any]], keyword: str) -> str:
    """In words, which sets of arguments go together."""
    sets: list[str] = []
    for each in branches[:MOST_BRANCHES_TOLD]:
        members = each.get("properties", {})
        names: list[str] = []
        for key in each.get("required", ()):
            value = members.get(key)
            fixed = isinstance(value, dict) and "const" in value
            names.append(f"{key}={quoted(value['const'])}" if fixed and isinstance(value, dict) else key)
        sets.append(" and ".join(names) or ("any of " + ", ".join(members) if members else "none"))
    sets = list(dict.fromkeys(sets))
    if len(sets) < 2:
        return ""
    count = "Exactly one" if keyword == "oneOf" else "At least one"
    return f"{count} of these sets of arguments is needed: {'; or '.join(sets)}."


_ABOUT_KEYS = frozenset({"if", "then", "else", "not", "dependentSchemas", "propertyNames", "unevaluatedProperties"})
"""Keywords that speak of the root's keys by their own names; beside a key that is spelt anew they would be wrong."""


def with_legal_keys(walk: Walk, written: Written) -> Written:
    """A copied root whose illegal keys are spelt legally, with the way back."""
    members: dict[str, Any] = written.schema["properties"]
    keys = walk.dialect.keys
    if keys is None or all(keys.fullmatch(key) for key in members):
        return written
    for keyword in _ABOUT_KEYS & written.schema.keys():
        value = written.schema.pop(keyword)
        if keyword not in ("then", "else"):
            walk.note_at((), f"{keyword}.said", "widened", value)
    names = legal_names(members, walk)
    renamed: dict[str, Any] = {}
    for wire, source in names.items():
        each = members[source]
        if wire != source and isinstance(each, dict):
            each = {**each, "description": named(each.get("description", ""), source)}
        renamed[wire] = each
        if wire != source:
            walk.note_at(("properties", source), "key.renamed", "changed", source)
    written.schema["properties"] = renamed
    wires = {source: wire for wire, source in names.items()}
    if "required" in written.schema:
        written.schema["required"] = [wires.get(key, key) for key in written.schema["required"]]
    if "dependentRequired" in written.schema:
        written.schema["dependentRequired"] = {
            wires.get(key, key): [wires.get(each, each) for each in others]
            for key, others in written.schema["dependentRequired"].items()
        }
    changed = {wire: source for wire, source in names.items() if wire != source}
    return written._replace(back=Fields(keys=tuple(renamed), names=changed))
