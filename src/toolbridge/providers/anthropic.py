"""Anthropic Messages, definitions side.

It cannot express: a union at the root; a top-level property key outside `[a-zA-Z0-9_.-]{1,64}`; anything that is not a
valid 2020-12 schema. Strict tools share one budget per request, have closed objects, no recursion and few constraints.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from toolbridge.approval import Approval
from toolbridge.filters import MCPToolFilter, is_glob
from toolbridge.names import name_rule
from toolbridge.notes import Converted, Note
from toolbridge.providers.provider import Fact, Provider, StrictBudget, Wire
from toolbridge.schema.dialects import ANTHROPIC, ANTHROPIC_STRICT
from toolbridge.types import HostedServer

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    tool: Wire = {"name": name}
    if description:
        tool["description"] = description
    tool["input_schema"] = schema
    if strict:
        tool["strict"] = True
    return tool


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    return {"tools": definitions}


def write_deferred(shown: list[Wire], deferred: list[Wire]) -> Wire:
    """Its own search stands between what is shown and what it searches, so that the first part stays as it is."""
    search: Wire = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
    return {"tools": [*shown, search, *({**each, "defer_loading": True} for each in deferred)]}


def write_hosted(server: HostedServer, chosen: MCPToolFilter, approval: Approval) -> Converted[Wire]:
    """`mcp_servers` and the one `mcp_toolset` that refers to it; a list of names is everything off but these."""
    notes: list[Note] = []
    entry: Wire = {"type": "url", "url": server.url, "name": server.name}
    if server.authorization:
        entry["authorization_token"] = server.authorization
    if server.description:
        notes.append(Note("description.dropped", "changed", "/mcp_servers/0", server.description))
    if server.headers:
        notes.append(Note("headers.dropped", "changed", "/mcp_servers/0", sorted(server.headers)))
    toolset: Wire = {"type": "mcp_toolset", "mcp_server_name": server.name}
    default: Wire = {}
    configs: Wire = {}
    include = () if "*" in chosen.include else chosen.include
    names = [name for name in include if not is_glob(name) and chosen.accepts(name)]
    if include:
        default["enabled"] = False
        configs = {name: {"enabled": True} for name in names}
        if len(names) < len([name for name in include if chosen.accepts(name)]):
            notes.append(Note("filter.globs", "narrowed", "/tools/0/configs", list(include)))
    else:
        configs = {name: {"enabled": False} for name in chosen.exclude if not is_glob(name)}
        if len(configs) < len(chosen.exclude):
            notes.append(Note("filter.globs", "widened", "/tools/0/configs", list(chosen.exclude)))
    if chosen.read_only is not None:
        notes.append(Note("filter.read_only", "widened", "/tools/0", chosen.read_only))
    if server.defer_loading:
        default["defer_loading"] = True
    if default:
        toolset["default_config"] = default
    if configs:
        toolset["configs"] = configs
    if approval.default != "never" or approval.always:
        notes.append(Note("approval.dropped", "widened", "/tools/0", approval.default))
    return Converted({"mcp_servers": [entry], "tools": [toolset]}, tuple(notes))


@cache
def talk() -> Talk:
    from toolbridge.wire.anthropic import TALK  # a conversion of tools does without

    return TALK


PROVIDER = Provider(
    name="anthropic",
    title="Anthropic Messages",
    dialect=ANTHROPIC,
    strict=ANTHROPIC_STRICT,
    strict_budget=StrictBudget(tools=20, optionals=24, unions=16),
    names=name_rule("a-zA-Z0-9_-", 128),
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    write_hosted=write_hosted,
    write_deferred=write_deferred,
    defers=re.compile(r"^claude-(opus|sonnet|haiku)-(4-[5-9]|[5-9])(-|$)"),
    facts=(
        Fact("names of up to 128 of a-z A-Z 0-9 _ -", "github.com/anthropics/claude-code/issues/96152", "2026-09"),
        Fact("no oneOf, allOf or anyOf at the root", "github.com/anthropics/claude-code/issues/40075", "2026-08"),
        Fact("top-level property keys match [a-zA-Z0-9_.-]{1,64}", "github.com/decocms/studio/pull/6874", "2026-09"),
        Fact("schemas are valid 2020-12", "github.com/openclaw/openclaw/issues/29416", "2026-11"),
        Fact("at most 20 strict tools, 24 optionals and 16 unions among them", "github.com/camel-ai/camel/pull/4171", "2026-11"),
        Fact("from the 4.5 generation on its models search deferred tools; one tool at least is not deferred",
             "github.com/microsoft/vscode/pull/328662; anthropic 2.8 types", "2026-11"),
        Fact("hosted: mcp_servers and mcp_toolset, beta mcp-client-2026-09-15", "anthropic 2.8 types/beta", "2026-11"),
    ),
)  # fmt: skip
