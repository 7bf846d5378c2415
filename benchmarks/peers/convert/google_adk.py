"""Google ADK: `McpTool` declares itself, as an agent's request takes it; for OpenAI through its LiteLlm model."""

from unittest.mock import MagicMock

from google.adk.tools.mcp_tool.mcp_session_manager import MCPSessionManager
from google.adk.tools.mcp_tool.mcp_tool import McpTool
from mcp.types import Tool

PACKAGES = ("google-adk", "google-genai", "litellm", "mcp")
DEFAULTS = ("gemini", "openai")
PASSED_THROUGH = ("gemini",)
NOBODY = MagicMock(spec=MCPSessionManager)


def read(tool):
    return Tool.model_validate(tool)


def declared(tool):
    return McpTool(mcp_tool=tool, mcp_session_manager=NOBODY)._get_declaration()


def openai():
    from google.adk.models.lite_llm import _function_declaration_to_tool_param

    return lambda tool: _function_declaration_to_tool_param(declared(tool))


TARGETS = {"openai": openai, "gemini": lambda: declared}
