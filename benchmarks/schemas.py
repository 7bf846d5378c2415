"""Conversion speed: toolbridge and its peers side by side, in one run.

    python benchmarks/schemas.py                     # installs the peers under .cache/bench, measures, writes results
    python benchmarks/schemas.py --skip-install      # with the environments that are there
    python benchmarks/schemas.py --tools FILE        # over your own tools: JSON lines (.gz too) or a tools/list answer

Each converter runs in a process of its own and they take turns, round by round, so that a busy machine is busy for all.
A peer that cannot be installed or run is shown with its error. What a converter is given (its MCP tool object) is built
before the clock starts; what is timed ends in the definition as the provider gets it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import select
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean, median
from time import perf_counter
from typing import Any

import generated

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = ROOT / ".cache" / "bench"
RESULTS = HERE / "results" / "schemas.md"
OURS = "toolbridge"

ROUNDS = 9
STARTS = 7
"""Fresh interpreters for the time of an import."""
ANSWER_SECONDS = 600
GROWTH_SECONDS = 20
"""What a converter may take for one large schema."""
INSTALLS_AT_ONCE = 2
CLI_TOOLS = 100
WATCHED = ("mcp", "httpx", "pydantic", "jsonschema_rs")
"""Packages that a light import does not load."""

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "langchain": ("langchain-mcp-adapters>=0.3,<0.4", "langchain-core>=1.7,<2", "langchain-openai>=1.7,<2",
                  "langchain-anthropic>=1.7,<2", "langchain-google-genai>=4.4,<5", "mcp>=1.30,<3"),
    "openai-agents": ("openai-agents>=0.24,<0.25", "mcp>=2.3,<3"),
    "pydantic-ai": ("pydantic-ai-slim[mcp,openai,google,anthropic]>=2.66,<3",),
    "litellm": ("litellm>=1.106,<2", "mcp>=2.3,<3"),
    "google-genai": ("google-genai>=3.1,<4", "mcp>=2.3,<3"),
}  # fmt: skip
"""The peers, and what pip installs for each."""

_FIRST = """
import sys, time
wall, cpu = time.perf_counter(), time.process_time()
adapter = {"__name__": "adapter"}
exec(compile(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1], "exec"), adapter)
adapter["TARGETS"][sys.argv[2]]()(adapter["read"](%r))
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
sys.__stdout__.write("\\n%%f %%f %%d %%s\\n" %% (wall * 1e3, cpu * 1e3, len(sys.modules),
                     ",".join(each for each in %r if each in sys.modules) or "-"))
"""
_FIRST_TOOL = {
    "name": "search",
    "description": "Search.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


# ── environments ─────────────────────────────────────────────────────────────────────────────────────────────────


def python_of(peer: str) -> Path:
    """The interpreter a converter runs in: this one for ours."""
    if peer == OURS:
        return Path(sys.executable)
    return CACHE / peer / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(peer: str) -> str:
    """The peer's environment, made where it is missing or asks for something else; the error, if there is one."""
    wanted = "\n".join(REQUIREMENTS[peer])
    mark = CACHE / peer / "requirements.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return ""
    print(f"installing {peer} …", flush=True)
    pip = [str(python_of(peer)), "-m", "pip", "install", "-q", "--disable-pip-version-check", *REQUIREMENTS[peer]]
    for command in ([sys.executable, "-m", "venv", str(CACHE / peer)], pip):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return last_line(done.stderr or done.stdout) or f"exit code {done.returncode}"
    mark.write_text(wanted, encoding="utf-8")
    return ""


