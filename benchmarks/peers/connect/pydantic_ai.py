"""Pydantic AI: a toolset for each server, entered one after the other as an agent with several toolsets does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset

PACKAGES = ("pydantic-ai-slim", "mcp")
WAY = "`MCPToolset`, one for each server, entered in turn and kept open; `direct_call_tool`"


class Peer:
    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._toolsets: dict[str, MCPToolset[Any]] = {}

    async def open(self, servers: dict[str, Any]) -> int:
        count = 0
        for name, each in servers.items():
            source = each["url"] if "url" in each else StdioTransport(each["command"], each["args"])
            self._toolsets[name] = await self._stack.enter_async_context(MCPToolset(source, init_timeout=30))
            count += len(await self._toolsets[name].list_tools())
        return count

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        found = self._toolsets[server]
        return lambda: found.direct_call_tool(tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        return result if isinstance(result, str) else str(result)

    async def close(self) -> None:
        await self._stack.aclose()
