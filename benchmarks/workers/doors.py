"""What a framework's own MCP adapter makes of nasty tools: run in the framework's environment by `benchmarks/doors.py`.

    doors.py FRAMEWORK LEDGER     one JSON object on stdout: definitions, and what reached the server of each call
    doors.py serve LEDGER         the server, over stdio; it writes down what it is called with

Nothing of toolbridge is imported. Each adapter is used as its documentation says.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TOLD = json.loads((ROOT / "tests" / "frameworks" / "nasty.json").read_text(encoding="utf-8"))
TOOLS = [*json.loads((ROOT / "examples" / "tools.json").read_text(encoding="utf-8"))["tools"], TOLD["tool"]]


def serve(ledger: Path) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") is None:
            continue
        answer: dict[str, Any] = {"result": {}}
        match message["method"]:
            case "initialize":
                version = message["params"]["protocolVersion"]
                info = {"name": "nasty", "version": "1"}
                answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
            case "tools/list":
                answer = {"result": {"tools": TOOLS}}
            case "tools/call":
                with ledger.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(message["params"].get("arguments")) + "\n")
                answer = {"result": {"content": [{"type": "text", "text": "did it"}]}}
            case "ping":
                pass
            case _:
                answer = {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def reached(call: Call, ledger: Path) -> dict[str, dict[str, Any]]:
    """For each tool, what the server got of the right call and of the wrong one; `None` where nothing came."""
    found: dict[str, dict[str, Any]] = {}
    for name, calls in TOLD["calls"].items():
        for kind, arguments in calls.items():
            before = _lines(ledger)
            try:
                await call(name, dict(arguments))
            except Exception as failure:
                print(f"{name}, {kind}: {type(failure).__name__}: {failure}", file=sys.stderr)
            after = _lines(ledger)[len(before) :]
            found.setdefault(name, {})[kind] = json.loads(after[0]) if after else None
    return found


def _lines(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


def attempt(write: Callable[[], Any]) -> Any:
    try:
        return write()
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}"


async def langchain(ledger: Path) -> dict[str, Any]:
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_mcp_adapters.client import MultiServerMCPClient

    arguments = [str(Path(__file__)), "serve", str(ledger)]
    client = MultiServerMCPClient({"nasty": {"transport": "stdio", "command": sys.executable, "args": arguments}})
    tools = {each.name: each for each in await client.get_tools()}
    plain = {name: attempt(lambda each=each: convert_to_openai_tool(each)) for name, each in tools.items()}
    strict = {
        name: attempt(lambda each=each: convert_to_openai_tool(each, strict=True)) for name, each in tools.items()
    }

    async def call(name: str, given: dict[str, Any]) -> None:
        await tools[name].ainvoke({"name": name, "args": given, "id": "1", "type": "tool_call"})

    return {"plain": plain, "strict": strict, "reached": await reached(call, ledger)}


async def openai_agents(ledger: Path) -> dict[str, Any]:
    from agents import Agent
    from agents.mcp import MCPServerStdio
    from agents.run_context import RunContextWrapper
    from agents.tool_context import ToolContext

    found: dict[str, Any] = {}
    server = {"command": sys.executable, "args": [str(Path(__file__)), "serve", str(ledger)]}
    for form in ("strict", "plain"):
        async with MCPServerStdio(server, name="nasty") as nasty:
            agent = Agent("a", mcp_servers=[nasty], mcp_config={"convert_schemas_to_strict": form == "strict"})
            tools: dict[str, Any] = {each.name: each for each in await agent.get_mcp_tools(RunContextWrapper(None))}
            found[form] = {
                name: {
                    "type": "function",
                    "function": {
                        "name": name,
                        "description": each.description,
                        "parameters": each.params_json_schema,
                        "strict": each.strict_json_schema,
                    },
                }
                for name, each in tools.items()
            }

            async def call(name: str, given: dict[str, Any], tools: dict[str, Any] = tools) -> None:
                text = json.dumps(given)
                context = ToolContext(None, tool_name=name, tool_call_id="1", tool_arguments=text)
                await tools[name].on_invoke_tool(context, text)

            if form == "plain":
                found["reached"] = await reached(call, ledger)
    return found


async def pydantic_ai(ledger: Path) -> dict[str, Any]:
    from dataclasses import replace

    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import RunContext
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.usage import RunUsage

    model = OpenAIChatModel("gpt-5")
    toolset = MCPToolset(StdioTransport(sys.executable, [str(Path(__file__)), "serve", str(ledger)]))
    context = RunContext(deps=None, model=model, usage=RunUsage())
    found: dict[str, Any] = {}

    def written(definition: Any) -> Any:
        asked = ModelRequestParameters(function_tools=[definition])
        (each,) = model.customize_request_parameters(asked).function_tools
        function = {"name": each.name, "description": each.description, "parameters": each.parameters_json_schema}
        return {"type": "function", "function": {**function, "strict": bool(each.strict)}}

    async with toolset:
        tools = await toolset.get_tools(context)
        for form, strict in (("plain", None), ("strict", True)):
            found[form] = {
                name: attempt(lambda each=each, strict=strict: written(replace(each.tool_def, strict=strict)))
                for name, each in tools.items()
            }

        async def call(name: str, given: dict[str, Any]) -> None:
            await toolset.call_tool(name, given, context, tools[name])

        found["reached"] = await reached(call, ledger)
    return found


FRAMEWORKS = {"langchain": langchain, "openai-agents": openai_agents, "pydantic-ai": pydantic_ai}

if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(Path(sys.argv[2]))
    else:
        print(json.dumps(asyncio.run(FRAMEWORKS[sys.argv[1]](Path(sys.argv[2])))))
