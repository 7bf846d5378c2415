"""Unions: `anyOf`, `oneOf` and lists of types, and which branch a value came from.

Siblings of a union are merged into its branches. Where branches have different ways back, a value must tell which one
it belongs to: by its kind, by the keys it has, by a constant. Where nothing tells, the whole union becomes JSON text,
which loses nothing.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from toolbridge.schema.flatten import source_kinds
from toolbridge.schema.keywords import ANNOTATIONS, KINDS, KINDS_OF_KEYWORD, NULL, VALUE_TYPES, kinds_of_type
from toolbridge.schema.merge import Nothing
from toolbridge.schema.restore import Back, Branch, OneOf

if TYPE_CHECKING:
    from toolbridge.schema.convert import Path, Walk, Written

MOST_COPIES = 400
"""Properties times branches up to which the siblings of a union are copied into its branches."""

MOST_COMBINED = 64
"""Combinations of several unions of one node that are written out."""

MOST_COMPARED = 60
"""Branches that are held against each other; a union with more whose branches have ways back becomes text."""

_ABOUT = ANNOTATIONS | {"$defs", "definitions", "$anchor", "$dynamicAnchor"}
_REQUIREMENT = frozenset({"required", "title", "description", "not", "$comment"})


class Arm(NamedTuple):
    """A branch as it was and as it is written."""

    source: Any
    written: Written


def union(walk: Walk, node: dict[str, Any], path: Path, level: int) -> Written:
    """A node with `anyOf` or `oneOf`."""
    keyword = "anyOf" if "anyOf" in node else "oneOf"
    branches: list[Any] = node[keyword]
    dialect = walk.dialect
    if keyword == "anyOf" and dialect.typed and dialect.type_lists and _ABOUT_UNION.issuperset(node):
        types = _scalars(branches)
        if types is not None:
            walk.nodes += len(branches)
            out = {"type": types if len(types) > 1 else types[0]}
            return walk.finished(out, None, kinds_of_type(types), node, path, [])
    base = {key: value for key, value in node.items() if key != keyword}
    annotations = {key: value for key, value in base.items() if key in ANNOTATIONS}
    constraints = {key: value for key, value in base.items() if key in VALUE_TYPES and key not in _ABOUT}
    if "const" in base:
        constraints["const"] = base["const"]
    if "oneOf" in constraints:
        del constraints["oneOf"]
        walk.note_at(path, "oneOf.said", "widened", base["oneOf"])
        annotations.setdefault("description", "")
    if _only_requirements(branches) and "properties" in constraints:
        return _said(walk, base, keyword, branches, path, level)
    if "allOf" in constraints and _combined(constraints["allOf"]) * len(branches) > MOST_COMBINED:
        if dialect.free_form == "text":
            return walk.text(node, path, "union.text")
        for rest in constraints.pop("allOf"):
            walk.note_at(path, "allOf.said", "widened", rest)
    copies = len(constraints.get("properties", ())) * len(branches)
    if constraints and copies > MOST_COPIES:
        return _said(walk, base, keyword, branches, path, level)
    arms: list[Arm] = []
    for i, each in enumerate(branches):
        if each is False:
            continue
        whole = {"allOf": [constraints, each]} if constraints else each
        try:
            arms.append(Arm(whole, walk.attempt(whole, (*path, keyword, str(i)), level)))
        except Nothing:
            continue
    if keyword == "oneOf" and not _apart(walk, arms):
        walk.note_at(path, "oneOf.loosened", "widened", None)
    return joined(walk, arms, {**annotations, keyword: branches}, annotations, path)


_ABOUT_UNION = ANNOTATIONS | {"anyOf"}
_LEAVES = frozenset({"string", "integer", "number", "boolean", "null"})


def _scalars(branches: list[Any]) -> list[str] | None:
    """The types of branches that are nothing but a scalar type each."""
    types: list[str] = []
    for each in branches:
        if type(each) is not dict or len(each) != 1:
            return None
        declared = each.get("type")
        if type(declared) is not str or declared not in _LEAVES:
            return None
        if declared not in types:
            types.append(declared)
    return types


def _combined(rests: list[dict[str, Any]]) -> int:
    """How many combinations the unions among the rests of an `allOf` make."""
    count = 1
    for rest in rests:
        for keyword in ("anyOf", "oneOf"):
            count *= max(len(rest.get(keyword, ())), 1)
    return count


def _only_requirements(branches: list[Any]) -> bool:
    return all(isinstance(each, dict) and _REQUIREMENT.issuperset(each) for each in branches)


def _said(walk: Walk, base: dict[str, Any], keyword: str, branches: list[Any], path: Path, level: int) -> Written:
    """A union that only says which properties go together is told in words."""
    walk.note_at(path, f"{keyword}.said", "widened", branches)
    sets = [" and ".join(each.get("required", ())) for each in branches if isinstance(each, dict)]
    names = list(dict.fromkeys(each for each in sets if each))
    count = "exactly one" if keyword == "oneOf" else "at least one"
    text = base.get("description", "")
    if names:
        text = f"{text.rstrip()} Give {count} of: {'; '.join(names)}.".strip()
    return walk.written({**base, **({"description": text} if text else {})}, path, level)


def by_type(walk: Walk, node: dict[str, Any], types: list[str], path: Path, level: int) -> Written:
    """A list of types, as one branch for each type with the keywords that speak about it."""
    annotations = {key: value for key, value in node.items() if key in ANNOTATIONS}
    arms: list[Arm] = []
    scalars = [each for each in types if each not in ("object", "array")]
    groups: list[Any] = [each for each in types if each in ("object", "array")]
    if scalars and walk.dialect.type_lists:
        groups.append(scalars if len(scalars) > 1 else scalars[0])
    else:
        groups += scalars
    for each in groups:
        kinds = 0
        for name in each if isinstance(each, list) else [each]:
            kinds |= KINDS[name]
        part = {
            key: value
            for key, value in node.items()
            if key not in ANNOTATIONS and (KINDS_OF_KEYWORD.get(key, kinds) & kinds)
        }
        part["type"] = each
        arms.append(Arm(part, walk.written(part, path, level)))
    return joined(walk, arms, node, annotations, path)


def or_text(walk: Walk, node: dict[str, Any], declared: str, path: Path, level: int) -> Written:
    """A node without a type whose keywords speak of one: a value of that type, or any other as JSON text."""
    annotations = {key: value for key, value in node.items() if key in ANNOTATIONS}
    typed = {key: value for key, value in node.items() if key not in ANNOTATIONS} | {"type": declared}
    other = {"not": {"type": declared}}
    arms = [
        Arm(typed, walk.written(typed, path, level)),
        Arm(other, walk.text({"description": f"Anything but an {declared}:"}, path, "type.inferred")),
    ]
    return joined(walk, arms, node, annotations, path)


def by_null(walk: Walk, values: list[Any], node: dict[str, Any], path: Path) -> Written:
    """An enumeration that holds null, as the other values and null."""
    annotations = {key: value for key, value in node.items() if key in ANNOTATIONS}
    some = {"enum": [each for each in values if each is not None]}
    arms = [Arm(each, walk.written(each, path, 1)) for each in (some, {"type": "null"})]
    return joined(walk, arms, node, annotations, path)


def joined(walk: Walk, arms: list[Arm], node: dict[str, Any], annotations: dict[str, Any], path: Path) -> Written:
    """Written branches as one node."""
    if not arms:
        raise Nothing
    arms = list({repr(each.written.schema): each for each in reversed(arms)}.values())[::-1]
    kinds = 0
    back: Back | None = None
    for each in arms:
        kinds |= each.written.kinds
        back = back or each.written.back
    if back is not None:
        if len(arms) > MOST_COMPARED or any(_ambiguous(walk, one, other) for one, other in combinations(arms, 2)):
            return walk.text(node, path, "union.text")
        back = _back(walk, arms)
    schemas = [each.written.schema for each in arms]
    if walk.dialect.null == "flag":
        return _with_flag(walk, arms, back, kinds, annotations, path)
    if len(arms) == 1:
        out = dict(schemas[0])
    elif walk.dialect.type_lists and walk.dialect.typed and all(each.keys() == {"type"} for each in schemas):
        types: list[str] = []
        for each in schemas:
            declared = each["type"]
            types += [name for name in ([declared] if isinstance(declared, str) else declared) if name not in types]
        out = {"type": types}
    else:
        walk.unions += 1
        out = {"anyOf": schemas}
    return _annotated(walk, out, back, kinds, annotations, path)


def _annotated(
    walk: Walk, out: dict[str, Any], back: Back | None, kinds: int, annotations: dict[str, Any], path: Path
) -> Written:
    """The node with its own annotations; where a single branch is left, that branch's own give way."""
    if "$ref" in out and annotations:
        out = {"anyOf": [out]}
    about = dict(annotations)
    if "description" not in about and "description" in out:
        about["description"] = out["description"]
    out.pop("description", None)
    return walk.finished(out, back, kinds, about, path, [])


