"""What the loop itself costs a turn: everything but the model and the tools.

    python benchmarks/loop.py

The model is one that answers at once, in this process; the server is in memory. The time that both take is measured
and taken off. A turn is: the history written, the request made, the reply read, its call resolved, allowed and run, the
result kept. Processor time, the median of many turns, at different numbers of tools and lengths of history; then the
memory of a thousand turns.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import statistics
import time
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from report import Area, Line, Options, Result, main, table

from toolbridge import Approval, Chat, Done, Message, RunLimits, Text, connect, get_provider
from toolbridge.providers import Provider

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
        began = time.process_time()
        self.asked += 1
        if self.asked % (self.turns + 1):
            call = {"name": self.tool, "arguments": json.dumps({"city": f"Zürich {self.asked}"})}
            delta: Any = {"tool_calls": [{"index": 0, "id": f"call_{self.asked}", "function": call}]}
        else:
            delta = {"content": "That was all."}
        chunks = [{"choices": [{"delta": delta}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
        self.seconds += time.process_time() - began
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


async def turns_of(tools: int, history: int, turns: int = 40) -> tuple[float, float]:
    """(the first turn, the median of the others), in milliseconds of the loop's own."""
    async with connect({"bench": server(tools)}) as hub:
        model = Instant("openai-chat", "mcp__bench__forecast_7", turns)
        inside = 0.0
        run = hub.run

        async def timed(*arguments: Any, **options: Any) -> Any:
            nonlocal inside
            began = time.process_time()
            try:
                return await run(*arguments, **options)
            finally:
                inside += time.process_time() - began

        hub.run = timed  # type: ignore[method-assign]
        pair = (Message.user("A question?"), Message.assistant(Text("Yes.")))
        before = pair * (history // 2)
        chat = Chat(
            hub, model, history=before, approval=Approval("never"), limits=RunLimits(turns=None, result_tokens=25_000),
            tool_tokens=None if tools <= 100 else 20_000,
        )  # fmt: skip
        took: list[float] = []
        last, last_off = time.process_time(), 0.0
        async for event in chat.say("What is the weather?"):
            if type(event).__name__ == "Replied":
                now, off = time.process_time(), inside + model.seconds
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


def measure(options: Options) -> Result:
    sizes = ((1, 0), (50, 0), (50, 100), (50, 1_000), (200, 0), (2_000, 0), (2_000, 100))
    rows: list[Result] = []
    for tools, history in sizes:
        first, usual = asyncio.run(turns_of(tools, history))
        rows.append({"tools": tools, "history": history, "first": round(first, 2), "usual": round(usual, 2)})
    grown = asyncio.run(memory(2_000 if options.full else 1_000))
    return {"about": {}, "rows": rows, "memory": [{"turns": turns, "mb": round(more, 1)} for turns, more in grown]}


def page(result: Result) -> list[str]:
    lines = [["tools", "history", "first turn, ms", "a turn, ms"]]
    for each in result["rows"]:
        history = f"{each['history']:,} messages"
        lines.append([f"{each['tools']:,}", history, f"{each['first']:.2f}", f"{each['usual']:.2f}"])
    grown = [["questions", "memory above that of 100, MB"]]
    grown += [[f"{each['turns']:,}", f"{each['mb']:.1f}"] for each in result["memory"]]
    return [
        "Milliseconds of CPU time. Everything of a turn but the model and the tools: the history written, the "
        "request made, the reply read, its call resolved, allowed and run, the result kept. No peer stands beside "
        "it: what a framework does in a turn differs too much for the numbers to mean anything.",
        table(lines),
        table(grown),
    ]


def summary(result: Result) -> list[Line]:
    usual = {(each["tools"], each["history"]): each["usual"] for each in result["rows"]}
    ours = (
        f"{usual[50, 0]:.1f} ms; {usual[50, 100]:.1f} ms behind 100 messages; {usual[2_000, 0]:.1f} ms with 2,000 tools"
    )
    return [Line("the loop's own cost of a turn, 50 tools", ours, "–", "")]


AREA = Area("loop", "The loop's own cost", measure, page, None, summary)

if __name__ == "__main__":
    main(AREA)
