"""OpenAI Responses, definitions side: flat functions with an explicit `strict`, and hosted MCP servers.

It cannot express what Chat Completions cannot; a missing `strict` is not "no" there, so it is always written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from toolbridge.approval import Approval, is_named
from toolbridge.filters import MCPToolFilter, is_glob
from toolbridge.names import name_rule
from toolbridge.notes import Converted, Effect, Note
from toolbridge.providers.provider import Fact, Provider, Wire
from toolbridge.schema.dialects import JSON_SCHEMA, OPENAI_STRICT
from toolbridge.types import HostedServer, ToolId

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk


def write_tool(name: str, description: str, schema: Wire, strict: bool) -> Wire:
    tool: Wire = {"type": "function", "name": name}
    if description:
        tool["description"] = description
    return {**tool, "parameters": schema, "strict": strict}


def write_fields(definitions: list[Wire], strict: bool) -> Wire:
    return {"tools": definitions}


def write_deferred(shown: list[Wire], deferred: list[Wire]) -> Wire:
    """Its own search stands between what is shown and what it searches, so that the first part stays as it is."""
    return {"tools": [*shown, {"type": "tool_search"}, *({**each, "defer_loading": True} for each in deferred)]}


def write_hosted(server: HostedServer, chosen: MCPToolFilter, approval: Approval) -> Converted[Wire]:
    """`{"type": "mcp", …}`: the filter as `allowed_tools`, the approval policy as `require_approval`."""
    notes: list[Note] = []
    entry: Wire = {"type": "mcp", "server_label": server.name}
    for key, value in (
        ("server_url", server.url),
        ("connector_id", server.connector_id),
        ("tunnel_id", server.tunnel_id),
        ("server_description", server.description),
        ("authorization", server.authorization),
    ):
        if value:
            entry[key] = value
    if server.headers:
        entry["headers"] = dict(server.headers)
    if server.defer_loading:
        entry["defer_loading"] = True
    include = () if "*" in chosen.include else chosen.include
    names = [name for name in include if not is_glob(name) and chosen.accepts(name)]
    if len(names) < len([name for name in include if chosen.accepts(name)]):
        notes.append(Note("filter.globs", "narrowed", "/allowed_tools", list(include)))
    if chosen.exclude and not include:
        notes.append(Note("filter.exclude", "widened", "/allowed_tools", list(chosen.exclude)))
    if chosen.read_only is not None:
        entry["allowed_tools"] = {"read_only": chosen.read_only, **({"tool_names": names} if include else {})}
    elif include:
        entry["allowed_tools"] = names
    entry["require_approval"] = _approval(approval, server.name, notes)
    return Converted({"tools": [entry]}, tuple(notes))


def _approval(approval: Approval, server: str, notes: list[Note]) -> Wire | str:
    """`always` and `never`, or the tools for each where there are exceptions. In doubt a person is asked.

    A half means the tools that meet all that it says, and a tool that neither half means is asked about: there is no
    place for another default beside the two, and none for names or the claim to only read, whichever holds.
    """
    if approval.default == "never" and not approval.always:
        return "never"

    def note(code: str, effect: Effect, before: Any) -> None:
        notes.append(Note(code, effect, "/require_approval", before))

    claim = approval.never_read_only or approval.never_additive
    vague = [each for each in approval.always if is_glob(each)]
    globs = [each for each in (*approval.never, *approval.never_where_read_only) if is_glob(each)]
    if vague and claim:  # which of the tools that only read are asked about all the same cannot be said
        claim, globs = False, [*vague, *globs]
    if globs:
        note("approval.globs", "narrowed", globs)
    if approval.never_additive:
        note("approval.additive", "narrowed", True)
    always = _names(approval.always, server)
    never = [each for each in _names(approval.never, server) if not _is_asked(each, approval, server)]
    where = [each for each in _names(approval.never_where_read_only, server) if not _is_asked(each, approval, server)]
    out: Wire = {"always": {"tool_names": always}} if always else {}
    if never:
        out["never"] = {"tool_names": never}
        if claim or where:
            note("approval.read_only", "narrowed", where or True)
    elif claim:
        out["never"] = {"read_only": True}
        if always:
            note("approval.overlap", "changed", always)
    elif where:
        out["never"] = {"tool_names": where, "read_only": True}
    if approval.default == "never":
        note("approval.default", "narrowed", "never")
        return out or "always"
    return out if "never" in out else "always"


def _names(listed: Iterable[str], server: str) -> list[str]:
    """The names that are no patterns, as the server has them."""
    return list(dict.fromkeys(each.removeprefix(f"{server}/") for each in listed if not is_glob(each)))


def _is_asked(name: str, approval: Approval, server: str) -> bool:
    return is_named(approval.always, ToolId(server, name))


@cache
def talk() -> Talk:
    from toolbridge.wire.responses import TALK  # a conversion of tools does without

    return TALK


PROVIDER = Provider(
    name="openai-responses",
    title="OpenAI Responses",
    dialect=JSON_SCHEMA,
    strict=OPENAI_STRICT,
    strict_by_default=True,
    names=name_rule("a-zA-Z0-9_-", 64),
    write_tool=write_tool,
    write_fields=write_fields,
    talk=talk,
    write_hosted=write_hosted,
    write_deferred=write_deferred,
    defers=re.compile(r"^gpt-5\.[4-9](?!.*(nano|chat))(-|$)"),
    facts=(
        Fact("strict is always explicit", "github.com/vercel/ai/issues/7888", "2026-11"),
        Fact("names: 64 is safe at the top level, 128 only inside a namespace", "openai OpenAPI 2.3.0 FunctionToolParam", "2026-08"),
        Fact("hosted servers: allowed_tools, require_approval", "openai 3.49 types/responses/tool_param.py", "2026-11"),
        Fact("gpt-5.4 and later search deferred functions; their calls carry a namespace that is sent back",
             "github.com/googleapis/js-genai/issues/1416; openai 3.49 types/responses/tool_search_tool_param.py", "2026-11"),
        Fact("strict schemas as in Chat Completions", "openai structured outputs guide", "2026-02"),
    ),
)  # fmt: skip
