"""Reading replies: bytes, JSON, dicts and SDK objects come to the same reply, and what is none is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk

from toolbridge import HistoryError, Note, Reply, ReplyReader, Text, ToolCall, get_provider, read_stream
from toolbridge.stream.events import CallDelta, Ended, TextDelta


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }  # fmt: skip


def call(index: int, id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return chunk(
        {"tool_calls": [{"index": index, **({"id": id, "type": "function"} if id else {}), "function": function}]}
    )


CHUNKS = [
    chunk({"role": "assistant", "content": "Grüße, "}), chunk({"content": "世界"}),
    call(0, "c0", "read_file"), call(0, arguments='{"path": "/tm'), call(0, arguments='p/ü"}'),
    call(1, "c1", "now"), chunk({}, "tool_calls"),
]  # fmt: skip
PARTS = (
    Text("Grüße, 世界"),
    ToolCall("c0", "read_file", '{"path": "/tmp/ü"}', {"path": "/tmp/ü"}),
    ToolCall("c1", "now", "", {}),
)
SSE = "".join(f"data: {json.dumps(each, ensure_ascii=False)}\n\n" for each in CHUNKS).encode() + b"data: [DONE]\n\n"
FORMS: dict[str, Any] = {
    "events of server-sent bytes": SSE,
    "bytes in pieces": [SSE[i : i + 7] for i in range(0, len(SSE), 7)],
    "text in pieces": [SSE.decode()[i : i + 7] for i in range(0, len(SSE.decode()), 7)],
    "dicts": CHUNKS,
    "objects of the SDK": [ChatCompletionChunk.model_validate(each) for each in CHUNKS],
    "a list of chunks": json.dumps(CHUNKS).encode(),
    "a list of chunks on many lines": json.dumps(CHUNKS, indent=2).encode(),
    "lines of JSON": "\n".join(json.dumps(each) for each in CHUNKS).encode(),
    "a byte order mark": b"\xef\xbb\xbf" + SSE,
    "Windows line ends": SSE.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_stream_comes_to_the_same_reply(form: str) -> None:
    reply = read_stream("openai-chat", FORMS[form])
    assert (reply.message.parts, reply.finish, reply.raw_finish, reply.notes) == (PARTS, "calls", "tool_calls", ())
    assert (reply.message.origin, reply.message.model, reply.id) == ("openai-chat", "m", "r1")


def test_a_whole_reply_is_read_alike_whichever_door_it_comes_through() -> None:
    body: dict[str, Any] = {
        "id": "r1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Grüße, 世界", "tool_calls": [
            {"id": "c0", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "/tmp/ü"}'}},
            {"id": "c1", "type": "function", "function": {"name": "now", "arguments": ""}},
        ]}}],
    }  # fmt: skip
    reply = get_provider("openai-chat").read_reply(body)
    assert (reply.message.parts, reply.finish, reply.notes) == (PARTS, "calls", ())
    for source in (
        json.dumps(body).encode(),
        json.dumps(body, indent=1),
        [body],
        f"data: {json.dumps(body)}\n\n".encode(),
    ):
        assert read_stream("openai-chat", source) == reply


def test_events_are_told_as_they_arrive() -> None:
    reader = ReplyReader("openai-chat")
    told = [event for i in range(0, len(SSE), 5) for event in reader.feed(SSE[i : i + 5])]
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "Grüße, 世界"
    assert "".join(event.text for event in told if isinstance(event, CallDelta)) == '{"path": "/tmp/ü"}'
    assert told[-1] == Ended()


def test_what_a_provider_says_again_at_the_end_is_told_once() -> None:
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    text = {"type": "output_text", "text": "Hello", "annotations": []}
    at: dict[str, Any] = {"item_id": "m", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.output_text.delta", **at, "delta": "Hel"},
        {"type": "response.output_text.delta", **at, "delta": "lo"},
        {"type": "response.output_text.done", **at, "text": "Hello"},
        {"type": "response.output_item.done", "output_index": 0, "item": {**item, "content": [text]}},
        {
            "type": "response.completed",
            "response": {"id": "r", "status": "completed", "output": [{**item, "content": [text]}]},
        },
    ]
    reader = ReplyReader("openai-responses")
    told = [event for each in events for event in reader.feed(each)]
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "Hello"
    assert reader.reply().text == "Hello"


def test_a_call_in_the_text_is_read_where_that_is_asked_for_and_not_shown_as_text() -> None:
    said = 'I will look.\n<tool_call>{"name": "find", "arguments": {"q": "é"}}</tool_call>'
    chunks = [*(chunk({"content": said[i : i + 3]}) for i in range(0, len(said), 3)), chunk({}, "stop")]
    assert read_stream("openai-chat", chunks).message.parts == (Text(said),)
    reader = ReplyReader("openai-chat", text_calls=["find"])
    told = [event for each in chunks for event in reader.feed(each)]
    assert "".join(event.text for event in told if isinstance(event, TextDelta)).strip() == "I will look."
    reply = reader.reply()
    assert reply.finish == "calls"
    assert reply.calls == (ToolCall("call_0", "find", '{"q":"é"}', {"q": "é"}),)
    assert reply.text.strip() == "I will look."
    assert [note.code for note in reply.notes] == ["call.in_text"]


# ── what is no stream ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_page_in_place_of_events_is_told() -> None:
    page = "<!DOCTYPE html>\n<html><title>502 Bad Gateway</title></html>"
    reply = read_stream("openai-chat", page.encode())
    assert (reply.message.parts, reply.finish) == ((), "error")
    assert reply.error == f"the server sent no events, but {page!r}"
    assert Note("stream.not_events", "narrowed", "", page) in reply.notes


def test_a_stream_that_breaks_off_gives_what_there_was() -> None:
    whole = SSE.index(b'"c1"')
    for end in (whole, SSE.index(b"/tm") + 3):
        reply = read_stream("openai-chat", SSE[:end])
        assert reply.finish == "broken_off"
        assert Note("stream.broken_off", "narrowed") in reply.notes
        assert reply.text == "Grüße, 世界"
    assert [each.arguments for each in read_stream("openai-chat", SSE[:whole]).calls] == [{"path": "/tmp/ü"}]
    assert [each.arguments for each in read_stream("openai-chat", SSE[: SSE.index(b"p/")]).calls] == [None]


def test_an_interruption_that_only_the_caller_knows_of() -> None:
    reader = ReplyReader("openai-chat")
    reader.feed_all([call(0, "c0", "delete_all")])
    assert reader.reply(broken_off=True).calls == (
        ToolCall("c0", "delete_all", "", None, "the reply broke off before the arguments were there"),
    )


def test_an_event_that_is_no_json_is_told_and_the_rest_is_read() -> None:
    reply = read_stream("openai-chat", b"data: {oops\n\n" + SSE)
    assert (reply.message.parts, reply.notes) == (PARTS, (Note("stream.unreadable", "narrowed", "", "{oops"),))


def test_what_could_not_be_read_inside_of_a_call_keeps_it_from_being_run() -> None:
    parts = [call(0, "c0", "f", '{"a":1'), call(0, arguments="2}"), chunk({}, "tool_calls")]
    first, *rest = (f"data: {json.dumps(each)}\n\n" for each in parts)
    reply = read_stream("openai-chat", first + "data: {bro\n\n" + "".join(rest) + "data: [DONE]\n\n")
    assert [(each.text, each.arguments) for each in reply.calls] == [('{"a":12}', None)]


def test_an_event_that_is_nested_too_deeply_is_told() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    reply = read_stream("openai-chat", [call(0, "c0", "f", "{}"), {"choices": deep}, chunk({}, "stop")])
    assert [note.code for note in reply.notes] == ["stream.unreadable"]
    for door in (get_provider("openai-chat").read_reply, get_provider("openai-chat").read_messages):
        with pytest.raises(HistoryError, match="nested too deeply"):
            door({"messages": deep})


def test_a_page_behind_events_is_told_as_well() -> None:
    reply = read_stream("openai-chat", SSE[: SSE.index(b"data: [DONE]")] + b"<html>gateway timeout</html>\n")
    assert (reply.message.parts, reply.finish) == (PARTS, "calls")
    assert reply.notes == (Note("stream.not_events", "narrowed", "", "<html>gateway timeout</html>"),)


@pytest.mark.parametrize(
    ("provider", "events"),
    [
        ("anthropic", [{"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}}]),
        ("bedrock", [{"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}}]),
        ("openai-responses", [{"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "id": "i", "call_id": "t", "name": "f", "arguments": ""}}]),
    ],
)  # fmt: skip
def test_events_without_the_end_that_their_provider_always_sends_have_broken_off(
    provider: str, events: list[Any]
) -> None:
    reply = read_stream(provider, events)
    assert (reply.finish, [note.code for note in reply.notes]) == ("broken_off", ["stream.broken_off"])
    assert [(each.id, each.name, each.arguments) for each in reply.calls] == [("t", "f", None)]


@pytest.mark.parametrize(
    ("provider", "end"),
    [("anthropic", {"type": "content_block_stop", "index": 0}), ("bedrock", {"contentBlockStop": {"contentBlockIndex": 0}})],
)  # fmt: skip
def test_a_call_that_was_closed_before_a_stream_broke_off_has_no_arguments(provider: str, end: dict[str, Any]) -> None:
    start: dict[str, Any] = {
        "anthropic": {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}},
        "bedrock": {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}},
    }[provider]  # fmt: skip
    assert [each.arguments for each in read_stream(provider, [start, end]).calls] == [{}]


def test_an_error_for_an_answer_is_told() -> None:
    reply = read_stream("openai-chat", b'{"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}')
    assert (reply.finish, reply.error, reply.message.parts) == ("error", "Incorrect API key", ())


@pytest.mark.parametrize("source", [b"", b"\n\n", b"\xef\xbb\xbf", [], b": ping\n\n"])
def test_nothing_is_an_empty_reply(source: Any) -> None:
    reply = read_stream("openai-chat", source)
    assert isinstance(reply, Reply)
    assert reply.message.parts == ()


@pytest.mark.parametrize("source", [3, None])
def test_what_cannot_be_a_stream_is_an_error(source: Any) -> None:
    with pytest.raises(HistoryError, match="expected bytes or a list of events"):
        read_stream("openai-chat", source)
