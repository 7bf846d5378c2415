"""A vendor's own SDK client as a model: whoever has set one up hands it in, with its keys, proxies and retries.

A client is known by the names of its class and module, so that no SDK is imported here. It knows how each SDK wants to
be asked, in one table; their errors are in `client_errors`. What comes out are the SDK's own objects, which
`ReplyReader` takes as they are.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolbridge.errors import ModelError
from toolbridge.model.client_errors import read_client_error
from toolbridge.model.refusals import Asker, refused_wishes
from toolbridge.model.secrets import Secret
from toolbridge.model.vendors import OTHER_NAMES, Wire, fields_for, vendor_of, window_of, wishes_for
from toolbridge.providers import Provider, get_provider

Fields: TypeAlias = dict[str, Any]
Manner: TypeAlias = Literal["plain", "async"]
"""How it is waited for: `plain` blocks, and is given a thread."""

MOST_STALE = 10
"""Kept connections of an event loop that is closed, each of which costs an async client one failure before anything is
sent. It happens to programs that call `asyncio.run` more than once."""


@dataclass(frozen=True, slots=True)
class Door:
    """How a kind of client is asked."""

    provider: str
    """The provider where nobody says another."""
    manner: Manner
    open: Callable[[Any, Wire, str, Fields], Any]
    """(client, wire format, model, fields) to its stream, or to what is awaited for it."""
    wires: tuple[Wire, ...]
    inner: str = ""
    """The attribute of a piece that holds the chunk, where the SDK wraps it."""


# ── how each is asked ────────────────────────────────────────────────────────────────────────────────────────────────


def _with_extra(method: Callable[..., Any], fields: Fields) -> Any:
    """Call it with the fields that it names; the others go into the body as they are."""
    named = inspect.signature(method).parameters
    extra = {name: value for name, value in fields.items() if name not in named}
    known = {name: value for name, value in fields.items() if name in named}
    if extra:
        known["extra_body"] = {**extra, **known.get("extra_body", {})}
    return method(**known)


def _openai(client: Any, wire: Wire, model: str, fields: Fields) -> Any:
    method = client.responses.create if wire == "responses" else client.chat.completions.create
    return _with_extra(method, {**fields, "model": model, "stream": True})


def _anthropic(client: Any, wire: Wire, model: str, fields: Fields) -> Any:
    return _with_extra(client.messages.create, {**fields, "model": model, "stream": True})


_CONFIG = frozenset({"systemInstruction", "tools", "toolConfig", "safetySettings", "cachedContent", "labels"})
"""What stands beside `contents` in a request's body and in `GenerateContentConfig` of the SDK (google-genai 3.1)."""


def _genai(client: Any, wire: Wire, model: str, fields: Fields) -> Any:
    """The SDK has everything but the contents in one configuration; its models take the wire's own names."""
    config: Fields = {name: value for name, value in fields.items() if name in _CONFIG}
    config.update(fields.get("generationConfig", {}))
    extra = {
        name: value
        for name, value in fields.items()
        if name not in _CONFIG and name not in ("contents", "generationConfig")
    }
    if extra:
        config["httpOptions"] = {"extraBody": extra}
    # It would run Python functions among the tools by itself; ours are declarations, and run elsewhere.
    config["automaticFunctionCalling"] = {"disable": True}
    models = getattr(client, "aio", client).models  # `Client().aio` is a client, too
    return models.generate_content_stream(model=model, contents=fields.get("contents", []), config=config)


def _mistral(client: Any, wire: Wire, model: str, fields: Fields) -> Any:
    named = inspect.signature(client.chat.stream_async).parameters
    unknown = [name for name in fields if name not in named]
    if unknown:
        raise ModelError("refused", f"mistralai's client has no field {unknown[0]!r} in a request")
    return client.chat.stream_async(**{**fields, "model": model})


def _bedrock(client: Any, wire: Wire, model: str, fields: Fields) -> Any:
    return client.converse_stream(modelId=model, **fields)["stream"]


