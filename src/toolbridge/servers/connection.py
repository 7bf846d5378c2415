"""One connection: a task that owns it from beginning to end, its health, and what it lists.

The SDK's contexts must be left in the task that entered them. So each attempt has an owner task that enters, serves
and leaves; whoever opens, calls or closes only talks to it, from any task. When the connection is lost the pending
calls fail at once, and the next owner starts: at once for a call that needs it, by itself after a growing pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types

from toolbridge.errors import ServerError
from toolbridge.failure import Failure
from toolbridge.lock.judge import CLEAN, Verdict
from toolbridge.servers.callbacks import Callbacks, ask_for_logs, client_options, login_shown, outcome, tell_changed
from toolbridge.servers.catalog import Catalog, Listing
from toolbridge.servers.diagnosis import both_ways, diagnosed
from toolbridge.servers.guardian import Guardian
from toolbridge.servers.http import EXCHANGE
from toolbridge.servers.listing import list_tools
from toolbridge.servers.locked import Seal, changed, lock_warnings
from toolbridge.servers.logs import keep_secret
from toolbridge.servers.opening import Facts, Way, first_way, next_way, opened_client
from toolbridge.servers.pending import PendingCall, hold_clocks, off_the_clock
from toolbridge.servers.recovery import Recovery
from toolbridge.servers.secrets import redact, secret_values
from toolbridge.servers.spec import Headers, ServerSpec, mistake
from toolbridge.servers.status import ServerStatus, State
from toolbridge.servers.upkeep import listen, relist_when_stale
from toolbridge.types import Tool, ToolId

if TYPE_CHECKING:
    from mcp import Client

SEARCH_SECONDS = 10.0
"""How old a listing must be before a tool that is not in it is looked for again."""

PROBE_SECONDS = 10.0
"""How long a process may take to answer anything, after a call of it ran out of time."""

LEAVE_SECONDS = 10.0
"""How long a connection may take to leave in order, before it is cut. Ending a stubborn process takes up to six."""


class Connection:
    """A server, connected or not. Every method runs in the hub's event loop."""

    def __init__(
        self,
        spec: ServerSpec,
        *,
        callbacks: Callbacks,
        guardian: Guardian,
        catalog: Catalog,
        on_listing: Callable[[], None],
        seal: Seal | None = None,
    ) -> None:
        self._learnt: set[str] = set()
        """Secrets that only a function knows: the headers of the moment."""
        self.spec = spec
        if (headers := spec.headers_from) is not None:
            self.spec = replace(spec, headers_from=self._remembered(headers))
        self.listing: Listing | None = None
        self.offered: tuple[Tool, ...] = ()
        """What of the listing passes the operator's filter and is as locked."""
        self.verdict: Verdict = CLEAN
        self._seal = seal
        self._listing_now = asyncio.Lock()
        self.pending: set[PendingCall] = set()
        self.turn = asyncio.Semaphore(spec.limits.concurrency)
        self._callbacks = callbacks
        self._guardian = guardian
        self._catalog = catalog
        self._on_listing = on_listing
        self._way: Way | None = None
        self._facts: Facts | None = None
        self._client: Client | None = None
        self._end: asyncio.Event | None = None
        self._opening: asyncio.Future[Client | Failure] | None = None
        self._owners: dict[asyncio.Task[None], anyio.CancelScope | None] = {}
        """The tasks that own a connection, and how to call them off once they run; old ones may still be leaving."""
        self._retired: dict[int, asyncio.Event] = {}
        self._probe: asyncio.Task[None] | None = None
        self._tellings: set[asyncio.Task[None]] = set()
        self.stale = asyncio.Event()
        self._failure = mistake(spec)
        self._recovery = Recovery()
        self._restarts = -1
        self._timer: asyncio.TimerHandle | None = None
        self._closing = False
        self._list_problem: str | None = None

    # -- health ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        if self.spec.disabled:
            return "disabled"
        if self._client is not None:
            return "connected"
        if self._opening is not None:
            return "connecting"
        if self._failure is not None:
            return "failed"
        return "closed" if self._closing or self.listing is None else "idle"

    @property
    def status(self) -> ServerStatus:
        listing = self.listing
        process = self._facts.process if self._facts else None
        return ServerStatus(
            name=self.spec.name,
            state=self.state,
            failure=self._failure,
            protocol=listing.protocol if listing else None,
            server_name=listing.server_name if listing else None,
            server_version=listing.server_version if listing else None,
            instructions=listing.instructions if listing and self.verdict.withheld is None else None,
            tools=len(listing.tools) if listing else 0,
            pid=process.pid if process and self._client is not None else None,
            restarts=max(self._restarts, 0),
            warnings=self._warnings(),
            quarantined=self.verdict.quarantined,
        )

    def _warnings(self) -> tuple[str, ...]:
        found: list[str] = []
        process = self._facts.process if self._facts else None
        if process is not None and process.noise_count:
            lines = "a line" if process.noise_count == 1 else f"{process.noise_count:,} lines"
            shown = self.redact(process.noise[0])[:200]
            found.append(f"it prints on stdout what is no JSON-RPC ({lines}, first: {shown!r})")
        if self._list_problem is not None:
            found.append(self._list_problem)
        if self.listing is not None:
            unused = self.spec.filter.unused(tool.id.name for tool in self.listing.tools)
            found += [f"its filter names {pattern!r}, and no tool of it is called so" for pattern in unused]
        return (*found, *map(self.redact, lock_warnings(self.verdict)))

    def redact(self, text: str) -> str:
        """Text without the secrets of this server."""
        return redact(text, self.spec.secrets | self._learnt)

    def _remembered(self, function: Headers) -> Headers:
        async def remembered(server: str) -> Mapping[str, str]:
            given: Mapping[str, str] = await outcome(function(server))
            self._learnt |= secret_values(replace(self.spec, headers=given)) - self.spec.secrets
            keep_secret(self._learnt)
            return given

        return remembered

    def _diagnosed(self, facts: Facts, error: BaseException | None, *, timed_out: str | None = None) -> Failure:
        spec = replace(self.spec, secrets=self.spec.secrets | self._learnt) if self._learnt else self.spec
        return diagnosed(spec, facts, error, timed_out=timed_out)

    # -- opening and closing -----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to connect, unless that is under way or done."""
        if self._closing or self._opening is not None or self._client is not None or self.spec.problem is not None:
            return
        self._forget_timer()
        self._restarts += 1
        self._opening = opening = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._own(opening), name=f"toolbridge owner of {self.spec.name}")
        self._owners[task] = None
        task.add_done_callback(lambda done: self._owners.pop(done, None))

    async def ensure(self) -> Client:
        """The connected client, connecting where need be. Raises `ServerError` with the reason."""
        if self._client is not None:
            process = self._facts.process if self._facts else None
            if process is None or process.is_alive():
                return self._client
            self.lose()  # the event loop has not heard of it yet
        if self._closing:
            raise ServerError(Failure(self.spec.name, "closed", "the hub is closed"))
        if self._opening is None:
            if self._failure is not None and (self.spec.problem or self._recovery.is_pausing):
                raise ServerError(self._failure)
            self.start()
        assert self._opening is not None
        opened = await asyncio.shield(self._opening)
        if isinstance(opened, Failure):
            raise ServerError(opened)
        return opened

    async def settled(self) -> Failure | None:
        """Wait until an attempt under way has come to an end."""
        if self._opening is not None:
            await asyncio.shield(self._opening)
        return self._failure

    def lose(self) -> None:
        """Give this connection up: its owner leaves, and the next call starts another."""
        if self._client is not None and self._facts is not None and self._end is not None:
            self._facts.given_up = True
            self._end.set()
            self._fail_pending(self._client)
            self._client = None

    def retire(self, client: Client) -> None:
        """Use this connection no more: the next call opens another, and calls that run on it may finish."""
        if self._client is client and self._facts is not None and self._end is not None:
            self._facts.given_up = True
            self._client = None
            self._retired[id(client)] = self._end
            self._release(client)

    def finish(self, call: PendingCall) -> None:
        """A call is over."""
        self.pending.discard(call)
        self._release(call.client)

    def _release(self, client: Client) -> None:
        """Let a retired connection go once nothing runs on it."""
        if id(client) in self._retired and not any(each.client is client for each in self.pending):
            self._retired.pop(id(client)).set()

    def _fail_pending(self, client: Client) -> None:
        for each in self.pending:
            if each.client is client:
                each.scope.cancel()

    @property
    def facts(self) -> Facts | None:
        """What is known of the connection that is open or was the last."""
        return self._facts

    def is_current(self, client: Client) -> bool:
        return self._client is client

    def suspect(self, client: Client) -> None:
        """A call ran out of time. A process that answers nothing at all any more is ended, and the next one started."""
        process = self._facts.process if self._facts else None
        if process is not None and self.is_current(client) and self._probe is None:
            self._probe = asyncio.create_task(self._probed(client))

    async def _probed(self, client: Client) -> None:
        try:
            with (
                anyio.move_on_after(PROBE_SECONDS) as scope,
                contextlib.suppress(Exception),
            ):  # any answer is a sign of life
                await client.list_tools()
            busy = any(each.client is client for each in self.pending)
            if scope.cancelled_caught and self.is_current(client) and not busy:
                self.lose()
        finally:
            self._probe = None

    async def close(self) -> None:
        """End the connection and everything that belongs to it; returns when nothing is left."""
        self._closing = True
        self._forget_timer()
        connecting = self._opening is not None
        for task in (*self._tellings, *([self._probe] if self._probe is not None else [])):
            task.cancel()
        self.lose()
        for end in self._retired.values():
            end.set()
        patience = 0.0 if connecting else LEAVE_SECONDS
        if self._owners:
            await asyncio.wait(self._owners.keys(), timeout=patience)
        for task, scope in self._owners.items():
            (scope or task).cancel()
        if self._owners:
            await asyncio.wait(self._owners.keys())

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- the owner ---------------------------------------------------------------------------------------------------

    async def _own(self, opening: asyncio.Future[Client | Failure]) -> None:
        """Enter, serve and leave one connection."""
        scope = anyio.CancelScope()
        task = asyncio.current_task()
        assert task is not None
        self._owners[task] = scope
        way = self._way or first_way(self.spec, self.listing.protocol if self.listing else None)
        failure: Failure | None = None
        facts = Facts(way)
        try:
            with scope:
                while True:
                    failure = both_ways(failure, await self._attempt(facts, opening))
                    other = next_way(self.spec, facts) if failure is not None else None
                    if other is None or self._closing:
                        break
                    facts = Facts(other)
        finally:
            facts.failure = failure
            facts.explained.set()
            if failure is not None and not self._closing and self._facts is facts:
                self._note_failure(failure)
            closed = Failure(self.spec.name, "closed", "it was closed while it was connecting")
            self._settle(opening, failure or closed)

    async def _attempt(self, facts: Facts, opening: asyncio.Future[Client | Failure]) -> Failure | None:
        """One way to the server. Returns when the connection has ended; the failure, where that was not our wish."""
        limit = self.spec.limits.connect
        EXCHANGE.set(facts.exchange)
        end = self._end = asyncio.Event()
        self._facts = facts
        opened: Client | None = None
        error: BaseException | None = None
        timed_out: str | None = None
        deadline = anyio.CancelScope(deadline=anyio.current_time() + limit)
        clocks = hold_clocks(facts.is_logging_in, deadline, limit, self.pending) if self.spec.oauth else None
        hold = asyncio.create_task(clocks) if clocks is not None else None
        try:
            with deadline:
                async with opened_client(
                    self.spec,
                    facts,
                    options=self._options(),
                    on_end=lambda: self._ended(end),
                    on_url=login_shown(self._callbacks, self.spec.name),
                    guardian=self._guardian,
                ) as opened:
                    deadline.deadline = math.inf
                    timed_out = await self._first_listing(opened)
                    if timed_out is None:
                        self._become_open(opened, facts, opening)
                        await self._serve(opened, end)
            if deadline.cancelled_caught:
                timed_out = f"it did not finish the handshake within {limit:g} s"
        except Exception as raised:  # whatever went wrong in there, it is this server's alone
            error = raised
        finally:
            if hold is not None:
                hold.cancel()
            if opened is not None:
                self._fail_pending(opened)
                if self._client is opened:
                    self._client = None
        if self._closing or (facts.given_up and not (facts.process is not None and facts.process.died)):
            return None
        return self._diagnosed(facts, error, timed_out=timed_out)

    def _options(self) -> dict[str, Any]:
        options = client_options(self._callbacks, self.spec.name)
        for name in ("elicitation_callback", "sampling_callback"):
            if name in options:
                options[name] = off_the_clock(options[name], self.pending)
        return {**options, "message_handler": self._on_message}

    async def _first_listing(self, client: Client) -> str | None:
        """What the server offers. Returns what took too long, where it did."""
        with anyio.move_on_after(self.spec.limits.list) as scope:
            await ask_for_logs(self._callbacks, client)
            await self._list(client)
        return f"it did not list its tools within {self.spec.limits.list:g} s" if scope.cancelled_caught else None

    def _become_open(self, client: Client, facts: Facts, opening: asyncio.Future[Client | Failure]) -> None:
        facts.listed = True
        self._way = facts.way
        self._recovery.opened()
        self._failure = None
        self._client = client
        self._settle(opening, client)

    async def _serve(self, client: Client, end: asyncio.Event) -> None:
        """Keep the listing true until the connection ends."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relist_when_stale, self, client)
            tasks.start_soon(listen, self, client)
            await end.wait()
            tasks.cancel_scope.cancel()

    async def relist(self, client: Client) -> Failure | None:
        """List anew. A listing that fails leaves the last one standing, with a warning."""
        late: str | None = None
        error: Exception | None = None
        with anyio.move_on_after(self.spec.limits.list) as scope:
            try:
                await self._list(client)
            except Exception as raised:  # the listing's alone: the connection may be as good as before
                error = raised
        if scope.cancelled_caught:
            late = f"it did not list its tools anew within {self.spec.limits.list:g} s"
        if late is None and error is None:
            return None
        failure = self._diagnosed(self._facts or Facts(Way("auto")), error, timed_out=late)
        if failure.cause == "changed":
            self.lose()
            self._note_failure(failure)
            return failure
        self._list_problem = f"it could not be listed anew: {failure.message}"
        return failure

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self.stale.set()

    def _ended(self, end: asyncio.Event) -> None:
        """The transport's word that nothing more will come."""
        end.set()
        if self._end is end:
            self._client = None

    def _settle(self, opening: asyncio.Future[Client | Failure], opened: Client | Failure) -> None:
        if self._opening is opening:
            self._opening = None
        if not opening.done():
            opening.set_result(opened)

    def _note_failure(self, failure: Failure) -> None:
        """Remember why, and come back to it after a pause."""
        self._failure = failure
        pause = self._recovery.failed(failure)
        if pause is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(pause, self._restart)

    def _restart(self) -> None:
        self._timer = None
        self.start()

    # -- the listing -------------------------------------------------------------------------------------------------

    async def _list(self, client: Client) -> None:
        before, verdict = self.listing, self.verdict
        async with self._listing_now:
            told = self.stale.is_set()
            self.stale.clear()
            try:
                listing, self._list_problem = await list_tools(client, self.spec.name)
            except BaseException:
                if told and self._seal is not None:
                    self.stale.set()  # the change is still to be looked at
                raise
            self._take(listing)
        self._catalog.store(self.spec, listing)
        if before is None or before.tools != listing.tools or verdict != self.verdict:
            self._on_listing()
            if before is not None and self._callbacks.changed is not None:
                task = asyncio.create_task(tell_changed(self._callbacks.changed, self.spec.name))
                self._tellings.add(task)
                task.add_done_callback(self._tellings.discard)
        if self.verdict.refused is not None:
            raise ServerError(changed(self.spec.name, self.verdict))

    def _take(self, listing: Listing) -> None:
        self.verdict = CLEAN if self._seal is None else self._seal.verdict(listing)
        passed: list[Tool] = self.spec.filter.apply(listing.tools)
        self.offered = tuple(tool for tool in passed if tool.id.name not in self.verdict.quarantined)
        self.listing = listing

    async def vouch(self, client: Client) -> Failure | None:
        """Where the server is locked and has told of a change, wait until that was looked at. Returns why it could not
        be: nobody knows then what the server offers, and nothing of it is to be used."""
        if self._seal is None:
            return None
        if self._listing_now.locked():
            async with self._listing_now:
                pass
        return await self.relist(client) if self.stale.is_set() else None

    def has_listed(self, id: ToolId) -> bool:
        """Whether a tool is known, or was looked for so lately that asking again would be of no use."""
        listing = self.listing
        if listing is None:
            return False
        return any(tool.id == id for tool in listing.tools) or time.time() - listing.listed_at < SEARCH_SECONDS

    def remember(self, listing: Listing | None) -> None:
        """Take a listing from the disk: the server need not be started to be known. One that is not as locked may be
        older than the lock, and is none: what the server offers now, it must say itself."""
        if listing is not None and (self._seal is None or self._seal.holds(listing)):
            self._take(listing)
