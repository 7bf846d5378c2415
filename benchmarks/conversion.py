"""Conversion time: every converter over the same tools, and how the time grows with the size of a tool.

    python benchmarks/conversion.py

The converters take turns, round by round, so that a busy machine is busy for all. What a converter is given (its MCP
tool object) is built before the clock starts; what is timed ends in the definition as the provider gets it. The clock
is the CPU time of the thread.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

import generated
from converters import TITLES, Converters, converters
from environments import OURS, Failed, last_line
from report import GREY, Area, Bar, Line, Options, Panel, Result, Table, ahead, bars, failures, main, table

SAMPLE, FULL_SAMPLE = 500, 2_000
ROUNDS, FULL_ROUNDS = 5, 9
SIZES, FULL_SIZES = (10, 100, 1_000), generated.GROWTH
GROWTH_SECONDS = 20
"""What a converter may take for one large schema."""
COMMAND_TOOLS, COMMAND_STARTS = 100, 5


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

    def summary(self, ours: Row) -> Result:
        """Times over the tools it took, and how they compare with ours over the same tools."""
        pairs = [(a, b) for a, b in zip(self.best, ours.best, strict=False) if a is not None and b is not None]
        times = sorted(each for each in self.best if each is not None)
        out: Result = {"peer": self.peer, "target": self.target, "passed_through": self.passed_through}
        if self.error or not times:
            return {**out, "error": self.error or self.refusal.partition(":")[0]}
        theirs, mine = [a for a, _ in pairs] or [0.0], [b for _, b in pairs] or [1.0]
        numbers = {
            "median": median(times), "mean": fmean(times), "p99": times[min(len(times) - 1, len(times) * 99 // 100)],
            "worst": times[-1], "median_by_ours": median(theirs) / median(mine),
            "mean_by_ours": fmean(theirs) / fmean(mine),
        }  # fmt: skip
        out |= {key: round(each, 3) for key, each in numbers.items()}
        return {**out, "refused": len(self.best) - len(times), "refusal": self.refusal.partition(":")[0]}


def measure(options: Options) -> Result:
    rounds = FULL_ROUNDS if options.full else ROUNDS
    with converters(options, SAMPLE, FULL_SAMPLE) as made:
        rows = [Row(peer, target, target in made.passed_through[peer]) for peer, target in made.pairs()]
        noise = measure_rounds(made, rows, rounds)
        ours = {row.target: row for row in rows if row.peer == OURS}
        print("whole lists, growth, the command …", flush=True)
        batches = measure_batches(made, list(ours), 3)
        growth = measure_growth(made, [row for row in rows if not row.error], FULL_SIZES if options.full else SIZES)
        return {
            "about": {
                "tools": made.source, "rounds": rounds, "noise": round(noise, 2), "versions": made.versions,
                "errors": made.errors,
            },
            "speed": [row.summary(ours[row.target]) for row in rows], "batches": batches, "growth": growth,
            "command": measure_command(made.texts),
        }  # fmt: skip


def measure_rounds(made: Converters, rows: list[Row], rounds: int) -> float:
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
                answer = made.ask(row.peer, "round", target=row.target)
            except Failed as failure:
                row.error = str(failure)
                continue
            row.refusal = answer["refusal"]
            if number:
                row.add(answer["times"])
    return max(fixed) / min(fixed)


def measure_batches(made: Converters, targets: list[str], rounds: int) -> list[Result]:
    """Whole lists of ours at once, and once more: the least of all rounds, in microseconds a tool."""
    lines: list[Result] = []
    for target in targets:
        line: Result = {"target": target}
        for how in ("many", "only_prepare"):
            try:
                answers = [made.ask(OURS, "batch", target=target, how=how) for _ in range(rounds)]
            except Failed as failure:
                line["error"] = str(failure)
                break
            line[how] = {key: round(min(each[key] for each in answers) / 1e3, 3) for key in ("first", "again")}
        lines.append(line)
    return lines


def measure_growth(made: Converters, rows: list[Row], sizes: tuple[int, ...]) -> list[Result]:
    """Microseconds a property for schemas of growing width; a text where there is no number."""
    lines: list[Result] = []
    texts = {size: json.dumps(generated.wide(size)) for size in sizes}
    for row in rows:
        line: Result = {"peer": row.peer, "target": row.target, "sizes": {}}
        for size, text in texts.items():
            repeats = max(3, min(30, 10_000 // size))
            try:
                best = made.ask(row.peer, "wide", GROWTH_SECONDS, target=row.target, text=text, repeats=repeats)
                line["sizes"][str(size)] = round(best / 1e3 / size, 3)
            except Failed as failure:
                line["sizes"][str(size)] = str(failure)[:60]
                if "more than" in str(failure):
                    made.start(row.peer, "")  # it was killed: the other targets need it
                    break
        lines.append(line)
    return lines


def measure_command(texts: list[str]) -> Result:
    """`toolbridge convert` over a file of tools, from the shell's side."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tools.json"
        file.write_text(json.dumps({"tools": [json.loads(each) for each in texts[:COMMAND_TOOLS]]}), encoding="utf-8")
        command = [sys.executable, "-m", "toolbridge", "convert", str(file), "--to", "openai-chat"]
        # Compiled modules are kept, as they are where people install packages; nothing is written beside the sources.
        kept = {"PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
        walls: list[float] = []
        for _ in range(COMMAND_STARTS + 1):
            start = perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **kept})
            walls.append((perf_counter() - start) * 1e3)
            if not done.stdout.strip():
                return {"error": last_line(done.stderr) or "no output"}
        return {"tools": min(COMMAND_TOOLS, len(texts)), "wall_ms": round(median(walls[1:]))}


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────


