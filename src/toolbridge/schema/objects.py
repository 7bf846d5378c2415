"""Objects: properties, optionals, maps and what is undeclared.

A strict dialect lists all that may be in an object and asks for all of it. So an optional becomes nullable (or, where
null is a value of its own, may be `{}`), a map becomes a list of pairs, and undeclared properties stand under one key
of their own. Each of these is undone by the `Fields` and `Pairs` records that are made here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolbridge.names import digest
from toolbridge.schema.keywords import ANNOTATIONS, ARRAY, NULL, OBJECT, STRING
from toolbridge.schema.merge import Nothing, either
from toolbridge.schema.phrases import phrase, quoted, with_sentences
from toolbridge.schema.repair import sound
from toolbridge.schema.restore import AsText, Back, Fields, Pairs
from toolbridge.schema.rules import keep

if TYPE_CHECKING:
    from toolbridge.schema.convert import Path, Walk, Written

EXTRAS = "additional_properties"
"""The key under which undeclared properties stand; underscores are added where the tool has such a property."""

OMITTED: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
"""What stands for an absent property where null is a value of its own: an empty object."""

LEFT_OUT = "{} leaves it out."


def named(description: str, source: str) -> str:
    return f"{description.rstrip()} (The tool calls it {quoted(source)}.)".strip()


def legal_names(members: dict[str, Any], walk: Walk) -> dict[str, str]:
    """Wire key to the server's key: legal ones as they are, the others spelt as far as they can be, plus a digest."""
    pattern = walk.dialect.keys
    names: dict[str, str] = {}
    taken = set(members)
    for key in members:
        wire = key
        if pattern is not None and not pattern.fullmatch(key):
            kept = "".join(each if each.isascii() and each.isalnum() else "_" for each in key)[:48].strip("_")
            wire = f"p_{kept}_{digest(key)}" if kept else f"p_{digest(key)}"
            number = 1
            while wire in taken:
                number += 1
                wire = f"p_{digest(key, str(number))}"
            taken.add(wire)
        names[wire] = key
    return names


# ── any object ───────────────────────────────────────────────────────────────────────────────────────────────────


def object_(
    walk: Walk, node: dict[str, Any], path: Path, level: int, told: list[str], at_root: bool = False
) -> Written:
    """An object node in a dialect that does not copy."""
    dialect = walk.dialect
    members: dict[str, Any] = node.get("properties", {})
    required: list[str] = node.get("required", [])
    patterns = node.get("patternProperties")
    beyond = node.get("additionalProperties", node.get("unevaluatedProperties"))
    if required:
        undeclared = [key for key in required if key not in members]
        if undeclared and beyond is not False:
            members = {**members, **dict.fromkeys(undeclared, beyond if isinstance(beyond, dict) else True)}
        elif undeclared:
            required = [key for key in required if key in members]
            walk.note_at(path, "required.dropped", "widened", undeclared)
    if dialect.maps == "keep":
        return _kept(walk, node, members, required, beyond, path, level, told, at_root)
    listed = "properties" in node if at_root else bool(members)
    named_beyond = bool(patterns) or (beyond is not None and beyond is not False)
    if not members and not at_root:
        if named_beyond and (patterns or (isinstance(beyond, dict) and beyond)):
            return _pairs(walk, node, path, level, told)
        if beyond is not False and node.get("maxProperties") != 0:
            return walk.text({**node, "type": "object"}, path, "object.text", told)
        if not dialect.closed:
            return walk.text({**node, "type": "object"}, path, "object.text", told)
    limit = dialect.limits.levels
    if limit is not None and level >= limit and members:
        return walk.text({**node, "type": "object"}, path, "object.text", told)
    extras = named_beyond or (at_root and not listed and beyond is not False)
    if beyond is None and not extras and dialect.closed:
        walk.note_at(path, "additionalProperties.closed", "narrowed")
    elif beyond is False and not dialect.closed:
        walk.note_at(path, "additionalProperties.dropped", "widened", False)
    return _listed(walk, node, members, required, extras, path, level, told)


