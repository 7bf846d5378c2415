"""A conversation over a hub of servers and a model: one question at a time, until there is an answer.

`Chat` sits between the hub, which runs calls, and the model, which makes them. It owns the history and the settings;
what one question has come to so far is a `Progress`. It does no I/O of its own.

    chat = Chat(hub, get_model("gpt-5"))
    async for event in chat.say("What is in bed B2?"):
        ...                                     # text as it arrives, calls as they run; the last one is Done or Paused
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar

from toolbridge.approval import Approval
from toolbridge.errors import ModelError, PauseError
from toolbridge.model.model import Model
from toolbridge.offer import Offer
from toolbridge.reply import ReplyReader
from toolbridge.run.desk import Desk
from toolbridge.run.events import CallEnded, Decision, Done, Paused, Replied, RunEvent, Stop, Told
from toolbridge.run.execute import Running
from toolbridge.run.ids import with_fresh_ids
from toolbridge.run.limits import RunLimits
from toolbridge.run.pause import Pause, fresh_id, read_pause, seal, write_pause
from toolbridge.run.planning import Ask, Planned, not_run
from toolbridge.run.policy import why_asked
from toolbridge.run.progress import Progress
from toolbridge.run.record import Record
from toolbridge.run.request import moved, write_request
from toolbridge.run.small import is_small, last_question
from toolbridge.run.toolbox import Toolbox
from toolbridge.servers.hub import Hub
from toolbridge.store.store import Store
from toolbridge.stream.events import ReasoningDelta, Reply, TextDelta
from toolbridge.tokens import part_tokens
from toolbridge.types import EMPTY, Message, Tool, ToolCall, ToolResult

T = TypeVar("T")

_CONTINUED: set[str] = set()
"""Runs that this process has continued: none is continued twice, since its calls would run twice."""

LEAVING_SECONDS = 1.0
"""How long a new question waits for the end of a run that nobody listens to any more."""

_BROKEN: dict[str, Stop] = {
    "broken_off": "broken_off",
    "error": "error",
    "length": "length",
    "filtered": "filtered",
}


class Chat:
    """A conversation. One question at a time; the model may be replaced between them, and the history moves along."""

    def __init__(
        self,
        hub: Hub,
        model: Model,
        *,
        history: Iterable[Message] = (),
        system: str = "",
        approval: Approval | None = None,
        ask: Ask | None = None,
        limits: RunLimits | None = None,
        tool_tokens: int | None = None,
        strict: bool | None = None,
        store: Store | None = None,
        conversation: str = "",
        options: Mapping[str, Any] = EMPTY,
        key: bytes | None = None,
    ) -> None:
        """`system` is told to the model first. `approval` counts for servers whose operator says nothing, and asks
        about every call unless it is given; `ask` is asked, and without it a run pauses. `tool_tokens` is what
        definitions may cost in one request: over it the model gets a tool to search the rest. `options` go into the
        request body as they are. `store` and `conversation` keep the history; `key` signs what is paused.
        """
        self.hub = hub
        self.model = model
        self._record = Record(history, store, conversation)
        self.system = system
        self.approval = approval or Approval()
        self.ask = ask
        self.limits = limits or RunLimits()
        self.options = options
        self._key = key
        self._toolbox = Toolbox(
            hub,
            strict=strict,
            tool_tokens=tool_tokens,
            result_tokens=self.limits.result_tokens,
        )
        self._is_busy = False
        self._told: set[Told] = set()

    # ── doors ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def history(self) -> tuple[Message, ...]:
        """What was said so far."""
        return self._record.history

    @property
    def conversation(self) -> str:
        """What the store calls it; empty where there is no store."""
        return self._record.conversation

    @property
    def offer(self) -> Offer:
        """What the model is shown of the hub's tools, and what it costs."""
        return self._toolbox.offer(self.model)

    async def say(self, question: str | Message) -> AsyncGenerator[RunEvent]:
        """Ask. The last event is `Done`, or `Paused` where a call waits for somebody's word.

        Raises `ModelError` where the model cannot be asked; what was said and done before that is in the history.
        """
        message = question if isinstance(question, Message) else Message.user(question)
        async with self._alone():
            for told in await self._record.load():
                yield told
            self._toolbox.take_up(self.history)
            if self.model.most_tools is not None:
                self.offer.choose(message.text)
            async with aclosing(self._go(Progress(self.limits, [message]))) as events:
                async for event in events:
                    yield event

    async def resume(
        self, state: Mapping[str, Any], decisions: Mapping[str, Decision | bool] = EMPTY
    ) -> AsyncGenerator[RunEvent]:
        """Continue a paused run, with the words on its calls by their ids; `ask` is asked about the others.

        Raises `PauseError` where the state was altered, was continued already, or a tool is another one by now.
        """
        async with self._alone():
            pause = read_pause(state, self._key)
            if pause.id in _CONTINUED:
                raise PauseError("this run was continued already; its calls are not run twice")
            self._toolbox.take_up(pause.history, pause.joined)
            batch = self._waiting(pause)
            for told in await self._record.take_up(pause):
                yield told
            words = {**pause.words, **decisions}
            async with aclosing(self._go(Progress(self.limits, [], pause), batch, words, pause)) as events:
                async for event in events:
                    yield event

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _go(
        self,
        progress: Progress,
        batch: list[Planned] | None = None,
        words: Mapping[str, Decision | bool] = EMPTY,
        pause: Pause | None = None,
    ) -> AsyncGenerator[RunEvent]:
        for told in self._about_servers():
            if told not in self._told:  # once in a conversation is enough
                self._told.add(told)
                yield told
        while True:
            if batch is None:
                stop = progress.over()
                if stop is not None:
                    yield self._done(progress, *stop)
                    return
                reply: Reply | None = None
                async with aclosing(self._turn(progress)) as events:
                    async for event in events:
                        if isinstance(event, Replied):
                            reply = event.reply
                        yield event
                assert reply is not None
                ended = self._ended(progress, reply)
                if ended is not None:
                    for event in await self._leave(progress, reply.calls, ended[1]):
                        yield event
                    yield self._done(progress, *ended)
                    return
                if not reply.calls:
                    continue  # the provider asks to be asked again
                batch = self._toolbox.plan(reply.calls, self.model, self._why_asked)
            desk = Desk(batch, words, pause.asked if pause is not None else ())
            try:
                await desk.settle(self.ask, progress)
            except BaseException:
                if pause is None:  # else it still waits, for the next who continues it
                    await self._leave(progress, [each.call for each in batch], "the user stopped before it was allowed")
                raise
            if pause is not None:
                await self._take(pause)
            if desk.waiting:
                for event in await self._wait(progress, desk):
                    yield event
                return
            async with aclosing(self._run(progress, desk.batch)) as events:
                async for event in events:
                    yield event
            batch, words, pause = None, EMPTY, None

    async def _turn(self, progress: Progress) -> AsyncGenerator[RunEvent]:
        """One request and its reply. Where the provider refuses one tool by name, it is asked once more without it."""
        is_second = False
        while True:
            offer = self.offer
            said = (*self.history, *progress.question)
            if is_small(self.model) and progress.turns > 0:
                question = last_question(said, self.model)
                fields, notes = write_request([question], self.system, self.model, {}, 0, self.options)
            else:
                first = "\n\n".join(filter(None, (offer.prepared.instructions, self.system, self._down())))
                if is_small(self.model):
                    said = said[-1:]
                history = moved(said, self.model.provider, self._toolbox.spellings)
                cost = offer.cost.shown if self.model.context_tokens is not None else 0
                fields, notes = write_request(
                    offer.replayed(history), first, self.model, offer.fields, cost, self.options
                )
            if notes:
                yield Told("history.trimmed", f"too long for {self.model.name}: the oldest parts stay behind")
            reader = ReplyReader(self.model.provider)
            broken_off: bool | None = None
            accepted = False
            try:
                async with aclosing(self.model.stream(fields)) as chunks:
                    async for chunk in _until(chunks, progress.deadline):
                        if not accepted:
                            accepted = True
                            for told in await self._add(progress, *progress.take_question()):
                                yield told
                        for event in reader.feed(chunk):
                            if isinstance(event, TextDelta | ReasoningDelta):
                                yield event
                if not accepted:
                    broken_off, progress.broken = True, "it sent nothing"
            except TimeoutError:
                if not progress.is_late():
                    raise
                broken_off = True
            except ModelError as failure:
                name = None if accepted or is_second else self._toolbox.drop_refused(failure, self.model)
                if name is not None:
                    is_second = True
                    yield Told("tool.refused", f"the tool {name} is left out, since it was refused: {failure}")
                    continue
                if not accepted:
                    raise
                broken_off = True
                progress.broken = str(failure)
            break
        for told in await self._add(progress, *progress.take_question()):
            yield told
        reply = with_fresh_ids(reader.reply(broken_off=broken_off), self.history)
        progress.count(reply, fields)
        if reply.message.parts:
            for told in await self._add(progress, reply.message):
                yield told
        yield Replied(reply, progress.turns)

    def _ended(self, progress: Progress, reply: Reply) -> tuple[Stop | None, str] | None:
        """Whether the run is over with this reply, and why; `None` where it goes on."""
        stop = _BROKEN.get(reply.finish)
        if progress.is_late() and (reply.calls or reply.finish != "stop"):
            return progress.late()
        if stop in ("broken_off", "error"):
            why = reply.error or progress.broken or "the connection ended in the middle of the answer"
            return stop, f"{self.model.name} did not finish: {why}"
        if reply.calls or reply.raw_finish == "pause_turn":
            return progress.last_call()
        if stop == "length":
            return stop, f"the answer of {self.model.name} was cut at its limit of tokens"
        if stop == "filtered":
            return stop, f"the provider withheld the answer of {self.model.name}"
        return None, "" if reply.message.parts else f"{self.model.name} said nothing"

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _why_asked(self, tool: Tool) -> str | None:
        return why_asked(tool, self.hub.specs.get(tool.id.server), self.approval)

    async def _run(self, progress: Progress, batch: Sequence[Planned]) -> AsyncGenerator[RunEvent]:
        progress.repeats.next_reply()

        def finish(planned: Planned, result: ToolResult) -> ToolResult:
            times = progress.repeated(planned.call, result)
            return progress.repeats.told(self._toolbox.keep(result), times)

        running = Running(batch, self.hub, parallel=self.limits.parallel, finish=finish, deadline=progress.deadline)
        try:
            async with aclosing(running.events()) as events:
                async for event in events:
                    yield event
        finally:
            # Also where whoever listens has gone: the history stays one that a model can be asked with.
            tolds = await self._add(progress, Message.results(*running.results()))
        for told in tolds:
            yield told

    async def _leave(self, progress: Progress, calls: Sequence[ToolCall], why: str) -> list[RunEvent]:
        """Calls that nobody will run any more get their answer all the same."""
        if not calls:
            return []
        results = [not_run(call, why) for call in calls]
        told: list[RunEvent] = []
        for call, result in zip(calls, results, strict=True):
            tool = self.offer.find(call.name)
            told.append(CallEnded(call, tool.id if tool is not None else None, result, 0.0, part_tokens(result)))
        return [*told, *await self._add(progress, Message.results(*results))]

    # ── pausing ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _wait(self, progress: Progress, desk: Desk) -> list[RunEvent]:
        """The run as data, in the store too where there is one."""
        pause = Pause(
            id=fresh_id(),
            conversation=self.conversation,
            history=self.history,
            added=len(progress.added),
            unsaved=self._record.unsaved,
            is_held=self._record.store is not None,
            turns=progress.turns,
            milliseconds=progress.milliseconds,
            usage=(progress.input, progress.output),
            repeats=progress.repeats.seen,
            asked=desk.shown,
            words=desk.words,
            joined=self._toolbox.joined,
        )
        state = write_pause(pause, self._key)
        problems = await self._record.keep_pause(state) if pause.is_held else []
        if problems:
            state = write_pause(replace(pause, is_held=False), self._key)
        return [*problems, Paused(tuple(each.asked for each in desk.waiting), state)]

    def _waiting(self, pause: Pause) -> list[Planned]:
        """The calls of a paused run, planned anew: those that were shown to somebody must be what they were."""
        provider = self.offer.provider
        said = moved(pause.history[-1:], provider, self._toolbox.spellings)
        batch = self._toolbox.plan([call for each in said for call in each.calls], self.model, self._why_asked)
        for planned in batch:
            shown = pause.asked.get(planned.call.id)
            if shown is not None and (planned.bound is None or seal(planned.bound) != shown):
                why = planned.result.text if planned.result is not None else "its tool has changed"
                raise PauseError(f"the call of {planned.call.name} is no longer what was asked about: {why}")
        return batch

    async def _take(self, pause: Pause) -> None:
        """Make it ours, right before anything runs: of all who continue a run, one does."""
        store = self._record.store
        if pause.is_held and store is None:
            raise PauseError("this run waits in a store; continue it with that store, so that it runs once")
        if pause.is_held and store is not None and await store.take_pause(pause.id) is None:
            raise PauseError("this run was continued already, or its store does not know it")
        _CONTINUED.add(pause.id)

    async def _add(self, progress: Progress, *messages: Message) -> list[Told]:
        progress.added += messages
        return await self._record.add(*messages)

    # ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────

    @asynccontextmanager
    async def _alone(self) -> AsyncGenerator[None]:
        """One run at a time: two would tear each other's history apart."""
        waited = 0.0
        while self._is_busy and waited < LEAVING_SECONDS:  # whoever stopped listening may not be gone quite yet
            await asyncio.sleep(0.01)
            waited += 0.01
        if self._is_busy:
            raise RuntimeError("this chat is at work on a question; wait for its end, or make another Chat")
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def _about_servers(self) -> Iterable[Told]:
        for status in self.hub.status.values():
            if status.failure is not None and status.state != "connected":
                yield Told("server.down", str(status.failure))
        offer = self.offer
        for id, why in offer.prepared.left_out.items():
            yield Told("tool.left_out", f"{id} cannot be offered to {self.model.provider.title}: {why}")
        if explained := offer.explained():
            yield Told("tools.deferred", explained)
        if is_small(self.model) and self.history:
            yield Told("history.trimmed", f"{self.model.name} is small: it is asked each question by itself")

    def _down(self) -> str:
        """What the model is told of servers that are not there: otherwise it looks for their tools again and again."""
        down = [
            name for name, each in self.hub.status.items() if each.failure is not None and each.state != "connected"
        ]
        return f"Not available at the moment: the tools of {', '.join(sorted(down))}." if down else ""

    def _done(self, progress: Progress, stop: Stop | None, why: str) -> Done:
        last = next((each for each in reversed(progress.added) if each.role == "assistant"), None)
        text = last.text if last is not None else ""
        return Done(text, tuple(progress.added), progress.turns, progress.usage, stop, why)


async def _until(chunks: AsyncIterator[T], deadline: float | None) -> AsyncGenerator[T]:
    """What comes before the deadline; then a `TimeoutError`."""
    if deadline is None:
        async for chunk in chunks:
            yield chunk
        return
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        yield chunk
