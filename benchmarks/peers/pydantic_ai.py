"""Pydantic AI: a `ToolDefinition` whose schema is rewritten by the transformer in the model's profile."""

from mcp.types import Tool
from pydantic_ai.models import _customize_tool_def as customized
from pydantic_ai.tools import ToolDefinition

PACKAGES = ("pydantic-ai-slim", "mcp")


def read(tool):
    return Tool.model_validate(tool)


def target(module, find, strict=None):
    def connect():
        rewrite = find(__import__(f"pydantic_ai.{module}", fromlist=["*"]))

        def converted(tool):
            schema, name, text = tool.input_schema, tool.name, tool.description
            made = ToolDefinition(name=name, description=text, parameters_json_schema=schema, strict=strict)
            made = customized(rewrite, made)
            parameters = made.parameters_json_schema
            return {"name": made.name, "description": made.description, "parameters": parameters, "strict": made.strict}

        return converted

    return connect


OPENAI = ("providers.openai", lambda at: at.OpenAIProvider.model_profile("gpt-5.1")["json_schema_transformer"])
TARGETS = {
    "openai": target(*OPENAI, strict=False),
    "openai strict": target(*OPENAI, strict=True),
    "openai auto": target(*OPENAI),
    "anthropic": target("providers.anthropic", lambda at: at.AnthropicJsonSchemaTransformer),
    "gemini": target("profiles.google", lambda at: at.GoogleJsonSchemaTransformer),
    "gemini openapi": target("profiles.google", lambda at: at.GoogleOpenAPISchemaTransformer),
}
