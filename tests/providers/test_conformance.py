"""Every registered provider, by the same cases: a new one is tested before anyone writes a test for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.shared import JUDGED_AS, judge, needs_judge
from toolbridge import Tool, ToolCall, ToolId, ToolResult, prepare, read_tools
from toolbridge.providers import get_provider, providers

SAMPLES = Path(__file__).parents[2] / "examples" / "tools.json"
SNAPS = Path(__file__).parents[1] / "snaps"
WRITE = bool(os.environ.get("TOOLBRIDGE_WRITE_SNAPS"))
NAMES = list(providers())


def tool(i: int, schema: Any = None) -> Tool:
    return Tool(
        ToolId("", f"tool_{i}"), "Does it.", schema or {"type": "object", "properties": {"a": {"type": "string"}}}
    )


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_definitions_and_notes_are_as_recorded(name: str, strict: bool) -> None:
    if strict and get_provider(name).strict is None:
        strict = False
    ready = prepare(read_tools(SAMPLES), name, strict)
    found = {
        "definitions": ready.definitions,
        "notes": {
            str(id): [f"{note.path} {note.code} {note.effect}" for note in notes] for id, notes in ready.notes.items()
        },
        "left_out": {str(id): why for id, why in ready.left_out.items()},
    }
    file = SNAPS / name / ("strict.json" if strict else "plain.json")
    if WRITE:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(file.read_text(encoding="utf-8"))


@needs_judge
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_judge_refuses_no_sample(name: str, strict: bool) -> None:
    for definition in prepare(read_tools(SAMPLES), name, strict).definitions:
        assert judge().violations(JUDGED_AS.get(name, name), definition) == []


@pytest.mark.parametrize("name", NAMES)
def test_no_tools_are_no_fields(name: str) -> None:
    ready = prepare([], name)
    assert (ready.definitions, ready.fields, dict(ready.notes), dict(ready.left_out)) == ([], {}, {}, {})


@pytest.mark.parametrize("name", NAMES)
def test_tools_past_the_limit_are_left_out_by_name_and_with_the_reason(name: str) -> None:
    most = get_provider(name).most_tools
    ready = prepare([tool(i) for i in range((most or 600) + 2)], name)
    if most is None:
        assert not ready.left_out
    else:
        why = f"{name} takes at most {most} tools, and {most} come before this one"
        assert dict(ready.left_out) == {ToolId("", f"tool_{most}"): why, ToolId("", f"tool_{most + 1}"): why}
        assert len(ready.definitions) == most


@pytest.mark.parametrize("name", NAMES)
def test_a_caller_may_change_what_it_got(name: str) -> None:
    tools = read_tools(SAMPLES)
    before = json.dumps(prepare(tools, name).definitions)
    spoilt = prepare(tools, name).definitions
    for definition in spoilt:
        definition.clear()
    spoilt.clear()
    assert json.dumps(prepare(tools, name).definitions) == before


def test_definitions_are_the_same_to_the_byte_in_every_process() -> None:
    program = (
        "import json, sys; from toolbridge import prepare, read_tools; from toolbridge.providers import providers\n"
        "print(json.dumps([prepare(read_tools(sys.argv[1]), name, strict).definitions"
        " for name in providers() for strict in (True, False)]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(SAMPLES)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_the_strict_budget_goes_to_tools_that_may_change_things_first() -> None:
    optional = {
        "type": "object",
        "properties": {f"p{i}": {"type": "string"} for i in range(10)},
        "additionalProperties": False,
    }
    listed = [{"name": f"t{i}", "inputSchema": optional, "annotations": {"readOnlyHint": i % 2 == 0}} for i in range(6)]
    tools = read_tools(listed)
    ready = prepare(tools, "anthropic", strict=True)
    assert [ready.is_strict(each.id) for each in tools] == [False, True, False, True, False, False]
    over = [id.name for id, notes in ready.notes.items() if "strict.over_budget" in [note.code for note in notes]]
    assert over == ["t0", "t2", "t4", "t5"]


def test_strict_by_itself_is_for_tools_that_lose_nothing_by_it() -> None:
    plain = tool(
        0, {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}
    )
    others = [
        tool(1, {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}),
        tool(
            2, {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}}}
        ),
        tool(3, {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
        tool(4, {"type": "object", "properties": {"a": {}}}),
    ]
    for name in ("openai-chat", "openai-responses"):
        ready = prepare([plain, *others], name)
        assert [ready.is_strict(each.id) for each in (plain, *others)] == [True, False, False, False, False]
        assert all(prepare([each], name, strict=True).is_strict(each.id) for each in others)
    for name in ("anthropic", "bedrock", "vllm", "azure"):
        assert not prepare([plain], name).is_strict(plain.id)


def test_gemini_is_strict_by_a_mode_of_the_request() -> None:
    assert prepare([tool(0)], "gemini", strict=True).fields["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"}
    }
    assert "toolConfig" not in prepare([tool(0)], "gemini").fields
    assert prepare([tool(0)], "gemini", strict=True).notes[tool(0).id] == ()


NESTED = {
    "type": "object",
    "properties": {
        "filter": {
            "type": "object",
            "properties": {"min": {"type": "number"}, "max": {"type": "number", "default": 9}},
            "required": ["min"],
        },
        "filter_min": {"type": "string", "enum": ["a", "b"]},
    },
    "required": ["filter"],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("strict", [False, True])
def test_nested_objects_can_be_flattened_and_are_put_back(name: str, strict: bool) -> None:
    nested = tool(0, NESTED)
    ready = prepare([nested], name, strict, flatten=True)
    for value in ({"filter": {"min": 1}}, {"filter": {"min": 1, "max": 2}, "filter_min": "a"}):
        written = ready.write_arguments(nested.id, value)
        assert {"filter_min_", "filter"} & written.keys() == {"filter_min_"}
        assert ready.read_arguments("tool_0", written) == value


def test_a_flattened_object_keeps_its_description_and_loses_no_member() -> None:
    schema = {
        "type": "object",
        "properties": {
            "o": {
                "type": "object",
                "description": "The order.",
                "properties": {"n": {"type": "integer"}},
                "required": ["n"],
            }
        },
        "required": ["o"],
    }
    flat = tool(0, schema)
    ready = prepare([flat], "openai-chat", False, flatten=True)
    assert ready.definitions[0]["function"]["parameters"]["properties"] == {
        "o_n": {"type": "integer", "description": "The order."}
    }
    assert ready.write_arguments(flat.id, {"o": {"n": 4, "extra": 1}}) == {"o_n": 4, "o": {"extra": 1}}
    answer = ready.resolve(ToolCall("1", "tool_0", "", {"o_n": []}))
    assert isinstance(answer, ToolResult)
    assert "Argument o_n:" in answer.text


@pytest.mark.parametrize(
    "more", [{"dependentRequired": {"p": ["o"]}}, {"anyOf": [{"required": ["o"]}, {"required": ["p"]}]}]
)
def test_an_object_that_the_root_names_elsewhere_is_not_lifted(more: dict[str, Any]) -> None:
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    schema = {"type": "object", "properties": {"o": inner, "p": {"type": "string"}}, **more}
    ready = prepare([tool(0, schema)], "openai-chat", False, flatten=True)
    assert list(ready.definitions[0]["function"]["parameters"]["properties"]) == ["o", "p"]


def test_values_can_be_said_in_descriptions_as_well() -> None:
    ready = prepare([tool(0, NESTED)], "openai-chat", strict=False, describe_values=True)
    members = ready.definitions[0]["function"]["parameters"]["properties"]
    assert members["filter_min"] == {"type": "string", "enum": ["a", "b"], "description": 'One of: "a", "b".'}
    assert members["filter"]["properties"]["max"] == {"type": "number", "default": 9, "description": "Default: 9."}


def test_descriptions_are_shortened_where_they_must_be() -> None:
    long = Tool(ToolId("", "t"), "word " * 400, {"type": "object", "properties": {}})
    for ready in (prepare([long], "azure"), prepare([long], "openai-chat", description_limit=1024)):
        text = ready.definitions[0]["function"]["description"]
        assert (len(text) <= 1024, text[-5:]) == (True, "word…")
        assert "description.shortened" in [note.code for note in ready.notes[long.id]]
    assert len(prepare([long], "openai-chat").definitions[0]["function"]["description"]) == 2000
    with pytest.raises(ValueError, match="at least 1"):
        prepare([long], "openai-chat", description_limit=0)