def _with_flag(
    walk: Walk, arms: list[Arm], back: Back | None, kinds: int, annotations: dict[str, Any], path: Path
) -> Written:
    """Null by `nullable: true` beside the other branches."""
    schemas = [each.written.schema for each in arms if each.written.kinds != NULL]
    if not schemas:
        out: dict[str, Any] = {"type": "STRING", "nullable": True}
        return _annotated(walk, out, back, kinds, annotations, path)
    out = dict(schemas[0]) if len(schemas) == 1 else {"anyOf": schemas}
    if len(schemas) < len(arms):
        out["nullable"] = True
    return _annotated(walk, out, back, kinds, annotations, path)


# ── which branch ─────────────────────────────────────────────────────────────────────────────────────────────────


def _back(walk: Walk, arms: list[Arm]) -> Back | None:
    if len(arms) == 1:
        return arms[0].written.back
    from toolbridge.schema.check import fits  # a cycle: `check` converts the server's schema by this very walk

    branches: list[Branch] = []
    for source, written in arms:
        branches.append(
            Branch(
                wire=written.schema,
                wire_kinds=written.kinds,
                source_kinds=source_kinds(walk.refs, source),
                back=written.back,
                fits_wire=fits(
                    _as_json_schema(written.schema) if walk.dialect.null == "flag" else written.schema, walk.defs
                ),
                fits_source=fits(source, walk.refs),
            )
        )
    return OneOf(tuple(branches))


