"""A model behind HTTP: a request's fields are posted, and the bytes that come back are handed on as they come.

It knows the transport and nothing of replies: `ReplyReader` does the framing. What a vendor wants is in `vendors`, what
an error says in `refusals`. A failure may be tried again until the head of a good answer is there; from then on never,
since the answer is being paid for, and somebody may have read of it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from toolbridge.errors import ModelError
from toolbridge.model.address import endpoints
from toolbridge.model.frames import MEDIA as FRAMES
from toolbridge.model.frames import Frames
from toolbridge.model.opening import Opening
from toolbridge.model.refusals import LATER, Asker, has_no_credit, one_line, read_refusal, refused_wishes
from toolbridge.model.secrets import KeyRemoval, Secret, shown
from toolbridge.model.vendors import fields_for, vendor_of, window_of, wishes_for
from toolbridge.model.waiting import DEFAULT_RETRIES, Retries, Timeouts, asked_wait
from toolbridge.providers import Provider

LONGEST_ERROR = 64 * 1024
"""Bytes read of an answer that is an error. More is not an explanation."""

ERROR_SECONDS = 10.0
"""How long the body of an error may take to come."""

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)


@functools.cache
def tls_context() -> ssl.SSLContext:
    """One for the process: reading the certificates takes 20 ms."""
    return httpx2.create_ssl_context()


class HttpModel:
    """One model of one provider, at an address. Usable from any event loop; connections are kept between turns."""

    most_tools: int | None = None

    def __init__(
        self,
        provider: Provider,
        name: str,
        base_url: str,
        *,
        key: Secret | None = None,
        key_variable: str = "",
        options: Mapping[str, Any] | None = None,
        timeouts: Timeouts | None = None,
        retries: Retries = DEFAULT_RETRIES,
        context_tokens: int | None = None,
    ) -> None:
        self.provider = provider
        self.name = name
        self.timeouts = timeouts or Timeouts()
        self.retries = retries
        self.context_tokens = context_tokens or window_of(name)
        self._vendor = vendor_of(provider.name)
        self._key = key or Secret("")
        self._addresses = endpoints(base_url, self._vendor, name)
        self._key_variable = key_variable
        self._options = dict(options or {})
        self._wishes = wishes_for(self._vendor, name)
        self._clients = _Clients(self.timeouts)
        self._sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep

    def __repr__(self) -> str:
        return f"HttpModel({self.provider.name!r}, {self.name!r}, {shown(self._addresses[0])!r})"

    @property
    def address(self) -> str:
        """Where requests go, for showing."""
        return shown(self._addresses[0])

    async def close(self) -> None:
        await self._clients.close()

    async def stream(self, fields: Mapping[str, Any]) -> AsyncGenerator[bytes]:
        """Post the fields and hand on the bytes of the answer."""
        response, chunks, waiting = await self._answer(fields)
        removal = KeyRemoval(self._key)
        try:
            for chunk in waiting:
                if piece := removal.feed(chunk):
                    yield piece
            while True:
                try:
                    async with asyncio.timeout(self.timeouts.silence):
                        chunk = await anext(chunks, None)
                except TimeoutError:
                    raise ModelError(
                        "timed_out",
                        f"{self._where} sent nothing for {self.timeouts.silence:g} s in the middle of its answer",
                    ) from None
                except httpx2.HTTPError as failure:
                    raise _broken_off(response, failure, self._where) from None
                piece = removal.end() if chunk is None else removal.feed(chunk)
                if piece:
                    yield piece
                if chunk is None:
                    return
        finally:
            await _end(response, chunks)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _where(self) -> str:
        return self._asker(self._addresses[0]).where

    def _asker(self, address: str) -> Asker:
        return Asker(self.provider.name, self.name, address, self._key_variable, self._key)

    async def _answer(self, fields: Mapping[str, Any]) -> tuple[httpx2.Response, AsyncGenerator[bytes], list[bytes]]:
        """A good answer: the response, its bytes to come, and those that were read to know that it is good."""
        attempt, addresses = 0, self._addresses
        astray: ModelError | None = None
        while True:
            try:
                return await self._try(fields)
            except _Failure as failure:
                error = failure.error
                dropped = refused_wishes(error, self._wishes)
                if dropped:
                    self._wishes = {name: value for name, value in self._wishes.items() if name not in dropped}
                    continue
                if self._is_elsewhere(error):
                    astray, self._addresses = error, self._addresses[1:]
                    continue
                if astray is not None and error.kind == "not_a_model":  # neither spelling is right
                    self._addresses = addresses
                    raise astray from None
                wait = self.retries.wait(attempt, failure.asked) if failure.again else None
                if wait is None or (failure.unsent and attempt >= self.retries.most_unsent):
                    raise _final(error, attempt, failure.asked) from None
            attempt += 1
            await self._sleep(wait)

    def _is_elsewhere(self, error: ModelError) -> bool:
        """Whether the other spelling of the address is to be tried: nothing is there, and nobody spoke of the model."""
        return len(self._addresses) > 1 and error.kind == "not_a_model" and error.status in (404, 405)

    async def _try(self, fields: Mapping[str, Any]) -> tuple[httpx2.Response, AsyncGenerator[bytes], list[bytes]]:
        address = self._addresses[0]
        asker = self._asker(address)
        client = await self._clients.here()
        request = client.build_request("POST", address, content=self._body(fields), headers=self._headers())
        try:
            async with asyncio.timeout(self.timeouts.first):
                response = await client.send(request, stream=True)
                chunks = _pieces(response)
                try:
                    return response, chunks, await self._begun(response, chunks, asker)
                except BaseException:
                    await _end(response, chunks)
                    raise
        except TimeoutError:
            line = f"{asker.where} did not answer within {self.timeouts.first:g} s"
            raise _Failure(ModelError("timed_out", line)) from None
        except httpx2.HTTPError as failure:
            raise _unreachable(failure, asker, self.timeouts) from None
        except ModelError as refused:  # of what the answer begins with
            raise _Failure(refused, again=refused.kind in ("rate_limited", "overloaded")) from None

    async def _begun(self, response: httpx2.Response, chunks: AsyncGenerator[bytes], asker: Asker) -> list[bytes]:
        """The pieces by which it is known that the answer is a model's."""
        if not response.is_success:
            raise await _refusal(response, chunks, asker)
        opening = Opening(self.provider, response.headers.get("content-type", ""), asker)
        try:
            async for chunk in chunks:
                if opening.take(chunk):
                    return opening.held
        except httpx2.HTTPError as failure:
            raise _broken_off(response, failure, asker.where) from None
        opening.end()
        return opening.held

    def _body(self, fields: Mapping[str, Any]) -> bytes:
        named = {"model": self.name, "stream": True} if self._vendor.streams_by_field else {}
        body = {**fields_for(self._vendor, self.name), **self._wishes, **self._options, **fields, **named}
        try:
            return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half of a surrogate pair: it can be escaped, though not encoded
            return json.dumps(body).encode()

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",  # what is compressed is also collected, and comes late
            **self._vendor.headers,
        }
        if self._key:
            headers[self._vendor.key_header] = self._vendor.key_prefix + self._key.reveal()
        return headers


