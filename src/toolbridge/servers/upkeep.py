"""Upkeep: a listing is kept true while its connection lives.

A server tells of changes by `list_changed` (through the connection), or to those who listen (2026-07-28); and where it
says how long a listing holds, the listing is renewed after that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from mcp import Client

    from toolbridge.servers.connection import Connection

RELIST_SECONDS = 0.5
"""The least time between two listings of a server; it grows while a server announces changes and makes none."""

SHORTEST_TTL_SECONDS = 60.0
"""A listing is renewed when the time is over for which the server wants to be believed, but not more often."""

LISTEN_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 60.0
"""Between two tries: doubled each time, from the first to the longest."""


async def relist_when_stale(connection: Connection, client: Client) -> None:
    """List anew when the server says that its tools have changed, and when its own time for them is over."""
    pause = RELIST_SECONDS
    while True:
        ttl = connection.listing.ttl if connection.listing is not None else None
        with anyio.move_on_after(max(ttl, SHORTEST_TTL_SECONDS) if ttl else None):
            await connection.stale.wait()
        before = connection.listing
        await connection.relist(client)
        same = before is not None and connection.listing is not None and before.tools == connection.listing.tools
        await anyio.sleep(pause)
        # A server that announces a change with each listing is not listed for ever.
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS) if same and connection.stale.is_set() else RELIST_SECONDS


async def listen(connection: Connection, client: Client) -> None:
    """Servers of 2026-07-28 tell of changes only to those who listen."""
    offered = client.server_capabilities.tools
    if client.protocol_version < "2026-07-28" or offered is None or not offered.list_changed:
        return
    pause = LISTEN_PAUSE_SECONDS
    while True:
        try:
            async with client.listen(tools_list_changed=True) as subscription:
                pause = LISTEN_PAUSE_SECONDS
                async for _ in subscription:
                    connection.stale.set()
        except ListenNotSupportedError:
            return
        except (MCPError, SubscriptionLost, TimeoutError):
            pass
        await anyio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        connection.stale.set()  # what changed in between nobody told us
