"""Mistral's transcripts and replies, judged by its own SDK and by its own validator in every version it has."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from mistralai.client import models

from tests.support.random_histories import histories
from tests.support.transcripts import problems
from toolbridge import get_provider
from toolbridge.history.turns import Answer, Turn
from toolbridge.reply import read_stream
from toolbridge.stream.plain import plain
from toolbridge.types import (
    Audio,
    Foreign,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)
from toolbridge.wire.chat.replies import read_event

MISTRAL = get_provider("mistral")
VERSIONS = [TokenizerVersion.v3, TokenizerVersion.v7, TokenizerVersion.v11, TokenizerVersion.v13, TokenizerVersion.v15]
PNG = "iVBORw0KGgo="
PDF = "JVBERi0xLjc="
WAV = "UklGRiQAAABXQVZFZm10IA=="
ID, OTHER = "a1B2c3D4e", "f5G6h7I8j"


def call(id: str, name: str = "get_weather", text: str = '{"city": "Bern"}') -> ToolCall:
    return ToolCall(id, name, text, {"city": "Bern"})


def written(*messages: Message) -> list[dict[str, Any]]:
    return MISTRAL.write_messages(messages).value["messages"]


def refused(messages: list[dict[str, Any]], version: TokenizerVersion) -> str | None:
    """What the validator of that tokenizer says against the messages, as a server would ask it."""
    try:
        request: Any = ChatCompletionRequest.from_openai([_with_thoughts_as_text(each) for each in messages], model="m")
        get_validator(version, ValidationMode.serving).validate_request(request)
    except MistralCommonException as failure:
        return str(failure)
    return None


def _with_thoughts_as_text(message: dict[str, Any]) -> dict[str, Any]:
    """The validator has a thought as a string, and the API as a list."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {
        **message,
        "content": [
            {**each, "thinking": each["thinking"][0]["text"]} if "thinking" in each else each for each in content
        ],
    }


def test_a_conversation_with_calls_is_written_as_mistral_has_it() -> None:
    found = MISTRAL.write_messages(
        [
            Message.system("Be brief."),
            Message.user("Weather?"),
            Message.assistant(call(ID), call(OTHER)),
            Message.results(ToolResult(ID, (Text("rain"),)), ToolResult(OTHER, (Text("sun"),))),
        ]
    )
    messages = found.value["messages"]
    function = {"name": "get_weather", "arguments": '{"city": "Bern"}'}
    assert (messages, found.notes) == (
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": ID, "type": "function", "function": function},
                    {"id": OTHER, "type": "function", "function": function},
                ],
            },
            {"role": "tool", "tool_call_id": ID, "content": "rain", "name": "get_weather"},
            {"role": "tool", "tool_call_id": OTHER, "content": "sun", "name": "get_weather"},
        ],
        (),
    )
    assert [refused(messages, version) for version in VERSIONS] == [None] * 5


def test_ids_are_nine_letters_and_digits() -> None:
    messages = written(
        Message.user("?"),
        Message.assistant(call("call_abc|123"), call("toolu_01")),
        Message.results(ToolResult("toolu_01", (Text("1"),)), ToolResult("call_abc|123", (Text("2"),))),
    )
    ids = [each["id"] for each in messages[1]["tool_calls"]]
    assert all(len(id) == 9 and id.isalnum() for id in ids)
    assert [(each["tool_call_id"], each["content"]) for each in messages[2:]] == [(ids[0], "2"), (ids[1], "1")]
    assert [refused(messages, version) for version in VERSIONS] == [None] * 5


CALLED = (Message.user("?"), Message.assistant(call(ID)), Message.results(ToolResult(ID, (Text("rain"),))))
ORDERS: dict[str, tuple[Message, ...]] = {
    "a user after results": (*CALLED, Message.user("And now?")),
    "the system in the middle": (*CALLED, Message.system("Be rude."), Message.user("?")),
    "the assistant last": (*CALLED, Message.assistant("It rains.")),
    "calls first": CALLED[1:],
    "the assistant alone": (Message.assistant("Hello."),),
    "a call without its result": (*CALLED[:2], Message.user("Well?")),
    "an image in a result": (*CALLED[:2], Message.results(ToolResult(ID, (Image(PNG, "image/png"),)))),
    "an id again": (*CALLED, *CALLED[1:]),
    "many of one role": (Message.user("a"), Message.user("b"), Message.assistant("c"), Message.assistant("d"), Message.user("e")),
    "only the system": (Message.system("Be brief."),),
}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.value)
@pytest.mark.parametrize("case", ORDERS)
def test_the_order_is_one_that_every_version_of_the_validator_takes(case: str, version: TokenizerVersion) -> None:
    messages = written(*ORDERS[case])
    assert refused(messages, version) is None
    roles = [each["role"] for each in messages]
    assert ("tool", "user") not in list(pairwise(roles))  # refused by the API, and before 1.12


