"""Replies of Anthropic Messages, streamed and whole, from the wire and from Anthropic's SDK."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from anthropic.types import Message as SdkMessage
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.sdk_streams import anthropic_helper_objects, anthropic_objects, folded, folded_reply
from toolbridge.stream.events import (
    About,
    CallDelta,
    Ended,
    Failed,
    Finished,
    ForeignDelta,
    ForeignPart,
    ReasoningDelta,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Foreign, Message, Reasoning, Text, ToolCall
from toolbridge.wire.anthropic import TALK

ORIGIN = "anthropic"
START: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-5",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1},
}
THINKING = {"type": "thinking", "thinking": "Hm, so.", "signature": "EqQB…"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK…"}
TEXT = {"type": "text", "text": "I look: Zürich."}
USE: dict[str, Any] = {
    "type": "tool_use",
    "id": "toolu_1",
    "name": "weather",
    "input": {"city": "Zürich"},
    "caller": {"type": "direct"},
}
EMPTY_USE: dict[str, Any] = {"type": "tool_use", "id": "toolu_2", "name": "now", "input": {}}
WHOLE: dict[str, Any] = {
    **START,
    "content": [THINKING, REDACTED, TEXT, USE, EMPTY_USE],
    "stop_reason": "tool_use",
    "usage": {**START["usage"], "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 20}},
}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def fragment(text: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


def end(reason: str | None, **usage: Any) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": usage or {"output_tokens": 50}},
        {"type": "message_stop"},
    ]


BEGIN: dict[str, Any] = {"type": "message_start", "message": START}
STREAM: list[dict[str, Any]] = [
    BEGIN,
    {"type": "ping"},
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Hm, "},
        {"type": "thinking_delta", "thinking": "so."},
        {"type": "signature_delta", "signature": "EqQB…"},
    ),
    *block(1, REDACTED),
    {"type": "ping"},
    *block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "I look:"}, {"type": "text_delta", "text": " Zürich."}),
    *block(3, {**USE, "input": {}}, fragment(""), fragment('{"city": "Z'), fragment('ürich"}')),
    *block(4, EMPTY_USE, fragment("")),
    *end("tool_use", output_tokens=50, output_tokens_details={"thinking_tokens": 20}),
]  # fmt: skip


def reply(*calls: ToolCall) -> Reply:
    parts = (Reasoning("Hm, so.", {"signature": "EqQB…"}), Reasoning("", REDACTED), Text("I look: Zürich."), *calls)
    message = Message("assistant", parts, ORIGIN, "claude-sonnet-5")
    return Reply(message, "calls", "tool_use", Usage(115, 50, 100, 20), id="msg_1")


DIRECT = {"caller": {"type": "direct"}}
STREAMED = reply(
    ToolCall("toolu_1", "weather", '{"city": "Zürich"}', {"city": "Zürich"}, None, DIRECT),
    ToolCall("toolu_2", "now", "", {}),
)
ANSWERED = reply(
    ToolCall("toolu_1", "weather", '{"city":"Zürich"}', {"city": "Zürich"}, None, DIRECT),
    ToolCall("toolu_2", "now", "{}", {}),
)


def test_a_stream_folds_to_thoughts_text_and_parallel_calls() -> None:
    assert folded(TALK, STREAM, ORIGIN) == STREAMED


def test_a_stream_from_the_sdk_folds_to_the_same() -> None:
    assert folded(TALK, anthropic_objects(STREAM), ORIGIN) == STREAMED


def test_what_the_sdk_puts_beside_the_stream_is_not_read_twice() -> None:
    objects = anthropic_helper_objects(STREAM)
    assert {"text", "thinking", "signature", "input_json"} <= {each.type for each in objects}
    assert folded(TALK, objects, ORIGIN) == STREAMED


def test_a_whole_reply_is_read_likewise() -> None:
    assert folded_reply(TALK, WHOLE, ORIGIN) == ANSWERED
    assert folded_reply(TALK, SdkMessage.model_validate(WHOLE), ORIGIN) == ANSWERED
    assert folded_reply(TALK, json.dumps(WHOLE), ORIGIN) == ANSWERED
    assert folded(TALK, [WHOLE], ORIGIN) == ANSWERED


def test_reading_leaves_what_it_reads_as_it_is() -> None:
    events, whole = copy.deepcopy(STREAM), copy.deepcopy(WHOLE)
    folded(TALK, events, ORIGIN)
    folded_reply(TALK, whole, ORIGIN)
    assert (events, whole) == (STREAM, WHOLE)


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
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": None}},
        {"type": "content_block_delta", "index": None, "delta": {"type": "input_json_delta", "partial_json": "{"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "{"}},
        {"type": "input_json", "index": 0, "delta": {"partial_json": "{"}},
        {"type": "content_block_delta", "index": 0, "delta": None},
        {},
    ],
)
def test_only_a_whole_fragment_takes_the_short_way(event: dict[str, Any]) -> None:
    assert TALK.continuation is not None
    assert TALK.continuation(event) is None


# ── events, one by one ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_first_event_says_who_answers_and_what_was_read() -> None:
    assert TALK.read_event(BEGIN) == [About("claude-sonnet-5", "msg_1"), Spent(Usage(115, 1, 100))]


def test_what_the_last_event_does_not_say_of_the_cost_stays() -> None:
    assert folded(TALK, [BEGIN, *end("end_turn", output_tokens=7)], ORIGIN).usage == Usage(115, 7, 100)
    said = {"input_tokens": 20, "cache_read_input_tokens": 200, "cache_creation_input_tokens": None, "output_tokens": 7}
    assert folded(TALK, [BEGIN, *end("end_turn", **said)], ORIGIN).usage == Usage(220, 7, 200)
    assert TALK.read_reply({"id": "msg_1", "content": [], "usage": {"input_tokens": 3}}) == [
        About("", "msg_1"),
        Spent(Usage(3)),
        Ended(),
    ]


def test_a_call_opens_with_its_id_and_its_name() -> None:
    assert TALK.read_event(block(3, {**USE, "input": {}})[0]) == [
        CallDelta(3, "toolu_1", "weather", opaque={"caller": {"type": "direct"}})
    ]


def test_input_that_is_there_from_the_start_is_read() -> None:
    streamed = folded(TALK, [BEGIN, *block(0, USE, fragment("")), *end("tool_use")], ORIGIN)
    assert streamed.calls == ANSWERED.calls[:1]


def test_fragments_of_several_calls_may_mix() -> None:
    one, two = block(0, {**USE, "input": {}}, fragment('{"city": '), fragment('"Zürich"}')), block(1, EMPTY_USE, fragment("{"), fragment("}"))  # fmt: skip
    mixed = [one[0], two[0], one[1], two[1], one[2], two[2], two[3], one[3]]
    assert [call.arguments for call in folded(TALK, [*mixed, *end("tool_use")], ORIGIN).calls] == [
        {"city": "Zürich"},
        {},
    ]


def test_a_thought_that_is_not_shown_is_kept_for_its_signature() -> None:
    events = block(
        0, {"type": "thinking", "thinking": "", "signature": ""}, {"type": "signature_delta", "signature": "EqQB…"}
    )
    assert folded(TALK, events, ORIGIN).message.parts == (Reasoning("", {"signature": "EqQB…"}),)
    hidden = {**WHOLE, "content": [{"type": "thinking", "thinking": "", "signature": "EqQB…"}]}
    assert folded_reply(TALK, hidden, ORIGIN).message.parts == (Reasoning("", {"signature": "EqQB…"}),)


def test_citations_stand_beside_their_text() -> None:
    first, second = {"type": "char_location", "cited_text": "a"}, {"type": "char_location", "cited_text": "b"}
    start, *rest, _ = block(
        2,
        {"type": "text", "text": "", "citations": []},
        {"type": "citations_delta", "citation": first},
        {"type": "text_delta", "text": "A"},
        {"type": "citations_delta", "citation": second},
    )
    assert [TALK.read_event(event) for event in (start, *rest)] == [
        [],
        [TextDelta("", 2, {"citations": [first]})],
        [TextDelta("A", 2)],
        [TextDelta("", 2, {"citations": [second]})],
    ]
    assert folded(TALK, [start, *rest], ORIGIN).message.parts == (Text("A", {"citations": [first, second]}),)
    whole = {**WHOLE, "content": [{"type": "text", "text": "A", "citations": [first, second]}]}
    assert folded_reply(TALK, whole, ORIGIN).message.parts == (Text("A", {"citations": [first, second]}),)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "t", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [{"type": "text", "text": "x"}]},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "code_execution_result"}},
        {"type": "container_upload", "file_id": "file_1"},
        {"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []},
        {"type": "block_of_tomorrow", "anything": [1]},
    ],
    ids=lambda part: part["type"],
)  # fmt: skip
def test_blocks_of_hosted_tools_are_kept_whole(part: dict[str, Any]) -> None:
    start = {
        "type": "content_block_start",
        "index": 5,
        "content_block": {**part, "cache_control": {"type": "ephemeral"}},
    }
    assert TALK.read_event(start) == [ForeignPart(part["type"], part, 5)]
    assert TALK.read_reply({"content": [part]})[0] == ForeignPart(part["type"], part, 0)


def test_a_fragment_of_input_belongs_to_what_stands_under_its_number() -> None:
    event = {"type": "content_block_delta", "index": 5, "delta": fragment('{"query":')}
    assert TALK.read_event(event) == [CallDelta(5, text='{"query":')]


def test_the_input_of_a_hosted_tool_streams_into_its_block() -> None:
    hosted = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    events = [
        *block(0, hosted, fragment(""), fragment('{"query": '), fragment('"q"}')),
        *block(1, EMPTY_USE, fragment("")),
    ]
    assert folded(TALK, events, ORIGIN).message.parts == (
        Foreign("server_tool_use", {**hosted, "input": {"query": "q"}}),
        ToolCall("toolu_2", "now", "", {}),
    )


def test_a_compaction_streams_what_it_keeps() -> None:
    delta = {"type": "compaction_delta", "content": "So far: ", "encrypted_content": None}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    assert TALK.read_event(event) == [ForeignDelta(0, "content", "So far: ")]
    event = {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "encrypted_content": "x"}}
    assert TALK.read_event(event) == [ForeignDelta(0, "encrypted_content", "x")]


@pytest.mark.parametrize(
    "kind", ["ping", "content_block_stop", "text", "input_json", "citation", "thinking", "signature"]
)
def test_events_that_add_nothing_are_passed_over(kind: str) -> None:
    assert TALK.read_event({"type": kind, "text": "x", "partial_json": "x", "snapshot": {}}) == []


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "text_delta", "text": ""},
        {"type": "thinking_delta", "thinking": None},
        {"type": "signature_delta", "signature": ""},
        {"type": "input_json_delta"},
        {"type": "citations_delta", "citation": None},
    ],
)
def test_an_empty_delta_says_nothing(delta: dict[str, Any]) -> None:
    assert TALK.read_event({"type": "content_block_delta", "index": 0, "delta": delta}) == []


# ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "filtered"),
        ("pause_turn", "stop"),
        ("compaction", "stop"),
        ("reason_of_tomorrow", "stop"),
    ],
)
def test_a_stop_reason_is_a_finish_and_its_own_word(reason: str, finish: Any) -> None:
    last, stop = end(reason)
    assert TALK.read_event(last) == [Spent(Usage(output=50)), Finished(finish, reason)]
    assert TALK.read_event(stop) == [Ended()]
    assert TALK.read_reply({"content": [], "stop_reason": reason}) == [Finished(finish, reason), Ended()]


def test_a_call_that_was_cut_before_its_input_is_not_taken_for_one_without_input() -> None:
    cut = {**WHOLE, "content": [EMPTY_USE], "stop_reason": "max_tokens"}
    for found in (
        folded_reply(TALK, cut, ORIGIN),
        folded(TALK, [BEGIN, *block(0, EMPTY_USE), *end("max_tokens")], ORIGIN),
    ):
        assert (found.finish, found.calls[0].arguments) == ("length", None)
        assert found.calls[0].problem


@pytest.mark.parametrize(
    ("event", "failed"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Failed("Overloaded", "overloaded_error")),
        ({"error": {"message": "Oh."}}, Failed("Oh.")),
        ({"type": "error", "error": "Oh."}, Failed("Oh.")),
        ({"type": "error"}, Failed("the provider reports an error and says no more")),
    ],
)  # fmt: skip
def test_errors_are_read_in_every_form(event: dict[str, Any], failed: Failed) -> None:
    assert TALK.read_event(event) == [failed]
    assert TALK.read_reply(event) == ([failed] if event.get("error") else [Unread(event)])


def test_an_error_in_the_middle_leaves_no_call_that_could_be_run() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = [BEGIN, *block(0, {**USE, "input": {}}, fragment('{"city": "Z'))[:-1], error]
    found = folded(TALK, events, ORIGIN, broken_off=True)
    assert (found.finish, found.error, found.calls[0].arguments) == ("error", "Overloaded", None)


def test_content_may_be_one_text() -> None:
    assert folded_reply(TALK, {"content": "Hi", "stop_reason": "end_turn"}, ORIGIN).text == "Hi"


# ── anything ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "event",
    [None, 3, "x", [], {}, {"type": "event_of_tomorrow"}, {"type": ["list"]}, {"type": "content_block_delta", "delta": {"type": "delta_of_tomorrow"}}],
)  # fmt: skip
def test_what_is_not_understood_is_told(event: Any) -> None:
    assert TALK.read_event(event) == [Unread(event)]


@pytest.mark.parametrize("reply", [None, 3, "x", [], {}, {"content": 3}])
def test_what_is_no_reply_is_told(reply: Any) -> None:
    assert TALK.read_reply(reply) == [Unread(reply)]


def test_a_block_that_is_none_is_told() -> None:
    assert TALK.read_event({"type": "content_block_start", "index": 0, "content_block": 7}) == [Unread(7)]
    assert TALK.read_reply({"content": [7]}) == [Unread(7), Ended()]


WORDS = [
    "type", "index", "delta", "content_block", "message", "usage", "input", "text", "thinking", "signature", "citation",
    "partial_json", "stop_reason", "error", "content", "id", "name",
]  # fmt: skip
JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.lists(JSON, max_size=3) | st.dictionaries(st.sampled_from(WORDS), JSON, max_size=4)
)  # fmt: skip
TYPED = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "text_delta", "thinking_delta",
                "signature_delta", "citations_delta", "input_json_delta", "compaction_delta",
            ]
        )
    },
    optional={key: JSON for key in WORDS if key != "type"},
)  # fmt: skip
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error", "message"])},
    optional={"index": st.integers(0, 2) | JSON, "content_block": TYPED | JSON, "delta": TYPED | JSON, "content": st.lists(TYPED | JSON, max_size=3)}
    | dict.fromkeys(("message", "usage", "error", "stop_reason"), JSON),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(EVENTS, max_size=6))
def test_no_stream_is_too_strange_to_fold(events: list[Any]) -> None:
    assert isinstance(folded(TALK, events, ORIGIN), Reply)
    for event in events:
        assert isinstance(folded_reply(TALK, event, ORIGIN), Reply)


def test_what_a_thought_has_beside_it_is_kept() -> None:
    part = {**THINKING, "kind": "summary", "cache_control": {"type": "ephemeral"}}
    assert TALK.read_reply({"content": [part]})[0] == ReasoningDelta(
        "Hm, so.", 0, {"signature": "EqQB…", "kind": "summary"}
    )
