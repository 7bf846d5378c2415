"""LangChain: the MCP adapter makes a tool object, and the model packages turn that into a definition."""

from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from mcp.types import Tool

PACKAGES = ("langchain-mcp-adapters", "langchain-core", "langchain-openai", "langchain-google-genai", "mcp")
DEFAULTS = ("openai", "anthropic", "gemini openapi")
NOWHERE = {"transport": "stdio", "command": "true", "args": []}


def read(tool):
    return Tool.model_validate(tool)


def wrapped(tool):
    return convert_mcp_tool_to_langchain_tool(None, tool, connection=NOWHERE)


def openai(strict):
    def connect():
        from langchain_core.utils.function_calling import convert_to_openai_tool

        return lambda tool: convert_to_openai_tool(wrapped(tool), strict=strict)

    return connect


def anthropic():
    from langchain_anthropic.chat_models import convert_to_anthropic_tool

    return lambda tool: convert_to_anthropic_tool(wrapped(tool))


def gemini():
    from langchain_google_genai._function_utils import convert_to_genai_function_declarations

    return lambda tool: convert_to_genai_function_declarations([wrapped(tool)])


TARGETS = {"openai": openai(None), "openai strict": openai(True), "anthropic": anthropic, "gemini openapi": gemini}
