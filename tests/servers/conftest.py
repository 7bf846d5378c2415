"""What the tests of servers share: an async test is run in a loop of its own, and nothing may be left of it.

A coroutine function is a test here without any mark. After it, inside its loop, no task is left; after the loop, no
process, thread or file descriptor.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.servers.chaos.tools import TOOLS, read_ledger
from tests.support.http_servers import CHAOS, HttpServer
from tests.support.processes import TOKEN, no_tasks_left, nothing_left
from toolbridge import Hub, Limits, ServerSpec, Text, ToolResult, connect

importlib.import_module("toolbridge.servers.connection")  # loads the SDK now, and on no test's clock

TEST_SECONDS = 120.0
"""No test takes longer: a hang is a failure with a place, not a pipeline that stops."""

QUICK = Limits(connect=10, list=10, call=10, total=20)
"""Limits that no healthy server reaches and no test waits out."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs coroutine functions."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj) or pyfuncitem.get_closest_marker("anyio"):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}

    async def story() -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await pyfuncitem.obj(**arguments)
        await no_tasks_left()

    with nothing_left(str(pyfuncitem.funcargs.get("token", ""))):
        asyncio.run(story())
    return True


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listings and tokens of a test are kept in its own folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def token() -> str:
    """Marks the processes of one test."""
    return uuid.uuid4().hex


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


Events = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def events(ledger: Path) -> Events:
    """What happened at the misbehaving server, by kind."""
    return lambda kind: [each for each in read_ledger(ledger) if each["event"] == kind]


class Chaos(Protocol):
    """Makes the specification of a server that misbehaves as the words say."""

    def __call__(self, *words: str, name: str = "bad", limits: Limits = QUICK, **fields: Any) -> ServerSpec: ...


@pytest.fixture
def chaos(token: str, ledger: Path) -> Chaos:
    def make(*words: str, name: str = "bad", limits: Limits = QUICK, **fields: Any) -> ServerSpec:
        # Without site packages Python starts in 20 ms.
        arguments = ("-S", "-E", str(CHAOS / "stdio_server.py"), f"ledger={ledger}", *words)
        environment = {TOKEN: token, **fields.pop("env", {})}
        return ServerSpec(name, command=sys.executable, args=arguments, env=environment, limits=limits, **fields)

    return make


@pytest.fixture
def modern(token: str, ledger: Path) -> Chaos:
    """The same for a server of 2026-07-28."""

    def make(*words: str, name: str = "modern", limits: Limits = QUICK, **fields: Any) -> ServerSpec:
        arguments = (str(CHAOS / "modern_server.py"), str(ledger), *(words or ("stdio",)))
        return ServerSpec(name, command=sys.executable, args=arguments, env={TOKEN: token}, limits=limits, **fields)

    return make


@pytest.fixture
def healthy(token: str) -> ServerSpec:
    """A server that does nothing wrong."""
    arguments = ("-S", "-E", str(CHAOS / "stdio_server.py"))
    return ServerSpec("healthy", command=sys.executable, args=arguments, env={TOKEN: token}, limits=QUICK)


async def is_well(hub: Hub) -> None:
    """The healthy server lists what it offers, and answers."""
    assert [each.id.name for each in hub.tools if each.id.server == "healthy"] == [each["name"] for each in TOOLS]
    expected = ToolResult(call_id="7", content=(Text("still here"),))
    assert await hub.call("healthy", "echo", {"text": "still here"}, timeout=5, call_id="7") == expected
    assert hub.status["healthy"].state == "connected"


class Beside(Protocol):
    """Opens a hub of the servers and a healthy one, which is still well at the end."""

    def __call__(self, *specs: ServerSpec, **options: Any) -> AbstractAsyncContextManager[Hub]: ...


@pytest.fixture
def beside(healthy: ServerSpec) -> Beside:
    @asynccontextmanager
    async def open_hub(*specs: ServerSpec, **options: Any) -> AsyncGenerator[Hub]:
        async with connect([*specs, healthy], **options) as hub:
            await is_well(hub)
            yield hub
            await is_well(hub)

    return open_hub


@pytest.fixture
def http_server(ledger: Path) -> Iterator[Callable[..., HttpServer]]:
    """Starts misbehaving HTTP servers, which end with the test."""
    with ExitStack() as stack:

        def start(certificate: tuple[Path, Path] | None = None, **behaviour: Any) -> HttpServer:
            return stack.enter_context(HttpServer(ledger, behaviour, certificate))

        yield start


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not leave is ended after a quarter of a second instead of two."""
    monkeypatch.setattr("toolbridge.servers.process.GRACE_SECONDS", 0.25)
