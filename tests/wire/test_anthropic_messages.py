"""Transcripts of Anthropic Messages: what is written is what Anthropic's own types accept, and is read back."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.wire.vendor_types import anthropic_message, anthropic_system
from tests.wire.sdk_streams import folded_reply
from toolbridge.errors import HistoryError
from toolbridge.history.turns import Answer, Turn, legal_turns
from toolbridge.notes import Note
from toolbridge.providers import get_provider
from toolbridge.stream.arguments import INVALID_JSON
from toolbridge.types import (
    Audio,
    Content,
    Foreign,
    Image,
    Message,
    Part,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)
from toolbridge.wire.anthropic import RULES, TALK

ORIGIN = "anthropic"
PNG = "iVBORw0KGgo="
PDF = "JVBERi0="
SIGNED = {"signature": "EqQB…"}
THINKING = {"type": "thinking", "thinking": " Hm. ", "signature": "EqQB…"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK…"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}


def call(number: int, arguments: dict[str, Any] | None = None, **opaque: Any) -> ToolCall:
    arguments = arguments or {}
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return ToolCall(f"toolu_{number}", "weather", text, arguments, None, opaque)


def answer(call: ToolCall, *blocks: Any, is_error: bool = False) -> Answer:
    return Answer(call, blocks or (Text("ok"),), is_error=is_error)


def said(*parts: Any) -> Turn:
    calls = [part for part in parts if isinstance(part, ToolCall)]
    return Turn("assistant", parts, tuple(answer(each) for each in calls))


def use(number: int, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "weather", "input": arguments or {}}


def result(number: int, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, **more}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def written(*turns: Turn) -> dict[str, Any]:
    """The fields, all of which Anthropic's types accept, without keys that they do not have."""
    fields = TALK.write(turns, RULES)
    assert [anthropic_message(message) for message in fields["messages"]] == [[]] * len(fields["messages"])
    assert anthropic_system(fields.get("system", "")) == []
    return fields


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_is_messages_in_turns_with_the_results_first() -> None:
    first, second = call(1, {"city": "Zürich"}), call(2)
    turns = (
        Turn("system", (Text("Be brief."),)),
        Turn("user", (Text("Weather?"),)),
        Turn(
            "assistant", (Text("I look."), first, second), (answer(first, Text("Rain."), Text("12°")), answer(second))
        ),
        Turn("user", (Text("And?"), Image(PNG, "image/png"))),
        Turn("assistant", (Text("Take a coat."),)),
        Turn("user", (Text("Thanks."),)),
    )
    assert written(*turns) == {
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [text("I look."), use(1, {"city": "Zürich"}), use(2)]},
            {
                "role": "user",
                "content": [
                    result(1, [text("Rain."), text("12°")]),
                    result(2),
                    text("And?"),
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                ],
            },
            {"role": "assistant", "content": "Take a coat."},
            {"role": "user", "content": "Thanks."},
        ],
    }


def test_calls_in_a_row_have_their_results_between_them() -> None:
    assert written(Turn("user", (Text("Go"),)), said(call(1)), said(call(2))) == {
        "messages": [
            {"role": "user", "content": "Go"},
            {"role": "assistant", "content": [use(1)]},
            {"role": "user", "content": [result(1)]},
            {"role": "assistant", "content": [use(2)]},
            {"role": "user", "content": [result(2)]},
        ]
    }


def test_several_system_texts_stay_apart_and_blank_ones_are_left_out() -> None:
    assert written(Turn("system", (Text("One."), Text(" \n"), Text("Two.")))) == {
        "system": [text("One."), text("Two.")],
        "messages": [],
    }
    assert written(Turn("system", (Text(" "),))) == {"messages": []}


def test_media_stand_in_messages_and_in_results() -> None:
    blocks = (
        Image(PNG, "image/webp"),
        Resource("file:///a/my%20plan.pdf", "application/pdf", blob=PDF),
        Resource("notes.txt", "text/plain", text="Grüße"),
        Resource("", "text/plain", blob="R3LDvMOfZQ=="),
    )
    links = (
        ResourceLink("https://x.example/a", mime_type="image/*"),
        ResourceLink("https://x.example/b", mime_type="application/pdf"),
    )
    content = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": PNG}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}, "title": "my plan.pdf"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Grüße"}, "title": "notes.txt"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Grüße"}},
    ]  # fmt: skip
    addressed = [
        {"type": "image", "source": {"type": "url", "url": "https://x.example/a"}},
        {"type": "document", "source": {"type": "url", "url": "https://x.example/b"}},
    ]
    one = call(1)
    assert written(Turn("user", (*blocks, *links)), Turn("assistant", (one,), (answer(one, *blocks),))) == {
        "messages": [
            {"role": "user", "content": [*content, *addressed]},
            {"role": "assistant", "content": [use(1)]},
            {"role": "user", "content": [result(1, content)]},
        ]
    }


