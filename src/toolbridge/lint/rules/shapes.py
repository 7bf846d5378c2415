"""Rules for the shape of input schemas: what is no schema, what providers refuse, what leaves a model guessing.

What a schema says in words is the subject of `parameters`; which values it allows, of `values`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.subject import Node, Subject, escaped
from toolbridge.schema.keywords import SCHEMAS_IN_MAP
from toolbridge.schema.metaschema import breach
from toolbridge.schema.refs import Refs
from toolbridge.types import JsonObject

_GUIDE = "Apps SDK tool design guide, checked November 2026"
_SPEC = "MCP specification 2025-11-25 (tools), checked November 2026"
_PROVIDERS = "Errors of OpenAI, Anthropic and Gemini for tool schemas, checked November 2026"
_MEASURED = "11,549 tools of real servers, measured November 2026"

MOST_PARAMETERS: Final = 15
"""Of 100 real tools 99 make do with 16. Each optional one is a decision that the model takes at every call."""

DEEPEST: Final = 5
"""Levels of objects and lists. Of 100 real tools 99 have no more; OpenAI's strict mode allowed 5 for long."""

_OTHER_KEYS: Final = frozenset(
    {"parameters", "inputJsonSchema", "schema", "inputs", "input", "arguments", "args", "inputschema"}
)
"""Where schemas stand that no client finds."""

_TYPED: Final = frozenset({
    "type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "properties", "items",
    "prefixItems", "patternProperties", "additionalProperties",
})  # fmt: skip
"""Keywords that say what kind of value is meant."""

