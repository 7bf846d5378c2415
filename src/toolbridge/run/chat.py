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
from contextlib import aclosing
from typing import Any, TypeVar

from toolbridge.approval import Approval
from toolbridge.errors import ModelError, PauseError
from toolbridge.model.model import Model
from toolbridge.offer import Offer
from toolbridge.reply import ReplyReader
from toolbridge.run.events import Decision, Done, Paused, Replied, RunEvent, Stop, Told
from toolbridge.run.execute import execute
from toolbridge.run.ids import with_fresh_ids
from toolbridge.run.limits import RunLimits
from toolbridge.run.pause import Pause, fresh_id, read_pause, seal, write_pause
from toolbridge.run.planning import Ask, Planned, ask_about, decided, not_run
from toolbridge.run.policy import why_asked
from toolbridge.run.progress import Progress
from toolbridge.run.record import Record
from toolbridge.run.request import moved, write_request
from toolbridge.run.small import is_small, last_question
from toolbridge.run.toolbox import Toolbox
from toolbridge.servers.hub import Hub
from toolbridge.store.store import Store
from toolbridge.stream.events import ReasoningDelta, Reply, TextDelta
from toolbridge.types import EMPTY, Message, Tool, ToolCall, ToolResult, failed

T = TypeVar("T")

_CONTINUED: set[str] = set()
"""Runs that this process has continued: none is continued twice, since its calls would run twice."""

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
        with self._alone():
            for told in await self._record.load():
                yield told
            progress = Progress(self.limits, [message])
            if self.model.most_tools is not None:
                self.offer.choose(message.text)
            async with aclosing(self._go(progress, None)) as events:
                async for event in events:
                    yield event

    async def resume(
        self, state: Mapping[str, Any], decisions: Mapping[str, Decision | bool] = EMPTY
    ) -> AsyncGenerator[RunEvent]:
        """Continue a paused run, with the words on its calls by their ids.

        Raises `PauseError` where the state was altered, was continued already, or a tool is another one by now.
        """
        with self._alone():
            pause = read_pause(state, self._key)
            batch = self._waiting(pause)
            await self._take(pause)
            unsaved = () if pause.is_kept else pause.history[len(pause.history) - pause.added :]
            self._record.replace(pause.history, pause.conversation, unsaved)
            progress = Progress(self.limits, [], pause)
            async with aclosing(self._go(progress, batch, {**pause.words, **decisions})) as events:
                async for event in events:
                    yield event

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _go(
        self,
        progress: Progress,
        batch: list[Planned] | None,
        decisions: Mapping[str, Decision | bool] = EMPTY,
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
                if reply.calls and ended is not None:
                    results = [not_run(call, ended[1]) for call in reply.calls]
                    for told in await self._add(progress, Message.results(*results)):
                        yield told
                if ended is not None:
                    yield self._done(progress, *ended)
                    return
                if not reply.calls:
                    continue  # the provider asks to be asked again
                batch = [self._plan(call) for call in reply.calls]
            words = dict(decisions)
            shown = {
                each.call.id: seal(each.bound) for each in batch if each.why is not None and each.bound is not None
            }
            waiting = await self._settle(progress, batch, words)
            if waiting:
                paused = self._paused(progress, waiting, shown, words)
                for told in await self._record.keep_pause(paused.state):
                    yield told
                yield paused
                return
            async with aclosing(self._run(progress, batch)) as events:
                async for event in events:
                    yield event
            batch, decisions = None, EMPTY

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
                    offer.replayed(history),
                    first,
                    self.model,
                    offer.fields,
                    cost,
                    self.options,
                )
            if notes:
                yield Told(
                    "history.trimmed",
                    f"too long for {self.model.name}: the oldest parts stay behind",
                )
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
            except TimeoutError:
                broken_off = True
                for told in await self._add(progress, *progress.take_question()):
                    yield told
            except ModelError as failure:
                name = None if accepted or is_second else self._toolbox.drop_refused(failure, self.model)
                if name is not None:
                    is_second = True
                    yield Told(
                        "tool.refused",
                        f"the tool {name} is left out, since it was refused: {failure}",
                    )
                    continue
                if not accepted:
                    raise
                broken_off = True
                progress.broken = str(failure)
            break
        reply = with_fresh_ids(reader.reply(broken_off=broken_off), self.history)
        progress.count(reply, fields)
        if reply.message.parts:
            for told in await self._add(progress, reply.message):
                yield told
        yield Replied(reply, progress.turns)

    def _ended(self, progress: Progress, reply: Reply) -> tuple[Stop | None, str] | None:
        """Whether the run is over with this reply, and why; `None` where it goes on."""
        stop = _BROKEN.get(reply.finish)
        if progress.is_late():
            return progress.late()
        if stop in ("broken_off", "error"):
            why = reply.error or progress.broken or "the connection ended in the middle of the answer"
            return stop, f"{self.model.name} did not finish: {why}"
        if reply.calls:
            return progress.out_of_turns()
        if reply.raw_finish == "pause_turn":
            return None
        if stop == "length":
            return (
                stop,
                f"the answer of {self.model.name} was cut at its limit of tokens",
            )
        if stop == "filtered":
            return stop, f"the provider withheld the answer of {self.model.name}"
        return None, "" if reply.message.parts else f"{self.model.name} said nothing"

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _plan(self, call: ToolCall) -> Planned:
        def why(tool: Tool) -> str | None:
            return why_asked(tool, self.hub.specs.get(tool.id.server), self.approval)

        return self._toolbox.plan(call, self.model, why)

    async def _settle(
        self,
        progress: Progress,
        batch: list[Planned],
        words: dict[str, Decision | bool],
    ) -> list[Planned]:
        """Get the word on every call that needs one; what is returned still waits. Nothing has run by then."""
        waiting: list[Planned] = []
        for i, planned in enumerate(batch):
            if planned.why is None:
                continue
            word = words.get(planned.call.id)
            if word is None and self.ask is not None:
                with progress.waiting():
                    word = await ask_about(planned, self.ask)
            if word is None:
                waiting.append(planned)
            else:
                words[planned.call.id] = word
                batch[i] = decided(planned, word, self.offer.prepared)
        return waiting

    async def _run(self, progress: Progress, batch: list[Planned]) -> AsyncGenerator[RunEvent]:
        results: list[ToolResult | None] = [None] * len(batch)
        try:
            running = execute(
                batch,
                results,
                self.hub,
                parallel=self.limits.parallel,
                deadline=progress.deadline,
                finish=lambda planned, result: self._finished(progress, planned, result),
            )
            async with aclosing(running) as events:
                async for event in events:
                    yield event
        finally:
            # Also where whoever listens has gone: the history stays one that a model can be asked with.
            each = [done or _cancelled(planned) for done, planned in zip(results, batch, strict=True)]
            tolds = await self._add(progress, Message.results(*each))
        for told in tolds:
            yield told

    def _finished(self, progress: Progress, planned: Planned, result: ToolResult) -> ToolResult:
        times = progress.repeated(planned.call, result)
        return progress.repeats.told(self._toolbox.keep(result), times)

    # ── pausing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _paused(
        self,
        progress: Progress,
        waiting: Sequence[Planned],
        shown: Mapping[str, str],
        words: Mapping[str, Decision | bool],
    ) -> Paused:
        pause = Pause(
            id=fresh_id(),
            conversation=self.conversation,
            history=self.history,
            added=len(progress.added),
            is_kept=self._record.is_kept,
            turns=progress.turns,
            milliseconds=progress.milliseconds,
            usage=(progress.input, progress.output),
            repeats=progress.repeats.seen,
            asked=dict(shown),
            words={id: word if isinstance(word, Decision) else Decision(word) for id, word in words.items()},
        )
        state = write_pause(pause, self._key)
        return Paused(tuple(each.asked for each in waiting), state)

    def _waiting(self, pause: Pause) -> list[Planned]:
        """The calls of a paused run, planned anew: those that were shown to somebody must be what they were."""
        batch = [self._plan(call) for call in pause.history[-1].calls] if pause.history else []
        for planned in batch:
            shown = pause.asked.get(planned.call.id)
            if shown is not None and (planned.bound is None or seal(planned.bound) != shown):
                why = planned.result.text if planned.result is not None else "its tool has changed"
                raise PauseError(f"the call of {planned.call.name} is no longer what was asked about: {why}")
        return batch

    async def _take(self, pause: Pause) -> None:
        store = self._record.store
        if pause.id in _CONTINUED:
            raise PauseError("this run was continued already; its calls are not run twice")
        if store is not None and await store.take_pause(pause.id) is None:
            raise PauseError("this run was continued already, or its store does not know it")
        _CONTINUED.add(pause.id)

    async def _add(self, progress: Progress, *messages: Message) -> list[Told]:
        progress.added += messages
        return await self._record.add(*messages)

    # ── the rest ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _alone(self) -> _Alone:
        return _Alone(self)

    def _about_servers(self) -> Iterable[Told]:
        for status in self.hub.status.values():
            if status.failure is not None and status.state != "connected":
                yield Told("server.down", str(status.failure))
        offer = self.offer
        for id, why in offer.prepared.left_out.items():
            yield Told(
                "tool.left_out",
                f"{id} cannot be offered to {self.model.provider.title}: {why}",
            )
        if explained := offer.explained():
            yield Told("tools.deferred", explained)
        if is_small(self.model) and self.history:
            yield Told(
                "history.trimmed",
                f"{self.model.name} is small: it is asked each question by itself",
            )

    def _down(self) -> str:
        """What the model is told of servers that are not there: otherwise it looks for their tools again and again."""
        down = [
            name for name, each in self.hub.status.items() if each.failure is not None and each.state != "connected"
        ]
        return f"Not available at the moment: the tools of {', '.join(sorted(down))}." if down else ""

    def _done(self, progress: Progress, stop: Stop | None, why: str) -> Done:
        last = next(
            (each for each in reversed(progress.added) if each.role == "assistant"),
            None,
        )
        text = last.text if last is not None else ""
        return Done(text, tuple(progress.added), progress.turns, progress.usage, stop, why)


class _Alone:
    """One run at a time: two would tear each other's history apart."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    def __enter__(self) -> None:
        if self._chat._is_busy:
            raise RuntimeError("this chat is at work on a question; wait for its end, or make another Chat")
        self._chat._is_busy = True

    def __exit__(self, *_: object) -> None:
        self._chat._is_busy = False


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


def _cancelled(planned: Planned) -> ToolResult:
    if planned.result is not None:
        return planned.result
    text = "Cancelled by the user. If the call had begun, whether it took effect is unknown."
    return failed(planned.call.id, "outcome_unknown", text)
