"""Recordings: what they are is told by their content, whatever tools put around it."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest

from tests.support.wire.recording import Recording as Stream
from tests.support.wire.recording import read_recordings
from toolbridge.errors import HistoryError, UnknownProviderError
from toolbridge.history.document import write_history
from toolbridge.notes import Note
from toolbridge.providers import get_provider
from toolbridge.recorded import Recording, read_recording
from toolbridge.reply import read_stream
from toolbridge.types import Message, Text, ToolCall, ToolResult

STREAMS = read_recordings()
WHOLE = [each for each in STREAMS if each.whole is not None]

CHUNKS: list[dict[str, Any]] = [
    {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Grü"}}]},
    {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {"content": "ße 東"}}]},
    {
        "id": "c1",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}]},
            }
        ],
    },
    {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]
MESSAGE = Message("assistant", (Text("Grüße 東"), ToolCall("a", "f", '{"x": 1}', {"x": 1})), "openai-chat", "m")


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


EVENTS = "".join(f"data: {dumps(each)}\n\n" for each in CHUNKS) + "data: [DONE]\n\n"
LINES = "".join(f"{dumps(each)}\n" for each in CHUNKS)
HEADERS = 'HTTP/1.1 200 OK\nContent-Type: text/event-stream\nX-Request-Id: {"a"}\n\n'


def read(text: str | bytes, provider: str = "openai-chat") -> Recording:
    return read_recording(text.encode() if isinstance(text, str) else text, provider)


def is_the_stream(recording: Recording) -> None:
    assert recording.reply is not None
    assert (recording.kind, recording.reply.finish, recording.notes) == ("stream", "calls", ())
    assert recording.messages == (recording.reply.message,) == (MESSAGE,)


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("stream", STREAMS, ids=lambda each: each.name)
def test_every_recorded_stream_is_one_and_reads_as_it_would_while_it_arrives(stream: Stream) -> None:
    recording = read(stream.body, stream.provider)
    reply = read_stream(stream.provider, stream.body)
    messages = (reply.message,) if reply.message.parts else ()
    assert recording == Recording("stream", reply, messages, reply.notes)


@pytest.mark.parametrize("stream", WHOLE, ids=lambda each: each.name)
def test_every_whole_reply_is_one(stream: Stream) -> None:
    recording = read(json.dumps(stream.whole, indent=2), stream.provider)
    reply = get_provider(stream.provider).read_reply(stream.whole)
    assert recording == Recording("reply", reply, (reply.message,), reply.notes)


@pytest.mark.parametrize(
    "text",
    [
        EVENTS,
        EVENTS.replace("\n", "\r\n"),
        EVENTS.replace("\n", "\r"),
        EVENTS.replace("data: ", "data:"),
        EVENTS.replace("data:", "event: chunk\ndata:"),
        f": keep-alive\n\n\n{EVENTS}",
        f"\n\n{EVENTS}",
        LINES,
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", ""),
        dumps(CHUNKS),
        json.dumps(CHUNKS, indent=2).replace("\n", "\r\n"),
        f"  \n{dumps(CHUNKS)}\n",
    ],
)
def test_chunks_are_a_stream_as_events_as_lines_and_as_a_list(text: str) -> None:
    is_the_stream(read(text))


@pytest.mark.parametrize("text", [EVENTS, LINES, dumps(CHUNKS)])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_what_shells_write_is_decoded(text: str, encoding: str) -> None:
    is_the_stream(read(text.replace("\n", "\r\n").encode(encoding)))


@pytest.mark.parametrize(
    "front",
    [
        HEADERS,
        HEADERS.replace("\n", "\r\n"),
        f"HTTP/1.1 100 Continue\n\n{HEADERS}",
        f"HTTP/1.1 200 Connection established\r\n\r\n{HEADERS}",
        "HTTP/2 200 \r\ncontent-type: text/event-stream\r\n\r\n",
        "*   Trying 127.0.0.1:80...\n* Connected\n> POST / HTTP/1.1\n>\n* done\n< HTTP/1.1 200 OK\n< \n",
        "* Connected\r\n< HTTP/1.1 200 OK\r\n<\r\n{ [5 bytes data]\r\n",
        "  % Total    % Received % Xferd  Average Speed\n                                 Dload  Upload\n\r"
        "  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0\r"
        "100  1369    0  1369    0     0   3021      0  0:00:01 --:--:--  0:00:01  3020\n",
    ],
)
@pytest.mark.parametrize("text", [EVENTS, dumps(CHUNKS)])
def test_headers_and_the_remarks_of_curl_may_stand_in_front(front: str, text: str) -> None:
    is_the_stream(read(front + text))


def test_what_curl_remarks_in_between_and_at_the_end_is_no_part_of_the_body() -> None:
    front, end = "* Connected\n< HTTP/1.1 200 OK\n< \n", "* Connection #0 to host localhost left intact\n"
    is_the_stream(read(front + EVENTS.replace("data: [", "{ [1369 bytes data]\ndata: [") + end))
    is_the_stream(read(front + dumps(CHUNKS) + end))


def test_without_its_remarks_in_front_nothing_in_the_body_is_taken_for_curls() -> None:
    recording = read(EVENTS.replace("data: [", "{ [1369 bytes data]\ndata: ["))
    assert recording.notes == (Note("stream.unreadable", "narrowed", "", "{ [1369 bytes data]"),)


@pytest.mark.parametrize(
    "text",
    [
        EVENTS[: EVENTS.index('data: {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": {}')],
        "".join(LINES.splitlines(keepends=True)[:3]),
        dumps(CHUNKS[:3])[:-1],
        dumps(CHUNKS[:3])[:-1] + ",\n",
    ],
)
def test_a_stream_without_its_end_has_broken_off(text: str) -> None:
    recording = read(text)
    assert recording.reply is not None
    assert (recording.kind, recording.reply.finish) == ("stream", "broken_off")
    assert recording.notes == (Note("stream.broken_off", "narrowed"),)
    assert recording.messages == (MESSAGE,)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_stream_that_is_cut_inside_of_its_first_event_has_broken_off(ends: str) -> None:
    for text in (EVENTS, f": keep-alive\n\nevent: chunk\n{EVENTS}".replace("\n", ends), HEADERS + EVENTS):
        start = text.index("data: {") + len("data: {")
        for length in range(start, text.index("}}]}") + 3):
            data = text[start - 1 : length].rstrip()
            recording = read(text[:length])
            assert recording.reply is not None
            assert (recording.kind, recording.reply.finish, recording.messages) == ("stream", "broken_off", ())
            assert recording.notes == (
                Note("stream.unreadable", "narrowed", "", data),
                Note("stream.broken_off", "narrowed"),
            )


@pytest.mark.parametrize("stream", STREAMS[::9], ids=lambda each: each.name)
def test_the_beginning_of_any_recorded_stream_of_events_is_a_stream(stream: Stream) -> None:
    if stream.body.startswith((b"data:", b"event:")):
        recording = read(stream.body[:150], stream.provider)
        assert recording.reply is not None
        assert (recording.kind, recording.reply.finish) == ("stream", "broken_off")


@pytest.mark.parametrize(
    "text",
    [
        "data: <!DOCTYPE html>",
        "data: yes, please",
        "data: {a: 1",
        'data: {"a": 1}',
        "data: oops\n\ndata: {",
        'data: {"a": 1}\n\ndata: {"id": "',
        'data: ["a',
    ],
)
def test_what_is_no_beginning_of_an_event_is_none_that_was_cut(text: str) -> None:
    with pytest.raises(HistoryError, match="a stream, and nothing that openai-chat sends"):
        read(text)


def test_a_list_that_closed_is_whole_though_nobody_said_so() -> None:
    recording = read(dumps(CHUNKS[:2]))
    assert recording.reply is not None
    assert (recording.kind, recording.reply.finish, recording.notes) == ("stream", "stop", ())


def test_bytes_that_are_no_text_are_noted() -> None:
    recording = read(EVENTS.encode().replace("ü".encode(), b"\xfc"))
    assert recording.notes == (Note("bytes.replaced", "narrowed", "", "fc"),)
    assert recording.messages[0].text == "Gr\ufffdße 東"


def test_calls_in_the_text_are_read_where_that_is_asked_for() -> None:
    text = (
        'data: {"choices":[{"delta":{"content":"<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {}}</tool_call>"}}]}'
    )
    plain = read_recording(text.encode(), "vllm")
    asked = read_recording(text.encode(), "vllm", text_calls=["f"])
    assert [len(each.messages[0].calls) for each in (plain, asked)] == [0, 1]


# ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_error_in_the_place_of_a_reply_is_a_reply() -> None:
    recording = read('HTTP/1.1 401 Unauthorized\n\n{"error": {"message": "bad key", "type": "auth"}}')
    assert recording.reply is not None
    assert (recording.kind, recording.reply.finish, recording.reply.error) == ("reply", "error", "bad key")
    assert recording.messages == ()


def test_a_message_of_anthropic_with_what_only_replies_have_is_a_reply() -> None:
    body = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
    }
    recording = read(dumps(body), "anthropic")
    assert (recording.kind, recording.messages[0].text) == ("reply", "Hi")


# ── histories ────────────────────────────────────────────────────────────────────────────────────────────────────

HISTORY = (
    Message.system("Be brief."),
    Message.user("Wo?"),
    Message("assistant", (ToolCall("a", "find", '{"x":"ü"}', {"x": "ü"}),), "openai-chat"),
    Message.results(ToolResult("a", (Text("B2"),))),
    Message("assistant", (Text("In B2."),), "openai-chat"),
)


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral"])
def test_the_history_of_a_provider_is_one_as_fields_as_a_body_and_as_its_bare_list(provider: str) -> None:
    fields = get_provider(provider).write_messages(HISTORY).value
    (listed,) = (each for key, each in fields.items() if key in ("messages", "contents", "input"))
    for source in (fields, {"model": "m", "stream": True, "tools": [], **fields}, listed):
        read_again = get_provider(provider).read_messages(source)
        assert read(json.dumps(source, indent=1), provider) == Recording(
            "history", None, read_again.value, read_again.notes
        )
    lines = "".join(f"{dumps(each)}\n" for each in listed)
    assert read(lines, provider).messages == get_provider(provider).read_messages(listed).value


def test_a_request_whose_input_is_a_text_is_a_history() -> None:
    recording = read('{"model": "m", "input": "Hi"}', "openai-responses")
    assert (recording.kind, recording.messages) == ("history", (Message.user("Hi"),))


@pytest.mark.parametrize(
    "item",
    [
        {"type": "function_call_output", "call_id": "a", "output": "x"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "id": "ws"},
    ],
)
def test_items_of_the_responses_format_are_a_history(item: dict[str, Any]) -> None:
    assert read(dumps([item, {"role": "user", "content": "Hi"}]), "openai-responses").kind == "history"


def test_one_message_alone_and_no_message_at_all_are_histories() -> None:
    assert read('{"role": "user", "content": "Hi"}') == Recording("history", None, (Message.user("Hi"),))
    assert read("[]") == read('{"messages": []}') == Recording("history", None, ())
    assert read('{"parts": [{"text": "Hi"}]}', "gemini").messages == (Message.user("Hi"),)


def test_our_own_document_is_a_history_whatever_the_provider_is() -> None:
    text = json.dumps(write_history(HISTORY))
    for provider in ("openai-chat", "gemini", "bedrock"):
        assert read(text, provider) == Recording("history", None, HISTORY)
    assert read(text.encode("utf-16")).messages == HISTORY


# ── nothing of this ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "empty"),
        (b"<!DOCTYPE html>\n<html><title>502", 'it starts with "<!DOCTYPE html>"'),
        (b"upstream connect error", 'it starts with "upstream connect error"'),
        (b"x" * 100, f'it starts with "{"x" * 58}…'),
        (b'"text"', 'it starts with "\\"text\\""'),
        (b"12", 'it starts with "12"'),
        (b"[1, 2]", 'a list of something else: it starts with "1, 2]"'),
        (b'{"a":', "not JSON: expecting value at line 1, column 6"),
        (b'[{"role": "user", "content": "Hi"}', "not JSON: expecting ',' delimiter at line 1, column 35"),
        (b'{"role": "user"}\n{"role"', "not JSON: expecting ':' delimiter at line 2, column 8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"messages": []}\n{"messages": []}', "it holds more than one history; give one of them"),
        (b"\x00\x00\x00\x9f\x00\x00\x00\x57\xb5\x9e\x0c\x15", "binary data, not text"),
        (b'{"name": "x", "version": 1}', 'a JSON object with "name", "version", and nothing that openai-chat sends'),
        (b"{}", "a JSON object with nothing in it, and nothing that openai-chat sends"),
    ],
)  # fmt: skip
def test_what_is_nothing_of_this_is_told_by_how_it_starts(data: bytes, message: str) -> None:
    with pytest.raises(HistoryError) as raised:
        read(data)
    assert str(raised.value) == message


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"])
def test_a_recording_of_another_provider_is_told_whose_it_is(provider: str) -> None:
    other = "anthropic" if provider != "anthropic" else "openai-chat"
    stream = next(each for each in WHOLE if each.name == f"{provider}/two_calls")
    with pytest.raises(HistoryError, match=f"a stream, and nothing that {other} sends; did you mean '{provider}'"):
        read(stream.body, other)
    with pytest.raises(
        HistoryError, match=f"a JSON object with .* nothing that {other} sends; did you mean '{provider}'"
    ):
        read(dumps(stream.whole), other)


def test_an_unknown_provider_is_told_before_anything_else() -> None:
    with pytest.raises(UnknownProviderError, match="did you mean 'gemini'"):
        read(b"", "gemni")


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 500_000,
        "* x\n" * 200_000,
        "HTTP/1.1 200 OK\n" + "a: b\n" * 200_000,
        "  0 1 --:--:--\r" * 100_000,
        "[" + '{"role": "user", "content": "Hi"},' * 50_000 + '{"role": "user", "content": "Hi"}]',
        '{"role": "user", "content": "Hi"}\n' * 50_000,
        "data: {}\n\n" * 20_000,
        "{} " * 20_000,
        '{"a": "' + "x" * 5_000_000,
    ],
)
def test_whatever_stands_in_it_is_read_in_bounded_time(text: str) -> None:
    start = time.process_time()
    with suppress(HistoryError):
        read(text)
    assert time.process_time() - start < 10
