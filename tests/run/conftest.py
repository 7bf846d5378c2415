"""What the tests of the loop share: a scripted model over real HTTP, and the misbehaving servers of `tests/servers`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from tests.servers.conftest import chaos, events, healthy, ledger, own_cache, pytest_pyfunc_call, token
from tests.store.conftest import redis_server
from tests.support.wire.scenario import Ask, Said, Say, Scenario
from tests.support.wire_servers import WireServer
from toolbridge import Done, Model, RunEvent, TextDelta, get_model

__all__ = ["chaos", "events", "healthy", "ledger", "own_cache", "pytest_pyfunc_call", "redis_server", "token"]


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


def model_at(wire: WireServer, provider: str = "openai-chat") -> Model:
    return get_model("scripted", provider=provider, base_url=wire.url, api_key="k-e-y")


@pytest.fixture
def model(wire: WireServer) -> Model:
    return model_at(wire)


def says(text: str) -> Scenario:
    """The model's last word."""
    return Scenario("says", (Say(text),))


def calls(*wanted: tuple[str, dict[str, Any]], say: str = "", start: int = 0) -> Scenario:
    """The model calls tools. Each call of a conversation has an id of its own."""
    said: tuple[Said, ...] = (Say(say),) if say else ()
    asks = (Ask(f"call{start + i:05d}", name, arguments) for i, (name, arguments) in enumerate(wanted))
    return Scenario("calls", (*said, *asks), "calls")


async def collected(run: AsyncGenerator[RunEvent]) -> list[RunEvent]:
    """All events of a run, without the pieces of its text."""
    return [event async for event in run if not isinstance(event, TextDelta)]


def last(told: list[RunEvent]) -> Done:
    assert isinstance(told[-1], Done)
    return told[-1]
