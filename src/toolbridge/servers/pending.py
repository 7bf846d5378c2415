"""A call under way, and the clock it runs against."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from mcp import Client


class PendingCall:
    """A call under way: its time limit, which a sign of life moves, and which stands still while a person is asked."""

    __slots__ = ("_idle", "_last", "client", "scope")

    def __init__(self, client: Client, idle: float, total: float) -> None:
        now = anyio.current_time()
        self.client = client
        self._idle = idle
        self._last = now + total
        self.scope = anyio.CancelScope(deadline=min(now + idle, self._last))

    def extend(self) -> None:
        self.scope.deadline = min(anyio.current_time() + self._idle, self._last)

    def is_late(self) -> bool:
        """Whether its time is over."""
        return anyio.current_time() >= self.scope.deadline

    def pause(self) -> None:
        self.scope.deadline = math.inf


def off_the_clock(callback: Callable[..., Any], pending: Iterable[PendingCall]) -> Callable[..., Any]:
    """The callback, with the clocks of these calls stopped while a person answers."""

    async def asked(*arguments: Any) -> Any:
        for each in pending:
            each.pause()
        try:
            return await callback(*arguments)
        finally:
            for each in pending:
                each.extend()

    return asked


async def hold_clocks(
    asked: Callable[[], bool], deadline: anyio.CancelScope, seconds: float, pending: Iterable[PendingCall]
) -> None:
    """Stop the clocks while a person logs in, which has a limit of its own."""
    while True:
        if asked():
            deadline.deadline = max(deadline.deadline, anyio.current_time() + seconds)
            for each in pending:
                each.extend()
        await asyncio.sleep(1)
