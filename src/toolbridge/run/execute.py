"""Running the calls of one reply: side by side within limits, each on its own, results in the order of the calls.

A call that fails, hangs or raises costs its own result and nothing else. Whoever stops listening cancels what runs, and
the servers are told.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TypeAlias

from toolbridge.run.events import CallEnded, CallProgress, CallStarted
from toolbridge.run.planning import Planned, not_run, told_of_edit
from toolbridge.servers.hub import Hub
from toolbridge.tokens import part_tokens
from toolbridge.types import BoundCall, ToolResult, failed

CallEvent: TypeAlias = CallStarted | CallProgress | CallEnded
Finish: TypeAlias = Callable[[Planned, ToolResult], ToolResult]
"""What is done to a result before anybody sees it: cut to its budget, counted."""


class Running:
    """The calls of one reply while they run."""

    def __init__(
        self,
        batch: Sequence[Planned],
        hub: Hub,
        *,
        parallel: int,
        finish: Finish,
        deadline: float | None = None,
    ) -> None:
        self._batch = batch
        self._hub = hub
        self._finish = finish
        self._deadline = deadline
        self._turn = asyncio.Semaphore(parallel)
        self._news: asyncio.Queue[CallEvent | None] = asyncio.Queue()
        self._begun: set[int] = set()
        self._results: dict[int, ToolResult] = {}

    async def events(self) -> AsyncGenerator[CallEvent]:
        """Run what is to be run and tell of it as it happens. `CallEnded` comes for every call, once."""
        tasks = [asyncio.create_task(self._one(i, each)) for i, each in enumerate(self._batch)]
        asyncio.gather(*tasks, return_exceptions=True).add_done_callback(lambda _: self._news.put_nowait(None))
        try:
            while (event := await self._news.get()) is not None:
                yield event
            for task in tasks:
                task.result()  # a mistake of ours is not swallowed
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def results(self) -> list[ToolResult]:
        """What came of every call, also where nobody listened to the end."""
        return [self._results.get(i) or self._cancelled(i, each) for i, each in enumerate(self._batch)]

    def _cancelled(self, place: int, planned: Planned) -> ToolResult:
        if planned.result is not None:
            return planned.result
        if place not in self._begun:
            return not_run(planned.call, "it was cancelled before")
        text = "Cancelled by the user. Whether the call took effect is unknown."
        return failed(planned.call.id, "outcome_unknown", text)

    async def _one(self, place: int, planned: Planned) -> None:
        began = time.monotonic()
        result = planned.result
        if result is None:
            assert planned.bound is not None
            async with self._turn:
                began = time.monotonic()
                if self._is_late():
                    result = not_run(planned.call, "the time for this run is up")
                else:
                    self._begun.add(place)
                    self._news.put_nowait(CallStarted(planned.call, planned.bound.tool.id, planned.bound.arguments))
                    result = told_of_edit(planned, await self._called(planned.bound))
        result = self._results[place] = self._finish(planned, result)
        tool = planned.tool.id if planned.tool is not None else None
        seconds = time.monotonic() - began
        self._news.put_nowait(CallEnded(planned.call, tool, result, seconds, part_tokens(result)))

    async def _called(self, bound: BoundCall) -> ToolResult:
        def progress(done: float, total: float | None, message: str | None) -> None:
            self._news.put_nowait(CallProgress(bound.call, bound.tool.id, done, total, message))

        try:
            async with asyncio.timeout_at(self._deadline):
                return await self._hub.run(bound, on_progress=progress)
        except TimeoutError:
            text = "The time for this run is up. Whether the call took effect is unknown."
            return failed(bound.call.id, "timed_out", text)
        except Exception as failure:
            # What a server does wrong is a result already. What arrives here (a server that has gone from the hub, a
            # bug) must not cost the other calls.
            why = str(failure) or type(failure).__name__
            return failed(bound.call.id, "protocol", f"The call failed: {why}")

    def _is_late(self) -> bool:
        # Here, and not by the timeout alone: that would only be felt at the first pause, when the call is sent already.
        return self._deadline is not None and asyncio.get_running_loop().time() >= self._deadline
