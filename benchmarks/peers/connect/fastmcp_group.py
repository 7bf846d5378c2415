"""fastmcp's `ClientGroup`: a client for each server, all opened at once, no proxy between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmcp import ClientGroup

PACKAGES = ("fastmcp", "mcp")
WAY = "`ClientGroup.from_config`, kept open; `group.call_tool`"


class Peer:
    _group: ClientGroup

    async def open(self, servers: dict[str, Any]) -> int:
        self._group = ClientGroup.from_config({"mcpServers": servers})
        await self._group.__aenter__()
        return len(await self._group.list_tools())

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        return lambda: self._group.call_tool(f"{server}_{tool}", arguments)

    @staticmethod
    def text(result: Any) -> str:
        return result.content[0].text

    async def close(self) -> None:
        await self._group.__aexit__(None, None, None)
