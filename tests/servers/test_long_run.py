"""A day in little: thousands of calls to a server that is killed at random, and a ledger that nobody can argue with.

A call that said it was done is in the ledger exactly once; one whose outcome is unknown at most once; one that was not
sent, never. Memory and descriptors at the end are what they were after the first lap. TOOLBRIDGE_TEST_CALLS=10000 runs the whole
day; without it the run is shorter.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.servers.conftest import Beside, Chaos, Events
from tests.support.http_servers import HttpServer
from tests.support.processes import alive, descriptors
from toolbridge import Hub, Limits, ServerSpec

CALLS = int(os.environ.get("TOOLBRIDGE_TEST_CALLS", "1500"))
LAPS = 5
WORKERS = 8
CALLS_A_BLOW = 40
PATIENT = Limits(connect=20, list=20, call=20, total=40)
MEMORY_BYTES = 24 * 2**20
"""How much the process may have grown from the first lap to the last. What is kept per call would be seen in this."""


@pytest.fixture
def fast_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hours between two deaths of a real server are hundredths of a second here, and so are the pauses."""
    monkeypatch.setattr("toolbridge.servers.recovery.FIRST_PAUSE_SECONDS", 0.005)
    monkeypatch.setattr("toolbridge.servers.recovery.LONGEST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr("toolbridge.servers.recovery.STEADY_SECONDS", 0.01)


def resident() -> int:
    """The memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Day:
    """The calls of a day, what became of each, and the blows."""

    def __init__(self, hub: Hub, blow: Callable[[], Awaitable[bool]]) -> None:
        self.hub = hub
        self.outcomes: dict[str, str] = {}
        self.blows = 0
        self.refusals = 0
        self.dice = random.Random(20261116)
        self._blow = blow

    async def strike_at_random(self) -> None:
        """A blow, on the average after so many calls: while the server works, while it starts, while it idles."""
        while True:
            until = len(self.outcomes) + self.dice.randint(1, 2 * CALLS_A_BLOW)
            while len(self.outcomes) < until:
                await asyncio.sleep(0.001)
            await asyncio.sleep(self.dice.choice((0, 0, self.dice.uniform(0, 0.08))))
            self.blows += await self._blow()

    async def call_each(self, keys: list[str]) -> None:
        while keys:
            key = keys.pop()
            # Not sent is not done: the caller asks again, as callers do. Anything else is final.
            while (result := await self.hub.call("bad", "count", {"key": key})).failure == "unavailable":
                self.refusals += 1
                await asyncio.sleep(0.01)
            self.outcomes[key] = result.failure or ("error" if result.is_error else "done")

    async def live(self, calls: int) -> tuple[int, int]:
        """All calls, in laps; how much memory and how many descriptors came with the laps after the first."""
        striker = asyncio.create_task(self.strike_at_random())
        first_lap: tuple[int, int] | None = None
        for lap in range(LAPS):
            keys = [f"{lap}-{index}" for index in range(calls // LAPS)]
            await asyncio.gather(*(self.call_each(keys) for _ in range(WORKERS)))
            gc.collect()
            first_lap = first_lap or (resident(), len(descriptors()))
        striker.cancel()
        await asyncio.wait([striker])
        assert first_lap is not None
        return resident() - first_lap[0], len(descriptors()) - first_lap[1]

    def judge(self, calls: int, written: Counter[str]) -> None:
        """A call that is done was run once; one whose outcome is unknown at most once; nothing else was run."""
        legal = {"done": (1,), "outcome_unknown": (0, 1)}
        wrong = {
            key: (how, written[key]) for key, how in self.outcomes.items() if written[key] not in legal.get(how, ())
        }
        assert wrong == {}
        assert set(written) <= set(self.outcomes)
        assert len(self.outcomes) == calls // LAPS * LAPS
        assert self.blows >= calls // CALLS_A_BLOW / 6
        assert Counter(self.outcomes.values())["done"] > len(self.outcomes) * 0.75


async def test_thousands_of_calls_to_a_server_that_is_killed_at_random_lose_and_double_nothing(
    chaos: Chaos, beside: Beside, events: Events, fast_clock: None
) -> None:
    async def kill() -> bool:
        pid = hub.status["bad"].pid
        if pid is None or not alive(pid):
            return False
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return True

    async with beside(chaos(limits=PATIENT)) as hub:
        day = Day(hub, kill)
        grown, opened = await day.live(CALLS)
    print(
        f"{len(day.outcomes)} calls, {day.blows} kills, {dict(Counter(day.outcomes.values()))}, "
        f"{day.refusals} times not sent, {grown / 2**20:.1f} MB grown, {opened:+} files"
    )
    day.judge(CALLS, Counter(each["key"] for each in events("count")))
    assert grown < MEMORY_BYTES
    assert opened <= 8


async def test_a_server_over_http_that_is_killed_or_forgets_at_random_loses_and_doubles_nothing(
    http_server: Callable[..., HttpServer], beside: Beside, fast_clock: None
) -> None:
    server = http_server()
    dice = random.Random(7)

    async def strike() -> bool:
        if dice.random() < 0.5:
            await asyncio.to_thread(server.restart)
        else:
            await asyncio.to_thread(server.tell, forget=True)
        return True

    async with beside(ServerSpec("bad", "http", url=server.url(), limits=PATIENT)) as hub:
        day = Day(hub, strike)
        grown, opened = await day.live(CALLS // 3)
    print(
        f"over http: {day.blows} blows, {dict(Counter(day.outcomes.values()))}, {grown / 2**20:.1f} MB, {opened:+} files"
    )
    day.judge(CALLS // 3, Counter(each["key"] for each in server.events("count")))
    assert grown < MEMORY_BYTES
    assert opened <= 40