def _listed(
    walk: Walk,
    node: dict[str, Any],
    members: dict[str, Any],
    required: list[str],
    extras: bool,
    path: Path,
    level: int,
    told: list[str],
) -> Written:
    """An object that lists everything that may be in it."""
    dialect = walk.dialect
    nullable = dialect.optionals == "nullable"
    needed = set(required)
    names = legal_names(members, walk) if dialect.keys is not None and (dialect.keys_below_root or not path) else None
    out_members: dict[str, Any] = {}
    out_required: list[str] = []
    inner: dict[str, Back] = {}
    null_is_absent: list[str] = []
    empty_is_absent: list[str] = []
    renamed: dict[str, str] = {}
    walk.properties += len(members)
    walk.nodes += len(members)
    for wire in names or members:
        key = names[wire] if names else wire
        schema = members[key]
        here = (*path, "properties", key)
        written = walk.leaf(schema) if type(schema) is dict else None
        if written is None:
            if schema is False:
                if key in needed:
                    raise Nothing
                if not dialect.closed:
                    walk.note_at(here, "property.forbidden", "widened", False)
                continue
            written = walk.node(schema, here, level + 1)
        walk.characters += len(wire)
        out = written.schema
        if wire != key:
            renamed[wire] = key
            walk.note_at(here, "key.renamed", "changed", key)
            out = {**out, "description": named(out.get("description", ""), key)}
        if written.back is not None:
            inner[wire] = written.back
        if key in needed:
            out_required.append(wire)
        elif nullable:
            out_required.append(wire)
            out, absent = _or_absent(walk, out, written.kinds)
            if absent is None:
                written = walk.text(sound(schema if isinstance(schema, dict) else {}, _silent), here)
                out, absent, inner[wire] = with_null(written.schema), NULL, AsText()
            (null_is_absent if absent == NULL else empty_is_absent).append(wire)
            walk.notes.append(("optional.nullable" if absent == NULL else "optional.empty", "changed", here, None))
        else:
            walk.optionals += 1
        out_members[wire] = out
    extras_key: str | None = None
    extras_back: Back | None = None
    if extras:
        extras_key = EXTRAS
        while extras_key in out_members or extras_key in members:
            extras_key += "_"
        written, extras_back = _extras(walk, node, path, level)
        out_members[extras_key] = with_null(written.schema) if nullable and extras_back == AsText() else written.schema
        walk.properties += 1
        if nullable:
            out_required.append(extras_key)
            if extras_back == AsText():
                null_is_absent.append(extras_key)
        else:
            walk.optionals += 1
    if not out_members and not dialect.closed and path:
        return walk.text({**node, "type": "object"}, path, "object.text", told)
    out_node: dict[str, Any] = {"type": "object", "properties": out_members}
    if out_required or dialect.closed:
        out_node["required"] = out_required
    if dialect.closed:
        out_node["additionalProperties"] = False
    back: Back | None = None
    if inner or renamed or null_is_absent or empty_is_absent or extras_key:
        back = Fields(
            keys=tuple(out_members),
            names=renamed,
            inner=inner,
            null_is_absent=frozenset(null_is_absent),
            empty_is_absent=frozenset(empty_is_absent),
            extras=extras_key,
            extras_back=extras_back,
            extras_always=nullable and extras_back != AsText(),
        )
    handled = _HANDLED_WITH_EXTRAS if extras else _HANDLED
    rest = {keyword: value for keyword, value in node.items() if keyword not in handled}
    return walk.finished(out_node, back, OBJECT, rest, path, told)


_HANDLED = frozenset({"properties", "required", "additionalProperties", "type", "unevaluatedProperties"})
_HANDLED_WITH_EXTRAS = _HANDLED | {"patternProperties"}


def _silent(code: str, effect: str, before: Any) -> None:
    """The node was noted when it was first made sound."""


