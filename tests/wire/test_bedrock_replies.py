"""Bedrock's replies: the events of a stream as boto3 hands them out, whole answers, and what they fold to."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pytest
from botocore.session import get_session
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.spoiling import spoilt
from toolbridge.providers import get_provider
from toolbridge.reply import ReplyReader, read_stream
from toolbridge.stream.events import (
    CallDelta,
    Closed,
    Ended,
    Event,
    Failed,
    Finished,
    ForeignPart,
    ImagePart,
    Key,
    ReasoningDelta,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Foreign, Image, Message, Reasoning, Text, ToolCall
from toolbridge.wire.bedrock.replies import STOPS, continuation, read_event, read_reply

BEDROCK = get_provider("bedrock")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"start": block, "contentBlockIndex": index}}


def delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}}


def stop(index: int) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


BEGIN = {"messageStart": {"role": "assistant"}}
END = [
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 31, "outputTokens": 17, "totalTokens": 48, "cacheReadInputTokens": 8}, "metrics": {"latencyMs": 1}}},
]  # fmt: skip

EVENTS: dict[str, tuple[Any, list[Event]]] = {
    "the beginning": (BEGIN, []),
    "text": (delta(0, text="Zü"), [TextDelta("Zü", 0)]),
    "empty text": (delta(0, text=""), []),
    "a call": (start(1, toolUse={"toolUseId": "t1", "name": "f"}), [CallDelta(1, "t1", "f")]),
    "a fragment": (delta(1, toolUse={"input": '{"a":'}), [CallDelta(1, text='{"a":')]),
    "an empty fragment": (delta(1, toolUse={"input": ""}), []),
    "a thought": (delta(0, reasoningContent={"text": "hm"}), [ReasoningDelta("hm", 0)]),
    "a signature": (delta(0, reasoningContent={"signature": "c2ln"}), [ReasoningDelta("", 0, {"signature": "c2ln"})]),
    "a hidden thought": (delta(0, reasoningContent={"redactedContent": b"hi"}), [ReasoningDelta("", 0, {"redactedContent": "aGk="})]),
    "a hidden thought in base64": (delta(0, reasoningContent={"redactedContent": "aGk="}), [ReasoningDelta("", 0, {"redactedContent": "aGk="})]),
    "a call of the server's own": (
        start(1, toolUse={"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use"}),
        [ForeignPart("toolUse", {"input": {}, "toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use"}, 1)],
    ),
    "a result of the server's own": (
        start(2, toolResult={"toolUseId": "t1", "type": "nova_grounding_result", "status": "success"}),
        [ForeignPart("toolResult", {"content": [], "toolUseId": "t1", "type": "nova_grounding_result", "status": "success"}, 2)],
    ),
    "the format of an image": (start(1, image={"format": "png"}), []),
    "an image": (delta(1, image={"source": {"bytes": b64decode(PNG)}}), [ImagePart(Image(PNG, "image/png"), 1)]),
    "an image of no known kind": (delta(1, image={"source": {"bytes": b"hi"}}), [Unread("image")]),
    "where a text is from": (delta(0, citation={"title": "a"}), [Unread({"title": "a"}, "annotations.dropped")]),
    "what a server's tool found": (delta(2, toolResult=[{"json": {"a": 1}}]), [Unread({"toolResult": [{"json": {"a": 1}}]})]),
    "the end of a block": (stop(0), [Closed(0)]),
    "the end": (END[0], [Finished("calls", "tool_use")]),
    "what it cost": (END[1], [Spent(Usage(31, 17, 8)), Ended()]),
    "a new reason": ({"messageStop": {"stopReason": "bored"}}, [Finished("stop", "bored"), Unread("bored", "finish.unknown")]),
    "a new event": ({"dreamStart": {"a": b"hi"}}, [Unread({"dreamStart": {"a": "aGk="}})]),
    "a new kind of block": (start(1, hologram={"a": 1}), [Unread({"hologram": {"a": 1}})]),
}  # fmt: skip


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_says_what_it_is(name: str) -> None:
    event, events = EVENTS[name]
    assert read_event(event) == events
    assert BEDROCK.read_event(event) == tuple(events)


@pytest.mark.parametrize(
    "kind",
    [
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
    ],
)
def test_errors_come_as_events(kind: str) -> None:
    assert read_event({kind: {"message": "Too many requests."}}) == [Failed("Too many requests.", kind)]
    assert read_event({kind: {}}) == [Failed(f"the provider reports {kind} and does not say more", kind)]


def test_an_error_has_the_words_of_the_model_too() -> None:
    event = {
        "modelStreamErrorException": {
            "message": "Error.",
            "originalMessage": "Out of memory.",
            "originalStatusCode": 500,
        }
    }
    assert read_event(event) == [Failed("Error.: Out of memory.", "modelStreamErrorException")]


def test_an_answer_that_is_an_error_is_told() -> None:
    body = {"__type": "ValidationException", "message": "Malformed input request"}
    assert read_reply(body) == read_event(body) == [Failed("Malformed input request", "ValidationException")]


def test_every_reason_and_every_event_of_the_service_model_is_known() -> None:
    model: Any = get_session().get_service_model("bedrock-runtime")
    assert set(model.shape_for("StopReason").enum) == set(STOPS)
    known = {kind: read_event({kind: {}}) for kind in model.shape_for("ConverseStreamOutput").members}
    assert [kind for kind, events in known.items() if any(isinstance(each, Unread) for each in events)] == []


@pytest.mark.parametrize("reason", STOPS)
def test_the_reason_to_stop_is_known(reason: str) -> None:
    failed = [Failed(f"the model stopped: {reason}", reason)] if STOPS[reason] == "error" else []
    assert read_event({"messageStop": {"stopReason": reason}}) == [Finished(STOPS[reason], reason), *failed]


# ── streams and replies ──────────────────────────────────────────────────────────────────────────────────────────────

STREAM = [
    BEGIN,
    delta(0, reasoningContent={"text": "Hm"}), delta(0, reasoningContent={"text": "."}),
    delta(0, reasoningContent={"signature": "c2ln"}), stop(0),
    delta(1, reasoningContent={"redactedContent": b"hi"}), stop(1),
    delta(2, text="Let me "), delta(2, text="see."), stop(2),
    start(3, toolUse={"toolUseId": "t1", "name": "f"}), delta(3, toolUse={"input": '{"ä'}),
    start(4, toolUse={"toolUseId": "t2", "name": "g"}), delta(3, toolUse={"input": '": 1}'}), stop(3), stop(4),
    *END,
]  # fmt: skip
WHOLE = {
    "ResponseMetadata": {"HTTPStatusCode": 200},
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
                {"reasoningContent": {"redactedContent": b"hi"}},
                {"text": "Let me see."},
                {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"ä": 1}}},
                {"toolUse": {"toolUseId": "t2", "name": "g", "input": {}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 31, "outputTokens": 17, "totalTokens": 48, "cacheReadInputTokens": 8},
    "metrics": {"latencyMs": 1},
}


def reply(first: str, second: str) -> Reply:
    parts = (
        Reasoning("Hm.", {"signature": "c2ln"}), Reasoning("", {"redactedContent": "aGk="}), Text("Let me see."),
        ToolCall("t1", "f", first, {"ä": 1}), ToolCall("t2", "g", second, {}),
    )  # fmt: skip
    return Reply(Message("assistant", parts, "bedrock"), "calls", "tool_use", Usage(31, 17, 8))


def test_a_stream_folds_to_the_reply() -> None:
    assert read_stream("bedrock", STREAM) == reply('{"ä": 1}', "")
    as_json = json.loads(json.dumps(STREAM, default=lambda blob: "aGk="))
    assert read_stream("bedrock", as_json) == reply('{"ä": 1}', "")


def test_a_whole_reply_says_the_same() -> None:
    assert BEDROCK.read_reply(WHOLE) == reply('{"ä":1}', "{}")


def test_a_whole_reply_in_place_of_a_stream_is_read() -> None:
    assert read_stream("bedrock", [WHOLE]) == reply('{"ä":1}', "{}")


def test_the_short_way_is_the_long_way() -> None:
    def found(event: Any) -> tuple[Key, str] | None:
        return continuation(event)

    assert found(delta(3, toolUse={"input": '{"a'})) == (3, '{"a')
    assert [
        found(each) for each in (BEGIN, delta(3, text="a"), start(3, toolUse={"toolUseId": "t", "name": "f"}), *END)
    ] == [None] * 5
    assert all(found(each) is None or isinstance(each, dict) for each in spoilt(delta(3, toolUse={"input": "x"})))
    reader = ReplyReader("bedrock")
    for event in STREAM:
        reader.feed(event)
    assert reader.reply() == read_stream("bedrock", STREAM)


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"text": "a"}, Text("a")),
        (
            {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": [{"title": "t"}]}},
            Text("ab", {"citations": [{"title": "t"}]}),
        ),
        ({"image": {"format": "jpeg", "source": {"bytes": b"hi"}}}, Image("aGk=", "image/jpeg")),
        (
            {"toolUse": {"toolUseId": "t1", "name": "n", "input": {}, "type": "server_tool_use"}},
            Foreign("toolUse", {"toolUseId": "t1", "name": "n", "input": {}, "type": "server_tool_use"}),
        ),
        (
            {"toolResult": {"toolUseId": "t1", "content": [{"image": {"format": "png", "source": {"bytes": b"hi"}}}]}},
            Foreign(
                "toolResult",
                {"toolUseId": "t1", "content": [{"image": {"format": "png", "source": {"bytes": "aGk="}}}]},
            ),
        ),
        (
            {"audio": {"format": "mp3", "source": {"bytes": b"hi"}}},
            Foreign("audio", {"format": "mp3", "source": {"bytes": "aGk="}}),
        ),
        ({"hologram": {"x": 1}}, Foreign("hologram", {"x": 1})),
    ],
)
def test_a_block_of_a_whole_reply_is_a_part(block: Any, part: Any) -> None:
    whole = {"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": "end_turn"}
    assert BEDROCK.read_reply(whole).message == Message("assistant", (part,), "bedrock")


# ── hostile events ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_event_raises_whatever_is_wrong_with_it() -> None:
    for event in [*STREAM, *(event for event, _ in EVENTS.values()), {"throttlingException": {"message": "m"}}]:
        for value in spoilt(event):
            assert all(isinstance(each, Event) for each in read_event(value))
    for value in spoilt(WHOLE):
        assert all(isinstance(each, Event) for each in read_reply(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.binary(max_size=3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["output", "message", "content", "text", "toolUse", "image", "source", "bytes", "start", "delta"]) | st.text(max_size=3), inner, max_size=4),
)  # fmt: skip


@given(JSON)
def test_no_value_raises(value: Any) -> None:
    read_event(value)
    read_reply(value)
    read_reply({"output": {"message": {"content": value}}})
    read_event({"contentBlockDelta": {"delta": value, "contentBlockIndex": value}})
    continuation(value)


def test_what_is_no_event_is_noted() -> None:
    assert read_event(7) == [Unread(7)]
    assert read_reply({"foo": 1}) == [Unread({"foo": 1})]
    assert read_event({}) == [Unread({})]
