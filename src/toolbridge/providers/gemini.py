"""Google Gemini: `parametersJsonSchema`, and the older `parameters` as `gemini-openapi`.

`parametersJsonSchema` cannot enforce most constraints (they are said instead) and wants a plain object root. The older
form has no references, no maps, no free-form objects, no constants, only string enums and restricted property names.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from toolbridge.approval import Approval
from toolbridge.filters import MCPToolFilter
from toolbridge.names import name_rule
from toolbridge.notes import Converted, Note
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import GEMINI, GEMINI_OPENAPI
from toolbridge.types import HostedServer

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    tool: Wire = {"name": name}
    if description:
        tool["description"] = description
    if schema["properties"]:
        tool["parametersJsonSchema"] = schema
    return tool


def write_openapi_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    tool: Wire = {"name": name}
    if description:
        tool["description"] = description
    if schema["properties"]:  # an OBJECT without properties is refused: a tool without arguments has no parameters
        tool["parameters"] = schema
    return tool


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    """One `Tool` holds all declarations; the only strict switch is the request's calling mode."""
    fields: Wire = {"tools": [{"functionDeclarations": definitions}]}
    if strict:
        fields["toolConfig"] = {"functionCallingConfig": {"mode": "VALIDATED"}}
    return fields


def write_hosted(server: HostedServer, chosen: MCPToolFilter, approval: Approval) -> Converted[Wire]:
    """`mcpServers` of a `Tool`: it takes every tool of the server and asks for no approval."""
    notes: list[Note] = []
    transport: Wire = {"url": server.url}
    headers = dict(server.headers)
    if server.authorization and "authorization" not in map(str.lower, headers):
        headers["Authorization"] = f"Bearer {server.authorization}"
    for dropped in ("description", "defer_loading"):
        if getattr(server, dropped):
            notes.append(Note(f"{dropped}.dropped", "changed", "/tools/0/mcpServers/0", getattr(server, dropped)))
    if headers:
        transport["headers"] = headers
    if chosen != MCPToolFilter():
        notes.append(Note("filter.dropped", "widened", "/tools/0/mcpServers/0", list(chosen.include or chosen.exclude)))
    if approval.default != "never" or approval.always:
        notes.append(Note("approval.dropped", "widened", "/tools/0/mcpServers/0", approval.default))
    entry: Wire = {"name": server.name, "streamableHttpTransport": transport}
    return Converted({"tools": [{"mcpServers": [entry]}]}, tuple(notes))


@cache
def talk() -> Talk:
    from toolbridge.wire.gemini import TALK

    return TALK


PROVIDER = Provider(
    name="gemini",
    title="Google Gemini (parametersJsonSchema)",
    dialect=GEMINI,
    strict_by_mode=True,
    names=name_rule("a-zA-Z0-9_.:-", 64, first="a-zA-Z_"),
    most_tools=512,
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    write_hosted=write_hosted,
    facts=(
        Fact("names start with a letter or _, then a-z A-Z 0-9 _ . : -; 64 is safe", "google-genai 3.1 types.py", "2026-11"),
        Fact("at most 512 declarations", "google-genai 3.1 types.py", "2026-11"),
        Fact("enforced: type, enum, items, prefixItems, bounds, anyOf, properties, required, $ref; the rest is ignored",
             "google-genai 3.1 types.py response_json_schema", "2026-11"),
        Fact("mode VALIDATED is the only strict switch", "pydantic-ai 4fda389 models/google.py", "2026-08"),
        Fact("the first call of a turn wants its thought signature back, or skip_thought_signature_validator",
             "ai.google.dev/gemini-api/docs/thought-signatures; pydantic-ai models/google.py", "2026-10"),
        Fact("media stand inside of results from Gemini 3 on, before that beside them",
             "pydantic-ai 4fda389 tests/models/test_multimodal_tool_returns.py", "2026-08"),
    ),
)  # fmt: skip

OPENAPI = replace(
    PROVIDER,
    name="gemini-openapi",
    title="Google Gemini (parameters)",
    dialect=GEMINI_OPENAPI,
    write_tool=write_openapi_tool,
    origin="gemini",
    facts=(
        *PROVIDER.facts[:2],
        Fact("an unknown key fails the whole request", "github.com/pizza-bot-app/pizza-bot/issues/62", "2026-09"),
        Fact(
            "property names are letters, digits and _, at most 64, no digit first",
            "google-genai 3.1 types.py",
            "2026-11",
        ),
        Fact(
            "an OBJECT needs properties, an ARRAY items, an enum non-empty strings",
            "github.com/cline/cline/issues/7339",
            "2026-11",
        ),
    ),
)
