"""The demo: two questions, two MCP servers, a model that runs on this machine. No account, no key.

    toolbridge models pull smollm2 && python examples/chat.py

The servers are this directory's garden and `mcp-server-time` from PyPI, each a process of its own. The model is tiny:
it is shown the tools that a search finds for the question, and its words are its own. What is checked here is what does
not depend on them: no call runs that was not checked and, where it changes something, allowed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from toolbridge import (
    Approval,
    Asked,
    CallEnded,
    CallStarted,
    Chat,
    Done,
    ModelError,
    TextDelta,
    Told,
    connect,
    get_model,
)

HERE = Path(__file__).parent
SERVERS = {
    "garden": {"command": sys.executable, "args": ["garden_server.py"], "cwd": str(HERE)},
    "time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]},
}
QUESTIONS = ("Tell me the current time in Europe/Paris.", "Water bed B2 with 5 litres.")
POLICY = Approval(never_read_only=True)
"""Tools that say they only read run unasked; about all others somebody is asked."""

ran: list[str] = []
allowed: set[str] = set()


def step(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")


def ask(asked: Asked) -> bool:
    """Where `toolbridge chat` would wait for you to type, the demo says yes by itself."""
    print(f"  ? {asked.tool} wants to run with {json.dumps(asked.arguments)}")
    print(f"    You are asked because {asked.why}. In `toolbridge chat` you would type y or n;")
    print("    the demo says yes for you, and only now the call is sent.")
    allowed.add(asked.call.id)
    return True


async def main() -> None:
    began = time.monotonic()
    try:
        model = get_model("local/smollm2")
    except ModelError as problem:
        sys.exit(f"{problem}")
    step("1. The servers of an mcp.json are started, and say what they can do")
    async with connect({"mcpServers": SERVERS}) as hub:
        for name, status in hub.status.items():
            print(f"  {name}: {status.state}" + (f" — {status.failure}" if status.failure else ""))
            for tool in hub.tools:
                if tool.id.server == name:
                    claim = "only reads" if tool.hints.read_only else "changes things"
                    print(f"    {tool.id.name:<18} {claim:<15} {tool.description.splitlines()[0]}")
        chat = Chat(hub, model, approval=POLICY, ask=ask)
        for number, question in enumerate(QUESTIONS, 2):
            step(f"{number}. You ask: {question}")
            await answered(chat, question)
    await model.close()
    if len(ran) < len(QUESTIONS) or not allowed:
        sys.exit("\nThe model did not use the tools this time: not what this demo is to show.")
    step(f"That was all, in {time.monotonic() - began:.0f} s. Nothing is left running.")
    print("The model has 135 million parameters, and talks like it; any other one is a name away:")
    print("  .venv/bin/toolbridge chat --config examples/mcp.json --model local/smollm2")
    print("  .venv/bin/toolbridge chat --config ~/your/mcp.json --model gpt-5       # with OPENAI_API_KEY")
    print("  .venv/bin/toolbridge models list")


async def answered(chat: Chat, question: str) -> None:
    chat.offer.choose(question)
    shown = [chat.offer.prepared.wire_name(tool.id) for tool in chat.offer.prepared.tools]
    print(f"  The model is shown {', '.join(shown)}: what a text search finds for the question among all tools.")
    speaking = False
    async for event in chat.say(question):
        match event:
            case TextDelta(text=text):
                print(text if speaking else f"  The model says: {text}", end="", flush=True)
                speaking = True
            case CallStarted(call=call, tool=tool, arguments=arguments):
                reads = chat.hub.tools[[each.id for each in chat.hub.tools].index(tool)].hints.read_only
                assert reads or call.id in allowed, "a call that changes something ran without a word"
                ran.append(call.id)
                print(f"  > {tool} runs with {json.dumps(arguments)}, checked against the server's own schema")
            case CallEnded(result=result, seconds=seconds):
                text = " ".join(result.text.split())
                print(f"  < {'refused' if result.is_error else 'result'} after {seconds:.2f} s: {text}")
            case Told(text=text):
                print(f"  ({text})")
            case Done(stopped=stopped, why=why, turns=turns):
                print(f"\n  ({turns} turns of the model{f'; {why}' if stopped else ''})")
            case _:
                pass


asyncio.run(main())
