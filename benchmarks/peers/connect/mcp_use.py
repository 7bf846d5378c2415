"""mcp-use: a client with a session for each server, which stay open. Its telemetry is turned off by the environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_use import MCPClient

PACKAGES = ("mcp-use", "mcp")
WAY = "`create_all_sessions()`, one after the other and kept open; `session.call_tool`"


class Peer:
    _client: MCPClient

    async def open(self, servers: dict[str, Any]) -> int:
        self._client = MCPClient.from_dict({"mcpServers": servers})
        sessions = await self._client.create_all_sessions()
        return sum([len(await each.list_tools()) for each in sessions.values()])

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        session = self._client.get_session(server)
        return lambda: session.call_tool(tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        assert not result.isError, result.content
        return result.content[0].text

    async def close(self) -> None:
        await self._client.close_all_sessions()
