"""The assembler: whatever way calls are numbered, named and cut, they are found; and what is no call stays none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from toolbridge.notes import Note
from toolbridge.stream.assemble import Assembler, PartialCall
from toolbridge.stream.events import (
    About,
    CallDelta,
    Closed,
    Ended,
    Event,
    Failed,
    Finished,
    ForeignDelta,
    ForeignPart,
    ImagePart,
    ReasoningDelta,
    Repeated,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Foreign, Image, Message, Reasoning, Text, ToolCall

CALLS = Finished("calls", "tool_calls")


def folded(*events: Event, broken_off: bool = False) -> Reply:
    assembler = Assembler("openai-chat")
    for event in events:
        assembler.feed(event)
    return assembler.reply(broken_off)


def calls(*events: Event, broken_off: bool = False) -> list[tuple[str, str, Any]]:
    return [(call.id, call.name, call.arguments) for call in folded(*events, broken_off=broken_off).calls]


def d(key: int | None = None, id: str = "", name: str = "", text: str = "", arguments: Any = None) -> CallDelta:
    return CallDelta(key, id, name, text, arguments=arguments)


A, B = ("c0", "get_a", {"x": 1}), ("c1", "get_b", {"y": 2})
DIALECTS: dict[str, tuple[Sequence[Event], list[tuple[str, str, Any]]]] = {
    "as documented": ([d(0, "c0", "get_a"), d(0, text='{"x"'), d(0, text=":1}"), d(1, "c1", "get_b"), d(1, text='{"y":2}')], [A, B]),
    "interleaved": ([d(0, "c0", "get_a"), d(1, "c1", "get_b"), d(0, text='{"x":1'), d(1, text='{"y":2'), d(0, text="}"), d(1, text="}")], [A, B]),
    "numbers from 1": ([d(1, "c0", "get_a", '{"x":1}'), d(2, "c1", "get_b", '{"y":2}')], [A, B]),
    "no number": ([d(None, "c0", "get_a", '{"x":1}'), d(None, "c1", "get_b", '{"y":2}')], [A, B]),
    "no number, in fragments": ([d(None, "c0", "get_a"), d(text='{"x":'), d(text="1}"), d(None, "c1", "get_b"), d(text='{"y":2}')], [A, B]),
    "always number 0": ([d(0, "c0", "get_a", '{"x":1}'), d(0, "c1", "get_b", '{"y":2}')], [A, B]),
    "always number 0, in fragments": ([d(0, "c0", "get_a"), d(0, text='{"x":'), d(0, text="1}"), d(0, "c1", "get_b"), d(0, text='{"y":2}')], [A, B]),
    "always number 0 and no id": ([d(0, "", "get_a", '{"x":1}'), d(0, "", "get_b", '{"y":2}')], [("call_0", "get_a", {"x": 1}), ("call_1", "get_b", {"y": 2})]),
    "always number 0, no id, one tool": ([d(0, "", "get_a", '{"x":1}'), d(0, "", "get_a", '{"x":2}')], [("call_0", "get_a", {"x": 1}), ("call_1", "get_a", {"x": 2})]),
    "two values in one call": ([d(0, "c0", "get_a"), d(0, text='{"x":1}{"x":'), d(0, text="2}")], [("c0", "get_a", {"x": 1}), ("call_1", "get_a", {"x": 2})]),
    "an empty object before the arguments": ([d(0, "c0", "get_a", "{}"), d(0, text='{"x":1}')], [A]),
    "an empty object before two": ([d(0, "c0", "get_a", "{}"), d(0, text='{"x":1}{"x":2}')], [A, ("call_1", "get_a", {"x": 2})]),
    "no arguments, and then some": ([d(0, "c0", "get_a", '{}{"x":1}')], [("c0", "get_a", {}), ("call_1", "get_a", {"x": 1})]),
    "one id for two tools": ([d(None, "c0", "get_a", '{"x":1}'), d(None, "c0", "get_b", '{"y":2}')], [A, ("c0_2", "get_b", {"y": 2})]),
    "one id for two tools at one number": ([d(0, "c0", "get_a", '{"x":1}'), d(0, "c0", "get_b", '{"y":2}')], [A, ("c0_2", "get_b", {"y": 2})]),
    "another item each time, all of one call": ([CallDelta("i", "c0", "get_a"), CallDelta("j", text='{"x":1}'), CallDelta("k", text='{"x":1}', whole=True), CallDelta("l", "c0", "get_a", '{"x":1}', whole=True)], [A]),
    "arguments before their names": ([d(text='{"x":1}'), d(name="get_a"), d(text='{"y":2}'), d(name="get_b")], [("call_0", "get_a", {"x": 1}), ("call_1", "get_b", {"y": 2})]),
    "more arguments and no more names": ([d(None, "c0", "get_a", '{"x":1}'), d(text='{"x":'), d(text="2}")], [("c0", "get_a", {"x": 1}), ("call_1", "get_a", {"x": 2})]),
    "names first, then arguments under other numbers": ([d(0, "c0", "get_a"), d(1, "c1", "get_b"), d(2, text='{"x":1}'), d(3, text='{"y":2}')], [("c0", "get_a", None), ("c1", "get_b", None), ("call_2", "", {"x": 1}), ("call_3", "", {"y": 2})]),
    "an object, and then another as text": ([d(0, "", "get_a", arguments={"x": 1}), d(0, "", "get_a", '{"x":2}')], [("call_0", "get_a", {"x": 1}), ("call_1", "get_a", {"x": 2})]),
    "an object and the same as text": ([d(0, "c0", "get_a", arguments={"x": 1}), d(0, text='{"x":1}')], [A]),
    "an empty object and then text": ([d(0, "c0", "get_a", arguments={}), d(0, text='{"x":1}')], [A]),
    "an object and broken text": ([d(0, "c0", "get_a", arguments={"x": 1}), d(0, text='{"y":')], [("c0", "get_a", None)]),
    "more of a name": ([d(0, "c0", "get"), d(0, "", "_a", '{"x":1}')], [("c0", "get", {"x": 1})]),
    "two empty objects": ([d(0, "c0", "get_a", "{}{}")], [("c0", "get_a", {}), ("call_1", "get_a", {})]),
    "neither id nor number": ([d(name="get_a", text='{"x":1}'), d(name="get_b", text='{"y":2}')], [("call_0", "get_a", {"x": 1}), ("call_1", "get_b", {"y": 2})]),
    "id and name each time": ([d(0, "c0", "get_a"), d(0, "c0", "get_a", '{"x"'), d(0, "c0", "get_a", ":1}")], [A]),
    "id each time and no number": ([d(None, "c0", "get_a", '{"x"'), d(None, "c1", "get_b", '{"y"'), d(None, "c0", "", ":1}"), d(None, "c1", "", ":2}")], [A, B]),
    "late id": ([d(0, "", "get_a"), d(0, "c0", "", '{"x":1}')], [A]),
    "late name": ([d(0, "c0", "", '{"x":1'), d(0, "", "get_a", "}")], [A]),
    "arguments before the name, without a number": ([d(text='{"x":1}'), d(None, "c0", "get_a")], [A]),
    "a name that grows": ([d(0, "c0", "get"), d(0, "", "get_a", '{"x":1}')], [A]),
    "name and arguments under two numbers": ([d(0, "c0", "get_a"), d(1, text='{"x"'), d(1, text=":1}"), d(2, "c1", "get_b"), d(3, text='{"y":2}')], [A, B]),
    "another id in each event": ([d(0, "c0", "get_a", '{"x"'), d(0, "r1", "", ":"), d(0, "r2", "", "1}")], [A]),
    "arguments as an object": ([d(0, "c0", "get_a", arguments={"x": 1}), d(1, "c1", "get_b", arguments={"y": 2})], [A, B]),
    "objects, always number 0, no id": ([d(0, "", "get_a", arguments={"x": 1}), d(0, "", "get_a", arguments={"x": 2})], [("call_0", "get_a", {"x": 1}), ("call_1", "get_a", {"x": 2})]),
    "objects without id and number": ([d(name="get_a", arguments={"x": 1}), d(name="get_a", arguments={})], [("call_0", "get_a", {"x": 1}), ("call_1", "get_a", {})]),
    "an object in two parts": ([d(0, "c0", "get_a", arguments={"x": 1}), d(0, "c0", arguments={"y": 2})], [("c0", "get_a", {"x": 1, "y": 2})]),
    "no arguments": ([d(0, "c0", "get_a")], [("c0", "get_a", {})]),
    "white space for arguments": ([d(0, "c0", "get_a", " \n")], [("c0", "get_a", {})]),
    "null for arguments": ([d(0, "c0", "get_a", "null")], [("c0", "get_a", {})]),
    "one id for two calls": ([d(0, "c0", "get_a", '{"x":1}'), d(1, "c0", "get_b", '{"y":2}')], [A, ("c0_2", "get_b", {"y": 2})]),
    "the whole text again at the end": ([d(0, "c0", "get_a"), d(0, text='{"x":'), CallDelta(0, text='{"x":1}', whole=True)], [A]),
    "a made id that is taken": ([d(0, "", "get_a", '{"x":1}'), d(1, "call_0", "get_b", '{"y":2}')], [("call_1", "get_a", {"x": 1}), ("call_0", "get_b", {"y": 2})]),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_calls_are_found_in_every_dialect(dialect: str) -> None:
    events, expected = DIALECTS[dialect]
    assert calls(*events, CALLS) == expected


@pytest.mark.parametrize("finish", [Finished("stop", "stop"), Ended(), None])
def test_the_end_of_the_stream_decides_and_not_the_reason(finish: Event | None) -> None:
    reply = folded(d(0, "c0", "get_a", '{"x":1}'), *([finish] if finish else []))
    assert (reply.finish, [call.arguments for call in reply.calls]) == ("calls", [{"x": 1}])


def test_calls_that_were_announced_and_did_not_come_are_noted() -> None:
    reply = folded(TextDelta("hm"), CALLS)
    assert (reply.finish, reply.raw_finish, reply.notes) == (
        "stop",
        "tool_calls",
        (Note("finish.without_calls", "changed", "", "tool_calls"),),
    )


# ── what is no call ──────────────────────────────────────────────────────────────────────────────────────────────


def test_broken_arguments_are_kept_with_their_text_and_the_place() -> None:
    (call,) = folded(d(0, "c0", "write", '{"path":"/data/abc'), Finished("length", "length")).calls
    assert call == ToolCall(
        "c0", "write", '{"path":"/data/abc', None,
        'the arguments end too early, inside of a string, after "{\\"path\\":\\"/data/abc"',
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ['{"a":1}}', '{"a":1}{"b":', '{"a":1} x', "[1]", '"a"', "1", "true", '{"a":1}[2]', "{}{}x", '{"a":NaN}', "{'a':1}"],
)
def test_text_that_is_not_one_object_is_never_made_one(text: str) -> None:
    (call,) = folded(d(0, "c0", "f", text), CALLS).calls
    assert (call.id, call.name, call.text, call.arguments) == ("c0", "f", text, None)
    assert call.problem


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ([Finished("length", "length")], "the reply was cut at the token limit before the arguments were there"),
        ([Failed("overloaded")], "the reply ended in an error before the arguments were there"),
        ([], "the reply broke off before the arguments were there"),
    ],
)
def test_no_arguments_yet_are_not_no_arguments(end: list[Event], why: str) -> None:
    reply = folded(d(0, "c0", "a"), d(1, "c1", "b"), *end, broken_off=True)
    assert reply.calls == (ToolCall("c0", "a", "", None, why), ToolCall("c1", "b", "", None, why))


def test_a_call_that_the_wire_has_closed_has_no_arguments_unless_it_was_cut_at_the_limit() -> None:
    (call,) = folded(d(0, "c0", "a"), Closed(0), broken_off=True).calls
    assert call.arguments == {}
    (call,) = folded(d(0, "c0", "a"), Closed(0), Finished("length", "max_tokens")).calls
    assert call.arguments is None


def test_a_call_that_may_lack_a_piece_is_not_run() -> None:
    assembler = Assembler()
    for event in (d(0, "c0", "a", '{"x":1}'), d(1, "c1", "b", '{"y":1')):
        assembler.feed(event)
    assembler.damage()
    assembler.feed(d(1, text="2}"))
    whole, damaged = assembler.reply().calls
    assert whole.arguments == {"x": 1}
    assert (damaged.text, damaged.arguments) == ('{"y":12}', None)
    assert damaged.problem == "an event of the stream could not be read while the arguments arrived"


def test_many_calls_of_one_id_cost_no_more_than_others() -> None:
    events = [d(i, "c0", "a", "{}") for i in range(20_000)]
    assert [call.id for call in folded(*events, CALLS).calls][-1] == "c0_20000"


def test_a_call_that_was_whole_before_the_cut_is_a_call() -> None:
    reply = folded(d(0, "c0", "a", "{}"), Finished("length", "length"))
    assert (reply.finish, reply.calls) == ("length", (ToolCall("c0", "a", "{}", {}),))


def test_a_call_without_a_name_is_noted() -> None:
    reply = folded(d(0, "c0", "", '{"x":1}'), CALLS)
    assert reply.calls == (ToolCall("c0", "", '{"x":1}', {"x": 1}),)
    assert reply.notes == (Note("call.nameless", "changed", "", "c0"),)


def test_nothing_at_all_is_no_call() -> None:
    assert folded(CallDelta(0), CallDelta(), Finished("stop")).calls == ()


def test_a_signature_that_comes_by_itself_belongs_to_the_last_call() -> None:
    (call,) = folded(d(0, "c0", "a", "{}"), CallDelta(opaque={"extra_content": {"google": 1}}), CALLS).calls
    assert call.opaque == {"extra_content": {"google": 1}}


def test_a_cut_call_of_json_paths_is_broken() -> None:
    whole = CallDelta(None, "", "f", pieces=(("$.a", "x", True), ("$.a", "y", False), ("$.b[0]", 1, False)))
    assert [each.arguments for each in folded(whole, CALLS).calls] == [{"a": "xy", "b": [1]}]
    bad = CallDelta(None, "", "f", pieces=(("$.a[", "x", False),))
    assert [each.arguments for each in folded(bad, CALLS).calls] == [None]


# ── parts and their order ────────────────────────────────────────────────────────────────────────────────────────


def test_parts_stand_in_the_order_in_which_they_were_opened() -> None:
    reply = folded(
        About("m-1", "r1"),
        ReasoningDelta("hm", 0), ReasoningDelta("", 0, {"signature": "s"}),
        TextDelta("a", 1), d(2, "c0", "f"), TextDelta("b", 1), CallDelta(2, text="{}"),
        ForeignPart("server_tool_use", {"type": "server_tool_use", "input": {}}, 3),
        ForeignDelta(3, "input", '{"q":', json=True), ForeignDelta(3, "input", '"é"}', json=True),
        ImagePart(Image("aGk=", "image/png")),
        Spent(Usage(input=3, output=1)), Spent(Usage(output=9)), Finished("calls", "tool_use"), Ended(),
    )  # fmt: skip
    assert reply == Reply(
        Message(
            "assistant",
            (
                Reasoning("hm", {"signature": "s"}), Text("ab"), ToolCall("c0", "f", "{}", {}),
                Foreign("server_tool_use", {"type": "server_tool_use", "input": {"q": "é"}}), Image("aGk=", "image/png"),
            ),
            "openai-chat", "m-1",
        ),
        "calls", "tool_use", Usage(3, 9), None, (), "r1",
    )  # fmt: skip
    assert reply.message.parts[0].opaque == {"signature": "s"}  # type: ignore[union-attr]


def test_text_without_a_key_is_joined_until_something_else_comes() -> None:
    reply = folded(
        TextDelta("a"), TextDelta("b"), ReasoningDelta("r"), TextDelta("c"), TextDelta("", opaque={"thoughtSignature": "S"}),
        TextDelta("d"), Finished("stop"),
    )  # fmt: skip
    assert reply.message.parts == (
        Text("ab"), Reasoning("r"), Text("c"), Text("", {"thoughtSignature": "S"}), Text("d"),
    )  # fmt: skip


def test_the_arguments_of_a_hosted_tool_are_no_call() -> None:
    opened = ForeignPart("server_tool_use", {"name": "search", "input": {}}, 1)
    reply = folded(opened, CallDelta(1, text='{"q":'), CallDelta(1, text='"a"}'), Finished("stop"))
    assert reply.message.parts == (Foreign("server_tool_use", {"name": "search", "input": {"q": "a"}}),)


def test_what_is_only_said_at_the_end_counts_and_what_is_said_again_does_not() -> None:
    again = Repeated((TextDelta("a", 0), d(1, "c0", "f", "{}")))
    once = folded(TextDelta("a", 0), d(1, "c0", "f", "{}"), CALLS)
    assert folded(TextDelta("a", 0), d(1, "c0", "f", "{}"), again, CALLS) == once
    assert folded(again, CALLS) == once


def test_a_foreign_part_is_replaced_by_its_final_form() -> None:
    reply = folded(ForeignPart("mcp_call", {"output": None}, 1), ForeignPart("mcp_call", {"output": "x"}, 1))
    assert reply.message.parts == (Foreign("mcp_call", {"output": "x"}),)


def test_what_is_not_understood_is_noted_and_bounded() -> None:
    reply = folded(*(Unread({"type": f"new{i}"}) for i in range(1000)))
    assert len(reply.notes) == 100
    assert reply.notes[0] == Note("event.unknown", "narrowed", "", {"type": "new0"})


def test_an_error_in_the_stream_is_told() -> None:
    reply = folded(TextDelta("a"), Failed("overloaded", "529"))
    assert (reply.finish, reply.error, reply.text) == ("error", "overloaded", "a")


# ── while it arrives ─────────────────────────────────────────────────────────────────────────────────────────────


def test_arguments_can_be_seen_while_they_arrive() -> None:
    assembler = Assembler()
    seen: list[Any] = []
    for fragment in ['{"path": "/da', 'ta", "lines": [1, 2', ', 3], "x', '": true}']:
        assembler.feed(CallDelta(0, "c0" if not seen else "", "write" if not seen else "", fragment))
        (partial,) = assembler.partial()
        assert partial[:2] == ("c0", "write")
        seen.append(partial.arguments)
    assert seen == [
        {"path": "/da"}, {"path": "/data", "lines": [1, 2]}, {"path": "/data", "lines": [1, 2, 3]},
        {"path": "/data", "lines": [1, 2, 3], "x": True},
    ]  # fmt: skip
    assert assembler.partial()[0] == PartialCall("c0", "write", assembler.partial()[0].text, seen[-1])
    assert [call.arguments for call in assembler.reply().calls] == [seen[-1]]


def test_asking_in_between_changes_nothing() -> None:
    for events, expected in DIALECTS.values():
        assembler = Assembler()
        for event in events:
            assembler.feed(event)
            assembler.partial()
        assert [(call.id, call.name, call.arguments) for call in assembler.reply().calls] == expected


def test_the_short_way_is_the_long_way() -> None:
    short, long = Assembler(), Assembler()
    for assembler in (short, long):
        assembler.feed(d(0, "c0", "f", '{"a":'))
    assert not short.append(1, "x")
    assert short.append(0, '"é"}')
    long.feed(CallDelta(0, text='"é"}'))
    assert short.reply() == long.reply()


def test_a_megabyte_under_changing_ids_is_read_once() -> None:
    """Each event asks whether the call is whole so far: that must not read it all again."""
    text = json.dumps({"a": "x" * 300_000})
    events = [d(0, f"r{i}", "f" if i == 0 else "", text[i : i + 10]) for i in range(0, len(text), 10)]
    assert calls(*events, CALLS) == [("r0", "f", {"a": "x" * 300_000})]
