"""Contract: what the ChatGPT provider's design promises of calls and histories, as far as no network is needed."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types as genai
from openai.types.chat.chat_completion_chunk import ChatCompletionChunk, ChoiceDeltaToolCall
from openai.types.chat.chat_completion_message_function_tool_call import ChatCompletionMessageFunctionToolCall

from toolbridge.compat.chatgpt import (
    ChatGPTProvider,
    GeminiProvider,
    GeminiToolCallAssembler,
    OpenAIToolCallAssembler,
    content_to_text,
    format_history,
    parse_gemini_tool_call,
    parse_openai_tool_call,
)

WHOLE: dict[str, Any] = {
    "id": "call_abc123",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"location": "東京"}'},
}
TOKYO = {"tool_name": "get_weather", "arguments": {"location": "東京"}, "tool_call_id": "call_abc123"}


# ── whole calls ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_parse_openai_tool_call() -> None:
    assert parse_openai_tool_call(WHOLE) == TOKYO
    assert parse_openai_tool_call(ChatCompletionMessageFunctionToolCall.model_validate(WHOLE)) == TOKYO
    assert parse_openai_tool_call(SimpleNamespace(id="call_abc123", function=WHOLE["function"])) == TOKYO


def test_parse_openai_tool_call_with_invalid_json(caplog: pytest.LogCaptureFixture) -> None:
    broken = {"id": "c", "function": {"name": "get_weather", "arguments": '{"location": "Tok'}}
    why = 'the arguments end too early, inside of a string, after "{\\"location\\": \\"Tok"'
    with caplog.at_level(logging.WARNING):
        assert parse_openai_tool_call(broken) == {
            "tool_name": "get_weather",
            "arguments": {},
            "tool_call_id": "c",
            "error": why,
        }
    assert caplog.messages == [f"Failed to parse tool call get_weather: {why}"]


@pytest.mark.parametrize("nothing", ["", None, "  \n", "null", {}])
def test_no_arguments_are_an_empty_object_and_no_error(nothing: Any) -> None:
    call = {"id": "c", "function": {"name": "ping", "arguments": nothing}}
    assert parse_openai_tool_call(call) == {"tool_name": "ping", "arguments": {}, "tool_call_id": "c"}
    assert parse_openai_tool_call({"id": "c", "function": {"name": "ping"}}) == parse_openai_tool_call(call)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("[1]", "the arguments are a list, not a JSON object"),
        ("3", "the arguments are a number, not a JSON object"),
        ('"x"', "the arguments are a string, not a JSON object"),
        ([1], "the arguments are a list, not a JSON object"),
        ({1, 2}, "the arguments are not JSON"),
    ],
)
def test_arguments_that_are_no_object_are_an_error(arguments: Any, why: str) -> None:
    call = {"id": "c", "function": {"name": "ping", "arguments": arguments}}
    assert parse_openai_tool_call(call) == {"tool_name": "ping", "arguments": {}, "tool_call_id": "c", "error": why}


def test_arguments_may_be_an_object_already() -> None:
    call = {"id": "c", "function": {"name": "ping", "arguments": {"a": [1, None]}}}
    assert parse_openai_tool_call(call) == {"tool_name": "ping", "arguments": {"a": [1, None]}, "tool_call_id": "c"}


@pytest.mark.parametrize("nothing", [{}, {"function": None}, {"function": {}}, {"id": None}, None, 7, []])
def test_what_a_call_lacks_is_none(nothing: Any) -> None:
    assert parse_openai_tool_call(nothing) == {"tool_name": None, "arguments": {}, "tool_call_id": None}


# ── calls of a stream ────────────────────────────────────────────────────────────────────────────────────────────


def delta(index: int | None = None, id: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {"index": index, "id": id, "function": function}
    return {key: value for key, value in fields.items() if value is not None}


def told(deltas: Sequence[Any], **options: bool) -> tuple[list[Any], list[Any]]:
    """What each delta completed, and what was left for the end."""
    assembler = OpenAIToolCallAssembler()
    return [assembler.process_tool_call(each) for each in deltas], assembler.finish(**options)


def common(name: str | None, arguments: Any, id: str | None) -> dict[str, Any]:
    return {"tool_name": name, "arguments": arguments, "tool_call_id": id}


def test_chatgpt_streaming_tool_arguments() -> None:
    deltas = [
        delta(0, "call_abc123", "get_weather", ""),
        delta(0, arguments='{"loc'),
        delta(0, arguments='ation": "'),
        delta(0, arguments='東京"}'),
    ]
    assert told(deltas) == ([None, None, None, TOKYO], [])
    assert told([ChoiceDeltaToolCall.model_validate(each) for each in deltas]) == ([None, None, None, TOKYO], [])


def test_chatgpt_parallel_tool_calls() -> None:
    answers, rest = told(
        [
            delta(1, "b", "second", ""),
            delta(0, "a", "first", ""),
            delta(1, arguments='{"x"'),
            delta(0, arguments='{"y": "}'),
            delta(1, arguments=": 1}"),
            delta(0, arguments='"}'),
        ]
    )
    assert answers == [None, None, None, None, common("second", {"x": 1}, "b"), common("first", {"y": "}"}, "a")]
    assert rest == []


def test_invalid_tool_arguments_json() -> None:
    answers, rest = told([delta(0, "a", "f", '{"x": '), delta(0, arguments="oops}"), delta(0, arguments=" more")])
    assert answers == [None, None, None]
    assert [{**each, "error": None} for each in rest] == [{**common("f", {}, "a"), "error": None}]
    assert rest[0]["error"].startswith("the arguments are not valid JSON at character 7 (a value is missing)")


def test_missing_tool_call_id() -> None:
    assert told([delta(0, None, "f", "{"), delta(0, arguments="}")]) == ([None, common("f", {}, None)], [])


def test_tool_call_without_name() -> None:
    assert told([delta(0, "a", None, '{"x": 1}')]) == (
        [None],
        [{**common(None, {"x": 1}, "a"), "error": "the call has no name"}],
    )


def test_a_name_may_come_after_the_arguments() -> None:
    assert told([delta(0, "a", None, '{"x": 1}'), delta(0, None, "f")]) == ([None, common("f", {"x": 1}, "a")], [])


def test_an_id_may_come_late() -> None:
    deltas = [delta(0, None, "f", "{"), delta(0, "a", None, '"x": 1'), delta(0, arguments="}")]
    assert told(deltas) == ([None, None, common("f", {"x": 1}, "a")], [])
    late = [delta(0, None, "f", "{}"), delta(0, "a"), delta(0, "b", "g", "{}")]
    assert told(late) == ([common("f", {}, None), None, common("g", {}, "b")], [])


def test_ids_and_names_that_are_repeated_are_set_once() -> None:
    deltas = [delta(0, "a", "f", each) for each in ("", '{"x"', ": 1}", "", " \n")]
    assert told(deltas) == ([None, None, common("f", {"x": 1}, "a"), None, None], [])


def test_a_name_may_grow() -> None:
    assert told([delta(0, "a", "get"), delta(0, "a", "get_weather", "{}")]) == (
        [None, common("get_weather", {}, "a")],
        [],
    )


@pytest.mark.parametrize("index", [0, None])
def test_calls_that_share_an_index_or_have_none_are_told_apart_by_their_ids(index: int | None) -> None:
    deltas = [
        delta(index, "a", "f", ""),
        delta(index, arguments='{"x": 1}'),
        delta(index, "b", "f", '{"x"'),
        delta(index, arguments=": 2}"),
        delta(index, "c", "g", '{"x": 3}'),
    ]
    first, second, third = common("f", {"x": 1}, "a"), common("f", {"x": 2}, "b"), common("g", {"x": 3}, "c")
    assert told(deltas) == ([None, first, None, second, third], [])


def test_a_call_without_arguments_and_the_next_one_on_its_index_are_two() -> None:
    assert told([delta(0, "a", "f", ""), delta(0, "b", "f", '{"x": 1}')]) == (
        [None, common("f", {"x": 1}, "b")],
        [common("f", {}, "a")],
    )


def test_a_new_id_with_the_same_name_on_an_index_that_had_no_id_is_another_call() -> None:
    deltas = [delta(0, None, "f", "{}"), delta(0, "b", "f", ""), delta(0, arguments='{"x": 1}')]
    assert told(deltas) == ([common("f", {}, None), None, common("f", {"x": 1}, "b")], [])


def test_an_id_that_two_indexes_share_is_two_calls() -> None:
    deltas = [delta(0, "a", "f", ""), delta(1, "a", "g", ""), delta(0, arguments="{}"), delta(1, arguments='{"x": 1}')]
    assert told(deltas) == ([None, None, common("f", {}, "a"), common("g", {"x": 1}, "a")], [])


def test_an_id_that_two_tools_share_is_two_calls() -> None:
    assembler = OpenAIToolCallAssembler()
    first = {"index": 0, "id": "c", "function": {"name": "a", "arguments": '{"x":1}'}}
    second = {"index": 0, "id": "c", "function": {"name": "b", "arguments": '{"y":2}'}}
    assert [assembler.process_tool_call(each) for each in (first, second)] == [
        {"tool_name": "a", "arguments": {"x": 1}, "tool_call_id": "c"},
        {"tool_name": "b", "arguments": {"y": 2}, "tool_call_id": "c"},
    ]


def test_an_id_or_a_name_that_changes_while_the_call_arrives_stays_what_it_was() -> None:
    assert told([delta(0, "a", "f", "{"), delta(0, "b", None, "}")]) == ([None, common("f", {}, "a")], [])
    assert told([delta(0, "a", "f", "{"), delta(0, "a", "g", "}")]) == ([None, common("f", {}, "a")], [])


def test_calls_without_index_and_id_are_told_apart_by_names_and_by_the_ends_of_their_objects() -> None:
    deltas = [
        delta(None, None, "f", '{"x": 1}'),
        delta(None, None, "f", '{"x": 2}'),
        delta(None, None, "g", ""),
        delta(None, None, None, "{}"),
    ]
    answers = [common("f", {"x": 1}, None), common("f", {"x": 2}, None), None, common("g", {}, None)]
    assert told(deltas) == (answers, [])


def test_two_objects_at_one_index_are_two_calls_and_both_are_told() -> None:
    apart = [delta(0, "a", "f", '{"x": 1}'), delta(0, arguments='{"x"'), delta(0, arguments=": 2}")]
    assert told(apart) == ([common("f", {"x": 1}, "a"), None, common("f", {"x": 2}, None)], [])
    together = [delta(0, "a", "f", '{"x": 1} {"x": 2}{"x": 3}')]
    assert told(together) == ([common("f", {"x": 1}, "a")], [common("f", {"x": 2}, None), common("f", {"x": 3}, None)])


def test_arguments_may_come_as_an_object() -> None:
    deltas = [delta(0, "a", "f", {"x": 1}), delta(0, "a", None, {"x": 1}), delta(1, None, "g", {})]
    assert told(deltas) == ([common("f", {"x": 1}, "a"), None, common("g", {}, None)], [])
    halves = [delta(0, "a", None, {"x": 1}), delta(0, None, "f", {"y": 2})]
    assert told(halves) == ([None, common("f", {"x": 1, "y": 2}, "a")], [])


def test_an_id_on_one_index_and_the_arguments_on_another_are_one_call() -> None:
    assert told([delta(0, "a", "f", ""), delta(1, arguments='{"x": 1}')]) == ([None, common("f", {"x": 1}, "a")], [])


def test_a_call_without_arguments_is_told_at_the_end_and_only_once() -> None:
    assembler = OpenAIToolCallAssembler()
    assert [assembler.process_tool_call(each) for each in (delta(0, "a", "f", ""), delta(1, "b", "g"))] == [None, None]
    assert assembler.finish() == [common("f", {}, "a"), common("g", {}, "b")]
    assert assembler.finish() == []


def test_where_the_stream_broke_off_the_last_call_may_lack_its_arguments() -> None:
    why = "the stream broke off before the arguments were there"
    assert told([delta(0, "a", "f", ""), delta(1, "b", "g")], broken_off=True) == (
        [None, None],
        [common("f", {}, "a"), {**common("g", {}, "b"), "error": why}],
    )


def test_a_stream_that_ends_inside_of_the_arguments_leaves_a_call_that_says_so() -> None:
    why = 'the arguments end too early, after "{\\"x\\": "'
    assert told([delta(0, "a", "f", '{"x": ')]) == ([None], [{**common("f", {}, "a"), "error": why}])


@pytest.mark.parametrize(
    "nothing", [None, {}, 7, [], {"index": [], "id": 3, "function": 4}, {"function": {"arguments": None}}]
)
def test_a_delta_that_says_nothing_is_no_call(nothing: Any) -> None:
    assert told([nothing, nothing]) == ([None, None], [])


def test_every_cut_of_the_arguments_gives_the_same_call() -> None:
    text = json.dumps({"a": 'quote " brace } backslash \\', "b": [{"c": "]"}], "ü": "東"}, ensure_ascii=False)
    for at in range(len(text) + 1):
        answers, rest = told([delta(0, "a", "f"), delta(0, arguments=text[:at]), delta(0, arguments=text[at:])])
        assert [each for each in answers if each] == [common("f", json.loads(text), "a")]
        assert rest == []


@pytest.mark.parametrize("text", ['{"x": "%s"}', "{'x': \"%s\"}", '{"x": "%s"}}}', "%s", "{x}%s"])
def test_the_cost_is_linear_in_the_fragments(text: str) -> None:
    deltas = [delta(0, "a", "f"), *(delta(0, arguments=each) for each in text % ("y" * 50_000))]
    start = time.process_time()
    answers, rest = told(deltas)
    assert len([each for each in answers if each]) + len(rest) >= 1
    assert time.process_time() - start < 5


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────────────


def gemini(name: str | None, arguments: Any) -> dict[str, Any]:
    return {"name": name, "tool_name": name, "arguments": arguments}


def test_a_gemini_call_has_its_name_under_both_keys() -> None:
    assert parse_gemini_tool_call({"name": "f", "args": {"x": 1}}) == gemini("f", {"x": 1})
    assert parse_gemini_tool_call({"functionCall": {"name": "f", "args": {"x": 1}}}) == gemini("f", {"x": 1})
    assert parse_gemini_tool_call(genai.FunctionCall(name="f", args={"x": "東"})) == gemini("f", {"x": "東"})
    assert parse_gemini_tool_call({"name": "f"}) == gemini("f", {})
    assert parse_gemini_tool_call({}) == gemini(None, {})
    assert parse_gemini_tool_call({"name": "f", "args": [1]}) == {
        **gemini("f", {}),
        "error": "the arguments are a list, not a JSON object",
    }


def test_a_gemini_call_keeps_its_id_and_its_signature() -> None:
    part = genai.Part(function_call=genai.FunctionCall(name="f", args={}, id="x1"), thought_signature=b"\xff\x00s")
    marked = {**gemini("f", {}), "tool_call_id": "x1", "thought_signature": "/wBz"}
    assert parse_gemini_tool_call(part) == marked
    assert GeminiToolCallAssembler().process_tool_call(part) == marked


def gemini_told(*parts: Any) -> tuple[list[Any], list[Any]]:
    assembler = GeminiToolCallAssembler()
    return [assembler.process_tool_call(each) for each in parts], assembler.finish()


def half(name: str | None = None, args: Any = None, index: int | None = None, **more: Any) -> dict[str, Any]:
    call = {key: value for key, value in (("name", name), ("args", args)) if value is not None}
    return {"functionCall": {**call, **more}} | ({} if index is None else {"index": index})


def test_a_gemini_call_that_is_whole_is_told_at_once_and_text_is_none() -> None:
    assert gemini_told({"text": "Hi"}, half("f", {"x": 1}), half("f", {"x": 1}), half("g", {})) == (
        [None, gemini("f", {"x": 1}), gemini("f", {"x": 1}), gemini("g", {})],
        [],
    )
    assert gemini_told(genai.Part(text="Hi"), genai.Part.from_function_call(name="f", args={"x": 1})) == (
        [None, gemini("f", {"x": 1})],
        [],
    )


def test_a_name_and_its_arguments_may_come_in_different_parts_of_gemini_in_either_order() -> None:
    assert gemini_told(half("f"), half(None, {"x": 1})) == ([None, gemini("f", {"x": 1})], [])
    assert gemini_told(half(None, {"x": 1}), half("f")) == ([None, gemini("f", {"x": 1})], [])
    assert gemini_told(half("f", index=0), half("g", index=1), half(None, {"x": 1}, 0), half(None, {"x": 2}, 1)) == (
        [None, None, gemini("f", {"x": 1}), gemini("g", {"x": 2})],
        [],
    )


def test_a_gemini_call_that_never_gets_its_other_half_is_told_at_the_end() -> None:
    assert gemini_told(half("f"), half("g", {"x": 1}), half("h")) == (
        [None, gemini("g", {"x": 1}), None],
        [gemini("f", {}), gemini("h", {})],
    )
    assert gemini_told(half(None, {"x": 1})) == ([None], [{**gemini(None, {"x": 1}), "error": "the call has no name"}])


def test_arguments_that_gemini_sends_in_pieces_are_never_taken_for_none() -> None:
    answers, rest = gemini_told(half("f", willContinue=True), half(partialArgs=[{"jsonPath": "$.x"}]), half())
    why = "the arguments come in pieces (partialArgs); ReplyReader('gemini') reads them"
    assert (answers, rest) == ([None, None, None], [{**gemini("f", {}), "error": why}])


@pytest.mark.parametrize("nothing", [None, 7, [], {}, {"functionCall": None}, {"functionCall": {"name": 3}}])
def test_a_part_that_says_nothing_is_no_call_of_gemini(nothing: Any) -> None:
    assert gemini_told(nothing) == ([None], [])


# ── histories ────────────────────────────────────────────────────────────────────────────────────────────────────

UNKNOWN = "The result of this call is not available. Do not assume that the call ran, nor that it did not, nor what came of it."


def asked(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_history_of_text_is_a_list_of_messages() -> None:
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Grüezi 東京"},
        {"role": "chatgpt", "content": "Hello."},
    ]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Grüezi 東京"},
        {"role": "assistant", "content": "Hello."},
    ]
    assert format_history(history) == messages
    assert ChatGPTProvider.format_history(history) == ChatGPTProvider().format_history(history) == messages


def test_calls_and_results_of_chatgpt_keep_their_structure() -> None:
    history = [
        {"role": "user", "content": "Weather?"},
        {
            "role": "chatgpt",
            "content": {
                "type": "tool_call",
                "tool_call_id": "call_1",
                "tool_name": "get_weather",
                "arguments": {"location": "東京"},
            },
        },
        {"role": "chatgpt", "content": {"type": "tool_result", "tool_call_id": "call_1", "result": {"temp": "20℃"}}},
        {"role": "chatgpt", "content": {"type": "text", "text": "20℃"}},
    ]
    assert format_history(history) == [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [asked("call_1", "get_weather", '{"location": "東京"}')]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"temp": "20℃"}'},
        {"role": "assistant", "content": "20℃"},
    ]


def test_an_entry_may_hold_several_parts_and_parts_may_be_as_call_api_yields_them() -> None:
    call = {"type": "tool_call", "content": {"tool_name": "f", "arguments": {"x": 1}, "tool_call_id": "c"}}
    result = {"type": "tool_result", "content": {"tool_call_id": "c", "result": "ok"}}
    history = [
        {"role": "user", "content": "go"},
        {"role": "chatgpt", "content": [{"type": "text", "content": "On it."}, call, result, "Done."]},
    ]
    assert format_history(history) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "On it.", "tool_calls": [asked("c", "f", '{"x": 1}')]},
        {"role": "tool", "tool_call_id": "c", "content": '"ok"'},
        {"role": "assistant", "content": "Done."},
    ]


def test_every_call_is_answered_whatever_became_of_it() -> None:
    history = [
        {"role": "user", "content": "go"},
        {"role": "chatgpt", "content": {"type": "tool_call", "tool_call_id": "a", "tool_name": "f", "arguments": {}}},
        {"role": "chatgpt", "content": {"type": "tool_call", "tool_call_id": "b", "tool_name": "g", "arguments": {}}},
        {"role": "user", "content": "And?"},
        {"role": "chatgpt", "content": {"type": "tool_result", "tool_call_id": "a", "result": [1]}},
    ]
    assert format_history(history) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [asked("a", "f", "{}")]},
        {"role": "tool", "tool_call_id": "a", "content": "[1]"},
        {"role": "assistant", "content": None, "tool_calls": [asked("b", "g", "{}")]},
        {"role": "tool", "tool_call_id": "b", "content": f"Error: {UNKNOWN}"},
        {"role": "user", "content": "And?"},
    ]


def test_results_without_ids_go_to_the_first_call_of_that_name_that_has_none() -> None:
    calls = [{"type": "tool_call", "tool_name": name, "arguments": {}} for name in ("f", "g", "f")]
    results = [{"type": "tool_result", "tool_name": name, "result": i} for i, name in enumerate(("g", "f", "f"))]
    history = [{"role": "user", "content": "go"}, {"role": "chatgpt", "content": [*calls, *results]}]
    _, call, *answers = format_history(history)
    ids = [each["id"] for each in call["tool_calls"]]
    assert len(set(ids)) == 3
    assert answers == [
        {"role": "tool", "tool_call_id": id, "content": content} for id, content in zip(ids, "102", strict=True)
    ]


def test_a_result_may_have_the_role_of_a_tool_and_be_text_or_an_error() -> None:
    calls = [{"type": "tool_call", "tool_call_id": id, "tool_name": "f", "arguments": {}} for id in "ab"]
    history = [
        {"role": "user", "content": "go"},
        {"role": "chatgpt", "content": calls},
        {"role": "tool", "tool_call_id": "a", "content": "as it is"},
        {"role": "tool", "content": {"type": "tool_result", "tool_call_id": "b", "error": "no such city"}},
    ]
    assert format_history(history)[2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "as it is"},
        {"role": "tool", "tool_call_id": "b", "content": "Error: no such city"},
    ]


def test_a_result_of_no_call_is_not_lost() -> None:
    history = [
        {"role": "user", "content": "go"},
        {"role": "chatgpt", "content": {"type": "tool_result", "tool_call_id": "zz", "result": {"precious": 1}}},
    ]
    written = format_history(history)
    assert "precious" in json.dumps(written)
    assert [each["role"] for each in written] == ["user", "user"]


OTHERS: list[dict[str, Any]] = [
    {"role": "user", "content": "Weather?"},
    {
        "role": "gemini",
        "content": [
            {"type": "tool_call", "name": "get_weather", "arguments": {"city": "Zürich"}},
            {"type": "tool_result", "name": "get_weather", "result": "7 °C"},
            {"type": "text", "text": "7 °C."},
        ],
    },
    {"role": "user", "content": "ChatGPT?"},
    {"role": "chatgpt", "content": "Cold."},
]


def test_what_another_model_said_is_text_that_names_it() -> None:
    assert format_history(OTHERS) == [
        {"role": "user", "content": "Weather?"},
        {
            "role": "user",
            "content": 'gemini: [called get_weather with {"city": "Zürich"}]\n[result of get_weather: "7 °C"]\n7 °C.',
        },
        {"role": "user", "content": "ChatGPT?"},
        {"role": "assistant", "content": "Cold."},
    ]


def test_the_same_history_for_gemini_has_its_calls_and_the_others_words() -> None:
    written = GeminiProvider.format_history(OTHERS)
    call = written[1]["parts"][0]
    assert [each["role"] for each in written] == ["user", "model", "user", "model", "user", "user"]
    assert call["functionCall"] | {"id": ""} == {"id": "", "name": "get_weather", "args": {"city": "Zürich"}}
    response = written[2]["parts"][0]["functionResponse"]
    assert response == {"id": call["functionCall"]["id"], "name": "get_weather", "response": {"output": "7 °C"}}
    assert [each["parts"] for each in written[3:]] == [
        [{"text": "7 °C."}],
        [{"text": "ChatGPT?"}],
        [{"text": "chatgpt: Cold."}],
    ]
    assert [genai.Content.model_validate(each).role for each in written] == [each["role"] for each in written]


def test_gemini_gets_its_signature_back_and_system_text_as_words() -> None:
    part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "/wBz"}
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "go"},
        {"role": "gemini", "content": {"type": "tool_call", "content": parse_gemini_tool_call(part)}},
    ]
    written = GeminiProvider.format_history(history)
    assert written[:2] == [
        {"role": "user", "parts": [{"text": "system: Be brief."}]},
        {"role": "user", "parts": [{"text": "go"}]},
    ]
    assert written[2]["parts"][0]["thoughtSignature"] == "/wBz"
    assert written[3]["parts"][0]["functionResponse"]["response"] == {"error": UNKNOWN}


def test_what_the_assembler_tells_can_go_into_the_history() -> None:
    call = OpenAIToolCallAssembler().process_tool_call(delta(0, "c", "f", '{"x": "ü"}'))
    assert call is not None
    history = [{"role": "user", "content": "go"}, {"role": "chatgpt", "content": {"type": "tool_call", **call}}]
    assert format_history(history)[1]["tool_calls"] == [asked("c", "f", '{"x": "ü"}')]


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, {"role": 3}, {"role": "user", "content": {"a": object()}}])
def test_an_odd_entry_raises_nothing(odd: Any) -> None:
    assert format_history([odd, {"role": "user", "content": "hi"}])[-1] == {"role": "user", "content": "hi"}
    assert GeminiProvider.format_history([odd, {"role": "user", "content": "hi"}])[-1]["parts"] == [{"text": "hi"}]


def test_content_to_text_says_everything() -> None:
    assert content_to_text("plain") == "plain"
    assert content_to_text(None) == ""
    assert content_to_text({"type": "text", "text": "a"}) == content_to_text({"type": "text", "content": "a"}) == "a"
    assert content_to_text(["a", {"type": "text", "text": "b"}]) == "a\nb"
    assert content_to_text({"type": "tool_call", "tool_name": "f", "arguments": {"ü": 1}}) == '[called f with {"ü": 1}]'
    assert (
        content_to_text({"type": "tool_result", "tool_call_id": "c", "result": {"x": 1}}) == '[result of c: {"x": 1}]'
    )
    assert content_to_text({"type": "image", "url": "u"}) == '{"type": "image", "url": "u"}'


def test_the_text_of_a_chunk_is_extracted() -> None:
    chunk = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": {"content": "Grü"}, "finish_reason": None}],
    }
    assert ChatGPTProvider.extract_text_from_chunk(chunk) == "Grü"
    assert ChatGPTProvider.extract_text_from_chunk(ChatCompletionChunk.model_validate(chunk)) == "Grü"
    answer = {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": "a"}, {"text": "b"}]}}]}
    assert GeminiProvider.extract_text_from_chunk(answer) == "ab"
    assert GeminiProvider.extract_text_from_chunk(genai.GenerateContentResponse.model_validate(answer)) == "ab"
    for nothing in ({}, {"choices": []}, {"choices": [{"delta": None}]}, {"candidates": [{"content": None}]}, None, 3):
        assert ChatGPTProvider.extract_text_from_chunk(nothing) == ""
        assert GeminiProvider.extract_text_from_chunk(nothing) == ""
