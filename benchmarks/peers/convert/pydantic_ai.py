"""Pydantic AI: a `ToolDefinition`, rewritten by the transformer of the model's profile, written by the model."""

from mcp.types import Tool
from pydantic_ai.models import _customize_tool_def as customized
from pydantic_ai.tools import ToolDefinition

PACKAGES = ("pydantic-ai-slim", "openai", "anthropic", "google-genai", "mcp")
DEFAULTS = ("openai auto", "anthropic", "gemini")


def read(tool):
    return Tool.model_validate(tool)


def defined(tool, strict):
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema, strict=strict
    )


def openai(strict):
    def connect():
        from pydantic_ai.models.openai import OpenAIChatModel

        model = OpenAIChatModel("gpt-5.1")
        rewrite = model.profile["json_schema_transformer"]
        return lambda tool: model._map_tool_definition(customized(rewrite, defined(tool, strict)), {})

    return connect


def anthropic():
    from pydantic_ai.models.anthropic import AnthropicModel

    model = AnthropicModel("claude-sonnet-4-6")
    rewrite = model.profile["json_schema_transformer"]
    return lambda tool: model._map_tool_definition(customized(rewrite, defined(tool, None)), {}, visibility="visible")


def gemini():
    from pydantic_ai.models.google import GoogleModel, _function_declaration_from_tool

    rewrite = GoogleModel("gemini-3-pro-preview").profile["json_schema_transformer"]
    return lambda tool: _function_declaration_from_tool(customized(rewrite, defined(tool, None)))


TARGETS = {
    "openai": openai(False),
    "openai strict": openai(True),
    "openai auto": openai(None),
    "anthropic": anthropic,
    "gemini": gemini,
}
