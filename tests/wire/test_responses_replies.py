"""Replies of the Responses format, streamed and whole, from the wire and from OpenAI's SDK."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response

from tests.wire.sdk_streams import folded, folded_reply, openai_objects
from toolbridge.stream.events import (
    About,
    CallDelta,
    Ended,
    Failed,
    Finished,
    ForeignPart,
    ReasoningDelta,
    Repeated,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Foreign, Message, Reasoning, Text, ToolCall
from toolbridge.wire.responses import TALK

ORIGIN = "openai-responses"
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5.4-2026-03-05",
    "output": [],
    "status": "in_progress",
    "error": None,
    "incomplete_details": None,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": None,
}
USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 12},
    "total_tokens": 130,
}
REASONING: dict[str, Any] = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}],
    "encrypted_content": "gAAAAB…",
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Let me look: Zürich.", "annotations": [], "logprobs": []}],
}
CALL: dict[str, Any] = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "weather",
    "arguments": '{"city": "Zürich"}',
    "namespace": "maps",
}
OTHER: dict[str, Any] = {**CALL, "id": "fc_2", "call_id": "call_2", "arguments": "{}"}
DONE: dict[str, Any] = {**RESPONSE, "status": "completed", "output": [REASONING, MESSAGE, CALL, OTHER], "usage": USAGE}


def at(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"output_index": index, "item_id": item["id"]}


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def called(index: int, item: dict[str, Any], *pieces: str) -> list[dict[str, Any]]:
    """A call as OpenAI streams it: opened without arguments, in fragments, whole, and the item whole."""
    return [
        added(index, {**item, "arguments": "", "status": "in_progress"}),
        *(
            {"type": "response.function_call_arguments.delta", **at(index, item), "delta": piece, "obfuscation": "x"}
            for piece in pieces
        ),
        {"type": "response.function_call_arguments.done", **at(index, item), "arguments": item["arguments"]},
        done(index, item),
    ]


STREAM: list[dict[str, Any]] = [
    {"type": "response.created", "response": RESPONSE},
    {"type": "response.in_progress", "response": RESPONSE},
    added(0, {**REASONING, "summary": [], "encrypted_content": "gA"}),
    {"type": "response.reasoning_summary_part.added", **at(0, REASONING), "summary_index": 0, "part": {"type": "summary_text", "text": ""}},
    {"type": "response.reasoning_summary_text.delta", **at(0, REASONING), "summary_index": 0, "delta": "Fir"},
    {"type": "response.reasoning_summary_text.delta", **at(0, REASONING), "summary_index": 0, "delta": "st."},
    {"type": "response.reasoning_summary_text.done", **at(0, REASONING), "summary_index": 0, "text": "First."},
    {"type": "response.reasoning_summary_part.done", **at(0, REASONING), "summary_index": 0, "part": REASONING["summary"][0]},
    {"type": "response.reasoning_summary_part.added", **at(0, REASONING), "summary_index": 1, "part": {"type": "summary_text", "text": ""}},
    {"type": "response.reasoning_summary_text.delta", **at(0, REASONING), "summary_index": 1, "delta": "Then."},
    done(0, REASONING),
    added(1, {**MESSAGE, "status": "in_progress", "content": []}),
    {"type": "response.content_part.added", **at(1, MESSAGE), "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}},
    {"type": "response.output_text.delta", **at(1, MESSAGE), "content_index": 0, "delta": "Let me look:", "logprobs": []},
    {"type": "response.output_text.delta", **at(1, MESSAGE), "content_index": 0, "delta": " Zürich.", "logprobs": []},
    {"type": "response.output_text.done", **at(1, MESSAGE), "content_index": 0, "text": "Let me look: Zürich.", "logprobs": []},
    {"type": "response.content_part.done", **at(1, MESSAGE), "content_index": 0, "part": MESSAGE["content"][0]},
    done(1, MESSAGE),
    *called(2, CALL, '{"city": ', '"Zür', 'ich"}'),
    *called(3, OTHER),
    {"type": "response.completed", "response": DONE},
]  # fmt: skip

REPLY = Reply(
    Message(
        "assistant",
        (
            Reasoning("First.\n\nThen.", REASONING),
            Text("Let me look: Zürich.", {"id": "msg_1", "phase": "commentary"}),
            ToolCall("call_1", "weather", '{"city": "Zürich"}', {"city": "Zürich"}, None, {"id": "fc_1", "namespace": "maps"}),
            ToolCall("call_2", "weather", "{}", {}, None, {"id": "fc_2", "namespace": "maps"}),
        ),
        ORIGIN,
        "gpt-5.4-2026-03-05",
    ),
    "calls",
    "completed",
    Usage(100, 30, 64, 12),
    id="resp_1",
)  # fmt: skip


def numbered(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def test_a_stream_folds_to_reasoning_text_and_parallel_calls() -> None:
    assert folded(TALK, STREAM, ORIGIN) == REPLY


def test_a_stream_from_the_sdk_folds_to_the_same() -> None:
    assert folded(TALK, openai_objects(numbered(STREAM)), ORIGIN) == REPLY


def test_a_whole_reply_is_the_same_as_its_stream() -> None:
    assert folded_reply(TALK, DONE, ORIGIN) == REPLY
    assert folded_reply(TALK, Response.model_validate(DONE), ORIGIN) == REPLY
    assert folded_reply(TALK, json.dumps(DONE), ORIGIN) == REPLY


def test_reading_leaves_what_it_reads_as_it_is() -> None:
    events = copy.deepcopy([*STREAM, {"type": "response.completed", "response": DONE}])
    folded(TALK, events, ORIGIN)
    folded_reply(TALK, events[-1]["response"], ORIGIN)
    assert events == [*STREAM, {"type": "response.completed", "response": DONE}]


def test_the_short_way_of_a_fragment_leads_to_the_same() -> None:
    assert TALK.continuation is not None
    found = [(TALK.continuation(event), TALK.read_event(event)) for event in STREAM]
    short = [(key_and_text, events) for key_and_text, events in found if key_and_text is not None]
    assert len(short) >= 3
    for (key, text), events in short:
        assert events == ([CallDelta(key, text=text)] if text else [])


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": None},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{"},
        {"type": "response.function_call_arguments.delta", "output_index": True, "delta": "{"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "{"},
        {},
    ],
)
def test_only_a_whole_fragment_takes_the_short_way(event: dict[str, Any]) -> None:
    assert TALK.continuation is not None
    assert TALK.continuation(event) is None


# ── events, one by one ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_events_say_who_answers() -> None:
    assert TALK.read_event({"type": "response.created", "response": RESPONSE}) == [
        About("gpt-5.4-2026-03-05", "resp_1")
    ]


def test_a_call_opens_with_its_ids_and_without_arguments() -> None:
    assert TALK.read_event(added(2, {**CALL, "arguments": "", "status": "in_progress"})) == [
        CallDelta(2, "call_1", "weather", opaque={"id": "fc_1", "namespace": "maps"})
    ]


def test_a_call_keeps_what_stands_beside_it_but_not_what_only_replies_say() -> None:
    caller = {"type": "program", "caller_id": "prog_1"}
    item = {
        **CALL,
        "caller": caller,
        "async": False,
        "created_by": "me",
        "parsed_arguments": {},
        "extra": None,
        "agent": "a",
    }
    assert TALK.read_event(done(0, item)) == [
        CallDelta(
            0,
            "call_1",
            "weather",
            '{"city": "Zürich"}',
            whole=True,
            opaque={"id": "fc_1", "namespace": "maps", "caller": caller, "async": False, "agent": "a"},
        )
    ]


def test_a_custom_call_has_text_in_place_of_arguments() -> None:
    item = {"id": "ctc_1", "type": "custom_tool_call", "call_id": "call_9", "name": "run", "input": "print(1)"}
    events = [
        added(0, {**item, "input": ""}),
        {"type": "response.custom_tool_call_input.delta", **at(0, item), "delta": "print"},
        {"type": "response.custom_tool_call_input.delta", **at(0, item), "delta": "(1)"},
        {"type": "response.custom_tool_call_input.done", **at(0, item), "input": "print(1)"},
        done(0, item),
        {"type": "response.completed", "response": {**RESPONSE, "status": "completed", "output": [item]}},
    ]
    (call,) = folded(TALK, openai_objects(numbered(events)), ORIGIN).calls
    assert (call.id, call.name, call.text, call.arguments, call.opaque) == (
        "call_9", "run", "print(1)", None, {"id": "ctc_1", "type": "custom_tool_call"},
    )  # fmt: skip


def test_every_part_of_a_message_is_a_text_of_its_own_and_a_refusal_is_marked() -> None:
    citation = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}
    first = {"type": "output_text", "text": "One", "annotations": [citation]}
    message = {**MESSAGE, "content": [first, {"type": "refusal", "refusal": "No."}], "phase": None}
    streamed = [
        added(0, {**message, "content": []}),
        {"type": "response.output_text.delta", **at(0, message), "content_index": 0, "delta": "One"},
        {"type": "response.output_text.annotation.added", **at(0, message), "content_index": 0, "annotation_index": 0, "annotation": citation},
        {"type": "response.refusal.delta", **at(0, message), "content_index": 1, "delta": "N"},
        {"type": "response.refusal.delta", **at(0, message), "content_index": 1, "delta": "o."},
        {"type": "response.refusal.done", **at(0, message), "content_index": 1, "refusal": "No."},
        done(0, message),
    ]  # fmt: skip
    parts = (Text("One", {"id": "msg_1", "annotations": [citation]}), Text("No.", {"id": "msg_1", "type": "refusal"}))
    assert folded(TALK, streamed, ORIGIN).message.parts == parts
    assert folded_reply(TALK, {**DONE, "output": [message]}, ORIGIN).message.parts == parts


def test_reasoning_of_open_models_comes_as_text() -> None:
    item = {
        "type": "reasoning",
        "id": "rs_9",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm, so."}],
    }
    streamed = [
        added(0, {**item, "content": []}),
        {"type": "response.content_part.added", **at(0, item), "content_index": 0, "part": {"type": "reasoning_text", "text": ""}},
        {"type": "response.reasoning_text.delta", **at(0, item), "content_index": 0, "delta": "Hm, "},
        {"type": "response.reasoning_text.delta", **at(0, item), "content_index": 0, "delta": "so."},
        {"type": "response.reasoning_text.done", **at(0, item), "content_index": 0, "text": "Hm, so."},
        {"type": "response.content_part.done", **at(0, item), "content_index": 0, "part": {"type": "reasoning_text", "text": "Hm, so."}},
        done(0, item),
    ]  # fmt: skip
    assert folded(TALK, streamed, ORIGIN).message.parts == (Reasoning("Hm, so.", item),)
    assert folded(TALK, streamed[:-1], ORIGIN).message.parts == (Reasoning("Hm, so."),)


def test_reasoning_that_shows_nothing_is_kept_for_what_is_sealed_in_it() -> None:
    item = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAA"}
    assert TALK.read_event(done(0, item)) == [ReasoningDelta("", 0, item)]


@pytest.mark.parametrize(
    "item",
    [
        {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "s", "tools": [], "error": None},
        {"id": "mcp_1", "type": "mcp_call", "server_label": "s", "name": "t", "arguments": "{}", "output": "x", "error": None},
        {"id": "mcpr_1", "type": "mcp_approval_request", "server_label": "s", "name": "t", "arguments": "{}"},
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}},
        {"id": "ig_1", "type": "image_generation_call", "status": "completed", "result": "aW1n"},
        {"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "code": "1", "container_id": "c", "outputs": None},
        {"id": "cmp_1", "type": "compaction", "encrypted_content": "x"},
        {"id": "x_1", "type": "item_of_tomorrow", "anything": [1]},
    ],
    ids=lambda item: item["type"],
)  # fmt: skip
def test_items_of_hosted_tools_are_kept_whole_when_they_are_done(item: dict[str, Any]) -> None:
    assert TALK.read_event(added(4, {**item, "status": "in_progress"})) == []
    assert TALK.read_event(done(4, item)) == [ForeignPart(item["type"], item, 4)]
    assert folded_reply(TALK, {**DONE, "output": [item]}, ORIGIN).message.parts == (Foreign(item["type"], item),)


@pytest.mark.parametrize(
    "kind",
    [
        "response.mcp_call.in_progress", "response.mcp_call_arguments.delta", "response.mcp_call_arguments.done",
        "response.mcp_call.completed", "response.mcp_call.failed", "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed", "response.mcp_list_tools.failed", "response.web_search_call.searching",
        "response.file_search_call.completed", "response.code_interpreter_call.interpreting",
        "response.code_interpreter_call_code.delta", "response.image_generation_call.partial_image",
        "response.shell_call_command.delta", "response.shell_call_output_content.done",
        "response.compaction.compacting", "response.steer.accepted", "keepalive", "ping",
        "response.computer_call.in_progress", "response.tool_search_call.completed", "response.apply_patch_call.done",
    ],
)  # fmt: skip
def test_progress_of_hosted_tools_says_nothing_that_their_items_do_not(kind: str) -> None:
    assert TALK.read_event({"type": kind, "output_index": 0, "item_id": "x", "delta": "d"}) == []


# ── servers that do it in another way ────────────────────────────────────────────────────────────────────────────────


def test_an_item_id_that_changes_with_every_event_does_no_harm() -> None:
    number = iter(range(100))
    events = [{**event, "item_id": f"x{next(number)}"} for event in STREAM]
    assert folded(TALK, events, ORIGIN) == REPLY


def test_without_numbers_the_item_ids_tell_the_parts_apart() -> None:
    one, two = called(2, CALL, '{"city": ', '"Zürich"}'), called(3, OTHER, "{", "}")
    mixed = [one[0], two[0], one[1], two[1], one[2], two[2], *one[3:], *two[3:]]
    events = [{key: value for key, value in event.items() if key != "output_index"} for event in mixed]
    assert folded(TALK, events, ORIGIN).calls == REPLY.calls


def test_a_fragment_may_be_null() -> None:
    kinds = ("function_call_arguments", "output_text", "refusal", "reasoning_summary_text", "custom_tool_call_input")
    assert [
        TALK.read_event({"type": f"response.{kind}.delta", "output_index": 0, "delta": None}) for kind in kinds
    ] == [[]] * 5


def test_an_empty_end_does_not_erase_the_fragments() -> None:
    events = called(0, CALL, '{"city": ', '"Zürich"}')[:-2]
    events += [
        {"type": "response.function_call_arguments.done", **at(0, CALL), "arguments": ""},
        done(0, {**CALL, "arguments": ""}),
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Hello"},
        {"type": "response.output_text.done", "output_index": 1, "text": ""},
        done(1, {**MESSAGE, "content": [{"type": "output_text", "text": "", "annotations": []}]}),
    ]
    reply = folded(TALK, events, ORIGIN)
    assert (reply.calls, reply.text) == (REPLY.calls[:1], "Hello")


@pytest.mark.parametrize("empty", ["", None, {}])
def test_fragments_win_over_an_item_that_opens_with_nothing(empty: Any) -> None:
    events = [
        added(0, {**CALL, "arguments": empty}),
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": CALL["arguments"]},
    ]
    assert folded(TALK, events, ORIGIN).calls == REPLY.calls[:1]


def test_arguments_may_come_as_an_object() -> None:
    expected = ToolCall(
        "call_1", "weather", '{"city":"Zürich"}', {"city": "Zürich"}, None, {"id": "fc_1", "namespace": "maps"}
    )
    item = {**CALL, "arguments": {"city": "Zürich"}}
    whole = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": {"city": "Zürich"}}
    assert folded(TALK, [done(0, item)], ORIGIN).calls == (expected,)
    assert folded(TALK, [added(0, {**CALL, "arguments": ""}), whole], ORIGIN).calls == (expected,)


def test_a_call_without_arguments_has_none() -> None:
    events = [added(0, {**CALL, "arguments": ""}), done(0, {**CALL, "arguments": ""})]
    (call,) = folded(TALK, events, ORIGIN).calls
    assert (call.arguments, call.problem) == ({}, None)


def test_a_call_without_a_call_id_is_answered_by_its_item_id() -> None:
    item = {key: value for key, value in CALL.items() if key != "call_id"}
    assert folded(TALK, [done(0, item)], ORIGIN).calls[0].id == "fc_1"


def test_the_response_at_the_end_is_the_reply_once_more() -> None:
    assert TALK.read_event({"type": "response.completed", "response": {**DONE, "output": [MESSAGE, CALL]}}) == [
        About("gpt-5.4-2026-03-05", "resp_1"),
        Repeated(
            (
                TextDelta("Let me look: Zürich.", 0, {"id": "msg_1", "phase": "commentary"}, whole=True),
                CallDelta(1, "call_1", "weather", '{"city": "Zürich"}', whole=True, opaque={"id": "fc_1", "namespace": "maps"}),
            )
        ),
        Spent(Usage(100, 30, 64, 12)),
        Finished("stop", "completed"),
        Ended(),
    ]  # fmt: skip


def test_a_stream_of_nothing_but_its_end_is_read_and_other_streams_are_not_read_twice() -> None:
    end = {"type": "response.completed", "response": DONE}
    assert folded(TALK, [STREAM[0], end], ORIGIN) == REPLY
    elsewhere = [
        {**event, "output_index": event["output_index"] + 7} if "output_index" in event else event for event in STREAM
    ]
    assert folded(TALK, elsewhere, ORIGIN) == REPLY


# ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reason", "finish", "raw"),
    [
        ("max_output_tokens", "length", "max_output_tokens"),
        ("content_filter", "filtered", "content_filter"),
        ("max_messages", "length", "max_messages"),
        ("steered", "stop", "steered"),
        ("tomorrow", "length", "tomorrow"),
        (None, "length", "incomplete"),
    ],
)
def test_an_incomplete_response_says_why(reason: str | None, finish: Any, raw: str) -> None:
    response = {**RESPONSE, "status": "incomplete", "incomplete_details": reason and {"reason": reason}}
    ends = [Finished(finish, raw), Ended()]
    assert TALK.read_event({"type": "response.incomplete", "response": response})[1:] == ends
    assert TALK.read_reply(response)[1:] == ends


def test_a_call_cut_at_the_token_limit_is_told_and_not_run() -> None:
    events = called(0, CALL, '{"city": "Zü')[:-2]
    cut = {**CALL, "arguments": '{"city": "Zü', "status": "incomplete"}
    response = {
        **RESPONSE,
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [cut],
    }
    streamed = folded(TALK, [*events, done(0, cut), {"type": "response.incomplete", "response": response}], ORIGIN)
    for reply in (streamed, folded_reply(TALK, response, ORIGIN)):
        assert (reply.finish, reply.calls[0].text, reply.calls[0].arguments) == ("length", '{"city": "Zü', None)
        assert reply.calls[0].problem


def test_a_failed_response_says_what_failed() -> None:
    error = {"code": "rate_limit_exceeded", "message": "Too many."}
    response = {**RESPONSE, "status": "failed", "error": error}
    ends = [Failed("Too many.", "rate_limit_exceeded"), Finished("error", "failed"), Ended()]
    assert TALK.read_event({"type": "response.failed", "response": response})[1:] == ends
    assert TALK.read_reply(response)[1:] == ends
    reply = folded(
        TALK, [*called(0, CALL, CALL["arguments"]), {"type": "response.failed", "response": response}], ORIGIN
    )
    assert (reply.finish, reply.error, reply.raw_finish) == ("error", "Too many.", "failed")


@pytest.mark.parametrize(
    ("event", "failed"),
    [
        ({"type": "error", "code": "server_error", "message": "Oh.", "param": None}, Failed("Oh.", "server_error")),
        ({"type": "error", "error": {"type": "invalid", "message": "Oh."}}, Failed("Oh.", "invalid")),
        ({"error": {"message": "Oh.", "code": "c", "type": "t"}}, Failed("Oh.", "c")),
        ({"error": "Oh."}, Failed("Oh.")),
        ({"type": "error"}, Failed("the provider reports an error and says no more")),
    ],
)
def test_errors_are_read_in_every_form(event: dict[str, Any], failed: Failed) -> None:
    assert TALK.read_event(event) == [failed]


def test_an_error_in_place_of_a_reply_is_told() -> None:
    reply = folded_reply(TALK, {"error": {"message": "No such model.", "code": "model_not_found"}}, ORIGIN)
    assert (reply.finish, reply.error) == ("error", "No such model.")


def test_a_reply_that_is_still_under_way_has_no_end() -> None:
    assert TALK.read_reply({**RESPONSE, "status": "queued"}) == [About("gpt-5.4-2026-03-05", "resp_1")]


def test_a_cancelled_response_ends_in_an_error() -> None:
    assert TALK.read_reply({**RESPONSE, "status": "cancelled"})[1:] == [Finished("error", "cancelled"), Ended()]


def test_a_reply_without_a_status_is_a_reply() -> None:
    reply = folded_reply(TALK, {"output": [CALL]}, ORIGIN)
    assert (reply.finish, reply.calls) == ("calls", REPLY.calls[:1])


def test_the_event_that_ends_a_stream_is_read_as_a_reply() -> None:
    assert folded_reply(TALK, {"type": "response.completed", "response": DONE}, ORIGIN) == REPLY


# ── anything ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "event", [None, 3, "x", [], {}, {"type": "response.tomorrow"}, {"type": ["list"]}, {"type": 7}]
)
def test_what_is_not_understood_is_told(event: Any) -> None:
    assert TALK.read_event(event) == [Unread(event)]


@pytest.mark.parametrize("reply", [None, 3, "x", [], {}, {"output": 3}])
def test_what_is_no_reply_is_told(reply: Any) -> None:
    assert TALK.read_reply(reply) == [Unread(reply)]


def test_an_item_that_is_none_is_told_and_the_others_are_read() -> None:
    items = [
        7,
        {"no": "type"},
        {**MESSAGE, "content": None},
        {**MESSAGE, "content": [9, {"type": "x"}]},
        {**MESSAGE, "content": "Hi"},
    ]
    assert TALK.read_reply({"output": items}) == [
        Unread(7),
        Unread({"no": "type"}),
        Unread(9),
        Unread({"type": "x"}),
        TextDelta("Hi", 4, {"id": "msg_1", "phase": "commentary"}, whole=True),
        Finished("stop", ""),
        Ended(),
    ]


def test_an_end_without_a_response_is_an_end() -> None:
    assert TALK.read_event({"type": "response.completed"}) == [Finished("stop", "completed"), Ended()]


KINDS = sorted(
    {event["type"] for event in STREAM} | {"response.failed", "response.incomplete", "response.refusal.done", "error"}
)
JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.lists(JSON, max_size=3) | st.dictionaries(st.sampled_from(["type", "id", "item", "content", "text"]), JSON, max_size=3)
)  # fmt: skip
ITEMS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning", "function_call", "custom_tool_call", "x"]) | JSON},
    optional=dict.fromkeys(
        ("id", "call_id", "name", "arguments", "input", "content", "summary", "role", "phase"), JSON
    ),
)
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={
        "item": ITEMS | JSON,
        "response": st.fixed_dictionaries({}, optional={"output": st.lists(ITEMS | JSON, max_size=3), "error": JSON, "usage": JSON, "incomplete_details": JSON, "status": JSON}) | JSON,
        **dict.fromkeys(("delta", "text", "arguments", "input", "output_index", "item_id", "content_index", "summary_index", "part", "error", "code", "message", "refusal"), JSON),
    },
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(EVENTS | JSON, max_size=6))
def test_no_event_is_too_strange(events: list[Any]) -> None:
    for event in events:
        for read in (TALK.read_event, TALK.read_reply):
            assert isinstance(read(event), list)


@settings(max_examples=150, deadline=None)
@given(st.lists(EVENTS, max_size=6))
def test_no_stream_is_too_strange_to_fold(events: list[Any]) -> None:
    assert isinstance(folded(TALK, events, ORIGIN), Reply)
