"""MCP tools in OpenAI's and in Gemini's form, as the ChatGPT provider's design has them.

Thin over the core, whose way is `prepare(tools, provider).definitions`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolbridge.apps import visible
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.tools import read_tools

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
            "parameters": _schema(tool) or {},
        }
        for tool in _named(mcp_tools)
    ]
    return [{"type": "function", "function": each} for each in functions] or None


def mcp_tools_to_gemini_format(mcp_tools: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Gemini's `tools` with every declaration in one of them, or `None` where there are none.

    The core way: `prepare(read_tools(mcp_tools), "gemini-openapi")`, whose `resolve` reads the calls.
    """
    return gemini_declarations(gemini_tools(mcp_tools))


def gemini_tools(mcp_tools: Iterable[Mapping[str, Any]] | None) -> PreparedTools:
    """The tools for Gemini, with the way back from its calls. What it cannot take is left out with a warning."""
    tools = [{**tool, "inputSchema": _schema(tool) or NO_ARGUMENTS} for tool in _named(mcp_tools)]
    ready = prepare(read_tools(tools), "gemini-openapi")
    for id, why in ready.left_out.items():
        logger.warning("Skipping MCP tool %s: %s", id, why)
    return ready


def gemini_declarations(tools: PreparedTools) -> list[dict[str, Any]] | None:
    """All declarations in one tool, or `None` where there are none."""
    declarations = [{"name": each["name"], "description": "", **each} for each in tools.definitions]
    return [{"function_declarations": declarations}] if declarations else None


def _schema(tool: Mapping[str, Any]) -> Any:
    return tool.get("inputSchema") or tool.get("input_schema")  # as an SDK dumps its models without aliases


def _named(mcp_tools: Iterable[Mapping[str, Any]] | None) -> Iterator[Mapping[str, Any]]:
    """The tools that have a name and are not kept from models."""
    for tool in mcp_tools or ():
        if isinstance(tool, Mapping) and tool.get("name"):
            if visible(tool):
                yield tool
        else:
            logger.warning("Skipping MCP tool without name.")