def last_line(text: str) -> str:
    """The last line that says something, without the paths of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "").replace(str(ROOT), ".").replace(str(Path.home()), "~")[:200]


# ── workers ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Failed(Exception):
    """A worker died, took too long or answered with an error."""


class Worker:
    """A converter in a process of its own."""

    def __init__(self, peer: str, tools: Path) -> None:
        self.peer = peer
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - as long as the process
        adapter = HERE / "peers" / f"{peer.replace('-', '_')}.py"
        self._process = subprocess.Popen(
            [str(python_of(peer)), str(HERE / "worker.py"), str(adapter), str(tools)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, encoding="utf-8",
        )  # fmt: skip

    def ask(self, seconds: float = ANSWER_SECONDS, **request: Any) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except OSError:
            raise Failed(self._death()) from None
        if not select.select([process.stdout], [], [], seconds)[0]:
            self.close()
            raise Failed(f"more than {seconds:g} s")
        line = process.stdout.readline()
        if not line:
            raise Failed(self._death())
        answer = json.loads(line)
        if isinstance(answer, dict) and "error" in answer:
            raise Failed(last_line(answer["error"]))
        return answer

    def _death(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return last_line(self._errors.read()) or f"exit code {self._process.returncode}"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def started(peer: str, tools: Path, error: str) -> Worker:
    if error or not python_of(peer).exists():
        raise Failed(f"not installed: {error or 'no environment'}")
    return Worker(peer, tools)


# ── what was measured ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Row:
    """One converter for one target: the least time of each tool over all rounds, in microseconds."""

    peer: str
    target: str
    passed_through: bool = False
    best: list[float | None] = field(default_factory=list[float | None])
    refusal: str = ""
    error: str = ""

    def add(self, times: list[int | None]) -> None:
        some = [None if each is None else each / 1e3 for each in times]
        old = self.best or some
        self.best = [None if a is None or b is None else min(a, b) for a, b in zip(old, some, strict=True)]

    def summary(self, ours: Row) -> dict[str, Any]:
        """Times over the tools it took, and how they compare with ours over the same tools."""
        pairs = [(a, b) for a, b in zip(self.best, ours.best, strict=False) if a is not None and b is not None]
        times = sorted(each for each in self.best if each is not None)
        out: dict[str, Any] = {"peer": self.peer, "target": self.target, "passed_through": self.passed_through}
        if self.error or not times:
            return {**out, "error": self.error or self.refusal}
        theirs, mine = [a for a, _ in pairs] or [0.0], [b for _, b in pairs] or [1.0]
        return {
            **out,
            "median": median(times), "mean": fmean(times), "p99": times[min(len(times) - 1, len(times) * 99 // 100)],
            "refused": len(self.best) - len(times), "refusal": last_line(self.refusal),
            "median_by_ours": median(theirs) / median(mine), "mean_by_ours": fmean(theirs) / fmean(mine),
        }  # fmt: skip


def measure_rounds(workers: dict[str, Worker], rows: list[Row], rounds: int) -> float:
    """Every row once a round, in turn. How much slower a fixed loop of ours ran at worst: the noise."""
    fixed: list[float] = []
    for number in range(rounds + 1):
        print(f"round {number} of {rounds}" + (" (warm-up)" if not number else ""), flush=True)
        start = perf_counter()
        sum(range(3_000_000))
        fixed.append(perf_counter() - start)
        for row in rows:
            if row.error:
                continue
            try:
                answer = workers[row.peer].ask(do="round", target=row.target)
            except Failed as failure:
                row.error = str(failure)
                continue
            row.refusal = answer["refusal"]
            if number:
                row.add(answer["times"])
    return max(fixed) / min(fixed)


def measure_batches(worker: Worker, targets: list[str], rounds: int) -> list[dict[str, Any]]:
    """Whole lists at once, and once more: the least of all rounds, in microseconds a tool."""
    made: list[dict[str, Any]] = []
    for target in targets:
        line: dict[str, Any] = {"target": target}
        for how in ("many", "only_prepare"):
            answers = [worker.ask(do="batch", target=target, how=how) for _ in range(rounds)]
            line[how] = {key: min(each[key] for each in answers) / 1e3 for key in ("first", "again")}
        made.append(line)
    return made


def measure_growth(rows: list[Row], tools: Path) -> list[dict[str, Any]]:
    """Microseconds a property for schemas of growing width; a text where there is no number."""
    made: list[dict[str, Any]] = []
    texts = {size: json.dumps(generated.wide(size)) for size in generated.GROWTH}
    for row in rows:
        line: dict[str, Any] = {"peer": row.peer, "target": row.target}
        worker = Worker(row.peer, tools)
        for size, text in texts.items():
            try:
                repeats = max(3, min(50, 10_000 // size))
                worker.ask(do="versions")  # the import is over before the clock starts
                best = worker.ask(GROWTH_SECONDS, do="wide", target=row.target, text=text, repeats=repeats)
                line[str(size)] = best / 1e3 / size
            except Failed as failure:
                line[str(size)] = str(failure)[:60]
                if "more than" in str(failure):
                    break
        worker.close()
        made.append(line)
    return made


def measure_starts(peers: list[str]) -> list[dict[str, Any]]:
    """Import and first conversion in a fresh interpreter; the first start is not counted, it warms the disk."""
    made: list[dict[str, Any]] = []
    for peer in peers:
        adapter = HERE / "peers" / f"{peer.replace('-', '_')}.py"
        target = "gemini openapi" if peer == "google-genai" else "openai"
        command = [str(python_of(peer)), "-W", "ignore", "-c", _FIRST % (_FIRST_TOOL, WATCHED), str(adapter), target]
        walls: list[float] = []
        cpus: list[float] = []
        line: dict[str, Any] = {"peer": peer, "target": target}
        for number in range(STARTS + 1):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                line["error"] = last_line(done.stderr)
                break
            wall, cpu, modules, watched = done.stdout.split()[-4:]
            if number:
                walls.append(float(wall))
                cpus.append(float(cpu))
            line |= {"modules": int(modules), "loads": [each for each in watched.split(",") if each != "-"]}
        else:
            line |= {"wall_ms": median(walls), "cpu_ms": median(cpus)}
        made.append(line)
    return made


def measure_command(texts: list[str]) -> dict[str, Any]:
    """`toolbridge convert` over a file of tools, from the shell's side."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tools.json"
        file.write_text(json.dumps({"tools": [json.loads(each) for each in texts[:CLI_TOOLS]]}), encoding="utf-8")
        command = [sys.executable, "-m", "toolbridge", "convert", str(file), "--to", "openai-chat"]
        walls: list[float] = []
        for _ in range(STARTS + 1):
            start = perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            walls.append((perf_counter() - start) * 1e3)
            if not done.stdout.strip():
                return {"error": last_line(done.stderr) or "no output"}
        return {"tools": min(CLI_TOOLS, len(texts)), "wall_ms": median(walls[1:])}


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────

