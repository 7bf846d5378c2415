"""Resolve: a call is bound with arguments that the server accepts, or the model is told what to do about it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolbridge import BoundCall, Note, Text, Tool, ToolCall, ToolId, ToolResult, read_tools
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.stream.arguments import read_call

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1, "maximum": 10},
        "ratio": {"type": "number"},
        "hourly": {"type": "boolean"},
        "unit": {"type": "string", "enum": ["C", "F"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "code": {"type": "string", "minLength": 2, "pattern": "^[A-Z]+$"},
        "range": {
            "type": "object",
            "properties": {"from": {"type": "string"}, "to": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
            "required": ["from"],
        },
        "people": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
        "when": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "maybe": {"type": ["string", "null"]},
        "either": {"type": ["integer", "string"]},
        "any": {},
    },
    "required": ["city"],
    "additionalProperties": False,
}  # fmt: skip


def prepared(schema: Any = None, provider: str = "openai-chat", strict: bool = False) -> PreparedTools:
    return prepare(
        read_tools([{"name": "forecast", "inputSchema": SCHEMA if schema is None else schema}]), provider, strict
    )


def call(arguments: Any, name: str = "forecast", text: str = "", problem: str | None = None) -> ToolCall:
    return ToolCall("call_1", name, text, arguments, problem)


def bound(arguments: Any, schema: Any = None, provider: str = "openai-chat", strict: bool = False) -> BoundCall:
    """The bound call, whose arguments the server's schema accepts by another validator's word too."""
    ready = prepared(schema, provider, strict)
    resolved = ready.resolve(call(arguments))
    assert isinstance(resolved, BoundCall), resolved
    Draft202012Validator(SCHEMA if schema is None else schema).validate(resolved.arguments)
    return resolved


def told(arguments: Any, schema: Any = None, provider: str = "openai-chat", strict: bool = False) -> list[str]:
    """The lines that the model is told about its arguments."""
    resolved = prepared(schema, provider, strict).resolve(call(arguments))
    assert isinstance(resolved, ToolResult)
    first, *lines, last = resolved.text.split("\n")
    assert resolved == ToolResult("call_1", (Text(resolved.text),), is_error=True)
    assert first == "The call of forecast was not run: its arguments are not valid."
    assert last == "Correct the arguments and call again."
    return [each.removeprefix("- ") for each in lines]


def one(schema: dict[str, Any], *, required: bool = False) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}, **({"required": ["x"]} if required else {})}


# ── the tool ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_valid_call_is_bound_as_it_is() -> None:
    tools = read_tools([{"name": "forecast", "inputSchema": SCHEMA}], server="met")
    arguments = {"city": "Oslo", "days": 3, "tags": ["a"], "maybe": None}
    request = ToolCall("call_1", "mcp__met__forecast", json.dumps(arguments), arguments)
    assert prepare(tools, "openai-chat", strict=False).resolve(request) == BoundCall(request, tools[0], arguments, ())


def test_an_unknown_tool_is_answered_with_near_names() -> None:
    tools = read_tools([{"name": each} for each in ("read_file", "read_files", "write_file", "ping")])
    ready = prepare(tools, "openai-chat")
    text = 'There is no tool named "read_fil". Did you mean read_file or read_files or write_file?'
    assert ready.resolve(call({}, "read_fil")) == ToolResult("call_1", (Text(text),), is_error=True)


@pytest.mark.parametrize("said", ["read_file", "functions.read_file", "functions.mcp__disk__read_file", "read_file:0"])
def test_a_tool_that_was_called_without_its_server_is_offered_with_it(said: str) -> None:
    tools = read_tools([{"name": "read_file"}, {"name": "ping"}], server="disk")
    ready = prepare(tools, "openai-chat")
    text = f'There is no tool named "{said}". Did you mean mcp__disk__read_file?'
    assert ready.resolve(call({}, said)) == ToolResult("call_1", (Text(text),), is_error=True)


def test_arguments_that_are_json_inside_of_a_json_string_are_read_and_noted() -> None:
    request = read_call("call_1", "forecast", '"{\\"city\\": \\"Oslo\\"}"')
    resolved = prepared().resolve(request)
    assert isinstance(resolved, BoundCall)
    assert (resolved.arguments, resolved.notes) == (
        {"city": "Oslo"},
        (Note("arguments.unquoted", "changed", "", request.text),),
    )


@pytest.mark.parametrize("text", ['"Oslo"', '"{broken"', '"[1]"', '"', '"{}" x'])
def test_a_json_string_that_holds_no_object_is_refused(text: str) -> None:
    resolved = prepared().resolve(read_call("call_1", "forecast", text))
    assert isinstance(resolved, ToolResult)
    assert resolved.is_error


def test_an_unknown_tool_that_is_like_no_other_is_answered_all_the_same() -> None:
    text = 'There is no tool named "zzz". Call one of the tools you were given.'
    assert prepared().resolve(call({}, "zzz")) == ToolResult("call_1", (Text(text),), is_error=True)
    nothing = prepare([], "openai-chat")
    assert nothing.resolve(call({}, "zzz")) == ToolResult("call_1", (Text(text),), is_error=True)


def test_a_tool_is_found_by_its_wire_name_only() -> None:
    ready = prepare(read_tools([{"name": "a.b"}], server="s"), "openai-chat")
    wire = ready.wire_name(ToolId("s", "a.b"))
    assert isinstance(ready.resolve(call({}, wire)), BoundCall)
    assert isinstance(ready.resolve(call({}, "a.b")), ToolResult)


def test_a_tool_that_was_left_out_cannot_be_called() -> None:
    ready = prepare([Tool(ToolId("", "odd"), "", {"type": "string"})], "openai-chat")
    resolved = ready.resolve(call({}, "odd"))
    assert isinstance(resolved, ToolResult)
    assert resolved.is_error


# ── arguments that are none ──────────────────────────────────────────────────────────────────────────────────────


def test_arguments_that_are_no_object_are_answered_with_what_came_and_why() -> None:
    text = (
        "The call of forecast was not run: it ends in the middle of a string. "
        'Received: "{\\"city\\": \\"Os". Send one JSON object.'
    )
    resolved = prepared().resolve(call(None, text='{"city": "Os', problem="it ends in the middle of a string"))
    assert resolved == ToolResult("call_1", (Text(text),), is_error=True)


def test_arguments_that_are_no_object_need_no_reason_to_be_refused() -> None:
    text = (
        'The call of forecast was not run: the arguments are not a JSON object. Received: "[1]". Send one JSON object.'
    )
    assert prepared().resolve(call(None, text="[1]")) == ToolResult("call_1", (Text(text),), is_error=True)


def test_a_long_argument_text_is_not_sent_back_whole() -> None:
    resolved = prepared().resolve(call(None, text="x" * 100_000))
    assert isinstance(resolved, ToolResult)
    assert len(resolved.text) < 500


def test_a_broken_call_is_never_run_even_where_no_argument_is_needed() -> None:
    assert isinstance(prepared({"type": "object", "properties": {}}).resolve(call(None, text="{")), ToolResult)


# ── coercion ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "arguments", "notes"),
    [
        ({"days": "3"}, {"days": 3}, [Note("text.parsed", "changed", "/days", "3")]),
        ({"days": " 3 "}, {"days": 3}, [Note("text.parsed", "changed", "/days", " 3 ")]),
        ({"ratio": "0.5"}, {"ratio": 0.5}, [Note("text.parsed", "changed", "/ratio", "0.5")]),
        ({"hourly": "true"}, {"hourly": True}, [Note("text.parsed", "changed", "/hourly", "true")]),
        ({"hourly": "False"}, {"hourly": False}, [Note("text.parsed", "changed", "/hourly", "False")]),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}, [Note("text.parsed", "changed", "/tags", '["a", "b"]')]),
        ({"range": '{"from": "a"}'}, {"range": {"from": "a"}}, [Note("text.parsed", "changed", "/range", '{"from": "a"}')]),
        ({"when": "5"}, {"when": 5}, [Note("text.parsed", "changed", "/when", "5")]),
        ({"when": "null"}, {"when": None}, [Note("text.parsed", "changed", "/when", "null")]),
        ({"days": None}, {}, [Note("null.dropped", "changed", "/days", None)]),
        ({"range": None}, {}, [Note("null.dropped", "changed", "/range", None)]),
        ({"days": "null"}, {}, [Note("null.dropped", "changed", "/days", "null")]),
        ({"days": "None"}, {}, [Note("null.dropped", "changed", "/days", "None")]),
        ({"days": ""}, {}, [Note("null.dropped", "changed", "/days", "")]),
        ({"city": 5}, {"city": "5"}, [Note("value.written", "changed", "/city", 5)]),
        ({"city": 1.5}, {"city": "1.5"}, [Note("value.written", "changed", "/city", 1.5)]),
        ({"city": True}, {"city": "true"}, [Note("value.written", "changed", "/city", True)]),
        ({"tags": "a"}, {"tags": ["a"]}, [Note("value.listed", "changed", "/tags", "a")]),
        ({"people": {"name": "A"}}, {"people": [{"name": "A"}]}, [Note("value.listed", "changed", "/people", {"name": "A"})]),
        ({"range": {"from": 1}}, {"range": {"from": "1"}}, [Note("value.written", "changed", "/range/from", 1)]),
        ({"people": [{"name": "A"}, {"name": 2}]}, {"people": [{"name": "A"}, {"name": "2"}]}, [Note("value.written", "changed", "/people/1/name", 2)]),
        (
            {"days": "3", "tags": "a", "hourly": None},
            {"days": 3, "tags": ["a"]},
            [Note("text.parsed", "changed", "/days", "3"), Note("value.listed", "changed", "/tags", "a"), Note("null.dropped", "changed", "/hourly", None)],
        ),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_models_get_wrong_in_the_usual_ways_is_put_right_and_noted(
    given: dict[str, Any], arguments: dict[str, Any], notes: list[Note]
) -> None:
    whole = {"city": "Oslo", **given}
    before = copy.deepcopy(whole)
    resolved = bound(whole)
    assert resolved.arguments == {"city": "Oslo", **arguments}
    assert sorted(resolved.notes, key=str) == sorted(notes, key=str)
    assert whole == before
    assert resolved.call.arguments is whole


@pytest.mark.parametrize("text", ["5", "true", "null", "None", "", '["a"]', '{"a": 1}', " x ", "1e5", "NaN"])
def test_a_string_stays_a_string_where_a_string_is_due(text: str) -> None:
    for name in ("city", "maybe", "either", "any"):
        arguments = {"city": "Oslo", name: text}
        assert bound(dict(arguments)) == BoundCall(call(arguments), prepared().tools[0], arguments, ())


@pytest.mark.parametrize(
    "given", [{"maybe": None}, {"when": None}, {"either": 5}, {"any": None}, {"any": [[1]]}, {"ratio": 3}]
)
def test_a_value_that_is_valid_is_never_touched(given: dict[str, Any]) -> None:
    resolved = bound({"city": "Oslo", **given})
    assert (resolved.arguments, resolved.notes) == ({"city": "Oslo", **given}, ())


@pytest.mark.parametrize(
    "given",
    [
        {"city": None},  # required: there is no leaving it out
        {"days": "three"},
        {"days": "11"},  # past the maximum as a number too
        {"days": 3.5},
        {"hourly": "yes"},
        {"hourly": 1},
        {"unit": "K"},
        {"tags": ["a", "b", "c", "d"]},
        {"tags": [["a"], ["b", "c"]]},
        {"range": "from a to b"},
        {"city": {"name": "Oslo"}},
        {"city": ["Oslo", "Bergen"]},
        {"days": "3", "unit": "K"},
    ],
)
def test_what_cannot_be_made_valid_goes_back_to_the_model_untouched(given: dict[str, Any]) -> None:
    arguments = {"city": "Oslo", **given}
    before = copy.deepcopy(arguments)
    resolved = prepared().resolve(call(arguments))
    assert isinstance(resolved, ToolResult)
    assert resolved.is_error
    assert arguments == before


@pytest.mark.parametrize("given", [{"code": ""}, {"code": "none"}, {"code": "null"}, {"unit": ""}, {"unit": "none"}])
def test_a_bad_string_where_a_string_is_due_is_told_and_not_dropped(given: dict[str, Any]) -> None:
    assert len(told({"city": "Oslo", **given})) >= 1


def test_a_note_points_to_its_place_with_a_json_pointer() -> None:
    schema = {"type": "object", "properties": {"a/b": {"type": "integer"}, "x~y": {"type": "integer"}}}
    assert bound({"a/b": "1", "x~y": "2"}, schema).notes == (
        Note("text.parsed", "changed", "/a~1b", "1"),
        Note("text.parsed", "changed", "/x~0y", "2"),
    )


def test_a_key_of_digits_is_a_key() -> None:
    schema = {"type": "object", "properties": {"0": {"type": "object", "additionalProperties": {"type": "integer"}}}}
    resolved = bound({"0": {"1": "2"}}, schema)
    assert resolved.arguments == {"0": {"1": 2}}
    assert resolved.notes == (Note("text.parsed", "changed", "/0/1", "2"),)


# ── what the model is told ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({}, ["Argument city: is required and is missing. Expected: string."]),
        ({"city": "Oslo", "dais": 3}, ['Argument dais: is not a known argument. Did you mean "days"?']),
        ({"city": "Oslo", "days": "three"}, ['Argument days: "three" is not of type "integer". Expected: integer; Minimum: 1; Maximum: 10.']),
        ({"city": "Oslo", "days": 99}, ["Argument days: 99 is greater than the maximum of 10. Expected: integer; Minimum: 1; Maximum: 10."]),
        ({"city": "Oslo", "days": 0}, ["Argument days: 0 is less than the minimum of 1. Expected: integer; Minimum: 1; Maximum: 10."]),
        ({"city": "Oslo", "unit": "K"}, ['Argument unit: "K" is not one of "C" or "F".']),
        ({"city": "Oslo", "hourly": "yes"}, ['Argument hourly: "yes" is not of type "boolean". Expected: boolean.']),
        ({"city": "Oslo", "range": {"from": "a", "to": {"x": "far"}}}, ['Argument range.to.x: "far" is not of type "number". Expected: number.']),
        ({"city": "Oslo", "range": {}}, ["Argument range.from: is required and is missing. Expected: string."]),
        ({"city": "Oslo", "people": [{"name": "A"}, {}]}, ["Argument people[1].name: is required and is missing. Expected: string."]),
        ({"city": "Oslo", "when": "soon"}, ['Argument when: "soon" is of none of the allowed kinds. Expected: integer or null.']),
        (
            {"days": "three", "unit": "K"},
            [
                "Argument city: is required and is missing. Expected: string.",
                'Argument days: "three" is not of type "integer". Expected: integer; Minimum: 1; Maximum: 10.',
                'Argument unit: "K" is not one of "C" or "F".',
            ],
        ),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_the_model_is_told_where_it_went_wrong_and_what_would_be_right(
    arguments: dict[str, Any], lines: list[str]
) -> None:
    assert sorted(told(arguments)) == sorted(lines)


def test_an_unknown_argument_that_is_like_no_other_is_told_which_are_known() -> None:
    schema = {"type": "object", "properties": {"city": {}, "days": {}}, "additionalProperties": False}
    assert told({"zzzzzz": 1}, schema) == ["Argument zzzzzz: is not a known argument. Known: city, days."]


def test_a_tool_without_arguments_says_that_it_has_none() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    (line,) = told({"city": "Oslo"}, schema)
    assert line.endswith("Leave it out.")
    assert "Oslo" in line or "city" in line


def test_a_key_that_is_no_word_is_quoted_in_its_path() -> None:
    schema = {"type": "object", "properties": {"a b": {"type": "object", "properties": {"c-d": {"type": "integer"}}}}}
    assert told({"a b": {"c-d": "x"}}, schema) == [
        'Argument ["a b"]["c-d"]: "x" is not of type "integer". Expected: integer.'
    ]


UNION = [
    {
        "type": "object",
        "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
        "required": ["kind", "radius"],
    },
    {
        "type": "object",
        "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
        "required": ["kind", "side"],
    },
]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_of_a_union_the_branch_that_came_closest_is_told(keyword: str) -> None:
    schema = one({keyword: UNION}, required=True)
    assert told({"x": {"kind": "circle", "radius": "big"}}, schema) == [
        'Argument x.radius: "big" is not of type "number". Expected: number.'
    ]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_of_a_union_the_branch_whose_tag_was_given_is_the_closest(keyword: str) -> None:
    schema = one({keyword: UNION}, required=True)
    assert told({"x": {"kind": "square"}}, schema) == ["Argument x.side: is required and is missing. Expected: number."]


def test_a_value_that_fits_two_of_one_is_told_so() -> None:
    schema = one({"oneOf": [{"type": "integer"}, {"type": "number"}]}, required=True)
    assert told({"x": 5}, schema) == ["Argument x: 5 fits more than one of the allowed forms. Give exactly one."]


def test_only_so_many_problems_are_told_at_once() -> None:
    schema = {"type": "object", "properties": {f"a{i}": {"type": "integer"} for i in range(50)}}
    assert len(told({f"a{i}": "x" for i in range(50)}, schema)) == 8


def test_a_huge_value_is_not_sent_back_whole() -> None:
    assert len("".join(told({"city": "Oslo", "days": "x" * 100_000}))) < 500


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": float("nan")},
        {"city": float("inf")},
        {"days": float("nan")},
        {"days": "9" * 10_000},
        {"days": "\ud800"},
        {"city": {"\ud800": 1}},
        {"\ud800": 1},
        {"any": "\ud800", "days": "x"},
    ],
    ids=ascii,
)
def test_no_arguments_make_resolve_raise(arguments: dict[str, Any]) -> None:
    resolved = prepared().resolve(call({"city": "Oslo", **arguments}))
    assert isinstance(resolved, ToolResult)
    assert resolved.is_error


@pytest.mark.parametrize("depth", [200, 400, 10_000])
def test_arguments_nested_very_deep_do_no_harm(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    assert isinstance(prepared().resolve(call({"city": "Oslo", "tags": value})), ToolResult)


@pytest.mark.parametrize("arguments", [{"\ud800": 1}, {"city": "\ud800", "code": "\ud800"}], ids=ascii)
def test_what_the_validator_cannot_read_is_never_taken_for_valid(arguments: dict[str, Any]) -> None:
    assert isinstance(prepared().resolve(call(arguments)), ToolResult)


# ── the way back, through resolve ────────────────────────────────────────────────────────────────────────────────

STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "note": {"type": ["string", "null"]},
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"city": "Oslo", "days": None, "note": {}, "labels": None}, {"city": "Oslo"}),
        (
            {"city": "Oslo", "days": 2, "note": None, "labels": []},
            {"city": "Oslo", "days": 2, "note": None, "labels": {}},
        ),
        (
            {"city": "Oslo", "days": 2, "note": "hi", "labels": [{"key": "a", "value": 1}, {"key": "b", "value": 2}]},
            {"city": "Oslo", "days": 2, "note": "hi", "labels": {"a": 1, "b": 2}},
        ),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ({"city": "Oslo", "labels": {"a": 1}}, {"city": "Oslo", "labels": {"a": 1}}),
    ],
)
def test_in_strict_mode_null_for_absent_is_dropped_and_a_null_of_the_servers_own_is_kept(
    given: dict[str, Any], arguments: dict[str, Any]
) -> None:
    resolved = bound(given, STRICT, strict=True)
    assert (resolved.arguments, resolved.notes) == (arguments, ())


def test_in_strict_mode_a_null_for_what_is_required_is_still_wrong() -> None:
    assert told({"city": None, "days": None, "note": None, "labels": None}, STRICT, strict=True) == [
        'Argument city: null is not of type "string". Expected: string.'
    ]


@pytest.mark.parametrize("provider", ["anthropic", "gemini-openapi"])
def test_a_renamed_key_is_bound_under_the_servers_own_name(provider: str) -> None:
    schema = {"type": "object", "properties": {"the city": {"type": "string"}, "the/city": {"type": "integer"}}}
    ready = prepared(schema, provider)
    wire = ready.write_arguments(ToolId("", "forecast"), {"the city": "Oslo", "the/city": 5})
    assert not wire.keys() & {"the city", "the/city"}
    assert bound(wire, schema, provider).arguments == {"the city": "Oslo", "the/city": 5}
    assert bound({"the city": "Oslo"}, schema, provider).arguments == {"the city": "Oslo"}


@pytest.mark.parametrize("provider", ["anthropic", "gemini-openapi"])
def test_a_renamed_key_that_is_wrong_is_told_by_the_name_the_model_was_shown(provider: str) -> None:
    schema = {"type": "object", "properties": {"the city": {"type": "integer"}}, "required": ["the city"]}
    ready = prepared(schema, provider)
    (wire,) = ready.write_arguments(ToolId("", "forecast"), {"the city": 5})
    (line,) = told({wire: "x"}, schema, provider)
    assert wire in line
    (line,) = told({}, schema, provider)
    assert wire in line


def test_the_check_asks_the_servers_schema_and_not_the_one_that_was_shown() -> None:
    schema = one({"type": "string", "minLength": 3, "not": {"const": "abc"}}, required=True)
    for provider in ("openai-chat", "gemini", "ollama"):
        assert bound({"x": "abcd"}, schema, provider).arguments == {"x": "abcd"}
        assert len(told({"x": "ab"}, schema, provider)) == 1
        assert len(told({"x": "abc"}, schema, provider)) == 1


def test_an_entry_of_a_map_is_never_made_up_or_dropped() -> None:
    schema = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}}
    ready = prepare(read_tools([{"name": "t", "inputSchema": schema}]), "openai-chat", strict=False)
    for value in ([{"key": "color", "value": "red"}], {"k": None}):
        assert isinstance(ready.resolve(ToolCall("1", "t", "", {"m": value})), ToolResult)


def test_what_a_model_wrote_and_reading_would_drop_is_told() -> None:
    schema = {
        "type": "object",
        "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}},
        "additionalProperties": True,
    }
    ready = prepare(read_tools([{"name": "t", "inputSchema": schema}]), "openai-chat", strict=True)
    cases = {
        'The key "a" is given twice.': {"m": [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}]},
        "A list of keys and values has an item without a key or a value.": {"m": [{"key": "a"}]},
        "Argument additional_properties: it must be the JSON text of an object.": {
            "m": None,
            "additional_properties": "colour=red",
        },
    }
    for told, arguments in cases.items():
        answer = ready.resolve(ToolCall("1", "t", "", arguments))
        assert isinstance(answer, ToolResult)
        assert told in answer.text