@pytest.mark.parametrize(
    ("uri", "title"),
    [("https://x.example", None), ("A/B: what?", "A/B: what?"), ("http://[", "["), ("x" * 900, "x" * 500)],
)
def test_a_document_has_a_title_where_it_has_a_name(uri: str, title: str | None) -> None:
    (message,) = written(Turn("user", (Resource(uri, "application/pdf", blob=PDF),)))["messages"]
    assert message["content"][0].get("title") == title


def test_a_document_without_a_type_is_a_pdf_and_bytes_that_are_no_text_are_written_as_far_as_they_are() -> None:
    parts = (
        Resource("", None, blob=PDF),
        Resource("", "text/plain", blob="SP9p"),
        Resource("", "text/plain", blob="!"),
    )
    assert written(Turn("user", parts))["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "H\ufffdi"}},
            ],
        }
    ]


def test_media_are_read_without_their_types() -> None:
    sources = [
        {"type": "image", "source": {"type": "base64", "data": PNG}},
        {"type": "document", "source": {"type": "base64", "data": PDF}},
        {"type": "document", "source": {"type": "text", "data": "Hi"}},
    ]
    assert read([{"role": "user", "content": sources}]) == (
        Message.user(
            Image(PNG, "image/png"), Resource("", "application/pdf", blob=PDF), Resource("", "text/plain", text="Hi")
        ),
    )


def test_a_failed_result_is_marked() -> None:
    one, two = call(1), call(2)
    turn = Turn("assistant", (one, two), (answer(one, Text("No."), is_error=True), answer(two)))
    assert written(turn)["messages"][1]["content"] == [result(1, "No.", is_error=True), result(2)]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_texts_are_never_written(blank: str) -> None:
    one = call(1)
    turns = (
        Turn("user", (Text(blank), Resource("a.txt", "text/plain", text=blank), Text("Go"))),
        Turn("assistant", (Text(blank), one), (answer(one, Text(blank), Image(PNG, "image/png")),)),
        Turn("assistant", (Text(blank), call(2)), (answer(call(2), Text(blank)),)),
    )
    assert written(*turns)["messages"] == [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [use(1)]},
        {"role": "user", "content": [result(1, [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}])]},
        {"role": "assistant", "content": [use(2)]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2"}]},
    ]  # fmt: skip


def test_a_message_of_which_nothing_is_left_is_left_out_and_its_neighbours_are_one() -> None:
    turns = (Turn("user", (Text("One"),)), said(Text(" ")), Turn("user", (Text("Two"),)))
    assert written(*turns)["messages"] == [{"role": "user", "content": [text("One"), text("Two")]}]


def test_thoughts_are_replayed_byte_for_byte_where_they_stood() -> None:
    parts = (
        Reasoning(" Hm. ", SIGNED),
        Text("First."),
        Reasoning("", REDACTED),
        Reasoning("", {"signature": "hidden"}),
        call(1),
    )
    assert written(said(*parts))["messages"][0]["content"] == [
        THINKING,
        text("First."),
        REDACTED,
        {"type": "thinking", "thinking": "", "signature": "hidden"},
        use(1),
    ]


def replayed(*parts: Any) -> tuple[list[dict[str, Any]], list[tuple[str, str, Any]]]:
    """What is written of an answer of Claude's between two messages of the user, and the notes."""
    made = legal_turns([Message.user("Go"), Message("assistant", parts, ORIGIN), Message.user("On")], RULES, ORIGIN)
    return written(*made.value)["messages"], [(note.code, note.path, note.before) for note in made.notes]


@pytest.mark.parametrize("opaque", [{}, {"signature": ""}])
def test_a_thought_without_a_signature_is_left_out_and_told(opaque: dict[str, Any]) -> None:
    messages, notes = replayed(Reasoning("Well.", SIGNED), Reasoning("Hm.", opaque), Text("Hi"))
    assert messages[1]["content"] == [{**THINKING, "thinking": "Well."}, text("Hi")]
    assert notes == [("reasoning.dropped", "/1/parts/1", "Hm.")]


