"""Transcripts of the Responses format: what is written is what OpenAI's own types accept, and is read back."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.wire.vendor_types import response_item
from tests.wire.sdk_streams import folded_reply
from toolbridge.errors import HistoryError
from toolbridge.history.media import CUT
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
from toolbridge.wire.responses import LONGEST_OUTPUT, RULES, TALK

ORIGIN = "openai-responses"
PNG = "iVBORw0KGgo="
REASONING: dict[str, Any] = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Hm."}],
    "encrypted_content": "gAAAAB…",
}
OPEN_REASONING: dict[str, Any] = {
    "id": "rs_9",
    "type": "reasoning",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "Hm."}],
}


def call(number: int, arguments: str = "{}", **opaque: Any) -> ToolCall:
    return ToolCall(f"call_{number}", "weather", arguments, json.loads(arguments), None, opaque)


def answer(call: ToolCall, *blocks: Any) -> Answer:
    return Answer(call, blocks or (Text("ok"),))


def said(*parts: Any) -> Turn:
    calls = [part for part in parts if isinstance(part, ToolCall)]
    return Turn("assistant", parts, tuple(answer(each) for each in calls))


def output(number: int, text: str = "ok") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": f"call_{number}", "output": text}


def written(*turns: Turn) -> list[dict[str, Any]]:
    """The items, all of which OpenAI's types accept, without keys that they do not have."""
    fields = TALK.write(turns, RULES)
    assert list(fields) == ["input"]
    assert [response_item(item) for item in fields["input"]] == [[]] * len(fields["input"])
    return fields["input"]


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_conversation_is_messages_calls_and_outputs() -> None:
    first, second = call(1, '{"city": "Zürich"}'), call(2)
    turns = (
        Turn("system", (Text("Be brief."),)),
        Turn("user", (Text("Weather?"),)),
        Turn(
            "assistant", (Text("I look."), first, second), (answer(first, Text("Rain."), Text("12°")), answer(second))
        ),
        Turn("user", (Text("And?"),)),
        Turn("assistant", (Text("Take a coat."),)),
    )
    assert written(*turns) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city": "Zürich"}'},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "Rain.\n12°"},
        {"type": "function_call_output", "call_id": "call_2", "output": "ok"},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "Take a coat."},
    ]


def test_media_stand_in_messages_and_in_outputs() -> None:
    blocks = (
        Text("See"),
        Image(PNG, "image/png"),
        Resource("file:///a/my%20plan.pdf", "application/pdf", blob="JVBERi0="),
    )
    parts = (*blocks, ResourceLink("https://x.example/a.png", mime_type="image/*"), ResourceLink("https://x.example/a.pdf", mime_type="application/pdf"))  # fmt: skip
    content = [
        {"type": "input_text", "text": "See"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"},
        {"type": "input_file", "filename": "my plan.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
    ]
    links = [
        {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "auto"},
        {"type": "input_file", "file_url": "https://x.example/a.pdf"},
    ]
    one = call(1)
    assert written(Turn("user", parts), Turn("assistant", (one,), (answer(one, *blocks),))) == [
        {"role": "user", "content": [*content, *links]},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": content},
    ]


@pytest.mark.parametrize(("uri", "name"), [("", "document.pdf"), ("plan.pdf", "plan.pdf"), ("https://x.example", "document.pdf"), ("a b/c: d?.pdf", "a b/c: d?.pdf"), ("http://[", "[")])  # fmt: skip
def test_a_file_has_a_name(uri: str, name: str) -> None:
    ((item,),) = [
        each["content"] for each in written(Turn("user", (Resource(uri, "application/pdf", blob="JVBERi0="),)))
    ]
    assert item["filename"] == name


@pytest.mark.parametrize(
    ("mime_type", "name", "url"),
    [(None, "document.pdf", "data:application/pdf;base64,AA=="), ("text/csv", "document", "data:text/csv;base64,AA==")],
)
def test_a_file_says_what_it_is(mime_type: str | None, name: str, url: str) -> None:
    assert written(Turn("user", (Resource("", mime_type, blob="AA=="),))) == [
        {"role": "user", "content": [{"type": "input_file", "filename": name, "file_data": url}]}
    ]


def test_a_file_that_is_text_is_written_as_text() -> None:
    assert written(Turn("user", (Resource("a.pdf", "application/pdf", text="Hi"),))) == [
        {"role": "user", "content": "Hi"}
    ]


def test_several_system_texts_stay_apart() -> None:
    assert written(Turn("system", (Text("One."), Text("Two.")))) == [
        {"role": "system", "content": [{"type": "input_text", "text": "One."}, {"type": "input_text", "text": "Two."}]}
    ]


def test_sealed_reasoning_is_replayed_whole_where_it_stood_and_the_ids_with_it() -> None:
    second = {**REASONING, "id": "rs_2"}
    parts = (
        Reasoning("Hm.", REASONING),
        Text("I look.", {"id": "msg_1", "phase": "commentary"}),
        call(1, id="fc_1", namespace="maps"),
        Reasoning("Hm.", second),
        call(2, id="fc_2"),
    )
    assert written(said(*parts)) == [
        REASONING,
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
        },
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}", "id": "fc_1", "namespace": "maps"},
        second,
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": "{}", "id": "fc_2"},
        output(1),
        output(2),
    ]  # fmt: skip


