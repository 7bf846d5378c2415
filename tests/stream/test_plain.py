"""Plain values: what the vendors' SDKs hand out is read as the JSON that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from anthropic.types import Message as AnthropicMessage
from anthropic.types import RawContentBlockDeltaEvent
from google.genai import types as genai
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseFunctionToolCall

from toolbridge import HistoryError
from toolbridge.stream.plain import plain

CHUNK: dict[str, Any] = {
    "id": "x",
    "created": 1,
    "model": "m",
    "object": "chat.completion.chunk",
    "choices": [
        {
            "index": 0,
            "finish_reason": "strange",
            "delta": {
                "tool_calls": [
                    {
                        "id": "a",
                        "function": {"name": "f", "arguments": {"a": 1}},
                        "extra_content": {"google": {"s": "é"}},
                    }
                ]
            },
        }
    ],
}


def test_what_is_plain_is_handed_on_and_not_copied() -> None:
    value = {"a": [1, {"b": None}], "c": b"bytes stay bytes"}
    assert plain(value) is value


def test_a_chunk_of_openai_keeps_what_its_types_do_not_know() -> None:
    assert plain(ChatCompletionChunk.construct(**CHUNK)) == CHUNK


def test_what_was_never_set_is_not_there() -> None:
    call = ResponseFunctionToolCall(arguments="{}", call_id="c", name="f", type="function_call")
    assert plain([call]) == [{"arguments": "{}", "call_id": "c", "name": "f", "type": "function_call"}]


def test_events_and_messages_of_anthropic() -> None:
    event: dict[str, Any] = {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": ""},
    }
    assert plain(RawContentBlockDeltaEvent.model_validate(event)) == event
    message: dict[str, Any] = {
        "id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "tool_use", "stop_sequence": None,
        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1]}}], "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip
    assert plain(AnthropicMessage.model_validate(message)) == message


def test_bytes_of_google_are_the_base64_of_the_wire() -> None:
    part = {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "//77"}
    reply = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    assert plain(genai.GenerateContentResponse.model_validate(reply)) == reply


def test_json_text_is_parsed() -> None:
    assert plain('\ufeff{"a": "é"}') == {"a": "é"}
    assert plain(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_other_objects_inside_of_plain_ones() -> None:
    @dataclass
    class Block:
        text: str

    assert plain({"content": (Block("a"), {"b": Block("c")})}) == {"content": [{"text": "a"}, {"b": {"text": "c"}}]}


@pytest.mark.parametrize("value", ["<html>", b"\xff\xfe", object(), "[" * 100_000])
def test_what_is_nothing_of_this_is_an_error_that_says_so(value: Any) -> None:
    with pytest.raises(HistoryError, match=r"not JSON|expected a dict"):
        plain(value)