class _Failure(Exception):
    """An attempt that came to nothing, and whether another may come to more."""

    def __init__(
        self, error: ModelError, *, again: bool = False, asked: float | None = None, unsent: bool = False
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.again = again
        self.asked = asked
        """Seconds that the server asks to wait."""
        self.unsent = unsent
        """Whether the server was not even reached: then another attempt is of little use."""


def _final(error: ModelError, attempt: int, asked: float | None) -> ModelError:
    """The error as it is raised: with what was tried, since that is what took so long."""
    more = f" (asked {attempt + 1} times)" if attempt else ""
    if asked and error.kind in LATER:
        more += f"; it says to wait {asked:g} s"
    return ModelError(error.kind, f"{error}{more}", status=error.status, said=error.said) if more else error


async def _refusal(response: httpx2.Response, chunks: AsyncGenerator[bytes], asker: Asker) -> _Failure:
    body = bytearray()
    with suppress(TimeoutError, httpx2.HTTPError):  # the status is known all the same
        async with asyncio.timeout(ERROR_SECONDS):
            async for chunk in chunks:
                body += chunk
                if len(body) >= LONGEST_ERROR:
                    break
    status, headers = response.status_code, response.headers
    location = headers.get("location", "") if status < 400 else ""
    error = read_refusal(status, bytes(body[:LONGEST_ERROR]), asker, location=location)
    again = status in (408, 409, 429) or (status >= 500 and status not in (501, 505))
    again = headers.get("x-should-retry", "true" if again else "false") == "true"  # OpenAI's and Anthropic's own word
    if has_no_credit(error) or error.kind == "too_long":
        again = False
    return _Failure(error, again=again, asked=asked_wait(headers))


def _broken_off(response: httpx2.Response, failure: httpx2.HTTPError, where: str) -> ModelError:
    line = f"the connection to {where} broke off after {response.num_bytes_downloaded} bytes of its answer"
    return ModelError("unreachable", f"{line}: {_told(failure)}")


def _unreachable(failure: httpx2.HTTPError, asker: Asker, timeouts: Timeouts) -> _Failure:
    """What came of a request that got no answer."""
    unsent = isinstance(failure, _NEVER_SENT)
    told = asker.key.removed(_told(failure))
    # Servers with TLS answer a request without it by a few odd bytes, or by hanging up.
    right = "is the base URL right?" + (" Perhaps it is https://" if asker.address.startswith("http:") else "")
    proxy = _proxy_variable(asker.address)
    by_proxy = f"it is asked by way of the proxy in {proxy}: is that running, and right?" if proxy else ""
    if isinstance(failure, httpx2.ConnectTimeout):
        line = f"{asker.where} could not be reached within {timeouts.connect:g} s"
        error = ModelError("timed_out", f"{line}; {by_proxy}" if proxy else line)
    elif isinstance(failure, httpx2.TimeoutException):
        error = ModelError("timed_out", f"{asker.where} did not take the request in time")
    elif "CERTIFICATE" in told.upper():
        return _Failure(ModelError("unreachable", f"the certificate of {asker.where} is not trusted: {told}"))
    elif unsent:
        hint = by_proxy or "is it running, and the base URL right?"
        error = ModelError("unreachable", f"{asker.where} cannot be reached: {told}; {hint}")
    elif isinstance(failure, httpx2.RemoteProtocolError) and "disconnected" not in told:
        where = shown(asker.address)
        return _Failure(ModelError("not_a_model", f"what answers at {where} is no model server: {told}; {right}"))
    else:
        error = ModelError("unreachable", f"{asker.where} closed the connection without an answer: {told}; {right}")
    again = not isinstance(failure, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError)
    return _Failure(error, again=again, unsent=unsent)


def _proxy_variable(address: str) -> str:
    """The environment variable with the proxy by which the address is asked; empty where it is asked directly."""
    parts, proxies = urlsplit(address), getproxies()
    scheme = next((each for each in (parts.scheme, "all") if proxies.get(each)), None)
    if scheme is None or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    name = f"{scheme}_proxy"
    return next((each for each in (name, name.upper()) if os.environ.get(each)), "")


def _told(failure: Exception) -> str:
    return one_line(str(failure)) or type(failure).__name__


async def _pieces(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """The body as it comes, in the framing of events also where it is Amazon's."""
    frames = Frames() if response.headers.get("content-type", "").startswith(FRAMES) else None
    async for chunk in response.aiter_bytes():
        yield chunk if frames is None else frames.feed(chunk)


async def _end(response: httpx2.Response, chunks: AsyncGenerator[bytes]) -> None:
    """Let go of the response; what is not read to its end is closed with its connection."""
    with suppress(httpx2.HTTPError, RuntimeError):
        async with aclosing(chunks):
            await response.aclose()


class _Clients:
    """One client an event loop, since connections belong to the loop that opened them.

    Each is held by an async generator that was started in its loop. `asyncio.run` and its like end such generators
    before they close the loop, and so connections that are kept for the next turn are closed in time, by nobody's
    thinking of it.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._kept: dict[asyncio.AbstractEventLoop, tuple[httpx2.AsyncClient, AsyncGenerator[None]]] = {}

    async def here(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        for other in [each for each in self._kept if each.is_closed()]:
            self._kept.pop(other, None)
        if loop not in self._kept:
            try:
                client = self._client()
            except ImportError as missing:  # for a SOCKS proxy
                raise ModelError(
                    "not_installed", f"the proxy of the environment cannot be used: {_told(missing)}"
                ) from None
            except (ValueError, httpx2.InvalidURL) as wrong:
                raise ModelError(
                    "unreachable", f"the proxy of the environment cannot be used: {_told(wrong)}"
                ) from None
            keeper = self._keep(loop, client)
            self._kept[loop] = (client, keeper)
            await anext(keeper)
        return self._kept[loop][0]

    def _client(self) -> httpx2.AsyncClient:
        silence = self._timeouts.silence
        return httpx2.AsyncClient(
            verify=tls_context(),
            # Reading is limited by ourselves: what is right for the first byte is not for the others.
            timeout=httpx2.Timeout(None, connect=self._timeouts.connect, write=silence),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=60),
        )

    async def _keep(self, loop: asyncio.AbstractEventLoop, client: httpx2.AsyncClient) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            if self._kept.get(loop, (None,))[0] is client:
                del self._kept[loop]
            await client.aclose()

    async def close(self) -> None:
        here = asyncio.get_running_loop()
        for loop, (_, keeper) in list(self._kept.items()):
            if loop is here:
                await keeper.aclose()
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(_closed(keeper), loop)


async def _closed(keeper: AsyncGenerator[None]) -> None:
    await keeper.aclose()
