"""What a model without tool calling is told: its tools in few words, the form of its reply, and worked examples.

Short, since small models read slowly; the part that never changes stands first, so that a server keeps it between
requests. The examples are of tools that nobody has: the server's schema lets no such call through, and values of the
real tools would be copied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from toolbridge.wire.constrained.form import write_answer, write_call
from toolbridge.wire.constrained.messages import RESULT

Wire: TypeAlias = dict[str, Any]

DEEPEST = 4
"""Levels of a type that are spelt out; the schema in the request enforces the rest."""

MOST_VALUES = 20
"""Values of an enum that are named."""

_SAID: Sequence[tuple[str, str]] = (
    ("Add milk to my shopping list.", write_call("add_item", {"list": "shopping", "item": "milk"})),
    (RESULT.format(name="add_item", text="ok, 4 items"), write_answer("Milk is on your shopping list.")),
    ("How long is the film Alien?", write_call("find_film", {"title": "Alien"})),
    ("Two large teas, please.", write_call("order_drink", {"drink": "tea", "size": "large", "count": 2})),
    ("Thank you!", write_answer("You are welcome!")),
)
"""Both forms, a result that is answered from, values of several kinds from the user's words, and words that need no
tool. Their choice and order count for the smallest models: `benchmarks/local_model.py` measures it."""

HEAD = "\n".join(
    (
        "You answer with one JSON object, in one of two forms:",
        write_call("name of the tool", {}) + " to use a tool; you then get its result",
        write_answer("your words") + " to answer the user",
        "",
        "Examples, with other tools than yours:",
        *(f"User: {asked}\nYou: {told}" for asked, told in _SAID),
        "",
        "When the user asks for what a tool does, use the tool, with the values that the user gives. Answer only when"
        " you have its result, or when no tool fits.",
        "",
        "Your tools:",
    )
)


def write_instructions(functions: Sequence[Wire]) -> str:
    """The words for the system message, for functions of a name, perhaps a description, and parameters.

    The same functions give the same bytes.
    """
    return "\n".join((HEAD, *(line for each in functions for line in _tool(each))))


def _tool(function: Wire) -> Iterator[str]:
    parameters = function["parameters"]
    properties: Wire = parameters.get("properties") or {}
    names = _spelt(parameters, 0)[1:-1]
    description = _flat(function.get("description", ""))
    yield f"- {function['name']}({names})" + (f": {description}" if description else "")
    for key, schema in properties.items():
        if isinstance(schema, Mapping) and (said := _flat(schema.get("description", ""))):
            yield f"    {key}: {said}"
    for name, schema in (parameters.get("$defs") or {}).items():
        yield f"    {name} = {_spelt(schema, 1)}"


def _flat(text: Any) -> str:
    """One line: a line end of a description's would look like the next tool."""
    return " ".join(text.split()) if isinstance(text, str) else ""


def _spelt(schema: Any, depth: int) -> str:
    """A type, in the way in which models have seen most of them."""
    if not isinstance(schema, Mapping):
        return "any"
    if isinstance(schema.get("$ref"), str):
        return schema["$ref"].rpartition("/")[2]
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        shown = [json.dumps(each, ensure_ascii=False) for each in values[:MOST_VALUES]]
        return " | ".join([*shown, "…"] if len(values) > MOST_VALUES else shown)
    for union in ("anyOf", "oneOf"):
        if isinstance(schema.get(union), list):
            return " | ".join(dict.fromkeys(_spelt(each, depth) for each in schema[union]))
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(_kind(kind, schema, depth) for kind in kinds)
    return _kind(kinds, schema, depth)


def _kind(kind: Any, schema: Mapping[str, Any], depth: int) -> str:
    match kind:
        case "object" if schema.get("properties") or depth == 0:
            return _members(schema, depth) if depth < DEEPEST else "object"
        case "object" if isinstance(schema.get("additionalProperties"), dict) and depth < DEEPEST:
            return f"{{[name]: {_spelt(schema['additionalProperties'], depth + 1)}}}"
        case "array" if "items" in schema and depth < DEEPEST:
            inner = _spelt(schema["items"], depth + 1)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case str():
            return kind
        case _:
            return "any"


def _members(schema: Mapping[str, Any], depth: int) -> str:
    required = schema.get("required") or ()
    members = (
        f"{key}{'' if key in required else '?'}: {_spelt(each, depth + 1)}"
        for key, each in (schema.get("properties") or {}).items()
    )
    return "{" + ", ".join(members) + "}"
