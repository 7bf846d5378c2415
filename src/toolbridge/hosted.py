"""Hosted MCP: a server that the provider itself connects to, as fields of the request.

The filter and the approval policy mean what they mean in the hub; where a provider has no place for one of them, the
note says so, and what was filtered out or asked for must then be seen to elsewhere.
"""

from __future__ import annotations

from typing import Any

from toolbridge.approval import Approval
from toolbridge.errors import UnsupportedError
from toolbridge.filters import MCPToolFilter
from toolbridge.notes import Converted
from toolbridge.providers import Provider, get_provider, providers
from toolbridge.types import HostedServer

_EVERYTHING = MCPToolFilter()
_ALWAYS = Approval()


def hosted_fields(
    server: HostedServer,
    provider: Provider | str,
    *,
    filter: MCPToolFilter = _EVERYTHING,
    approval: Approval = _ALWAYS,
) -> Converted[dict[str, Any]]:
    """What to merge into a request body so that the provider connects to the server by itself."""
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
    return provider.write_hosted(server, filter, approval)