def test_texts_of_one_message_are_one_message_again() -> None:
    citation = {"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}
    texts = (
        Text("One", {"id": "msg_1", "annotations": [citation]}),
        Text("No.", {"id": "msg_1", "type": "refusal"}),
        Text("Two", {"id": "msg_2"}),
    )
    whole = {"type": "message", "role": "assistant", "status": "completed"}
    assert written(said(Reasoning("Hm.", REASONING), *texts)) == [
        REASONING,
        {**whole, "id": "msg_1", "content": [{"type": "output_text", "text": "One", "annotations": [citation]}, {"type": "refusal", "refusal": "No."}]},
        {**whole, "id": "msg_2", "content": [{"type": "output_text", "text": "Two", "annotations": []}]},
    ]  # fmt: skip


def test_without_reasoning_no_ids_are_replayed_but_namespace_and_phase_are() -> None:
    parts = (Text("I ", {"id": "msg_1", "phase": "commentary"}), Text("look.", {"id": "msg_2", "phase": "commentary"}), call(1, id="fc_1", namespace="maps"))  # fmt: skip
    assert written(said(*parts)) == [
        {"role": "assistant", "content": "I look.", "phase": "commentary"},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}", "namespace": "maps"},
        output(1),
    ]


def test_calls_stand_together_where_no_sealed_reasoning_holds_them_in_place() -> None:
    parts = (call(1, id="fc_1"), Reasoning("Hm.", OPEN_REASONING), call(2, id="fc_2"), Text("I look."))
    assert [item.get("type", "message") for item in written(said(*parts))] == [
        "reasoning", "message", "function_call", "function_call", "function_call_output", "function_call_output",
    ]  # fmt: skip
    assert written(said(*parts))[0] == OPEN_REASONING


def replayed(*parts: Any) -> tuple[list[dict[str, Any]], list[tuple[str, str, Any]]]:
    """What is written of an answer of the model's, and the notes."""
    calls = [part for part in parts if isinstance(part, ToolCall)]
    history = [
        Message("assistant", parts, ORIGIN), Message.results(*[ToolResult(each.id, (Text("ok"),)) for each in calls])
    ][: 1 + bool(calls)]  # fmt: skip
    made = legal_turns(history, RULES, ORIGIN)
    return written(*made.value), [(note.code, note.path, note.before) for note in made.notes]


def test_no_turn_ends_in_reasoning_and_what_goes_is_told() -> None:
    thought = Reasoning("Hm.", REASONING)
    assert replayed(thought) == ([], [("reasoning.dropped", "/0/parts/0", "Hm."), ("message.empty", "/0", "assistant")])
    assert replayed(Text("Hi", {"id": "msg_1"}), thought) == (
        [{"role": "assistant", "content": "Hi"}],
        [("reasoning.dropped", "/0/parts/1", "Hm.")],
    )


def test_where_reasoning_is_no_whole_item_none_is_written_nor_any_id_and_that_is_told() -> None:
    parts = (Reasoning("Hm.", REASONING), call(1, id="fc_1"), Reasoning("Half a thou"), call(2, id="fc_2"))
    items, notes = replayed(*parts)
    assert items == [
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": "{}"},
        output(1),
        output(2),
    ]
    assert notes == [
        ("reasoning.dropped", "/0/parts/0", "Hm."),
        ("reasoning.dropped", "/0/parts/2", "Half a thou"),
    ]


def test_reasoning_is_replayed_without_nulls() -> None:
    item = {**REASONING, "content": None, "status": None}
    assert written(said(Reasoning("Hm.", item), Text("Hi", {"id": "msg_1"})))[0] == REASONING


