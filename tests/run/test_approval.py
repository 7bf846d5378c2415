"""Whose word a call needs, what becomes of it, and a run that waits for it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.run.conftest import calls, collected, last, says
from tests.servers.conftest import Chaos, Events
from tests.support.wire_servers import WireServer
from toolbridge import (
    Approval,
    Asked,
    CallEnded,
    Chat,
    Decision,
    Model,
    Paused,
    PauseError,
    RunLimits,
    ServerSpec,
    Tool,
    ToolHints,
    ToolId,
    ToolResult,
    chat,
    connect,
    open_store,
)
from toolbridge.run.policy import why_asked
from toolbridge.run.toolbox import Toolbox

COUNT = "mcp__bad__count"
READS = ToolHints(read_only_hint=True)
ADDS = ToolHints(destructive_hint=False)
UNSAID = "it may change or delete things: its server does not say otherwise"


def spec(approval: Approval | None = None, trust: bool = False) -> ServerSpec:
    return ServerSpec("s", command="x", approval=approval, trust=trust)


@pytest.mark.parametrize(
    ("hints", "operator", "host", "why"),
    [
        (ToolHints(), spec(), Approval(), UNSAID),
        (READS, spec(), Approval(), "its server says that it only reads, but is not trusted"),
        (READS, spec(trust=True), Approval(), None),
        (READS, spec(), Approval(never_read_only=True), None),
        (ToolHints(), spec(), Approval(never_read_only=True), UNSAID),
        (ToolHints(), spec(trust=True), Approval(), UNSAID),
        (ADDS, spec(), Approval(), "it changes things"),
        (ToolHints(destructive_hint=True), spec(), Approval(), "it may delete or overwrite things"),
        (ToolHints(), spec(), Approval("never"), None),
        (ToolHints(), spec(), Approval("never", always=("drop",)), "the settings ask about this tool"),
        (ToolHints(), spec(), Approval("never", always=("s/d*",)), "the settings ask about this tool"),
        (ToolHints(), spec(), Approval("always", never=("drop",)), None),
        (ToolHints(), spec(), Approval("always", never=("other",)), UNSAID),
        (READS, spec(trust=True), Approval("always", always=("drop",)), "the settings ask about this tool"),
        # What the operator of the server says counts for that server, whatever the host says.
        (ToolHints(), spec(Approval("always")), Approval("never"), UNSAID),
        (ToolHints(), spec(Approval("never")), Approval("always"), None),
        (ToolHints(), None, Approval(), UNSAID),
    ],
)
def test_the_settings_decide_who_is_asked(
    hints: ToolHints, operator: ServerSpec | None, host: Approval, why: str | None
) -> None:
    assert why_asked(Tool(ToolId("s", "drop"), "", {}, hints=hints), operator, host) == why


def ended(told: list[Any]) -> list[ToolResult]:
    return [each.result for each in told if isinstance(each, CallEnded)]


async def test_a_call_that_is_allowed_runs_with_what_was_shown(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"})), says("counted"))
    shown: list[Asked] = []

    def ask(asked: Asked) -> bool:
        assert events("count") == []
        shown.append(asked)
        return True

    done = last(await collected(chat("Go", [chaos()], model, ask=ask)))
    assert done.text == "counted"
    assert [(each.tool, each.arguments, each.why) for each in shown] == [(ToolId("bad", "count"), {"key": "a"}, UNSAID)]
    assert [each["key"] for each in events("count")] == ["a"]
    await model.close()


async def test_a_call_that_is_not_allowed_is_not_run_and_the_model_is_told_why(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"}), ("mcp__bad__echo", {"text": "hi"})), says("Then not."))

    async def ask(asked: Asked) -> Decision:
        return Decision(asked.tool.name == "echo", "not on a Sunday")

    told = await collected(chat("Go", [chaos()], model, ask=ask))
    refused = next(each for each in ended(told) if each.is_error)
    assert (refused.failure, events("count")) == ("refused", [])
    assert refused.text.startswith("The user did not allow this call: not on a Sunday\n")
    assert sorted(each.text for each in ended(told) if not each.is_error) == ["hi"]
    assert last(told).text == "Then not."
    await model.close()


async def test_arguments_that_a_person_changed_are_checked_used_and_told_to_the_model(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"}), (COUNT, {"key": "b"})), says("I see."))
    words = iter([Decision(True, arguments={"key": "better"}), Decision(True, arguments={"kee": 1})])
    told = await collected(chat("Go", [chaos()], model, ask=lambda _: next(words)))
    assert [each["key"] for each in events("count")] == ["better"]
    good = next(each for each in ended(told) if not each.is_error)
    bad = next(each for each in ended(told) if each.is_error)
    assert good.text == '(The user changed the arguments to {"key": "better"}.)\ncounted better'
    assert "not valid" in bad.text
    await model.close()


async def test_a_call_that_is_not_understood_is_not_asked_about(wire: WireServer, chaos: Chaos, model: Model) -> None:
    wire.says_in_turn(calls((COUNT, {"kee": "a"})), says("Sorry."))

    def ask(asked: Asked) -> bool:
        raise AssertionError("nobody is to be asked about this")

    told = await collected(chat("Go", [chaos()], model, ask=ask))
    assert [each.is_error for each in ended(told)] == [True]
    await model.close()


async def test_the_time_a_person_takes_is_not_the_runs(wire: WireServer, chaos: Chaos, model: Model) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"})), says("counted"))

    async def ask(_: Asked) -> bool:
        await asyncio.sleep(2.2)  # the thing itself: somebody who thinks longer than the run may take
        return True

    done = last(await collected(chat("Go", [chaos()], model, ask=ask, limits=RunLimits(seconds=2.0))))
    assert (done.stopped, done.text) == (None, "counted")
    await model.close()


# ── pausing ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def paused(conversation: Chat) -> Paused:
    told = await collected(conversation.say("Count a and b"))
    assert isinstance(told[-1], Paused)
    return told[-1]


async def test_without_anybody_to_ask_the_run_waits_as_plain_data_and_another_chat_finishes_it(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"}), (COUNT, {"key": "b"})), says("a is counted, b is not."))
    async with connect([chaos()]) as hub:
        waiting = await paused(Chat(hub, model))
        assert [each.arguments for each in waiting.asked] == [{"key": "a"}, {"key": "b"}]
        assert events("count") == []
        state = json.loads(json.dumps(waiting.state))
    async with connect([chaos()]) as hub:
        first, second = (each.call.id for each in waiting.asked)
        done = last(await collected(Chat(hub, model).resume(state, {first: True, second: Decision(False, "no")})))
    assert (done.text, done.turns) == ("a is counted, b is not.", 2)
    assert [each.role for each in done.messages] == ["user", "assistant", "tool", "assistant"]
    assert [each["key"] for each in events("count")] == ["a"]
    await model.close()


async def test_a_word_on_one_of_two_calls_is_remembered_while_the_other_waits(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"}), (COUNT, {"key": "b"})), says("done"))
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model)
        waiting = await paused(conversation)
        first, second = (each.call.id for each in waiting.asked)
        again = (await collected(conversation.resume(waiting.state, {first: False})))[-1]
        assert isinstance(again, Paused)
        assert [each.call.id for each in again.asked] == [second]
        assert events("count") == []
        assert last(await collected(conversation.resume(again.state, {second: True}))).text == "done"
    assert [each["key"] for each in events("count")] == ["b"]
    await model.close()


def _altered(state: dict[str, Any], *changes: tuple[tuple[str | int, ...], Any]) -> dict[str, Any]:
    out = json.loads(json.dumps(state))
    for path, value in changes:
        holder = out
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    return out


CALL = ("history", "messages", 1, "parts", 0)


@pytest.mark.parametrize(
    "changes",
    [
        [((*CALL, "arguments"), {"key": "everything"}), ((*CALL, "text"), '{"key": "everything"}')],
        [((*CALL, "name"), "mcp__bad__die")],
        [(("asked",), {})],
        [(("history", "messages", 0, "parts", 0, "text"), "Count everything")],
        [(("turns",), 0)],
        [(("words",), {"call_call00000": [True, "", None]})],
        [(("signature",), "0" * 64)],
        [(("signature",), None)],
        [(("id",), "another")],
    ],
)
async def test_a_run_that_was_altered_while_it_waited_is_not_continued(
    changes: list[tuple[tuple[str | int, ...], Any]], wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"})))
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model)
        waiting = await paused(conversation)
        state = _altered(waiting.state, *changes)
        with pytest.raises(PauseError, match="altered"):
            await collected(conversation.resume(state, {waiting.asked[0].call.id: True}))
        assert events("count") == []
    await model.close()


async def test_a_run_is_not_continued_twice_nor_with_another_key_nor_with_a_tool_that_changed(
    wire: WireServer, chaos: Chaos, model: Model, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBRIDGE_PAUSE_KEY", "of the test")
    wire.says_in_turn(calls((COUNT, {"key": "a"})), says("done"))
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model)
        waiting = await paused(conversation)
        words = {waiting.asked[0].call.id: True}
        with pytest.raises(PauseError, match="another key"):
            await collected(Chat(hub, model, key=b"another").resume(waiting.state, words))
        with pytest.raises(PauseError, match="no run"):
            await collected(conversation.resume({}, words))
        with pytest.raises(PauseError, match="another version"):
            await collected(conversation.resume({**waiting.state, "version": 2}, words))
        tools = tuple(
            replace(each, description="Deletes everything.") if each.id.name == "count" else each for each in hub.tools
        )
        changed = Chat(hub, model)
        monkeypatch.setattr(Toolbox, "tools", tools)
        with pytest.raises(PauseError, match="no longer what was asked about: its tool has changed"):
            await collected(changed.resume(waiting.state, words))
        monkeypatch.undo()
        monkeypatch.setenv("TOOLBRIDGE_PAUSE_KEY", "of the test")
        assert events("count") == []
        assert last(await collected(conversation.resume(waiting.state, words))).text == "done"
        with pytest.raises(PauseError, match="continued already"):
            await collected(conversation.resume(waiting.state, words))
    assert [each["key"] for each in events("count")] == ["a"]
    await model.close()


def test_the_key_is_the_users_own_and_nobody_else_can_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolbridge.run.pause import default_key

    monkeypatch.delenv("TOOLBRIDGE_PAUSE_KEY", raising=False)
    made = default_key()
    assert len(made) == 64
    assert default_key() == made
    (path,) = tmp_path.rglob("pause_key")
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"short")
    with pytest.raises(PauseError, match="cut short"):
        default_key()
    monkeypatch.setenv("TOOLBRIDGE_PAUSE_KEY", "shared")
    assert default_key() == b"shared"


CONTINUE = """
import asyncio, json, sys
from toolbridge import Chat, Done, connect, get_model, open_store

