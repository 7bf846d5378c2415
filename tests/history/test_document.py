"""A history that was written is read back as it was, whatever is in it; what is no history says where it is none."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_histories import histories
from toolbridge.errors import HistoryError
from toolbridge.history import document
from toolbridge.history.document import read_history, write_history
from toolbridge.notes import Converted, Note
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

HISTORY = (
    Message.system("Be brief."),
    Message.user("See", Image("aGk=", "image/png"), ResourceLink("https://x.org/a.png", "a", "image/png", "A")),
    Message(
        "assistant",
        (
            Reasoning("Hm.", {"signature": "c2ln", "redacted": b"\x00\xff"}),
            Foreign("web_search_call", {"id": "ws_1", "$bytes": "no"}),
            Text("Wait.", {"thoughtSignature": "x"}),
            ToolCall("1", "search", '{"q": "a"}', {"q": "a"}, opaque={"id": "fc_1"}),
            ToolCall("2", "search", '{"q"', None, "it ends too early"),
        ),
        "gemini",
        "large-2",
    ),
    Message(
        "tool",
        (
            ToolResult(
                "1",
                (Text("found"), Audio("aGk=", "audio/wav"), Resource("mem://1", None, "", None)),
                {"n": [1, 2.5, None, True]},
                is_error=True,
                meta={"host": "only"},
                notes=(Note("output.mismatch", "widened", "/n", {"was": "x"}),),
                failure="timed_out",
            ),
        ),
    ),
)
DOCUMENT = {
    "toolbridge": "history",
    "version": 1,
    "messages": [
        {"role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
        {
            "role": "user",
            "parts": [
                {"type": "text", "text": "See"},
                {"type": "image", "data": "aGk=", "mime_type": "image/png"},
                {
                    "type": "resource_link",
                    "uri": "https://x.org/a.png",
                    "name": "a",
                    "mime_type": "image/png",
                    "description": "A",
                },
            ],
        },
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "text": "Hm.", "opaque": {"signature": "c2ln", "redacted": {"$bytes": "AP8="}}},
                {"type": "foreign", "kind": "web_search_call", "opaque": {"id": "ws_1", "$bytes": "no"}},
                {"type": "text", "text": "Wait.", "opaque": {"thoughtSignature": "x"}},
                {
                    "type": "call",
                    "id": "1",
                    "name": "search",
                    "text": '{"q": "a"}',
                    "arguments": {"q": "a"},
                    "opaque": {"id": "fc_1"},
                },
                {
                    "type": "call",
                    "id": "2",
                    "name": "search",
                    "text": '{"q"',
                    "arguments": None,
                    "problem": "it ends too early",
                },
            ],
            "origin": "gemini",
            "model": "large-2",
        },
        {
            "role": "tool",
            "parts": [
                {
                    "type": "result",
                    "call_id": "1",
                    "content": [
                        {"type": "text", "text": "found"},
                        {"type": "audio", "data": "aGk=", "mime_type": "audio/wav"},
                        {"type": "resource", "uri": "mem://1", "text": ""},
                    ],
                    "structured": {"n": [1, 2.5, None, True]},
                    "is_error": True,
                    "meta": {"host": "only"},
                    "notes": [
                        {"code": "output.mismatch", "effect": "widened", "path": "/n", "before": {"was": "x"}},
                    ],
                    "failure": "timed_out",
                }
            ],
        },
    ],
}


def test_a_history_is_a_document_with_every_field_that_is_not_as_always() -> None:
    assert write_history(HISTORY) == DOCUMENT
    assert read_history(DOCUMENT) == Converted(HISTORY)


def test_every_field_of_every_part_has_its_place_in_the_document() -> None:
    table = {kind: set(readers) for kind, readers in document._PARTS.values()}
    table |= {Message: set(document._MESSAGE), Note: set(document._NOTE)}
    assert table == {kind: {each.name for each in fields(kind)} for kind in table}


def test_a_history_is_read_from_a_path_from_text_from_bytes_and_from_the_bare_list(tmp_path: Path) -> None:
    text = json.dumps(DOCUMENT, ensure_ascii=False)
    file = tmp_path / "history.json"
    file.write_text(text, encoding="utf-8-sig")
    messages = json.loads(text)["messages"]
    for source in (
        file,
        str(file),
        text,
        "\ufeff" + text,
        text.encode(),
        DOCUMENT,
        messages,
        tuple(messages),
        list(HISTORY),
    ):
        assert read_history(source) == Converted(HISTORY)
    assert read_history([]) == read_history("[]") == Converted(())


def test_what_has_no_form_in_json_is_kept_all_the_same() -> None:
    odd = {
        "a": b"\x00",
        "b": [float("inf"), float("-inf")],
        "c": {"$bytes": 1},
        "d": {"$object": {"$number": "x"}},
        "e": (1,),
    }
    written = write_history([Message.assistant(Text("a", odd), Text("b", {}))])
    assert written["messages"][0]["parts"] == [
        {
            "type": "text",
            "text": "a",
            "opaque": {
                "a": {"$bytes": "AA=="},
                "b": [{"$number": "inf"}, {"$number": "-inf"}],
                "c": {"$object": {"$bytes": 1}},
                "d": {"$object": {"$object": {"$object": {"$number": "x"}}}},
                "e": [1],
            },
        },
        {"type": "text", "text": "b"},
    ]
    assert read_history(written).value == (Message.assistant(Text("a", {**odd, "e": [1]}), Text("b")),)


def test_what_is_written_is_not_what_was_given() -> None:
    opaque: dict[str, Any] = {"list": [1]}
    written = write_history([Message.assistant(Text("a", opaque))])
    opaque["list"].append(2)
    assert written["messages"][0]["parts"][0]["opaque"] == {"list": [1]}


def test_a_field_that_is_not_known_is_left_out_and_noted() -> None:
    message = {"role": "user", "mood": "good", "parts": [{"type": "text", "text": "a", "colour": {"r": 1}}]}
    assert read_history([message]) == Converted(
        (Message.user("a"),),
        (
            Note("field.unknown", "narrowed", "/0/mood", "good"),
            Note("field.unknown", "narrowed", "/0/parts/0/colour", {"r": 1}),
        ),
    )


def with_part(**part: Any) -> dict[str, Any]:
    return {**DOCUMENT, "messages": [{"role": "user", "parts": []}, {"role": "user", "parts": [part]}]}


WRONG: dict[str, tuple[Any, str]] = {
    "a number": (7, "/: expected a list of messages, not a number"),
    "null": (None, "/: expected a list of messages, not null"),
    "no JSON": ("{", "not JSON"),
    "a text in JSON": ('"a"', "/: expected a list of messages, not a text"),
    "no file": ("/no/such/file.json", "/no/such/file.json: no such file or directory"),
    "a NUL": ("a\0b", "embedded null byte"),
    "of a provider": ({"messages": []}, '/toolbridge: expected "history"'),
    "of a later version": (
        {**DOCUMENT, "version": 2},
        "/version: 2 is not known here; this toolbridge reads version 1",
    ),
    "without a version": ({"toolbridge": "history", "messages": []}, "/version: None is not known here"),
    "a version that is true": ({**DOCUMENT, "version": True}, "/version: True is not known here"),
    "without messages": ({"toolbridge": "history", "version": 1}, "/messages: expected a list of messages, not null"),
    "a message that is none": ({**DOCUMENT, "messages": ["hi"]}, "/messages/0: expected an object, not a text"),
    "a message without parts": ([{"role": "user"}], '/0: "parts" is missing'),
    "an unknown role": (
        [{"role": "robot", "parts": []}],
        "/0/role: 'robot'; expected one of system, user, assistant, tool",
    ),
    "parts that are none": ([{"role": "user", "parts": {}}], "/0/parts: expected a list, not an object"),
    "an unknown type": (with_part(type="x"), "/messages/1/parts/0: unknown type 'x'; expected one of text, image"),
    "no type": (with_part(text="x"), "/messages/1/parts/0: unknown type None"),
    "a part that is none": ([{"role": "user", "parts": [3]}], "/0/parts/0: expected an object, not a number"),
    "a text that is none": (with_part(type="text", text=3), "/messages/1/parts/0/text: expected a text, not a number"),
    "an image without data": (with_part(type="image", mime_type="a"), '/messages/1/parts/0: "data" is missing'),
    "opaque that is none": (
        with_part(type="text", text="", opaque=[]),
        "/messages/1/parts/0/opaque: expected an object, not a list",
    ),
    "a call in a result": (
        with_part(type="result", call_id="", content=[{"type": "call"}]),
        "/messages/1/parts/0/content/0: unknown type 'call'",
    ),
    "an error that is none": (
        with_part(type="result", call_id="", is_error=1),
        "/messages/1/parts/0/is_error: expected true or false, not a number",
    ),
    "a failure of no kind": (
        with_part(type="result", call_id="", failure="x"),
        "/messages/1/parts/0/failure: 'x'; expected",
    ),
    "a note that is none": (
        with_part(type="result", call_id="", notes=[{"code": "a.b", "effect": "x"}]),
        "/messages/1/parts/0/notes/0/effect: 'x'; expected one of widened, narrowed, changed",
    ),
    "bytes that are none": (
        with_part(type="text", text="", opaque={"a": {"$bytes": "?"}}),
        "/messages/1/parts/0/opaque/a: no value of $bytes: '?'",
    ),
    "a number that is none": (
        with_part(type="text", text="", opaque={"a": {"$number": "x"}}),
        "/messages/1/parts/0/opaque/a: no value of $number: 'x'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_understood_says_where(case: str) -> None:
    source, message = WRONG[case]
    with pytest.raises(HistoryError) as failure:
        read_history(source)
    assert message in str(failure.value)


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "h.json"
    file.write_text('[{"role": "robot", "parts": []}]')
    with pytest.raises(HistoryError) as failure:
        read_history(file)
    assert str(failure.value).startswith(f"{file}: /0/role: 'robot'")


def test_what_is_no_json_is_not_written_and_says_where() -> None:
    for wrong, message in (
        ({1, 2}, "/messages/0/parts/0/opaque/a: a set is no JSON"),
        ({1: 2}, "the key 1 is no text"),
    ):
        with pytest.raises(HistoryError) as failure:
            write_history([Message.assistant(Text("", {"a": wrong}))])
        assert message in str(failure.value)
    with pytest.raises(HistoryError, match="/messages/0/parts/0: a str is no part of a history"):
        write_history([Message("user", ("text",))])  # type: ignore[arg-type]


def test_an_abyss_is_no_history() -> None:
    abyss: list[Any] = []
    for _ in range(100_000):
        abyss = [abyss]
    with pytest.raises(HistoryError, match="nested too deeply"):
        write_history([Message.assistant(Text("", {"a": abyss}))])
    with pytest.raises(HistoryError, match="nested too deeply"):
        read_history([{"role": "user", "parts": [{"type": "text", "text": "", "opaque": {"a": abyss}}]}])
    with pytest.raises(HistoryError):
        read_history("[" * 100_000)


# ── whatever comes ───────────────────────────────────────────────────────────────────────────────────────────────

_text = st.text(st.characters(), max_size=4)
_keys = st.text(max_size=3) | st.sampled_from(["$bytes", "$number", "$object", "type"])
_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _text | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=6,
)
_objects = st.dictionaries(_keys, _values, max_size=3)
_maybe = st.none() | _text
_content = st.one_of(
    st.builds(Text, _text, _objects),
    st.builds(Image, _text, _text, _objects),
    st.builds(Audio, _text, _text),
    st.builds(Resource, _text, _maybe, _maybe, _maybe),
    st.builds(ResourceLink, _text, _text, _maybe, _maybe),
)
_notes = st.builds(Note, _text, st.sampled_from(["widened", "narrowed", "changed"]), _text, _values)
_parts = st.one_of(
    _content,
    st.builds(Reasoning, _text, _objects),
    st.builds(Foreign, _text, _objects),
    st.builds(ToolCall, _text, _text, _text, st.none() | _objects, _maybe, _objects),
    st.builds(
        ToolResult,
        _text,
        st.lists(_content, max_size=3).map(tuple),
        _values,
        st.booleans(),
        _objects,
        st.lists(_notes, max_size=2).map(tuple),
        st.sampled_from([None, "unknown_tool", "refused", "unavailable", "outcome_unknown", "timed_out", "protocol"]),
    ),
)
_messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(_parts, max_size=3).map(tuple),
    _text,
    _text,
)


@settings(max_examples=300)
@given(st.lists(_messages, max_size=4) | histories())
def test_any_history_is_read_back_as_it_was(history: list[Message]) -> None:
    text = json.dumps(write_history(history), allow_nan=False)
    assert read_history(json.loads(text)) == Converted(tuple(history))
    assert read_history(text) == Converted(tuple(history))
    assert json.dumps(write_history(read_history(text).value)) == text


@given(_values | st.lists(_objects, max_size=3) | st.builds(lambda part: with_part(**part), _objects))
def test_whatever_is_given_it_is_read_or_refused(source: Any) -> None:
    for given_ in (source, {**DOCUMENT, "messages": source}):
        try:
            found = read_history(given_)
        except HistoryError:
            continue
        assert all(isinstance(each, Message) for each in found.value)