def test_items_of_hosted_tools_stand_where_they_stood() -> None:
    search = {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    approval = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    turns = (
        said(call(1), Foreign("web_search_call", search), Text("Hi")),
        Turn("user", (Text("Yes"), Foreign("mcp_approval_response", approval), Foreign("input_file", {"type": "input_file", "file_id": "file_1"}))),
    )  # fmt: skip
    assert written(*turns) == [
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}"},
        search,
        {"role": "assistant", "content": "Hi"},
        output(1),
        {"role": "user", "content": "Yes"},
        approval,
        {"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}]},
    ]


def test_a_custom_call_and_its_output_are_written_as_such() -> None:
    program = {"type": "program", "caller_id": "prog_1"}
    wrapped = {INVALID_JSON: "print('ü')"}
    custom = ToolCall("call_1", "run", json.dumps(wrapped), wrapped, None, {"type": "custom_tool_call", "id": "ctc_1"})
    also = replace(custom, id="call_2", text='{"a": 1}', arguments={"a": 1})
    caller = replace(call(3), opaque={"caller": program})
    assert written(said(custom, also, caller)) == [
        {"type": "custom_tool_call", "call_id": "call_1", "name": "run", "input": "print('ü')"},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "run", "input": '{"a": 1}'},
        {"type": "function_call", "call_id": "call_3", "name": "weather", "arguments": "{}", "caller": program},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "ok"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "ok"},
        {"type": "function_call_output", "call_id": "call_3", "output": "ok", "caller": program},
    ]


def test_an_output_is_cut_at_what_the_provider_takes_and_says_so() -> None:
    whole, long = Text("x" * LONGEST_OUTPUT), Text("x" * (LONGEST_OUTPUT + 1))
    for blocks in ((long,), (long, Image(PNG, "image/png"))):
        made = legal_turns([Message.assistant(call(1)), Message.results(ToolResult("call_1", blocks))], RULES, ORIGIN)
        item = written(*made.value)[1]
        text = item["output"] if isinstance(item["output"], str) else item["output"][0]["text"]
        assert len(text) == LONGEST_OUTPUT
        assert text == "x" * (LONGEST_OUTPUT - len(CUT)) + CUT
        assert made.notes == (Note("result.cut", "narrowed", "/1/parts/0", LONGEST_OUTPUT + 1),)
    made = legal_turns([Message.assistant(call(1)), Message.results(ToolResult("call_1", (whole,)))], RULES, ORIGIN)
    assert written(*made.value)[1]["output"] == whole.text
    assert made.notes == ()


def test_writing_changes_nothing_that_it_is_given() -> None:
    parts = (Reasoning("Hm.", copy.deepcopy(REASONING)), call(1, id="fc_1"), Foreign("x", {"type": "x", "a": [1]}))
    before = copy.deepcopy(parts)
    items = TALK.write((said(*parts),), RULES)["input"]
    for item in items:
        item["changed"] = True
    assert parts == before


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def read(source: Any) -> tuple[Message, ...]:
    """A history that is read without a note."""
    found = TALK.read(source, ORIGIN)
    assert found.notes == ()
    return found.value


def assistant(*parts: Part, model: str = "") -> Message:
    return Message("assistant", parts, ORIGIN, model)


def test_input_may_be_one_text() -> None:
    assert read({"input": "Hi", "model": "gpt-5"}) == (Message.user("Hi"),)


def test_instructions_are_the_first_system_message() -> None:
    assert read({"input": "Hi", "instructions": "Be brief."}) == (Message.system("Be brief."), Message.user("Hi"))
    listed = [{"role": "developer", "content": "Be brief."}]
    assert read({"input": [], "instructions": listed}) == (Message.system("Be brief."),)


def test_messages_are_read_in_every_form() -> None:
    items = [
        {"role": "system", "content": "A"},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "B"}]},
        {"role": "user", "content": [{"type": "input_text", "text": "C"}, {"type": "text", "text": "D"}, "E"]},
        {"role": "assistant", "content": "F", "phase": "final_answer"},
        {"role": "user", "content": None},
    ]
    messages = (
        Message.system("A"),
        Message.system("B"),
        Message.user("C", "D", "E"),
        assistant(Text("F", {"phase": "final_answer"})),
        Message.user(),
    )
    assert read(items) == read({"input": items}) == messages


