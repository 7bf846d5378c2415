"""A server of the protocol without a handshake (2026-07-28), by the SDK, in a process of its own.

    modern_server.py LEDGER stdio
    modern_server.py LEDGER http PORT

It says how long its lists stay fresh, tells who listens when its tools change, and asks for input in the middle of a
call by answering `input_required`.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import anyio
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import Context, Elicit, ListRoots, MCPServer, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel
from tools import Ledger, first_time

LEDGER = Ledger(sys.argv[1] if __name__ == "__main__" else None)
SERVER = MCPServer(
    "modern",
    version="1.0",
    instructions="Be modern.",
    log_level="ERROR",
    cache_hints={"tools/list": CacheHint(ttl_ms=60_000, scope="public")},
)


class Colour(BaseModel):
    colour: str


async def ask_colour() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


async def ask_model() -> Sample:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Say hello."))
    return Sample([message], max_tokens=16)


async def ask_roots() -> ListRoots:
    return ListRoots()


@SERVER.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def echo(text: str) -> str:
    """Says it again."""
    return text


@SERVER.tool(structured_output=False)
def count(key: str) -> str:
    """Writes the key into the ledger."""
    LEDGER.write("count", key=key)
    return f"counted {key}"


def commit_and_die(key: str) -> str:
    LEDGER.write("count", key=key)
    if first_time(LEDGER, key):
        os._exit(7)
    return f"counted {key}"


@SERVER.tool(structured_output=False)
def count_and_die(key: str) -> str:
    """Writes the key into the ledger and dies before it answers, the first time."""
    return commit_and_die(key)


@SERVER.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def count_and_die_read_only(key: str) -> str:
    """The same; says that it is read-only."""
    return commit_and_die(key)


@SERVER.tool()
def weather(city: str) -> dict[str, Any]:
    """Structured content."""
    return {"city": city, "degrees": 21.5}


@SERVER.tool(structured_output=False)
async def change(text: str, context: Context) -> str:
    """Offers a tool of that name from now on."""
    SERVER.add_tool(echo, name=text, description="Came later.")
    await context.notify_tools_changed()
    return "changed"


@SERVER.tool(structured_output=False)
async def work(number: int, context: Context) -> str:
    """Reports progress that many times."""
    for step in range(number):
        await context.report_progress(step + 1, number, f"step {step + 1}")
    return "done"


@SERVER.tool(structured_output=False)
async def hang() -> str:
    """Never answers."""
    LEDGER.write("call", tool="hang")
    try:
        await anyio.sleep_forever()
    finally:
        LEDGER.write("cancelled")
    return ""


@SERVER.tool(structured_output=False)
def paint(thing: str, colour: Annotated[Colour, Resolve(ask_colour)]) -> str:
    """Asks for the colour first."""
    LEDGER.write("count", key=f"{thing} {colour.colour}")
    return f"{thing} is {colour.colour}"


@SERVER.tool(structured_output=False)
def greet(words: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Asks the client's model first."""
    return f"{words.model} says {words.content.text}" if isinstance(words.content, TextContent) else "nothing said"


@SERVER.tool(structured_output=False)
def places(roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> str:
    """Asks for the roots first."""
    return ", ".join(str(root.uri) for root in roots.roots)


def main(way: str, port: int = 0) -> None:
    LEDGER.write("start", pid=os.getpid())
    if way == "stdio":
        SERVER.run("stdio")
    else:
        SERVER.run("streamable-http", host="127.0.0.1", port=port, stateless_http=True)


if __name__ == "__main__":
    main(sys.argv[2], *(int(each) for each in sys.argv[3:]))
