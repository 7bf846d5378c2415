"""google-genai: the SDK's own way from an MCP tool to a function declaration."""

from google.genai._mcp_utils import mcp_to_gemini_tool
from mcp.types import Tool

PACKAGES = ("google-genai", "mcp")
DEFAULTS = ("gemini openapi",)


def read(tool):
    return Tool.model_validate(tool)


TARGETS = {"gemini openapi": lambda: mcp_to_gemini_tool}