def test_media_are_read_by_data_by_address_and_by_id() -> None:
    by_id = {"type": "input_image", "file_id": "file_1", "detail": "auto"}
    content = [
        {"type": "input_image", "image_url": f"data:image/jpeg;base64,{PNG}", "detail": "low"},
        {"type": "input_image", "image_url": "https://x.example/a", "detail": "auto"},
        {"type": "input_image", "image_url": {"url": "https://x.example/b"}},
        by_id,
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        {"type": "input_file", "filename": "b.pdf", "file_data": "JVBERi0="},
        {"type": "input_file", "filename": "c.txt", "file_data": "data:text/plain,Gr%C3%BC%C3%9Fe"},
        {"type": "input_file", "file_url": "https://x.example/a.pdf?x=1"},
        {"type": "input_file", "file_url": "https://x.example/a.docx", "file_data": ""},
        {"type": "input_file", "file_id": "file_2"},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}},
    ]
    parts: tuple[Content | Foreign, ...] = (
        Image(PNG, "image/jpeg"),
        ResourceLink("https://x.example/a", mime_type="image/*"),
        ResourceLink("https://x.example/b", mime_type="image/*"),
        Foreign("input_image", by_id),
        Resource("a.pdf", "application/pdf", blob="JVBERi0="),
        Resource("b.pdf", "application/pdf", blob="JVBERi0="),
        Resource("c.txt", "text/plain", blob="R3LDvMOfZQ=="),
        ResourceLink("https://x.example/a.pdf?x=1", mime_type="application/pdf"),
        ResourceLink("https://x.example/a.docx"),
        Foreign("input_file", {"type": "input_file", "file_id": "file_2"}),
        Audio("UklGRg==", "audio/mpeg"),
    )
    assert read([{"role": "user", "content": content}]) == (Message("user", parts, ORIGIN),)


def test_items_of_the_assistant_are_one_message_and_outputs_another() -> None:
    items = [
        REASONING,
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "A", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "weather", "arguments": '{"a": "ü"}', "status": "completed"},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": ""},
        {"type": "function_call_output", "call_id": "call_2", "output": "two"},
        {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "one"}, {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]},
        {"type": "function_call", "call_id": "call_3", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_3", "output": ""},
    ]  # fmt: skip
    assert read(items) == (
        assistant(
            Reasoning("Hm.", REASONING),
            Text("A", {"id": "msg_1"}),
            ToolCall("call_1", "weather", '{"a": "ü"}', {"a": "ü"}, None, {"id": "fc_1"}),
            ToolCall("call_2", "weather", "", {}),
        ),
        Message.results(
            ToolResult("call_2", (Text("two"),)), ToolResult("call_1", (Text("one"), Image(PNG, "image/png")))
        ),
        assistant(ToolCall("call_3", "weather", "{}", {})),
        Message.results(ToolResult("call_3")),
    )


def test_texts_without_ids_are_messages_of_their_own() -> None:
    items = [{"role": "assistant", "content": "A"}, {"role": "assistant", "content": "B"}]
    assert read(items) == (assistant(Text("A")), assistant(Text("B")))
    assert TALK.write(legal_turns(read(items), RULES, ORIGIN).value, RULES) == {"input": items}
    with_ids = [{**item, "type": "message", "id": f"msg_{item['content']}"} for item in items]
    assert read(with_ids) == (assistant(Text("A", {"id": "msg_A"}), Text("B", {"id": "msg_B"})),)


def test_broken_calls_and_custom_calls_are_read_as_they_were_made() -> None:
    wrapped = json.dumps({INVALID_JSON: '{"a": '})
    items = [
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": wrapped},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": '{"a": '},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_3", "name": "run", "input": "print(1)"},
        {"type": "custom_tool_call", "call_id": "call_4", "name": "run", "input": wrapped},
        {"type": "custom_tool_call_output", "call_id": "call_3", "output": "1"},
    ]
    message, results = read(items)
    assert [(each.text, each.arguments, each.opaque) for each in message.calls] == [
        ('{"a": ', None, {}),
        ('{"a": ', None, {}),
        ("print(1)", None, {"id": "ctc_1", "type": "custom_tool_call"}),
        (wrapped, {INVALID_JSON: '{"a": '}, {"type": "custom_tool_call"}),
    ]
    assert all(each.problem for each in message.calls[:3])
    assert results == Message.results(ToolResult("call_3", (Text("1"),)))


