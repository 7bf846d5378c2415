"""Names of the DIAL agent's decision record: one MCP server as a client that speaks DIAL's (OpenAI's) tool form, and
beside it the model and the conversations, from their own modules.

Thin over the core, for programs written against that record. The core way is `connect("mcp.json")` for any number of
servers, `prepare(hub.tools, "dial")` for the definitions, and `hub.run(prepared.resolve(call))` for the calls; for a
whole conversation it is `toolbridge.chat(question, servers, model)`, or a `Chat` with a store.

Decisions where the record is silent:

- Names carry no server, as the record shows them. A name that DIAL refuses is spelt anew; `call_tool` takes the
  spelling that was shown, and the server's own name too.
- `call_tool` is the model's door. It checks arguments against the server's schema before it sends them, and what
  a model can repair is its answer: the text starts with `Error:`. Only a client that is closed raises.
- `call_tool` returns the text of all blocks. What is no text is described in it.
- A tool that DIAL cannot express is left out with a warning.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from toolbridge.compat.dial_client import DialClient
from toolbridge.compat.dial_conversations import ConversationManager
from toolbridge.compat.dial_messages import Message, Role
from toolbridge.compat.orbiter import extract_schema, result_text
from toolbridge.errors import MCPToolError
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.servers.config import read_config
from toolbridge.servers.hub import Hub, connect
from toolbridge.servers.secrets import secret_values
from toolbridge.servers.spec import ServerSpec
from toolbridge.tools import read_tools
from toolbridge.types import BoundCall, Tool, ToolCall, ToolId

__all__ = [
    "BaseMCPClient",
    "ConversationManager",
    "DialClient",
    "HttpMCPClient",
    "Message",
    "Role",
    "StdioMCPClient",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool under the names that the record uses."""

    name: str
    description: str
    inputSchema: dict[str, Any]  # the record's spelling, and the protocol's


@dataclass(frozen=True, slots=True)
class Listed:
    """What `session.list_tools()` answers."""

    tools: list[ListedTool]


class Session:
    """What the record's own methods use of a session. The core way: `hub.tools`; `hub.client(server)` is the SDK's."""

    def __init__(self, client: BaseMCPClient) -> None:
        self._client = client

    async def list_tools(self) -> Listed:
        """The tools as the server describes them."""
        tools = await self._client._listed()
        return Listed([ListedTool(each.id.name, each.description, extract_schema(each)) for each in tools])


class BaseMCPClient:
    """One connected server. Made by `create`, ended by `close` or `async with`, from any task."""

    def __init__(self, hub: Hub) -> None:
        (self._server,) = hub.specs
        self._hub = hub
        self._ready: PreparedTools = prepare((), "dial")
        self.session = Session(self)

    @classmethod
    async def _connected(cls, spec: ServerSpec) -> Self:
        """Raises `ServerError`, which says why, where the server is not to be had."""
        client = cls(connect(replace(spec, required=True)))
        await client._hub.open()
        client._prepare(client._plain())
        return client

    async def close(self) -> None:
        """End the connection, and the process where there is one. Closing twice is closing once."""
        await self._hub.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def get_tools(self) -> list[dict[str, Any]]:
        """What the server lists now, in DIAL's form. The core way: `prepare(hub.tools, "dial").definitions`."""
        self._prepare(await self._listed())
        definitions = [_whole(each) for each in self._ready.definitions]
        logger.info("Converted %d tools to DIAL format", len(definitions))
        return definitions

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> str:
        """Call a tool by the name that was shown; the text of its answer.

        The core way: `hub.run(prepared.resolve(call))`, whose `ToolResult` keeps every block.
        """
        self._check_open()
        own = next((each.id for each in self._ready.tools if each.id.name == name), None)
        name = name if own is None else self._ready.wire_name(own)
        given = {} if arguments is None else dict(arguments) if isinstance(arguments, Mapping) else None
        found = self._ready.resolve(ToolCall("", name, str(arguments), given))
        if isinstance(found, BoundCall):
            named = replace(found.tool, id=ToolId(self._server, found.tool.id.name))
            found = await self._hub.run(replace(found, tool=named))
        return f"Error: {result_text(found)}" if found.is_error else result_text(found)

    @staticmethod
    def mcp_to_dial_format(mcp_tool: Any) -> dict[str, Any]:
        """One tool in DIAL's form; `MCPToolError` where it has none. The core way: `prepare(tools, "dial")`."""
        ready = prepare(read_tools([mcp_tool]), "dial")
        for id, why in ready.left_out.items():
            raise MCPToolError(f"{id} cannot be offered: {why}")
        return _whole(ready.definitions[0])

    _mcp_to_dial_format = mcp_to_dial_format

    def _prepare(self, tools: Sequence[Tool]) -> None:
        self._ready = prepare(tools, "dial")
        for id, why in self._ready.left_out.items():
            logger.warning("Left out of the DIAL tools: %s: %s", id, why)

    async def _listed(self) -> list[Tool]:
        self._check_open()
        await self._hub.refresh(self._server)
        return self._plain()

    def _plain(self) -> list[Tool]:
        """The tools without their server, so that their names are spelt without it."""
        return [replace(each, id=ToolId("", each.id.name)) for each in self._hub.tools]

    def _check_open(self) -> None:
        if self._hub.status[self._server].state == "closed":
            raise MCPToolError(f"server {self._server!r}: the client is closed; make another with create()")


class HttpMCPClient(BaseMCPClient):
    """A server behind an address: streamable HTTP, or the older SSE."""

    @classmethod
    async def create(cls, mcp_server_url: str, *, headers: Mapping[str, str] | None = None) -> Self:
        """Connect; `ConfigError` where that is no url. The core way: `connect({"name": url})`."""
        (spec,) = read_config({"mcpServers": {"http": {"url": mcp_server_url}}})
        name = urlsplit(mcp_server_url).hostname or spec.name
        spec = replace(spec, name=name, headers=dict(headers or {}))
        return await cls._connected(replace(spec, secrets=secret_values(spec)))


class StdioMCPClient(BaseMCPClient):
    """A server that is started here and spoken to over pipes."""

    @classmethod
    async def create(
        cls,
        command: str | None = None,
        args: Sequence[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        docker_image: str | None = None,
    ) -> Self:
        """Start a command, or an image with Docker, whose own arguments `args` then are.

        With an image, `env` is for the server in it. The core way: `connect([ServerSpec(name, command=…, args=…)])`.
        """
        if (command is None) == (docker_image is None):
            raise ValueError("give a command or a docker_image, one of the two")
        name = docker_image or os.path.basename(command or "") or "stdio"
        words = tuple(args or ())
        if docker_image is not None:
            passed = [
                word for name in env or {} for word in ("-e", name)
            ]  # by name: a value would show in the process list
            command, words = "docker", ("run", "--rm", "-i", *passed, docker_image, *words)
        place = None if cwd is None else os.fspath(cwd)
        return await cls._connected(ServerSpec(name, command=command, args=words, env=dict(env or {}), cwd=place))


def _whole(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition with a description, also where the server gives none."""
    function = definition["function"]
    return {**definition, "function": {"name": function["name"], "description": "", **function}}
