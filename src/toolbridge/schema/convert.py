"""The walk: one schema of one tool into one dialect, with notes and the way back. It is written once, here.

Each node is made sound, its references and `allOf` are seen to, and then either copied keyword by keyword (a dialect
that takes JSON Schema as it is) or written anew from its types, shapes and rules. Time and memory are bounded: nodes
are counted, depth is limited, cycles are kept or cut as the dialect allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from toolbridge.notes import Effect, Note, pointer
from toolbridge.schema import objects, root, unions
from toolbridge.schema.arrays import array
from toolbridge.schema.copying import MOST_INLINED, copied
from toolbridge.schema.dialects import Dialect
from toolbridge.schema.enums import enumeration
from toolbridge.schema.flatten import DEEPEST, flat, only_reference, source_kinds
from toolbridge.schema.keywords import (
    ANNOTATIONS,
    ANY,
    ARRAY,
    KINDS,
    KINDS_OF_KEYWORD,
    KNOWN,
    OBJECT,
    STRING,
    kinds_of_type,
)
from toolbridge.schema.merge import Nothing
from toolbridge.schema.phrases import phrase, quoted, with_sentences
from toolbridge.schema.refs import Refs, name_of
from toolbridge.schema.repair import sound
from toolbridge.schema.restore import AsText, Back, Named
from toolbridge.schema.rules import mention_default

MOST_NODES = 150_000
"""Nodes of one schema that are converted; a schema with more is refused with that reason."""

UNROLLED = 2
"""Times a recursive definition is inlined inside itself where a dialect has no references."""

Path: TypeAlias = tuple[str, ...]
RawNote: TypeAlias = tuple[str, Effect, Path, Any]
"""A note before anyone asked for it: code, effect, path, before. Notes are made often and read seldom."""

_POLARITY: dict[str, dict[Effect, Effect]] = {
    "reversed": {"widened": "narrowed", "narrowed": "widened", "changed": "changed"},
    "unclear": {"widened": "changed", "narrowed": "changed", "changed": "changed"},
}
_ABOUT_SELF = frozenset({"$defs", "definitions", "$schema", "$id", "id", "$comment", "$anchor", "$dynamicAnchor"})
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_MENTIONED = frozenset({"title", "description", "default", "examples", "deprecated"})

_LEAF_KEYWORDS = {"type": 0, "description": 1, "title": 2, "default": 3}
_LEAF_DEFAULTS = frozenset({str, int, bool, type(None)})


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
    references: int


class Conversion(NamedTuple):
    """A schema in a dialect, the way back, and the notes in the form `(code, effect, path, before)`."""

    schema: dict[str, Any]
    back: Back | None
    raw_notes: tuple[RawNote, ...]
    size: Size

    @property
    def notes(self) -> tuple[Note, ...]:
        return notes_of(self.raw_notes)


def notes_of(raw: tuple[RawNote, ...]) -> tuple[Note, ...]:
    """Notes for somebody who asks."""
    return tuple(Note(code, effect, pointer(path), before) for code, effect, path, before in raw)


def convert(schema: Any, dialect: Dialect, refs: Refs | None = None) -> Conversion:
    """A schema in a dialect. A provider's dialect makes the root a plain object; `SOURCE` leaves it what it is.

    Raises `TooLarge` and `root.NotAnObject`; whatever else a schema holds, it is converted.
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
    size = Size(
        walk.nodes, walk.properties, walk.optionals, walk.unions, walk.characters, walk.enum_values, walk.references
    )
    return Conversion(out, written.back, tuple(walk.notes), size)