def _as_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of the OpenAPI kind as JSON Schema, so that a validator can read it."""
    out = dict(schema)
    if "type" in out:
        out["type"] = out["type"].lower()
    if "properties" in out:
        out["properties"] = {key: _as_json_schema(each) for key, each in out["properties"].items()}
    if "items" in out:
        out["items"] = _as_json_schema(out["items"])
    if "anyOf" in out:
        out["anyOf"] = [_as_json_schema(each) for each in out["anyOf"]]
    if out.pop("nullable", False):
        return {"anyOf": [out, {"type": "null"}]}
    return out


def _ambiguous(walk: Walk, one: Arm, other: Arm) -> bool:
    """Whether a wire value may belong to both branches and be read differently."""
    mine, theirs = one.written, other.written
    if mine.back == theirs.back or not mine.kinds & theirs.kinds:
        return False
    return not disjoint(walk, mine.schema, theirs.schema)


def _apart(walk: Walk, arms: list[Arm]) -> bool:
    """Whether no value fits two branches, as far as can be seen."""
    if len(arms) > MOST_COMPARED:
        return False
    return all(
        not one.written.kinds & other.written.kinds or disjoint(walk, one.written.schema, other.written.schema)
        for one, other in combinations(arms, 2)
    )


def disjoint(walk: Walk, one: dict[str, Any], other: dict[str, Any], depth: int = 0) -> bool:
    """Whether no value fits both written schemas. `False` where that cannot be seen at once."""
    if depth > 6:
        return False
    one, other = _resolved(walk, one), _resolved(walk, other)
    for mine, theirs in ((one, other), (other, one)):
        if "anyOf" in mine:
            return all(disjoint(walk, each, theirs, depth + 1) for each in mine["anyOf"])
    if "enum" in one and "enum" in other:
        return not any(each in other["enum"] and type(each) is type(_found(each, other)) for each in one["enum"])
    kinds = [_kinds(each) for each in (one, other)]
    if not kinds[0] & kinds[1]:
        return True
    if kinds[0] & kinds[1] != KINDS["object"] or "properties" not in one or "properties" not in other:
        return False
    for mine, theirs in ((one, other), (other, one)):
        if mine.get("additionalProperties") is False and set(theirs.get("required", ())) - mine["properties"].keys():
            return True
    shared = set(one.get("required", ())) & set(other.get("required", ()))
    return any(
        disjoint(walk, one["properties"][key], other["properties"][key], depth + 1)
        for key in shared
        if key in one["properties"] and key in other["properties"]
    )


def _found(value: Any, schema: dict[str, Any]) -> Any:
    return next(each for each in schema["enum"] if each == value)


def _resolved(walk: Walk, schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return walk.defs.get(schema["$ref"].removeprefix("#/$defs/"), schema)
    return schema


def _kinds(schema: dict[str, Any]) -> int:
    declared = schema.get("type")
    if declared is None:
        return 127
    kinds = NULL if schema.get("nullable") else 0
    for each in declared if isinstance(declared, list) else [declared]:
        kinds |= KINDS[each.lower()]
    return kinds
