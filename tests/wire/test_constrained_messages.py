"""Transcripts of constrained models: plain chat messages there, and the history back."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge import Message, ToolCall, ToolResult, get_provider
from toolbridge.history.order import BEGINNING, GO_ON, IN_BETWEEN
from toolbridge.types import Image, Text

PROVIDER = get_provider("json-schema")
CALL = ToolCall("call_2", "get_weather", '{"city": "Bern"}', {"city": "Bern"})


def written(*messages: Message) -> list[dict[str, Any]]:
    fields = PROVIDER.write_messages(messages).value
    assert set(fields) == {"messages"}
    return fields["messages"]


def turns(*messages: Message) -> list[tuple[str, str]]:
    return [(each["role"], each["content"]) for each in written(*messages)]


HISTORY = (
    Message.system("Be brief."),
    Message.user("Weather in Bern?"),
    Message("assistant", (CALL,), "json-schema"),
    Message.results(ToolResult("call_2", (Text("rain\nand wind"),))),
    Message("assistant", (Text('It "rains".'),), "json-schema"),
    Message.user("Thanks."),
)


def test_a_conversation_is_plain_messages_in_the_form_of_the_object() -> None:
    assert turns(*HISTORY) == [
        ("system", "Be brief."),
        ("user", "Weather in Bern?"),
        ("assistant", '{"tool": "get_weather", "arguments": {"city": "Bern"}}'),
        ("user", "Result of get_weather:\nrain\nand wind"),
        ("assistant", '{"answer": "It \\"rains\\"."}'),
        ("user", "Thanks."),
    ]


def test_what_was_written_is_read_as_the_history_that_it_was() -> None:
    assert PROVIDER.read_messages(PROVIDER.write_messages(HISTORY)).value == HISTORY


def test_calls_that_were_made_together_follow_one_another() -> None:
    other = ToolCall("b", "get_time", "{}", {})
    together = Message("assistant", (Text("Let me see."), CALL, other), "openai-chat")
    results = Message.results(ToolResult("call_2", (Text("rain"),)), ToolResult("b", (Text("noon"),)))
    assert turns(Message.user("?"), together, results) == [
        ("user", "?"),
        ("assistant", 'Let me see.\n{"tool": "get_weather", "arguments": {"city": "Bern"}}'),
        ("user", "Result of get_weather:\nrain"),
        ("assistant", '{"tool": "get_time", "arguments": {}}'),
        ("user", "Result of get_time:\nnoon"),
    ]


def test_roles_take_turns_from_a_user_to_a_user() -> None:
    called = Message("assistant", (CALL,), "json-schema")
    result = Message.results(ToolResult("call_2", (Text("rain"),)))
    said = '{"tool": "get_weather", "arguments": {"city": "Bern"}}'
    assert turns(called, result, Message.user("And now?"), Message.user("Well?"), Message.assistant("Sun.")) == [
        ("user", BEGINNING),
        ("assistant", said),
        ("user", "Result of get_weather:\nrain"),
        ("assistant", f'{{"answer": "{IN_BETWEEN}"}}'),
        ("user", "And now?\nWell?"),
        ("assistant", '{"answer": "Sun."}'),
        ("user", GO_ON),
    ]


def test_what_is_no_text_is_described_and_failures_are_said() -> None:
    picture = ToolResult("call_2", (Image("aGk=", "image/png"),), is_error=True)
    (_, _, (role, text)) = turns(Message.user("?"), Message("assistant", (CALL,)), Message.results(picture))
    assert role == "user"
    assert text.startswith("Result of get_weather:\n")
    assert "image/png" in text
    assert "aGk=" not in text
    assert "rror" in text


def test_a_call_that_was_cut_stays_broken_there_and_back() -> None:
    broken = ToolCall("call_1", "get_weather", '{"city": "Be', None, "the arguments end too early")
    history = (
        Message.user("?"),
        Message("assistant", (broken,), "json-schema"),
        Message.results(ToolResult("call_1", (Text("Not run."),))),
    )
    assert turns(*history)[1] == (
        "assistant",
        '{"tool": "get_weather", "arguments": {"INVALID_JSON": "{\\"city\\": \\"Be"}}',
    )
    (_, back, answered) = PROVIDER.read_messages(PROVIDER.write_messages(history)).value
    assert (back.calls[0].name, back.calls[0].text, back.calls[0].arguments) == ("get_weather", '{"city": "Be', None)
    assert answered == history[2]


@pytest.mark.parametrize(
    "content", ["Result of get_weather:\nrain", "Result of get_time:\nnoon", "Result of get_weather: rain"]
)
def test_a_user_who_only_sounds_like_a_result_is_a_user(content: str) -> None:
    history = (Message.user("Hello."), Message("assistant", (Text("Hi."),), "json-schema"), Message.user(content))
    assert PROVIDER.read_messages(PROVIDER.write_messages(history)).value == history


def test_reasoning_is_not_sent_back() -> None:
    thought = PROVIDER.read_reply(
        {
            "choices": [
                {"message": {"reasoning_content": "Hm.", "content": '{"answer": "Yes."}'}, "finish_reason": "stop"}
            ]
        }
    ).message
    assert turns(Message.user("?"), thought, Message.user("!"))[1] == ("assistant", '{"answer": "Yes."}')