def test_no_message_ends_in_a_thought_and_what_goes_is_told() -> None:
    messages, notes = replayed(Text("Hi"), Reasoning("", REDACTED), Reasoning(" Hm. ", SIGNED))
    assert messages[1] == {"role": "assistant", "content": "Hi"}
    assert notes == [("reasoning.dropped", "/1/parts/1", ""), ("reasoning.dropped", "/1/parts/2", " Hm. ")]
    messages, notes = replayed(Reasoning(" Hm. ", SIGNED))
    assert messages == [{"role": "user", "content": [text("Go"), text("On")]}]
    assert notes == [
        ("reasoning.dropped", "/1/parts/0", " Hm. "),
        ("message.empty", "/1", "assistant"),
        ("messages.merged", "/2", None),
    ]


def test_a_blank_text_is_left_out_with_its_citations_and_told() -> None:
    messages, notes = replayed(Text(" ", {"citations": [{}]}), Text("Hi"))
    assert messages[1] == {"role": "assistant", "content": "Hi"}
    assert notes == [("opaque.dropped", "/1/parts/0", ["citations"])]


def test_a_last_message_of_the_assistant_does_not_end_in_white_space() -> None:
    user = Turn("user", (Text("Go"),))
    assert written(user, said(Text("Once upon \n")))["messages"][1] == {"role": "assistant", "content": "Once upon"}
    assert written(user, said(Text("Once upon \n")), user)["messages"][1] == {
        "role": "assistant",
        "content": "Once upon \n",
    }


def test_a_text_keeps_its_citations_and_a_call_what_stands_beside_it() -> None:
    citation = {
        "type": "char_location",
        "cited_text": "a",
        "document_index": 0,
        "document_title": None,
        "start_char_index": 0,
        "end_char_index": 1,
    }
    direct = {"type": "direct"}
    content = written(said(Text("A", {"citations": [citation]}), call(1, caller=direct, toolset_name="browser")))[
        "messages"
    ]
    assert content == [
        {"role": "assistant", "content": [{**text("A"), "citations": [citation]}, {**use(1), "caller": direct, "toolset_name": "browser"}]},
        {"role": "user", "content": [result(1, toolset_name="browser")]},
    ]  # fmt: skip


def test_blocks_of_hosted_tools_stand_where_they_stood() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    file = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    turns = (
        Turn("user", (Foreign("document", file), Text("Go"))),
        said(
            Text("I search."),
            Foreign("server_tool_use", SEARCH),
            Foreign("web_search_tool_result", found),
            Text("Well."),
        ),
    )
    assert written(*turns)["messages"] == [
        {"role": "user", "content": [file, text("Go")]},
        {"role": "assistant", "content": [text("I search."), SEARCH, found, text("Well.")]},
    ]


def test_writing_changes_nothing_that_it_is_given() -> None:
    parts = (Reasoning("Hm.", copy.deepcopy(SIGNED)), Foreign("x", copy.deepcopy(SEARCH)), Text("Hi ", {}))
    before = copy.deepcopy(parts)
    fields = TALK.write((said(*parts),), RULES)
    for block in fields["messages"][0]["content"]:
        block["changed"] = True
    assert parts == before


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def read(source: Any) -> tuple[Message, ...]:
    """A history that is read without a note."""
    found = TALK.read(source, ORIGIN)
    assert found.notes == ()
    return found.value


def assistant(*parts: Part, model: str = "") -> Message:
    return Message("assistant", parts, ORIGIN, model)


def test_messages_are_read_in_every_form() -> None:
    cache = {"cache_control": {"type": "ephemeral"}}
    messages = [
        {"role": "user", "content": "A"},
        {"role": "user", "content": [{**text("B"), **cache}, "C", text("")]},
        {"role": "assistant", "content": "D"},
        {"role": "system", "content": "E"},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": None},
    ]
    history = (
        Message.user("A"),
        Message.user("B", "C"),
        assistant(Text("D")),
        Message.system("E"),
        Message.user(),
        assistant(),
    )
    assert read(messages) == read({"messages": messages}) == history
    assert read({"system": "S", "messages": messages}) == (Message.system("S"), *history)
    assert read({"system": [{**text("S"), **cache}, text("T")], "messages": []}) == (Message.system("S", "T"),)


