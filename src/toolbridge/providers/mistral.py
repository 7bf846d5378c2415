"""Mistral: the shape of Chat Completions, a draft-07 check of schemas, restricted names and ids, an order of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolbridge.names import name_rule
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import JSON_SCHEMA

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    function: Wire = {"name": name}
    if description:
        function["description"] = description
    return {"type": "function", "function": {**function, "parameters": schema}}


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    return {"tools": definitions}


def talk() -> Talk:
    from toolbridge.wire.chat.vendors import TALKS

    return TALKS["mistral"]


PROVIDER = Provider(
    name="mistral",
    title="Mistral",
    dialect=JSON_SCHEMA,
    names=name_rule("a-zA-Z0-9_-", 64),
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    facts=(
        Fact(
            "names of up to 64 of a-z A-Z 0-9 _ -; schemas pass draft-07", "mistral-common 1.13 validator.py", "2026-11"
        ),
    ),
)
