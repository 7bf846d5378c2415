"""A process that writes to a store, for tests of what happens when there are many, or when one dies.

writer.py WHERE PREFIX many NAME COUNT     COUNT appends of three messages each
writer.py WHERE PREFIX turn                a turn piece by piece, a line of output after each; it ends only when killed
writer.py WHERE PREFIX endless             appends of fifty messages, until it is killed
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count

from toolbridge.store.store import open_store
from toolbridge.types import Message, Text, ToolCall, ToolResult

TURN = (
    Message.user("How is the weather in Zürich and in Bern?"),
    Message.assistant(
        "Let me look.",
        ToolCall("call_1", "weather", '{"city": "Zürich"}', {"city": "Zürich"}),
        ToolCall("call_2", "weather", '{"city": "Bern"}', {"city": "Bern"}),
    ),
    Message.results(ToolResult("call_1", (Text("rain"),))),
)
"""A turn whose process dies between two calls: the second has no result."""

BATCH = 50


async def main(where: str, prefix: str, what: str, *arguments: str) -> None:
    async with open_store(where, prefix=prefix, wait=30) as store:
        if what == "many":
            name, times = arguments
            for number in range(int(times)):
                await store.append("shared", [Message.user(f"{name} {number} {piece}") for piece in range(3)])
        elif what == "turn":
            for message in TURN:
                await store.append("turn", [message])
                print("kept", flush=True)
            await asyncio.Event().wait()
        else:
            for number in count():
                await store.append(
                    "endless", [Message.user(f"{number} {piece} " + "x" * 2000) for piece in range(BATCH)]
                )
                print("kept", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
