"""LangChain's adapters with a session that stays: `load_mcp_tools(session)`, the tools invoked as an agent does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

PACKAGES = ("langchain-mcp-adapters", "langchain-core", "mcp")
WAY = "`client.session(name)` kept open, `load_mcp_tools`, `tool.ainvoke`"


def connections(servers: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {"transport": "streamable_http" if "url" in server else "stdio", **server}
        for name, server in servers.items()
    }


class Peer:
    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._tools: dict[tuple[str, str], Any] = {}

    async def open(self, servers: dict[str, Any]) -> int:
        client = MultiServerMCPClient(connections(servers))
        for name in servers:
            session = await self._stack.enter_async_context(client.session(name))
            self._tools |= {(name, tool.name): tool for tool in await load_mcp_tools(session)}
        return len(self._tools)

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        found = self._tools[server, tool]
        return lambda: found.ainvoke(arguments)

    @staticmethod
    def text(result: Any) -> str:
        return result[0]["text"]

    async def close(self) -> None:
        await self._stack.aclose()