def page(result: Result) -> list[str]:
    about = result["about"]
    return [
        f"{about['tools']}; {about['rounds']} rounds, each tool once a round, the least time of each tool. "
        "Microseconds of CPU time a tool, from the MCP tool object to the definition. `× ours` is the converter's "
        "time divided by toolbridge's over the tools that both took: above 1 the converter is slower than "
        "toolbridge, below 1 it is faster. *Refused* counts tools on which it raised (for toolbridge: that it left "
        "out).",
        "Converters differ in what they do for it. toolbridge's time includes the notes on every change and the way "
        "back; one that passes schemas through does none of that work. What it makes right with it is in "
        "[legality](legality.md).",
        table(speed_table(result["speed"])),
        *failures(about["errors"]),
        "## Whole lists, and the same list again",
        "`prepare` keeps what it compiled for a tool. The first columns include reading `definitions`.",
        table(batch_table(result["batches"])),
        "## Growth",
        f"Microseconds per property for one schema with so many of them; at most {GROWTH_SECONDS} s each. OpenAI takes "
        "5,000 properties in a strict schema: beyond, toolbridge writes the tool a second time, not strict.",
        table(growth_table(result["growth"])),
        "## The command",
        command_line(result["command"]),
        f"A fixed loop, run once a round, took up to {about['noise']:.2f} times its least wall time: so busy was the "
        "machine. Wall times suffer from it in full, CPU times a little. Tables of what a library keeps by content "
        "(compiled patterns, say) are warm after the first round, for all alike.",
    ]  # fmt: skip


def faster(each: Result) -> list[str]:
    return [name for name in ("median", "mean") if each.get(f"{name}_by_ours", 1) < 1]


def speed_table(speed: list[Result]) -> Table:
    lines = [["for", "converter", "median", "mean", "p99", "worst", "refused", "median × ours", "mean × ours", ""]]
    for each in speed:
        start = [TITLES[each["target"]], each["peer"]]
        if "error" in each:
            lines.append([*start, *["–"] * 7, f"failed: {each['error']}"])
            continue
        numbers = [f"{each[key]:,.1f}" for key in ("median", "mean", "p99", "worst")]
        if each["peer"] == OURS:
            lines.append([*start, *numbers, str(each["refused"]), "1", "1", ""])
            continue
        ratios = [f"{each[key]:.2f}" for key in ("median_by_ours", "mean_by_ours")]
        remarks = ["passes schemas through"] if each["passed_through"] else []
        remarks += [f"**faster than {OURS}** ({' and '.join(faster(each))})"] if faster(each) else []
        lines.append([*start, *numbers, str(each["refused"]), *ratios, "; ".join(remarks)])
    return lines


def batch_table(batches: list[Result]) -> Table:
    lines = [["for", "lists of 100, µs a tool", "again", "ratio", "without `definitions`", "again", "ratio"]]
    for each in batches:
        if "error" in each:
            lines.append([TITLES[each["target"]], f"failed: {each['error']}", *["–"] * 5])
            continue
        line = [TITLES[each["target"]]]
        for how in ("many", "only_prepare"):
            first, again = each[how]["first"], each[how]["again"]
            line += [f"{first:.1f}", f"{again:.2f}", f"{first / again:.0f}×"]
        lines.append(line)
    return lines


def growth_table(growth: list[Result]) -> Table:
    sizes = sorted({int(size) for each in growth for size in each["sizes"]})
    lines = [["for", "converter", *(f"{size:,}" for size in sizes)]]
    for each in growth:
        cells = [each["sizes"].get(str(size), "–") for size in sizes]
        lines.append([TITLES[each["target"]], each["peer"], *(c if isinstance(c, str) else f"{c:.2f}" for c in cells)])
    return lines


def command_line(command: Result) -> str:
    if "error" in command:
        return f"`toolbridge convert`: not measured ({command['error']})."
    wall = f"{command['wall_ms']} ms of wall time"
    return f"`toolbridge convert FILE --to openai-chat` over {command['tools']} tools: {wall}, interpreter included."


def draw(result: Result) -> Any:
    panels = [
        Panel(title, tuple(
            Bar(each["peer"], (each["median"],), f"{each['median']:,.1f}  (p99 {each['p99']:,.0f})")
            for each in result["speed"] if each["target"] == target and "error" not in each
        )) for target, title in TITLES.items()
    ]  # fmt: skip
    return bars(panels, (GREY,), ("",), "median time of a tool (µs of CPU, logarithmic)", log=True)


def summary(result: Result) -> list[Line]:
    lines: list[Line] = []
    for target, title in TITLES.items():
        rows = [each for each in result["speed"] if each["target"] == target and "error" not in each]
        ours = next((each for each in rows if each["peer"] == OURS), None)
        others = sorted((each for each in rows if each["peer"] != OURS), key=lambda each: each["median"])
        if not ours or not others:
            continue
        # Over the tools that both took; what differs by less than a hundredth is even.
        best = ahead(1, [(each["peer"], round(each["median_by_ours"], 2)) for each in others])
        texts = [f"{each['median']:,.1f} {each['peer']}" for each in others]
        lines.append(
            Line(f"conversion, median of a tool: {title}", f"{ours['median']:,.1f} µs", ", ".join(texts), best)
        )
    return lines


AREA = Area("conversion", "Conversion time", measure, page, draw, summary)

if __name__ == "__main__":
    main(AREA)
