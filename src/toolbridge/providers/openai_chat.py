"""OpenAI Chat Completions.

It cannot express: a union, `enum` or `not` at the root; an array without `items`; a name past 64 characters; more than
128 tools. Strict mode further has no optionals, no maps, no free-form objects, no tuples and few constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolbridge.names import name_rule
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import JSON_SCHEMA, OPENAI_STRICT

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    """`{"type": "function", "function": {…}}`; `strict` only where it is true, since some servers refuse a false one."""
    function: Wire = {"name": name}
    if description:
        function["description"] = description
    function["parameters"] = schema
    if strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    return {"tools": definitions}


def talk() -> Talk:
    from toolbridge.wire.chat.vendors import TALKS

    return TALKS["openai-chat"]


PROVIDER = Provider(
    name="openai-chat",
    title="OpenAI Chat Completions",
    dialect=JSON_SCHEMA,
    strict=OPENAI_STRICT,
    strict_by_default=True,
    names=name_rule("a-zA-Z0-9_-", 64),
    most_tools=128,
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    facts=(
        Fact("names of up to 64 of a-z A-Z 0-9 _ -", "openai 3.49 types/shared/function_definition.py", "2026-11"),
        Fact("at most 128 tools", "github.com/0x4m4/hexstrike-ai/issues/29", "2026-11"),
        Fact("no oneOf, anyOf, allOf, enum or not at the root", "github.com/langchain-ai/langchainjs/issues/9804", "2026-11"),
        Fact("every array needs items", "github.com/spring-projects/spring-ai/issues/2561", "2026-11"),
        Fact("every object in a strict schema is closed and requires all of it", "openai structured outputs guide", "2026-02"),
        Fact("a strict schema has at most 10 levels, 5,000 properties, 1,000 enum values, 120,000 characters of names",
             "openai structured outputs guide", "2026-02"),
        Fact("strict mode refuses format uri", "github.com/tailcallhq/forgecode/issues/2974", "2026-04"),
    ),
)  # fmt: skip
