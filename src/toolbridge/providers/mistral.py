"""Mistral, definitions side: the shape of Chat Completions, a draft-07 check of the schema, restricted names."""

from __future__ import annotations

from toolbridge.names import name_rule
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import JSON_SCHEMA


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    function: Wire = {"name": name}
    if description:
        function["description"] = description
    return {"type": "function", "function": {**function, "parameters": schema}}


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    return {"tools": definitions}


PROVIDER = Provider(
    name="mistral",
    title="Mistral",
    dialect=JSON_SCHEMA,
    names=name_rule("a-zA-Z0-9_-", 64),
    write_tool=write_tool,
    write_fields=write_fields,
    facts=(
        Fact(
            "names of up to 64 of a-z A-Z 0-9 _ -; schemas pass draft-07", "mistral-common 1.13 validator.py", "2026-11"
        ),
    ),
)
