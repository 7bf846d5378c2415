"""Streams that nobody recorded: calls said in random dialects and cut at random, and recordings with damage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from tests.stream.folding import folded
from tests.support.wire.recording import Recording, read_recordings
from tests.support.wire.sse import DONE, sse
from toolbridge import get_provider
from toolbridge.errors import HistoryError
from toolbridge.reply import ReplyReader
from toolbridge.stream.events import Reply
from toolbridge.types import ToolCall

JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-(10**20), 10**20) | some.text(max_size=8) | some.floats(allow_nan=False, allow_infinity=False),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
OBJECTS = some.dictionaries(some.text(max_size=5), JSON, max_size=3)
NAMES = some.sampled_from(["get_weather", "get_time", "list_rooms", "get"])
FINISHES = some.sampled_from(["tool_calls", "stop", None, "length"])


def cut(body: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted({place % (len(body) + 1) for place in places}), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


def chunk(delta: Any, finish: Any = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


@some.composite
def spoken(draw: some.DrawFn) -> tuple[list[Any], list[tuple[str, dict[str, Any]]]]:
    """A stream of calls in one dialect that still says which call is meant, and the calls."""
    calls = draw(some.lists(some.tuples(NAMES, OBJECTS), min_size=1, max_size=4))
    index = draw(some.sampled_from(["right", "from one", "zero", "null", "none"]))
    ids = (
        draw(some.sampled_from(["first", "always"]))
        if index in ("zero", "null", "none")
        else draw(some.sampled_from(["first", "always", "never", "late"]))
    )
    names = "first" if ids == "late" else draw(some.sampled_from(["first", "always"]))
    whole = draw(some.booleans())
    as_object = whole and draw(some.booleans())
    chunks: list[Any] = [chunk({"role": "assistant", "content": ""})] if draw(some.booleans()) else []
    for number, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments, ensure_ascii=draw(some.booleans()))
        pieces: list[Any] = (
            [arguments]
            if as_object
            else [text]
            if whole
            else _split(text, draw(some.lists(some.integers(0, 60), max_size=4)))
        )
        for at, piece in enumerate(pieces):
            entry: dict[str, Any] = {}
            if index != "none":
                entry["index"] = {"right": number, "from one": number + 1, "zero": 0, "null": None}[index]
            last = at == len(pieces) - 1
            if ids == "always" or (ids == "first" and at == 0) or (ids == "late" and last):
                entry["id"] = f"call_{number}"
            entry["function"] = {"arguments": piece}
            if names == "always" or at == 0:
                entry["function"]["name"] = name
            chunks.append(chunk({"tool_calls": [entry]}))
    chunks.append(chunk({}, draw(FINISHES.filter(lambda finish: finish != "length"))))
    return [
        *chunks,
        *([DONE] if draw(some.booleans()) or chunks[-1]["choices"][0]["finish_reason"] is None else []),
    ], calls


def _split(text: str, places: Sequence[int]) -> list[str]:
    edges = [0, *sorted({min(place, len(text)) for place in places}), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@settings(max_examples=300, deadline=None)
@given(spoken(), some.lists(some.integers(0, 10_000), max_size=12))
def test_calls_in_any_dialect_come_out_as_they_were_meant(
    stream: tuple[list[Any], list[tuple[str, dict[str, Any]]]], places: list[int]
) -> None:
    chunks, calls = stream
    body = sse(chunks)
    reply = folded("openai-chat", [body])
    assert [(call.name, call.arguments) for call in reply.calls] == calls
    assert reply.finish == "calls"
    assert folded("openai-chat", cut(body, places)) == reply
    assert folded("openai-chat", [each for each in chunks if each != DONE]).calls == reply.calls


ENTRIES = some.fixed_dictionaries(
    {},
    optional={
        "index": some.none() | some.integers(-1, 3) | some.text(max_size=2),
        "id": some.none() | some.sampled_from(["", "a", "b", "null"]) | some.integers(),
        "type": some.none() | some.just("function"),
        "function": some.none()
        | some.text(max_size=3)
        | some.fixed_dictionaries(
            {},
            optional={
                "name": some.none() | NAMES | some.just("") | some.integers(),
                "arguments": some.none()
                | some.sampled_from(["", "{", "}", '{"a": 1}', '{"a"', ': "b"}', "[]", "null", "1", '"', "\\", " "])
                | JSON,
            },
        ),
        "extra_content": JSON,
    },
)
DELTAS = some.none() | some.fixed_dictionaries(
    {},
    optional={
        "content": some.none() | some.text(max_size=5) | some.lists(JSON, max_size=2),
        "reasoning_content": some.none() | some.text(max_size=3),
        "tool_calls": some.none() | some.lists(ENTRIES | JSON, max_size=3) | JSON,
    },
)
CHUNKS = some.builds(chunk, DELTAS, FINISHES | JSON) | JSON


@settings(max_examples=400, deadline=None)
@given(some.lists(CHUNKS, max_size=8), some.lists(some.integers(0, 10_000), max_size=12), some.booleans())
@example([{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}}]}], [], True)
def test_no_chunk_raises_and_no_cut_matters(chunks: list[Any], places: list[int], done: bool) -> None:
    body = sse([*(json.dumps(each) for each in chunks), *([DONE] if done else [])])
    reply = folded("openai-chat", [body])
    sound(reply)
    assert folded("openai-chat", cut(body, places)) == reply


def sound(reply: Reply) -> None:
    """What may be run is what the text says; every call can be told from the others; nothing is half a character."""
    assert len({call.id for call in reply.calls}) == len(reply.calls)
    for call in reply.calls:
        runnable(call)


def runnable(call: ToolCall) -> None:
    if call.arguments is None:
        assert call.problem
        return
    assert call.problem is None
    text = call.text.strip()
    assert (json.loads(text) if text else None) in (call.arguments, None)
    json.dumps(call.arguments, allow_nan=False, ensure_ascii=False).encode()


@cache
def recordings() -> list[Recording]:
    return read_recordings()


@some.composite
def damaged(draw: some.DrawFn) -> tuple[str, bytes]:
    """A recording with bytes changed, left out, doubled, moved, or cut off."""
    recording = draw(some.sampled_from(recordings()))
    body = bytearray(recording.body)
    for _ in range(draw(some.integers(1, 4))):
        at = draw(some.integers(0, len(body)))
        length = draw(some.integers(0, 40))
        match draw(some.sampled_from(["change", "leave out", "double", "cut off", "put in", "lines"])):
            case "change":
                body[at : at + 1] = draw(some.binary(min_size=1, max_size=1))
            case "leave out":
                del body[at : at + length]
            case "double":
                body[at:at] = body[at : at + length]
            case "cut off":
                del body[at:]
            case "put in":
                body[at:at] = draw(
                    some.binary(max_size=4)
                    | some.sampled_from([b'"', b"{", b"}", b"\\", b"\n\n", b"data: ", b"null", b"[]"])
                )
            case _:
                lines = bytes(body).split(b"\n\n")
                first, second = draw(some.integers(0, len(lines) - 1)), draw(some.integers(0, len(lines) - 1))
                lines[first], lines[second] = lines[second], lines[first]
                body = bytearray(b"\n\n".join(lines))
    return recording.provider, bytes(body)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(), some.lists(some.integers(0, 10_000), max_size=6))
def test_damage_never_raises_and_never_makes_a_call_of_broken_arguments(
    stream: tuple[str, bytes], places: list[int]
) -> None:
    provider, body = stream
    reply = folded(provider, [body])
    sound(reply)
    assert folded(provider, cut(body, places)) == reply


WHOLE = [each for each in read_recordings() if each.whole is not None]


@some.composite
def damaged_reply(draw: some.DrawFn) -> tuple[str, Any]:
    """A whole reply in which one value, anywhere, is another."""
    recording = draw(some.sampled_from(WHOLE))
    reply = json.loads(json.dumps(recording.whole))
    holder: Any = reply
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return recording.provider, reply
        key = draw(some.sampled_from(keys))
        if not isinstance(holder[key], dict | list) or draw(some.integers(0, 3)) == 0:
            holder[key] = draw(JSON)
            return recording.provider, reply
        holder = holder[key]


@settings(max_examples=400, deadline=None)
@given(damaged_reply())
def test_a_whole_reply_with_damage_never_raises(damage: tuple[str, Any]) -> None:
    provider, reply = damage
    sound(get_provider(provider).read_reply(reply))


@settings(max_examples=200, deadline=None)
@given(some.sampled_from(WHOLE), some.integers(0, 10_000), some.binary(max_size=3))
def test_a_document_that_is_no_json_is_an_error_of_ours(recording: Recording, at: int, put: bytes) -> None:
    text = json.dumps(recording.whole).encode()
    at %= len(text)
    try:
        reply = get_provider(recording.provider).read_reply(text[:at] + put + text[at + 1 :])
    except HistoryError:
        return
    sound(reply)


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "mistral"])
@settings(max_examples=60, deadline=None)
@given(events=some.lists(JSON, max_size=4), body=some.binary(max_size=60) | some.text(max_size=60))
def test_nothing_at_all_raises(provider: str, events: list[Any], body: bytes | str) -> None:
    reader = ReplyReader(provider)
    for event in events:
        if isinstance(event, dict | list):
            reader.feed(event)
    reader.feed(body)
    reader.partial()
    sound(reader.reply())
