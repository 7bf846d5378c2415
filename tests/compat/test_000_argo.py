"""Contract: what the Argo guide promises of `MCPToOpenAIConverter`."""

from __future__ import annotations

import copy
import json
import logging
from typing import Any

import pytest
from mcp_types import Tool as SdkTool

from toolbridge import MCPToolError
from toolbridge.compat.argo import MCPToOpenAIConverter

BUILD_MODEL: dict[str, Any] = {
    "name": "build_model",
    "description": "Build a metabolic model from genome annotation.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "model_id": {"type": "string", "description": "Unique identifier with .gf suffix (e.g., 'ecoli.gf')"},
            "genome_source": {
                "type": "string",
                "enum": ["rast_id", "fasta_file", "annotation_dict"],
                "description": "Source type for genome data",
            },
            "genome_id": {"type": "string", "description": "RAST ID, FASTA file path, or annotation dict"},
            "template": {
                "type": "string",
                "description": "Template name ('auto', 'GramNegative', 'GramPositive', 'Core')",
                "default": "auto",
            },
        },
        "required": ["model_id", "genome_source", "genome_id"],
    },
}

BUILT_MODEL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "build_model",
        "description": "Build a metabolic model from genome annotation.",
        "parameters": {
            "type": "object",
            "properties": {
                "model_id": {"type": "string", "description": "Unique identifier with .gf suffix (e.g., 'ecoli.gf')"},
                "genome_source": {
                    "type": "string",
                    "enum": ["rast_id", "fasta_file", "annotation_dict"],
                    "description": "Source type for genome data",
                },
                "genome_id": {"type": "string", "description": "RAST ID, FASTA file path, or annotation dict"},
                "template": {
                    "type": "string",
                    "description": "Template name ('auto', 'GramNegative', 'GramPositive', 'Core')",
                },
            },
            "required": ["model_id", "genome_source", "genome_id"],
        },
    },
}

GAPFILL_MODEL: dict[str, Any] = {
    "name": "gapfill_model",
    "description": "Gapfill a metabolic model to enable growth on a specified media.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "model_id": {"type": "string", "description": "Model identifier with .gf suffix"},
            "media_id": {"type": "string", "description": "Media identifier or predefined name"},
            "target_reaction": {"type": "string", "description": "Target reaction to enable", "default": "bio1"},
            "minimum_fraction": {"type": "number", "description": "Minimum growth fraction", "default": 0.01},
        },
        "required": ["model_id", "media_id"],
    },
}

GAPFILLED_MODEL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "gapfill_model",
        "description": "Gapfill a metabolic model to enable growth on a specified media.",
        "parameters": {
            "type": "object",
            "properties": {
                "model_id": {"type": "string", "description": "Model identifier with .gf suffix"},
                "media_id": {"type": "string", "description": "Media identifier or predefined name"},
                "target_reaction": {"type": "string", "description": "Target reaction to enable"},
                "minimum_fraction": {"type": "number", "description": "Minimum growth fraction"},
            },
            "required": ["model_id", "media_id"],
        },
    },
}


def parameters_of(schema: Any) -> Any:
    return MCPToOpenAIConverter.convert_tool({"name": "t", "description": "d", "inputSchema": schema})["function"][
        "parameters"
    ]


def test_the_definition_of_sections_2_and_3_converts_as_written() -> None:
    assert MCPToOpenAIConverter.convert_tool(BUILD_MODEL) == BUILT_MODEL


def test_the_full_conversion_of_section_6_is_reproduced_to_the_letter() -> None:
    assert json.dumps(MCPToOpenAIConverter.convert_tool(GAPFILL_MODEL)) == json.dumps(GAPFILLED_MODEL)


def test_the_conversion_test_of_section_7_passes() -> None:
    openai_tool = MCPToOpenAIConverter.convert_tool(
        {
            "name": "build_model",
            "description": "Build a metabolic model",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "model_id": {"type": "string", "description": "Model ID"},
                    "template": {"type": "string", "description": "Template name", "default": "auto"},
                },
                "required": ["model_id"],
            },
        }
    )
    assert openai_tool == {
        "type": "function",
        "function": {
            "name": "build_model",
            "description": "Build a metabolic model",
            "parameters": {
                "type": "object",
                "properties": {
                    "model_id": {"type": "string", "description": "Model ID"},
                    "template": {"type": "string", "description": "Template name"},
                },
                "required": ["model_id"],
            },
        },
    }


def test_all_tools_are_converted_in_their_order_and_every_one_has_an_object_of_parameters() -> None:
    bare = {"name": "ping", "description": "Ping.", "inputSchema": {}}
    assert MCPToOpenAIConverter.convert_all_tools([GAPFILL_MODEL, BUILD_MODEL, bare]) == [
        GAPFILLED_MODEL,
        BUILT_MODEL,
        {
            "type": "function",
            "function": {"name": "ping", "description": "Ping.", "parameters": {"type": "object", "properties": {}}},
        },
    ]


def test_no_tools_are_no_functions() -> None:
    assert MCPToOpenAIConverter.convert_all_tools([]) == []


def test_the_descriptions_that_section_9_advises_are_kept() -> None:
    properties = {
        "target_reaction": {"type": "string", "description": "Target reaction to enable (default: 'bio1')"},
        "genome_source": {
            "type": "string",
            "enum": ["rast_id", "fasta_file", "annotation_dict"],
            "description": "Source type for genome data. Must be one of: 'rast_id', 'fasta_file', or 'annotation_dict'",
        },
    }
    assert parameters_of({"type": "object", "properties": properties}) == {"type": "object", "properties": properties}


