"""Any model behind a server that constrains what it writes to a JSON schema: llama.cpp, vLLM and their like.

For models without tool calling. The tools stand in the system message in words, and the request's `response_format`
lets the model write nothing but one object: a call of one of them, or the answer. One call in a reply.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from toolbridge.names import name_rule
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import LLAMA_CPP

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    """As Chat Completions have it, though it is not sent as it is: the form that most programs know."""
    function: Wire = {"name": name}
    if description:
        function["description"] = description
    return {"type": "function", "function": {**function, "parameters": schema}}


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    """The schema of the one object. `strict` is not asked: there is nothing without it."""
    from toolbridge.wire.constrained.form import form_schema

    schema = form_schema((each["function"]["name"], each["function"]["parameters"]) for each in definitions)
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
    }


def write_instructions(definitions: list[Wire]) -> str:
    from toolbridge.wire.constrained.instructions import write_instructions

    return write_instructions([each["function"] for each in definitions])


@cache
def talk() -> Talk:
    from toolbridge.wire.chat.vendors import TALKS
    from toolbridge.wire.constrained import over

    return over(TALKS["llama.cpp"])


PROVIDER = Provider(
    name="json-schema",
    title="Any model, by JSON schema (llama.cpp, vLLM, …)",
    dialect=LLAMA_CPP,
    names=replace(name_rule("a-zA-Z0-9_-", 64), with_server=False),
    write_tool=write_tool,
    write_fields=write_fields,
    write_instructions=write_instructions,
    talk=talk,
    facts=(
        Fact("a grammar's keys come in the order of the schema, the required first; references are relative to its root,"
             " and rules are named by their letters and digits alone", "llama.cpp 011c6c3 common/json-schema-to-grammar.cpp", "2026-11"),
        Fact("objects are open unless they are said to be closed; white space is without end unless x-guidance says how much",
             "llguidance 0bc7a5f docs/json_schema.md", "2026-11"),
    ),
)  # fmt: skip