def test_items_of_the_provider_stay_on_the_side_they_come_from() -> None:
    reference, bare = {"type": "item_reference", "id": "rs_1"}, {"id": "msg_7"}
    found = {"type": "tool_search_output", "execution": "server", "tools": []}
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed"}
    sent = {"type": "tool_search_output", "execution": "client", "tools": []}
    approval = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    screen = {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}}
    assert read([reference, bare, found, search, sent, approval, screen]) == (
        assistant(
            Foreign("item_reference", reference),
            Foreign("item_reference", bare),
            Foreign("tool_search_output", found),
            Foreign("web_search_call", search),
        ),
        Message("user", (Foreign("tool_search_output", sent),), ORIGIN),
        Message("user", (Foreign("mcp_approval_response", approval),), ORIGIN),
        Message("user", (Foreign("computer_call_output", screen),), ORIGIN),
    )


@pytest.mark.parametrize(
    "kind",
    [
        "computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output",
        "mcp_approval_response", "additional_tools", "configuration_update", "compaction_trigger",
    ],
)  # fmt: skip
def test_what_a_caller_sends_is_the_users(kind: str) -> None:
    assert read([{"type": kind}]) == (Message("user", (Foreign(kind, {"type": kind}),), ORIGIN),)


@pytest.mark.parametrize(("format", "mime_type"), [("wav", "audio/wav"), ("flac", "audio/flac"), (None, "audio/wav")])
def test_a_sound_is_read_with_its_type(format: str | None, mime_type: str) -> None:
    part = {"type": "input_audio", "input_audio": {"data": "AA==", "format": format}}
    assert read([{"role": "user", "content": [part]}]) == (Message.user(Audio("AA==", mime_type)),)


def test_the_output_of_a_response_is_read_with_its_model() -> None:
    response = {
        "object": "response",
        "model": "gpt-5.4",
        "instructions": "Be brief.",
        "output": [REASONING, {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}],
    }  # fmt: skip
    parts = (Reasoning("Hm.", REASONING), Text("No.", {"id": "msg_1", "type": "refusal"}))
    assert read(response) == (assistant(*parts, model="gpt-5.4"),)
    assert folded_reply(TALK, response, ORIGIN).message.parts == parts


def test_one_item_is_a_history() -> None:
    assert read({"role": "user", "content": "Hi"}) == (Message.user("Hi"),)
    assert read({"type": "input_text", "text": "Hi"}) == (Message.user("Hi"),)
    assert read(output(1, "x")) == (Message.results(ToolResult("call_1", (Text("x"),))),)


def test_what_is_not_understood_is_noted_with_its_place_and_the_rest_is_read() -> None:
    unknown, by_id = {"type": "input_video", "video": "x"}, {"type": "input_image", "file_id": "file_1"}
    source = {
        "input": [
            7,
            {"role": "robot", "content": "x"},
            {"role": "user", "content": ["Hi", unknown, 3, {"type": "input_image"}, {"type": "input_audio"}]},
            {"role": "user", "content": 5},
            {"role": "assistant", "content": [{"type": "output_text", "text": "A"}, unknown]},
            {"role": "assistant", "content": 5},
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": [by_id, {"type": "input_text", "text": "ok"}],
            },
            {"type": "function_call_output", "call_id": "call_2", "output": {"a": "ü"}},
        ],
        "instructions": 9,
    }
    found = TALK.read(source, ORIGIN)
    assert found.value == (
        Message.user("Hi"),
        Message.user(),
        assistant(Text("A")),
        Message.results(ToolResult("call_1", (Text("ok"),)), ToolResult("call_2", (Text('{"a": "ü"}'),))),
    )
    assert found.notes == tuple(
        Note("part.unknown", "narrowed", path, before)
        for path, before in [
            ("/instructions", 9),
            ("/input/0", 7),
            ("/input/1", {"role": "robot", "content": "x"}),
            ("/input/2/content/1", unknown),
            ("/input/2/content/2", 3),
            ("/input/2/content/3", {"type": "input_image"}),
            ("/input/2/content/4", {"type": "input_audio"}),
            ("/input/3/content", 5),
            ("/input/4/content/1", unknown),
            ("/input/5/content", 5),
            ("/input/6/output/0", by_id),
        ]
    )


def test_a_note_on_instructions_says_where() -> None:
    found = TALK.read({"instructions": [{"role": "system", "content": "A"}, 5]}, ORIGIN)
    assert found.value == (Message.system("A"),)
    assert found.notes == (Note("part.unknown", "narrowed", "/instructions/1", 5),)


@pytest.mark.parametrize("source", [None, 3, "text", {}, {"model": "gpt-5"}, {"input": None}, {"messages": []}])
def test_what_is_no_history_at_all_is_refused(source: Any) -> None:
    with pytest.raises(HistoryError, match="expected a list of items, or a request with `input`"):
        TALK.read(source, ORIGIN)


