"""A real server of the SDK over pipes, with one tool: most of its start is the import of the SDK."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer

server = MCPServer("real")


@server.tool()
def echo(text: str) -> str:
    """Gives back the text."""
    return text


if __name__ == "__main__":
    server.run()
