"""anthropic: the SDK's own way from an MCP tool to a tool of its runner."""

from unittest.mock import MagicMock

from anthropic.lib.tools.mcp import async_mcp_tool
from mcp.types import Tool

PACKAGES = ("anthropic", "mcp")
DEFAULTS = ("anthropic",)
PASSED_THROUGH = ("anthropic",)
NOBODY = MagicMock()


def read(tool):
    return Tool.model_validate(tool)


TARGETS = {"anthropic": lambda: lambda tool: async_mcp_tool(tool, NOBODY).to_dict()}
