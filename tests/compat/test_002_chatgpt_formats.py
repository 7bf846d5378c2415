"""Contract: what the ChatGPT provider's design promises of its two format functions."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest
from google.genai import types as genai

from toolbridge.compat.chatgpt import mcp_tools_to_gemini_format, mcp_tools_to_openai_format

LOCATION: dict[str, Any] = {
    "type": "object",
    "properties": {"location": {"type": "string", "description": "The city and state"}},
    "required": ["location"],
}
WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "Get the current weather in a given location",
    "inputSchema": LOCATION,
}
NAMELESS: list[dict[str, Any]] = [
    {"description": "no name", "inputSchema": LOCATION},
    {"name": "", "description": "an empty name"},
    {"name": None},
    {},
]


def test_mcp_to_openai_tool_conversion() -> None:
    assert mcp_tools_to_openai_format([WEATHER]) == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Get the current weather in a given location",
                "parameters": {
                    "type": "object",
                    "properties": {"location": {"type": "string", "description": "The city and state"}},
                    "required": ["location"],
                },
            },
        }
    ]


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_mcp_to_openai_with_empty_tools(nothing: Any) -> None:
    assert mcp_tools_to_openai_format(nothing) is None


def test_openai_tools_keep_their_order_names_and_schemas_as_they_are() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "$comment": "kept"}
    assert mcp_tools_to_openai_format([{"name": "b.c", "description": "B", "inputSchema": schema}, WEATHER]) == [
        {"type": "function", "function": {"name": "b.c", "description": "B", "parameters": schema}},
        {
            "type": "function",
            "function": {"name": "get_weather", "description": WEATHER["description"], "parameters": LOCATION},
        },
    ]


def test_an_openai_tool_without_description_or_schema_has_empty_ones() -> None:
    bare = {"type": "function", "function": {"name": "ping", "description": "", "parameters": {}}}
    assert mcp_tools_to_openai_format([{"name": "ping"}]) == [bare]
    assert mcp_tools_to_openai_format([{"name": "ping", "description": None, "inputSchema": None}]) == [bare]


def test_nameless_tools_are_skipped_for_openai_with_a_warning_each(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert mcp_tools_to_openai_format([*NAMELESS, {"name": "ping"}]) == [
            {"type": "function", "function": {"name": "ping", "description": "", "parameters": {}}}
        ]
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "Skipping MCP tool without name.")
    ] * 4


def test_only_nameless_tools_are_none_in_both_formats() -> None:
    assert mcp_tools_to_openai_format(NAMELESS) is None
    assert mcp_tools_to_gemini_format(NAMELESS) is None


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_mcp_to_gemini_with_empty_tools(nothing: Any) -> None:
    assert mcp_tools_to_gemini_format(nothing) is None


def test_every_gemini_declaration_stands_in_one_tool() -> None:
    assert mcp_tools_to_gemini_format([WEATHER, {"name": "ping", "description": "Ping."}]) == [
        {
            "function_declarations": [
                {
                    "name": "get_weather",
                    "description": "Get the current weather in a given location",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {"location": {"type": "STRING", "description": "The city and state"}},
                        "required": ["location"],
                    },
                },
                {"name": "ping", "description": "Ping."},
            ]
        }
    ]


def test_a_gemini_tool_without_arguments_has_no_parameters_and_without_description_an_empty_one() -> None:
    bare = [{"function_declarations": [{"name": "ping", "description": ""}]}]
    assert mcp_tools_to_gemini_format([{"name": "ping"}]) == bare
    assert mcp_tools_to_gemini_format([{"name": "ping", "inputSchema": {"type": "object", "properties": {}}}]) == bare


def test_nameless_tools_are_skipped_for_gemini_with_a_warning_each(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert mcp_tools_to_gemini_format([*NAMELESS, {"name": "ping"}]) == [
            {"function_declarations": [{"name": "ping", "description": ""}]}
        ]
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "Skipping MCP tool without name.")
    ] * 4


def test_a_tool_that_gemini_cannot_take_is_skipped_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert mcp_tools_to_gemini_format([{"name": "text", "inputSchema": {"type": "string"}}, {"name": "ping"}]) == [
            {"function_declarations": [{"name": "ping", "description": ""}]}
        ]
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("Skipping MCP tool text: ")


def test_what_gemini_refuses_becomes_something_its_own_types_accept() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "exclusiveMinimum": 0, "default": 10},
            "mode": {"const": "fast"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "target": {"oneOf": [{"$ref": "#/$defs/point"}, {"type": "null"}]},
            "bad key": {"type": ["string", "integer"]},
        },
        "required": ["mode", "bad key"],
        "additionalProperties": False,
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
    }
    tools = mcp_tools_to_gemini_format([{"name": "a/b", "description": "D", "inputSchema": schema}])
    assert tools is not None
    (tool,) = tools
    (declaration,) = tool["function_declarations"]
    parameters = declaration["parameters"]
    assert (
        genai.Schema.model_validate(parameters).model_dump(exclude_none=True, by_alias=True).keys() == parameters.keys()
    )
    assert genai.Tool.model_validate(tool).function_declarations is not None
    assert declaration["name"].startswith("a_b_")
    (renamed,) = parameters["properties"].keys() - {"limit", "mode", "labels", "target"}
    assert parameters["required"] == ["mode", renamed]
    assert parameters["properties"][renamed]["description"] == '(The tool calls it "bad key".)'
    assert parameters["properties"]["mode"] == {"type": "STRING", "enum": ["fast"]}
    assert parameters["properties"]["limit"] == {"type": "INTEGER", "minimum": 1, "description": "Default: 10."}


def test_neither_format_changes_its_input() -> None:
    tools = [copy.deepcopy(WEATHER), {"name": "ping"}]
    mcp_tools_to_openai_format(tools)
    mcp_tools_to_gemini_format(tools)
    assert tools == [WEATHER, {"name": "ping"}]
