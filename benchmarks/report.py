"""How results are shown: an area's JSON becomes a Markdown page and a picture in docs/benchmarks.

It knows tables, pictures and files, and nothing of what is measured: an area hands over an `Area` and calls `main`.
Everything on a page is made from the JSON beside it, so that `--from-json` writes the same page again without
measuring. Pictures are SVG and come out the same for the same numbers; the colours are those of Okabe and Ito, which
people who confuse red and green can tell apart, on white, which reads on a dark page too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any

from environments import CACHE, CORPUS, JUDGE, OURS, ROOT

RESULTS = ROOT / "docs" / "benchmarks"
OWN_RESULTS = CACHE / "results"
"""Where a run writes that is not the one which is published."""


def destination(narrowed: bool = False) -> Path:
    """docs/benchmarks for the whole comparison over real tools with the independent judge, and for nothing else: a run
    over generated tools, over yours or of some peers must not take the place of numbers that mean something else."""
    return RESULTS if CORPUS.is_file() and JUDGE.is_file() and not narrowed else OWN_RESULTS


NEEDS = (
    "Where a page says that its tools are of real MCP servers, and that the judge is independent, these are no part of "
    "the repository: both are in the folder that `TOOLBRIDGE_SHARED` names (`corpus/tools.jsonl.gz`, one tool a line, "
    "and `judge/judge.py`). Without that folder the same commands take generated tools and the main rules of the "
    "providers (`benchmarks/plain_rules.py`), and write to `.cache/bench/results`, so that neither these pages nor "
    "README's table are overwritten with something else."
)
"""What the published numbers need."""

BLUE, ORANGE, GREEN, YELLOW, GREY, RED = "#0072B2", "#E69F00", "#009E73", "#F0E442", "#999999", "#D55E00"

Table = list[list[str]]
Result = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What a run was asked for."""

    full: bool
    skip_install: bool
    peers: tuple[str, ...]
    """Which peers; none named: all."""
    tools: Path | None
    sample: int | None

    def wants(self, peer: str) -> bool:
        return not self.peers or peer in self.peers or peer == OURS


@dataclass(frozen=True)
class Area:
    """One thing that is measured: how, and how it is told."""

    name: str
    """The name of its files, and of its program."""
    title: str
    measure: Callable[[Options], Result]
    page: Callable[[Result], list[str]]
    """The paragraphs below the title."""
    draw: Callable[[Result], Any] | None = None
    """The picture: a `Figure`."""
    summary: Callable[[Result], list[Line]] = field(default=lambda result: [])


@dataclass(frozen=True)
class Line:
    """A line of the summary, which README quotes."""

    what: str
    ours: str
    others: str
    ahead: str
    """Who is better, in words: `toolbridge`, `even`, or the peers that beat us; nothing where nobody can be."""


# ── the run of an area ───────────────────────────────────────────────────────────────────────────────────────────


def main(area: Area) -> None:
    parser = argparse.ArgumentParser(
        description=f"{area.title}. Writes docs/benchmarks/{area.name}.json, .md and .svg."
    )
    parser.add_argument("--full", action="store_true", help="larger samples, more rounds")
    parser.add_argument("--skip-install", action="store_true", help="with the environments that are there")
    parser.add_argument("--peers", nargs="*", default=[], help="only these, and ours")
    parser.add_argument("--tools", type=Path, help="your own tools: JSON lines (.gz too) or a tools/list answer")
    parser.add_argument("--sample", type=int, help="so many of the tools, drawn always the same way")
    parser.add_argument("--from-json", action="store_true", help="write page and picture again from the numbers there")
    parser.add_argument(
        "--to",
        type=Path,
        help="the folder that is written to: docs/benchmarks for all of it, else .cache/bench/results",
    )
    given = parser.parse_args()
    narrowed = bool(given.peers or given.tools or given.sample)
    given.to = given.to or (RESULTS if given.from_json else destination(narrowed))
    file = given.to / f"{area.name}.json"
    if given.from_json:
        result = json.loads(file.read_text(encoding="utf-8"))
    else:
        options = Options(given.full, given.skip_install, tuple(given.peers), given.tools, given.sample)
        begun = perf_counter()
        measured = area.measure(options)
        result = {"area": area.name, "about": {**about(perf_counter() - begun, given.full), **measured.pop("about")}}
        result |= measured
    write(area, result, given.to)


def write(area: Area, result: Result, folder: Path) -> None:
    """The three files."""
    result["summary"] = [vars(each) for each in area.summary(result)]
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    # Lists of numbers on one line: a thousand lines of digits help nobody who reads a difference.
    text = re.sub(
        r"\[\s+((?:[-\d.e]+|null|\"[^\"\n]*\")(?:,\s+(?:[-\d.e]+|null|\"[^\"\n]*\"))*)\s+\]", _on_one_line, text
    )
    (folder / f"{area.name}.json").write_text(text + "\n", encoding="utf-8")
    page = page_of(area, result)
    (folder / f"{area.name}.md").write_text(page, encoding="utf-8")
    if area.draw is not None:
        save(area.draw, result, folder / f"{area.name}.svg")
    print(page)
    print(f"written to {folder}")


def _on_one_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r",\s+", ", ", found[1]) + "]"


def page_of(area: Area, result: Result) -> str:
    """The Markdown page, from nothing but the JSON."""
    picture = [f"![{area.title}]({area.name}.svg)"] if area.draw is not None else []
    tail = ["## How it was run", how(result["about"]), f"To repeat: `python benchmarks/{area.name}.py`."]
    return "\n\n".join([f"# {area.title}", *picture, *area.page(result), *tail]) + "\n"