def test_text_beside_calls_is_taken_since_v7() -> None:
    messages = written(Message.user("?"), Message.assistant("Let me see.", call(ID)), CALLED[2])
    assert [refused(messages, version) for version in VERSIONS[1:]] == [None] * 4
    assert "content or tool_calls" in (refused(messages, TokenizerVersion.v3) or "")


def test_something_is_said_between_results_and_a_users_message() -> None:
    messages = written(*ORDERS["a user after results"])
    assert messages[-2:] == [{"role": "assistant", "content": "Understood."}, {"role": "user", "content": "And now?"}]
    again = MISTRAL.write_messages(MISTRAL.read_messages(messages).value)
    assert again.value["messages"] == messages


def test_media_and_thoughts_are_mistrals_own_chunks() -> None:
    talk = MISTRAL.talk()
    asked = ToolCall(ID, "f", "{}", {})
    messages = talk.write(
        [
            Turn(
                "user",
                (
                    Text("See:"),
                    Image(PNG, "image/png"),
                    ResourceLink("https://example.org/a.png", mime_type="image/png"),
                    Resource("report.pdf", "application/pdf", blob=PDF),
                    ResourceLink("https://example.org/b.pdf", "b", "application/pdf"),
                    Audio(WAV, "audio/wav"),
                ),
            ),
            Turn(
                "assistant",
                (Reasoning("Hm.", {"field": "thinking", "signature": "S"}), Text("Let me see."), asked),
                (Answer(asked, (Text("1"),)),),
            ),
            Turn("assistant", (Reasoning("So."), Foreign("reference", {"type": "reference", "reference_ids": [1]}), Text("Done."))),
        ],
        talk.rules,
    )["messages"]  # fmt: skip
    assert messages == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See:"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {
                    "type": "document_url",
                    "document_url": f"data:application/pdf;base64,{PDF}",
                    "document_name": "report.pdf",
                },
                {"type": "document_url", "document_url": "https://example.org/b.pdf", "document_name": "b"},
                {"type": "input_audio", "input_audio": WAV},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "signature": "S"},
                {"type": "text", "text": "Let me see."},
            ],
            "tool_calls": [{"id": ID, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": ID, "content": "1", "name": "f"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "So."}]},
                {"type": "reference", "reference_ids": [1]},
                {"type": "text", "text": "Done."},
            ],
        },
    ]
    request = models.ChatCompletionRequest.model_validate({"model": "m", "messages": messages})
    assert request.model_dump(exclude_unset=True)["messages"] == messages


def test_thoughts_go_back_to_mistral_where_its_validator_takes_them() -> None:
    thought = Reasoning("Hm.", {"field": "thinking"})
    messages = written(Message.user("?"), Message("assistant", (thought, Text("x")), "mistral"), Message.user("!"))
    assert messages[1]["content"][0] == {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    assert [refused(messages, version) for version in VERSIONS[2:]] == [None] * 3
    foreign = written(Message.user("?"), Message("assistant", (thought, Text("x")), "deepseek"), Message.user("!"))
    assert foreign[1] == {"role": "assistant", "content": "x"}


@given(histories())
def test_whatever_a_history_holds_mistral_takes_its_transcript(history: list[Message]) -> None:
    fields = MISTRAL.write_messages(history).value
    if fields["messages"]:
        assert problems("mistral", fields) == []


def test_events_of_mistrals_sdk_are_read() -> None:
    entry = {"id": ID, "type": "function", "index": 0, "function": {"name": "f", "arguments": {"a": "é"}}}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    chunks: list[dict[str, Any]] = [
        {"id": "r", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in (
            ({"role": "assistant", "content": [thinking]}, None),
            ({"content": "Let me see."}, None),
            ({"tool_calls": [entry, {**entry, "id": "null"}]}, "tool_calls"),
        )
    ]
    chunks[-1]["usage"] = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    events = [models.CompletionEvent.model_validate({"data": each}) for each in chunks]
    for event, each in zip(events, chunks, strict=True):
        assert read_event(plain(event)) == read_event(each)
    reply = read_stream("mistral", events)
    assert reply.message == Message(
        "assistant",
        (
            Reasoning("Hm.", {"field": "thinking"}),
            Text("Let me see."),
            ToolCall(ID, "f", '{"a":"é"}', {"a": "é"}),
            ToolCall("call_1", "f", '{"a":"é"}', {"a": "é"}),
        ),
        "mistral",
        "m",
    )
    message = {
        "role": "assistant",
        "content": [thinking, {"type": "text", "text": "Let me see."}],
        "tool_calls": [entry],
    }
    body = {
        "id": "r",
        "object": "chat.completion",
        "model": "m",
        "created": 1,
        "usage": chunks[-1]["usage"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }
    whole = MISTRAL.read_reply(models.ChatCompletionResponse.model_validate(body))
    assert (whole.message.parts, whole.finish) == (reply.message.parts[:3], "calls")