_MANNERS: tuple[tuple[str, Manner], ...] = (("", "plain"), ("Async", "async"))
_CHAT: tuple[Wire, ...] = ("chat", "responses")
_DOORS: Mapping[tuple[str, str], Door] = {
    ("openai", "OpenAI"): Door("openai-chat", "plain", _openai, _CHAT),
    ("openai", "AsyncOpenAI"): Door("openai-chat", "async", _openai, _CHAT),
    ("openai", "AzureOpenAI"): Door("azure", "plain", _openai, _CHAT),
    ("openai", "AsyncAzureOpenAI"): Door("azure", "async", _openai, _CHAT),
    **{
        ("anthropic", f"{prefix}Anthropic{suffix}"): Door("anthropic", manner, _anthropic, ("messages",))
        for prefix, manner in _MANNERS
        for suffix in ("", "Bedrock", "BedrockMantle", "Vertex", "Foundry")
    },
    ("google", "Client"): Door("gemini", "async", _genai, ("gemini",)),
    ("google", "AsyncClient"): Door("gemini", "async", _genai, ("gemini",)),
    ("mistralai", "Mistral"): Door("mistral", "async", _mistral, ("chat",), inner="data"),
    ("botocore", "BedrockRuntime"): Door("bedrock", "plain", _bedrock, ("converse",)),
}
"""By the first part of the class's module, and its name; of a class of your own, by what it inherits."""


def find_door(client: Any) -> Door | None:
    """How this client is asked, if it is one that we know."""
    for kind in type(client).__mro__:
        found = _DOORS.get((kind.__module__.partition(".")[0], kind.__name__))
        if found is not None:
            return found
    return None


def client_model(
    client: Any, name: str, *, provider: str | None = None, options: Mapping[str, Any] | None = None
) -> ClientModel:
    """The model of that name, asked by way of the client."""
    door = find_door(client)
    if door is None:
        known = ", ".join(sorted(f"{module}.{kind}" for module, kind in _DOORS))
        kind = type(client)
        raise ModelError("refused", f"a client of {kind.__module__}.{kind.__name__} is not known; known are {known}")
    whose = get_provider(provider or door.provider)
    if vendor_of(whose.name).wire not in door.wires:
        kind = type(client)
        raise ModelError(
            "refused", f"a {kind.__name__} of {kind.__module__.partition('.')[0]} does not speak to {whose.name}"
        )
    first, slash, rest = name.partition("/")
    if slash and OTHER_NAMES.get(first, first) == whose.name:
        name = rest
    return ClientModel(client, door, whose, name, options)


