"""What the loop itself costs a turn: everything but the model and the tools.

    python benchmarks/loop.py [--save]

The model is one that answers at once, in this process; the server is in memory. The time that both take is measured
and taken off. A turn is: the history written, the request made, the reply read, its call resolved, allowed and run, the
result kept. Processor time, the median of many turns, at different numbers of tools and lengths of history; then the
memory of a thousand turns.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from toolbridge import Approval, Chat, Done, Message, RunLimits, Text, connect, get_provider
from toolbridge.providers import Provider

RESULTS = Path(__file__).parent / "results" / "loop.md"
PARAMETERS = {"city": "str", "days": "int = 3", "units": "str = 'metric'"}


class Instant:
    """A model that calls a tool so many times and then answers, all at once."""

    most_tools = None
    context_tokens = None
    name = "instant"

    def __init__(self, provider: str, tool: str, turns: int) -> None:
        self.provider: Provider = get_provider(provider)
        self.tool = tool
        self.turns = turns
        self.asked = 0
        self.seconds = 0.0

    async def stream(self, fields: Mapping[str, Any]) -> AsyncGenerator[Any]:
        began = time.perf_counter()
        self.asked += 1
        if self.asked % (self.turns + 1):
            call = {"name": self.tool, "arguments": json.dumps({"city": f"Zürich {self.asked}"})}
            delta: Any = {"tool_calls": [{"index": 0, "id": f"call_{self.asked}", "function": call}]}
        else:
            delta = {"content": "That was all."}
        chunks = [{"choices": [{"delta": delta}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
        self.seconds += time.perf_counter() - began
        for chunk in chunks:
            yield chunk

    async def close(self) -> None:
        pass


def server(tools: int) -> MCPServer:
    made = MCPServer("bench")

    def forecast(city: str, days: int = 3, units: str = "metric") -> str:
        return "sunny"

    for i in range(tools):
        made.add_tool(forecast, name=f"forecast_{i}", description=f"The weather of a city, by service number {i}.")
    return made


async def measure(tools: int, history: int, turns: int = 40) -> tuple[float, float]:
    """(the first turn, the median of the others), in milliseconds of the loop's own."""
    async with connect({"bench": server(tools)}) as hub:
        model = Instant("openai-chat", "mcp__bench__forecast_7", turns)
        inside = 0.0
        run = hub.run

        async def timed(*arguments: Any, **options: Any) -> Any:
            nonlocal inside
            began = time.perf_counter()
            try:
                return await run(*arguments, **options)
            finally:
                inside += time.perf_counter() - began

        hub.run = timed  # type: ignore[method-assign]
        pair = (Message.user("A question?"), Message.assistant(Text("Yes.")))
        before = pair * (history // 2)
        chat = Chat(
            hub, model, history=before, approval=Approval("never"), limits=RunLimits(turns=None, result_tokens=25_000),
            tool_tokens=None if tools <= 100 else 20_000,
        )  # fmt: skip
        took: list[float] = []
        last, last_off = time.perf_counter(), 0.0
        async for event in chat.say("What is the weather?"):
            if type(event).__name__ == "Replied":
                now, off = time.perf_counter(), inside + model.seconds
                took.append((now - last - (off - last_off)) * 1000)
                last, last_off = now, off
            assert not isinstance(event, Done) or event.stopped is None, event
        return took[0], statistics.median(took[1:])


async def memory(turns: int) -> list[tuple[int, float]]:
    """(turns, megabytes above the start) of questions asked one after the other."""
    async with connect({"bench": server(50)}) as hub:
        out: list[tuple[int, float]] = []
        start = 0.0
        for i in range(turns):
            chat = Chat(hub, Instant("openai-chat", "mcp__bench__forecast_7", 1), approval=Approval("never"))
            async for _ in chat.say("What is the weather?"):
                pass
            if i + 1 in (100, turns // 2, turns):
                gc.collect()
                used = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
                start = start or used
                out.append((i + 1, used - start))
        return out


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    save = options.parse_args().save
    lines = ["| tools | history | first turn, ms | a turn, ms |", "|---|---|---|---|"]
    for tools, history in ((1, 0), (50, 0), (50, 100), (50, 1_000), (200, 0), (2_000, 0), (2_000, 100)):
        first, usual = asyncio.run(measure(tools, history))
        lines.append(f"| {tools:,} | {history:,} messages | {first:.2f} | {usual:.2f} |")
        print(lines[-1], flush=True)
    lines += ["", "| turns | memory above that of 100, MB |", "|---|---|"]
    for turns, more in asyncio.run(memory(1_000)):
        lines.append(f"| {turns:,} | {more:.1f} |")
        print(lines[-1], flush=True)
    if save:
        RESULTS.write_text("# The loop's own cost\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
