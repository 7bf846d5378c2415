"""What the tests of the doors share: a vendor's API on loopback, the garden's server, and a server of nasty tools."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.run.conftest import calls, says
from tests.servers.conftest import Events, chaos, events, ledger, own_cache, pytest_pyfunc_call, token
from tests.support.shared import SHARED, judge
from tests.support.wire.scenario import Scenario
from tests.support.wire_servers import WireServer
from toolbridge import ServerSpec
from toolbridge.frameworks.bridge import Offered

__all__ = ["calls", "chaos", "events", "ledger", "own_cache", "pytest_pyfunc_call", "says", "token"]

ROOT = Path(__file__).parents[2]
WATER, FIND, MAP = "mcp__garden__water", "mcp__garden__find_plants", "mcp__garden__draw_map"

GARDEN_TURNS = (
    calls((FIND, {"query": "rose"}), (WATER, {"bed": "Z9"}), (MAP, {})),
    calls((WATER, {"bed": "B2", "litres": 2}), start=3),
    says("B2 has been watered."),
)
"""A model that finds a plant, calls with a bed that is not there, wants a picture, and then does it right."""

REFUSAL = "\n".join([
    f"The call of {WATER} was not run: its arguments are not valid.",
    '- Argument bed: "Z9" is not one of "A1", "A2" or 10 other candidates.',
    "Correct the arguments and call again.",
])  # fmt: skip


@pytest.fixture
def wire() -> Any:
    with WireServer() as server:
        yield server


@pytest.fixture
def garden(token: str) -> ServerSpec:
    """The server of the examples, in a process of its own."""
    arguments = (str(ROOT / "examples" / "garden_server.py"),)
    return ServerSpec("garden", command=sys.executable, args=arguments, env={"TOOLBRIDGE_TEST_TOKEN": token})


# ── nasty tools ──────────────────────────────────────────────────────────────────────────────────────────────────

_TOLD = json.loads((Path(__file__).parent / "nasty.json").read_text(encoding="utf-8"))
_TOOLS = json.loads((ROOT / "examples" / "tools.json").read_text(encoding="utf-8"))["tools"]

NASTY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    name: (call["right"], call["wrong"]) for name, call in _TOLD["calls"].items()
}
"""For each tool what the server is to be sent, and a call that it refuses: those of the examples, and an odd one.

A name with a dot, optionals, a map, a free-form object, recursion, a union at the root, keys that are no words,
nothing at all, and keys that mean something else to whoever reads schemas or calls functions."""


@dataclass
class Nasty:
    """A server of nasty tools, in this process. It keeps what it was sent."""

    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    def server(self) -> Any:
        import mcp_types
        from mcp.server.lowlevel import Server

        private = {"name": "secret", "inputSchema": {"type": "object"}, "_meta": {"openai/visibility": "private"}}
        tools = [mcp_types.Tool.model_validate(each) for each in [*_TOOLS, _TOLD["tool"], private]]

        async def list_tools(*_: Any) -> mcp_types.ListToolsResult:
            return mcp_types.ListToolsResult(tools=tools)

        async def call_tool(_: Any, call: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
            self.sent.append((call.name, call.arguments or {}))
            return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=f"did {call.name}")])

        return Server("nasty", on_list_tools=list_tools, on_call_tool=call_tool)


@pytest.fixture
def nasty() -> Nasty:
    return Nasty()


def nasty_turns(offered: list[Offered]) -> tuple[Scenario, Scenario]:
    """A model that was shown these tools calls each of them once, and is done."""
    by_name = {each.tool.id.name: each for each in offered}
    written = [
        (by_name[name].name, by_name[name].ready.write_arguments(by_name[name].tool.id, arguments))
        for name, (arguments, _) in NASTY.items()
    ]
    return calls(*written), says("All done.")


def refused_by_the_vendor(provider: str, definitions: list[dict[str, Any]]) -> list[str]:
    """What the vendor would refuse; nothing where there is no judge at hand."""
    if not (SHARED / "judge" / "judge.py").is_file():
        return []
    return [each for definition in definitions for each in judge().violations(provider, definition)]


def was_cancelled(events: Events) -> bool:
    """Whether the misbehaving server was told that nobody waits any more."""
    return any(each["method"] == "notifications/cancelled" for each in events("received"))
