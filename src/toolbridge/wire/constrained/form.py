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

_GUIDANCE: Final = "x-guidance"
_SPACES: Final = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""For llguidance, which else allows white space without end between any two tokens, and some models do not come out of
it (llguidance 1.9 docs/json_schema.md). It makes them write as `write_call` does. Other converters skip the key."""

_SCHEMAS = frozenset({"items", "additionalProperties"})
_LISTS = frozenset({"anyOf", "prefixItems"})
_MAPS = frozenset({"properties"})
"""Where schemas stand in schemas of the dialect, which has no other keyword of that kind."""

_ELSEWHERE = frozenset({"additionalProperties", "anyOf", "$ref"})
"""Keywords that say themselves what else may be in an object."""


def write_call(name: str, arguments: Mapping[str, Any]) -> str:
    return _written({TOOL: name, ARGUMENTS: arguments})


def write_answer(text: str) -> str:
    return _written({ANSWER: text})


def _written(value: Wire) -> str:
    """As models write JSON by themselves, with a space behind each colon and comma: other spellings cost them."""
    return json.dumps(value, ensure_ascii=False)


def form_schema(tools: Iterable[tuple[str, Wire]]) -> Wire:
    """The schema of the object, for tools by name and the schemas of their arguments.

    References are relative to the root, so the definitions of all tools stand there. They are numbered: llama.cpp calls
    its rules by the letters and digits of the reference, and takes `a_b` for `a-b`.
    """
    defs: Wire = {}
    branches: list[Wire] = []
    for number, (name, parameters) in enumerate(tools):
        own: Wire = parameters.get("$defs") or {}
        places = {f"#/$defs/{each}": f"#/$defs/{number}_{place}" for place, each in enumerate(own)}
        for place, schema in enumerate(own.values()):
            defs[f"{number}_{place}"] = _placed(schema, places)
        taken = {key: value for key, value in parameters.items() if key != "$defs"}
        # `enum` and not `const`: every converter of schemas to grammars has it.
        branches.append(_closed({TOOL: {"type": "string", "enum": [name]}, ARGUMENTS: _placed(taken, places)}))
    schema: Wire = {"anyOf": [*branches, _closed({ANSWER: {"type": "string"}})], _GUIDANCE: dict(_SPACES)}
    return {**schema, "$defs": defs} if defs else schema


def _closed(properties: Wire) -> Wire:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _placed(schema: Any, places: Mapping[str, str]) -> Any:
    """The schema with its references to where the definitions now stand, and with objects closed that list what is in
    them and say nothing of more: llama.cpp's converter and xgrammar take them as closed, llguidance does not, and a
    small model would go on with keys of its own."""
    if not isinstance(schema, dict):
        return schema
    placed: Wire = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            placed[key] = places.get(value, value)
        elif key in _SCHEMAS:
            placed[key] = _placed(value, places)
        elif key in _LISTS and isinstance(value, list):
            placed[key] = [_placed(each, places) for each in value]
        elif key in _MAPS and isinstance(value, dict):
            placed[key] = {name: _placed(each, places) for name, each in value.items()}
        else:
            placed[key] = value
    if "properties" in schema and not _ELSEWHERE & schema.keys():
        placed["additionalProperties"] = False
    return placed
