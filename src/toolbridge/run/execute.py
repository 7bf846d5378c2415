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
from toolbridge.run.planning import Planned, told_of_edit
from toolbridge.servers.hub import Hub
from toolbridge.tokens import part_tokens
from toolbridge.types import BoundCall, ToolResult, failed

CallEvent: TypeAlias = CallStarted | CallProgress | CallEnded
Finish: TypeAlias = Callable[[Planned, ToolResult], ToolResult]
"""What is done to a result before anybody sees it: cut to its budget, counted."""


async def execute(
    batch: Sequence[Planned],
    results: list[ToolResult | None],
    hub: Hub,
    *,
    parallel: int,
    deadline: float | None,
    finish: Finish,
) -> AsyncGenerator[CallEvent]:
    """Run what is to be run and tell of it as it happens. `CallEnded` comes for every call, once.

    `results` are filled in, each at the place of its call: whoever stops listening knows what was done.
    """
    news: asyncio.Queue[CallEvent | None] = asyncio.Queue()
    turn = asyncio.Semaphore(parallel)

    async def one(place: int, planned: Planned) -> None:
        ended = await _ended(planned, hub, turn, deadline, finish, news.put_nowait)
        results[place] = ended.result
        news.put_nowait(ended)

    tasks = [asyncio.create_task(one(i, each)) for i, each in enumerate(batch)]
    everything = asyncio.gather(*tasks, return_exceptions=True)
    everything.add_done_callback(lambda _: news.put_nowait(None))
    try:
        while (event := await news.get()) is not None:
            yield event
        for task in tasks:
            task.result()  # a mistake of ours is not swallowed
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ended(
    planned: Planned,
    hub: Hub,
    turn: asyncio.Semaphore,
    deadline: float | None,
    finish: Finish,
    tell: Callable[[CallEvent], None],
) -> CallEnded:
    began = time.monotonic()
    result = planned.result
    if result is None:
        assert planned.bound is not None
        bound = planned.bound
        async with turn:
            began = time.monotonic()
            tell(CallStarted(planned.call, bound.tool.id, bound.arguments))
            result = told_of_edit(planned, await _called(bound, hub, deadline, tell))
    seconds = time.monotonic() - began
    result = finish(planned, result)
    tool = planned.tool.id if planned.tool is not None else None
    return CallEnded(planned.call, tool, result, seconds, part_tokens(result))


async def _called(bound: BoundCall, hub: Hub, deadline: float | None, tell: Callable[[CallEvent], None]) -> ToolResult:
    def progress(done: float, total: float | None, message: str | None) -> None:
        tell(CallProgress(bound.call, bound.tool.id, done, total, message))

    try:
        async with asyncio.timeout_at(deadline):
            return await hub.run(bound, on_progress=progress)
    except TimeoutError:
        text = "The time for this run is up. Whether the call took effect is unknown."
        return failed(bound.call.id, "timed_out", text)
    except Exception as failure:
        # What a server does wrong is a result already. What arrives here (a server that has gone from the hub, a bug)
        # must not cost the other calls.
        why = str(failure) or type(failure).__name__
        return failed(bound.call.id, "protocol", f"The call failed: {why}")
