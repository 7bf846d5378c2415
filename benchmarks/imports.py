"""Import time and memory: a fresh interpreter with each library, and its first conversion.

    python benchmarks/imports.py

The statement is the one that the library's own documentation begins with for MCP tools; the conversion is of one small
tool, for OpenAI where the library can. The interpreter's own start is not in the times; it is in the memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from converters import adapter
from environments import HERE, OURS, QUIET, Failed, install, last_line, python_of
from report import GREY, Area, Bar, Line, Options, Panel, Result, ahead, bars, failures, main, table

STARTS, FULL_STARTS = 3, 7
START_SECONDS = 120

TOOL = {
    "name": "search",
    "description": "Search.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}

STATEMENTS: dict[str, tuple[str, str, str]] = {
    OURS: ("toolbridge", "openai", "from toolbridge import prepare, read_tools"),
    f"{OURS}, to connect": ("", "", "import toolbridge; hub = toolbridge.connect({'mcpServers': {}})"),
    "mcp Client": ("", "", "from mcp import Client"),
    "openai": ("", "", "from openai import OpenAI"),
    "anthropic": ("anthropic", "anthropic", "from anthropic.lib.tools.mcp import async_mcp_tool"),
    "google-genai": ("google-genai", "gemini openapi", "from google import genai"),
    "langchain": (
        "langchain", "openai",
        "from langchain_mcp_adapters.client import MultiServerMCPClient; from langchain_openai import ChatOpenAI",
    ),
    "openai-agents": ("openai-agents", "openai", "from agents import Agent; from agents.mcp import MCPServerStdio"),
    "pydantic-ai": (
        "pydantic-ai", "openai",
        "from pydantic_ai.mcp import MCPToolset; from pydantic_ai.models.openai import OpenAIChatModel",
    ),
    "litellm": ("litellm", "openai", "import litellm; from litellm import experimental_mcp_client"),
    "mcp-use": (
        "mcp-use", "openai",
        "from mcp_use import MCPClient; from mcp_use.agents.adapters import OpenAIMCPAdapter",
    ),
    "google-adk": (
        "google-adk", "gemini",
        "from google.adk.agents import Agent; from google.adk.tools.mcp_tool import McpToolset",
    ),
}  # fmt: skip
"""What is imported: the adapter of the first conversion (none: no conversion), its target, and the statement."""

ENVIRONMENTS = {"mcp Client": OURS, f"{OURS}, to connect": OURS}
"""Rows that are not called as their environment is."""


def measure(options: Options) -> Result:
    wanted = {name: each for name, each in STATEMENTS.items() if options.wants(ENVIRONMENTS.get(name, name))}
    environments = {name: ENVIRONMENTS.get(name, name) for name in wanted}
    errors = {} if options.skip_install else install(environments.values())
    starts = FULL_STARTS if options.full else STARTS
    rows: list[Result] = []
    failed: dict[str, str] = {}
    versions: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (peer, target, statement) in wanted.items():
            print(f"starting {name} …", flush=True)
            environment = environments[name]
            try:
                code = [statement, str(adapter(peer)) if peer else "", target, json.dumps(TOOL)]
                found = [started(environment, code, Path(folder)) for _ in range(starts + 1)][1:]
            except Failed as failure:
                failed[name] = f"not installed: {errors[environment]}" if environment in errors else str(failure)
                continue
            row: Result = {"name": name, "statement": statement, "target": target}
            versions[name] = ", ".join(f"{package} {number}" for package, number in found[0].pop("versions").items())
            for key in found[0]:
                numbers = [each[key] for each in found]
                row[key] = numbers[0] if key == "loads" else round(median(numbers))
            rows.append(row)
    return {"about": {"starts": starts, "errors": failed, "versions": versions}, "rows": rows}


def started(environment: str, code: list[str], folder: Path) -> Result:
    """One start. pip has compiled the modules of the peers; ours run from the sources, so theirs are kept elsewhere."""
    kept = {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""} if environment == OURS else {}
    if not python_of(environment).exists():
        raise Failed("no environment")
    command = [str(python_of(environment)), "-W", "ignore", str(HERE / "workers" / "first.py"), *code]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=START_SECONDS,
            env={**os.environ, **QUIET, **kept},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"more than {START_SECONDS} s") from None
    if done.returncode:
        raise Failed(last_line(done.stderr) or f"exit code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────


def page(result: Result) -> list[str]:
    lines = [
        ["library", "import, ms of CPU", "wall ms", "MB", "modules", "and a first conversion, ms of CPU", "MB", "loads"]
    ]
    for each in result["rows"]:
        numbers = [f"{each['import_cpu']:,}", f"{each['import_wall']:,}", f"{each['import_memory'] / 1024:.0f}"]
        first = [f"{each['first_cpu']:,}", f"{each['first_memory'] / 1024:.0f}"] if "first_cpu" in each else ["–", "–"]
        loads = ", ".join(each["loads"]) or "none of them"
        lines.append([each["name"], *numbers, f"{each['import_modules']:,}", *first, loads])
    bare = result["rows"][0]["before"] / 1024 if result["rows"] else 0
    statements = "\n".join(f"- {each['name']}: `{each['statement']}`" for each in result["rows"])
    return [
        f"A fresh interpreter each time, median of {result['about']['starts']} after one that is not counted. Memory "
        f"is resident memory; the interpreter alone has {bare:.0f} MB of it. Wall time suffers from whatever else "
        "the machine does, CPU time little. *Loads* says which of mcp, httpx, httpx2, pydantic, openai and "
        "jsonschema_rs were loaded.",
        table(lines),
        *failures(result["about"]["errors"]),
        "What is imported, which differs in what it can do: a vendor's SDK talks to that vendor, a framework brings "
        "an agent, toolbridge's first row converts and its second can connect to servers (which loads the MCP SDK "
        "when the first of them is opened, and is then no lighter than `mcp Client`).",
        statements,
    ]  # fmt: skip


def draw(result: Result) -> Any:
    def panel(title: str, key: str, unit: str, by: float) -> Panel:
        found = sorted(result["rows"], key=lambda each: each[key])
        return Panel(
            title, tuple(Bar(each["name"], (each[key] / by,), f"{each[key] / by:,.0f} {unit}") for each in found)
        )

    return bars(
        [panel("import: CPU time (ms)", "import_cpu", "ms", 1),
         panel("import: resident memory (MB)", "import_memory", "MB", 1024)],
        (GREY,), ("",), "milliseconds above, megabytes below; logarithmic", log=True,
    )  # fmt: skip


def summary(result: Result) -> list[Line]:
    rows = {each["name"]: each for each in result["rows"]}
    ours = rows.pop(OURS, None)
    others = sorted((each for each in rows.values() if "first_cpu" in each), key=lambda each: each["first_cpu"])
    if not ours or not others:
        return []
    times = [f"{each['first_cpu']:,} {each['name']}" for each in others]
    best = ahead(ours["first_cpu"], [(each["name"], each["first_cpu"]) for each in others])
    lines = [Line("import and first conversion", f"{ours['first_cpu']:,} ms", ", ".join(times), best)]
    others.sort(key=lambda each: each["first_memory"])
    sizes = [f"{each['first_memory'] / 1024:.0f} {each['name']}" for each in others]
    best = ahead(ours["first_memory"], [(each["name"], each["first_memory"]) for each in others])
    memory = f"{ours['first_memory'] / 1024:.0f} MB"
    return [*lines, Line("memory after the first conversion", memory, ", ".join(sizes), best)]


AREA = Area("imports", "Import time and memory", measure, page, draw, summary)

if __name__ == "__main__":
    main(AREA)
