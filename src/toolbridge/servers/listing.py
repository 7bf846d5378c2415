"""A listing: every tool of a server, read from all its pages, with what the server says about itself."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import mcp_types
from mcp.shared.exceptions import MCPError

from toolbridge.servers.catalog import Listing
from toolbridge.servers.paging import all_pages
from toolbridge.servers.read import read_listed
from toolbridge.types import Tool

if TYPE_CHECKING:
    from mcp import Client


async def list_tools(client: Client, server: str) -> tuple[Listing, str | None]:
    """The listing, and what was wrong with it where something was."""
    ttl: float | None = None

    async def page(cursor: str | None) -> tuple[list[Tool], str | None]:
        nonlocal ttl
        listed = await client.list_tools(cursor=cursor)
        # 0 is what the SDK's servers send where their author said nothing.
        if "ttl_ms" in listed.model_fields_set and listed.ttl_ms:
            ttl = min(listed.ttl_ms / 1000, math.inf if ttl is None else ttl)
        return read_listed(listed.tools, server), listed.next_cursor

    tools: tuple[Tool, ...] = ()
    problem: str | None = None
    try:
        pages = await all_pages(page)
        tools, problem = _without_doubles(pages.entries), pages.problem
    except MCPError as error:
        if error.code != mcp_types.METHOD_NOT_FOUND:  # a server of resources or prompts alone has no tools to list
            raise
    info = client.server_info
    listing = Listing(
        tools=tools,
        server_name=info.name if info else None,
        server_version=info.version if info else None,
        protocol=client.protocol_version,
        instructions=client.instructions,
        listed_at=time.time(),
        ttl=ttl,
    )
    return listing, problem


def _without_doubles(tools: list[Tool]) -> tuple[Tool, ...]:
    """The tools with each name once, the first of it; entries that are no tools are kept, for they have no name."""
    unique: dict[object, Tool] = {}
    for tool in tools:
        unique.setdefault(tool.id if tool.problem is None else object(), tool)
    return tuple(unique.values())
