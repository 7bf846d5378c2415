"""What a test may leave behind: nothing. Processes, threads, file descriptors and tasks are counted before and after.

A process is found by what it inherits: every server a test starts carries the test's token in its environment, so that a
grandchild that was handed to init is still found. Beside that, whatever has this process among its ancestors counts.
Linux only (`/proc`).
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TOKEN = "TOOLBRIDGE_TEST_TOKEN"
"""The environment variable that marks the processes of a test."""
OURS = "of the test itself"
"""The token of processes that the test keeps and ends by itself: they do not count."""
SETTLE_SECONDS = 5.0
"""How long leftovers may take to go: the kernel and the event loop need a moment."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process, as `/proc` shows it."""

    pid: int
    parent: int
    state: str
    command: str
    token: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command or '?'}, {self.state})"


def processes() -> Iterator[Process]:
    """Every process that may be looked at."""
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            place = Path(entry.path)
            after = (place / "stat").read_text().rpartition(")")[2].split()
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            try:
                variables = (place / "environ").read_bytes().split(b"\0")
            except OSError:
                variables = []
            mark = f"{TOKEN}=".encode()
            token = next((each.removeprefix(mark).decode() for each in variables if each.startswith(mark)), "")
            yield Process(int(entry.name), int(after[1]), after[0], command, token)


def marked(token: str) -> list[Process]:
    """The living processes that carry the token. Without a token there are none: all others carry none either."""
    if not token:
        return []
    return [each for each in processes() if each.token == token and each.state != "Z" and each.pid != os.getpid()]


def descendants(pid: int | None = None) -> list[Process]:
    """The processes that come from this one, zombies included."""
    everyone = list(processes())
    family = {os.getpid() if pid is None else pid}
    found: list[Process] = []
    while new := [each for each in everyone if each.parent in family and each.pid not in family]:
        family |= {each.pid for each in new}
        found += new
    return found


def alive(pid: int) -> bool:
    """Whether there is such a process, and not only its zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(true: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits, with a limit."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.01)


async def eventually(true: Callable[[], bool], seconds: float = 5.0, what: str = "") -> None:
    """Waits inside an event loop, with a limit."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        await asyncio.sleep(0.01)


def descriptors() -> dict[int, str]:
    """The open file descriptors of this process, and what they are."""
    found: dict[int, str] = {}
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return {number: target for number, target in found.items() if target != f"/proc/{os.getpid()}/fd"}


@dataclass(frozen=True, slots=True)
class Belongings:
    """What this process had at a moment."""

    children: frozenset[int]
    threads: frozenset[int]
    files: frozenset[tuple[int, str]]

    @classmethod
    def now(cls) -> Belongings:
        return cls(
            frozenset(each.pid for each in descendants()),
            frozenset(each.ident or 0 for each in threading.enumerate()),
            frozenset(descriptors().items()),
        )


def leftovers(before: Belongings, token: str) -> list[str]:
    """What is there now and was not before, by name."""
    found = {str(each) for each in descendants() if each.pid not in before.children and each.token != OURS}
    found |= {f"{each}, marked" for each in marked(token)} if token else set()
    found |= {f"thread {each.name}" for each in threading.enumerate() if each.ident not in before.threads}
    found |= {
        f"file {number} ({target})" for number, target in descriptors().items() if (number, target) not in before.files
    }
    return sorted(found)


def end_all(found: list[Process]) -> None:
    for each in found:
        if each.token != OURS:
            with suppress(OSError):
                os.kill(each.pid, signal.SIGKILL)


@contextmanager
def nothing_left(token: str = "", seconds: float = SETTLE_SECONDS) -> Generator[None]:
    """Fails, with names, where something is left after `seconds`. Processes that are left are ended, so that one test
    that fails does not make the next one fail."""
    before = Belongings.now()
    try:
        yield
        end = time.monotonic() + seconds
        while left := leftovers(before, token):
            assert time.monotonic() < end, "left behind: " + "; ".join(left)
            time.sleep(0.01)
    except BaseException:
        gc.collect()  # what complains when it is collected complains in this test, and in no later one
        end_all([*marked(token), *(each for each in descendants() if each.pid not in before.children)])
        raise


async def no_tasks_left(seconds: float = SETTLE_SECONDS) -> None:
    """Fails, with names, where tasks run beside the one that asks."""
    end = time.monotonic() + seconds
    while left := [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]:
        assert time.monotonic() < end, f"tasks left behind: {left}"
        await asyncio.sleep(0.01)


@contextmanager
def within(seconds: float) -> Generator[None]:
    """Fails where the block takes longer."""
    start = time.monotonic()
    yield
    took = time.monotonic() - start
    assert took < seconds, f"took {took:.2f} s, allowed were {seconds} s"
