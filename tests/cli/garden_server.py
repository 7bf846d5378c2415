"""A small MCP server over stdio that has something of everything, for the tests of the commands.

    garden_server.py [LEDGER]

It writes a line into the ledger when it starts, when a long call begins, and when that call is cancelled.
"""

from __future__ import annotations

import base64
import os
import struct
import sys
import zlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import mcp_types
from mcp.server import CacheHint
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

LEDGER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
READ_ONLY = mcp_types.ToolAnnotations(read_only_hint=True, open_world_hint=False)


def note(line: str) -> None:
    if LEDGER is not None:
        with LEDGER.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def pixel() -> bytes:
    """A picture of one green pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0\xff\0")) + chunk(b"IEND", b"")
    )


server = MCPServer(
    "garden", version="1.2.3", cache_hints={"tools/list": CacheHint(ttl_ms=3_600_000)}, log_level="ERROR"
)


@server.tool(annotations=READ_ONLY)
def find_plants(
    query: Annotated[str, Field(min_length=2, description="What to look for.")],
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    in_bloom: bool | None = None,
) -> str:
    """Find plants by name. The second sentence is not in the table."""
    return f"{query!r} {limit!r} {in_bloom!r}"


class Colour(StrEnum):
    red = "red"
    blue = "blue"


class Bed(BaseModel):
    number: int
    name: str = "bed"


@server.tool(annotations=mcp_types.ToolAnnotations(destructive_hint=True, idempotent_hint=True))
def plant(
    bed: Bed,
    colours: list[Colour] | None = None,
    depths: list[int] | None = None,
    labels: dict[str, str] | None = None,
    note: str | int = "",
    weight: float = 1.0,
) -> dict[str, Any]:
    """Plant something in a bed."""
    return {
        "bed": bed.model_dump(),
        "colours": [each.value for each in colours or []],
        "depths": depths,
        "labels": labels,
        "note": note,
        "weight": weight,
    }


@server.tool(annotations=mcp_types.ToolAnnotations(destructive_hint=False))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def say(text: str) -> str:
    """Say a text as it is."""
    return text


@server.tool()
def fail(why: str) -> str:
    """Fail."""
    raise ToolError(f"{why}, {os.environ.get('GARDEN_TOKEN', 'no token')}")


@server.tool(structured_output=False)
def picture(count: int = 1) -> list[Any]:
    """Draw pictures."""
    data = base64.b64encode(pixel()).decode()
    return [
        mcp_types.TextContent(type="text", text="Here it is:"),
        *[mcp_types.ImageContent(type="image", data=data, mime_type="image/png") for _ in range(count)],
        mcp_types.AudioContent(type="audio", data=base64.b64encode(b"RIFF").decode(), mime_type="audio/wav"),
        mcp_types.EmbeddedResource(
            type="resource",
            resource=mcp_types.BlobResourceContents(
                uri="garden://../../etc/passwd", mime_type="application/x-seed", blob=base64.b64encode(b"seed").decode()
            ),
        ),
    ]


@server.tool(structured_output=False)
def link() -> list[Any]:
    """Name a resource."""
    return [
        mcp_types.ResourceLink(
            type="resource_link", uri="garden://plan", name="plan", mime_type="text/plain", description="The plan."
        )
    ]


@server.tool()
async def grow(ctx: Context, steps: int = 4, pause: float = 0.0, total: bool = True) -> str:
    """Grow slowly, and say how far it is."""
    for i in range(1, steps + 1):
        await ctx.report_progress(i, steps if total else None, f"leaf {i}")
        await anyio.sleep(pause)
    return "grown"


@server.tool()
async def wait(seconds: float) -> str:
    """Wait."""
    note("began")
    try:
        await anyio.sleep(seconds)
    except BaseException:
        note("cancelled")
        raise
    note("waited")
    return "waited"


class Booking(BaseModel):
    name: str = Field(description="Who comes.")
    guests: int = Field(default=2, ge=1, le=8)
    colour: Literal["red", "blue"] = Field(description="Which one.")
    tea: bool = True
    remark: str | None = None


@server.tool()
async def book(ctx: Context) -> str:
    """Ask for a booking."""
    answer = await ctx.elicit("Who may come?\nTell us.", Booking)
    return f"{answer.action}: {answer.data!r}" if answer.action == "accept" else answer.action


@server.tool()
async def visit(ctx: Context) -> str:
    """Ask to open an address."""
    answer = await ctx.elicit_url("Please look.", "https://garden.example/visit", "1")
    return answer.action


@server.tool()
async def chat(ctx: Context) -> str:
    """Write a log."""
    data = f"watering\x1b[31m with {os.environ.get('GARDEN_TOKEN', 'nothing')}"
    await ctx.info(data)  # pyright: ignore[reportDeprecated]
    return "done"


@server.tool()
def secrets() -> str:
    """Tell what it was given."""
    return str(len(os.environ.get("GARDEN_TOKEN", "")))


@server.tool(meta={"openai/visibility": "private"})
def settle() -> str:
    """Only for the application itself."""
    return "settled"


@server.tool(name="e\x1b[2Jvil", description="A des\x1b]0;title\x07cription\u202e.\nMore.")
def evil() -> str:
    return "red \x1b[31mtext\r\nand \u202eback\x9b2J \r over, 你好\u3000e\u0301 👩\u200d🌾\u00a0!"


@server.resource("garden://plan", name="plan", mime_type="text/plain", description="The plan. And more of it.")
def plan() -> str:
    return "beds \x1b[31mand paths\n"


@server.resource("garden://photo.png", name="photo", mime_type="image/png")
def photo() -> bytes:
    return pixel()


@server.resource("garden://beds/{number}", name="bed", mime_type="text/plain")
def bed_resource(number: str) -> str:
    return f"bed {number}"


@server.prompt(description="Describe a plant. In words.")
def describe(plant: str, tone: str = "dry") -> str:
    return f"Describe {plant} in a {tone} tone."


if __name__ == "__main__":
    note(f"started {os.getpid()}")
    server.run()
