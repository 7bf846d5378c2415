"""mcp-use: its adapters for the vendors' SDKs. Its agent has an adapter of its own: `mcp_use_agent.py`."""

from mcp.types import Tool
from mcp_use.client.connectors.stdio import StdioConnector

PACKAGES = ("mcp-use", "openai", "anthropic", "google-genai", "mcp")
DEFAULTS = ("openai", "anthropic", "gemini")
NOWHERE = StdioConnector(command="true", args=[])


def read(tool):
    return Tool.model_validate(tool)


def target(module, name):
    def connect():
        adapter = getattr(__import__(f"mcp_use.agents.adapters.{module}", fromlist=[name]), name)()
        return lambda tool: adapter._convert_tool(tool, NOWHERE)

    return connect


TARGETS = {
    "openai": target("openai", "OpenAIMCPAdapter"),
    "anthropic": target("anthropic", "AnthropicMCPAdapter"),
    "gemini": target("google", "GoogleMCPAdapter"),
}
