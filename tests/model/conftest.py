"""What the tests of models share: async tests run in a loop of their own, and nothing may be left of them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

import pytest

from tests.model.faulty_server import FaultyServer
from tests.support.processes import no_tasks_left, nothing_left
from tests.support.wire_servers import WireServer
from toolbridge.model.vendors import VENDORS

TEST_SECONDS = 30.0
"""No test takes longer: a hang is a failure with a place."""


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

    with nothing_left(""):
        asyncio.run(story())
    return True


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, address or proxy of whoever runs the tests counts."""
    for row in VENDORS.values():
        for variable in (*row.key_variables, *row.base_variables):
            monkeypatch.delenv(variable, raising=False)
    for variable in ("OPENAI_API_VERSION", "AWS_REGION", "AWS_DEFAULT_REGION", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[WireServer]:
    with WireServer() as running:
        yield running


@pytest.fixture
def faulty() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running
