"""What the tests of stores share: async tests, a real Redis, and every kind of store under one fixture."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import no_tasks_left, nothing_left, wait_until
from toolbridge.store.store import Store, open_store

TEST_SECONDS = 60.0
"""No test takes longer: a hang is a failure with a place, not a pipeline that stops."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs coroutine functions. After one, no task, thread, process or file descriptor is left."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}

    async def story() -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await pyfuncitem.obj(**arguments)
        await no_tasks_left()

    with nothing_left():
        asyncio.run(story())
    return True


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere to keep conversations, opened as often as a test likes."""

    where: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def open(self, **options: Any) -> Store:
        return open_store(self.where, **{**self.options, **options})

    @property
    def arguments(self) -> list[str]:
        """For `writer.py`."""
        return [self.where, str(self.options.get("prefix", "toolbridge:"))]


@dataclass(frozen=True, slots=True)
class RedisServer:
    process: subprocess.Popen[bytes]
    directory: Path

    @property
    def url(self) -> str:
        return f"unix://{self.directory}/redis.sock"

    def stop(self) -> None:
        """By its id, and waited for."""
        self.process.kill()
        self.process.wait()


@contextmanager
def running_redis(directory: Path, *options: str) -> Generator[RedisServer]:
    """A Redis of the test's own, on a socket in the folder, ended by its id."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed (apt-get install redis-server)")
    socket = directory / "redis.sock"
    arguments = ["--port", "0", "--unixsocket", str(socket), "--dir", str(directory), "--save", "", *options]
    with (directory / "redis.log").open("wb") as log:
        process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server = RedisServer(process, directory)
    try:
        said = (directory / "redis.log").read_bytes
        wait_until(lambda: b"ready to accept" in said().lower() or process.poll() is not None, 20, "Redis starts")
        assert process.poll() is None, said().decode(errors="replace")
        yield server
    finally:
        server.stop()


@pytest.fixture
def redis_directory() -> Iterator[Path]:
    """A short path: a socket's has 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="redis-") as directory:
        yield Path(directory)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """The Redis of all tests that do it no harm; each has keys of its own."""
    with tempfile.TemporaryDirectory(prefix="redis-") as directory, running_redis(Path(directory)) as server:
        yield server


def _sqlite(request: pytest.FixtureRequest) -> Place:
    return Place(str(request.getfixturevalue("tmp_path") / "kept" / "conversations.db"))


def _memory(request: pytest.FixtureRequest) -> Place:
    return Place(":memory:")


def _redis(request: pytest.FixtureRequest) -> Place:
    return Place(request.getfixturevalue("redis_server").url, {"prefix": f"{uuid.uuid4().hex}:"})


PLACES: dict[str, Callable[[pytest.FixtureRequest], Place]] = {"sqlite": _sqlite, "redis": _redis, "memory": _memory}


@pytest.fixture(params=list(PLACES))
def anywhere(request: pytest.FixtureRequest) -> Place:
    """Every kind of store."""
    return PLACES[request.param](request)


@pytest.fixture(params=["sqlite", "redis"])
def shared(request: pytest.FixtureRequest) -> Place:
    """Those that more than one process or connection can use."""
    return PLACES[request.param](request)