def test_results_stand_in_a_message_of_their_own_before_what_the_user_says() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    cache = {"cache_control": {"type": "ephemeral"}}
    messages = [
        {
            "role": "assistant",
            "content": [THINKING, REDACTED, text("I look."), {**use(1, {"a": "ü"}), **cache}, use(2), use(3)],
        },
        {
            "role": "user",
            "content": [
                text("First this."),
                result(2, "two", is_error=True, **cache),
                {**result(1, [text("one"), image]), "is_error": False},
                {"type": "tool_result", "tool_use_id": "toolu_3"},
                text("And?"),
            ],
        },
        {"role": "user", "content": [result(4)]},
    ]
    assert read(messages) == (
        assistant(
            Reasoning(" Hm. ", SIGNED), Reasoning("", REDACTED), Text("I look."), call(1, {"a": "ü"}), call(2), call(3)
        ),
        Message.results(
            ToolResult("toolu_2", (Text("two"),), is_error=True),
            ToolResult("toolu_1", (Text("one"), Image(PNG, "image/png"))),
            ToolResult("toolu_3"),
        ),
        Message.user("First this.", "And?"),
        Message.results(ToolResult("toolu_4", (Text("ok"),))),
    )


def test_media_are_read_by_data_by_address_and_by_id() -> None:
    image = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    parts = {"type": "document", "source": {"type": "content", "content": "x"}, "title": "t"}
    content = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": PNG}},
        {"type": "image", "source": {"type": "url", "url": "https://x.example/a"}},
        {**image, "cache_control": {"type": "ephemeral"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}, "title": "a.pdf"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}},
        {"type": "document", "source": {"type": "url", "url": "https://x.example/b"}, "title": "b", "context": None},
        parts,
    ]  # fmt: skip
    read_as: tuple[Content | Foreign, ...] = (
        Image(PNG, "image/gif"),
        ResourceLink("https://x.example/a", mime_type="image/*"),
        Foreign("image", image),
        Resource("a.pdf", "application/pdf", blob=PDF),
        Resource("", "text/plain", text="Hi"),
        ResourceLink("https://x.example/b", "b", "application/pdf"),
        Foreign("document", parts),
    )
    assert read([{"role": "user", "content": content}]) == (Message("user", read_as, ORIGIN),)


def test_blocks_of_hosted_tools_are_kept_for_their_provider() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    hit = {"type": "search_result", "source": "s", "title": "t", "content": [text("x")]}
    source = [{"role": "assistant", "content": [SEARCH, found]}, {"role": "user", "content": [hit]}]
    assert read(source) == (
        assistant(Foreign("server_tool_use", SEARCH), Foreign("web_search_tool_result", found)),
        Message("user", (Foreign("search_result", hit),), ORIGIN),
    )


def test_a_broken_call_is_read_as_it_was_made() -> None:
    ((found,),) = [each.calls for each in read([{"role": "assistant", "content": [use(1, {INVALID_JSON: '{"a": '})]}])]
    assert (found.text, found.arguments) == ('{"a": ', None)
    assert found.problem


def test_a_reply_is_read_with_its_model() -> None:
    citations = [{"type": "char_location", "cited_text": "a"}]
    reply = {
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [THINKING, {**text("A"), "citations": citations}, {**use(1), "caller": {"type": "direct"}}],
    }
    message = assistant(
        Reasoning(" Hm. ", SIGNED),
        Text("A", {"citations": citations}),
        call(1, caller={"type": "direct"}),
        model="claude-sonnet-5",
    )
    assert read(reply) == (message,)
    assert folded_reply(TALK, reply, ORIGIN).message == message


