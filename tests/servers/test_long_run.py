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
from contextlib import suppress
from pathlib import Path

import pytest

from tests.servers.conftest import Beside, Chaos, Events
from tests.support.processes import alive, descriptors
from toolbridge import Hub, Limits

CALLS = int(os.environ.get("TOOLBRIDGE_TEST_CALLS", "1500"))
LAPS = 5
WORKERS = 8
CALLS_A_KILL = 40
MEMORY_BYTES = 24 * 2**20
"""How much the process may have grown from the first lap to the last. What is kept per call would be seen in this."""


@pytest.fixture
def fast_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hours between two deaths of a real server are hundredths of a second here, and so are the pauses."""
    monkeypatch.setattr("toolbridge.servers.connection.FIRST_PAUSE_SECONDS", 0.005)
    monkeypatch.setattr("toolbridge.servers.connection.LONGEST_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr("toolbridge.servers.connection.STEADY_SECONDS", 0.01)


def resident() -> int:
    """The memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Day:
    """The calls of a day, what became of each, and the kills."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.outcomes: dict[str, str] = {}
        self.kills = 0
        self.refusals = 0
        self.dice = random.Random(20261116)

    async def kill_at_random(self) -> None:
        """Kills the server, on the average after so many calls: while it works, while it starts, while it idles."""
        while True:
            until = len(self.outcomes) + self.dice.randint(1, 2 * CALLS_A_KILL)
            while len(self.outcomes) < until:
                await asyncio.sleep(0.001)
            await asyncio.sleep(self.dice.choice((0, 0, self.dice.uniform(0, 0.08))))
            pid = self.hub.status["bad"].pid
            if pid is not None and alive(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1

    async def call_each(self, keys: list[str]) -> None:
        while keys:
            key = keys.pop()
            # Not sent is not done: the caller asks again, as callers do. Anything else is final.
            while (result := await self.hub.call("bad", "count", {"key": key})).failure == "unavailable":
                self.refusals += 1
                await asyncio.sleep(0.01)
            self.outcomes[key] = result.failure or ("error" if result.is_error else "done")


async def test_thousands_of_calls_to_a_server_that_is_killed_at_random_lose_and_double_nothing(
    chaos: Chaos, beside: Beside, events: Events, fast_clock: None
) -> None:
    first_lap: tuple[int, int] | None = None
    async with beside(chaos(limits=Limits(connect=20, list=20, call=20, total=40))) as hub:
        day = Day(hub)
        killer = asyncio.create_task(day.kill_at_random())
        for lap in range(LAPS):
            keys = [f"{lap}-{index}" for index in range(CALLS // LAPS)]
            await asyncio.gather(*(day.call_each(keys) for _ in range(WORKERS)))
            gc.collect()
            first_lap = first_lap or (resident(), len(descriptors()))
        killer.cancel()
        await asyncio.wait([killer])
        assert first_lap is not None
        grown, opened = resident() - first_lap[0], len(descriptors()) - first_lap[1]
        starts = len(events("start"))
    written = Counter(each["key"] for each in events("count"))
    legal = {"done": (1,), "outcome_unknown": (0, 1)}
    wrong = {key: (how, written[key]) for key, how in day.outcomes.items() if written[key] not in legal.get(how, ())}
    tally = Counter(day.outcomes.values())
    print(
        f"{len(day.outcomes)} calls, {day.kills} kills, {starts} starts, {dict(tally)}, {day.refusals} times not sent, "
        f"{grown / 2**20:.1f} MB grown, {opened:+} files"
    )
    assert wrong == {}
    assert set(written) <= set(day.outcomes)
    assert len(day.outcomes) == CALLS // LAPS * LAPS
    assert day.kills >= CALLS // CALLS_A_KILL / 3
    assert tally["done"] > len(day.outcomes) * 0.75
    assert grown < MEMORY_BYTES
    assert opened <= 8
