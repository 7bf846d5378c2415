"""Transcripts of Chat Completions, written and read: OpenAI's own, and in the manners of those who follow it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_histories import histories, random_history
from tests.support.transcripts import problems
from tests.support.wire.vendor_types import chat_message
from toolbridge import get_provider
from toolbridge.errors import HistoryError
from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn
from toolbridge.notes import Note
from toolbridge.providers import providers
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
from toolbridge.wire.chat.messages import read, write
from toolbridge.wire.chat.vendors import TALKS

PNG = "iVBORw0KGgo="
PDF = "JVBERi0xLjc="
WAV = "UklGRiQAAABXQVZFZm10IA=="
CALL = ToolCall("c1", "f", '{"q": "é"}', {"q": "é"})
CUSTOM = ToolCall("c2", "sql", '{"INVALID_JSON":"select 1"}', {"INVALID_JSON": "select 1"}, None, {"type": "custom"})
ENTRY = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"q": "é"}'}}


def written(*turns: Turn, provider: str = "openai-chat") -> list[dict[str, Any]]:
    talk = get_provider(provider).talk()
    fields = talk.write(turns, talk.rules)
    assert list(fields) == ["messages"]
    return fields["messages"]


def assistant(*parts: Any, provider: str = "openai-chat", answers: tuple[Answer, ...] = ()) -> dict[str, Any]:
    return written(Turn("assistant", parts, answers), provider=provider)[0]


def history(*messages: Any) -> tuple[Message, ...]:
    """What the messages are read as, where nothing is to be said about it."""
    found = read(list(messages), "me")
    assert found.notes == ()
    return found.value


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_with_calls_is_written_as_openai_has_it() -> None:
    second = ToolCall("c2", "g", "{}", {})
    messages = written(
        Turn("system", (Text("Be brief."),)),
        Turn("user", (Text("Hello"), Text("there"))),
        Turn("assistant", (Text("Let me see."), CALL, second), (Answer(CALL, (Text("1"),)), Answer(second, (Text("2"), Text("3"))))),
        Turn("assistant", (CALL,), (Answer(CALL, (Text("4"),)),)),
        Turn("assistant", (Text("Done."),)),
    )  # fmt: skip
    assert messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello\nthere"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [ENTRY, {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "tool", "tool_call_id": "c2", "content": "2\n3"},
        {"role": "assistant", "content": None, "tool_calls": [ENTRY]},
        {"role": "tool", "tool_call_id": "c1", "content": "4"},
        {"role": "assistant", "content": "Done."},
    ]
    assert [each for message in messages for each in chat_message(message)] == []


def test_a_user_s_media_are_parts() -> None:
    (message,) = written(
        Turn(
            "user",
            (
                Text("See:"),
                Image(PNG, "image/png"),
                ResourceLink("https://example.org/a.png", mime_type="image/*"),
                Audio(WAV, "audio/x-wav"),
                Audio("SUQz", "audio/mpeg"),
                Resource("file:///tmp/report.pdf", "application/pdf", blob=PDF),
                Foreign("file", {"type": "file", "file": {"file_id": "file-1"}}),
            ),
        )
    )
    assert message == {
        "role": "user",
        "content": [
            {"type": "text", "text": "See:"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
            {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}},
            {"type": "file", "file": {"filename": "report.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
            {"type": "file", "file": {"file_id": "file-1"}},
        ],
    }
    assert chat_message(message) == []


def test_what_a_provider_put_beside_a_part_is_put_back() -> None:
    signed = {"google": {"thought_signature": "U0lH"}}
    opaque = {"extra_content": signed, "function": {"strict": True}}
    call = ToolCall("c1", "f", "{}", {}, None, opaque)
    assert assistant(Text("Hi", {"extra_content": signed}), call) == {
        "role": "assistant",
        "content": "Hi",
        "extra_content": signed,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}", "strict": True}, "extra_content": signed}
        ],
    }  # fmt: skip
    cached = {"cache_control": {"type": "ephemeral"}}
    detail = {"image_url": {"detail": "low"}, **cached}
    assert written(Turn("user", (Text("a", cached), Image(PNG, "image/png", detail)))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a", **cached},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}, **cached},
            ],
        }
    ]


def test_a_custom_tools_call_is_written_as_one_and_answered_like_any() -> None:
    messages = written(Turn("assistant", (CUSTOM,), (Answer(CUSTOM, (Text("1"),)),)))
    assert messages == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "1"},
    ]
    assert [each for message in messages for each in chat_message(message)] == []
    builtin = ToolCall("c", "$web_search", "{}", {}, None, {"type": "builtin_function"})
    assert assistant(builtin, provider="moonshot")["tool_calls"] == [
        {"id": "c", "type": "builtin_function", "function": {"name": "$web_search", "arguments": "{}"}}
    ]


def test_a_refusal_and_spoken_text_are_written_as_they_came() -> None:
    refusal = assistant(Text("No.", {"type": "refusal"}))
    assert refusal == {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    spoken = assistant(Text("Hi.", {"type": "transcript"}), Foreign("audio", {"id": "audio_1"}))
    assert spoken == {"role": "assistant", "audio": {"id": "audio_1"}}
    assert assistant(Text("Hi.", {"type": "transcript"})) == {"role": "assistant", "content": "Hi."}
    assert chat_message(refusal) + chat_message(spoken) == []


@pytest.mark.parametrize(
    ("provider", "opaque", "field"),
    [
        ("deepseek", {"field": "reasoning_content"}, "reasoning_content"),
        ("deepseek", {}, "reasoning_content"),
        ("vllm", {}, "reasoning"),
        ("vllm", {"field": "reasoning_content"}, "reasoning_content"),
        ("groq", {}, "reasoning"),
        ("ollama", {}, "reasoning"),
        ("llama.cpp", {"field": "nonsense"}, "reasoning_content"),
        ("openrouter", {"field": "reasoning"}, "reasoning"),
    ],
)
def test_reasoning_goes_back_into_the_field_it_came_in(provider: str, opaque: dict[str, Any], field: str) -> None:
    assert assistant(Reasoning("Hm.", opaque), Text("x"), provider=provider) == {
        "role": "assistant",
        "content": "x",
        field: "Hm.",
    }


def test_openrouters_details_of_reasoning_go_back_as_they_were() -> None:
    details = [
        {"type": "reasoning.text", "text": "Let me see.", "signature": "U0lH", "index": 0},
        {"type": "reasoning.encrypted", "data": "QUJD", "id": "tool_0_f", "index": 0},
    ]
    message = {"role": "assistant", "content": "x", "reasoning_details": details}
    parts = history(message)[0].parts
    assert parts == (
        Reasoning(
            "Let me see.", {"field": "reasoning_details", "type": "reasoning.text", "signature": "U0lH", "index": 0}
        ),
        Reasoning("", {"field": "reasoning_details", **details[1]}),
        Text("x"),
    )
    assert assistant(*parts, provider="openrouter") == message


def test_where_thinking_is_on_a_message_with_calls_must_have_reasoning() -> None:
    assert assistant(CALL, provider="deepseek") == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "",
        "tool_calls": [ENTRY],
    }
    assert assistant(CALL, provider="moonshot")["reasoning_content"] == " "
    assert assistant(Reasoning("Hm."), CALL, provider="moonshot")["reasoning_content"] == "Hm."
    assert "reasoning_content" not in assistant(Text("x"), provider="moonshot")
    blank = {"role": "assistant", "content": None, "reasoning_content": " ", "tool_calls": [ENTRY]}
    assert history(blank)[0].parts == (CALL,)


def test_openai_never_gets_reasoning() -> None:
    said = Message("assistant", (Reasoning("Hm.", {"field": "reasoning_content"}), Text("x")), "openai-chat")
    for name in ("openai-chat", "azure"):
        found = get_provider(name).write_messages([Message.user("?"), replace(said, origin=name)])
        assert found.value["messages"][1] == {"role": "assistant", "content": "x"}
        assert [note.code for note in found.notes] == ["reasoning.dropped"]


def test_ollama_gets_strings() -> None:
    answer = Answer(CALL, (Text("a"), Text("b")))
    assert written(Turn("assistant", (CALL,), (answer,)), provider="ollama") == [
        {"role": "assistant", "content": "", "tool_calls": [ENTRY]},
        {"role": "tool", "tool_call_id": "c1", "content": "a\nb"},
    ]


def test_content_is_null_only_beside_calls() -> None:
    assert assistant(Reasoning("Hm."), provider="vllm") == {"role": "assistant", "content": "", "reasoning": "Hm."}
    assert assistant(CALL)["content"] is None


def test_dial_gets_the_state_of_its_application_back() -> None:
    state = {"state": {"page": 2}}
    message = {"role": "assistant", "content": "Hi", "custom_content": state}
    assert history(message) == (Message("assistant", (Text("Hi"), Foreign("custom_content", state)), "me"),)
    assert assistant(*history(message)[0].parts, provider="dial") == message
    attached = {"role": "user", "content": "See", "custom_content": {"attachments": [{"url": "files/a"}]}}
    assert history(attached)[0].origin == "me"
    assert written(Turn("user", history(attached)[0].parts), provider="dial") == [attached]  # pyright: ignore[reportArgumentType]


# ── who differs in what ──────────────────────────────────────────────────────────────────────────────────────────

CHAT = [name for name in providers() if name in TALKS]


def test_every_vendor_in_the_table_is_a_provider_and_talks_by_its_own_row() -> None:
    assert set(TALKS) == set(CHAT)
    assert len(CHAT) == 13
    assert [name for name in CHAT if get_provider(name).talk() is not TALKS[name]] == []


@pytest.mark.parametrize("name", CHAT)
def test_calls_are_named_by_the_rule_by_which_tools_are_named(name: str) -> None:
    provider = get_provider(name)
    for rules in (provider.talk().rules, *(rules for _, rules in provider.talk().models)):
        assert rules.names == provider.names
        assert rules.in_results == Rules().in_results


@pytest.mark.parametrize(
    ("name", "model", "hears"),
    [
        ("openai-chat", "", False),
        ("openai-chat", "an-unknown-model", False),
        ("openai-chat", "gpt-5-mini", False),
        ("openai-chat", "o3", False),
        ("openai-chat", "ft:gpt-4o:acme", False),
        ("openai-chat", "gpt-4o-audio-preview", True),
        ("openai-chat", "gpt-audio-mini", True),
        ("azure", "", False),
        ("azure", "our-audio-deployment", True),
        ("vllm", "Qwen/Qwen3", False),
        ("vllm", "Qwen/Qwen3-Omni", True),
        ("mistral", "mistral-large-latest", False),
        ("mistral", "voxtral-small-latest", True),
        ("openrouter", "google/gemini-3", True),
        ("openrouter", "anthropic/claude", False),
        ("groq", "", False),
    ],
)
def test_sounds_go_to_models_that_hear(name: str, model: str, hears: bool) -> None:
    found = get_provider(name).write_messages([Message.user("Listen:", Audio(WAV, "audio/wav"))], model=model)
    content = found.value["messages"][0]["content"]
    assert ("input_audio" in str(content)) is hears
    assert [note.code for note in found.notes] == ([] if hears else ["audio.described"])


@pytest.mark.parametrize(
    ("name", "seen"),
    [("openai-chat", "ild"), ("azure", "il"), ("deepseek", ""), ("ollama", "i"), ("moonshot", "i"), ("openrouter", "ild"), ("groq", "il"), ("dial", "il"), ("llama.cpp", "il"), ("mistral", "ild")],
)  # fmt: skip
def test_media_go_where_they_are_taken(name: str, seen: str) -> None:
    """Images, links of images, documents."""
    given = Message.user(
        "See:",
        Image(PNG, "image/png"),
        ResourceLink("https://example.org/a.png", mime_type="image/png"),
        Resource("a.pdf", "application/pdf", blob=PDF),
    )
    content = get_provider(name).write_messages([given]).value["messages"][0]["content"]
    parts = content if isinstance(content, list) else []
    found = "".join(
        "d" if each["type"] in ("file", "document_url") else "l" if "https" in str(each) else "i"
        for each in parts
        if each["type"] != "text"
    )
    assert found == seen


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_history_is_read_from_a_body_from_its_fields_or_from_the_list() -> None:
    messages = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    expected = (Message.system("Be brief."), Message.user("Hi"))
    for source in (messages, {"messages": messages}, {"model": "m", "messages": messages, "tools": []}):
        assert (read(source, "me").value, read(source, "me").notes) == (expected, ())


@pytest.mark.parametrize("source", [None, 7, "x", {}, {"input": []}, {"messages": "x"}, {"messages": None}])
def test_what_is_no_history_at_all_is_refused(source: Any) -> None:
    with pytest.raises(HistoryError, match="expected a list of messages"):
        read(source, "me")


def test_calls_and_their_results_are_read() -> None:
    broken = {"id": "c2", "type": "function", "function": {"name": "g", "arguments": '{"a": '}}
    found = history(
        {"role": "assistant", "content": "Let me see.", "tool_calls": [ENTRY, broken]},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "1", "name": "f"},
        {"role": "tool", "tool_call_id": "c3", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    )
    said, results, done = found
    assert (said.parts[:2], said.origin, said.role) == ((Text("Let me see."), CALL), "me", "assistant")
    assert (said.calls[1].text, said.calls[1].arguments) == ('{"a": ', None)
    assert said.calls[1].problem
    assert results == Message.results(ToolResult("c2", (Text("2"),)), ToolResult("c1", (Text("1"),)), ToolResult("c3"))
    assert done == Message("assistant", (Text("Done."),), "me")


def test_arguments_may_be_an_object_or_nothing_and_what_was_wrapped_is_unwrapped() -> None:
    entries: list[Any] = [
        {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
        {"id": "b", "function": {"name": "f"}},
        {"id": "c", "function": {"name": "f", "arguments": '{"INVALID_JSON": "{\\"a\\": "}'}},
        {"id": "d", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
    ]
    calls = history({"role": "assistant", "content": None, "tool_calls": entries})[0].calls
    assert [(each.id, each.text, each.arguments) for each in calls] == [
        ("a", '{"x":1}', {"x": 1}),
        ("b", "", {}),
        ("c", '{"a": ', None),
        ("d", "select 1", None),
    ]
    assert calls[3].opaque == {"type": "custom"}


def test_the_old_form_is_paired_by_name() -> None:
    found = read(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a":1}'}},
            {"role": "function", "name": "f", "content": "2"},
            {"role": "function", "name": "g", "content": "?"},
        ],
        "me",
    )
    assert found.value == (
        Message("assistant", (ToolCall("call_0", "f", "{}", {}),), "me"),
        Message("assistant", (ToolCall("call_1", "f", '{"a":1}', {"a": 1}),), "me"),
        Message.results(ToolResult("call_1", (Text("2"),)), ToolResult("", (Text("?"),))),
    )
    assert found.notes == (
        Note("call.id_made", "changed", "/0/function_call"),
        Note("call.id_made", "changed", "/1/function_call"),
        Note("result.unmatched", "narrowed", "/3", "g"),
    )


def test_results_without_an_id_are_paired_by_name_or_in_order() -> None:
    entries = [{"id": "null", "function": {"name": name, "arguments": "{}"}} for name in ("f", "g", "f")]
    found = read(
        [
            {"role": "assistant", "tool_calls": entries},
            {"role": "tool", "name": "f", "content": "1"},
            {"role": "tool", "name": "f", "content": "3"},
            {"role": "tool", "content": "2"},
        ],
        "me",
    )
    assert [each.id for each in found.value[0].calls] == ["call_0_0", "call_0_1", "call_0_2"]
    assert found.value[1] == Message.results(
        ToolResult("call_0_0", (Text("1"),)), ToolResult("call_0_2", (Text("3"),)), ToolResult("call_0_1", (Text("2"),))
    )
    assert [note.code for note in found.notes] == ["call.id_made"] * 3 + ["result.matched"] * 3


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "a"}, Text("a")),
        ("a", Text("a")),
        ({"text": "a"}, Text("a")),
        ({"type": "input_text", "text": "a"}, Text("a")),
        ({"type": "text", "text": "a", "cache_control": {"type": "x"}}, Text("a", {"cache_control": {"type": "x"}})),
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, Image(PNG, "image/png")),
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "low"}}, Image(PNG, "image/png", {"image_url": {"detail": "low"}})),
        ({"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}, Image(PNG, "image/png")),
        ({"type": "image_url", "image_url": {"url": PNG}}, Image(PNG, "image/png")),
        ({"type": "image_url", "image_url": {"url": "data:;base64,/9j/4AA"}}, Image("/9j/4AA", "image/jpeg")),
        ({"type": "image_url", "image_url": {"url": "data:image/svg+xml,%3Csvg/%3E"}}, Image("PHN2Zy8+", "image/svg+xml")),
        ({"type": "image_url", "image_url": {"url": "HTTPS://example.org/a"}}, ResourceLink("HTTPS://example.org/a", mime_type="image/*")),
        ({"type": "image_url", "image_url": {"url": "ms://file-1"}}, Foreign("image_url", {"type": "image_url", "image_url": {"url": "ms://file-1"}})),
        ({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}, Audio(WAV, "audio/wav")),
        ({"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}}, Audio("SUQz", "audio/mpeg")),
        ({"type": "input_audio", "input_audio": {"data": f"data:;base64,{WAV}", "format": "wav"}}, Audio(WAV, "audio/wav")),
        ({"type": "input_audio", "input_audio": WAV}, Audio(WAV, "audio/wav")),
        ({"type": "input_audio", "input_audio": {"data": f"data:audio/flac;base64,{PNG}"}}, Audio(PNG, "audio/flac")),
        ({"type": "input_audio", "input_audio": "https://example.org/a.mp3"}, Foreign("input_audio", {"type": "input_audio", "input_audio": "https://example.org/a.mp3"})),
        ({"type": "image_url", "image_url": "UklGRgAAAABXRUJQ"}, Image("UklGRgAAAABXRUJQ", "image/webp")),
        ({"type": "image_url", "image_url": "http://example.org/a"}, ResourceLink("http://example.org/a", mime_type="image/*")),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}}, Resource("a.pdf", "application/pdf", blob=PDF)),
        ({"type": "file", "file": {"file_data": PDF}}, Resource("file", "application/pdf", blob=PDF)),
        ({"type": "file", "file": {"filename": "a.pdf", "file_data": "https://example.org/a.pdf"}}, ResourceLink("https://example.org/a.pdf", "a.pdf", "application/pdf")),
        ({"type": "file", "file": {"file_id": "file-1"}}, Foreign("file", {"type": "file", "file": {"file_id": "file-1"}})),
        ({"type": "file", "file_id": "f1"}, Foreign("file", {"type": "file", "file_id": "f1"})),
        ({"type": "document_url", "document_url": f"data:application/pdf;base64,{PDF}", "document_name": "a.pdf"}, Resource("a.pdf", "application/pdf", blob=PDF)),
        ({"type": "document_url", "document_url": "https://example.org/a"}, ResourceLink("https://example.org/a", "", "application/pdf")),
        ({"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}, Foreign("video_url", {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}})),
    ],
)  # fmt: skip
def test_every_part_that_a_user_sends_is_read(part: Any, expected: Any) -> None:
    (found,) = history({"role": "user", "content": [part]})
    owned = isinstance(expected, Foreign) or bool(getattr(expected, "opaque", None))
    assert found == Message("user", (expected,), "me" if owned else "")


def test_what_is_empty_is_nothing_and_nothing_is_said_about_it() -> None:
    empty = [
        *({"type": kind, "text": ""} for kind in ("text", "input_text", "output_text")),
        {"type": "refusal", "refusal": ""},
        {"type": "refusal", "refusal": None},
        "",
    ]
    for content in (empty, "", None, []):
        assert history({"role": "user", "content": content}) == (Message.user(),)
    assert history({"role": "assistant", "content": "", "refusal": "", "tool_calls": None}) == (
        Message("assistant", (), "me"),
    )


def test_a_result_has_media_but_nothing_that_only_a_provider_understands() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"type": "file", "file_id": "f"},
    ]
    found = read([{"role": "tool", "tool_call_id": "c1", "content": parts}], "me")
    assert found.value == (Message.results(ToolResult("c1", (Image(PNG, "image/png"),))),)
    assert found.notes == (Note("part.unknown", "narrowed", "/0/content", {"type": "file", "file_id": "f"}),)


@pytest.mark.parametrize(("uri", "name"), [("a/b.pdf", "b.pdf"), ("b.pdf", "b.pdf"), ("", "file"), ("/", "file")])
def test_a_file_has_a_name(uri: str, name: str) -> None:
    (message,) = written(Turn("user", (Resource(uri, "application/pdf", blob=PDF),)))
    assert message["content"][0]["file"]["filename"] == name


def test_a_document_that_is_text_is_text() -> None:
    (message,) = written(Turn("user", (Resource("a.txt", "text/plain", text="Notes"),)))
    assert message == {"role": "user", "content": [{"type": "text", "text": "Notes"}]}


def test_what_only_the_assistant_says_is_read() -> None:
    audio = {"id": "audio_1", "transcript": "Hello.", "data": None, "expires_at": 9}
    signed = {"google": {"thought_signature": "U0lH"}}
    assert history(
        {"role": "assistant", "content": None, "refusal": "No.", "annotations": [], "function_call": None},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}], "audio": None},
        {"role": "assistant", "audio": audio},
        {"role": "assistant", "reasoning_content": "Hm.", "content": "x"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "signature": "S"}]},
        {"role": "assistant", "content": "x", "extra_content": signed},
        {"role": "assistant", "content": None, "extra_content": signed},
        {"role": "assistant", "content": "", "images": [{"image_url": {"url": f"data:image/png;base64,{PNG}"}}]},
    ) == (
        Message("assistant", (Text("No.", {"type": "refusal"}),), "me"),
        Message("assistant", (Text("No.", {"type": "refusal"}),), "me"),
        Message("assistant", (Text("Hello.", {"type": "transcript"}), Foreign("audio", {"id": "audio_1"})), "me"),
        Message("assistant", (Reasoning("Hm.", {"field": "reasoning_content"}), Text("x")), "me"),
        Message("assistant", (Reasoning("Hm.", {"field": "thinking", "signature": "S"}),), "me"),
        Message("assistant", (Text("x", {"extra_content": signed}),), "me"),
        Message("assistant", (Text("", {"extra_content": signed}),), "me"),
        Message("assistant", (Image(PNG, "image/png"),), "me"),
    )  # fmt: skip


def test_what_is_not_understood_is_noted_and_the_rest_is_read() -> None:
    odd: list[Any] = [
        {"role": "user", "content": ["a", {"type": "hologram", "x": 1}, 7, {"type": "text"}], "name": "Ada"},
        "hello",
        {"role": "critic", "content": "b"},
        {"content": "c"},
        {"role": "assistant", "content": "d", "annotations": [{"type": "url_citation"}], "tool_calls": [7, {"id": "x"}], "a/b": 1},
        {"role": "tool", "tool_call_id": "x", "content": {"ok": "é"}},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x", "detail": "low"}}], "tool_calls": []},
        {"role": "assistant", "audio": {"transcript": "e"}, "function_call": "f"},
        {"role": "user", "content": 7},
    ]  # fmt: skip
    found = read({"messages": odd}, "me")
    assert found.value == (
        Message("user", (Text("a"), Foreign("hologram", {"type": "hologram", "x": 1})), "me"),
        Message("assistant", (Text("d"), ToolCall("x", "", "", {})), "me"),
        Message.results(ToolResult("x", (Text('{"ok":"é"}'),))),
        Message.user(ResourceLink("https://x", mime_type="image/*")),
        Message("assistant", (), "me"),
        Message.user(),
    )
    assert found.notes == (
        Note("part.unknown", "changed", "/messages/0/content/1", {"type": "hologram", "x": 1}),
        Note("part.unknown", "narrowed", "/messages/0/content/2", 7),
        Note("part.unknown", "narrowed", "/messages/0/content/3", {"type": "text"}),
        Note("name.dropped", "narrowed", "/messages/0/name", "Ada"),
        Note("message.unknown", "narrowed", "/messages/1", "hello"),
        Note("role.unknown", "narrowed", "/messages/2", {"role": "critic", "content": "b"}),
        Note("role.unknown", "narrowed", "/messages/3", {"content": "c"}),
        Note("call.unknown", "narrowed", "/messages/4/tool_calls/0", 7),
        Note("call.nameless", "narrowed", "/messages/4/tool_calls/1", {"id": "x"}),
        Note("annotations.dropped", "narrowed", "/messages/4/annotations", [{"type": "url_citation"}]),
        Note("field.unknown", "narrowed", "/messages/4/a~1b", 1),
        Note("content.said", "changed", "/messages/5/content", {"ok": "é"}),
        Note("opaque.dropped", "narrowed", "/messages/6/content/0", {"image_url": {"detail": "low"}}),
        Note("field.unknown", "narrowed", "/messages/6/tool_calls", []),
        Note("part.unknown", "narrowed", "/messages/7/audio", {"transcript": "e"}),
        Note("call.unknown", "narrowed", "/messages/7/function_call", "f"),
        Note("part.unknown", "narrowed", "/messages/8/content", 7),
    )


KEYS = [
    "role", "content", "name", "tool_calls", "tool_call_id", "function", "function_call", "custom", "arguments", "input",
    "id", "type", "text", "image_url", "url", "detail", "input_audio", "data", "format", "file", "file_data", "filename",
    "file_id", "document_url", "refusal", "audio", "transcript", "reasoning", "reasoning_details", "thinking", "images",
    "extra_content", "custom_content", "annotations", "index",
]  # fmt: skip
WORDS = ["", "null", "x", "text", "user", "assistant", "tool", "function", "system", "file", "image_url", "thinking", "data:,", "data:x"]  # fmt: skip
hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*WORDS, "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)
messages = st.dictionaries(st.sampled_from(KEYS), hostile, max_size=6).flatmap(
    lambda fields: st.sampled_from(["user", "assistant", "tool", "function", "system", 7]).map(lambda role: {**fields, "role": role})
)  # fmt: skip


@given(st.lists(messages | hostile, max_size=4))
def test_no_history_raises(source: list[Any]) -> None:
    read(source, "me")


# ── there and back ───────────────────────────────────────────────────────────────────────────────────────────────


def again(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """What is written once more, after it was read."""
    provider = get_provider(name)
    found = provider.read_messages(fields)
    assert [note for note in found.notes if note.code not in ("part.unknown", "opaque.dropped")] == []
    return provider.write_messages(found.value).value


@pytest.mark.parametrize("name", CHAT)
@pytest.mark.parametrize("seed", range(12))
def test_a_conversation_is_accepted_and_comes_back_as_it_was_written(name: str, seed: int) -> None:
    fields = get_provider(name).write_messages(random_history(seed, 24)).value
    assert problems(name, fields) == []
    assert again(name, fields) == fields


@pytest.mark.parametrize("name", ["openai-chat", "ollama", "mistral", "deepseek"])
@given(messages=histories())
def test_whatever_a_history_holds_its_transcript_is_accepted(name: str, messages: list[Message]) -> None:
    fields = get_provider(name).write_messages(messages).value
    assert not fields["messages"] or problems(name, fields) == []
    assert not fields["messages"] or again(name, fields) == fields


def test_writing_and_reading_give_back_what_the_format_carries() -> None:
    said = Message(
        "assistant",
        (
            Reasoning("Hm.", {"field": "reasoning_content"}),
            Text("Let me see."),
            ToolCall("c1", "f", '{"q": "é"}', {"q": "é"}, None, {"extra_content": {"x": 1}}),
            ToolCall("c2", "g", "{}", {}),
        ),
        "qwen",
    )
    messages = (
        Message.system("Be brief."),
        Message.user("See:", Image(PNG, "image/png"), ResourceLink("https://example.org/a.png", mime_type="image/*")),
        said,
        Message.results(ToolResult("c1", (Text("1"),)), ToolResult("c2", (Text("2"),))),
        Message("assistant", (Text("Done."),), "qwen"),
    )
    provider = get_provider("qwen")
    written = provider.write_messages(messages)
    assert (provider.read_messages(written.value).value, written.notes) == (messages, ())


def test_a_broken_call_comes_back_broken() -> None:
    broken = ToolCall("c1", "f", '{"a": ', None, "the arguments end too early")
    provider = get_provider("openai-chat")
    fields = provider.write_messages(
        [
            Message.user("?"),
            Message("assistant", (broken,), "openai-chat"),
            Message.results(ToolResult("c1", (Text("no"),))),
        ]
    ).value
    function = fields["messages"][1]["tool_calls"][0]["function"]
    assert function == {"name": "f", "arguments": '{"INVALID_JSON":"{\\"a\\": "}'}
    (found,) = provider.read_messages(fields).value[1].calls
    assert (found.id, found.name, found.text, found.arguments) == ("c1", "f", '{"a": ', None)


def test_messages_of_openais_sdk_are_read() -> None:
    from openai.types.chat import ChatCompletionMessage

    answer = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [ENTRY], "refusal": None}
    )
    found = get_provider("openai-chat").read_messages([{"role": "user", "content": "?"}, answer])
    assert (found.value, found.notes) == ((Message.user("?"), Message("assistant", (CALL,), "openai-chat")), ())


def test_writing_leaves_the_turns_alone_and_shares_nothing_with_them() -> None:
    opaque = {"type": "file", "file": {"file_id": "x"}}
    turn = Turn("user", (Foreign("file", opaque), Text("a")))
    first = write([turn], Rules())
    first["messages"][0]["content"][0]["type"] = "changed"
    assert turn == Turn("user", (Foreign("file", {"type": "file", "file": {"file_id": "x"}}), Text("a")))
