"""The short doors: one question, some servers, a model; what is opened for it is closed after it.

    async for event in chat("What is in bed B2?", "mcp.json", "gpt-5"): ...
    for event in chat_sync("What is in bed B2?", "mcp.json", "gpt-5"): ...

The sync form is the async one in a thread of its own, so that it works with and without an event loop around it.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, aclosing, suppress
from typing import Any

from toolbridge.model.find import get_model
from toolbridge.model.model import Model
from toolbridge.run.chat import Chat
from toolbridge.run.events import RunEvent
from toolbridge.servers.hub import Hub, connect
from toolbridge.servers.sync import SyncHub
from toolbridge.types import Message

WAITING_EVENTS = 1_000
"""Events that a reader who is slow may be behind, before the run waits for it."""


async def chat(question: str | Message, servers: Any, model: Model | str, **settings: Any) -> AsyncGenerator[RunEvent]:
    """Ask a model that may use the tools of the servers. The last event is `Done`, or `Paused`.

    `servers` is whatever `connect` takes, or a hub that is open; `model` a name, or a model. `settings` are those of
    `Chat`.
    """
    async with AsyncExitStack() as stack:
        hub = servers.hub if isinstance(servers, SyncHub) else servers
        if not isinstance(hub, Hub):
            hub = await stack.enter_async_context(connect(servers))
        found = get_model(model) if isinstance(model, str) else model
        if found is not model:
            stack.push_async_callback(found.close)
        async with aclosing(Chat(hub, found, **settings).say(question)) as events:
            async for event in events:
                yield event


def chat_sync(question: str | Message, servers: Any, model: Model | str, **settings: Any) -> Generator[RunEvent]:
    """The same without `await`. Leaving the loop early cancels what runs."""
    news: queue.Queue[RunEvent | BaseException | None] = queue.Queue(WAITING_EVENTS)
    stopping = threading.Event()
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        begun.append((asyncio.get_running_loop(), task))
        if stopping.is_set():
            return
        async with aclosing(chat(question, servers, model, **settings)) as events:
            async for event in events:
                await asyncio.to_thread(_put, news, event, stopping)

    def thread() -> None:
        end: BaseException | None = None
        try:
            asyncio.run(work())
        except BaseException as failure:
            end = failure
        _put(news, end, stopping)

    worker = threading.Thread(target=thread, name="toolbridge chat", daemon=True)
    worker.start()
    try:
        while (event := news.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event
    finally:
        stopping.set()
        for loop, task in begun:
            with suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(task.cancel)
        worker.join()


def _put(news: queue.Queue[Any], event: Any, stopping: threading.Event) -> None:
    """Hand over, unless nobody takes it any more."""
    while not stopping.is_set():
        try:
            news.put(event, timeout=0.1)
        except queue.Full:
            continue
        return
