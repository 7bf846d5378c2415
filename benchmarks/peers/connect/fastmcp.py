"""fastmcp's `Client` over a configuration: one server directly, several behind a proxy in the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmcp import Client

PACKAGES = ("fastmcp", "mcp")
WAY = "`Client(config)`, kept open, several servers one after the other; `client.call_tool`"


class Peer:
    _client: Client[Any]

    async def open(self, servers: dict[str, Any]) -> int:
        self._client = Client({"mcpServers": servers})
        await self._client.__aenter__()
        return len(await self._client.list_tools())

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        return lambda: self._client.call_tool(tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        return result.content[0].text

    async def close(self) -> None:
        await self._client.__aexit__(None, None, None)
