"""A wire server that answers one thing after the other, as a model does in a conversation with calls.

It also answers at Azure's addresses, which DIAL has: `/openai/deployments/{name}/chat/completions`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from tests.support.wire.scenario import Ask, Say, Scenario
from tests.support.wire_servers import Script, WireServer, pieces_of

DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)/chat/completions(\?.*)?")


class ScriptedServer(WireServer):
    """Answers with what `then` was given, in its order; the last of it for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[str] = []
        """The addresses that were asked, as they were."""
        self._next: list[Script] = []
        self._lock = threading.Lock()

    def then(self, *answers: Scenario | bytes) -> None:
        """What it answers from now on."""
        self._next = [
            Script(raw=each) if isinstance(each, bytes) else Script(each, pieces=pieces_of(None)) for each in answers
        ]

    def answer(self, path: str, headers: Mapping[str, str], text: bytes) -> tuple[int, str, bytes, bool]:
        with self._lock:
            self.paths.append(path)
            if self._next:
                self.script = self._next.pop(0)
            return super().answer(DEPLOYMENT.sub("/v1/chat/completions", path), headers, text)

    @property
    def messages(self) -> list[list[dict[str, Any]]]:
        """The messages of every request."""
        return [request.body["messages"] for request in self.requests]


def says(text: str) -> Scenario:
    return Scenario("says", (Say(text),))


def asks(*asks: Ask, text: str = "") -> Scenario:
    """Calls, after some words where there are any."""
    return Scenario("asks", (*((Say(text),) if text else ()), *asks), "calls")
