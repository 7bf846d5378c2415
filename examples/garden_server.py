"""A small MCP server: a garden with a few plants. It speaks over stdin and stdout until its input ends.

python examples/garden_server.py          # by hand there is nothing to see: it waits for messages
toolbridge tools --config examples/mcp.json
"""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ImageContent, ToolAnnotations
from pydantic import Field

PLANTS = {"rose": "B2", "fern": "C4", "daisy": "A1", "Gänseblümchen": "A1"}

Bed = Literal["A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4", "C1", "C2", "C3", "C4"]

server = MCPServer("garden", version="1.0.0", instructions="Ask before you water: it is a small garden.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def find_plants(
    query: Annotated[str, Field(description="Part of a plant's name.")],
    limit: Annotated[int, Field(description="How many at most, from 1 to 50.", ge=1, le=50)] = 10,
) -> dict[str, str]:
    """Find plants by name, and the beds they grow in. Use it when a plant is named."""
    found = {plant: bed for plant, bed in PLANTS.items() if query.casefold() in plant.casefold()}
    return dict(list(found.items())[:limit])


@server.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=False))
async def water(
    context: Context[None],
    bed: Annotated[Bed, Field(description="The bed, such as B2.")],
    litres: Annotated[int, Field(description="How much water, from 1 to 20.", ge=1, le=20)] = 3,
) -> str:
    """Water a bed, one litre after the other."""
    for litre in range(1, litres + 1):
        await context.report_progress(litre, litres, f"litre {litre}")
    return f"{bed} has had {litres} litres."


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False), structured_output=False)
def draw_map() -> list[ImageContent]:
    """Draw a map of the beds: green where something grows. Use it to show the garden; it returns a picture."""
    beds = [f"{row}{column}" for row in "ABC" for column in range(1, 5)]
    colours = [b"\x2e\x8b\x57" if bed in PLANTS.values() else b"\x8b\x5a\x2b" for bed in beds]
    rows = [b"\0" + b"".join(colours[row : row + 4]) for row in range(0, 12, 4)]
    picture = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", 4, 3, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(b"".join(rows))),
            (b"IEND", b""),
        )
    )
    return [ImageContent(type="image", data=base64.b64encode(picture).decode(), mime_type="image/png")]


@server.resource("garden://plants", mime_type="text/plain")
def plants() -> str:
    """Every plant and its bed."""
    return "\n".join(f"{plant}: {bed}" for plant, bed in PLANTS.items())


@server.prompt()
def plan(season: str) -> str:
    """Plan the work of a season."""
    return f"What should be done in the garden in {season}? Look at the plants first."


if __name__ == "__main__":
    server.run()
