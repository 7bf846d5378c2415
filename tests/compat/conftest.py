"""What the contract tests share: a server that speaks as the models do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.scripted import ScriptedServer


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    with server:
        yield server
