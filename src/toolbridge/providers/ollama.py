"""Ollama.

Its server decodes a schema into a structure and drops, without a word, every keyword that has no place there: only
`type`, `properties`, `required`, `items`, `enum`, `anyOf` and `description` survive. The rest is said in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolbridge.names import name_rule
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import OLLAMA

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

    return TALKS["ollama"]


PROVIDER = Provider(
    name="ollama",
    title="Ollama",
    dialect=OLLAMA,
    names=name_rule("a-zA-Z0-9_-", 64),
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    facts=(
        Fact(
            "a property keeps anyOf, type, items, description, enum, properties, required",
            "ollama fb30760 api/types.go",
            "2026-08",
        ),
    ),
)
