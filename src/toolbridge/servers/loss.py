"""Loss: whether an answer will never come, and whether the request may have been carried out all the same.

The one place that decides what may be sent again. A request cannot have run if it never left us, or if the server
refused it because of the login or the session it came with: the protocol has HTTP 404 for that, and servers have words
of their own. Everything else that was sent and not answered may have run.
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

_STALE_WORDS = re.compile(
    r"\W*((bad request|unauthorized|not found|forbidden|gone|error)\W+)*((the|your|this|mcp)\s+)*"
    r"(session\b|(unknown|invalid|expired|no valid|missing|no such|stale)\s+((mcp)\s+)?session\b)",
    re.IGNORECASE,
)
"""The same where it came as the answer to the message itself: "session not found", not "browser session not found"."""

_STALE_STATUSES = frozenset({400, 403, 404, 409, 410, 422, 503})
"""Statuses that may mean a forgotten session: a new one is opened for the next request. Nothing ran if the server also
says so. 404 says it by itself, unless it came as the answer to the message: that may be the tool's own word."""

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
    if exchange.one_way and (exchange.error is not None or status is not None):
        connection.retire(client)
    if exchange.error is not None:
        if not exchange.sent:
            connection.retire(client)
        return Loss(exchange.sent, network_failure(exchange.error)[1])
    if status == 401 and (not exchange.answered or (error is not None and _STALE_WORDS.match(error.message))):
        connection.retire(client)
        return Loss(False, "the server asks for a login")
    if status in _STALE_STATUSES and exchange.in_session:
        connection.retire(client)
        if _is_stale(exchange, error.message if error else ""):
            return Loss(False, "the server has forgotten the session")
    if status is not None and status >= 500 and (error is None or error.code == mcp_types.INTERNAL_ERROR):
        return Loss(True, f"the server answered with HTTP {status}")
    if error is not None and error.code == mcp_types.CONNECTION_CLOSED and _CUT.search(error.message):
        if not exchange.sent:  # over HTTP the stream of one answer may end and the connection live
            connection.retire(client)
        return Loss(True, "the connection ended while it ran")
    if not exchange.sent and not connection.is_current(client):
        return Loss(True, "the connection ended while it ran")
    return None


def _is_stale(exchange: Exchange, message: str) -> bool:
    """Whether a refusal means that nothing ran, because of the session."""
    if exchange.answered:
        return bool(_STALE_WORDS.match(message) and _STALE_TEXT.search(message))
    return exchange.status == 404 or _STALE_TEXT.search(f"{message} {exchange.body}") is not None