async def main():
    where, url, command, *arguments = json.loads(sys.argv[1])
    async with open_store(where) as store, connect({"mcpServers": {"bad": {"command": command, "args": arguments}}}) as hub:
        (waiting,) = await store.pauses("trip")
        words = {id: True for id in waiting.state["asked"]}
        chat = Chat(hub, get_model("scripted", provider="anthropic", base_url=url, api_key="k"), store=store)
        async for event in chat.resume(waiting.state, words):
            if isinstance(event, Done):
                print(event.text)

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", "redis"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that two processes share."""
    kept: str = str(tmp_path / "kept.db") if request.param == "sqlite" else request.getfixturevalue("redis_server").url
    return kept


async def test_a_run_that_waits_in_a_store_is_finished_by_another_process_with_another_model(
    where: str, wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "a"})), says("Counted, by another."))
    server = chaos()
    async with open_store(where) as store:
        async with connect([server]) as hub:
            conversation = Chat(hub, model, store=store, conversation="trip")
            waiting = await paused(conversation)
        told = json.dumps([where, wire.url, server.command, *server.args])
        process = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", CONTINUE, told], capture_output=True, text=True, timeout=60
        )
        assert (process.returncode, process.stdout, process.stderr) == (0, "Counted, by another.\n", "")
        assert [each["key"] for each in events("count")] == ["a"]
        kept = await store.load("trip")
        assert [each.role for each in kept.messages] == ["user", "assistant", "tool", "assistant"]
        assert await store.pauses() == ()
        async with connect([server]) as hub:
            with pytest.raises(PauseError, match="continued already, or its store does not know it"):
                await collected(Chat(hub, model, store=store).resume(waiting.state, {}))
        assert [each.provider for each in wire.requests] == ["openai-chat", "anthropic"]
    await model.close()
