"""An MCP server by the SDK that lists exactly what the contract tests say, on two pages, over stdio or HTTP.

users_server.py stdio | PORT
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio
import mcp_types
from mcp.server import CacheHint, Server, ServerRequestContext
from mcp.server.stdio import stdio_server

SEARCH_USERS: dict[str, Any] = {"type": "object", "properties": {"query": {"type": "string"}}}
EITHER: dict[str, Any] = {
    "type": "object",
    "properties": {"limit": {"type": "integer"}, "self": {"type": "string"}},
    "required": ["limit"],
}
TOOLS = [
    mcp_types.Tool(name="search_users", description="Search for users by criteria", input_schema=SEARCH_USERS),
    mcp_types.Tool(name="users/recent users", description="The last ones", input_schema=EITHER),
    mcp_types.Tool(name="gallery", input_schema={"type": "object"}),
    mcp_types.Tool(name="dangerous_tool", description="Fails", input_schema={"type": "object"}),
    mcp_types.Tool(name="surroundings", description="What the server sees of us", input_schema={"type": "object"}),
    mcp_types.Tool(name="private_tool", input_schema={"type": "object"}, _meta={"openai/visibility": "private"}),
]
GALLERY: list[mcp_types.ContentBlock] = [
    mcp_types.TextContent(text="Two users:"),
    mcp_types.ImageContent(data="aGVsbG8=", mime_type="image/png"),
    mcp_types.AudioContent(data="aGVsbG8h", mime_type="audio/wav"),
    mcp_types.ResourceLink(uri="users://2", name="Bo", mime_type="text/plain", description="the second"),
    mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents(uri="users://1", text="Ann")),
    mcp_types.EmbeddedResource(
        resource=mcp_types.BlobResourceContents(uri="users://3", mime_type="application/pdf", blob="aGVsbG8=")
    ),
]


async def list_tools(
    context: ServerRequestContext[Any], params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListToolsResult:
    if params is None or params.cursor is None:
        return mcp_types.ListToolsResult(tools=TOOLS[:2], next_cursor="page 2")
    return mcp_types.ListToolsResult(tools=TOOLS[2:])


async def call_tool(
    context: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams
) -> mcp_types.CallToolResult:
    arguments = params.arguments or {}
    match params.name:
        case "gallery":
            return mcp_types.CallToolResult(content=GALLERY, structured_content={"users": 2})
        case "dangerous_tool":
            return said("it did not work", is_error=True)
        case "surroundings":
            headers = dict(context.request.headers) if context.request is not None else {}
            seen = {"place": os.getcwd(), "colour": os.environ.get("COLOUR"), "colour-header": headers.get("colour")}
            return said(json.dumps(seen))
        case name:
            return said(f"{name} {json.dumps(arguments, sort_keys=True)}")


def said(text: str, *, is_error: bool = False) -> mcp_types.CallToolResult:
    return mcp_types.CallToolResult(content=[mcp_types.TextContent(text=text)], is_error=is_error)


server: Server[Any] = Server(
    "users",
    version="1.0",
    cache_hints={"tools/list": CacheHint(ttl_ms=3_600_000)},
    on_list_tools=list_tools,
    on_call_tool=call_tool,
)


async def over_pipes() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(over_pipes)
    else:
        import uvicorn

        uvicorn.run(server.streamable_http_app(), port=int(sys.argv[1]), log_level="error")
