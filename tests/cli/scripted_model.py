"""A model on loopback that says what it is told to, one scenario a request, in the wire format that it is asked in."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from tests.cli.workplace import Workplace
from tests.support.wire.scenario import Ask, Say, Scenario
from tests.support.wire_servers import Script, WireServer
from toolbridge.model.vendors import VENDORS

ENOUGH_SECONDS = 20

KEYS = {each: "" for vendor in VENDORS.values() for each in (*vendor.key_variables, *vendor.base_variables)}
"""No key and no address of whoever runs the tests."""


def with_chaos(work: Workplace) -> Workplace:
    """A place with one server that has tools of all kinds, and with no settings of whoever runs the tests."""
    work.environment |= KEYS | {"TOOLBRIDGE_DATA_DIR": str(work.directory / "data"), "TOOLBRIDGE_MODEL": ""}
    work.configure(chaos=work.chaos(f"ledger={work.ledger}"))
    return work


def ledger(work: Workplace) -> list[str]:
    """The keys that were counted."""
    noted = [json.loads(each) for each in work.noted()]
    return [each["key"] for each in noted if each["event"] == "count"]


def says(text: str) -> Scenario:
    return Scenario("says", (Say(text),))


def calls(tool: str, /, id: str = "a1B2c3D4e", before: str = "", **arguments: Any) -> Scenario:
    """A call of a tool, spelt `server__tool`, with what is said before it."""
    said = (Say(before),) if before else ()
    return Scenario("calls", (*said, Ask(id, f"mcp__{tool}", arguments)), "calls")


class ScriptedModel(WireServer):
    """The scenarios are used up, but for the last one, which is said again and again."""

    def __init__(self, *scenarios: Scenario) -> None:
        super().__init__()
        self.scenarios = list(scenarios)
        self.is_stuck = threading.Event()
        """Set as soon as an answer that hangs has begun."""
        self._hang_after: int | None = None
        self._on = threading.Event()
        self.script = Script(pieces=self._pieces)

    def then(self, *scenarios: Scenario) -> None:
        self.scenarios = list(scenarios)

    def hang_after(self, events: int | None) -> None:
        """From now on an answer stops after so many of its events."""
        self.is_stuck.clear()
        self._hang_after = events

    def answer(self, path: str, headers: Mapping[str, str], text: bytes) -> tuple[int, str, bytes, bool]:
        if self.scenarios:
            scenario = self.scenarios.pop(0) if len(self.scenarios) > 1 else self.scenarios[0]
            self.script = Script(scenario, pieces=self._pieces)
        return super().answer(path, headers, text)

    def _pieces(self, body: bytes) -> Iterable[bytes]:
        if self._hang_after is None:
            yield body
            return
        events = body.split(b"\n\n")
        yield b"\n\n".join(events[: self._hang_after]) + b"\n\n"
        self.is_stuck.set()
        self._on.wait(ENOUGH_SECONDS)

    def __enter__(self) -> ScriptedModel:
        super().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._on.set()
        super().__exit__()


def at(model: ScriptedModel) -> tuple[str, ...]:
    """The options that lead there."""
    return ("--model", "m", "--base-url", model.url)
