"""toolbridge itself: the hub, as the host calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolbridge import Hub, connect

PACKAGES = ("toolbridge", "mcp", "httpx2")
WAY = "`connect(config)`, `hub.call`"


class Peer:
    _hub: Hub

    async def open(self, servers: dict[str, Any]) -> int:
        self._hub = connect({"mcpServers": servers})
        await self._hub.open()
        return len(self._hub.tools)

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        return lambda: self._hub.call(server, tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        assert not result.is_error, result.content
        return result.content[0].text

    async def relist(self) -> int:
        await self._hub.refresh()
        return len(self._hub.tools)

    async def close(self) -> None:
        await self._hub.close()
