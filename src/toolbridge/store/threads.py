"""Threads that a store works in, so that no event loop waits for a disk or a socket, and none owns a connection.

A pool of threads belongs to no loop: a store is used from as many as there are, one after the other or at once, which
the connections of an async client are not. JSON is read and written here too: ten megabytes take a tenth of a second.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """Started with the first piece of work, gone after `end`, and started again by the next."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0
        self._lock = threading.Lock()  # for moments only: nothing is waited for while it is held

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns. Cancelled, work that has not begun is never done; other work is finished unseen."""
        with self._lock:
            if self._pool is None or self._process != os.getpid():  # a fork has the pool and not its threads
                self._pool = ThreadPoolExecutor(self._most, thread_name_prefix="toolbridge-store")
                self._process = os.getpid()
            future = self._pool.submit(work)
        return await asyncio.wrap_future(future)

    async def end(self, last: Callable[[], None]) -> None:
        """Do this after all other work, and let the threads go. Without any threads there is nothing to undo."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is None or self._process != os.getpid():
            return
        if self._most == 1:
            future = pool.submit(last)
            pool.shutdown(wait=False)
            await asyncio.wrap_future(future)
        else:
            pool.shutdown(wait=False)
            await asyncio.to_thread(_after, pool, last)


def _after(pool: ThreadPoolExecutor, last: Callable[[], None]) -> None:
    pool.shutdown(wait=True)
    last()