Table = list[list[str]]


def speed_table(summaries: list[dict[str, Any]]) -> Table:
    table = [["target", "converter", "median µs", "mean µs", "p99 µs", "refused", "median × ours", "mean × ours", ""]]
    for each in summaries:
        start = [each["target"], each["peer"]]
        if "error" in each:
            table.append([*start, *["–"] * 6, f"failed: {each['error']}"])
            continue
        numbers = [f"{each[key]:.1f}" for key in ("median", "mean", "p99")]
        if each["peer"] == OURS:
            table.append([*start, *numbers, str(each["refused"]), "1", "1", ""])
            continue
        ratios = [f"{each[key]:.2f}" for key in ("median_by_ours", "mean_by_ours")]
        remarks = ["passes schemas through"] if each["passed_through"] else []
        faster = [name for name in ("median", "mean") if each[f"{name}_by_ours"] < 1]
        remarks += [f"**faster than {OURS}** ({' and '.join(faster)})"] if faster else []
        table.append([*start, *numbers, str(each["refused"]), *ratios, "; ".join(remarks)])
    return table


def batch_table(batches: list[dict[str, Any]]) -> Table:
    table = [["target", "list of 100, µs a tool", "again", "ratio", "without `definitions`", "again", "ratio"]]
    for each in batches:
        line = [each["target"]]
        for how in ("many", "only_prepare"):
            first, again = each[how]["first"], each[how]["again"]
            line += [f"{first:.1f}", f"{again:.2f}", f"{first / again:.0f}×"]
        table.append(line)
    return table