def test_a_default_goes_at_every_level_where_it_is_a_keyword() -> None:
    number = {"type": "integer", "default": 1}
    schema = {
        "type": "object",
        "default": {},
        "properties": {
            "nested": {
                "type": "object",
                "properties": {"deep": {"type": "object", "properties": {"n": number}, "default": {}}},
            },
            "list": {"type": "array", "items": number, "default": []},
            "tuple": {"type": "array", "prefixItems": [number], "items": False},
            "map": {"type": "object", "additionalProperties": number, "patternProperties": {"^n": number}},
            "union": {"anyOf": [number, {"oneOf": [{"type": "null"}, number]}], "default": None},
            "untyped": {"properties": {"n": number}},
            "shared": {"$ref": "#/$defs/number"},
        },
        "$defs": {"number": number},
    }
    bare = {"type": "integer"}
    assert parameters_of(schema) == {
        "type": "object",
        "properties": {
            "nested": {"type": "object", "properties": {"deep": {"type": "object", "properties": {"n": bare}}}},
            "list": {"type": "array", "items": bare},
            "tuple": {"type": "array", "prefixItems": [bare], "items": False},
            "map": {"type": "object", "additionalProperties": bare, "patternProperties": {"^n": bare}},
            "union": {"anyOf": [bare, {"oneOf": [{"type": "null"}, bare]}]},
            "untyped": {"properties": {"n": bare}},
            "shared": {"$ref": "#/$defs/number"},
        },
        "$defs": {"number": bare},
    }


def test_a_property_named_default_and_a_default_inside_data_stay() -> None:
    schema = {
        "type": "object",
        "properties": {
            "default": {"type": "string", "default": "x"},
            "settings": {"type": "object", "properties": {"default": {"type": "boolean"}}, "required": ["default"]},
            "choice": {"enum": [{"default": 1}, {"default": 2}]},
            "only": {"const": {"default": 3}},
        },
        "required": ["default"],
    }
    assert parameters_of(schema) == {
        "type": "object",
        "properties": {
            "default": {"type": "string"},
            "settings": {"type": "object", "properties": {"default": {"type": "boolean"}}, "required": ["default"]},
            "choice": {"enum": [{"default": 1}, {"default": 2}]},
            "only": {"const": {"default": 3}},
        },
        "required": ["default"],
    }


def test_the_input_is_never_changed_not_even_through_the_output() -> None:
    tool = copy.deepcopy(BUILD_MODEL)
    converted = MCPToOpenAIConverter.convert_tool(tool)
    converted["function"]["parameters"]["required"].append("template")
    converted["function"]["parameters"]["properties"]["genome_source"]["enum"].clear()
    assert tool == BUILD_MODEL


def test_a_missing_description_is_empty_and_a_missing_schema_is_an_empty_object() -> None:
    empty = {
        "type": "function",
        "function": {"name": "ping", "description": "", "parameters": {"type": "object", "properties": {}}},
    }
    assert MCPToOpenAIConverter.convert_tool({"name": "ping"}) == empty
    assert MCPToOpenAIConverter.convert_tool({"name": "ping", "description": None, "inputSchema": None}) == empty


def test_a_tool_as_the_sdk_lists_it_converts_like_its_dict() -> None:
    tool = SdkTool(
        name=BUILD_MODEL["name"], description=BUILD_MODEL["description"], input_schema=BUILD_MODEL["inputSchema"]
    )
    assert MCPToOpenAIConverter.convert_all_tools([tool]) == [BUILT_MODEL]


@pytest.mark.parametrize(
    "schema",
    [
        "not a schema", 7, [], True, {"type": "string"}, {"type": "object", "properties": "none"},
        {"type": "object", "properties": {"a": None}}, {"type": ["object", "null"]}, {"anyOf": [{"type": "string"}]},
    ],
    ids=repr,
)  # fmt: skip
def test_junk_for_a_schema_still_gives_a_function_with_an_object_of_parameters(schema: Any) -> None:
    converted = MCPToOpenAIConverter.convert_tool({"name": "odd", "description": "Odd.", "inputSchema": schema})
    parameters = converted["function"].pop("parameters")
    assert converted == {"type": "function", "function": {"name": "odd", "description": "Odd."}}
    assert parameters["type"] == "object"
    assert isinstance(parameters["properties"], dict)


def test_a_schema_nested_a_hundred_thousand_deep_does_no_harm() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(100_000):
        schema = {"type": "object", "properties": {"a": schema}}
    assert parameters_of(schema)["type"] == "object"


def test_a_schema_that_is_no_object_at_all_is_offered_without_arguments_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert parameters_of({"type": "string"}) == {"type": "object", "properties": {}}
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages[0].startswith("t is offered without arguments: ")


def test_a_nameless_entry_is_left_out_of_the_list_with_a_warning_and_refused_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert MCPToOpenAIConverter.convert_all_tools([{"description": "nameless"}, GAPFILL_MODEL]) == [GAPFILLED_MODEL]
    assert caplog.messages == ["Left out of the OpenAI tools: entry 0 has no name"]
    with pytest.raises(MCPToolError, match="has no name"):
        MCPToOpenAIConverter.convert_tool({"description": "nameless"})