def test_what_is_not_understood_is_noted_with_its_place_and_the_rest_is_read() -> None:
    hit = {"type": "search_result", "source": "https://s.example", "title": "T", "content": [text("x"), text("y")]}
    reference = {"type": "tool_reference", "tool_name": "t"}
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Hi"}, "citations": {"enabled": True}, "context": "c"}  # fmt: skip
    source = {
        "system": 9,
        "messages": [
            7,
            {"role": "robot", "content": "x"},
            {"role": "user", "content": [3, {"type": "image"}, {"type": "text"}, document, use(1), text("Hi")]},
            {"role": "user", "content": 5},
            {"role": "system", "content": [6]},
            {"role": "assistant", "content": [text("A"), result(1, "late")]},
            {"role": "user", "content": [result(2, [hit, reference, text("ok")])]},
        ],
    }
    found = TALK.read(source, ORIGIN)
    assert found.value == (
        Message.system(),
        Message.user(Resource("", "text/plain", text="Hi"), "Hi"),
        Message.user(),
        Message.system(),
        assistant(Text("A"), ToolResult("toolu_1", (Text("late"),))),
        Message.results(ToolResult("toolu_2", (Text("T\nhttps://s.example\nx\ny"), Text("ok")))),
    )
    assert found.notes == (
        Note("part.unknown", "narrowed", "/system", 9),
        Note("part.unknown", "narrowed", "/messages/0", 7),
        Note("part.unknown", "narrowed", "/messages/1", {"role": "robot", "content": "x"}),
        Note("part.unknown", "narrowed", "/messages/2/content/0", 3),
        Note("part.unknown", "narrowed", "/messages/2/content/1", {"type": "image"}),
        Note("part.unknown", "narrowed", "/messages/2/content/2", {"type": "text"}),
        Note("opaque.dropped", "narrowed", "/messages/2/content/3", {"citations": {"enabled": True}, "context": "c"}),
        Note("part.misplaced", "narrowed", "/messages/2/content/4", use(1)),
        Note("part.unknown", "narrowed", "/messages/3/content", 5),
        Note("part.unknown", "narrowed", "/messages/4/content/0", 6),
        Note("part.misplaced", "changed", "/messages/5/content/1", "toolu_1"),
        Note("search_result.said", "changed", "/messages/6/content/0/content/0", hit),
        Note("part.unknown", "narrowed", "/messages/6/content/0/content/1", reference),
    )


@pytest.mark.parametrize("source", [None, 3, "text", {}, {"model": "claude"}, {"messages": None}, {"input": []}])
def test_what_is_no_history_at_all_is_refused(source: Any) -> None:
    with pytest.raises(HistoryError, match="expected a list of messages, or a request with `messages`"):
        TALK.read(source, ORIGIN)


# ── there and back ───────────────────────────────────────────────────────────────────────────────────────────────────

HISTORY = (
    Message.system("Be brief."),
    Message.user("Weather?", Image(PNG, "image/png"), Resource("a.pdf", "application/pdf", blob=PDF)),
    assistant(Reasoning(" Hm. ", SIGNED), Text("I look."), call(1, {"city": "Zürich"}, caller={"type": "direct"}), call(2)),
    Message.results(
        ToolResult("toolu_1", (Text("Rain."), Image(PNG, "image/png"))), ToolResult("toolu_2", (Text("No."),), is_error=True)
    ),
    Message.user("And?"),
    assistant(Reasoning("", REDACTED), Text("Take a coat.")),
    Message.user("Thanks."),
)  # fmt: skip


def test_a_history_comes_back_as_it_went() -> None:
    provider = get_provider(ORIGIN)
    out = provider.write_messages(HISTORY)
    assert out.notes == ()
    back = provider.read_messages(out.value)
    assert (back.value, back.notes) == (HISTORY, ())
    assert provider.write_messages(back.value) == out


def test_a_history_of_another_provider_is_written_without_anything_of_that_provider() -> None:
    foreign = tuple(replace(each, origin="elsewhere") if each.role == "assistant" else each for each in HISTORY)
    turns = legal_turns(foreign, RULES, ORIGIN)
    assert {note.code for note in turns.notes} == {"reasoning.dropped", "opaque.dropped"}
    assert written(*turns.value)["messages"][1] == {
        "role": "assistant",
        "content": [text("I look."), use(1, {"city": "Zürich"}), use(2)],
    }


