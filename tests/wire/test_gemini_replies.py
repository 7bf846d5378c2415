"""Gemini's replies: what the parts of a chunk say, in the wire's spelling and in the SDK's, and what they fold to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.spoiling import spoilt
from toolbridge.notes import Note
from toolbridge.providers import get_provider
from toolbridge.reply import read_stream
from toolbridge.stream.events import (
    About,
    CallDelta,
    Event,
    Failed,
    Finished,
    ForeignPart,
    ImagePart,
    ReasoningDelta,
    Reply,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Foreign, Image, Message, Reasoning, Text, ToolCall
from toolbridge.wire.gemini.replies import FINISH, read_event, read_reply

GEMINI = get_provider("gemini")


def chunk(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
    return {"candidates": [{**candidate, "finishReason": finish} if finish else candidate]}


def calls(*chunks: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in read_stream("gemini", chunks).calls]


# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

PARTS: dict[str, tuple[dict[str, Any], list[Event]]] = {
    "text": ({"text": "Zürich"}, [TextDelta("Zürich")]),
    "empty text": ({"text": ""}, []),
    "nothing": ({}, []),
    "signed text": ({"text": "a", "thoughtSignature": "c2ln"}, [TextDelta("a", opaque={"thoughtSignature": "c2ln"})]),
    "a signature on an empty text": ({"text": "", "thoughtSignature": "c2ln"}, [TextDelta("", opaque={"thoughtSignature": "c2ln"})]),
    "a signature alone": ({"thoughtSignature": "c2ln"}, [TextDelta("", opaque={"thoughtSignature": "c2ln"})]),
    "a thought": ({"text": "hm", "thought": True}, [ReasoningDelta("hm")]),
    "a signed thought": ({"text": "hm", "thought": True, "thoughtSignature": "c2ln"}, [ReasoningDelta("hm", opaque={"thoughtSignature": "c2ln"})]),
    "a call": ({"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}}, [CallDelta(id="c1", name="f", arguments={"a": 1}, opens=True)]),
    "a call without an id": ({"functionCall": {"name": "f", "args": {"a": 1}}}, [CallDelta(name="f", arguments={"a": 1}, opens=True)]),
    "a call without arguments": ({"functionCall": {"name": "f"}}, [CallDelta(name="f", arguments={}, opens=True)]),
    "a signed call": (
        {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"},
        [CallDelta(name="f", arguments={}, opaque={"thoughtSignature": "c2ln"}, opens=True)],
    ),
    "a call that only stands for a signature": (
        {"functionCall": {"name": "f"}, "thoughtSignature": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="},
        [CallDelta(name="f", arguments={}, opens=True)],
    ),
    "an image": (
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}, "thoughtSignature": "c2ln"},
        [ImagePart(Image("iVBORw0KGgo=", "image/png", {"thoughtSignature": "c2ln"}))],
    ),
    "an image in the other alphabet": ({"inlineData": {"mimeType": "image/png", "data": "_-8"}}, [ImagePart(Image("/+8=", "image/png"))]),
    "a sketch": (
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True},
        [ForeignPart("inlineData", {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True})],
    ),
    "sound": (
        {"inlineData": {"mimeType": "audio/pcm", "data": "aGk="}},
        [ForeignPart("inlineData", {"inlineData": {"mimeType": "audio/pcm", "data": "aGk="}})],
    ),
    "code": (
        {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "c2ln"},
        [ForeignPart("executableCode", {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "c2ln"})],
    ),
    "what the code gave": (
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        [ForeignPart("codeExecutionResult", {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}})],
    ),
    "a hosted call": ({"toolCall": {"id": "t1"}}, [ForeignPart("toolCall", {"toolCall": {"id": "t1"}})]),
    "a kind of tomorrow": ({"hologram": {"x": 1}, "thought": False}, [ForeignPart("hologram", {"hologram": {"x": 1}, "thought": False})]),
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_part_says_what_it_is(part: str) -> None:
    given, events = PARTS[part]
    assert read_event(chunk(given)) == events
    assert read_reply(chunk(given)) == events


@pytest.mark.parametrize("part", [each for each in PARTS if each not in ("a kind of tomorrow", "nothing")])
def test_the_sdk_hands_out_the_same(part: str) -> None:
    given, events = PARTS[part]
    model = types.GenerateContentResponse.model_validate(chunk(given))
    assert GEMINI.read_event(model) == tuple(events)
    assert GEMINI.read_event(model.model_dump_json(by_alias=True, exclude_none=True)) == tuple(events)


@pytest.mark.parametrize(
    "part", [name for name, (_, events) in PARTS.items() if not isinstance(events and events[0], ForeignPart)]
)
def test_a_dump_in_snake_case_with_everything_that_is_not_set_is_the_same(part: str) -> None:
    given, events = PARTS[part]
    assert read_event(types.GenerateContentResponse.model_validate(chunk(given)).model_dump()) == events


def test_a_foreign_part_keeps_its_spelling_and_loses_what_is_not_set() -> None:
    part = {"executable_code": {"code": "1+1"}, "text": None, "function_call": None}
    assert read_event({"candidates": [{"content": {"parts": [part]}}]}) == [
        ForeignPart("executableCode", {"executable_code": {"code": "1+1"}})
    ]


# ── around them ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chunk_tells_of_itself_and_what_it_cost() -> None:
    told = {
        **chunk({"text": "a"}, finish="STOP"),
        "usageMetadata": {
            "promptTokenCount": 30, "toolUsePromptTokenCount": 4, "candidatesTokenCount": 12, "thoughtsTokenCount": 5,
            "cachedContentTokenCount": 8, "totalTokenCount": 51,
        },
        "modelVersion": "gemini-3-flash",
        "responseId": "r1",
    }  # fmt: skip
    events = [
        About("gemini-3-flash", "r1"),
        TextDelta("a"),
        Finished("stop", "STOP"),
        Spent(Usage(input=34, output=17, cached=8, reasoning=5)),
    ]
    assert read_event(told) == events
    assert GEMINI.read_event(types.GenerateContentResponse.model_validate(told)) == tuple(events)


def test_a_reply_is_whole_in_one_piece() -> None:
    reply = GEMINI.read_reply(
        {
            **chunk(
                {"text": "Hm.", "thought": True},
                {"text": "Let me see."},
                {"functionCall": {"id": "c1", "name": "f", "args": {"ä": 1}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "f"}},
                finish="STOP",
                finishMessage="Model generated function call(s).",
            ),
            "modelVersion": "gemini-3-flash",
            "responseId": "r1",
        }
    )
    signed = {"thoughtSignature": "c2ln"}
    assert reply == Reply(
        Message(
            "assistant",
            (
                Reasoning("Hm."), Text("Let me see."),
                ToolCall("c1", "f", '{"ä":1}', {"ä": 1}, opaque=signed), ToolCall("call_1", "f", "{}", {}),
            ),
            "gemini", "gemini-3-flash",
        ),
        "calls", "STOP", id="r1",
    )  # fmt: skip


@pytest.mark.parametrize("reason", FINISH)
def test_the_reason_to_stop_is_known(reason: str) -> None:
    known = {
        "error": [Finished("error", reason), Failed(f"the model stopped: {reason}", reason)],
    }.get(FINISH[reason], [Finished(FINISH[reason], reason)])
    assert read_event(chunk(finish=reason)) == known


def test_every_reason_of_the_sdk_is_known() -> None:
    assert {each.value for each in types.FinishReason} - FINISH.keys() == {"FINISH_REASON_UNSPECIFIED"}
    assert read_event(chunk(finish="FINISH_REASON_UNSPECIFIED")) == []


def test_a_new_reason_is_noted() -> None:
    assert read_event(chunk(finish="BORED")) == [Finished("stop", "BORED"), Unread("BORED", "finish.unknown")]


def test_what_the_model_did_wrong_is_an_error_in_the_providers_words() -> None:
    told = chunk(finish="MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: print(f(x))")
    assert read_event(told) == [
        Finished("error", "MALFORMED_FUNCTION_CALL"),
        Failed("Malformed function call: print(f(x))", "MALFORMED_FUNCTION_CALL"),
    ]
    reply = read_stream("gemini", [told])
    assert (reply.finish, reply.error) == ("error", "Malformed function call: print(f(x))")


def test_a_prompt_that_is_blocked_is_filtered() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "No."}}
    assert read_event(blocked) == [Finished("filtered", "PROHIBITED_CONTENT"), Unread("No.", "prompt.blocked")]
    assert GEMINI.read_event(types.GenerateContentResponse.model_validate(blocked)) == tuple(read_event(blocked))
    reply = GEMINI.read_reply(blocked)
    assert (reply.finish, reply.notes) == ("filtered", (Note("prompt.blocked", "narrowed", "", "No."),))


@pytest.mark.parametrize(
    ("error", "failed"),
    [
        ({"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}, Failed("Overloaded.", "UNAVAILABLE")),
        ({"code": 503, "message": "Overloaded."}, Failed("Overloaded.", "503")),
        ("Overloaded.", Failed("Overloaded.")),
        ({"code": 503}, Failed("the provider reports an error and does not say which", "503")),
    ],
)
def test_an_error_is_told(error: Any, failed: Failed) -> None:
    assert read_event({"error": error}) == [failed]
    assert read_event([{"error": error}]) == [failed]


def test_only_the_first_candidate_is_the_reply() -> None:
    other = {"content": {"parts": [{"text": "b"}]}, "index": 1}
    assert read_event({"candidates": [chunk({"text": "a"})["candidates"][0], other]}) == [
        TextDelta("a"),
        Unread(other, "choice.ignored"),
    ]
    assert read_event({"candidates": [other]}) == [Unread(other, "choice.ignored")]


def test_where_an_answer_is_from_has_no_place_in_the_message() -> None:
    grounding = {"webSearchQueries": ["weather"]}
    assert read_event(chunk({"text": "a"}, groundingMetadata=grounding)) == [
        TextDelta("a"),
        Unread(grounding, "annotations.dropped"),
    ]


def test_the_chunks_of_a_stream_may_come_as_one_list() -> None:
    chunks = [chunk({"text": "Zü"}), chunk({"text": "rich"}), chunk(finish="STOP")]
    assert read_reply(chunks) == [TextDelta("Zü"), TextDelta("rich"), Finished("stop", "STOP")]
    assert read_stream("gemini", json.dumps(chunks)).text == "Zürich"


# ── signatures ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_signature_stays_on_the_part_that_it_came_on() -> None:
    reply = read_stream(
        "gemini",
        [
            chunk({"text": "hm ", "thought": True}),
            chunk({"text": "hm", "thought": True}),
            chunk({"text": "Zü"}),
            chunk({"text": "rich", "thoughtSignature": "czE="}),
            chunk({"text": " rain"}),
            chunk({"text": "s"}),
            chunk({"text": "", "thoughtSignature": "czI="}, finish="STOP"),
        ],
    )
    first, second = {"thoughtSignature": "czE="}, {"thoughtSignature": "czI="}
    assert reply.message.parts == (
        Reasoning("hm hm"), Text("Zü"), Text("rich", first), Text(" rains"), Text("", second),
    )  # fmt: skip
    assert reply.text == "Zürich rains"


# ── calls in pieces ──────────────────────────────────────────────────────────────────────────────────────────────────


def cut(name: str = "", *pieces: dict[str, Any], more: bool = True, **beside: Any) -> dict[str, Any]:
    call: dict[str, Any] = {"name": name} if name else {}
    if pieces:
        call["partialArgs"] = list(pieces)
    if more:
        call["willContinue"] = True
    return chunk({"functionCall": call, **beside})


def piece(path: str, more: bool = False, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value} | ({"willContinue": True} if more else {})


END = cut(more=False)


def test_pieces_of_a_call_are_events_of_it() -> None:
    assert read_event(cut("f", thoughtSignature="c2ln")) == [
        CallDelta(name="f", pieces=(("$", None, True),), opaque={"thoughtSignature": "c2ln"}, opens=True)
    ]
    assert read_event(cut("", piece("$.a", True, stringValue="x"), piece("$.b", numberValue=3.0))) == [
        CallDelta(pieces=(("$.a", "x", True), ("$.b", 3, False), ("$", None, True)))
    ]
    assert read_event(cut()) == [CallDelta(pieces=(("$", None, True),))]
    assert read_event(END) == [CallDelta(pieces=(("$", None, False),))]


def test_calls_in_pieces_are_put_together() -> None:
    stream = [
        cut("read_theme", more=False, thoughtSignature="c2ln"),
        cut("read_screen"),
        cut("", piece("$.id", True, stringValue="A")),
        cut("", piece("$.id", stringValue="")),
        cut(),
        cut("", piece("$.size.x", numberValue=0.5), piece("$.size.y", numberValue=7.0)),
        END,
        cut("read_screen"),
        cut("", piece("$.id", True, stringValue="B")),
        cut("", piece("$.id", stringValue="B")),
        END,
        cut("read_screen", piece("$.all", boolValue=False), piece("$.none", nullValue=None)),
        cut("", piece("$.list[0]", nullValue="NULL_VALUE"), more=False),
        chunk({"text": ""}, finish="STOP"),
    ]
    expected = [
        ("read_theme", {}),
        ("read_screen", {"id": "A", "size": {"x": 0.5, "y": 7}}),
        ("read_screen", {"id": "BB"}),
        ("read_screen", {"all": False, "none": None, "list": [None]}),
    ]
    assert calls(*stream) == expected
    reply = read_stream("gemini", stream)
    assert (reply.finish, [dict(call.opaque) for call in reply.calls]) == (
        "calls",
        [{"thoughtSignature": "c2ln"}, {}, {}, {}],
    )
    assert [
        type(call.arguments["size"]["y"]) for call in reply.calls if call.arguments and "size" in call.arguments
    ] == [int]
    models = [types.GenerateContentResponse.model_validate_json(json.dumps(each)) for each in stream]
    assert [(call.name, call.arguments) for call in read_stream("gemini", models).calls] == expected
    assert [
        (call.name, call.arguments) for call in read_stream("gemini", [each.model_dump() for each in models]).calls
    ][:3] == expected[:3]


def test_a_piece_without_a_value_says_nothing() -> None:
    nothing = types.PartialArg(json_path="$.a", will_continue=True).model_dump()
    assert nothing["null_value"] is None
    for piece in (nothing, {"jsonPath": "$.a"}, {"jsonPath": "$.a", "willContinue": True}):
        assert read_event(cut("", piece)) == [CallDelta(pieces=(("$", None, True),))]
    for piece in (
        {"jsonPath": "$.a", "nullValue": None},
        types.PartialArg(json_path="$.a", null_value="NULL_VALUE").model_dump(),
    ):
        assert read_event(cut("", piece)) == [CallDelta(pieces=(("$.a", None, False), ("$", None, True)))]


def test_pieces_find_their_call_by_its_id() -> None:
    def of(id: str, *pieces: dict[str, Any], more: bool = True) -> dict[str, Any]:
        return {"functionCall": {"id": id, "name": "f", "partialArgs": list(pieces), "willContinue": more}}

    stream = [
        chunk(of("c1", piece("$.a", True, stringValue="x")), of("c2", piece("$.a", stringValue="z"), more=False)),
        chunk(of("c1", piece("$.a", stringValue="y"), more=False), finish="STOP"),
    ]
    reply = read_stream("gemini", stream)
    assert [(call.id, call.arguments) for call in reply.calls] == [("c1", {"a": "xy"}), ("c2", {"a": "z"})]


def test_arguments_beside_pieces_count_too() -> None:
    part = {"functionCall": {"name": "f", "args": {"a b": {"c": 1}}, "partialArgs": [piece("$.d", stringValue="e")]}}
    assert calls(chunk(part, finish="STOP")) == [("f", {"a b": {"c": 1}, "d": "e"})]


@pytest.mark.parametrize(
    "rest",
    [
        [],
        [cut("", piece("$.path", stringValue=""))],
        [cut("", piece("$.path", stringValue="")), chunk(finish="MAX_TOKENS")],
        [END],
        [END, chunk(finish="STOP")],
    ],
)
def test_a_call_whose_end_did_not_come_is_never_whole(rest: list[Any]) -> None:
    (call,) = read_stream("gemini", [cut("write"), cut("", piece("$.path", True, stringValue="/da")), *rest]).calls
    assert (call.name, call.arguments) == ("write", None)
    assert (call.problem or "").startswith("the arguments end too early")


@pytest.mark.parametrize(
    "bad",
    [
        piece("$..a", stringValue="x"),
        piece("$", stringValue="x"),
        {"stringValue": "x"},
        piece("$[0]", stringValue="x"),
        piece("$.a", stringValue="again"),
    ],
)
def test_a_piece_that_has_no_place_breaks_the_call(bad: dict[str, Any]) -> None:
    (call,) = read_stream("gemini", [cut("f", piece("$.a", stringValue="x")), cut("", bad), END]).calls
    assert (call.name, call.arguments, bool(call.problem)) == ("f", None, True)


def test_two_calls_of_one_tool_are_two_calls() -> None:
    part = {"functionCall": {"name": "f", "args": {"a": 1}}}
    assert calls(chunk(part, part), chunk(part), chunk(finish="STOP")) == [("f", {"a": 1})] * 3


def test_two_whole_calls_with_one_id_are_two_calls() -> None:
    one, two = ({"functionCall": {"id": "c1", "name": "f", "args": {"a": i}}} for i in (1, 2))
    none = {"functionCall": {"id": "c1", "name": "f"}}
    for stream in ([chunk(one, two, none, finish="STOP")], [chunk(one), chunk(two), chunk(none, finish="STOP")]):
        reply = read_stream("gemini", stream)
        assert [call.arguments for call in reply.calls] == [{"a": 1}, {"a": 2}, {}]
        assert len({call.id for call in reply.calls}) == 3
        assert reply.calls[0].id == "c1"
        assert [note.code for note in reply.notes] == ["id.reused"]


def test_the_end_of_a_call_in_pieces_is_no_call_of_its_own_where_it_says_whose_end_it_is() -> None:
    begun = {"id": "c1", "name": "f", "partialArgs": [piece("$.a", stringValue="x")], "willContinue": True}
    for end in (
        {"id": "c1", "name": "f", "willContinue": False},
        {"id": "c1", "name": "f", "partialArgs": []},
        {"id": "c1"},
    ):
        stream = [chunk({"functionCall": begun}), chunk({"functionCall": end}, finish="STOP")]
        assert len(read_stream("gemini", stream).calls) == 1


# ── hostile chunks ───────────────────────────────────────────────────────────────────────────────────────────────────

FULL = {
    **chunk(
        {"text": "a", "thought": True, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
        {"functionCall": {"name": "g", "partialArgs": [piece("$.a", True, stringValue="x")], "willContinue": True}},
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"executableCode": {"code": "1"}},
        finish="STOP",
        finishMessage="done",
        groundingMetadata={"a": 1},
    ),
    "promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "m"},
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2},
    "modelVersion": "m",
    "responseId": "r",
    "error": {"code": 1, "message": "m", "status": "s"},
}


def test_no_chunk_raises_whatever_is_wrong_with_it() -> None:
    without_error = {key: value for key, value in FULL.items() if key != "error"}
    for value in [*spoilt(FULL), *spoilt(without_error), *spoilt([without_error])]:
        read_stream("gemini", [value] if isinstance(value, dict | list) else [[value]])
        assert all(isinstance(each, Event) for each in read_event(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["candidates", "content", "parts", "text", "functionCall", "args"]) | st.text(), inner, max_size=4),
)  # fmt: skip


@given(JSON)
def test_no_value_raises(value: Any) -> None:
    read_event(value)
    read_event({"candidates": value})
    read_event(chunk(value))


def test_what_is_no_chunk_is_noted() -> None:
    assert read_event({"foo": 1}) == [Unread({"foo": 1})]
    assert read_event(7) == [Unread(7)]
    assert read_event(chunk("text")) == [Unread("text")]
    assert read_event(chunk({"functionCall": 7})) == [Unread(7)]


def test_a_call_without_a_name_takes_nobody_elses_arguments() -> None:
    reply = read_stream(
        "gemini", [chunk({"functionCall": {"name": "f", "args": {"a": 1}}}, {"functionCall": {"args": {"b": 2}}})]
    )
    assert [(call.name, call.arguments) for call in reply.calls] == [("f", {"a": 1}), ("", {"b": 2})]


def test_a_foreign_part_of_a_reply_is_kept_whole() -> None:
    part = {"codeExecutionResult": {"outcome": "OUTCOME_OK"}, "thoughtSignature": "c2ln"}
    (kept,) = read_stream("gemini", [chunk(part, finish="STOP")]).message.parts
    assert isinstance(kept, Foreign)
    assert (kept.kind, kept.opaque) == ("codeExecutionResult", part)
