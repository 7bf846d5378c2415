"""The main rules of three providers, for where the independent judge is not at hand.

Names, the root of a schema, arrays, references, and what OpenAI's strict mode asks for. It is not complete, knows no
vendor's validator, and is no part of toolbridge; `legality.py` says when it was used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

NAMES = {
    "openai-chat": r"[a-zA-Z0-9_-]{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
}
AT_THE_ROOT = ("oneOf", "anyOf", "allOf")
"""Combinations that no provider takes at the root of a schema."""
NOT_STRICT = ("allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "minProperties",
              "maxProperties", "uniqueItems", "minLength", "maxLength", "default", "prefixItems")  # fmt: skip
"""What OpenAI's strict mode refuses."""
ONE, LISTS, MAPS = (
    ("items", "additionalProperties"),
    ("anyOf", "oneOf", "allOf"),
    ("properties", "$defs", "definitions"),
)
"""Where schemas stand inside of schemas."""


def violations(provider: str, definition: dict[str, Any]) -> list[str]:
    """What the provider would refuse."""
    return list(found(provider, definition))


def found(provider: str, definition: dict[str, Any]) -> Iterator[str]:
    body = definition.get("function") or definition
    if not re.fullmatch(NAMES[provider], body.get("name") or ""):
        yield f"name {body.get('name')!r} is not allowed"
    keys = ("parametersJsonSchema", "parameters_json_schema", "input_schema", "parameters")
    schema = next((body[key] for key in keys if key in body), None)
    if schema is None:
        return
    if not isinstance(schema, dict) or str(schema.get("type")).lower() != "object":
        yield "the root is no object"
        return
    yield from (f"{key} at the root" for key in AT_THE_ROOT if key in schema)
    if provider == "openai-chat" and not isinstance(schema.get("properties"), dict):
        yield "object schema missing properties"
    for node in nodes(schema):
        kinds = node.get("type") if isinstance(node.get("type"), list) else [node.get("type")]
        if provider != "anthropic" and "array" in [str(each).lower() for each in kinds] and "items" not in node:
            yield "array schema missing items"
        if isinstance(node.get("$ref"), str) and not leads_somewhere(schema, node["$ref"]):
            yield "$ref leads nowhere"
        if provider == "openai-chat" and body.get("strict"):
            yield from strict(node)


def strict(node: dict[str, Any]) -> Iterator[str]:
    yield from (f"{key!r} is not permitted" for key in NOT_STRICT if key in node)
    if "properties" in node or node.get("type") == "object":
        if node.get("additionalProperties") is not False:
            yield "additionalProperties must be false"
        if set(node.get("properties") or {}) != set(node.get("required") or ()):
            yield "required must name every property"


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema, found by keyword."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        if key in ONE:
            yield from nodes(value)
        elif key in LISTS and isinstance(value, list):
            for each in value:
                yield from nodes(each)
        elif key in MAPS and isinstance(value, dict):
            for each in value.values():
                yield from nodes(each)


def leads_somewhere(root: Any, ref: str) -> bool:
    node = root
    for step in ref.removeprefix("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(step)] if isinstance(node, list) else node[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return False
    return ref.startswith("#")
