"""Opening: from a specification to the SDK's connected client, and what is known when that fails.

One way is tried at a time (`Way`): which era of the protocol, and over HTTP which transport. `next_way` says what else
is worth a try after a failure: servers of the handshake era that end when they are asked for `server/discover`, and
addresses that turn out to be of the older SSE transport.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp import Client, StdioServerParameters
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from toolbridge import __version__
from toolbridge.errors import ServerError
from toolbridge.failure import Failure
from toolbridge.servers.environment import child_environment, find_command
from toolbridge.servers.guardian import Guardian
from toolbridge.servers.http import Exchange, http_transport
from toolbridge.servers.logs import keep_secret
from toolbridge.servers.mend import Mended
from toolbridge.servers.process import ServerProcess
from toolbridge.servers.secrets import redact
from toolbridge.servers.spec import ServerSpec

if TYPE_CHECKING:
    from toolbridge.servers.oauth import Login, OnUrl

SSE_STATUSES = frozenset({400, 404, 405, 406, 410, 415})
"""Refusals of a first POST that may mean "this is an address of the older SSE transport"."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to a server: the SDK's `mode`, and whether by the older SSE transport."""

    mode: str
    sse: bool = False


@dataclass(slots=True)
class Facts:
    """What is known of an attempt, for the report when it fails."""

    way: Way
    process: ServerProcess | None = None
    login: Login | None = None
    exchange: Exchange = field(default_factory=Exchange)
    opened: bool = False
    """Whether the handshake was done."""
    listed: bool = False
    """Whether the tools were listed: from here on it serves."""
    given_up: bool = False
    """Whether it was us who ended it."""
    failure: Failure | None = None
    """Why it ended, once `explained` is set."""
    explained: asyncio.Event = field(default_factory=asyncio.Event)

    def is_logging_in(self) -> bool:
        """Whether a person is asked to log in, which has a limit of its own."""
        return self.login is not None and self.login.waiting


def first_way(spec: ServerSpec, known: str | None) -> Way:
    """The way to begin with; `known` is the protocol version that the server spoke the last time."""
    if spec.transport == "sse":
        return Way("legacy", sse=True)
    if spec.protocol in HANDSHAKE_PROTOCOL_VERSIONS:
        return Way("legacy")
    if spec.protocol == "auto" and known in HANDSHAKE_PROTOCOL_VERSIONS:
        return Way("legacy")
    return Way(spec.protocol)


def next_way(spec: ServerSpec, facts: Facts) -> Way | None:
    """What else to try after an attempt that did not get through the handshake."""
    if facts.opened or facts.way.sse:
        return None
    if spec.transport == "auto" and facts.exchange.status in SSE_STATUSES:
        return Way("legacy", sse=True)
    if facts.way.mode == "auto" and facts.process is not None and facts.process.died:
        return Way("legacy")
    return None


@asynccontextmanager
async def opened_client(
    spec: ServerSpec,
    facts: Facts,
    *,
    options: dict[str, Any],
    on_end: Callable[[], None],
    on_url: OnUrl | None,
    guardian: Guardian,
) -> AsyncGenerator[Client]:
    """The connected client; leaving ends the connection, and the process where there is one."""
    keep_secret(spec.secrets)
    async with AsyncExitStack() as stack:
        made = _made(spec, facts, on_end=on_end, on_url=on_url, guardian=guardian)
        if isinstance(made, Client):
            client = made
            if client.message_handler is None:
                client.message_handler = options.get("message_handler")
            if not _is_entered(client):
                try:
                    await stack.enter_async_context(client)
                except RuntimeError:  # the SDK's word for a client that was open before
                    why = "its client was used before and opens only once; give a function that makes one"
                    raise ServerError(Failure(spec.name, "closed", why)) from None
        else:
            info = mcp_types.Implementation(name="toolbridge", version=__version__)
            client = Client(made, mode=facts.way.mode, client_info=info, cache=None, **options)
            await stack.enter_async_context(client)
        facts.opened = True
        # Output that does not fit its schema is a note of ours, not an exception that loses the result.
        setattr(client.session, "validate_tool_result", _believe)  # noqa: B010
        yield client


async def _believe(name: str, result: Any) -> None:
    return None


def _made(
    spec: ServerSpec, facts: Facts, *, on_end: Callable[[], None], on_url: OnUrl | None, guardian: Guardian
) -> Any:
    """What the SDK's `Client` is made of, or a `Client` that someone made."""
    if spec.transport == "memory":
        # A class is callable too, but nobody hands one over to be called.
        made = spec.server() if callable(spec.server) and not hasattr(spec.server, "__aenter__") else spec.server
        return made if isinstance(made, Client | Server | MCPServer) else _MendedTransport(made, on_end)
    if spec.transport == "stdio":
        env = child_environment(spec)
        command = find_command(spec, env)
        if isinstance(command, Failure):
            raise ServerError(command)
        if sys.platform == "win32":
            return StdioServerParameters(command=command, args=list(spec.args), env=env, cwd=spec.cwd)
        facts.process = ServerProcess(
            [command, *spec.args],
            env=env,
            cwd=spec.cwd,
            on_end=on_end,
            redact=lambda text: redact(text, spec.secrets),
            guardian=guardian,
        )
        return facts.process
    auth = spec.auth
    if spec.oauth is not None:
        from toolbridge.servers.oauth import oauth_provider  # few servers ask for it

        auth = facts.login = oauth_provider(spec, on_url=on_url)
    return http_transport(spec, sse=facts.way.sse, auth=auth, on_end=on_end)


class _MendedTransport:
    """A transport of the SDK's kind whose messages are mended."""

    def __init__(self, transport: Any, on_end: Callable[[], None]) -> None:
        self._transport = transport
        self._on_end = on_end

    async def __aenter__(self) -> Any:
        read, write = await self._transport.__aenter__()
        return Mended(read, self._on_end), write

    async def __aexit__(self, *details: Any) -> Any:
        return await self._transport.__aexit__(*details)


def _is_entered(client: Client) -> bool:
    try:
        return client.session is not None
    except RuntimeError:
        return False
