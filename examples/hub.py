"""The hub: an mcp.json becomes one live catalogue, and its tools are called.

    python examples/hub.py

The servers are this directory's garden, over stdio in a process of its own, and one that cannot start: it costs its
own tools and nothing else. Everything that is shown is checked.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from toolbridge import BoundCall, Image, ToolCall, connect, prepare

HERE = Path(__file__).parent
SERVERS = {
    "garden": {"command": sys.executable, "args": ["garden_server.py"], "cwd": str(HERE)},
    "shed": {"command": "no-such-shed"},
}


async def main() -> None:
    print("Two servers, of which one cannot start:")
    async with connect({"mcpServers": SERVERS}) as hub:
        for name, status in hub.status.items():
            print(
                f"  {name}: {status.state}, {status.tools} tools" + (f" — {status.failure}" if status.failure else "")
            )
        assert [status.state for status in hub.status.values()] == ["connected", "failed"]

        # By hand: the server's name, the tool's, the arguments.
        found = await hub.call("garden", "find_plants", {"query": "ä"})
        print("Calls of the other:\n  find_plants:", found.structured)
        assert found.structured == {"Gänseblümchen": "A1"}

        # Progress is told while it happens, and keeps the call alive.
        litres: list[float] = []
        await hub.call("garden", "water", {"bed": "B2"}, on_progress=lambda done, total, message: litres.append(done))
        print("  water: progress", *(f"{each:g}" for each in litres))
        assert litres == [1.0, 2.0, 3.0]

        # For a model: prepare the catalogue for its provider, resolve what it calls, run it.
        ready = prepare(hub.tools, "openai-chat")
        call = ToolCall("call_1", "mcp__garden__draw_map", "{}", {})
        bound = ready.resolve(call)
        assert isinstance(bound, BoundCall)
        picture = (await hub.run(bound)).content[0]
        assert isinstance(picture, Image)
        print(f"  draw_map, called by a model as {call.name}: a picture, {picture.mime_type}")


asyncio.run(main())
