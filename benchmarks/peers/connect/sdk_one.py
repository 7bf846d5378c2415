"""The session of the SDK's first major version, which LangChain's adapters and mcp-use stand on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

PACKAGES = ("mcp", "httpx")
WAY = "`ClientSession` over the SDK's own transports"


class Peer:
    _session: ClientSession

    def __init__(self) -> None:
        self._stack = AsyncExitStack()

    async def open(self, servers: dict[str, Any]) -> int:
        ((_, server),) = servers.items()
        transport: Any = (
            streamable_http_client(server["url"]) if "url" in server else stdio_client(StdioServerParameters(**server))
        )
        read, write, *_ = await self._stack.enter_async_context(transport)
        self._session = await self._stack.enter_async_context(ClientSession(read, write))
        await self._session.initialize()
        return len((await self._session.list_tools()).tools)

    def caller(self, server: str, tool: str, arguments: dict[str, Any]) -> Callable[[], Any]:
        return lambda: self._session.call_tool(tool, arguments)

    @staticmethod
    def text(result: Any) -> str:
        assert not result.isError, result.content
        return result.content[0].text

    async def close(self) -> None:
        await self._stack.aclose()
