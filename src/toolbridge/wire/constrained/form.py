"""The one object that a model writes: a call of a tool, or the answer; as a schema, and as text.

The first key decides what it is, so that a small model decides once; the tool stands before its arguments, so that it
is chosen before anything is made up for it. Servers write the keys in the order of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

Wire: TypeAlias = dict[str, Any]

TOOL: Final = "tool"
ARGUMENTS: Final = "arguments"
ANSWER: Final = "answer"

_SCHEMAS = ("items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "dependentSchemas")


def write_call(name: str, arguments: Mapping[str, Any]) -> str:
    return _written({TOOL: name, ARGUMENTS: arguments})


def write_answer(text: str) -> str:
    return _written({ANSWER: text})


def _written(value: Wire) -> str:
    """As models write JSON by themselves, with a space behind each colon and comma: other spellings cost them."""
    return json.dumps(value, ensure_ascii=False)


def form_schema(tools: Iterable[tuple[str, Wire]]) -> Wire:
    """The schema of the object, for tools by name and the schemas of their arguments.

    References are relative to the root, so the definitions of all tools stand there, under names that tell them apart.
    """
    defs: Wire = {}
    branches: list[Wire] = []
    for number, (name, parameters) in enumerate(tools):
        own = parameters.get("$defs") or {}
        places = {f"#/$defs/{each}": f"#/$defs/{number}_{each}" for each in own}
        for each, schema in own.items():
            defs[f"{number}_{each}"] = _moved(schema, places)
        taken = {key: value for key, value in parameters.items() if key != "$defs"}
        # `enum` and not `const`: every converter of schemas to grammars has it.
        branches.append(_closed({TOOL: {"type": "string", "enum": [name]}, ARGUMENTS: _moved(taken, places)}))
    schema: Wire = {"anyOf": [*branches, _closed({ANSWER: {"type": "string"}})]}
    return {**schema, "$defs": defs} if defs else schema


def _closed(properties: Wire) -> Wire:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _moved(schema: Any, places: Mapping[str, str]) -> Any:
    """The schema with its references to where the definitions now stand."""
    if not places or not isinstance(schema, dict):
        return schema
    moved: Wire = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            moved[key] = places.get(value, value)
        elif key in _SCHEMAS:
            moved[key] = _moved(value, places)
        elif key in _LISTS and isinstance(value, list):
            moved[key] = [_moved(each, places) for each in value]
        elif key in _MAPS and isinstance(value, dict):
            moved[key] = {name: _moved(each, places) for name, each in value.items()}
        else:
            moved[key] = value
    return moved
