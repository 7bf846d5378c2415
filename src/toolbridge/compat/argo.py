"""Names of the Argo guide: an MCP tool as an OpenAI function, with its `default` keywords taken out.

Thin over the core, for programs that were written against that guide. The core way is `prepare(tools, "openai-chat")`:
it also says the defaults in the descriptions, spells names, notes what it changes and reads the calls that come back.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable
from typing import Any

from toolbridge.errors import MCPToolError
from toolbridge.providers.openai_chat import PROVIDER
from toolbridge.schema.convert import TooLarge, convert
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP
from toolbridge.schema.root import NotAnObject
from toolbridge.tools import read_tools
from toolbridge.types import Tool

logger = logging.getLogger(__name__)


class MCPToOpenAIConverter:
    """MCP tools as OpenAI functions. The core way: `prepare(tools, "openai-chat").definitions`."""

    @staticmethod
    def convert_tool(mcp_tool: Any) -> dict[str, Any]:
        """One tool; `MCPToolError` where it has no name. The tool that is given stays as it is."""
        (tool,) = read_tools([mcp_tool])
        if tool.problem is not None:
            raise MCPToolError(f"not an MCP tool: {tool.problem}")
        return _function(tool)

    @staticmethod
    def convert_all_tools(mcp_tools: Iterable[Any]) -> list[dict[str, Any]]:
        """All tools, in their order; an entry that is no tool is left out with a warning."""
        functions: list[dict[str, Any]] = []
        for tool in read_tools(mcp_tools):
            if tool.problem is None:
                functions.append(_function(tool))
            else:
                logger.warning("Left out of the OpenAI tools: %s", tool.problem)
        return functions


def _function(tool: Tool) -> dict[str, Any]:
    try:
        schema = convert(tool.input_schema, PROVIDER.dialect).schema
    except (TooLarge, NotAnObject) as failure:
        logger.warning("%s is offered without arguments: %s", tool.id, failure)
        schema = {"type": "object", "properties": {}}
    parameters = copy.deepcopy(_without_defaults(schema))
    return {
        "type": "function",
        "function": {"name": tool.id.name, "description": tool.description, "parameters": parameters},
    }


def _without_defaults(schema: Any) -> Any:
    """A sound schema without the keyword `default`; a property of that name, or one inside an enum, is no keyword."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in SCHEMA_IN_VALUE:
            out[keyword] = _without_defaults(value)
        elif keyword in SCHEMAS_IN_LIST:
            out[keyword] = [_without_defaults(each) for each in value]
        elif keyword in SCHEMAS_IN_MAP:
            out[keyword] = {key: _without_defaults(each) for key, each in value.items()}
        elif keyword != "default":
            out[keyword] = value
    return out
