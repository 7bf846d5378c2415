"""LiteLLM: its MCP client's transforms, then what its OpenAI and Gemini transports do to the tools of a request."""

from litellm.experimental_mcp_client import tools as client
from mcp.types import Tool

PACKAGES = ("litellm", "mcp")
DEFAULTS = ("openai", "anthropic", "gemini openapi")
PASSED_THROUGH = ("anthropic",)


def read(tool):
    return Tool.model_validate(tool)


def openai():
    from litellm.litellm_core_utils.prompt_templates import common_utils

    flattened = common_utils.flatten_combinators_and_drop_non_python_regex_patterns

    def write(tool):
        made = client.transform_mcp_tool_to_openai_tool(tool)
        made["function"]["parameters"] = flattened(made["function"]["parameters"])
        return made

    return write


def gemini():
    from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import VertexGeminiConfig

    config = VertexGeminiConfig()
    return lambda tool: config._map_function([client.transform_mcp_tool_to_openai_tool(tool)], optional_params={})


TARGETS = {"openai": openai, "anthropic": lambda: client.transform_mcp_tool_to_anthropic_tool, "gemini openapi": gemini}
