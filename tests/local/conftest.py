"""What the tests of the built-in model share: an async test runs in a loop of its own; the real weights, once."""

from __future__ import annotations

import asyncio
import inspect
from importlib.util import find_spec
from pathlib import Path

import pytest

from toolbridge.errors import ModelError
from toolbridge.servers.catalog import default_directory

TEST_SECONDS = 60.0

CACHE = default_directory()
"""The user's own, before the tests get one of their own: what is fetched there is fetched once."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs coroutine functions."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}

    async def story() -> None:
        async with asyncio.timeout(TEST_SECONDS):
            await pyfuncitem.obj(**arguments)

    asyncio.run(story())
    return True


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The real weights of the smallest model, in the user's own cache, where the next run finds them."""
    from toolbridge.local.pull import pull

    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    try:
        return pull("smollm2", directory=None if CACHE is None else CACHE / "models")
    except ModelError as failure:
        pytest.skip(f"no weights: {failure}")