def growth_table(growth: list[dict[str, Any]]) -> Table:
    table = [["target", "converter", *(f"{size:,}" for size in generated.GROWTH)]]
    for each in growth:
        cells = [each.get(str(size), "–") for size in generated.GROWTH]
        table.append([each["target"], each["peer"], *(f"{c:.2f}" if isinstance(c, float) else c for c in cells)])
    return table


def start_table(starts: list[dict[str, Any]]) -> Table:
    table = [["converter", "wall ms", "CPU ms", "modules", f"loads ({', '.join(WATCHED)})"]]
    for each in starts:
        if "error" in each:
            table.append([each["peer"], "–", "–", "–", f"failed: {each['error']}"])
            continue
        loads = ", ".join(each["loads"]) or "none"
        table.append([each["peer"], f"{each['wall_ms']:.0f}", f"{each['cpu_ms']:.0f}", str(each["modules"]), loads])
    return table


def written(table: Table) -> str:
    """A Markdown table, its columns aligned so that it reads in a terminal as well."""
    table = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in table]
    widths = [max(3, *(len(line[i]) for line in table)) for i in range(len(table[0]))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in table]
    padded.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def report(result: dict[str, Any]) -> str:
    parts = [
        "# Conversion speed",
        f"{result['about']['tools']}; {result['about']['rounds']} rounds, each tool once a round, the least time of "
        "each tool. Microseconds of CPU time per tool, from the MCP tool object to the definition. "
        "`× ours` is the converter's time divided by toolbridge's over the tools that both took: above 1 the converter "
        "is slower than toolbridge, below 1 it is faster. *Refused* counts tools on which it raised (for toolbridge: "
        "that it left out). Converters differ in what they do for it: toolbridge's includes the notes and the way "
        "back; one that passes schemas through does none of that work.",
        written(speed_table(result["speed"])),
        "## Whole lists, and the same list again",
        "`prepare` keeps what it compiled for a tool. The first columns include reading `definitions`.",
        written(batch_table(result["batches"])) if result["batches"] else "Not measured.",
        "## Growth",
        f"Microseconds per property for one schema with so many of them; at most {GROWTH_SECONDS} s each. OpenAI takes "
        "5,000 properties in a strict schema: toolbridge then writes the tool a second time, not strict.",
        written(growth_table(result["growth"])),
        "## Import and first conversion",
        f"In a fresh interpreter, median of {STARTS}; the interpreter's own start is not in it.",
        written(start_table(result["starts"])),
        command_line(result["command"]),
        "## How it was run",
        f"Python {result['about']['python']} on {result['about']['machine']}. A fixed loop, run once a round, took up "
        f"to {result['about']['noise']:.2f} times its least wall time: so busy was the machine. Wall times (starts, "
        "the command) suffer from it in full, CPU times a little. Numbers from another machine cannot be compared with "
        "these, only ratios can. Tables of what a library keeps by content (compiled patterns, say) are warm after the "
        "first round, for all alike.",
        "\n".join(f"- {peer}: {versions}" for peer, versions in result["about"]["versions"].items()),
        "To repeat: `python benchmarks/schemas.py`.",
    ]
    return "\n\n".join(parts) + "\n"


def command_line(command: dict[str, Any]) -> str:
    if "error" in command:
        return f"`toolbridge convert`: not measured ({command['error']})."
    wall = f"{command['wall_ms']:.0f} ms of wall time"
    return f"`toolbridge convert FILE --to openai-chat` over {command['tools']} tools: {wall}, interpreter included."


