"""HTTP to servers: one client a connection, one TLS context for all, and a record of what became of each request.

The SDK's transports do the talking. They end the whole connection when one request cannot be sent, and forget the HTTP
status of a refusal; both are needed to tell a stale session from a broken call, and a call that never left from one
whose outcome nobody knows. So the client that they are given answers for the request that failed, and writes into
the `Exchange` of the call what happened. An `Exchange` travels in a context variable: the SDK sends each message in
the context of the task that wrote it, which is also why a `headers_from` function sees the caller's own context.
"""

from __future__ import annotations

import functools
import inspect
import json
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from toolbridge.errors import ServerError
from toolbridge.failure import Failure
from toolbridge.servers.mend import Mended
from toolbridge.servers.spec import ServerSpec

LARGEST_EVENT = 256 * 1024 * 1024
"""Bytes of one server-sent event. The SDK's own limit of 1 MB would refuse an ordinary picture."""

GOODBYE_SECONDS = 2.0
"""How long a server may take to hear that its session is over. It would end by itself."""

BODY_KEPT = 500
"""Characters kept of the body of a refusal."""

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
"""What httpx2 raises before a byte of the request has left."""


@dataclass(slots=True)
class Exchange:
    """What became of the HTTP requests of one call."""

    sent: bool = False
    """Whether a request may have reached the server."""
    in_session: bool = False
    """Whether it was sent with a session, which the server may have forgotten."""
    one_way: bool = False
    """Whether it went over the older SSE transport, whose writer does not survive a refusal."""
    answered: bool = False
    """Whether a refusal came as the answer to this very message."""
    status: int | None = None
    """The status of a refusal."""
    body: str = ""
    error: Exception | None = None
    scope: anyio.CancelScope | None = None
    """Ends the wait for an answer that cannot come. Only the older SSE transport needs it: there a refused message
    tells nobody."""


EXCHANGE: ContextVar[Exchange | None] = ContextVar("toolbridge_exchange", default=None)


@functools.cache
def tls_context(verify: bool | str) -> ssl.SSLContext:
    """A TLS context for each way of checking certificates, made once: reading the certificates takes 30 ms."""
    if isinstance(verify, str):
        return ssl.create_default_context(cafile=verify)
    return httpx2.create_ssl_context(verify=verify)


class _Client(httpx2.AsyncClient):
    """A client that records what became of a request, and answers for one that could not be sent."""

    def __init__(self, spec: ServerSpec, *, one_way: bool, **options: Any) -> None:
        super().__init__(verify=tls_context(spec.verify), **options)
        self._spec = spec
        self._one_way = one_way
        """Whether answers come over another request than the one that asks: the older SSE transport."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        # Only messages count: that a server has no stream for its own requests, or no goodbye, is no failure.
        exchange = (EXCHANGE.get() if request.method == "POST" else None) or Exchange()
        sent_before, exchange.sent = exchange.sent, True
        exchange.one_way = self._one_way
        exchange.in_session = self._one_way or "mcp-session-id" in request.headers
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx2.Timeout(GOODBYE_SECONDS).as_dict()
        try:
            await self._add_headers(request)
            response = await super().send(request, **options)
            if response.status_code >= 400 or _is_json(response):
                # Read here, where a connection that breaks in the middle costs this one request.
                await response.aread()
        except (httpx2.RequestError, ServerError) as failure:
            # A login of its own makes requests of its own; where one of them failed, ours was not sent.
            ours = isinstance(failure, httpx2.RequestError) and _request_of(failure) in (request, None)
            exchange.sent = sent_before or (ours and not isinstance(failure, _NEVER_SENT))
            exchange.error = failure
            response = _stand_in(request, failure)
        else:
            if response.status_code >= 400:
                exchange.status, exchange.body = response.status_code, response.text[:BODY_KEPT]
                exchange.answered = _is_answer(request, response)
        if response.status_code >= 400 and self._one_way and exchange.scope is not None:
            exchange.scope.cancel()
        return response

    async def _add_headers(self, request: httpx2.Request) -> None:
        """The headers of the moment. A function that raises costs this request, and was never sent."""
        function = self._spec.headers_from
        if function is None:
            return
        try:
            given = function(self._spec.name)
            request.headers.update(await given if inspect.isawaitable(given) else given)
        except Exception as error:
            why = f"the function for its headers raised {type(error).__name__}: {error}"
            raise ServerError(Failure(self._spec.name, "unauthorized", why)) from error


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("application/json")


def _is_answer(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Whether a refusal is the server's answer to this very message: then it was read, and may have been run."""
    try:
        asked, answered = json.loads(request.read()), response.json()
        return asked["id"] is not None and answered["id"] == asked["id"]
    except (ValueError, KeyError, TypeError):
        return False


def _request_of(failure: httpx2.RequestError) -> httpx2.Request | None:
    try:
        return failure.request
    except RuntimeError:  # it has none
        return None


def _stand_in(request: httpx2.Request, failure: Exception) -> httpx2.Response:
    """The answer for a request that got none. Only the one who waits for it hears of it."""
    if request.method != "POST":  # streams and goodbyes: the SDK expects the exception there
        raise failure
    return httpx2.Response(502, request=request, text=str(failure))


@asynccontextmanager
async def http_transport(
    spec: ServerSpec, *, sse: bool, auth: httpx2.Auth | None, on_end: Callable[[], None]
) -> AsyncGenerator[Any]:
    """Streamable HTTP, or the older SSE transport, as the SDK's pair of streams."""
    assert spec.url is not None
    # Calls have limits of their own, which progress extends: a read may take as long as it takes.
    timeout = httpx2.Timeout(30.0, read=None)
    connections = httpx2.Limits(max_connections=None, max_keepalive_connections=32)
    headers = dict(spec.headers)
    if sse:

        def client_for_sse(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            return _Client(
                spec,
                one_way=True,
                headers=headers,
                timeout=httpx2.Timeout(30.0, read=None),
                auth=auth,
                limits=connections,
            )

        async with sse_client(spec.url, headers, httpx_client_factory=client_for_sse, auth=auth) as (read, write):
            yield Mended(read, on_end), write
        return
    async with (
        _Client(spec, one_way=False, headers=headers, timeout=timeout, auth=auth, limits=connections) as client,
        streamable_http_client(spec.url, http_client=client, max_sse_event_size=LARGEST_EVENT) as (read, write),
    ):
        yield Mended(read, on_end), write
