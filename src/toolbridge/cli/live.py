"""Live commands: those that talk to servers. An event loop, what Ctrl-C means at each moment, and nothing left behind.

Before the loop runs nothing was started, so an interrupt leaves at once. While it runs, the first interrupt cancels the
work, which tells the server, and then closes the hub, which ends the processes; the second one leaves at once, and the
hub's guardian ends the processes. After it, again, nothing is left to lose. No moment is met with a traceback.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from toolbridge.cli import INTERRUPTED
from toolbridge.errors import ToolbridgeError

if TYPE_CHECKING:
    from toolbridge.servers.hub import Hub

T = TypeVar("T")


class _Interrupts:
    """What SIGINT does at the moment."""

    def __init__(self) -> None:
        self.count = 0
        self.cancel: Callable[[], object] | None = None

    def __call__(self, *_: object) -> None:
        self.count += 1
        if self.cancel is None or self.count > 1:
            os._exit(INTERRUPTED)
        self.cancel()


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the work in an event loop of its own. What it raises is raised; an interrupt is a `KeyboardInterrupt`.

    What the servers need is imported here, before the loop: until then an interrupt has nothing to clean up.
    """
    import signal

    interrupts = _Interrupts()
    with suppress(ValueError):  # not in the main thread: whoever is there deals with interrupts
        signal.signal(signal.SIGINT, interrupts)
    _load()
    import asyncio

    loop = asyncio.new_event_loop()
    try:
        loop.set_default_executor(_daemons())
        task = loop.create_task(work())
        interrupts.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            _finish(loop)
            if interrupts.count:
                raise KeyboardInterrupt
    finally:
        interrupts.cancel = None
        loop.close()


def _load() -> None:
    try:
        import_module("toolbridge.servers.connection")  # the SDK with it, while nothing was started yet
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in (
            "mcp",
            "mcp_types",
            "anyio",
            "httpx2",
            "pydantic",
        ):
            raise
        raise ToolbridgeError(
            f"the package {missing.name.partition('.')[0]} is not installed; reinstall toolbridge"
        ) from None
    import logging

    # What the SDK logs has been told by the hub, in words; the lines of a library are no answer to anybody.
    logging.getLogger().addHandler(logging.NullHandler())


def _finish(loop: Any) -> None:
    """Cancel what is left and let it end."""
    import asyncio

    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=5))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _daemons() -> Any:
    """Threads for what blocks, such as looking up a host: none of them may keep us from leaving."""
    from concurrent.futures import Future, ThreadPoolExecutor
    from threading import Thread

    class Daemons(ThreadPoolExecutor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()

            def job() -> None:
                if not future.set_running_or_notify_cancel():
                    return
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as failure:
                    future.set_exception(failure)

            Thread(target=job, daemon=True).start()
            return future

    return Daemons(1)


@asynccontextmanager
async def closing(hub: Hub) -> AsyncGenerator[Hub]:
    """Close the hub at the end, which no interrupt cuts short: it takes a bounded time."""
    try:
        yield hub
    finally:
        await _closed(hub)


async def _closed(hub: Hub) -> None:
    import asyncio

    closing = asyncio.ensure_future(hub.close())
    cancelled = False
    while not closing.done():
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            cancelled = True
        except Exception:
            break
    if closing.done() and not closing.cancelled() and closing.exception() is not None:
        raise closing.exception() or AssertionError
    if cancelled:
        raise asyncio.CancelledError
