"""The one object of a constrained model: the schema is a grammar that servers take, and the words say what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer

from tests.support.shared import corpus, needs_corpus
from toolbridge import PreparedTools, Tool, prepare, read_tools
from toolbridge.wire.constrained.form import write_answer, write_call

SAMPLES = Path(__file__).parents[2] / "examples" / "tools.json"
BYTES = LLTokenizer("byte")


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}}


def ready(*tools: Any) -> PreparedTools:
    return prepare(read_tools(list(tools)), "json-schema")


def schema(prepared: PreparedTools) -> dict[str, Any]:
    format = prepared.fields["response_format"]
    assert set(prepared.fields) == {"response_format"}
    assert (format["type"], format["json_schema"]["name"], format["json_schema"]["strict"]) == (
        "json_schema",
        "reply",
        True,
    )
    return format["json_schema"]["schema"]


def allows(prepared: PreparedTools, text: str) -> bool:
    """Whether a model may write this text, and nothing more."""
    matcher = LLMatcher(BYTES, LLMatcher.grammar_from_json_schema(schema(prepared)), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


WEATHER = tool("get_weather", city={"type": "string"}, days={"type": "integer"})


def test_the_form_is_a_call_of_each_tool_or_the_answer() -> None:
    assert schema(ready(WEATHER)) == {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "tool": {"type": "string", "enum": ["get_weather"]},
                    "arguments": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                        "required": ["city", "days"],
                        "additionalProperties": False,
                    },
                },
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"answer": {"type": "string"}},
                "required": ["answer"],
                "additionalProperties": False,
            },
        ],
        "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
    }


@pytest.mark.parametrize(
    ("text", "legal"),
    [
        (write_call("get_weather", {"city": 'Zü"rich', "days": 2}), True),
        (write_call("note", {}), True),
        (write_answer("It rains.\n“Again”"), True),
        (write_call("get_time", {}), False),
        (write_call("get_weather", {"city": "Bern"}), False),
        (write_call("get_weather", {"city": "Bern", "days": 2, "unit": "C"}), False),
        (write_call("note", {"city": "Bern", "days": 2}), False),
        ('{"arguments": {}, "tool": "note"}', False),
        ('{"tool": "note"}', False),
        ('{"tool": "note", "arguments": {}, "answer": "both"}', False),
        ('{"answer":\n\n\n"x"}', False),
        ("It rains.", False),
        ("{}", False),
    ],
)
def test_a_model_can_write_nothing_but_the_form(text: str, legal: bool) -> None:
    assert allows(ready(WEATHER, tool("note")), text) is legal


def test_definitions_of_two_tools_by_one_name_stay_apart() -> None:
    def one(name: str, kind: str) -> dict[str, Any]:
        node = {"type": "object", "properties": {"value": {"type": kind}, "next": {"$ref": "#/$defs/node"}}}
        return {
            "name": name,
            "inputSchema": {
                "type": "object",
                "properties": {"start": {"$ref": "#/$defs/node"}},
                "$defs": {"node": node},
            },
        }

    both = ready(one("words", "string"), one("counts", "integer"))
    assert list(schema(both)["$defs"]) == ["0_0", "1_0"]
    assert allows(both, write_call("words", {"start": {"value": "a", "next": {"value": "b"}}}))
    assert allows(both, write_call("counts", {"start": {"value": 1, "next": {"value": 2}}}))
    assert not allows(both, write_call("words", {"start": {"value": "a", "next": {"value": 2}}}))


def test_objects_that_take_any_key_stay_open() -> None:
    free = ready(
        tool("save", data={"type": "object"}, marks={"type": "object", "additionalProperties": {"type": "integer"}})
    )
    assert allows(free, write_call("save", {"data": {"a": [1, {"b": None}]}, "marks": {"x": 1}}))
    assert not allows(free, write_call("save", {"data": {}, "marks": {"x": "one"}}))


@needs_corpus
def test_the_schemas_of_real_tools_are_grammars() -> None:
    records = corpus("tools")[::97]
    tools: list[Tool] = [read_tools([each["tool"]], each["server"])[0] for each in records]
    refused: dict[str, str] = {}
    for start in range(0, len(tools), 4):
        prepared = prepare(tools[start : start + 4], "json-schema")
        matcher = LLMatcher(BYTES, LLMatcher.grammar_from_json_schema(schema(prepared)), log_level=0)
        if matcher.is_error():
            refused[str(tools[start].id)] = matcher.get_error()
    assert len(tools) > 100
    assert refused == {}


def test_every_sample_can_be_called() -> None:
    prepared = prepare(read_tools(SAMPLES), "json-schema")
    assert allows(prepared, write_call("label_plant", {"plant": "daisy", "names": {"de": "Gänseblümchen"}}))
    assert allows(
        prepared, write_call("plan_paths", {"gate": {"leads_to": "pond", "branches": [{"leads_to": "shed"}]}})
    )
    assert allows(prepared, write_call("garden_open", {}))


# ── the words ────────────────────────────────────────────────────────────────────────────────────────────────────────


def tool_lines(prepared: PreparedTools) -> list[str]:
    return prepared.instructions.partition("Your tools:\n")[2].splitlines()


def test_a_tool_is_told_as_its_signature_and_what_is_said_of_it() -> None:
    described = {
        "name": "find",
        "description": "Finds\n  things.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to\nlook for."},
                "kind": {"enum": ["plant", "bed"]},
                "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
                "near": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x"]},
                "most": {"type": "integer", "minimum": 1},
                "marks": {"type": "object", "additionalProperties": {"type": "boolean"}},
                "tree": {"$ref": "#/$defs/tree"},
                "other": {},
            },
            "required": ["query", "tags"],
            "$defs": {"tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}},
        },
    }  # fmt: skip
    assert tool_lines(ready(described, tool("now"))) == [
        '- find(query: string, kind?: "plant" | "bed", tags: (string | integer)[], near?: {x: number, y?: number}, '
        "most?: integer, marks?: {[name]: boolean}, tree?: tree, other?: any): Finds things.",
        "    query: What to look for.",
        "    most: Minimum: 1.",
        "    tree = {kids?: tree[]}",
        "- now()",
    ]


def test_the_words_begin_alike_whatever_the_tools_are() -> None:
    one, other = ready(WEATHER).instructions, ready(tool("now")).instructions
    head = one.partition("Your tools:\n")[0]
    assert head == other.partition("Your tools:\n")[0]
    assert len(head) < 1200
    assert "get_weather" not in head


def test_the_examples_are_in_the_form_that_is_asked_for() -> None:
    shown = [
        line.removeprefix("You: ") for line in ready(WEATHER).instructions.splitlines() if line.startswith("You: ")
    ]
    assert len(shown) >= 3
    kinds = {tuple(json.loads(each)) for each in shown}
    assert kinds == {("tool", "arguments"), ("answer",)}
    for each in shown:
        match json.loads(each):
            case {"answer": answer}:
                assert each == write_answer(answer)
            case value:
                assert each == write_call(value["tool"], value["arguments"])


def test_without_tools_there_is_nothing_to_say() -> None:
    assert (prepare([], "json-schema").instructions, prepare([], "json-schema").fields) == ("", {})
