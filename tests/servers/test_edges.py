"""What a user's own code does to a hub, and what only sounds like a reason to send a call again."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.servers.conftest import QUICK, Beside, Chaos, Events
from tests.support.http_servers import HttpServer
from tests.support.processes import eventually, within
from toolbridge import (
    BoundCall,
    Callbacks,
    ConfigError,
    MCPToolFilter,
    ServerError,
    ServerSpec,
    Text,
    ToolCall,
    connect,
    connect_sync,
)
from toolbridge.servers.mend import ENTRY, STRUCTURED, mended
from toolbridge.servers.paging import all_pages

SECRET = "sk-dynamic-9f8e7d6c5b4a"


def at(server: HttpServer, **fields: Any) -> ServerSpec:
    return ServerSpec("bad", "http", url=server.url(), limits=QUICK, **fields)


COMPLAINTS = [
    (404, "no such record"),
    (400, "browser session closed after the click"),
    (503, "payment session expired, the order stands"),
]


@pytest.mark.parametrize(("status", "words"), COMPLAINTS)
async def test_a_refusal_that_answers_the_call_itself_is_its_answer_and_nothing_runs_twice(
    status: int, words: str, http_server: Any, beside: Beside
) -> None:
    server = http_server(complain={"tools/call": [status, words]})
    async with beside(at(server)) as hub:
        result = await hub.call("bad", "count", {"key": "once"})
        assert (result.is_error, server.counted("once")) == (True, 1)
        assert words in result.text or result.failure == "outcome_unknown"
        assert "Not called" not in result.text


async def test_a_function_for_headers_that_raises_costs_one_call_which_was_not_sent(
    http_server: Any, beside: Beside
) -> None:
    server = http_server()
    broken = False

    def headers(name: str) -> dict[str, str]:
        if broken:
            raise LookupError("no token for you")
        return {"X-User": name}

    async with beside(at(server, headers_from=headers)) as hub:
        broken = True
        result = await hub.call("bad", "count", {"key": "one"})
        assert (result.failure, server.counted("one")) == ("unavailable", 0)
        assert "the function for its headers raised LookupError: no token for you" in result.text
        broken = False
        assert (await hub.call("bad", "count", {"key": "two"})).text == "counted two"


async def test_a_secret_that_only_a_function_knows_is_not_told_either(http_server: Any, beside: Beside) -> None:
    server = http_server(complain={"tools/call": [400, f"bad token: Bearer {SECRET}"]})
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with beside(at(server, headers_from=lambda name: headers)) as hub:
        result = await hub.call("bad", "count", {"key": "one"})
        assert "bad token" in result.text
        assert SECRET not in f"{result!r} {hub.status!r}"


async def test_a_secret_is_not_in_the_traceback_of_a_log(
    http_server: Any, beside: Beside, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = http_server(status={"*": [500, "text"]})
    spec = ServerSpec("bad", "sse", url=f"{server.url('/sse')}?api_key={SECRET}", limits=QUICK)
    async with beside(spec) as hub:
        assert hub.status["bad"].failure is not None
        assert SECRET not in f"{hub.status!r}"
    assert SECRET not in caplog.text


async def test_a_callback_that_raises_costs_nothing(
    chaos: Chaos, beside: Beside, caplog: pytest.LogCaptureFixture
) -> None:
    def changed(server: str) -> None:
        raise ValueError("my own mistake")

    async with beside(chaos(), callbacks=Callbacks(changed=changed)) as hub:
        await hub.call("bad", "change", {"text": "late"})
        await eventually(lambda: "my own mistake" in caplog.text, 5, "the log")
        assert hub.status["bad"].state == "connected"


async def test_a_configuration_with_one_mistaken_server_serves_the_others(chaos: Chaos, tmp_path: Path) -> None:
    good = chaos()
    entry = {"command": good.command, "args": [*good.args], "env": dict(good.env)}
    mistaken = {"command": "x", "env": {"KEY": "${TOOLBRIDGE_NOT_SET}"}}
    async with connect({"mcpServers": {"good": entry, "mistaken": mistaken}}) as hub:
        assert (await hub.call("good", "echo", {"text": "hi"})).content == (Text("hi"),)
        failure = hub.status["mistaken"].failure
        assert failure is not None
        assert (failure.cause, "env.KEY" in failure.message, "TOOLBRIDGE_NOT_SET" in failure.message) == (
            "config", True, True,
        )  # fmt: skip
        result = await hub.call("mistaken", "echo")
        assert (result.failure, "TOOLBRIDGE_NOT_SET" in result.text) == ("unavailable", True)
    for refused in ({"mistaken": mistaken}, {"good": entry, "mistaken": {**mistaken, "required": True}}):
        with pytest.raises(ConfigError, match="TOOLBRIDGE_NOT_SET"):
            connect({"mcpServers": refused})
    with pytest.raises(ConfigError, match="TOOLBRIDGE_NOT_SET"):
        connect({"mcpServers": {"good": entry, "mistaken": mistaken}}, servers=["mistaken"])


async def test_a_time_limit_also_holds_for_a_call_that_waits_its_turn(chaos: Chaos, beside: Beside) -> None:
    from dataclasses import replace

    spec = replace(chaos(), limits=replace(QUICK, concurrency=1, call=3))
    async with beside(spec) as hub:
        first = asyncio.create_task(hub.call("bad", "hang", {}))
        await eventually(lambda: bool(hub._connections["bad"].pending), 5, "the first call")
        with within(2):
            result = await hub.call("bad", "echo", {"text": "second"}, timeout=0.3)
        assert (result.failure, "busy" in result.text) == ("unavailable", True)
        first.cancel()
        await asyncio.wait([first])


async def test_a_system_that_cannot_ask_for_a_death_still_calls(
    chaos: Chaos, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "waitid")
    async with beside(chaos()) as hub:
        assert (await hub.call("bad", "echo", {"text": "hi"})).content == (Text("hi"),)


def test_a_callback_that_waits_for_the_hub_it_is_called_by_is_told_so(chaos: Chaos) -> None:
    found: list[str] = []
    with connect_sync([chaos()]) as hub:

        def progressed(*_: Any) -> None:
            try:
                hub.call("bad", "echo", {"text": "inner"})
            except RuntimeError as error:
                found.append(str(error))

        hub.call("bad", "work", {"number": 1}, on_progress=progressed)
    assert found[:1] == [
        "a callback of the hub cannot wait for the hub: make it async and use `connect`, or use a thread"
    ]


def test_threads_that_call_while_the_hub_closes_all_come_back(chaos: Chaos) -> None:
    hub = connect_sync([chaos()])
    hub.open()
    ended: list[str] = []

    def call() -> None:
        try:
            ended.append(str(hub.call("bad", "echo", {"text": "hi"}).failure))
        except (RuntimeError, ServerError) as error:
            ended.append(type(error).__name__)

    threads = [threading.Thread(target=call) for _ in range(100)]
    for thread in threads:
        thread.start()
    hub.close()
    for thread in threads:
        thread.join(10)
    assert (len(ended), [each for each in threads if each.is_alive()]) == (100, [])


def test_a_forked_child_leaves_the_hub_of_its_parent_alone(chaos: Chaos) -> None:
    spec = chaos()
    program = (
        "import os, sys\n"
        "from toolbridge import connect_sync, ServerSpec\n"
        f"hub = connect_sync([ServerSpec('bad', command={spec.command!r}, args={spec.args!r}, env={dict(spec.env)!r})])\n"
        "hub.open()\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        hub.call('bad', 'echo', {'text': 'child'})\n"
        "    except RuntimeError as error:\n"
        "        print(error, flush=True)\n"
        "    sys.exit()\n"
        "os.wait()\n"
        "print(hub.call('bad', 'echo', {'text': 'parent'}).text, flush=True)\n"
        "hub.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (
        0, "the hub was opened in another process, before a fork: open one here\nparent\n",
    )  # fmt: skip


def test_a_name_with_brackets_is_a_name_too_and_one_name_is_no_list() -> None:
    assert not MCPToolFilter(exclude=["drop[all]"]).accepts("drop[all]")
    with pytest.raises(TypeError, match="put it into a list"):
        MCPToolFilter(include="read_file")


def test_an_address_is_a_source() -> None:
    assert list(connect("https://mcp.example.org/mcp").specs) == ["mcp.example.org"]
    with pytest.raises(ConfigError, match="expected an address such as"):
        connect(ServerSpec("web", "http", url="localhost:8000/mcp"))


def test_what_is_legal_is_not_mended_and_what_is_not_travels_along() -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCResponse

    legal = {"name": "a", "inputSchema": {"type": "object"}}
    odd = {"name": "b", "inputSchema": {"anyOf": [{"type": "object"}]}}
    misspelt = {**legal, "annotations": {"readOnly": True}}  # the SDK's models would drop it
    listed = [legal, odd, "no tool", misspelt]
    listing = JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": listed, "nextCursor": None})
    tools = mended(SessionMessage(listing)).message.result["tools"]  # pyright: ignore[reportAttributeAccessIssue]
    assert tools == [
        {"name": "a", "inputSchema": {"type": "object"}},
        {"name": "b", "inputSchema": {"type": "object"}, "_meta": {ENTRY: odd}},
        {"name": "", "inputSchema": {"type": "object"}, "_meta": {ENTRY: "no tool"}},
        {"name": "a", "inputSchema": {"type": "object"}, "_meta": {ENTRY: misspelt}},
    ]
    answer: dict[str, Any] = {
        "content": [{"type": "text"}, "plain", {"type": "hologram", "x": 1}],
        "structuredContent": [1],
    }
    result = mended(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result=answer))).message.result  # pyright: ignore[reportAttributeAccessIssue]
    assert result == {
        "content": [
            {"type": "text", "text": ""},
            {"type": "text", "text": "plain"},
            {"type": "text", "text": '{"type": "hologram", "x": 1}'},
        ],
        "_meta": {STRUCTURED: [1]},
        "resultType": "complete",
    }


async def test_a_server_that_announces_a_change_with_each_listing_is_not_listed_for_ever(
    chaos: Chaos, beside: Beside, events: Events
) -> None:
    async with beside(chaos("storm")) as hub:
        await eventually(lambda: len(events("list")) >= 2, 10, "a second listing")
        assert (await hub.call("bad", "echo", {"text": "hi"})).content == (Text("hi"),)
        assert len(events("list")) < 8


async def test_what_models_may_not_see_is_refused_again_when_they_call_it() -> None:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("app")
    for name, meta in (
        ("open", {}),
        ("private", {"openai/visibility": "private"}),
        ("widget", {"ui": {"visibility": ["app"]}}),
        ("both", {"ui": {"visibility": ["app", "model"]}}),
        ("excluded", {}),
    ):
        server.tool(name=name, meta=meta)(lambda: "done")
    async with connect({"app": server}, filter=MCPToolFilter(exclude=["exc*"])) as hub:
        assert [tool.id.name for tool in hub.tools] == ["open", "both"]
        assert [tool.id.name for tool in hub.all_tools] == ["open", "private", "widget", "both"]
        called = {name: (await hub.call("app", name)).failure for name in ("open", "private", "widget", "excluded")}
        assert called == {"open": None, "private": None, "widget": None, "excluded": "refused"}
        run = {
            tool.id.name: (await hub.run(BoundCall(ToolCall("1", "x", "{}", {}), tool, {}))).failure
            for tool in hub.all_tools
        }
        assert run == {"open": None, "private": "refused", "widget": "refused", "both": None}


async def test_a_listing_ends_where_a_cursor_comes_back_or_there_is_no_end() -> None:
    asked: list[str | None] = []

    async def same(cursor: str | None) -> tuple[list[int], str | None]:
        asked.append(cursor)
        return [len(asked)], "again"

    found = await all_pages(same)
    assert (found.entries, asked) == ([1, 2], [None, "again"])
    assert found.problem is not None

    async def endless(cursor: str | None) -> tuple[list[int], str | None]:
        return [0], str(int(cursor or 0) + 1)

    cut = await all_pages(endless)
    assert (len(cut.entries), "1,000 pages" in (cut.problem or "")) == (1000, True)