class ClientModel:
    """One model, asked by way of an SDK's client, which stays its owner's: `close` leaves it open."""

    most_tools: int | None = None

    def __init__(
        self, client: Any, door: Door, provider: Provider, name: str, options: Mapping[str, Any] | None = None
    ) -> None:
        self.provider = provider
        self.name = name
        self.context_tokens = window_of(name)
        self._client = client
        self._door = door
        self._options = dict(options or {})
        vendor = vendor_of(provider.name)
        self._wire: Wire = vendor.wire
        self._fields = fields_for(vendor, name)
        self._wishes = wishes_for(vendor, name)
        key = getattr(client, "api_key", "")
        self._asker = Asker(provider.name, name, _address_of(client), key=Secret(key if isinstance(key, str) else ""))

    def __repr__(self) -> str:
        return f"ClientModel({self.provider.name!r}, {self.name!r}, {type(self._client).__name__})"

    async def close(self) -> None:
        """The client is its owner's to close."""

    async def stream(self, fields: Mapping[str, Any]) -> AsyncGenerator[Any]:
        """Ask by way of the client and hand on the objects that it makes of the answer."""
        stale = 0
        while True:
            run = self._run({**self._fields, **self._wishes, **self._options, **fields})
            begun = False
            try:
                async for chunk in run:
                    begun = True
                    yield chunk
            except ModelError as error:
                refused = [] if begun else refused_wishes(error, self._wishes)
                if not refused:
                    raise
                self._wishes = {name: value for name, value in self._wishes.items() if name not in refused}
            except _StaleError as error:
                stale += 1
                if begun or stale > MOST_STALE:
                    raise read_client_error(error.found, self._asker) from None
            else:
                return
            finally:
                await run.aclose()

    async def _run(self, fields: Fields) -> AsyncGenerator[Any]:
        inner = self._door.inner
        pieces = self._awaited(fields) if self._door.manner == "async" else self._threaded(fields)
        try:
            async for piece in pieces:
                yield getattr(piece, inner) if inner else piece
        except (ModelError, asyncio.CancelledError, GeneratorExit):
            raise
        except Exception as error:
            if _is_stale(error):
                raise _StaleError(error) from None
            raise read_client_error(error, self._asker) from None
        finally:
            await pieces.aclose()

    def _open(self, fields: Fields) -> Any:
        return self._door.open(self._client, self._wire, self.name, fields)

    async def _awaited(self, fields: Fields) -> AsyncGenerator[Any]:
        opened = self._open(fields)
        stream = await opened if inspect.isawaitable(opened) else opened
        try:
            async for piece in stream:
                yield piece
        finally:
            await _close(stream)

    async def _threaded(self, fields: Fields) -> AsyncGenerator[Any]:
        pump = _Pump(asyncio.get_running_loop(), lambda: self._open(fields))
        pump.start()
        try:
            while True:
                piece, error, over = await pump.pieces.get()
                if error is not None:
                    raise error
                if over:
                    return
                yield piece
        finally:
            pump.stop()


class _StaleError(Exception):
    """A connection was used that belonged to an event loop which is closed."""

    def __init__(self, found: Exception) -> None:
        super().__init__(str(found))
        self.found = found


def _is_stale(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, RuntimeError) and "loop is closed" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


async def _close(stream: Any) -> None:
    """Close an async stream, by whichever of the two names its SDK has for it."""
    for name in ("aclose", "close"):
        method = getattr(stream, name, None)
        if method is not None:
            closed = method()
            if inspect.isawaitable(closed):
                await closed
            return
    response = getattr(stream, "response", None)  # mistralai's
    if response is not None:
        await response.aclose()


class _Pump(threading.Thread):
    """Reads a blocking stream, in a thread of its own, into a queue of the event loop.

    A daemon, and not of the loop's pool: whoever cancels must not wait for a server that is silent. To stop it the
    stream is closed, and its socket shut, since closing alone does not wake a thread that reads.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, open: Callable[[], Iterable[Any]]) -> None:
        super().__init__(name="toolbridge-client", daemon=True)
        self.pieces: asyncio.Queue[tuple[Any, Exception | None, bool]] = asyncio.Queue()
        self._loop = loop
        self._open = open
        self._stream: Any = None
        self._stopped = threading.Event()
        self._over = threading.Event()

    def run(self) -> None:
        try:
            self._stream = self._open()
            if not self._stopped.is_set():
                for piece in self._stream:
                    if self._stopped.is_set() or not self._put(piece, None, False):
                        break
            self._put(None, None, True)
        except Exception as error:  # handed to whoever waits, or to nobody, where nobody does any more
            self._put(None, error, True)
        finally:
            self._over.set()
            self._close()

    def _put(self, piece: Any, error: Exception | None, over: bool) -> bool:
        """Whether somebody may still read it."""
        try:
            self._loop.call_soon_threadsafe(self.pieces.put_nowait, (piece, error, over))
        except RuntimeError:  # the loop is closed
            return False
        return True

    def stop(self) -> None:
        self._stopped.set()
        if not self._over.is_set():
            with suppress(Exception):
                stream = self._stream.response.extensions["network_stream"]
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)

    def _close(self) -> None:
        with suppress(Exception):
            self._stream.close()


def _address_of(client: Any) -> str:
    """The address that a client asks, where it tells."""
    address = str(getattr(client, "base_url", "") or "")
    return address if address.startswith("http") else ""