_ELSEWHERE: Final = ("allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "patternProperties", "if", "dependentSchemas")
"""Keywords that may bring in properties which the node itself does not list."""


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that a node names."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return (declared,)
    return tuple(each for each in declared if isinstance(each, str)) if isinstance(declared, list) else ()


def missing(subject: Subject) -> Iterator[Flaw]:
    tool = subject.tool
    if tool.problem:
        return
    key = next((key for key in tool.unread if key in _OTHER_KEYS and isinstance(tool.unread[key], Mapping)), None)
    if key is not None:
        yield Flaw(f"the schema stands under {key!r}, where clients do not look: the key is 'inputSchema'", f"/{key}")
    elif tool.input_schema is None:
        yield Flaw(
            'the tool has no \'inputSchema\', which MCP requires: a tool without parameters has {"type": "object"}'
        )


def invalid(subject: Subject) -> Iterator[Flaw]:
    schema: Any = subject.tool.input_schema
    if subject.tool.problem or schema is None:
        return
    if not isinstance(schema, Mapping):
        yield Flaw('the schema is no object: MCP requires {"type": "object", …}', "/inputSchema")
        return
    if "type" in schema and schema["type"] != "object":
        yield Flaw(
            f"the schema is of type {str(schema['type'])[:40]!r}; MCP and every provider require 'object' at the top",
            "/inputSchema/type",
        )
        return
    found = breach(schema)
    if found is not None:
        path, why = found
        place = "".join(f"/{escaped(str(step))}" for step in path)
        why = "".join(each if each.isprintable() else " " for each in why[:200])
        yield Flaw(f"this is no JSON Schema: {why}", f"/inputSchema{place}")
    elif "type" not in schema:
        yield Flaw("the schema lacks 'type': MCP and every provider require 'object' at the top", "/inputSchema")


def required(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        names, properties = node.schema.get("required"), node.schema.get("properties")
        if not isinstance(names, list) or not isinstance(properties, Mapping):
            continue
        absent = [each for each in names if isinstance(each, str) and each not in properties]
        if absent and not any(keyword in node.schema for keyword in _ELSEWHERE):
            yield Flaw(
                f"{absent[0][:64]!r} is required and is no property: describe it, or require it no more",
                f"{node.path}/required",
            )


def dangling(subject: Subject) -> Iterator[Flaw]:
    refs: Refs | None = None
    for node in subject.nodes:
        ref = node.schema.get("$ref")
        if not isinstance(ref, str) or "://" in ref:
            continue  # an address is a matter of safety
        refs = refs or Refs(subject.tool.input_schema)
        if refs.resolve(ref) is None:
            yield Flaw(f"the reference {ref[:80]!r} leads nowhere", f"{node.path}/$ref", ref)


def items(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        if "array" in types_of(node.schema) and not any(
            keyword in node.schema for keyword in ("items", "prefixItems", "contains", "$ref")
        ):
            yield Flaw(f"{called(node)} is a list and does not say of what: add 'items'", node.path)


def untyped(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        if (node.name is not None or node.path.endswith("/items")) and _TYPED.isdisjoint(node.schema):
            yield Flaw(f"{called(node)} has no type, so any value is right: say which is meant", node.path)


def free_form(subject: Subject) -> Iterator[Flaw]:
    said: dict[str, str] = {}
    for node in subject.nodes:
        schema = node.schema
        if "anyOf" in schema:
            said[node.path] = str(schema.get("description", ""))
        if node.depth == 0 or "object" not in types_of(schema):
            continue
        if schema.get("properties") or schema.get("additionalProperties") is False or schema.get("examples"):
            continue
        values = schema.get("additionalProperties")
        if (isinstance(values, Mapping) and values) or any(keyword in schema for keyword in _ELSEWHERE):
            continue
        owner = said.get(node.path.rpartition("/anyOf/")[0], "")
        if "{" in owner or "{" in str(schema.get("description", "")):
            continue  # an example says what the schema does not
        yield Flaw(
            f"{called(node)} is an object of any keys: list its properties, or give 'additionalProperties' a schema",
            node.path,
        )


def too_many(subject: Subject) -> Iterator[Flaw]:
    count = len(subject.parameters)
    if count > MOST_PARAMETERS:
        yield Flaw(
            f"the tool has {count} parameters, more than {MOST_PARAMETERS}: split it, or drop what is rare",
            "/inputSchema/properties",
        )


def too_deep(subject: Subject) -> Iterator[Flaw]:
    deepest = max((each for each in subject.properties if "$defs" not in each.path), key=_depth, default=None)
    if deepest is not None and deepest.depth > DEEPEST:
        yield Flaw(
            f"{called(deepest)} is {deepest.depth} levels down, deeper than {DEEPEST}: flatten the schema",
            deepest.path,
        )


def _depth(node: Node) -> int:
    return node.depth


def called(node: Node) -> str:
    """What a node is called in a message: its name, or that of the property it is a part of."""
    if node.name is not None:
        return repr(node.name[:64])
    steps = iter(node.path.split("/")[2:])
    name, last = "", ""
    for last in steps:
        if last in SCHEMAS_IN_MAP:
            key = next(steps, "")  # whatever it reads: a property may be named `properties`
            name = key if last == "properties" else name
    if not name:
        return "a part of the schema"
    name = repr(name.replace("~1", "/").replace("~0", "~")[:64])
    return f"an item of {name}" if last == "items" else name


def _schema(**properties: Any) -> JsonObject:
    return {"type": "object", "properties": properties}


def _tool(schema: Any) -> JsonObject:
    return {"name": "search_products", "inputSchema": schema}


_PLAIN = of(_tool(_schema(query={"type": "string"})), _tool({"type": "object"}))


def _rows() -> Iterable[Rule]:
    yield Rule(
        "parameter.schema-missing", "error",
        "Every tool has an `inputSchema`.",
        "MCP requires it; a model that is shown none calls the tool without arguments.",
        _SPEC,
        bad=of({"name": "search_products", "parameters": _schema(query={"type": "string"})}),
        good=_PLAIN,
        check=missing,
    )  # fmt: skip
    yield Rule(
        "parameter.schema-invalid", "error",
        "An input schema is a sound JSON Schema of an object.",
        "Anthropic, OpenAI and others refuse the whole request for one schema that is none.",
        _SPEC,
        bad=of(_tool(_schema(type="object"))),
        good=_PLAIN,
        check=invalid,
    )  # fmt: skip
    yield Rule(
        "parameter.required-unknown", "error",
        "What is required is described.",
        "Gemini refuses the request; elsewhere a model must invent the value of a key it knows nothing of.",
        _PROVIDERS,
        bad=of(_tool({**_schema(query={"type": "string"}), "required": ["text"]})),
        good=of(_tool({**_schema(query={"type": "string"}), "required": ["query"]})),
        check=required,
    )  # fmt: skip
    yield Rule(
        "parameter.reference", "error",
        "A `$ref` leads to a part of the schema.",
        "Providers refuse the schema, or the model is shown nothing in its place.",
        _PROVIDERS,
        bad=of(_tool(_schema(filter={"$ref": "#/$defs/Filter"}))),
        good=of(_tool({**_schema(filter={"$ref": "#/$defs/Filter"}), "$defs": {"Filter": {"type": "string"}}})),
        check=dangling,
    )  # fmt: skip
    yield Rule(
        "parameter.items", "error",
        "A list says what it is a list of.",
        "OpenAI and Gemini refuse an array without `items`.",
        _PROVIDERS,
        bad=of(_tool(_schema(tags={"type": "array"}))),
        good=of(_tool(_schema(tags={"type": "array", "items": {"type": "string"}}))),
        check=items,
    )  # fmt: skip
    yield Rule(
        "parameter.untyped", "warning",
        "Every parameter has a type.",
        "A model guesses between text, number and object; Gemini refuses parameters without a type.",
        _PROVIDERS,
        bad=of(_tool(_schema(limit={"description": "How many products to return"}))),
        good=of(_tool(_schema(limit={"type": "integer"}))),
        check=untyped,
    )  # fmt: skip
    yield Rule(
        "parameter.free-form", "warning",
        "An object says which keys it has.",
        "A model invents keys, and strict modes cannot express an object of any keys at all.",
        _GUIDE,
        bad=of(_tool(_schema(filter={"type": "object"}))),
        good=of(_tool(_schema(filter={"type": "object", "properties": {"minPrice": {"type": "number"}}}))),
        check=free_form,
    )  # fmt: skip
    yield Rule(
        "parameter.too-many", "warning",
        f"A tool has at most {MOST_PARAMETERS} parameters.",
        "Each optional parameter is a decision at every call, and is paid for in every request.",
        _MEASURED,
        bad=of(_tool(_schema(**{f"filter_{letter}": {"type": "string"} for letter in "abcdefghijklmnop"}))),
        good=_PLAIN,
        check=too_many,
    )  # fmt: skip
    nested: JsonObject = {"type": "string"}
    for key in ("city", "address", "customer", "order", "item", "line"):
        nested = _schema(**{key: nested})
    yield Rule(
        "parameter.too-deep", "info",
        f"Parameters are at most {DEEPEST} levels deep.",
        "Models misplace braces in deep objects, and strict modes limit the depth.",
        _MEASURED,
        bad=of(_tool(nested)),
        good=_PLAIN,
        check=too_deep,
    )  # fmt: skip


RULES = tuple(_rows())
