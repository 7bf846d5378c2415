"""Google ADK: a toolset for each server, all listed at once as an agent does; the tools run as its flow runs them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

from google.adk.tools.mcp_tool import McpToolset
from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import StdioServerParameters

PACKAGES = ("google-adk", "mcp")
WAY = "`McpToolset`, one for each server, sessions pooled; `tool.run_async`"
CONTEXT = MagicMock(name="tool context")


class Peer:
    def __init__(self) -> None:
        self._toolsets: list[McpToolset] = []
        self._tools: dict[tuple[str, str], Any] = {}

    async def open(self, servers: dict[str, Any]) -> int:
        for each in servers.values():
            if "url" in each:
                where: Any = StreamableHTTPConnectionParams(url=each["url"], timeout=30)
            else:
                where = StdioConnectionParams(server_params=StdioServerParameters(**each), timeout=30)
            self._toolsets.append(McpToolset(connection_params=where))
        listed = await asyncio.gather(*(each.get_tools() for each in self._toolsets))
        self._tools = {(name, tool.name): tool for name, tools in zip(servers, listed, strict=True) for tool in tools}
        return len(self._tools)

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        found = self._tools[server, tool]
        return lambda: found._run_async_impl(args=arguments, tool_context=CONTEXT, credential=None)

    @staticmethod
    def text(result: Any) -> str:
        return result["content"][0]["text"]

    async def close(self) -> None:
        for each in self._toolsets:
            await each.close()