# ── the run ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_list(file: Path) -> list[dict[str, Any]]:
    """Tools from JSON lines of tools or of `{"tool": …}`, or from a `tools/list` answer."""
    data = file.read_bytes()
    text = (gzip.decompress(data) if file.suffix == ".gz" else data).decode("utf-8")
    try:
        document = json.loads(text)
    except ValueError:
        document = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(document, dict):
        document = document.get("result", document)["tools"]
    return [each.get("tool", each) for each in document]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure conversion speed against other libraries.")
    parser.add_argument("--tools", type=Path, help="your own tools instead of the generated list")
    parser.add_argument("--sample", type=int, help="only so many of them, drawn always the same way")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--peers", nargs="*", choices=list(REQUIREMENTS), default=list(REQUIREMENTS))
    parser.add_argument("--skip-install", action="store_true", help="use the environments that are there")
    parser.add_argument("--json", type=Path, help="write all numbers there")
    parser.add_argument("--markdown", type=Path, help="write the tables there (the generated list: benchmarks/results)")
    options = parser.parse_args()

    tools = read_list(options.tools) if options.tools else generated.tools()
    if options.sample and options.sample < len(tools):
        tools = Random(generated.SEED).sample(tools, options.sample)
    texts = [json.dumps(each) for each in tools]
    source = "a list of your own" if options.tools else "the list that `generated.py` makes"
    errors: dict[str, str] = {}
    CACHE.mkdir(parents=True, exist_ok=True)
    if not options.skip_install:
        with ThreadPoolExecutor(INSTALLS_AT_ONCE) as pool:
            errors = dict(zip(options.peers, pool.map(install, options.peers), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tools.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        result = run([OURS, *options.peers], errors, texts, file, options.rounds)
    result["about"]["tools"] = f"{len(texts):,} tools of {source}"
    text = report(result)
    print(text)
    markdown = options.markdown or (None if options.tools or options.sample else RESULTS)
    if markdown:
        markdown.parent.mkdir(parents=True, exist_ok=True)
        markdown.write_text(text, encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


def run(peers: list[str], errors: dict[str, str], texts: list[str], file: Path, rounds: int) -> dict[str, Any]:
    workers: dict[str, Worker] = {}
    versions: dict[str, str] = {}
    rows: list[Row] = []
    for peer in peers:
        try:
            workers[peer] = started(peer, file, errors.get(peer, ""))
            answer = workers[peer].ask(do="versions")
        except Failed as failure:
            versions[peer] = f"failed: {failure}"
            rows.append(Row(peer, "all", error=str(failure)))
            continue
        versions[peer] = ", ".join(f"{package} {number}" for package, number in answer["versions"].items())
        rows += [Row(peer, target, target in answer["passed_through"]) for target in answer["targets"]]
    if any(row.peer == OURS and row.error for row in rows):
        raise SystemExit(f"{OURS} does not run with {sys.executable}: {versions[OURS]}")
    noise = measure_rounds(workers, rows, rounds)
    ours = {row.target: row for row in rows if row.peer == OURS}
    order = [*ours, "all"]
    rows.sort(key=lambda row: (order.index(row.target), row.peer != OURS))
    print("whole lists, growth, starts …", flush=True)
    kept = [row for row in rows if not row.error]
    batches = measure_batches(workers[OURS], list(ours), 3)
    for worker in workers.values():
        worker.close()
    return {
        "about": {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}, "
                  f"{os.cpu_count()} processors", "rounds": rounds, "noise": noise, "versions": versions},
        "speed": [row.summary(ours.get(row.target, row)) for row in rows],
        "batches": batches,
        "growth": measure_growth(kept, file),
        "starts": measure_starts([peer for peer in peers if peer in {row.peer for row in kept}]),
        "command": measure_command(texts),
    }  # fmt: skip


if __name__ == "__main__":
    main()