def _or_absent(walk: Walk, out: dict[str, Any], kinds: int) -> tuple[dict[str, Any], int | None]:
    """A written schema that may also say "not there", and what kind of value says so; `None` where none is left."""
    declared = out.get("type")
    if not kinds & NULL:
        if type(declared) is str and declared != "object" and "anyOf" not in out and "enum" not in out:
            out["type"] = [declared, "null"]
            return out, NULL
        return with_null(out), NULL
    if type(declared) is list and "anyOf" not in out and "object" not in declared:
        about = {key: out.pop(key) for key in ("title", "description") if key in out}
        about["description"] = with_sentences(about.get("description", ""), [LEFT_OUT])
        return {"anyOf": [out, OMITTED], **about}, OBJECT
    if _accepts_empty(walk, out):
        return out, None
    return with_branch(out, OMITTED, LEFT_OUT), OBJECT


def with_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The same, or null."""
    declared = schema.get("type")
    if declared is not None and "anyOf" not in schema and declared != "object":
        types = [declared] if isinstance(declared, str) else list(declared)
        out = {**schema, "type": [*types, "null"]}
        if "enum" in schema:
            out["enum"] = [*schema["enum"], None]
        return out
    return with_branch(schema, {"type": "null"}, "")


def with_branch(schema: dict[str, Any], branch: dict[str, Any], sentence: str) -> dict[str, Any]:
    """The same, or the branch; what annotates stays outside."""
    outside = {key: schema[key] for key in ("title", "description") if key in schema}
    inside = {key: value for key, value in schema.items() if key not in outside}
    branches = inside["anyOf"] if inside.keys() == {"anyOf"} else [inside]
    if sentence:
        outside["description"] = with_sentences(outside.get("description", ""), [sentence])
    return {"anyOf": [*branches, branch], **outside}


def _accepts_empty(walk: Walk, schema: dict[str, Any], depth: int = 0) -> bool:
    """Whether a written schema may accept `{}`."""
    if depth > 10:
        return True
    if "$ref" in schema:
        target = walk.defs.get(schema["$ref"].removeprefix("#/$defs/"))
        return target is None or _accepts_empty(walk, target, depth + 1)
    if "anyOf" in schema:
        return any(_accepts_empty(walk, each, depth + 1) for each in schema["anyOf"])
    declared = schema.get("type")
    types = declared if isinstance(declared, list) else [declared]
    return "object" in types and not schema.get("required")


# ── maps ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _values(node: dict[str, Any]) -> Any:
    """What the undeclared values of an object may be."""
    beyond = node.get("additionalProperties", node.get("unevaluatedProperties"))
    kinds = list((node.get("patternProperties") or {}).values())
    if beyond is not False and (beyond is not None or not kinds):
        kinds.append(True if beyond is None else beyond)
    if any(each is True or each == {} for each in kinds):
        return True
    return either(kinds)


def _pairs(walk: Walk, node: dict[str, Any], path: Path, level: int, told: list[str]) -> Written:
    """A map as a list of keys and values."""
    values = _values(node)
    if values is False:
        raise Nothing
    if node.get("patternProperties") and "additionalProperties" not in node:
        walk.note_at(path, "additionalProperties.closed", "narrowed")
    written = walk.node(values, (*path, "additionalProperties"), level + 1)
    key = _key(walk, node, path)
    item: dict[str, Any] = {
        "type": "object",
        "properties": {"key": key, "value": written.schema},
        "required": ["key", "value"],
    }
    if walk.dialect.closed:
        item["additionalProperties"] = False
    if walk.dialect.upper_case_types:
        item["type"] = "OBJECT"
    walk.properties += 2
    walk.characters += 8
    walk.note_at(path, "map.pairs", "changed")
    about = {
        _COUNTED.get(keyword, keyword): value
        for keyword, value in node.items()
        if keyword in _COUNTED or keyword in ANNOTATIONS or keyword == "allOf"
    }
    told = [*told, "A list of keys and values."]
    return walk.finished({"type": "array", "items": item}, Pairs(written.back), ARRAY, about, path, told)


_COUNTED = {"minProperties": "minItems", "maxProperties": "maxItems"}


def _key(walk: Walk, node: dict[str, Any], path: Path) -> dict[str, Any]:
    """What a key of a map may be."""
    names = node.get("propertyNames")
    patterns = node.get("patternProperties") or {}
    if isinstance(names, dict) and names:
        written = walk.node({"type": "string", **names}, (*path, "propertyNames"), 1)
        if written.back is None and written.kinds == STRING:
            return written.schema
    rule: dict[str, Any] = {"type": "string"}
    if patterns:
        if len(patterns) == 1 and node.get("additionalProperties") is False:
            rule["pattern"] = next(iter(patterns))
        elif len(patterns) > 1 or node.get("additionalProperties", True) is not True:
            walk.note_at(path, "patternProperties.said", "widened", patterns)
            rule["description"] = f"Keys and their values: {quoted(patterns)}."
    return walk.node(rule, (*path, "propertyNames"), 1).schema


def _extras(walk: Walk, node: dict[str, Any], path: Path, level: int) -> tuple[Written, Back]:
    """The place for undeclared properties: pairs where their kind is known, else the JSON text of an object."""
    values = _values(node)
    walk.note_at(path, "additionalProperties.gathered", "changed", node.get("additionalProperties"))
    if isinstance(values, dict):
        about = {
            key: node[key] for key in ("additionalProperties", "patternProperties", "propertyNames") if key in node
        }
        written = _pairs(walk, about, path, level, ["Further properties:"])
        assert written.back is not None
        return written, written.back
    written = walk.finished({"type": "string"}, None, STRING, {}, path, ["Further properties: JSON text of an object."])
    return written, AsText()


# ── objects kept open ────────────────────────────────────────────────────────────────────────────────────────────


def _kept(
    walk: Walk,
    node: dict[str, Any],
    members: dict[str, Any],
    required: list[str],
    beyond: Any,
    path: Path,
    level: int,
    told: list[str],
    at_root: bool,
) -> Written:
    """An object whose dialect has open objects and maps."""
    out: dict[str, Any] = {"type": "object"}
    inner: dict[str, Back] = {}
    walk.properties += len(members)
    if members or at_root:
        out["properties"] = {}
        for key, schema in members.items():
            if schema is False:
                walk.note_at((*path, "properties", key), "property.forbidden", "widened", False)
                continue
            written = walk.node(schema, (*path, "properties", key), level + 1)
            out["properties"][key] = written.schema
            if written.back is not None:
                inner[key] = written.back
    if required:
        out["required"] = [key for key in required if key in out["properties"]]
    if node.get("patternProperties") and beyond is not None:
        # Keys that match a pattern are not beyond; without the patterns they would be.
        beyond = _values(node)
    kept = walk.rules.get("additionalProperties", keep) is keep
    if isinstance(beyond, bool):
        if kept:
            out["additionalProperties"] = beyond
        elif beyond is False:
            walk.note_at(path, "additionalProperties.dropped", "widened", False)
    elif beyond is not None:
        if kept:
            written = walk.node(beyond, (*path, "additionalProperties"), level + 1)
            out["additionalProperties"] = written.schema
            if written.back is not None:
                walk.note_at(path, "additionalProperties.loosened", "widened", beyond)
                out["additionalProperties"] = True
        elif beyond:
            walk.note_at(path, "additionalProperties.said", "widened", beyond)
            told = [*told, phrase("additionalProperties", beyond)]
    rest = {keyword: value for keyword, value in node.items() if keyword not in _HANDLED}
    back = Fields(keys=tuple(out.get("properties", ())), inner=inner) if inner else None
    return walk.finished(out, back, OBJECT, rest, path, told)
