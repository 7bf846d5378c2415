"""The SDK's own `Client`, one for each server, all opened at once: each in a task of its own, as the SDK wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mcp import Client, StdioServerParameters

PACKAGES = ("mcp", "httpx2")
WAY = "`Client`, one for each server, in tasks"


class Peer:
    def __init__(self) -> None:
        self.clients: dict[str, Client] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._end = asyncio.Event()

    async def open(self, servers: dict[str, Any]) -> int:
        opened = [asyncio.get_running_loop().create_future() for _ in servers]
        self._tasks = [
            asyncio.create_task(self._own(name, server, future))
            for (name, server), future in zip(servers.items(), opened, strict=True)
        ]
        return sum(await asyncio.gather(*opened))

    async def _own(self, name: str, server: dict[str, Any], opened: asyncio.Future[int]) -> None:
        source = server["url"] if "url" in server else StdioServerParameters(**server)
        try:
            async with Client(source) as client:
                self.clients[name] = client
                opened.set_result(len((await client.list_tools()).tools))
                await self._end.wait()
        except Exception as failure:
            if opened.done():
                raise
            opened.set_exception(failure)

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        client = self.clients[server]
        return lambda: client.call_tool(tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        assert not result.is_error, result.content
        return result.content[0].text

    async def relist(self) -> int:
        listed = await asyncio.gather(*(each.list_tools(cache_mode="bypass") for each in self.clients.values()))
        return sum(len(each.tools) for each in listed)

    async def close(self) -> None:
        self._end.set()
        await asyncio.gather(*self._tasks)