# ── there and back ───────────────────────────────────────────────────────────────────────────────────────────────────

HISTORY = (
    Message.system("Be brief."),
    Message.user("Weather?", Image(PNG, "image/png")),
    assistant(
        Reasoning("Hm.", REASONING),
        Text("I look.", {"id": "msg_1"}),
        ToolCall(
            "call_1", "weather", '{"city": "Zürich"}', {"city": "Zürich"}, None, {"id": "fc_1", "namespace": "maps"}
        ),
        ToolCall("call_2", "weather", "{}", {}, None, {"id": "fc_2"}),
    ),
    Message.results(
        ToolResult("call_1", (Text("Rain."), Image(PNG, "image/png"))), ToolResult("call_2", (Text("Sun."),))
    ),
    assistant(Reasoning("Hm.", {**REASONING, "id": "rs_2"}), Text("Take a coat.", {"id": "msg_2"})),
    Message.user("Thanks."),
)


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
    assert written(*turns.value)[2:5] == [
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city": "Zürich"}'},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": "{}"},
    ]


@pytest.mark.parametrize(
    ("id", "kept"), [("a|b.c:1", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("ü", False)]
)
def test_an_id_has_up_to_64_printable_characters(id: str, kept: bool) -> None:
    history = (Message.assistant(ToolCall(id, "t", "{}", {})), Message.results(ToolResult(id, (Text("ok"),))))
    call, result = written(*legal_turns(history, RULES, ORIGIN).value)
    assert (call["call_id"] == id) is kept
    assert result["call_id"] == call["call_id"]


@pytest.mark.parametrize(("name", "kept"), [("a-b_1" + "x" * 59, True), ("x" * 65, False), ("a.b", False)])
def test_a_name_has_up_to_64_plain_characters(name: str, kept: bool) -> None:
    (call, _) = written(*legal_turns((Message.assistant(ToolCall("c", name, "{}", {})),), RULES, ORIGIN).value)
    assert (call["name"] == name) is kept


def test_what_the_format_cannot_carry_is_said_in_text() -> None:
    parts = (Audio("UklGRg==", "audio/wav"), Resource("a.csv", "application/vnd.ms-excel", blob="AAEC"))
    links = (
        ResourceLink("https://x.example/a.mp3", mime_type="audio/mpeg"),
        ResourceLink("https://x.example/a.png", mime_type="image/png"),
        ResourceLink("https://x.example/a.pdf", mime_type="application/pdf"),
    )
    history = (
        Message.user(*parts, *links),
        Message.assistant(call(1)),
        Message.results(ToolResult("call_1", parts, is_error=True)),
    )
    user, _, output = written(*legal_turns(history, RULES, ORIGIN).value)
    assert [part["type"] for part in user["content"]] == [*["input_text"] * 3, "input_image", "input_file"]
    assert output["output"].startswith("Error")


# ── anything ─────────────────────────────────────────────────────────────────────────────────────────────────────────

WORDS = [
    "type", "role", "content", "id", "call_id", "name", "arguments", "input", "output", "text", "summary", "image_url",
    "file_data", "file_url", "file_id", "user", "assistant", "message", "function_call", "function_call_output",
    "reasoning", "input_text", "input_image", "input_file", "input_audio", "output_text", "refusal", "item_reference",
]  # fmt: skip
# Not `recursive`, which looks at the source of its function when the test runs, and complains of what it finds there if
# the file was edited after it was loaded.
JSON: st.SearchStrategy[Any] = st.deferred(
    lambda: st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.text(max_size=5)
    | st.lists(JSON, max_size=4) | st.dictionaries(st.sampled_from(WORDS), JSON, max_size=5)
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(JSON, max_size=6))
def test_no_item_is_too_strange_to_be_read(items: list[Any]) -> None:
    found = TALK.read({"input": items}, ORIGIN)
    assert isinstance(found.value, tuple)
    legal = legal_turns(found.value, RULES, ORIGIN)
    assert isinstance(TALK.write(legal.value, RULES)["input"], list)


def test_an_output_that_is_nested_too_deeply_is_noted() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    found = TALK.read([{"type": "function_call_output", "call_id": "call_1", "output": deep}], ORIGIN)
    assert found.value == (Message.results(ToolResult("call_1")),)
    assert [(note.code, note.path) for note in found.notes] == [("part.unknown", "/0/output")]
    while deep:  # taken apart by hand: the interpreter would do it one inside of the other
        deep = deep["a"]