def about(seconds: float, full: bool) -> Result:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    load = os.getloadavg()[1] if hasattr(os, "getloadavg") else None
    return {
        "date": date.today().isoformat(), "python": platform.python_version(), "machine": machine, "full": full,
        "seconds": round(seconds), "load": load and round(load, 1),
    }  # fmt: skip


def how(about: Result) -> str:
    busy = f", {about['load']} processes wanting to run in the last five minutes" if about.get("load") else ""
    parts = [
        f"{about['date']}, Python {about['python']} on {about['machine']}{busy}; {about['seconds']} s"
        f"{', the full run' if about['full'] else ''}. Numbers from another machine cannot be compared with these; "
        "ratios can."
    ]
    parts += [f"- {peer}: {versions}" for peer, versions in about.get("versions", {}).items()]
    parts[0] += "\n" if len(parts) > 1 else ""
    return "\n".join(parts)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def table(lines: Table) -> str:
    """A Markdown table, its columns aligned so that it reads in a terminal as well."""
    lines = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(lines[0]))]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    padded.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def failures(errors: dict[str, str]) -> list[str]:
    """The peers that could not be installed or run, with their errors."""
    if not errors:
        return []
    return ["Not measured:\n\n" + "\n".join(f"- {peer} **failed**: {error}" for peer, error in errors.items())]


def share(part: float, whole: float) -> str:
    """Per cent; never 100 or 0 unless it is exactly that."""
    if not whole:
        return "–"
    value = 100 * part / whole
    if part not in (0, whole):
        value = min(max(value, 0.1), 99.9)
    return f"{value:.0f} %" if value in (0, 100) else f"{value:.1f} %"


def ahead(ours: float, others: Sequence[tuple[str, float]], most: bool = False) -> str:
    """Who is better than we: the peers with less (`most`: with more); else those with as much, as even; else we."""
    sign = -1 if most else 1
    better = dict.fromkeys(peer for peer, value in others if sign * value < sign * ours)
    even = dict.fromkeys(peer for peer, value in others if value == ours)
    return ", ".join(better) or (f"even with {', '.join(even)}" if even else OURS)


# ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────────


def save(draw: Callable[[Result], Any], result: Result, file: Path) -> None:
    try:
        import matplotlib
    except ImportError:
        print(f"{file.name} is not drawn: matplotlib is not installed (dependency group `report`)", file=sys.stderr)
        return
    matplotlib.use("svg")
    matplotlib.rcParams.update({
        "svg.hashsalt": "toolbridge", "svg.fonttype": "path", "font.size": 10, "axes.spines.top": False,
        "axes.spines.right": False, "axes.grid": False, "grid.color": "#dddddd", "axes.axisbelow": True,
        "figure.facecolor": "white", "savefig.facecolor": "white",
    })  # fmt: skip
    draw(result).savefig(file, metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    lines = [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Bar:
    """One bar: a label, its parts from left to right, and what stands beside it."""

    label: str
    parts: tuple[float, ...]
    text: str = ""


@dataclass(frozen=True)
class Panel:
    """Bars under one heading."""

    title: str
    bars: tuple[Bar, ...]


def bars(panels: Sequence[Panel], colours: Sequence[str], legend: Sequence[str], axis: str, log: bool = False) -> Any:
    """Panels of horizontal bars, one below the other, ours in bold type."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    panels = [panel for panel in panels if panel.bars]
    heights = [len(panel.bars) + 1.1 for panel in panels]
    figure = Figure(figsize=(8.6, 0.27 * sum(heights) + 0.9), layout="constrained")
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    most = max(sum(bar.parts) for panel in panels for bar in panel.bars) or 1.0
    for axes, panel in zip(grid, panels, strict=True):
        for at, bar in enumerate(panel.bars):
            ours = bar.label.startswith(OURS)
            left = 0.0
            for part, colour in zip(bar.parts, colours, strict=True):
                shade = BLUE if ours and len(colours) == 1 else colour
                axes.barh(at, part, left=left, color=shade, edgecolor="white", linewidth=0.6, height=0.74)
                left += part
            beside = left * 1.06 if log else left + most * 0.01
            start = min(each for one in panels for b in one.bars for each in b.parts if each) / 2 if log else 0
            axes.text(max(beside, start), at, bar.text, va="center", fontsize=8.5, weight="bold" if ours else "normal")
        axes.set_yticks(range(len(panel.bars)), [bar.label for bar in panel.bars], fontsize=9)
        for tick, bar in zip(axes.get_yticklabels(), panel.bars, strict=True):
            tick.set_fontweight("bold" if bar.label.startswith(OURS) else "normal")
        axes.set_ylim(len(panel.bars) - 0.4, -0.6)
        axes.set_title(panel.title, loc="left", fontsize=10, weight="bold")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    grid[-1].set_xlabel(axis)
    if len(colours) > 1:
        handles = [Patch(color=colour, label=label) for colour, label in zip(colours, legend, strict=True)]
        figure.legend(
            handles=handles, loc="outside upper center", ncols=min(len(handles), 3), frameon=False, fontsize=9
        )
    return figure


def squares(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[str]], colours: dict[str, str]
) -> Any:
    """A field of words on colours: a verdict for each row and column."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(2.2 + 0.74 * len(columns), 0.34 * len(rows) + 1.3), layout="constrained")
    axes = figure.subplots()
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            axes.add_patch(
                Rectangle((x, y), 1, 1, facecolor=colours.get(cell, "#eeeeee"), edgecolor="white", linewidth=2)
            )
            axes.text(x + 0.5, y + 0.5, cell, ha="center", va="center", fontsize=8.5, color="#111111")
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([x + 0.5 for x in range(len(columns))], columns, fontsize=8.5, rotation=30, ha="left")
    axes.set_yticks([y + 0.5 for y in range(len(rows))], rows, fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure
