"""A question, real servers, a scripted model: what comes back, and what the model got to see."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.run.conftest import calls, collected, last, model_at, says
from tests.servers.conftest import Chaos, Events
from tests.support.processes import eventually
from tests.support.transcripts import problems
from tests.support.wire_servers import WireServer
from toolbridge import (
    Approval,
    CallEnded,
    CallProgress,
    CallStarted,
    Chat,
    Done,
    Message,
    Model,
    ModelError,
    Replied,
    RunLimits,
    Text,
    TextDelta,
    Told,
    ToolCall,
    ToolId,
    ToolResult,
    chat,
    chat_sync,
    connect,
    get_provider,
)
from toolbridge.run.repeats import Repeats

FREE = Approval("never")
ECHO = "mcp__bad__echo"
COUNT = "mcp__bad__count"


def results(request: Any) -> list[str]:
    """The texts of the results that the last request of an OpenAI model showed it."""
    return [each["content"] for each in request.body["messages"] if each["role"] == "tool"]


def asked(wire: WireServer) -> dict[str, Any]:
    """The transcript of the last request."""
    parts = ("messages", "system", "input", "instructions", "contents", "systemInstruction")
    return {name: value for name, value in wire.requests[-1].body.items() if name in parts}


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "gemini"])
async def test_a_question_is_answered_with_the_tools_of_a_server(provider: str, wire: WireServer, chaos: Chaos) -> None:
    wire.says_in_turn(calls((ECHO, {"text": "Grüße"}), say="One moment."), says("It said Grüße."))
    model = model_at(wire, provider)
    told = [event async for event in chat("What does it say?", [chaos()], model, approval=FREE)]
    assert "".join(each.text for each in told if isinstance(each, TextDelta)) == "One moment.It said Grüße."
    events = [each for each in told if not isinstance(each, TextDelta)]
    assert [type(each) for each in events] == [Replied, CallStarted, CallEnded, Replied, Done]
    assert isinstance(events[1], CallStarted)
    assert (events[1].tool, events[1].arguments) == (ToolId("bad", "echo"), {"text": "Grüße"})
    assert isinstance(events[2], CallEnded)
    assert (events[2].result.text, events[2].result.is_error, events[2].tokens > 0) == ("Grüße", False, True)
    done = last(told)
    assert (done.text, done.turns, done.stopped, done.why) == ("It said Grüße.", 2, None, "")
    assert [each.role for each in done.messages] == ["user", "assistant", "tool", "assistant"]
    assert (done.usage.input or 0) > 0
    assert (done.usage.output or 0) > 0
    assert problems(provider, get_provider(provider).write_messages(done.messages).value) == []
    await model.close()


async def test_calls_of_one_reply_run_side_by_side_and_their_results_keep_their_order(
    wire: WireServer, chaos: Chaos, model: Model, tmp_path: Path
) -> None:
    sign = tmp_path / "sign"
    slow, quick = ("mcp__bad__wait", {"path": str(sign)}), (ECHO, {"text": "quick"})
    wire.says_in_turn(calls(slow, quick, ("mcp__bad__nothing", {}), (ECHO, {"text": 5.5})), says("done"))
    ended: list[str] = []
    async for event in chat("Go", [chaos()], model, approval=FREE):
        if isinstance(event, CallEnded):
            ended.append(event.call.name)
            if event.result.text == "quick":
                sign.touch()  # the first call ends only after the second has
    assert ended[-1] == "mcp__bad__wait"
    shown = results(wire.requests[-1])
    assert shown[0] == "it is there"
    assert shown[1] == "quick"
    assert "There is no tool named" in shown[2]
    assert shown[3] == "5.5" or "not valid" in shown[3]
    await model.close()


async def test_one_call_that_kills_its_server_costs_the_others_nothing_and_the_model_is_told(
    wire: WireServer, chaos: Chaos, healthy: Any, model: Model, events: Events
) -> None:
    wire.says_in_turn(
        calls(("mcp__bad__count_and_die", {"key": "a"}), ("mcp__healthy__echo", {"text": "well"})),
        says("The server died; whether it counted is unknown."),
    )
    told = await collected(chat("Go", [chaos(), healthy], model, approval=FREE))
    died, well = results(wire.requests[-1])
    assert well == "well"
    assert "is unknown" in died
    assert "exited with code 7" in died
    assert last(told).text == "The server died; whether it counted is unknown."
    assert len(events("count")) == 1
    await model.close()


async def test_a_server_that_is_down_is_named_to_the_model_and_to_whoever_watches(
    wire: WireServer, chaos: Chaos, model: Model, healthy: Any
) -> None:
    wire.says_in_turn(says("I cannot reach it."), says("Still not."))
    async with connect([replace(chaos(), command="no-such-program"), healthy]) as hub:
        conversation = Chat(hub, model)
        told = await collected(conversation.say("Use it"))
        again = await collected(conversation.say("And now?"))
    assert isinstance(told[0], Told)
    assert told[0].code == "server.down"
    assert "no-such-program" in told[0].text
    assert not [each for each in again if isinstance(each, Told)]  # once is enough
    (system,) = [
        each["content"] for each in wire.requests[0].body["messages"] if each["role"] in ("system", "developer")
    ]
    assert system == "Not available at the moment: the tools of bad."
    await model.close()


async def test_progress_of_a_call_is_told(wire: WireServer, chaos: Chaos, model: Model) -> None:
    wire.says_in_turn(calls(("mcp__bad__work", {"number": 3})), says("done"))
    told = await collected(chat("Go", [chaos()], model, approval=FREE))
    assert [each.progress for each in told if isinstance(each, CallProgress)] == [1, 2, 3]
    await model.close()


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_that_never_stops_is_stopped_and_its_last_calls_are_not_run(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(*(calls((COUNT, {"key": f"k{i}"}), start=i) for i in range(3)))
    told = await collected(chat("Go", [chaos()], model, approval=FREE, limits=RunLimits(turns=3)))
    done = last(told)
    assert (done.stopped, done.turns) == ("turns", 3)
    assert done.why == "stopped after 3 turns of the model; limits.turns allows more"
    assert [each["key"] for each in events("count")] == ["k0", "k1"]
    assert isinstance(done.messages[-1].parts[0], ToolResult)
    assert "was not run" in done.messages[-1].parts[0].text
    await model.close()


async def test_the_same_call_with_the_same_outcome_is_pointed_out_and_then_ends_the_run(
    wire: WireServer, chaos: Chaos, model: Model
) -> None:
    wire.says_in_turn(*(calls((ECHO, {"text": "again"}), start=i) for i in range(9)))
    told = await collected(chat("Go", [chaos()], model, approval=FREE))
    done = last(told)
    assert (done.stopped, done.turns) == ("repeated", 5)
    assert done.why == "stopped: the model calls mcp__bad__echo again and again with the same result"
    shown = results(wire.requests[-1])
    assert shown[:2] == ["again", "again"]
    assert "3 times" in shown[2]
    assert "4 times" in shown[3]
    await model.close()


def test_polling_that_comes_to_something_new_is_no_repetition() -> None:
    repeats = Repeats(3)
    call = ToolCall("1", "poll", "{}", {})

    def times(text: str) -> int:
        repeats.next_reply()
        return repeats.count(replace(call, id=text), ToolResult(text, (Text(text),)))

    assert [times(f"{i} of 9") for i in range(9)] == [1] * 9
    assert [times("9 of 9") for _ in range(5)] == [1, 2, 3, 4, 5]
    assert [repeats.is_too_much(each) for each in (3, 4, 5)] == [False, False, True]
    assert repeats.count(replace(call, arguments={"a": 1}), ToolResult("1", (Text("9 of 9"),))) == 1


async def test_a_run_that_takes_too_long_is_stopped_in_the_middle_of_a_call(
    wire: WireServer, chaos: Chaos, model: Model
) -> None:
    wire.says_in_turn(calls(("mcp__bad__hang", {})), says("never reached"))
    told = await collected(chat("Go", [chaos()], model, approval=FREE, limits=RunLimits(seconds=2.5)))
    done = last(told)
    assert (done.stopped, done.turns, len(wire.requests)) == ("time", 1, 1)
    assert done.why == "stopped after 2.5 seconds; limits.seconds allows more"
    assert isinstance(done.messages[-1].parts[0], ToolResult)
    assert done.messages[-1].parts[0].failure == "timed_out"
    await model.close()


async def test_tokens_are_counted_over_all_turns(wire: WireServer, chaos: Chaos, model: Model) -> None:
    wire.says_in_turn(calls((ECHO, {"text": "a"})), calls((ECHO, {"text": "b"}), start=1), says("never reached"))
    done = last(await collected(chat("Go", [chaos()], model, approval=FREE, limits=RunLimits(tokens=40))))
    assert done.stopped == "tokens"
    assert (done.usage.input or 0) + (done.usage.output or 0) >= 40
    assert "limits.tokens allows 40" in done.why
    await model.close()


@pytest.mark.parametrize("limit", ["turns", "seconds", "tokens", "parallel", "repeats", "result_tokens"])
def test_a_limit_of_nothing_is_a_mistake(limit: str) -> None:
    with pytest.raises(ValueError, match=f"the limit {limit} is 0; it must be above 0"):
        RunLimits(**{limit: 0})


async def test_a_result_that_is_too_long_is_cut_and_the_model_can_read_on(
    wire: WireServer, chaos: Chaos, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolbridge.run.toolbox.token_hex", lambda _: "abcd")
    wire.says_in_turn(
        calls(("mcp__bad__large", {"number": 50_000})),
        calls(("read_more", {"result": "abcd", "from": 100}), start=1),
        says("read"),
    )
    limits = RunLimits(result_tokens=300)
    done = last(await collected(chat("Go", [chaos()], model, approval=FREE, limits=limits)))
    assert done.text == "read"
    first, more = results(wire.requests[-1])
    assert "read_more" in first
    assert len(first) < 5_000
    assert "xxxx" in more
    assert "there is no" not in more.lower()
    names = [[tool["function"]["name"] for tool in each.body["tools"]] for each in wire.requests]
    assert "read_more" not in names[0]
    assert names[1] == [*names[0], "read_more"]  # at the end, so that the prefix stays as it was
    await model.close()


# ── what goes wrong with the model ───────────────────────────────────────────────────────────────────────────────


async def test_a_tool_that_the_provider_refuses_by_name_is_left_out_and_the_rest_goes_on(
    wire: WireServer, chaos: Chaos, model: Model
) -> None:
    said = {"error": {"message": f"Invalid schema for function '{COUNT}': nope", "type": "invalid_request_error",
                      "param": "tools[2].function.parameters", "code": "invalid_function_parameters"}}  # fmt: skip
    wire.says(raw=json.dumps(said).encode(), media="application/json", status=400)
    wire.turns = [wire.script]
    wire.says(says("without it"))
    told = await collected(chat("Go", [chaos()], model))
    assert [each.code for each in told if isinstance(each, Told)] == ["tool.refused"]
    assert last(told).text == "without it"
    first, second = ([tool["function"]["name"] for tool in each.body["tools"]] for each in wire.requests)
    assert [each for each in first if each != COUNT] == second
    await model.close()


async def test_a_refusal_that_names_no_tool_is_an_error_and_the_question_is_not_kept(
    wire: WireServer, chaos: Chaos, model: Model
) -> None:
    wire.says(raw=b'{"error": {"message": "temperature must be 1"}}', media="application/json", status=400)
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model)
        with pytest.raises(ModelError, match="temperature must be 1") as raised:
            await collected(conversation.say("Go"))
        assert (raised.value.kind, conversation.history) == ("refused", ())
        wire.says(says("now"))
        assert last(await collected(conversation.say("Go on"))).text == "now"
    await model.close()


async def test_a_model_that_fails_after_calls_were_run_leaves_them_in_the_history(
    wire: WireServer, chaos: Chaos, model: Model
) -> None:
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model, approval=FREE)
        wire.says_in_turn(calls((COUNT, {"key": "once"})))
        wire.script = replace(wire.script, raw=b'{"error": {"message": "no credit left"}}', status=400)
        with pytest.raises(ModelError, match="no credit left"):
            await collected(conversation.say("Go"))
        assert [each.role for each in conversation.history] == ["user", "assistant", "tool"]
        wire.says(says("It was counted."))
        assert last(await collected(conversation.say("And?"))).text == "It was counted."
    assert problems("openai-chat", asked(wire)) == []
    await model.close()


async def test_a_reply_that_breaks_off_runs_no_call_and_says_so(wire: WireServer, chaos: Chaos, events: Events) -> None:
    model = model_at(wire, "anthropic")
    whole = calls((COUNT, {"key": "half"}))
    wire.says(whole)
    async with connect([chaos()]) as hub:
        probe = Chat(hub, model, limits=RunLimits(turns=1), approval=FREE)
        await collected(probe.say("Go"))
        wire.says(raw=wire.sent[-1][: wire.sent[-1].index(b"message_delta") - 20])
        done = last(await collected(Chat(hub, model, approval=FREE).say("Go")))
    assert done.stopped == "broken_off"
    assert done.why.startswith("scripted did not finish: ")
    assert events("count") == []
    assert [each.role for each in done.messages] == ["user", "assistant", "tool"]
    await model.close()


# ── stopping ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_whoever_stops_listening_cancels_the_calls_and_keeps_a_legal_history(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls(("mcp__bad__hang", {}), (ECHO, {"text": "quick"})), says("and on it goes"))
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model, approval=FREE)
        async with aclosing(conversation.say("Go")) as run:
            async for event in run:
                if isinstance(event, CallEnded):
                    break
        await eventually(
            lambda: [each["method"] for each in events("received")][-1] == "notifications/cancelled",
            what="the server was not told",
        )
        assert [each.role for each in conversation.history] == ["user", "assistant", "tool"]
        hung, quick = conversation.history[-1].parts
        assert isinstance(hung, ToolResult)
        assert isinstance(quick, ToolResult)
        assert (hung.failure, quick.text) == ("outcome_unknown", "quick")
        assert last(await collected(conversation.say("Never mind"))).text == "and on it goes"
    assert problems("openai-chat", asked(wire)) == []
    await model.close()


async def test_a_cancelled_task_leaves_nothing_behind(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls(("mcp__bad__hang", {})))
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model, approval=FREE)
        task = asyncio.create_task(collected(conversation.say("Go")))
        await eventually(lambda: len(events("call")) == 1, what="the call did not arrive")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [each.role for each in conversation.history] == ["user", "assistant", "tool"]
    await model.close()


async def test_a_chat_is_at_work_on_one_question_at_a_time(wire: WireServer, chaos: Chaos, model: Model) -> None:
    wire.says(says("hello"))
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model)
        async with aclosing(conversation.say("Go")) as run:
            await anext(run)
            with pytest.raises(RuntimeError, match="at work on a question"):
                await anext(conversation.say("And?"))
        assert last(await collected(conversation.say("Again"))).text == "hello"
    await model.close()


def test_the_sync_form_gives_the_same_events_and_can_be_left_early(wire: WireServer, chaos: Chaos) -> None:
    wire.says_in_turn(calls((ECHO, {"text": "hi"})), says("It said hi."))
    told = list(chat_sync("Go", [chaos()], model_at(wire), approval=FREE))
    assert [type(each) for each in told if not isinstance(each, TextDelta)] == [
        Replied, CallStarted, CallEnded, Replied, Done,
    ]  # fmt: skip
    wire.says_in_turn(calls(("mcp__bad__hang", {})))
    for event in chat_sync("Go", [chaos()], model_at(wire), approval=FREE):
        if isinstance(event, CallStarted):
            break  # returns when nothing is left of it


async def test_the_sync_form_works_inside_of_an_event_loop_and_raises_what_the_run_raises(wire: WireServer) -> None:
    wire.says(raw=b"{}", media="application/json", status=401)
    with pytest.raises(ModelError) as raised:
        list(chat_sync("Go", {}, model_at(wire)))
    assert raised.value.kind == "wrong_key"


# ── moving ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_conversation_moves_between_providers_in_the_middle(wire: WireServer, chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, model_at(wire), approval=FREE, system="Be brief.")
        for turn, provider in enumerate(("openai-chat", "anthropic", "gemini", "openai-responses", "anthropic")):
            conversation.model = model_at(wire, provider)
            wire.says_in_turn(calls((ECHO, {"text": provider}), start=turn), says(f"by {provider}"))
            assert last(await collected(conversation.say("Next"))).text == f"by {provider}"
            assert problems(provider, asked(wire)) == []
            await conversation.model.close()
    assert len(conversation.history) == 20


async def test_the_history_of_somebody_else_is_taken_over(wire: WireServer, chaos: Chaos, model: Model) -> None:
    wire.says(says("You said hello."))
    history = (Message.user("hello"), Message.assistant(Text("Hello!")))
    done = last(await collected(chat("What did I say?", [chaos()], model, history=history)))
    assert [each["role"] for each in wire.requests[-1].body["messages"]] == ["user", "assistant", "user"]
    assert [each.role for each in done.messages] == ["user", "assistant"]
    await model.close()


async def test_over_its_budget_the_model_searches_for_tools_and_what_it_finds_joins(
    wire: WireServer, chaos: Chaos, model: Model
) -> None:
    wire.says_in_turn(
        calls(("search_tools", {"query": "ledger key"})), calls((COUNT, {"key": "found"}), start=1), says("counted")
    )
    told = await collected(chat("Go", [chaos()], model, approval=FREE, tool_tokens=330))
    assert last(told).text == "counted"
    assert "tools.deferred" in [each.code for each in told if isinstance(each, Told)]
    first, second = ([tool["function"]["name"] for tool in each.body["tools"]] for each in wire.requests[:2])
    assert "search_tools" in first
    assert COUNT not in first
    assert COUNT in second
    assert second[: len(first)] == first
    await model.close()


async def test_calls_that_share_an_id_are_told_apart(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    """Some servers number their calls anew in each reply: a word on the one must not count for the other."""
    wire.says_in_turn(calls((COUNT, {"key": "a"})), calls((COUNT, {"key": "b"})), says("done"))
    words = iter([True, False])
    told = await collected(chat("Go", [chaos()], model, ask=lambda _: next(words)))
    ids = [each.call.id for each in told if isinstance(each, CallEnded)]
    assert ids == ["call_call00000", "call_call00000_2"]
    assert [each["key"] for each in events("count")] == ["a"]
    await model.close()


async def test_a_tool_that_is_not_shown_and_that_the_model_remembers_is_called(
    wire: WireServer, chaos: Chaos, model: Model, events: Events
) -> None:
    wire.says_in_turn(calls((COUNT, {"key": "remembered"})), says("counted"))
    told = await collected(chat("Go", [chaos()], model, approval=FREE, tool_tokens=330))
    assert last(told).text == "counted"
    assert COUNT not in [tool["function"]["name"] for tool in wire.requests[0].body["tools"]]
    assert [each["key"] for each in events("count")] == ["remembered"]
    await model.close()
