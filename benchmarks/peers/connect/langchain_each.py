"""LangChain's adapters as their first example has them: `get_tools()`, and a new session for every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient

PACKAGES = ("langchain-mcp-adapters", "langchain-core", "mcp")
WAY = "`get_tools()`, which connects all at once and leaves again; a new session for each call"
FEW = True
"""A call is a start of the server: some of them say enough."""


class Peer:
    def __init__(self) -> None:
        self._tools: dict[str, Any] = {}

    async def open(self, servers: dict[str, Any]) -> int:
        client = MultiServerMCPClient(
            {
                name: {"transport": "streamable_http" if "url" in server else "stdio", **server}
                for name, server in servers.items()
            }
        )
        tools = await client.get_tools()
        self._tools = {tool.name: tool for tool in tools}
        return len(tools)

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        found = self._tools[tool]
        return lambda: found.ainvoke(arguments)

    @staticmethod
    def text(result: Any) -> str:
        return result[0]["text"]

    async def close(self) -> None:
        """Nothing is open."""
