"""Names of the ChatGPT provider's design: MCP tools, calls and histories in OpenAI's and in Gemini's form.

Thin over the core, for programs written against that design. The core way is `prepare(tools, provider)`, whose
answer also reads the calls that come back (Gemini's form needs that where a map or a free-form value changed shape),
`read_stream(provider, chunks)` for replies and `provider.write_messages(history)` for histories.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolbridge.compat.chatgpt_calls import (
    GeminiToolCallAssembler,
    OpenAIToolCallAssembler,
    parse_gemini_tool_call,
    parse_openai_tool_call,
)
from toolbridge.compat.chatgpt_history import ChatGPTProvider, GeminiProvider, content_to_text, format_history
from toolbridge.prepare import prepare
from toolbridge.tools import read_tools

__all__ = [
    "ChatGPTProvider",
    "GeminiProvider",
    "GeminiToolCallAssembler",
    "OpenAIToolCallAssembler",
    "content_to_text",
    "format_history",
    "mcp_tools_to_gemini_format",
    "mcp_tools_to_openai_format",
    "parse_gemini_tool_call",
    "parse_openai_tool_call",
]

logger = logging.getLogger(__name__)

NO_ARGUMENTS = {"type": "object", "properties": {}}
"""What a tool without a schema takes."""


def mcp_tools_to_openai_format(mcp_tools: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """OpenAI's `tools`, or `None` where there are none; names and schemas as they are.

    The core way: `prepare(read_tools(mcp_tools), "openai-chat").definitions`, whose every definition is legal.
    """
    functions = [
        {
            "name": tool["name"],
            "description": tool.get("description") or "",
            "parameters": tool.get("inputSchema") or {},
        }
        for tool in _named(mcp_tools)
    ]
    return [{"type": "function", "function": each} for each in functions] or None


def mcp_tools_to_gemini_format(mcp_tools: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Gemini's `tools` with every declaration in one of them, or `None` where there are none.

    The core way: `prepare(read_tools(mcp_tools), "gemini-openapi")`, whose `resolve` reads the calls.
    """
    tools = [{**tool, "inputSchema": tool.get("inputSchema") or NO_ARGUMENTS} for tool in _named(mcp_tools)]
    ready = prepare(read_tools(tools), "gemini-openapi")
    for id, why in ready.left_out.items():
        logger.warning("Skipping MCP tool %s: %s", id, why)
    declarations = [{"name": each["name"], "description": "", **each} for each in ready.definitions]
    return [{"function_declarations": declarations}] if declarations else None


def _named(mcp_tools: Iterable[Mapping[str, Any]] | None) -> Iterator[Mapping[str, Any]]:
    for tool in mcp_tools or ():
        if isinstance(tool, Mapping) and tool.get("name"):
            yield tool
        else:
            logger.warning("Skipping MCP tool without name.")
