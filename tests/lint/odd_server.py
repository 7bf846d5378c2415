"""A server whose tools answer in ways that they should not: the tests of `examine` start it over stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

server = MCPServer("odd", version="0.3.0", instructions="Nothing here is as it seems.")

READS = ToolAnnotations(read_only_hint=True)


def result(text: str | None, structured: dict[str, Any] | None = None, error: bool = False) -> CallToolResult:
    blocks = [] if text is None else [TextContent(type="text", text=text)]
    return CallToolResult(content=list(blocks), structured_content=structured, is_error=error)


@server.tool(annotations=READS)
def find_bed(plant: Annotated[str, Field(min_length=2)]) -> dict[str, str]:
    """Find a bed, as one should."""
    return {"bed": plant}


@server.tool(annotations=READS, structured_output=False)
def find_gone(plant: str) -> str:
    """Tell of an error as if it were none."""
    return '{"error": "no such plant"}'


@server.tool(annotations=READS, structured_output=False)
def find_mute(plant: str) -> CallToolResult:
    """Fail without a word."""
    return result(None, error=True)


@server.tool(annotations=READS, structured_output=False)
def find_wordless() -> CallToolResult:
    """Send structured content only."""
    return result(None, {"bed": "B2"})


@server.tool(annotations=READS, structured_output=False)
async def find_slowly() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return ""


@server.tool(annotations=READS, structured_output=False)
def find_end() -> str:
    """Take the server down."""
    sys.stdout.flush()
    os._exit(3)


@server.tool(annotations=READS, structured_output=False)
def find_nothing(never: Annotated[int, Field(ge=5, le=4)]) -> str:
    """Take what nobody can give."""
    return ""


@server.tool(annotations=READS, structured_output=False)
def find_last() -> str:
    """Answer after all that."""
    return "B2"


@server.tool()
def dig_bed(bed: str) -> str:
    """Change something: nobody may try it."""
    os._exit(4)


@server.resource("odd://beds", mime_type="text/plain")
def beds() -> str:
    """The beds."""
    return "B2"


@server.resource("odd://beds/{name}", mime_type="text/html")
def bed(name: str) -> str:
    """A bed."""
    return name


if __name__ == "__main__":
    server.run()
