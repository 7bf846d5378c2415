"""The walk: one schema of one tool into one dialect, with notes and the way back. It is written once, here.

Each node is made sound, its references and `allOf` are seen to, and then either copied keyword by keyword (a dialect
that takes JSON Schema as it is) or written anew from its types, shapes and rules. Time and memory are bounded: nodes
are counted, depth is limited, cycles are kept or cut as the dialect allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from toolbridge.notes import Effect, Note
from toolbridge.schema import objects, unions
from toolbridge.schema.dialects import Dialect
from toolbridge.schema.enums import enumeration
from toolbridge.schema.keywords import (
    ANNOTATIONS,
    ANY,
    ARRAY,
    KINDS,
    KINDS_OF_KEYWORD,
    NOT_MONOTONE,
    OBJECT,
    SCHEMA_IN_VALUE,
    SCHEMAS_IN_LIST,
    SCHEMAS_IN_MAP,
    STRING,
    VALUE_TYPES,
    kind_of,
    kinds_of_type,
)
from toolbridge.schema.merge import Nothing, merged
from toolbridge.schema.phrases import phrase, quoted, with_sentences
from toolbridge.schema.refs import Refs, name_of
from toolbridge.schema.repair import sound
from toolbridge.schema.restore import AsText, Back, Items, Named

MOST_NODES = 150_000
"""Nodes of one schema that are converted; a schema with more is refused with that reason."""

MOST_INLINED = 5_000
"""Nodes written because references were inlined; past that, a reference is cut instead (a reference bomb)."""

DEEPEST = 64
"""Nodes one inside the other. The deepest real tool has 12; a recursive walk and the validators bear this many."""

UNROLLED = 2
"""Times a recursive definition is inlined inside itself where a dialect has no references."""

Path = tuple[str, ...]

_POLARITY: dict[str, dict[Effect, Effect]] = {
    "reversed": {"widened": "narrowed", "narrowed": "widened", "changed": "changed"},
    "unclear": {"widened": "changed", "narrowed": "changed", "changed": "changed"},
}
_ABOUT_SELF = frozenset({"$defs", "definitions", "$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor"})
_KNOWN = frozenset(VALUE_TYPES) | {"const", "default"}
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$anchor", "$dynamicAnchor"})
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_MENTIONED = frozenset({"title", "description", "default", "examples", "deprecated"})


class TooLarge(Exception):
    """The schema has more nodes than anyone should convert."""


class Written(NamedTuple):
    """One converted node: its schema, its way back, the kinds of value it may have on the wire."""

    schema: dict[str, Any]
    back: Back | None
    kinds: int


class Size(NamedTuple):
    """What a converted schema spends of the limits that providers set."""

    nodes: int
    properties: int
    optionals: int
    unions: int
    characters: int
    enum_values: int


@dataclass(frozen=True, slots=True)
class Conversion:
    """A schema in a dialect, the way back, and the notes in the form `(code, effect, path, before)`."""

    schema: dict[str, Any]
    back: Back | None
    raw_notes: tuple[tuple[str, Effect, Path, Any], ...]
    size: Size

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(
            Note(code, effect, "".join(f"/{_escaped(step)}" for step in path), before)
            for code, effect, path, before in self.raw_notes
        )


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def convert(schema: Any, dialect: Dialect, refs: Refs | None = None) -> Conversion:
    """A schema in a dialect. A provider's dialect makes the root a plain object; `SOURCE` leaves it what it is.

    Raises `TooLarge` and `objects.NotAnObject`; whatever else a schema holds, it is converted.
    """
    walk = Walk(dialect, refs or Refs(schema))
    if dialect.root_refused:
        written = walk.root(schema)
    else:
        written = walk.node(schema, (), 1)
    walk.define_waiting()
    out = written.schema
    if walk.defs:
        out["$defs"] = walk.defs
    size = Size(walk.nodes, walk.properties, walk.optionals, walk.unions, walk.characters, walk.enum_values)
    return Conversion(out, written.back, tuple(walk.notes), size)


class Walk:
    """One conversion under way."""

    __slots__ = (
        "_active", "_at", "_def_kinds", "_depth", "_inlined", "_names", "_polarity", "_told", "_waiting", "backs",
        "characters", "defs", "dialect", "enum_values", "nodes", "notes", "optionals", "properties", "refs", "rules",
        "unions",
    )  # fmt: skip

    def __init__(self, dialect: Dialect, refs: Refs) -> None:
        self.dialect = dialect
        self.rules = dialect.rules
        self.refs = refs
        self.notes: list[tuple[str, Effect, Path, Any]] = []
        self.defs: dict[str, Any] = {}
        self.backs: dict[str, Back | None] = {}
        self.nodes = self.properties = self.optionals = self.unions = self.characters = self.enum_values = 0
        self._def_kinds: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._waiting: list[tuple[str, Any]] = []
        self._active: dict[int, int] = {}
        self._at: Path = ()
        self._told: list[str] = []
        self._depth = 0
        self._inlined = 0
        self._polarity = ""

    # ── what rules and repairs tell ──────────────────────────────────────────────────────────────────────────────

    def note(self, code: str, effect: Effect, before: Any) -> None:
        if self._polarity:
            effect = _POLARITY[self._polarity][effect]
        self.notes.append((code, effect, self._at, before))

    def note_at(self, path: Path, code: str, effect: Effect, before: Any = None) -> None:
        self._at = path
        self.note(code, effect, before)

    def tell(self, sentence: str) -> None:
        self._told.append(sentence)

    # ── the walk ─────────────────────────────────────────────────────────────────────────────────────────────────

    def root(self, schema: Any) -> Written:
        """The root of a tool's schema: an object, with none of the keywords that the provider refuses there."""
        node, told = objects.plain_root(self, schema)
        if self.dialect.verbatim:
            written = self._copied(node, ())
            out = written.schema
            out["type"] = "object"
            out.setdefault("properties", {})
            written = objects.with_legal_keys(self, written)
        else:
            written = objects.object_(self, node, (), 1, told, at_root=True)
        if told and self.dialect.verbatim:
            written.schema["description"] = with_sentences(written.schema.get("description", ""), told)
        return written

    def node(self, schema: Any, path: Path, level: int) -> Written:
        """Any node, in the dialect."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise TooLarge(f"its schema has more than {MOST_NODES:,} parts")
        if type(schema) is not dict:
            if schema is False:
                return self.nothing(path)
            schema = {}
        if self._depth >= DEEPEST:
            return self.cut(schema, path, "depth.cut")
        self._at = path
        node = sound(schema, self.note)
        self._depth += 1
        try:
            if self.dialect.verbatim:
                return self._copied(node, path)
            if "$ref" in node or "$dynamicRef" in node:
                return self._reference(node, path, level)
            if "allOf" in node:
                only = _only_reference(node)
                if only is not None:
                    return self._reference(only, path, level)
                return self._flattened(node, path, level)
            return self.written(node, path, level)
        except Nothing:
            return self.nothing(path)
        finally:
            self._depth -= 1

    def written(self, node: dict[str, Any], path: Path, level: int) -> Written:
        """A flat node (no reference, no `allOf` but a rest that could not be merged), written anew."""
        if "anyOf" in node or "oneOf" in node:
            return unions.union(self, node, path, level)
        if "enum" in node or "const" in node:
            written = enumeration(self, node, path)
            if written is not None:
                return written
        declared = node.get("type")
        if declared is None:
            declared = self._inferred(node, path)
            if declared is None:
                return self._untyped(node, path)
            node = {**node, "type": declared}
        if type(declared) is list:
            if self.dialect.type_lists and _SCALARS.issuperset(declared):
                return self.finished({"type": declared}, None, kinds_of_type(declared), node, path, [])
            return unions.by_type(self, node, declared, path, level)
        if declared == "object":
            return objects.object_(self, node, path, level, [])
        if declared == "array":
            return self._array(node, path, level)
        return self.finished({"type": declared}, None, KINDS[declared], node, path, [])

    def finished(
        self, out: dict[str, Any], back: Back | None, kinds: int, node: dict[str, Any], path: Path, told: list[str]
    ) -> Written:
        """The rules for what only constrains, then the description with all that is to be said in it."""
        rules = self.rules
        self._at = path
        self._told = told
        for keyword, value in node.items():
            rule = rules.get(keyword)
            if rule is not None:
                rule(self, out, keyword, value, node)
        if "allOf" in node:
            for rest in node["allOf"]:
                self.note("allOf.said", "widened", rest)
                told += [phrase(keyword, value) for keyword, value in rest.items() if keyword not in ANNOTATIONS]
        description = node.get("description")
        if told:
            out["description"] = with_sentences(description or "", told)
        elif description:
            out["description"] = description
        if self.dialect.upper_case_types and type(out.get("type")) is str:
            out["type"] = out["type"].upper()
        return Written(out, back, kinds)

    def text(self, node: dict[str, Any], path: Path, code: str = "value.text", told: list[str] | None = None) -> Written:
        """The last resort: a string that holds the value as JSON text."""
        self.note_at(path, code, "changed", node.get("type"))
        rules = {keyword: value for keyword, value in node.items() if keyword not in ANNOTATIONS | _ABOUT_SELF}
        what = node.get("type")
        if what == "object":
            rules.pop("type")
        sentence = "JSON text of an object" if what == "object" else "JSON text"
        said = [*(told or ()), f"{sentence} that matches {quoted(rules)}." if rules else f"{sentence}."]
        kept = {keyword: value for keyword, value in node.items() if keyword in _MENTIONED}
        return self.finished({"type": "string"}, AsText(), STRING, kept, path, said)

    def nothing(self, path: Path) -> Written:
        """A place where no value is accepted. It is kept as far as it can be said; `check` refuses every value."""
        if self.dialect.verbatim:
            return Written({"not": {}}, None, ANY)
        self.note_at(path, "nothing.said", "widened", False)
        return self.finished({"type": "string"}, None, STRING, {}, path, ["No value is accepted here."])

    def cut(self, node: dict[str, Any], path: Path, code: str) -> Written:
        """A place past which the schema is not followed."""
        description = node.get("description")
        kept = {"description": description} if isinstance(description, str) else {}
        if self.dialect.free_form == "text":
            return self.text(kept, path, code)
        self.note_at(path, code, "widened", None)
        return Written(kept, None, ANY)

    # ── references ───────────────────────────────────────────────────────────────────────────────────────────────

    def target(self, node: dict[str, Any], path: Path) -> tuple[Any, str]:
        """Where a node's reference leads in the end, and by what name; `None` where it leads nowhere."""
        ref = node["$ref"] if "$ref" in node else node["$dynamicRef"]
        target = self.refs.resolve(ref)
        for _ in range(DEEPEST):
            if type(target) is not dict or target.keys() != {"$ref"} or type(target["$ref"]) is not str:
                break
            ref = target["$ref"]
            target = self.refs.resolve(ref)
        else:
            target = None
        if type(target) not in (dict, bool):
            self.note_at(path, "$ref.unresolved", "widened", ref)
            return None, ref
        return target, ref

    def _reference(self, node: dict[str, Any], path: Path, level: int) -> Written:
        target, ref = self.target(node, path)
        beside = {keyword: value for keyword, value in node.items() if keyword not in ("$ref", "$dynamicRef")}
        if target is None or target is True:
            return self.node(beside, path, level)
        if target is False:
            raise Nothing
        constrained = any(keyword in _KNOWN and keyword not in ANNOTATIONS for keyword in beside if keyword != "$defs")
        if self.dialect.refs == "inline" or constrained:
            return self._flattened(node, path, level)
        name = self.define(target, ref)
        if name is None:
            return self.cut(beside, path, "recursion.cut")
        back: Back | None = Named(name, self.backs)
        if name in self.backs and self.backs[name] is None:
            back = None
        out: dict[str, Any] = {"$ref": f"#/$defs/{name}"}
        kinds = self._def_kinds.get(name)
        if kinds is None:
            kinds = self.source_kinds(target)
        if not _MENTIONED & beside.keys():
            return Written(out, back, kinds)
        kept = {keyword: value for keyword, value in beside.items() if keyword in _MENTIONED}
        written = self.finished({}, back, kinds, kept, path, [])
        if written.schema:
            return Written({"anyOf": [out], **written.schema}, back, kinds)
        return Written(out, back, kinds)

    def define(self, target: dict[str, Any], ref: str) -> str | None:
        """The name of the definition for a target, written now where it is new; `None` where recursion must be cut."""
        name = self._names.get(id(target))
        if name is not None:
            return name if self.dialect.recursion or name in self.defs else None
        if self._depth >= DEEPEST - 1:
            return None
        name = wanted = name_of(ref)
        number = 1
        taken = set(self._names.values())
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        self._names[id(target)] = name
        self.characters += len(name)
        written = self.node(target, ("$defs", name), 1)
        self.defs[name] = written.schema
        self.backs[name] = written.back
        self._def_kinds[name] = written.kinds
        return name

    def define_waiting(self) -> None:
        """Definitions that a copy refers to are copied one after the other, so that a long chain is no deep one."""
        while self._waiting:
            name, target = self._waiting.pop()
            self.defs[name] = self.node(target, ("$defs", name), 1).schema

    def source_kinds(self, schema: Any, depth: int = 0) -> int:
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
                    some |= self.source_kinds(each, depth + 1)
                kinds &= some
        if type(schema.get("allOf")) is list:
            for each in schema["allOf"][:50]:
                kinds &= self.source_kinds(each, depth + 1)
        if type(schema.get("$ref")) is str:
            kinds &= self.source_kinds(self.refs.resolve(schema["$ref"]), depth + 5)
        return kinds

    # ── flattening ───────────────────────────────────────────────────────────────────────────────────────────────

    def _flattened(self, node: dict[str, Any], path: Path, level: int) -> Written:
        """A node whose references and `allOf` are merged into it, then written; recursion is cut."""
        used: list[int] = []
        flat = self.flat(node, path, used)
        active = self._active
        if any(active.get(each, 0) >= UNROLLED for each in used) or self._inlined > MOST_INLINED:
            bare = _only_reference(node) or node
            if self.dialect.refs == "keep" and self.dialect.recursion and "$ref" in bare:
                self.note_at(path, "$ref.loosened", "widened", node)
                return self._reference({k: v for k, v in bare.items() if k in _MENTIONED or k == "$ref"}, path, level)
            return self.cut(flat, path, "recursion.cut")
        for each in used:
            active[each] = active.get(each, 0) + 1
        before = self.nodes
        try:
            return self.written(flat, path, level)
        finally:
            for each in used:
                active[each] -= 1
            if used and not any(active.get(each) for each in used):
                self._inlined += self.nodes - before

    def flat(self, node: dict[str, Any], path: Path, used: list[int], trail: Path | tuple[int, ...] = ()) -> dict[str, Any]:
        """One node for a node with its references and all parts of its `allOf`. Raises `Nothing` if none can be."""
        parts: list[Any] = list(node.get("allOf", ()))
        base = {k: v for k, v in node.items() if k not in ("allOf", "$ref", "$dynamicRef")}
        if "$ref" in node or "$dynamicRef" in node:
            target, _ = self.target(node, path)
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
                self.note_at(path, "allOf.cyclic", "widened", None)
                continue
            self.nodes += 1
            if self.nodes > MOST_NODES:
                raise TooLarge(f"its schema has more than {MOST_NODES:,} parts")
            self._at = path
            whole = sound(part, self.note)
            if "$ref" in whole or "allOf" in whole or "$dynamicRef" in whole:
                whole = self.flat(whole, path, used, (*trail, id(part)))  # type: ignore[arg-type]
            base = merged(base, whole)
        return base

    # ── kinds of node ────────────────────────────────────────────────────────────────────────────────────────────

    def _inferred(self, node: dict[str, Any], path: Path) -> str | list[str] | None:
        """The types that a node without `type` speaks about; `None` where it speaks about none."""
        kinds = 0
        for keyword in node:
            kinds |= KINDS_OF_KEYWORD.get(keyword, 0)
        if not kinds or (not self.dialect.typed and not kinds & (OBJECT | ARRAY)):
            return None
        names = [name for name in ("object", "array", "string", "number") if KINDS[name] & kinds]
        self.note_at(path, "type.inferred", "narrowed", None)
        return names[0] if len(names) == 1 else names

    def _untyped(self, node: dict[str, Any], path: Path) -> Written:
        if self.dialect.free_form == "text":
            return self.text(node, path)
        return self.finished({}, None, ANY, node, path, [])

    def _array(self, node: dict[str, Any], path: Path, level: int) -> Written:
        dialect = self.dialect
        out: dict[str, Any] = {"type": "array"}
        first: list[Written] = []
        if "prefixItems" in node:
            for i, each in enumerate(node["prefixItems"]):
                first.append(self.node(each, (*path, "prefixItems", str(i)), level))
        items = node.get("items", True)
        if first and not dialect.tuples:
            return self._loose_tuple(node, first, items, path, level)
        if first:
            out["prefixItems"] = [each.schema for each in first]
        back: Back | None = None
        if items is False:
            out["maxItems"] = min(len(first), node.get("maxItems", len(first)))
            out["items"] = {} if not dialect.typed else {"type": "string"}
            node = {keyword: value for keyword, value in node.items() if keyword != "maxItems"}
        else:
            rest = self.node(items, (*path, "items"), level)
            out["items"] = rest.schema
            if rest.back is not None:
                back = Items(rest.back)
        if any(each.back for each in first):
            back = Items(back.rest if isinstance(back, Items) else None, tuple(each.back for each in first))
        return self.finished(out, back, ARRAY, node, path, [])

    def _loose_tuple(
        self, node: dict[str, Any], first: list[Written], items: Any, path: Path, level: int
    ) -> Written:
        """A tuple where the dialect has none: a list of any of its items, each read by its place."""
        parts = list(first)
        length = len(first)
        rest: Written | None = None
        if items is False or node.get("maxItems", length + 1) <= length:
            node = {**node, "maxItems": min(length, node.get("maxItems", length))}
        else:
            rest = self.node(items, (*path, "items"), level)
            parts.append(rest)
        self.note_at(path, "prefixItems.loosened", "widened", node["prefixItems"])
        distinct: list[dict[str, Any]] = []
        for each in parts:
            if each.schema not in distinct:
                distinct.append(each.schema)
        out: dict[str, Any] = {
            "type": "array",
            "items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct},
        }
        back: Back | None = None
        if any(each.back for each in parts):
            back = Items(rest.back if rest else None, tuple(each.back for each in first))
        told = [f"In this order: {quoted(node['prefixItems'])}."]
        return self.finished(out, back, ARRAY, node, path, told)

    # ── copying ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _copied(self, node: dict[str, Any], path: Path) -> Written:
        """A node as it is, for a dialect that takes JSON Schema: references named anew, unknown keywords left out."""
        out: dict[str, Any] = {}
        dialect = self.dialect
        for keyword, value in node.items():
            if keyword in SCHEMA_IN_VALUE:
                if type(value) is bool:
                    out[keyword] = value
                else:
                    out[keyword] = self._below(keyword, value, (*path, keyword))
            elif keyword == "properties":
                out[keyword] = {
                    key: each if type(each) is bool else self.node(each, (*path, keyword, key), 1).schema
                    for key, each in value.items()
                }
            elif keyword in SCHEMAS_IN_LIST:
                out[keyword] = [
                    each if type(each) is bool else self._below(keyword, each, (*path, keyword, str(i)))
                    for i, each in enumerate(value)
                ]
            elif keyword in SCHEMAS_IN_MAP:
                if keyword not in ("$defs", "definitions"):
                    out[keyword] = {
                        key: each if type(each) is bool else self.node(each, (*path, keyword, key), 1).schema
                        for key, each in value.items()
                    }
            elif keyword in _KNOWN and keyword not in _REFERENCES:
                out[keyword] = value
        if "$ref" in node or "$dynamicRef" in node:
            self._copied_reference(out, node, path)
        if dialect.array_items and "items" not in out:
            declared = out.get("type")
            if declared == "array" or (type(declared) is list and "array" in declared):
                out["items"] = {}
        if dialect.required_declared and "required" in out:
            members = out.setdefault("properties", {})
            for key in out["required"]:
                if key not in members:
                    beyond = out.get("additionalProperties")
                    members[key] = beyond if type(beyond) is dict else {}
        return Written(out, None, ANY)

    def _below(self, keyword: str, schema: Any, path: Path) -> dict[str, Any]:
        """A subschema, with the polarity of the keyword it stands under."""
        if keyword not in NOT_MONOTONE:
            return self.node(schema, path, 1).schema
        outside = self._polarity
        self._polarity = ("" if outside == "reversed" else "reversed") if keyword == "not" else "unclear"
        if outside == "unclear":
            self._polarity = "unclear"
        try:
            return self.node(schema, path, 1).schema
        finally:
            self._polarity = outside

    def _copied_reference(self, out: dict[str, Any], node: dict[str, Any], path: Path) -> None:
        target, ref = self.target(node, path)
        if target is None or target is True:
            return
        if target is False:
            out["not"] = {}
            return
        if self.dialect.refs == "inline":
            self._inline_copy(out, target, path)
            return
        name = self._names.get(id(target))
        if name is None:
            name = wanted = name_of(ref)
            number = 1
            taken = set(self._names.values())
            while name in taken:
                number += 1
                name = f"{wanted}_{number}"
            self._names[id(target)] = name
            self._waiting.append((name, target))
        out["$ref"] = f"#/$defs/{name}"

    def _inline_copy(self, out: dict[str, Any], target: dict[str, Any], path: Path) -> None:
        """The target's copy in the reference's place; beside other keywords, what both accept."""
        active = self._active
        if active.get(id(target), 0) >= UNROLLED or self._inlined > MOST_INLINED:
            self.note_at(path, "recursion.cut", "widened", None)
            return
        active[id(target)] = active.get(id(target), 0) + 1
        before = self.nodes
        copied = self.node(target, path, 1).schema
        active[id(target)] -= 1
        if not active[id(target)]:
            self._inlined += self.nodes - before
        if any(keyword not in ANNOTATIONS for keyword in out):
            out["allOf"] = [*out.get("allOf", ()), copied]
        else:
            out.update({**copied, **out})


def _only_reference(node: dict[str, Any]) -> dict[str, Any] | None:
    """A node whose `allOf` is one reference and nothing else constrains: the reference itself, annotated."""
    parts = node["allOf"] if "allOf" in node else ()
    if len(parts) != 1 or type(parts[0]) is not dict or type(parts[0].get("$ref")) is not str:
        return None
    beside = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
    if any(keyword in _KNOWN and keyword not in ANNOTATIONS for keyword in beside):
        return None
    if any(keyword in _KNOWN and keyword not in ANNOTATIONS for keyword in parts[0] if keyword != "$ref"):
        return None
    return {**parts[0], **beside}
