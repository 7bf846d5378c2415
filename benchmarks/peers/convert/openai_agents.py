"""OpenAI Agents SDK: `MCPUtil` makes a function tool, the Chat Completions converter writes it."""

from agents.mcp import MCPServerStdio
from agents.mcp.util import MCPUtil
from agents.models.chatcmpl_converter import Converter
from mcp.types import Tool

PACKAGES = ("openai-agents", "openai", "mcp")
DEFAULTS = ("openai",)
SERVER = MCPServerStdio({"command": "true"}, name="bench")


def read(tool):
    return Tool.model_validate(tool)


def openai(strict):
    def connect():
        return lambda tool: Converter.tool_to_openai(MCPUtil.to_function_tool(tool, SERVER, strict))

    return connect


TARGETS = {"openai": openai(False), "openai strict": openai(True)}