def test_whatever_the_order_of_a_history_the_transcript_keeps_the_rules() -> None:
    audio = ToolResult("a|1", (Audio("UklGRg==", "audio/wav"),))
    history = (
        assistant(Text("Hello.")),
        Message.system("Late."),
        Message(
            "assistant", (ToolCall("a|1", "my.tool", "{}", {}), ToolCall("b", "t", '{"a": ', None, "cut")), "elsewhere"
        ),
        Message.user("Meanwhile."),
        Message.results(audio),
        assistant(Text("Done. ")),
    )
    fields = written(*legal_turns(history, RULES, ORIGIN).value)
    assert fields["system"] == "Late."
    assert [message["role"] for message in fields["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    called, answered = fields["messages"][1]["content"], fields["messages"][2]["content"]
    assert [block["type"] for block in called] == ["text", "tool_use", "tool_use"]
    assert called[2]["input"] == {INVALID_JSON: '{"a": '}
    assert [block["type"] for block in answered] == ["tool_result", "tool_result", "text"]
    assert [block["tool_use_id"] for block in answered[:2]] == [block["id"] for block in called[1:]]


@pytest.mark.parametrize(
    ("id", "kept"), [("toolu_a-B1", True), ("x" * 64, True), ("x" * 65, False), ("a|b", False), ("fc_1:1", False)]
)
def test_an_id_has_plain_characters(id: str, kept: bool) -> None:
    history = (
        Message.user("Go"),
        Message.assistant(ToolCall(id, "t", "{}", {})),
        Message.results(ToolResult(id, (Text("ok"),))),
    )
    _, called, answered = written(*legal_turns(history, RULES, ORIGIN).value)["messages"]
    assert (called["content"][0]["id"] == id) is kept
    assert answered["content"][0]["tool_use_id"] == called["content"][0]["id"]


@pytest.mark.parametrize(("name", "kept"), [("a-B_1" + "x" * 123, True), ("x" * 129, False), ("a.b", False)])
def test_a_name_has_up_to_128_plain_characters(name: str, kept: bool) -> None:
    history = (Message.user("Go"), Message.assistant(ToolCall("c", name, "{}", {})))
    assert (written(*legal_turns(history, RULES, ORIGIN).value)["messages"][1]["content"][0]["name"] == name) is kept


def test_what_the_format_cannot_carry_is_said_in_text_and_the_rest_is_carried() -> None:
    parts = (Audio("UklGRg==", "audio/wav"), Resource("a.bin", "application/vnd.ms-excel", blob="AAEC"))
    carried = (
        Image(PNG, "image/png"),
        Resource("a.pdf", "application/pdf", blob=PDF),
        Resource("a.txt", "text/plain", blob="SGk="),
    )
    links = (
        ResourceLink("https://x.example/a.mp3", mime_type="audio/mpeg"),
        ResourceLink("https://x.example/a.png", mime_type="image/png"),
        ResourceLink("https://x.example/a.pdf", mime_type="application/pdf"),
    )
    history = (
        Message.user(*parts, *carried, *links),
        Message.assistant(call(1)),
        Message.results(ToolResult("toolu_1", (*parts, *carried), is_error=True)),
    )
    user, _, answered = written(*legal_turns(history, RULES, ORIGIN).value)["messages"]
    kinds = ["text", "text", "image", "document", "document"]
    assert [block["type"] for block in user["content"]] == [*kinds, "text", "image", "document"]
    (result,) = answered["content"]
    assert [block["type"] for block in result["content"] if block["type"] != "text"] == kinds[2:]
    assert result["is_error"] is True


# ── anything ─────────────────────────────────────────────────────────────────────────────────────────────────────────

WORDS = [
    "type", "role", "content", "id", "name", "input", "text", "source", "data", "media_type", "url", "title", "thinking",
    "signature", "tool_use_id", "is_error", "citations", "user", "assistant", "system", "tool_use", "tool_result",
    "image", "document", "base64", "redacted_thinking", "search_result", "server_tool_use",
]  # fmt: skip
# Not `recursive`, which looks at the source of its function when the test runs, and complains of what it finds there if
# the file was edited after it was loaded.
JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.text(max_size=5)
    | st.lists(JSON, max_size=4) | st.dictionaries(st.sampled_from(WORDS), JSON, max_size=5)
)  # fmt: skip
BLOCKS = st.fixed_dictionaries({"type": st.sampled_from(WORDS)}, optional=dict.fromkeys(WORDS[2:17], JSON))
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system"]) | JSON,
        "content": st.lists(BLOCKS | JSON, max_size=4) | JSON,
    }
)


@settings(max_examples=400, deadline=None)
@given(st.lists(MESSAGES | JSON, max_size=5), JSON)
def test_no_message_is_too_strange_to_be_read(messages: list[Any], system: Any) -> None:
    found = TALK.read({"messages": messages, "system": system}, ORIGIN)
    assert isinstance(found.value, tuple)
    legal = legal_turns(found.value, RULES, ORIGIN)
    roles = [message["role"] for message in TALK.write(legal.value, RULES)["messages"]]
    assert all(one != other for one, other in pairwise(roles))
