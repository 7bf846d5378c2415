"""Loss: whether an answer will never come, and whether the request may have been carried out all the same.

The one place that decides what may be sent again. A request cannot have run if it never left us, or if the server
refused it because of the session it came with: the protocol has HTTP 404 for that, and servers have words of their own.
Everything else that was sent and not answered may have run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mcp_types
from mcp.shared.exceptions import MCPError

from toolbridge.servers.diagnosis import network_failure
from toolbridge.servers.http import Exchange

if TYPE_CHECKING:
    from mcp import Client

    from toolbridge.servers.connection import Connection

_STALE_TEXT = re.compile(
    r"session[\w\s'\"-]{0,60}?(not found|expired|terminated|invalid|unknown|does not exist|closed|required)"
    r"|(unknown|invalid|expired|no valid|missing|no such|stale|not find)\s[\w\s'\"-]{0,20}session",
    re.IGNORECASE,
)

_STALE_STATUSES = frozenset({400, 403, 404, 409, 410, 422, 503})
"""Statuses under which those words mean that nothing ran. With others they may be the tool's own: a browser has
sessions too. 401 needs no words, nor has 404 while there is a session."""

_DOUBTFUL_STATUSES = frozenset({400, 503})
"""Statuses that may mean a forgotten session without saying so: a new one is opened for the next request."""

_CUT = re.compile(r"connection closed|sse stream", re.IGNORECASE)
"""How the SDK says that an answer will not come. The code alone does not tell: servers use it for their own errors."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A request whose answer will not come. `ran` is whether it may have been carried out."""

    ran: bool
    why: str


def read_loss(connection: Connection, client: Client, exchange: Exchange, error: MCPError | None) -> Loss | None:
    """The loss that an error of the protocol stands for; `None` where it is the server's answer.

    A connection that is of no more use is retired: the next request opens another, those under way may finish.
    """
    status = exchange.status
    if exchange.error is not None:
        if not exchange.sent:
            connection.retire(client)
        return Loss(exchange.sent, network_failure(exchange.error)[1])
    said = f"{error.message if error else ''} {exchange.body}"
    has_session = client.protocol_version < "2026-07-28"  # the later servers know no sessions
    if status == 401 or (status == 404 and has_session) or (status in _STALE_STATUSES and _STALE_TEXT.search(said)):
        connection.retire(client)
        return Loss(False, "the server asks for a login" if status == 401 else "the server has forgotten the session")
    if status in _DOUBTFUL_STATUSES and has_session:
        connection.retire(client)
    if status is not None and status >= 500 and (error is None or error.code == mcp_types.INTERNAL_ERROR):
        return Loss(True, f"the server answered with HTTP {status}")
    if error is not None and error.code == mcp_types.CONNECTION_CLOSED and _CUT.search(error.message):
        if not exchange.sent:  # over HTTP the stream of one answer may end and the connection live
            connection.retire(client)
        return Loss(True, "the connection ended while it ran")
    if not exchange.sent and not connection.is_current(client):
        return Loss(True, "the connection ended while it ran")
    return None
