"""Hosted MCP: a server that the provider itself connects to, as fields of the request.

The filter and the approval policy mean what they mean in the hub; where a provider has no place for one of them, the
note says so, and what was filtered out or asked for must then be seen to elsewhere.

The provider lists the server's tools by itself and knows names only: no patterns, and nothing of tools that the server
keeps from models. With `tools`, what the server listed to us, both are put into names before they are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolbridge.approval import Approval
from toolbridge.apps import visible
from toolbridge.errors import UnsupportedError
from toolbridge.filters import MCPToolFilter
from toolbridge.notes import Converted, Note
from toolbridge.providers import Provider, get_provider, providers
from toolbridge.types import HostedServer, Tool

_EVERYTHING = MCPToolFilter()
_ALWAYS = Approval()


def hosted_fields(
    server: HostedServer,
    provider: Provider | str,
    *,
    filter: MCPToolFilter = _EVERYTHING,
    approval: Approval = _ALWAYS,
    tools: Iterable[Tool] | None = None,
) -> Converted[dict[str, Any]]:
    """What to merge into a request body so that the provider connects to the server by itself.

    `tools` are the tools of the server as far as they are known, `hub.all_tools` for example: private ones are then
    kept out of the request, and patterns and exclusions become names. A tool that comes later is not offered, where
    anything is filtered, and is asked about. Where none of them is of this server, because it is down or goes by
    another name here, filter and policy are written as they are given, and the note `tools.unknown` says so.
    """
    if isinstance(provider, str):
        provider = get_provider(provider)
    if provider.write_hosted is None:
        able = [name for name, each in providers().items() if each.write_hosted]
        raise UnsupportedError(f"{provider.name} connects to no MCP servers by itself; these do: {', '.join(able)}")
    if not server.name:
        raise UnsupportedError("a hosted server needs a name: it is the label the model's answers carry")
    named = [each for each in (server.url, server.connector_id, server.tunnel_id) if each]
    if len(named) != 1:
        raise UnsupportedError(f"server {server.name!r} needs exactly one of url, connector_id and tunnel_id")
    if not server.url and provider.name != "openai-responses":
        raise UnsupportedError(f"{provider.name} connects by url only; server {server.name!r} has none")
    if tools is None:
        return provider.write_hosted(server, filter, approval)
    known = [each for each in tools if each.id.server in ("", server.name)]
    if not known:  # no names can be made of nothing, and an empty list of names would offer everything
        written = provider.write_hosted(server, filter, approval)
        return Converted(written.value, (Note("tools.unknown", "widened", "", server.name), *written.notes))
    return provider.write_hosted(server, *_by_name(known, filter, approval))


def _by_name(known: list[Tool], filter: MCPToolFilter, approval: Approval) -> tuple[MCPToolFilter, Approval]:
    """The same filter and the same policy for the tools that are known, by their names alone."""
    offered = [each for each in filter.apply(known) if visible(each)]
    if filter != _EVERYTHING or len(offered) < len(known):
        names = [each.id.name for each in offered]
        every = [each.id.name for each in known]
        # An empty list of names would offer everything.
        filter = MCPToolFilter(include=names) if names else MCPToolFilter(include=every, exclude=every)
    if approval.default == "never" and not approval.always:
        return filter, approval
    return filter, Approval(never=tuple(each.id.name for each in offered if approval.why_asked(each) is None))
