"""Servers: what a call, a connection and a listing cost through toolbridge and its peers, side by side, in one run.

    python benchmarks/servers.py

Each library runs in a process of its own and they take turns, round by round, so that a busy machine is busy for all;
a ratio compares two libraries within one round, and the median of the rounds is shown. A library that cannot be
installed or run is shown with its error. Everything stays on this machine, and every process ends with the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import servers_report
from environments import HERE, OURS, Failed, Worker, install, last_line
from report import Area, Options, Result, main

BARE, CLIENT = servers_report.BARE, servers_report.CLIENT

CONTESTANTS: dict[str, tuple[str, str]] = {
    BARE: ("sdk_session", OURS),
    CLIENT: ("sdk_client", OURS),
    OURS: ("toolbridge", OURS),
    "fastmcp Client": ("fastmcp", "fastmcp"),
    "fastmcp ClientGroup": ("fastmcp_group", "fastmcp"),
    "mcp 1.x session": ("sdk_one", "langchain"),
    "langchain": ("langchain", "langchain"),
    "langchain get_tools": ("langchain_each", "langchain"),
    "mcp-use": ("mcp_use", "mcp-use"),
    "openai-agents": ("openai_agents", "openai-agents"),
    "pydantic-ai": ("pydantic_ai", "pydantic-ai"),
    "google-adk": ("google_adk", "google-adk"),
}
"""Who is measured: the adapter in `peers/connect`, and its environment."""

ANSWER_SECONDS = 90

MODERN = (BARE, CLIENT, OURS, "fastmcp Client")
"""Those that speak 2026-07-28."""

CONNECTING = (CLIENT, OURS, "fastmcp ClientGroup", "fastmcp Client", "langchain get_tools", "mcp-use", "openai-agents",
              "pydantic-ai", "google-adk")  # fmt: skip

ROUNDS, FULL_ROUNDS = 10, 30
CALLS = {("stdio", 1): 30, ("stdio", 32): 96, ("http", 1): 10, ("http", 32): 96}
"""Calls of one turn: few, so that a round is over before the machine is busy with something else."""
FEW_CALLS = {1: 2}
"""For those to whom a call is a whole connection."""

SERVERS, START, SLOWEST = 30, 0.5, 2.0
"""How many servers are connected, how long each takes to start, and how long one of them does."""
REAL_SERVERS = 6
GROWING_SERVERS, GROWING_TOOLS = (1, 3, 10, 30), (10, 100, 1_000)
GROWING_START = 0.3
GROWING_RESULTS = {1_000: 20, 10_000: 20, 100_000: 10, 1_000_000: 5, 5_000_000: 2}
"""Bytes of a result, and how many calls of it are one turn."""
TURNS = 5
HTTP_CONNECTIONS = 30
SETTLING_CALLS, MEMORY_CALLS = 1_000, 4_000
LISTINGS = 9


# ── servers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def fast(*arguments: object) -> dict[str, Any]:
    """A server over pipes whose own cost is next to nothing."""
    return {"command": sys.executable, "args": ["-I", "-S", str(HERE / "servers_fast.py"), *map(str, arguments)]}


@contextlib.contextmanager
def http_server(folder: Path, *arguments: object) -> Iterator[dict[str, Any]]:
    """The same over HTTP on this machine."""
    file = folder / f"port-{time.monotonic_ns()}"
    server = fast("--http", file, *arguments)
    process = subprocess.Popen([server["command"], *server["args"]], stdin=subprocess.PIPE)
    try:
        until = time.monotonic() + 10
        while not file.exists():
            if time.monotonic() > until:
                raise SystemExit("the HTTP server did not start")
            time.sleep(0.01)
        yield {"url": f"http://127.0.0.1:{file.read_text()}/mcp"}
    finally:
        process.communicate()


# ── what is measured ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Bench:
    """The workers that run, what became of the others, and the numbers."""

    folder: Path
    workers: dict[str, Worker] = field(default_factory=dict[str, Worker])
    errors: dict[str, str] = field(default_factory=dict[str, str])
    """Why a library was not measured, or not in everything."""
    failed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Who failed at what, and is not asked for it again."""
    about: dict[str, Any] = field(default_factory=dict[str, Any])
    fixed: list[float] = field(default_factory=list[float])

    def start(self, names: list[str], installs: dict[str, str]) -> None:
        for name in names:
            adapter, environment = CONTESTANTS[name]
            try:
                worker = Worker(
                    environment, "connect.py", HERE / "peers" / "connect" / f"{adapter}.py",
                    error=installs.get(environment, ""), TOOLBRIDGE_CACHE_DIR=str(self.folder / "cache"),
                )  # fmt: skip
                self.about[name] = worker.ask("versions", ANSWER_SECONDS)
                self.workers[name] = worker
            except Failed as failure:
                self.errors[name] = str(failure)

    def chosen(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in self.workers or name in self.errors]

    def try_ask(self, name: str, do: str, **request: Any) -> Any:
        """An answer, or nothing where the library failed: that is told in the report."""
        what = request.get("key", do)
        if name not in self.workers or (name, what) in self.failed:
            return None
        try:
            return self.workers[name].ask(do, ANSWER_SECONDS, **request)
        except Failed as failure:
            self.failed.add((name, what))
            self.errors.setdefault(name, f"{what}: {failure}")
            return None

    def loop(self) -> None:
        """A fixed piece of work: how its time varies is how busy the machine was."""
        start = perf_counter()
        sum(range(2_000_000))
        self.fixed.append(perf_counter() - start)


