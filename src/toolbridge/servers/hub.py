"""The hub: every server of a configuration as one catalogue of tools, and the way to each of them.

`connect` takes an `mcp.json` or anything that names servers and gives a `Hub`. It opens all servers side by side; one
that fails costs its own tools and nothing else. The connections live in the event loop that opened the hub; its
methods may be called from any task, and from other threads and loops too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from toolbridge.apps import visible
from toolbridge.errors import ServerError, UnknownServerError, nearest
from toolbridge.failure import Failure
from toolbridge.filters import MCPToolFilter
from toolbridge.lock import Lock
from toolbridge.servers.callbacks import NO_CALLBACKS, Callbacks
from toolbridge.servers.catalog import Catalog
from toolbridge.servers.config import Inputs, refuse_mistaken
from toolbridge.servers.guardian import Guardian
from toolbridge.servers.locked import LockSource, lock_folder, lock_listing, refusal, sealed
from toolbridge.servers.secrets import secret_values
from toolbridge.servers.sources import read_source, refuse_addresses
from toolbridge.servers.spec import Headers, ServerSpec
from toolbridge.servers.status import ServerStatus
from toolbridge.types import (
    BoundCall,
    Content,
    PromptMessage,
    ServerPrompt,
    ServerResource,
    Tool,
    ToolId,
    ToolResult,
    failed,
)

if TYPE_CHECKING:
    from mcp import Client

    from toolbridge.servers.calls import Progress
    from toolbridge.servers.connection import Connection

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
"""How long opening waits for slow servers. They go on connecting, and their tools join when they are there."""

_EVERYTHING = MCPToolFilter()


def connect(
    source: Any,
    *,
    servers: Iterable[str] | None = None,
    filter: MCPToolFilter = _EVERYTHING,
    callbacks: Callbacks = NO_CALLBACKS,
    headers: Headers | None = None,
    lazy: bool = False,
    catalog: Catalog | None = None,
    patience: float = PATIENCE_SECONDS,
    inputs: Inputs | None = None,
    lock: LockSource | None = None,
) -> Hub:
    """A hub over the servers of a source: use it as `async with connect("mcp.json") as hub`.

    `source` is the path of a configuration, a dict of the same shape, specifications, or a mapping of names to
    addresses, SDK servers, clients or transports. `servers` takes only these of them. `filter` is applied over each
    server's own. `headers` is called before each HTTP request. With `lazy`, a server whose listing is kept on
    disk is started when it is first called. `lock` is a lockfile or a `Lock`: tools that are not as locked are set
    apart, also those of servers that do not ask for it.
    """
    specs = read_source(source, inputs)
    if headers is not None:
        specs = [replace(spec, headers_from=headers) if spec.url else spec for spec in specs]
    if servers is not None:
        wanted = list(servers)
        known = {spec.name: spec for spec in specs}
        for name in wanted:
            _known(known, name)
        specs = [known[name] for name in dict.fromkeys(wanted)]
    refuse_mistaken(specs)
    kept = catalog or Catalog()
    return Hub(specs, filter=filter, callbacks=callbacks, lazy=lazy, catalog=kept, patience=patience, lock=lock)


def _with_secrets(spec: ServerSpec) -> ServerSpec:
    """A specification, perhaps made by hand, with all its secrets known as such."""
    return replace(spec, secrets=secret_values(spec))


def _known(known: Mapping[str, T], name: str) -> T:
    if name not in known:
        meant = nearest(name, known)
        hint = f"did you mean {meant!r}?" if meant else f"the servers are: {', '.join(known) or 'none'}"
        raise UnknownServerError(f"unknown server {name!r}; {hint}")
    return known[name]


_ENDINGS: set[asyncio.Future[None]] = set()
"""Hubs that are closing: an event loop keeps no task alive that nobody holds."""


async def _end(connections: list[Connection], guardian: Guardian) -> None:
    try:
        await asyncio.gather(*(each.close() for each in connections))
    finally:
        guardian.close()


@dataclass(frozen=True, slots=True)
class _Offer:
    """The catalogue at a moment: what passed the filters, of it what models may see, and what can be called."""

    passed: tuple[Tool, ...]
    visible: tuple[Tool, ...]
    callable: dict[ToolId, Tool]


class Hub:
    """Servers as one catalogue. Open and close it from any task, in any order, any number of times."""

    def __init__(
        self,
        specs: Iterable[ServerSpec],
        *,
        filter: MCPToolFilter = _EVERYTHING,
        callbacks: Callbacks = NO_CALLBACKS,
        lazy: bool = False,
        catalog: Catalog | None = None,
        patience: float = PATIENCE_SECONDS,
        lock: LockSource | None = None,
    ) -> None:
        self._specs = {spec.name: _with_secrets(spec) for spec in specs}
        refuse_addresses(self._specs.values())
        self._filter = filter
        self._callbacks = callbacks
        self._lazy = lazy
        self._catalog = catalog or Catalog()
        self._patience = patience
        self._lock = lock
        self._guardian = Guardian()
        self._connections: dict[str, Connection] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._offered = (-1, _Offer((), (), {}))
        """The catalogue, and the generation that it is of."""
        self.generation = 0
        """Counts the changes of the catalogue."""
        self.prepared: dict[str, Any] = {}
        """What `tools_for` last prepared for each provider: `answer` reads responses with it."""

    # -- opening and closing -----------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Connect every server, all at once. Raises `ServerError` only for one that is `required`, and `ConfigError`
        where the lock of all of them, or of a required one, is not there. Locks are read here, and not again."""
        if self._connections and self._loop is not None and not self._loop.is_closed():
            await self._here(self._settled)  # open already, or being opened by somebody else
            return
        from toolbridge.servers.connection import Connection  # loads the SDK

        specs, seals = sealed(self._specs.values(), self._lock)
        refuse_mistaken(specs)
        self._loop = asyncio.get_running_loop()
        self._guardian = Guardian()
        self._connections = {
            spec.name: Connection(
                spec,
                callbacks=self._callbacks,
                guardian=self._guardian,
                catalog=self._catalog,
                on_listing=self._changed,
                seal=seals.get(spec.name),
            )
            for spec in specs
        }
        self._changed()
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise

    async def _start(self) -> None:
        for connection in self._connections.values():
            if connection.spec.disabled:
                continue
            if self._lazy:
                connection.remember(self._catalog.load(connection.spec))
            if connection.listing is None:
                connection.start()
        await self._settled()

    async def _settled(self) -> None:
        """Wait for the servers that are connecting: for the required ones to the end, for the others a while."""
        waits = [
            asyncio.ensure_future(connection.settled())
            for connection in self._connections.values()
            if connection.state == "connecting" and not connection.spec.required
        ]
        try:
            for connection in self._connections.values():
                if connection.spec.required:
                    failure = await connection.settled()
                    if failure is not None:
                        raise ServerError(failure)
            if waits:
                await asyncio.wait(waits, timeout=self._patience)
        finally:
            for wait in waits:
                wait.cancel()

    async def close(self) -> None:
        """End every connection; returns when no process of theirs is left. Closing twice is closing once."""
        if self._loop is None or not self._loop.is_running():
            # The loop that opened it has ended, and with it everything that ran there.
            self._connections = {}
            self._guardian.close()
            return
        await self._here(self._close)

    async def _close(self) -> None:
        connections, self._connections = list(self._connections.values()), {}
        self._changed()
        ending = asyncio.ensure_future(_end(connections, self._guardian))
        _ENDINGS.add(ending)
        ending.add_done_callback(_ENDINGS.discard)
        # Shielded: whoever waits for the end may give up waiting; the ending goes on.
        await asyncio.shield(ending)

    async def _here(self, function: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
        """Run in the hub's own event loop, wherever the caller is."""
        loop = self._loop
        if loop is None or loop is asyncio.get_running_loop():
            return await function(*arguments, **options)

        async def run() -> T:
            return await function(*arguments, **options)

        if not loop.is_running():
            raise ServerError(Failure("", "closed", "the event loop that opened the hub has ended"))
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run(), loop))

    # -- the catalogue -----------------------------------------------------------------------------------------------

    @property
    def specs(self) -> Mapping[str, ServerSpec]:
        """The specifications, by name, in their order."""
        return MappingProxyType(self._specs)

    @property
    def status(self) -> Mapping[str, ServerStatus]:
        """How each server does, in the order of the configuration."""
        return {
            name: self._connections[name].status if name in self._connections else ServerStatus(name, "closed")
            for name in self._specs
        }

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What models may see: the tools that pass the filters and are not hidden from models, in a stable order."""
        return self._offer().visible

    @property
    def all_tools(self) -> tuple[Tool, ...]:
        """Also those that are hidden from models; they can be called by the host."""
        return self._offer().passed

    def _changed(self) -> None:
        self.generation += 1

    def _offer(self) -> _Offer:
        generation, offered = self._offered
        if generation != self.generation:
            generation = self.generation  # read first: a change while we sort makes another one
            passed = tuple(
                tool for connection in self._connections.values() for tool in self._filter.apply(connection.offered)
            )
            callable = {tool.id: tool for tool in passed if tool.problem is None}
            offered = _Offer(passed, tuple(tool for tool in passed if visible(tool)), callable)
            self._offered = generation, offered
        return offered

    def lock(self, folder: str | None = None) -> Lock:
        """What the servers that are known offer now, for `toolbridge.lock.write_lock` or another hub's `lock`.

        `folder` is where the lockfile will be: paths below it are written from there. It is beside each configuration
        where none is named.
        """
        servers = {
            name: lock_listing(
                each.spec, each.spec.filter.apply(each.listing.tools), each.listing, folder or lock_folder(each.spec)
            )
            for name, each in self._connections.items()
            if each.listing is not None
        }
        return Lock(servers, folder and os.path.abspath(folder))

    async def refresh(self, server: str | None = None) -> None:
        """List anew, one server or all. Starts those that are not started; one that fails keeps its last listing."""
        await self._here(self._refresh, server)

    async def _refresh(self, server: str | None) -> None:
        async def one(connection: Connection) -> None:
            was_open = connection.state == "connected"
            client = await connection.ensure()
            failure = await connection.relist(client) if was_open else None
            if failure is not None:
                raise ServerError(failure)

        await asyncio.gather(*(one(each) for each in self._chosen(server)), return_exceptions=server is None)

    # -- calls -------------------------------------------------------------------------------------------------------

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str = "",
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> ToolResult:
        """Call a tool of a server, as the host: the filters hold, and tools hidden from models can be called."""
        return await self._here(self._call, ToolId(server, tool), arguments, False, call_id, timeout, on_progress)

    def tools_for(self, provider: Any, strict: bool | None = None, **options: Any) -> list[dict[str, Any]]:
        """The tools as a provider's own SDK takes them: see `toolbridge.run.answer`."""
        from toolbridge.run.answer import tools_for

        return tools_for(self, provider, strict, **options)

    async def answer(self, response: Any, provider: Any = None, **options: Any) -> list[Any]:
        """Runs the calls of a response of a provider's SDK; the messages to append: see `toolbridge.run.answer`."""
        from toolbridge.run.answer import answer

        return await answer(self, response, provider, **options)

    async def run(
        self, bound: BoundCall, *, timeout: float | None = None, on_progress: Progress | None = None
    ) -> ToolResult:
        """Run a call that a model made and `resolve` understood: only what models may see."""
        return await self._here(self._call, bound.tool.id, bound.arguments, True, bound.call.id, timeout, on_progress)

    async def _call(
        self,
        id: ToolId,
        arguments: Mapping[str, Any] | None,
        by_model: bool,
        call_id: str,
        timeout: float | None,
        on_progress: Progress | None,
    ) -> ToolResult:
        from toolbridge.servers.calls import call_tool  # loads the SDK

        connection = self._connection(id.server)
        tool = self._offer().callable.get(id)
        if tool is None or (by_model and not visible(tool)):
            refused = await self._refused(connection, id, by_model, call_id)
            if refused is not None:
                return refused
            tool = self._offer().callable[id]
        return await call_tool(
            connection, id.name, arguments, tool=tool, call_id=call_id, timeout=timeout, on_progress=on_progress
        )

    async def _refused(self, connection: Connection, id: ToolId, by_model: bool, call_id: str) -> ToolResult | None:
        """Why a tool cannot be called; `None` where it turns out that it can."""
        from toolbridge.servers.calls import unavailable

        if not connection.has_listed(id):
            # What the server can do is not known yet, or not any more: ask it.
            try:
                await self._refresh(id.server)
            except ServerError as error:
                return unavailable(call_id, error.failure)
        if (why := refusal(id.server, id.name, connection.verdict)) is not None:
            return failed(call_id, "refused", why)
        tool = self._offer().callable.get(id)
        if tool is not None and by_model and not visible(tool):
            why = "is not offered to models"
        elif tool is not None:
            return None
        elif connection.listing is not None and any(each.id == id for each in connection.listing.tools):
            why = "is excluded by the filter"
        else:
            offered = self.tools if by_model else self.all_tools
            meant = nearest(id.name, [each.id.name for each in offered if each.id.server == id.server])
            hint = f" Did you mean {meant!r}?" if meant else ""
            return failed(call_id, "unknown_tool", f"Server {id.server!r} has no tool {id.name!r}.{hint}")
        return failed(call_id, "refused", f"Not called: the tool {id.name!r} of server {id.server!r} {why}.")

    # -- resources and prompts ---------------------------------------------------------------------------------------

    async def resources(self, server: str | None = None) -> list[ServerResource]:
        """The resources and templates that servers list. A server that is down lists none, unless it is named."""
        from toolbridge.servers.offers import list_resources

        return await self._here(self._gather, list_resources, server)

    async def read_resource(self, server: str, uri: str) -> tuple[Content, ...]:
        """What is at an address of a server: also the way to follow a `ResourceLink`."""
        from toolbridge.servers.offers import read_resource_at

        return await self._here(self._one, read_resource_at, server, uri)

    async def prompts(self, server: str | None = None) -> list[ServerPrompt]:
        """The prompts that servers list."""
        from toolbridge.servers.offers import list_prompts

        return await self._here(self._gather, list_prompts, server)

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None
    ) -> list[PromptMessage]:
        """The messages of a prompt."""
        from toolbridge.servers.offers import get_prompt_of

        return await self._here(self._one, get_prompt_of, server, name, arguments)

    async def client(self, server: str) -> Client:
        """The SDK's own client, connected, for what has no name here. It belongs to the hub's event loop."""
        connection = self._connection(server)
        return await self._here(connection.ensure)

    async def _one(self, function: Callable[..., Awaitable[T]], server: str, *arguments: Any) -> T:
        return await function(self._connection(server), *arguments)

    async def _gather(self, function: Callable[[Connection], Awaitable[list[T]]], server: str | None) -> list[T]:
        chosen = self._chosen(server)
        found = await asyncio.gather(*(function(each) for each in chosen), return_exceptions=True)
        listed: list[T] = []
        for each in found:
            if not isinstance(each, BaseException):
                listed += each
            elif server is not None or not isinstance(each, ServerError):
                raise each
        return listed

    def _chosen(self, server: str | None) -> list[Connection]:
        if server is not None:
            return [self._connection(server)]
        return [each for each in self._connections.values() if not each.spec.disabled]

    def _connection(self, server: str) -> Connection:
        spec = _known(self._specs, server)
        if server not in self._connections:
            raise ServerError(Failure(server, "closed", "the hub is not open"))
        if spec.disabled:
            raise ServerError(Failure(server, "closed", "it is disabled in the configuration"))
        return self._connections[server]
