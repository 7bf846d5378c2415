"""OpenAI Agents: a server object for each server, all connected at once by its manager, and kept open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.mcp import MCPServerManager, MCPServerStdio, MCPServerStreamableHttp

PACKAGES = ("openai-agents", "mcp")
WAY = "`MCPServerManager(servers, connect_in_parallel=True)`, kept open; `server.call_tool`"


class Peer:
    _manager: Any

    async def open(self, servers: dict[str, Any]) -> int:
        made = [
            MCPServerStreamableHttp({"url": each["url"]}, name=name, client_session_timeout_seconds=30)
            if "url" in each
            else MCPServerStdio(each, name=name, client_session_timeout_seconds=30)
            for name, each in servers.items()
        ]
        self._manager = MCPServerManager(made, connect_in_parallel=True, strict=True)
        await self._manager.__aenter__()
        return sum([len(await each.list_tools()) for each in made])

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        found = next(each for each in self._manager.active_servers if each.name == server)
        return lambda: found.call_tool(tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        return result.content[0].text

    async def close(self) -> None:
        await self._manager.__aexit__(None, None, None)
