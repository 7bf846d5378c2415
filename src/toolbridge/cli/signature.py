"""Signatures: what a tool takes, in few words: `path: str, head?: int`.

A reading aid, made from the server's schema and not exact: the required first, then the optional with a `?`. What a
call may really hold is for the check to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbridge.schema.phrases import listed, quoted
from toolbridge.schema.refs import Refs

SHORT_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "null",
    "array": "list",
    "object": "object",
}

DEEPEST = 3
"""Levels of a type that are spelt out: past that a list is a list."""

MOST_VALUES = 4
"""Values of an enum that are named; past that, the first of them and an ellipsis."""

MOST_STEPS = 64
"""References and branches that are followed at one place; a schema may be an endless maze."""


_BRANCHING = {"$ref", "allOf", "anyOf", "oneOf", "then", "else"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument that a tool takes."""

    name: str
    type: str
    required: bool
    nodes: tuple[Any, ...] = ()
    """The schemas that speak of it."""
    refs: Refs | None = None

    def __str__(self) -> str:
        mark = "" if self.required else "?"
        kind = self.type if self.required else self.type.removesuffix(" | null")
        return f"{self.name}{mark}: {kind}" if kind != "any" else f"{self.name}{mark}"

    @property
    def about(self) -> str:
        """What the schema says of it in words: the description, the values and the default."""
        said = _said(self.nodes, self.refs or Refs(None))
        text = said.get("description")
        parts = [text.strip()] if isinstance(text, str) and text.strip() else []
        values = said.get("enum")
        if isinstance(values, list) and len(values) > MOST_VALUES:
            parts.append(f"One of: {listed(values, 300)}.")
        if said.get("default") is not None:
            parts.append(f"Default: {quoted(said['default'], 80)}.")
        return " ".join(part if part.endswith((".", "!", "?", "。")) else f"{part}." for part in parts)


def parameters(schema: Any, refs: Refs | None = None) -> list[Parameter]:
    """What a tool with this input schema takes, the required first, else in the schema's order.

    `refs` are those of the document, where the schema is only a part of one.
    """
    refs = Refs(schema) if refs is None else refs
    found: dict[str, list[Any]] = {}
    required: set[str] = set()
    for node, sure in branches(schema, refs):
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            for key, each in properties.items():
                found.setdefault(str(key), []).append(each)
        named = node.get("required")
        if sure and isinstance(named, list):
            required.update(str(each) for each in named)
    made = [
        Parameter(key, short_type(nodes[0], refs), key in required, tuple(nodes), refs) for key, nodes in found.items()
    ]
    return sorted(made, key=lambda each: not each.required)


def nested(parameter: Parameter) -> list[Parameter]:
    """The properties of a parameter that is an object, spelt as they are given on a command line: `bed.number`."""
    inner = parameters(parameter.nodes[0], parameter.refs) if parameter.type.startswith("object") else []
    return [replace(each, name=f"{parameter.name}.{each.name}") for each in inner]


def branches(schema: Any, refs: Refs) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The nodes that speak of one place: the node itself, what it refers to, and its branches.

    The second value says whether the node applies for sure: a branch of a union may not.
    """
    if isinstance(schema, Mapping) and not _BRANCHING & schema.keys():
        yield schema, True  # as most are
        return
    waiting: list[tuple[Any, bool]] = [(schema, True)]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_STEPS:
        node, sure = waiting.pop(0)
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node, sure
        if isinstance(node.get("$ref"), str):
            waiting.append((refs.resolve(node["$ref"]), sure))
        for keyword in ("allOf", "anyOf", "oneOf"):
            parts = node.get(keyword)
            if isinstance(parts, list):
                waiting += [(each, sure and (keyword == "allOf" or len(parts) == 1)) for each in parts]
        waiting += [(node[keyword], False) for keyword in ("then", "else") if keyword in node]


def _said(nodes: Sequence[Any], refs: Refs) -> Mapping[str, Any]:
    """What the nodes of a place say first of each thing."""
    said: dict[str, Any] = {}
    for node, _ in (each for one in nodes for each in branches(one, refs)):
        for keyword in ("description", "enum", "default"):
            if keyword in node:
                said.setdefault(keyword, node[keyword])
    return said


def short_type(schema: Any, refs: Refs, level: int = 0) -> str:
    """A type in a word or two: `str`, `list[int]`, `"asc" | "desc"`, `int | null`."""
    names: dict[str, None] = {}
    for node, _ in branches(schema, refs):
        for name in _own_types(node, refs, level):
            names.setdefault(name)
    if "any" in names or not names:
        return "any"
    if "float" in names:
        names.pop("int", None)
    if "null" in names:  # it reads best at the end
        names.pop("null")
        names["null"] = None
    return " | ".join(names)


def _own_types(node: Mapping[str, Any], refs: Refs, level: int) -> list[str]:
    """What one node says by itself of the type; nothing where it says nothing."""
    values = [node["const"]] if "const" in node else node.get("enum")
    if isinstance(values, list):
        named = [quoted(each, 30) for each in values[:MOST_VALUES]]
        return [*named, "…"] if len(values) > MOST_VALUES else named
    declared = node.get("type")
    declared = declared if isinstance(declared, list) else [declared]
    if declared == [None]:
        declared = ["object"] if "properties" in node else ["array"] if "items" in node else []
    names: list[str] = []
    for each in declared:
        name = SHORT_TYPES.get(str(each), "any")
        if name == "list" and level < DEEPEST and isinstance(node.get("items"), Mapping):
            inner = short_type(node["items"], refs, level + 1)
            name = f"list[{inner}]" if inner != "any" else name
        elif name == "object" and level < DEEPEST and "properties" not in node:
            values = node.get("additionalProperties")
            inner = short_type(values, refs, level + 1) if isinstance(values, Mapping) else "any"
            name = f"map[{inner}]" if inner != "any" else name
        names.append(name)
    return names
