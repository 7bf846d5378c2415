"""One call to one server: its limits, whether it may be sent again, and what is said when it fails.

A call is sent a second time only where the first cannot have run; `loss` decides that. A call that may have run is sent
again only if its tool is declared read-only *and* the operator trusts the server's declarations. Otherwise the outcome
is unknown, and the result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import mcp_types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from toolbridge.errors import ServerError
from toolbridge.failure import Failure
from toolbridge.servers.callbacks import outcome
from toolbridge.servers.connection import Connection
from toolbridge.servers.http import EXCHANGE, Exchange
from toolbridge.servers.locked import refusal, server_refusal
from toolbridge.servers.loss import Loss, read_loss
from toolbridge.servers.opening import Facts
from toolbridge.servers.pending import PendingCall
from toolbridge.servers.read import read_result
from toolbridge.types import FailureKind, Tool, ToolResult, failed

if TYPE_CHECKING:
    from mcp import Client

Progress: TypeAlias = Callable[[float, float | None, str | None], Any]
"""Called with the progress, the total where there is one, and a message; plain or async."""

EXPLANATION_SECONDS = 2.0
"""How long a call that was lost waits for the reason."""


async def call_tool(
    connection: Connection,
    name: str,
    arguments: Mapping[str, Any] | None,
    *,
    tool: Tool | None,
    call_id: str = "",
    timeout: float | None = None,
    on_progress: Progress | None = None,
) -> ToolResult:
    """Call a tool. What goes wrong is a result: the model, or whoever called, can go on from there."""
    spec = connection.spec
    again = spec.trust and tool is not None and tool.hints.read_only
    try:
        async with asyncio.timeout(timeout):
            await connection.turn.acquire()
    except TimeoutError:
        busy = f"Not called: server {spec.name!r} is busy with {spec.limits.concurrency} other calls."
        return failed(call_id, "unavailable", busy)
    try:
        for last in (False, True):
            try:
                async with asyncio.timeout(timeout):
                    client = await connection.ensure()
            except ServerError as error:
                return unavailable(call_id, error.failure)
            except TimeoutError:
                return failed(call_id, "unavailable", f"Not called: server {spec.name!r} is still connecting.")
            unseen = await connection.vouch(client)
            if (why := refusal(spec.name, name, connection.verdict)) is not None:
                return failed(call_id, "refused", why)
            if unseen is not None:
                if not last and not connection.is_current(client):
                    continue  # it was lost meanwhile; the next one is listed before anything else
                told = "has told that its tools changed, and would not list them since"
                return failed(call_id, "refused", f"Not called: server {spec.name!r} {told}.")
            facts = connection.facts
            found = await _attempt(connection, client, name, arguments, timeout, on_progress)
            if isinstance(found, mcp_types.CallToolResult):
                return read_result(found, call_id, tool)
            if isinstance(found, Loss):
                if not last and (again or not found.ran):
                    continue
                return _lost(call_id, connection, name, found, await _explanation(facts))
            kind, text = found
            return failed(call_id, kind, connection.redact(text))
    finally:
        connection.turn.release()
    raise AssertionError("a call is attempted at most twice")


async def _attempt(
    connection: Connection,
    client: Client,
    name: str,
    arguments: Mapping[str, Any] | None,
    timeout: float | None,
    on_progress: Progress | None,
) -> mcp_types.CallToolResult | Loss | tuple[FailureKind, str]:
    spec = connection.spec
    idle = spec.limits.call if timeout is None else timeout
    pending = PendingCall(client, idle, spec.limits.total)
    exchange = Exchange(scope=pending.scope)
    token = EXCHANGE.set(exchange)
    connection.pending.add(pending)

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        pending.extend()
        if on_progress is not None:
            await outcome(on_progress(progress, total, message))

    try:
        with pending.scope:
            return await client.call_tool(name, dict(arguments or {}), progress_callback=progressed)
    except MCPError as error:
        loss = read_loss(connection, client, exchange, error)
        return loss or ("protocol", _refusal(spec.name, name, exchange, error))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        return "protocol", (
            f"The tool {name!r} of server {spec.name!r} ran, but its answer breaks the protocol: "
            f"{place}: {first['msg']}."
        )
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        connection.retire(client)
        return Loss(True, "the connection broke while it ran")
    except Exception as error:  # a callback of the user's that raised, an answer that never ends: this call's alone
        return "protocol", f"The call of {name!r} on server {spec.name!r} failed: {type(error).__name__}: {error}."
    finally:
        connection.finish(pending)
        EXCHANGE.reset(token)
    if not pending.is_late():
        return read_loss(connection, client, exchange, None) or Loss(True, "the connection ended while it ran")
    if idle >= spec.limits.call:  # a caller in a hurry does not decide over a process
        connection.suspect(client)
    return "timed_out", (
        f"The tool {name!r} of server {spec.name!r} gave no sign of life for {idle:g} s and was cancelled. "
        "It may have run in part or in whole."
    )


def _refusal(server: str, name: str, exchange: Exchange, error: MCPError) -> str:
    if exchange.status is not None and error.message == "Server returned an error response":
        return f"Server {server!r} refused the call of {name!r} with HTTP {exchange.status}."
    return f"Server {server!r} refused the call of {name!r}: {error.message}"


def unavailable(call_id: str, failure: Failure) -> ToolResult:
    """The server is not there, and the call was not sent."""
    if failure.cause == "changed":
        return failed(call_id, "refused", server_refusal(failure.server))
    return failed(call_id, "unavailable", f"Not called: {failure}. Other servers are not affected.")


async def _explanation(facts: Facts | None) -> Failure | None:
    """Why the connection ended, if that is known in a moment: the exit code and the last words come after the end."""
    if facts is None or facts.process is None:
        return None
    with anyio.move_on_after(EXPLANATION_SECONDS):
        await facts.explained.wait()
    return facts.failure


def _lost(call_id: str, connection: Connection, name: str, lost: Loss, failure: Failure | None) -> ToolResult:
    server = connection.spec.name
    why = failure.message if failure is not None else connection.redact(lost.why)
    tail = (
        f" It wrote last: {failure.stderr.splitlines()[-1].strip()}" if failure is not None and failure.stderr else ""
    )
    if not lost.ran:
        return failed(call_id, "unavailable", f"Not called: server {server!r}: {why}.{tail}")
    return failed(
        call_id,
        "outcome_unknown",
        f"The outcome of {name!r} on server {server!r} is unknown: {why}.{tail} It may or may not have run, and was "
        "not tried again, because that could do the work twice. Check by reading before repeating it.",
    )