class Walk:
    """One conversion under way."""

    __slots__ = (
        "_active", "_at", "_def_kinds", "_depth", "_taken", "_told", "backs", "characters", "defs", "dialect",
        "enum_values", "inlined", "names", "nodes", "notes", "optionals", "polarity", "properties", "recursive",
        "references", "refs", "rules", "unions", "waiting",
    )  # fmt: skip

    def __init__(self, dialect: Dialect, refs: Refs) -> None:
        self.dialect = dialect
        self.rules = dialect.rules
        self.refs = refs
        self.notes: list[RawNote] = []
        self.defs: dict[str, Any] = {}
        self.backs: dict[str, Back | None] = {}
        self.names: dict[int, str] = {}
        """Targets of references, by identity, and the names of their definitions."""
        self.waiting: list[tuple[str, Any]] = []
        """Definitions that a copy refers to and that are still to be copied."""
        self.nodes = self.properties = self.optionals = self.unions = self.characters = self.enum_values = 0
        self.inlined = self.references = 0
        self.polarity = ""
        self._def_kinds: dict[str, int] = {}
        self._active: dict[int, int] = {}
        self._taken: set[str] = set()
        self.recursive: dict[int, bool] = {}
        """Targets that are known to lead back to themselves, or not to."""
        self._at: Path = ()
        self._told: list[str] = []
        self._depth = 0

    # ── what rules and repairs tell ──────────────────────────────────────────────────────────────────────────────

    def note(self, code: str, effect: Effect, before: Any) -> None:
        if self.polarity:
            effect = _POLARITY[self.polarity][effect]
        self.notes.append((code, effect, self._at, before))

    def note_at(self, path: Path, code: str, effect: Effect, before: Any = None) -> None:
        self._at = path
        self.note(code, effect, before)

    def here(self, path: Path) -> None:
        """Where the next notes are about."""
        self._at = path

    def tell(self, sentence: str) -> None:
        self._told.append(sentence)

    def count(self) -> None:
        """One more node."""
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise TooLarge(f"its schema has more than {MOST_NODES:,} parts")

    # ── the walk ─────────────────────────────────────────────────────────────────────────────────────────────────

    def root(self, schema: Any) -> Written:
        """The root of a tool's schema: an object, with none of the keywords that the provider refuses there."""
        node, told = root.plain_root(self, schema)
        if self.dialect.verbatim:
            out = copied(self, node, ())
            out["type"] = "object"
            out.setdefault("properties", {})
            if told:
                out["description"] = with_sentences(out.get("description", ""), told)
            return root.with_legal_keys(self, Written(out, None, OBJECT))
        try:
            return objects.object_(self, node, (), 1, told, at_root=True)
        except Nothing:
            raise root.NotAnObject("its input schema accepts no object at all") from None

    def node(self, schema: Any, path: Path, level: int) -> Written:
        """Any node, in the dialect."""
        try:
            return self.attempt(schema, path, level)
        except Nothing:
            return self.nothing(path)

    def attempt(self, schema: Any, path: Path, level: int) -> Written:
        """Any node, in the dialect; raises `Nothing` where it accepts no value."""
        if self.dialect.verbatim:
            return Written({"not": {}} if schema is False else self.copy(schema, path), None, ANY)
        self.count()
        if type(schema) is not dict:
            if schema is False:
                raise Nothing
            schema = as_dict(schema)
        if self._depth >= DEEPEST:
            return self.cut(schema, path, "depth.cut")
        short = self.leaf(schema)
        if short is not None:
            return short
        self._at = path
        node = sound(schema, self.note)
        self._depth += 1
        try:
            if "$ref" in node or "$dynamicRef" in node:
                return self._reference(node, path, level)
            if "allOf" in node:
                only = only_reference(node)
                if only is not None:
                    return self._reference(only, path, level)
                return self._flattened(node, path, level)
            return self.written(node, path, level)
        finally:
            self._depth -= 1

    def leaf(self, schema: dict[str, Any]) -> Written | None:
        """The short way for what most nodes are: a scalar type that is described and perhaps has a default."""
        declared = schema.get("type")
        if type(declared) is not str or declared not in _SCALARS:
            return None
        description: Any = None
        out: dict[str, Any] = {"type": declared.upper() if self.dialect.upper_case_types else declared}
        for keyword, value in schema.items():
            place = _LEAF_KEYWORDS.get(keyword)
            if place is None:
                return None
            if place == 1:
                description = value
            elif place == 2:
                if type(value) is not str:
                    return None
                if "title" in self.rules:
                    out["title"] = value
            elif place == 3 and (type(value) not in _LEAF_DEFAULTS or self.rules["default"] is not mention_default):
                return None
        if description is not None and type(description) is not str:
            return None
        if schema.get("default") is not None:
            self._told = told = []
            mention_default(self, out, "default", schema["default"], schema)
            description = with_sentences(description or "", told) if told else description
        if description:
            out["description"] = description
        return Written(out, None, KINDS[declared])

    def copy(self, schema: Any, path: Path) -> dict[str, Any]:
        """Any node but a boolean one, for a dialect that copies."""
        self.count()
        if type(schema) is not dict:
            schema = as_dict(schema)
        if self._depth >= DEEPEST:
            return self.cut(schema, path, "depth.cut").schema
        self._at = path
        self._depth += 1
        try:
            return copied(self, sound(schema, self.note), path)
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
        declared: Any = node.get("type")
        if declared is None:
            declared = self._inferred(node)
            if declared is None:
                return self._untyped(node, path)
            if not self.dialect.typed and type(declared) is str:
                written = self.written({**node, "type": declared}, path, level)
                written.schema.pop("type", None)
                return written._replace(kinds=ANY)
            if self.dialect.free_form == "text" and declared in ("object", "array"):
                return unions.or_text(self, node, declared, path, level)
            self.note_at(path, "type.inferred", "narrowed", None)
            node = {**node, "type": declared}
        if type(declared) is list:
            if self.dialect.type_lists and _SCALARS.issuperset(declared):
                return self.finished({"type": declared}, None, kinds_of_type(declared), node, path, [])
            return unions.by_type(self, node, declared, path, level)
        if declared == "object":
            return objects.object_(self, node, path, level, [])
        if declared == "array":
            return array(self, node, path, level)
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

    def text(
        self, node: dict[str, Any], path: Path, code: str = "value.text", told: list[str] | None = None
    ) -> Written:
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
        self.references += 1
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
        constrained = any(keyword in KNOWN and keyword not in ANNOTATIONS for keyword in beside if keyword != "$defs")
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
            kinds = source_kinds(self.refs, target)
        if not _MENTIONED & beside.keys():
            return Written(out, back, kinds)
        kept = {keyword: value for keyword, value in beside.items() if keyword in _MENTIONED}
        written = self.finished({}, back, kinds, kept, path, [])
        if written.schema:
            return Written({"anyOf": [out], **written.schema}, back, kinds)
        return Written(out, back, kinds)

    def define(self, target: dict[str, Any], ref: str) -> str | None:
        """The name of the definition for a target, written now where it is new; `None` where recursion must be cut."""
        name = self.names.get(id(target))
        if name is not None:
            return name if self.dialect.recursion or name in self.defs else None
        if self._depth >= DEEPEST - 1:
            return None
        name = self.new_name(target, name_of(ref))
        self.characters += len(name)
        written = self.node(target, ("$defs", name), 1)
        self.defs[name] = written.schema
        self.backs[name] = written.back
        self._def_kinds[name] = written.kinds
        return name

    def new_name(self, target: dict[str, Any], wanted: str) -> str:
        """A name of its own for the target of a reference."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        self.names[id(target)] = name
        return name

    def define_waiting(self) -> None:
        """Definitions that a copy refers to are copied one after the other, so that a long chain is no deep one."""
        while self.waiting:
            name, target = self.waiting.pop()
            self.defs[name] = self.copy(target, ("$defs", name))

    # ── flattening ───────────────────────────────────────────────────────────────────────────────────────────────

    def _flattened(self, node: dict[str, Any], path: Path, level: int) -> Written:
        """A node whose references and `allOf` are merged into it, then written; recursion is cut."""
        used: list[int] = []
        whole = flat(self, node, path, used)
        active = self._active
        if any(active.get(each, 0) >= UNROLLED for each in used) or self.inlined > MOST_INLINED:
            bare = only_reference(node) or node
            if self.dialect.refs == "keep" and self.dialect.recursion and "$ref" in bare:
                self.note_at(path, "$ref.loosened", "widened", node)
                return self._reference({k: v for k, v in bare.items() if k in _MENTIONED or k == "$ref"}, path, level)
            return self.cut(whole, path, "recursion.cut")
        for each in used:
            active[each] = active.get(each, 0) + 1
        before = self.nodes
        try:
            return self.written(whole, path, level)
        finally:
            for each in used:
                active[each] -= 1
            if used and not any(active.get(each) for each in used):
                self.inlined += self.nodes - before

    # ── kinds of node ────────────────────────────────────────────────────────────────────────────────────────────

    def _inferred(self, node: dict[str, Any]) -> str | list[str] | None:
        """The types that a node without `type` speaks about; `None` where it speaks about none."""
        kinds = 0
        for keyword in node:
            kinds |= KINDS_OF_KEYWORD.get(keyword, 0)
        if not kinds or (not self.dialect.typed and not kinds & (OBJECT | ARRAY)):
            return None
        names = [name for name in ("object", "array", "string", "number") if KINDS[name] & kinds]
        return names[0] if len(names) == 1 else names

    def _untyped(self, node: dict[str, Any], path: Path) -> Written:
        if self.dialect.free_form == "text":
            return self.text(node, path)
        return self.finished({}, None, ANY, node, path, [])


def as_dict(schema: Any) -> dict[str, Any]:
    """A mapping of another kind as a plain one; what is no schema at all as the schema that says nothing."""
    return dict(schema) if isinstance(schema, Mapping) else {}