def measure_calls(bench: Bench, rounds: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for era, names, arguments in (("2025-11-25", CONTESTANTS, ()), ("2026-07-28", MODERN, ("--modern",))):
        with http_server(bench.folder, *arguments) as http:
            for transport, server in (("stdio", fast(*arguments)), ("http", http)):
                print(f"calls over {transport}, {era} …", flush=True)
                made += calls_over(bench, transport, era, bench.chosen(names), server, rounds)
    return made


def calls_over(
    bench: Bench, transport: str, era: str, names: list[str], server: dict[str, Any], rounds: int
) -> list[dict[str, Any]]:
    key = f"{transport} {era}"
    for name in names:
        bench.try_ask(name, "open", key=key, servers={"fast": server})
    found: dict[tuple[str, int], list[dict[str, float] | None]] = {}
    for number in range(rounds + 1):
        bench.loop()
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            few = name in bench.about and bench.about[name]["few"]
            for concurrency in (1, 32):
                if few and concurrency not in FEW_CALLS:
                    continue
                count = FEW_CALLS[concurrency] if few else CALLS[transport, concurrency]
                answer = bench.try_ask(
                    name, "calls", key=key, server="fast", tool="echo", arguments={"text": "hello"}, expected="hello",
                    concurrency=concurrency, count=count, cold=few,
                )  # fmt: skip
                if number:  # the first round is for warming up
                    found.setdefault((name, concurrency), []).append(answer)
    for name in names:
        bench.try_ask(name, "close", key=key)
    lines: list[dict[str, Any]] = []
    for (name, concurrency), answers in found.items():
        line: dict[str, Any] = {"name": name, "transport": transport, "era": era, "concurrency": concurrency}
        times = [each for each in answers if each is not None]
        pairs = [(a, b) for a, b in zip(answers, found[BARE, concurrency], strict=True) if a and b]
        if times and pairs:
            line |= {key: median(each[key] for each in times) for key in ("p50", "p95")}
            line |= {f"{key}_ratio": median(a[key] / b[key] for a, b in pairs) for key in ("p50", "p95")}
            # The least: what the machine did beside it only ever adds to it.
            least = min(b["cpu"] for _, b in pairs)
            line["cpu"] = min(each["cpu"] for each in times)
            line["cpu_ratio"] = line["cpu"] / least
        lines.append(line)
    return sorted(lines, key=lambda line: (line["concurrency"], names.index(line["name"])))


def measure_connect(bench: Bench) -> list[dict[str, Any]]:
    """Thirty servers at once, against the slowest of them alone."""
    bench.loop()
    alone = {"slowest": fast("--start", SLOWEST)}
    many = alone | {f"server{number}": fast("--start", START) for number in range(SERVERS - 1)}
    made: list[dict[str, Any]] = []
    for name in bench.chosen(CONNECTING):
        print(f"connecting with {name} …", flush=True)
        rounds = 3 if name in (CLIENT, OURS) else 1
        found = [opened_and_closed(bench, name, servers) for _ in range(rounds) for servers in (alone, many)]
        line: dict[str, Any] = {"name": name}
        if all(found):
            ones, alls = found[::2], found[1::2]
            line |= {"alone": median(each["seconds"] for each in ones), "all": median(each["seconds"] for each in alls)}
            line |= {"cpu": median(each["cpu"] for each in alls), "close": median(each["close"] for each in alls)}
            line["ratio"] = median(b["seconds"] / a["seconds"] for a, b in zip(ones, alls, strict=True))
            line |= {"tools": alls[0]["tools"], "left": alls[0]["left"]}
        made.append(line)
    return made


def opened_and_closed(bench: Bench, name: str, servers: dict[str, Any]) -> Any:
    opened = bench.try_ask(name, "open", key="connect", servers=servers)
    closed = bench.try_ask(name, "close", key="connect")
    return {**opened, "close": closed["seconds"], "left": closed["left"]} if opened and closed else None


def measure_real(bench: Bench) -> list[dict[str, Any]]:
    """Servers of the SDK: starting them is work for the processors, whoever waits for them."""
    server = {"command": sys.executable, "args": [str(HERE / "servers_sdk.py")]}
    made: list[dict[str, Any]] = []
    for name in (CLIENT, OURS):
        line: dict[str, Any] = {"name": name}
        for count in (1, REAL_SERVERS):
            opened = opened_and_closed(bench, name, {f"real{number}": server for number in range(count)})
            if opened:
                line[str(count)] = opened["seconds"]
        made.append(line)
    return made


def measure_listing(bench: Bench) -> dict[str, Any]:
    """`toolbridge tools` over thirty servers, from the shell's side: the first time, and again."""
    mark, config, cache = bench.folder / "started", bench.folder / "mcp.json", bench.folder / "listing"
    # Each a little different, for servers that are alike share what is kept of them.
    servers = {f"server{number}": fast(f"--mark={mark}", "--start", number / 1e4) for number in range(SERVERS)}
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    # Compiled modules are kept, as they are where people install packages, and beside the sources nothing is written.
    compiled = {"PYTHONPYCACHEPREFIX": str(bench.folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **compiled, "TOOLBRIDGE_CACHE_DIR": str(cache)}

    def timed(*command: str) -> float:
        start = perf_counter()
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, env=environment)
        seconds = perf_counter() - start
        if done.returncode:
            raise Failed(last_line(done.stderr) or f"exit code {done.returncode}")
        return seconds

    tools = ("-m", "toolbridge", "tools", "--config", str(config))
    try:
        cold = timed(*tools)
        before = started(mark)
        again = [timed(*tools) for _ in range(LISTINGS)]
        bare = [timed("-c", "pass") for _ in range(LISTINGS)]
    except Failed as failure:
        return {"error": str(failure)}
    return {"cold": cold, "started": before, "warm": median(again), "worst": max(again), "interpreter": median(bare),
            "started_again": started(mark) - before}  # fmt: skip


def started(mark: Path) -> int:
    return len(mark.read_text().splitlines()) if mark.exists() else 0


def measure_growth(bench: Bench) -> dict[str, Any]:
    bench.loop()
    grown: dict[str, Any] = {"servers": [], "tools": [], "results": []}
    for name in (CLIENT, OURS):
        for count in GROWING_SERVERS:
            servers = {f"server{number}": fast("--start", GROWING_START) for number in range(count)}
            opened = opened_and_closed(bench, name, servers)
            if opened:
                grown["servers"].append({"name": name, "count": count, **opened})
    for count in GROWING_TOOLS:
        grown["tools"].append({"count": count, **with_tools(bench, count)})
    with http_server(bench.folder) as http:
        for transport, server in (("stdio", fast()), ("http", http)):
            for name in (BARE, OURS):
                bench.try_ask(name, "open", key="results", servers={"fast": server})
            for size, count in GROWING_RESULTS.items():
                times = both(
                    lambda name, size=size, count=count: call_cost(bench, name, "results", "fill", size, count)
                )
                grown["results"].append({"transport": transport, "size": size, **times})
            for name in (BARE, OURS):
                bench.try_ask(name, "close", key="results")
        grown["http"] = measure_http(bench, http)
    return grown


def both(measure: Callable[[str], Any]) -> dict[str, Any]:
    """The bare session and ours in turns; the least of each."""
    found = [(name, measure(name)) for _ in range(TURNS) for name in (BARE, OURS)]
    return {name: min((each for who, each in found if who == name and each), default=None) for name in (BARE, OURS)}


def call_cost(bench: Bench, name: str, key: str, tool: str, size: int, count: int) -> Any:
    arguments = {"text": "x" * size} if tool == "echo" else {"size": size}
    answer = bench.try_ask(
        name, "calls", key=key, server="fast", tool=tool, arguments=arguments, expected=size, concurrency=1, count=count
    )
    return answer and answer["p50"]


def with_tools(bench: Bench, count: int) -> dict[str, Any]:
    for name in (BARE, OURS):
        bench.try_ask(name, "open", key="tools", servers={"fast": fast("--tools", count)})
    listed = both(lambda name: (bench.try_ask(name, "list", key="tools") or {}).get("seconds"))
    called = both(lambda name: call_cost(bench, name, "tools", "echo", 5, 50))
    for name in (BARE, OURS):
        bench.try_ask(name, "close", key="tools")
    return {name: {"list": listed[name], "call": called[name]} for name in (BARE, OURS)}


def measure_http(bench: Bench, http: dict[str, Any]) -> list[dict[str, Any]]:
    """CPU of so many HTTP connections: reading the certificates for each of them is most of it."""
    servers = {f"server{number}": http for number in range(HTTP_CONNECTIONS)}
    opened = {name: opened_and_closed(bench, name, servers) for name in (CLIENT, OURS)}
    return [{"name": name, **each} for name, each in opened.items() if each]


def measure_memory(bench: Bench) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    with http_server(bench.folder) as http:
        for name, transport, server in ((BARE, "stdio", fast()), (OURS, "stdio", fast()), (OURS, "http", http)):
            line: dict[str, Any] = {"name": name, "transport": transport}
            bench.try_ask(name, "open", key="memory", servers={"fast": server})
            sizes: list[Any] = []
            for count in (SETTLING_CALLS, MEMORY_CALLS):
                bench.try_ask(
                    name, "calls", key="memory", server="fast", tool="echo", arguments={"text": "hello"},
                    expected="hello", concurrency=32, count=count,
                )  # fmt: skip
                sizes.append(bench.try_ask(name, "memory"))
            bench.try_ask(name, "close", key="memory")
            if all(sizes):
                line |= {"before": sizes[0]["kilobytes"], "after": sizes[1]["kilobytes"]}
            made.append(line)
    return made


# ── the run ──────────────────────────────────────────────────────────────────────────────────────────────────────


def measure(options: Options) -> Result:
    names = [name for name, (_, environment) in CONTESTANTS.items() if options.wants(environment)]
    installs = {} if options.skip_install else install(CONTESTANTS[name][1] for name in names)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        try:
            bench.start(names, installs)
            broken = [f"{name}: {bench.errors[name]}" for name in (BARE, CLIENT, OURS) if name in bench.errors]
            if broken:
                raise SystemExit(f"does not run with {sys.executable}: {'; '.join(broken)}")
            return run(bench, FULL_ROUNDS if options.full else ROUNDS)
        finally:
            for worker in bench.workers.values():
                worker.close()


def run(bench: Bench, rounds: int) -> Result:
    """One part after the other; what they took is kept, for the next who has to make them shorter."""
    parts: dict[str, Callable[[], Any]] = {
        "calls": lambda: measure_calls(bench, rounds), "connect": lambda: measure_connect(bench),
        "real": lambda: measure_real(bench), "listing": lambda: measure_listing(bench),
        "growth": lambda: measure_growth(bench), "memory": lambda: measure_memory(bench),
    }  # fmt: skip
    result: Result = {}
    seconds: dict[str, int] = {}
    for name, part in parts.items():
        print(f"{name} …", flush=True)
        begun = perf_counter()
        result[name] = part()
        seconds[name] = round(perf_counter() - begun)
    bench.loop()
    versions = {
        name: ", ".join(f"{package} {number}" for package, number in each["versions"].items()) + f"; {each['way']}"
        for name, each in bench.about.items()
    }
    noise = round(max(bench.fixed) / min(bench.fixed), 2)
    about = {"rounds": rounds, "noise": noise, "errors": bench.errors, "versions": versions, "parts": seconds}
    about["memory_calls"] = [SETTLING_CALLS, MEMORY_CALLS]
    return {"about": about, **result}


AREA = Area("servers", servers_report.TITLE, measure, servers_report.page, servers_report.draw, servers_report.summary)

if __name__ == "__main__":
    main(AREA)
