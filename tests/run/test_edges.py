"""What only happens when several things come together: limits and queues, pauses and failing stores, odd models."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.run.conftest import collected, last
from tests.servers.conftest import Chaos, Events
from tests.support.processes import eventually
from toolbridge import (
    Approval,
    Asked,
    CallEnded,
    CallStarted,
    Chat,
    Decision,
    Image,
    Message,
    Paused,
    PauseError,
    Provider,
    RunLimits,
    StoreError,
    Text,
    Told,
    Tool,
    ToolCall,
    ToolId,
    ToolResult,
    chat,
    chat_sync,
    connect,
    connect_sync,
    get_provider,
    open_store,
)
from toolbridge.run.policy import why_asked
from toolbridge.run.repeats import Repeats
from toolbridge.store.store import Store

FREE = Approval("never")
COUNT, ECHO = "mcp__bad__count", "mcp__bad__echo"


class Scripted:
    """A model of this process: what it says, one after the other, and what it was asked."""

    most_tools = None
    context_tokens = None
    name = "scripted"

    def __init__(self, *replies: Any, provider: str = "openai-chat") -> None:
        self.provider: Provider = get_provider(provider)
        self.replies = list(replies)
        self.asked: list[Mapping[str, Any]] = []

    async def stream(self, fields: Mapping[str, Any]) -> AsyncGenerator[Any]:
        self.asked.append(fields)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        for chunk in reply if isinstance(reply, list) else [{"choices": [{"delta": reply}]}]:
            yield chunk

    async def close(self) -> None:
        pass


def calls(*wanted: tuple[str, Any], start: int = 0) -> dict[str, Any]:
    return {
        "tool_calls": [
            {"index": i, "id": f"c{start + i}", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for i, (name, arguments) in enumerate(wanted)
        ]
    }


def says(text: str) -> dict[str, Any]:
    return {"content": text}


def keys(events: Events) -> list[str]:
    return [each["key"] for each in events("count")]


async def paused(conversation: Chat, question: str = "Count") -> Paused:
    told = await collected(conversation.say(question))
    assert isinstance(told[-1], Paused)
    return told[-1]


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_calls_that_wait_in_line_are_not_sent_when_the_time_is_up(chaos: Chaos, events: Events) -> None:
    batch = calls(("mcp__bad__hang", {}), *((COUNT, {"key": f"k{i}"}) for i in range(4)))
    limits = RunLimits(seconds=0.7, parallel=1)
    told = await collected(chat("Go", [chaos()], Scripted(batch), approval=FREE, limits=limits))
    assert last(told).stopped == "time"
    assert keys(events) == []
    texts = [each.result.text for each in told if isinstance(each, CallEnded)]
    assert texts[1:] == ["This call was not run: the time for this run is up."] * 4


async def test_calls_that_wait_in_line_are_known_not_to_have_run_when_the_run_is_cancelled(
    chaos: Chaos, events: Events
) -> None:
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, Scripted(calls(("mcp__bad__hang", {}), (COUNT, {"key": "a"}))), approval=FREE,
                            limits=RunLimits(parallel=1))  # fmt: skip
        task = asyncio.create_task(collected(conversation.say("Go")))
        await eventually(lambda: len(events("call")) == 1, what="the call did not arrive")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        results = [each for each in conversation.history[-1].parts if isinstance(each, ToolResult)]
    assert [each.failure for each in results] == ["outcome_unknown", None]
    assert results[1].text == "This call was not run: it was cancelled before."
    assert keys(events) == []


async def test_a_provider_that_asks_to_be_asked_again_and_again_is_stopped_too() -> None:
    again = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "…"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    model = Scripted(*[again] * 5, provider="anthropic")
    done = last(await collected(chat("Go", {}, model, limits=RunLimits(turns=3))))
    assert (done.stopped, done.turns, len(model.asked)) == ("turns", 3, 3)


async def test_calls_past_the_budget_of_tokens_are_not_run(chaos: Chaos, events: Events) -> None:
    model = Scripted(calls((COUNT, {"key": "a"})))
    told = await collected(chat("Go", [chaos()], model, approval=FREE, limits=RunLimits(tokens=5)))
    assert last(told).stopped == "tokens"
    assert keys(events) == []
    assert [(each.tool, each.result.is_error) for each in told if isinstance(each, CallEnded)] == [
        (ToolId("bad", "count"), True)
    ]


def test_different_pictures_are_no_repetition_and_equal_calls_of_one_reply_count_once() -> None:
    repeats = Repeats(3)
    call = ToolCall("1", "look", "{}", {})
    assert [repeats.count(call, ToolResult("1", (Image(f"{i}", "image/png"),))) for i in range(5)] == [1] * 5
    again = ToolResult("1", (Text("same"),))
    assert [repeats.count(call, again) for _ in range(5)] == [1, 1, 1, 1, 1]
    repeats.next_reply()
    assert repeats.count(call, again) == 2


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_word_counts_whatever_the_policy_says_when_the_run_goes_on(chaos: Chaos, events: Events) -> None:
    model = Scripted(calls((COUNT, {"key": "a"}), (COUNT, {"key": "b"}), (COUNT, {"key": "c"})), says("done"))
    async with connect([chaos()]) as hub:
        state = (await paused(Chat(hub, model))).state
        loose = Chat(hub, model, approval=FREE)
        told = await collected(loose.resume(state, {"c0": False, "c1": Decision(True, arguments={"key": "better"})}))
        assert isinstance(told[-1], Paused)  # of the third nobody has said anything, and it was asked about
        assert [each.call.id for each in told[-1].asked] == ["c2"]
        assert last(await collected(loose.resume(told[-1].state, {"c2": True}))).text == "done"
    assert sorted(keys(events)) == ["better", "c"]


@pytest.mark.parametrize("word", ["n", "no", 1, 0, "", [], {"allow": False}])
async def test_what_is_not_plainly_a_yes_is_an_error_and_runs_nothing(word: Any, chaos: Chaos, events: Events) -> None:
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, Scripted(calls((COUNT, {"key": "a"}))), ask=lambda _: word)
        with pytest.raises(TypeError, match="True or False"):
            await collected(conversation.say("Go"))
        state = (await paused(Chat(hub, Scripted(calls((COUNT, {"key": "a"})))))).state
        with pytest.raises(TypeError, match="True or False"):
            await collected(Chat(hub, Scripted()).resume(state, {"c0": word}))
        with pytest.raises(TypeError, match="True or False"):
            Decision(word)
    assert keys(events) == []


def test_a_name_in_the_settings_is_a_name_first_and_a_pattern_second() -> None:
    tool = Tool(ToolId("s", "drop[all]"), "", {})
    assert why_asked(tool, None, Approval("never", always=("drop[all]",))) is not None
    assert why_asked(tool, None, Approval("never", always=("s/drop*",))) is not None
    assert why_asked(tool, None, Approval("always", never=("drop[all]",))) is None


async def test_what_is_shown_to_somebody_is_a_copy(chaos: Chaos, events: Events) -> None:
    def ask(asked: Asked) -> bool:
        asked.arguments["key"] = "another"
        return True

    await collected(chat("Go", [chaos()], Scripted(calls((COUNT, {"key": "a"})), says("ok")), ask=ask))
    assert keys(events) == ["a"]


async def test_a_question_to_somebody_that_is_given_up_leaves_calls_that_were_not_run(
    chaos: Chaos, events: Events
) -> None:
    asked, answer = threading.Event(), threading.Event()

    def ask(_: Asked) -> bool:
        asked.set()
        return answer.wait(20)

    async with connect([chaos()]) as hub:
        conversation = Chat(hub, Scripted(calls((COUNT, {"key": "a"}))), ask=ask)
        task = asyncio.create_task(collected(conversation.say("Go")))
        await eventually(asked.is_set, what="nobody was asked")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        (result,) = conversation.history[-1].parts
    answer.set()
    assert isinstance(result, ToolResult)
    assert result.text == "This call was not run: the user stopped before it was allowed."
    assert keys(events) == []


# ── pauses ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Failing:
    """A store whose next operations fail: before they are done (`append`, `keep_pause`), or after (`lost append`)."""

    def __init__(self, store: Store, *failures: str) -> None:
        self._store = store
        self.failures = list(failures)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)

        async def failing(*arguments: Any, **options: Any) -> Any:
            failure = self.failures[0] if self.failures else ""
            if failure.removeprefix("lost ") != name:
                return await found(*arguments, **options)
            self.failures.pop(0)
            if failure.startswith("lost "):
                await found(*arguments, **options)
            raise StoreError("unreachable", "the test says so")

        return failing


async def test_a_run_that_could_not_be_kept_goes_on_all_the_same(chaos: Chaos, events: Events) -> None:
    async with open_store(":memory:") as store, connect([chaos()]) as hub:
        failing: Any = Failing(store, "keep_pause")
        conversation = Chat(hub, Scripted(calls((COUNT, {"key": "a"})), says("done")), store=failing)
        told = await collected(conversation.say("Count"))
        assert [each.code for each in told if isinstance(each, Told)] == ["store.failed"]
        assert isinstance(told[-1], Paused)
        assert last(await collected(conversation.resume(told[-1].state, {"c0": True}))).text == "done"
        assert [each.role for each in (await store.load(conversation.conversation)).messages] == [
            "user", "assistant", "tool", "assistant",
        ]  # fmt: skip
    assert keys(events) == ["a"]


@pytest.mark.parametrize("kinds", [["append"], ["append", "append"], ["lost append"], ["append", "append", "append"]])
async def test_a_store_that_fails_around_a_pause_loses_and_doubles_nothing(kinds: list[str], chaos: Chaos) -> None:
    async with open_store(":memory:") as store, connect([chaos()]) as hub:
        failing: Any = Failing(store)
        first = Chat(hub, Scripted(says("one"), calls((COUNT, {"key": "a"}))), store=failing, conversation="trip")
        await collected(first.say("First"))
        failing.failures = list(kinds)
        state = (await paused(first, "Second")).state
        second = Chat(hub, Scripted(says("done")), store=store, conversation="trip")
        await collected(second.resume(json.loads(json.dumps(state)), {"c0": True}))
        kept = (await store.load("trip")).messages
        assert [(each.role, each.text) for each in kept] == [
            ("user", "First"), ("assistant", "one"), ("user", "Second"), ("assistant", ""), ("tool", ""),
            ("assistant", "done"),
        ]  # fmt: skip
        assert second.history == kept


async def test_a_run_that_was_given_up_before_anything_ran_can_be_continued(chaos: Chaos, events: Events) -> None:
    def ask(_: Asked) -> bool:
        raise KeyError("a mistake of whoever asks")

    async with open_store(":memory:") as store, connect([chaos()]) as hub:
        model = Scripted(calls((COUNT, {"key": "a"})), says("done"))
        state = (await paused(Chat(hub, model, store=store, conversation="trip"))).state
        with pytest.raises(KeyError):
            await collected(Chat(hub, model, store=store, ask=ask).resume(state))
        assert last(await collected(Chat(hub, model, store=store).resume(state, {"c0": True}))).text == "done"
    assert keys(events) == ["a"]


async def test_what_was_said_while_a_run_waited_is_not_forgotten(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        model = Scripted(calls((COUNT, {"key": "a"})), says("Hello Ann."), says("done"))
        conversation = Chat(hub, model)
        state = (await paused(conversation)).state
        await collected(conversation.say("My name is Ann"))
        await collected(conversation.resume(state, {"c0": True}))
        assert [each.text for each in conversation.history if each.role == "user"] == ["Count", "My name is Ann"]
        assert "My name is Ann" in json.dumps(model.asked[-1]["messages"])
        other = Chat(hub, model, history=(Message.user("Something else"),))
        with pytest.raises(PauseError, match="continued already"):
            await collected(other.resume(state, {"c0": True}))


async def test_a_run_belongs_to_its_conversation_and_to_its_store(chaos: Chaos, events: Events) -> None:
    async with open_store(":memory:") as store, connect([chaos()]) as hub:
        model = Scripted(calls((COUNT, {"key": "a"})), calls((COUNT, {"key": "b"})))
        state = (await paused(Chat(hub, model, store=store, conversation="alice"))).state
        with pytest.raises(PauseError, match="belongs to the conversation 'alice', not to 'bob'"):
            await collected(Chat(hub, model, store=store, conversation="bob").resume(state, {"c0": True}))
        with pytest.raises(PauseError, match="waits in a store"):
            await collected(Chat(hub, model).resume(state, {"c0": True}))
        with pytest.raises(PauseError, match="another history"):
            await collected(Chat(hub, model, history=(Message.user("Other"),)).resume(state, {"c0": True}))
    assert keys(events) == []


@pytest.mark.parametrize("provider", ["json-schema", "anthropic", "gemini"])
async def test_a_run_goes_on_with_a_model_that_spells_the_tool_in_another_way(
    provider: str, chaos: Chaos, events: Events
) -> None:
    spec = replace(chaos(), name="a server with a long name and dots. in it" + "x" * 30)
    async with connect([spec]) as hub:
        tool = next(each for each in hub.tools if each.id.name == "count")
        first = Chat(hub, Scripted())
        name = first.offer.prepared.wire_name(tool.id)
        assert isinstance(first.model, Scripted)
        first.model.replies = [calls((name, {"key": "a"}))]
        state = (await paused(first)).state
        other = Chat(hub, Scripted([], provider=provider))
        assert other.offer.prepared.wire_name(tool.id) != name or provider == "gemini"
        await collected(other.resume(state, {"c0": True}))
    assert keys(events) == ["a"]


# ── odd models and messages ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_model_that_sends_nothing_has_not_answered(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, Scripted([], says("Now.")))
        done = last(await collected(conversation.say("Hello?")))
        assert (done.stopped, done.why) == ("broken_off", "scripted did not finish: it sent nothing")
        assert [each.text for each in conversation.history] == ["Hello?"]
        with pytest.raises(TimeoutError):
            await collected(Chat(hub, Scripted(TimeoutError())).say("Hello?"))


async def test_a_message_that_cannot_be_kept_costs_itself_alone(chaos: Chaos) -> None:
    deep: Any = "x"
    for _ in range(600):
        deep = [deep]
    async with open_store(":memory:") as store, connect([chaos()]) as hub:
        model = Scripted(calls((ECHO, {"text": "hi", "more": deep})), says("first"), says("second"))
        conversation = Chat(hub, model, store=store, approval=FREE)
        assert last(await collected(conversation.say("One"))).text == "first"
        assert last(await collected(conversation.say("Two"))).text == "second"
        kept = await store.load(conversation.conversation)
        assert [each.role for each in kept.messages] == ["user", "assistant", "tool", "assistant", "user", "assistant"]


async def test_reading_on_in_a_result_of_another_process_is_refused_in_words_and_never_mixed_up(chaos: Chaos) -> None:
    limits = RunLimits(result_tokens=300)
    large = calls(("mcp__bad__large", {"number": 9_000}))
    async with open_store(":memory:") as store, connect([chaos()]) as hub:
        first = Chat(hub, Scripted(large, says("ok")), store=store, conversation="c", approval=FREE, limits=limits)
        await collected(first.say("Go"))
        (result,) = [part for each in first.history for part in each.parts if isinstance(part, ToolResult)]
        key = json.loads(result.text[result.text.index('{"result"') : result.text.rindex("}") + 1])["result"]
        more = calls(("read_more", {"result": key}), start=5)
        second = Chat(hub, Scripted(more, says("gone")), store=store, conversation="c", approval=FREE, limits=limits)
        told = await collected(second.say("Read on"))
        (answer,) = [each.result for each in told if isinstance(each, CallEnded)]
    assert answer.is_error
    assert "There is no result" in answer.text


async def test_somebody_who_stops_listening_can_ask_again_at_once(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        conversation = Chat(hub, Scripted(calls(("mcp__bad__hang", {})), says("yes")), approval=FREE)
        async for event in conversation.say("Go"):
            if isinstance(event, CallStarted):
                break
        assert last(await collected(conversation.say("Still there?"))).text == "yes"


# ── the sync form ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_hub_of_the_sync_door_is_a_hub_too(chaos: Chaos) -> None:
    with connect_sync([chaos()]) as hub:
        told = list(chat_sync("Go", hub, Scripted(calls((ECHO, {"text": "hi"})), says("ok")), approval=FREE))
    assert [each.result.text for each in told if isinstance(each, CallEnded)] == ["hi"]


def test_leaving_the_sync_form_does_not_wait_for_somebody_to_type(chaos: Chaos) -> None:
    asked, answer = threading.Event(), threading.Event()

    def ask(_: Asked) -> bool:
        asked.set()
        return answer.wait(20)

    run = chat_sync("Go", [chaos()], Scripted(calls((COUNT, {"key": "a"}))), ask=ask)
    next(run)
    assert asked.wait(10)
    began = time.monotonic()
    run.close()
    assert time.monotonic() - began < 10
    answer.set()


def test_the_demo_asks_both_its_questions_of_small_models_without_leading_them_astray() -> None:
    """The tools of the question before do not stay in sight of a small model."""
    from toolbridge import Offer, read_tools

    tools = [
        *read_tools([{"name": "get_current_time", "description": "Get current time in a specific timezone",
                      "inputSchema": {"type": "object"}}], server="time"),
        *read_tools([{"name": "water", "description": "Water a bed, one litre after the other.",
                      "inputSchema": {"type": "object"}}], server="garden"),
    ]  # fmt: skip
    offer = Offer(tools, "json-schema", most=3)
    offer.choose("Tell me the current time in Europe/Paris.")
    offer.called("get_current_time")
    offer.choose("Water bed B2 with 5 litres.")
    assert offer.prepared.names == frozenset({"water"}) or list(offer.prepared.names) == ["water"]
