"""The sync door: the same hub, run by a thread of its own, for programs without an event loop.

Every method waits for the hub's own; there is no second implementation. It may be used from any thread, also from one
in which an event loop runs.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from toolbridge.errors import ServerError
from toolbridge.failure import Failure
from toolbridge.servers.hub import Hub, connect
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import (
    BoundCall,
    Content,
    PromptMessage,
    ServerPrompt,
    ServerResource,
    Tool,
    ToolResult,
)

if TYPE_CHECKING:
    from toolbridge.lock import Lock
    from toolbridge.servers.calls import Progress
    from toolbridge.servers.status import ServerStatus

T = TypeVar("T")


def connect_sync(source: Any, **options: Any) -> SyncHub:
    """A hub for plain programs: `with connect_sync("mcp.json") as hub`. Takes what `connect` takes."""
    return SyncHub(connect(source, **options))


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """The thread's whole life. The loop is closed here: the caller may be in a thread that runs another."""
    try:
        loop.run_forever()
        loop.run_until_complete(_cancel_all())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _cancel_all() -> None:
    """End what is still waiting: whoever waits for it in another thread would wait for ever."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


class SyncHub:
    """A hub without `await`."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connect every server. Raises `ServerError` only for one that is `required`."""
        with self._lock:
            if self._thread is None or os.getpid() != self._process:
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="toolbridge hub", daemon=True)
                self._thread.start()
                atexit.register(self.close)  # a program that forgets to close leaves no process behind
        try:
            self._wait(self._hub.open())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End every connection, and the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None or os.getpid() != self._process:  # a forked child has no part in them
            return
        atexit.unregister(self.close)
        try:
            asyncio.run_coroutine_threadsafe(self._hub.close(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self._lock:  # what is handed in before the loop is given up is also seen to
            future = self._submitted(coroutine)
        try:
            return future.result()
        except CancelledError:
            raise ServerError(Failure("", "closed", "the hub was closed while it was at work")) from None
        except BaseException:
            future.cancel()  # Ctrl-C while waiting: the call is cancelled at the server too
            raise

    def _submitted(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        problem = None
        if self._loop is None:
            problem = "the hub is not open: use it in a `with` block, or call open()"
        elif os.getpid() != self._process:
            problem = "the hub was opened in another process, before a fork: open one here"
        elif threading.current_thread() is self._thread:
            problem = "a callback of the hub cannot wait for the hub: make it async and use `connect`, or use a thread"
        if problem is not None or self._loop is None:
            coroutine.close()
            raise RuntimeError(problem)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    @property
    def hub(self) -> Hub:
        """The hub itself: its methods may be called from any event loop."""
        return self._hub

    @property
    def specs(self) -> Mapping[str, ServerSpec]:
        return self._hub.specs

    @property
    def status(self) -> Mapping[str, ServerStatus]:
        return self._hub.status

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self._hub.tools

    @property
    def all_tools(self) -> tuple[Tool, ...]:
        return self._hub.all_tools

    @property
    def generation(self) -> int:
        return self._hub.generation

    def lock(self, folder: str | None = None) -> Lock:
        return self._hub.lock(folder)

    def refresh(self, server: str | None = None) -> None:
        self._wait(self._hub.refresh(server))

    def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str = "",
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> ToolResult:
        return self._wait(
            self._hub.call(server, tool, arguments, call_id=call_id, timeout=timeout, on_progress=on_progress)
        )

    def tools_for(self, provider: Any, strict: bool | None = None, **options: Any) -> list[dict[str, Any]]:
        return self._hub.tools_for(provider, strict, **options)

    def answer(self, response: Any, provider: Any = None, **options: Any) -> list[Any]:
        return self._wait(self._hub.answer(response, provider, **options))

    def run(self, bound: BoundCall, *, timeout: float | None = None, on_progress: Progress | None = None) -> ToolResult:
        return self._wait(self._hub.run(bound, timeout=timeout, on_progress=on_progress))

    def resources(self, server: str | None = None) -> list[ServerResource]:
        return self._wait(self._hub.resources(server))

    def read_resource(self, server: str, uri: str) -> tuple[Content, ...]:
        return self._wait(self._hub.read_resource(server, uri))

    def prompts(self, server: str | None = None) -> list[ServerPrompt]:
        return self._wait(self._hub.prompts(server))

    def get_prompt(self, server: str, name: str, arguments: Mapping[str, str] | None = None) -> list[PromptMessage]:
        return self._wait(self._hub.get_prompt(server, name, arguments))
