"""How the ecosystem does: the linter, the providers and the tokenizer over thousands of real tools.

    python benchmarks/ecosystem.py                   # reads the corpus that TOOLBRIDGE_SHARED names; writes the page
    python benchmarks/ecosystem.py --servers 50      # over some of the servers, to try something out

It writes docs/ecosystem.md and its pictures. Nothing of the corpus goes into them but sums: no server and no tool is
named. Times are of the processor, so that a busy machine does not count.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from toolbridge.lint.linting import LintReport, lint_tools
from toolbridge.lint.table import rules
from toolbridge.prepare import NATURAL, prepare
from toolbridge.providers import providers
from toolbridge.spending import PARTS, measure, propose
from toolbridge.spending.cuts import KINDS
from toolbridge.tools import read_tools
from toolbridge.types import Tool, ToolId

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("TOOLBRIDGE_SHARED") or ROOT.parent / "shared") / "corpus"

WORST = ("left out", "narrowed", "widened", "changed")
"""What may become of a tool, the worst first; what is none of these is exact."""

SIZES = (10, 100, 1_000, 5_000)
"""Numbers of tools that show how the time grows."""

ROUNDS = 3
SEED = 2026


@dataclass
class Figures:
    """What was counted. Everything that the page says comes from here."""

    tools: int = 0
    servers: int = 0
    failing_tools: Counter[str] = field(default_factory=Counter[str])
    """Tools that break each rule."""
    failing_servers: Counter[str] = field(default_factory=Counter[str])
    findings: Counter[str] = field(default_factory=Counter[str])
    """By severity."""
    clean_tools: int = 0
    """Tools without an error or a warning."""
    tool_scores: list[int] = field(default_factory=list[int])
    server_scores: list[int] = field(default_factory=list[int])
    tool_tokens: list[int] = field(default_factory=list[int])
    server_tokens: list[int] = field(default_factory=list[int])
    server_sizes: list[int] = field(default_factory=list[int])
    parts: Counter[str] = field(default_factory=Counter[str])
    saved: Counter[str] = field(default_factory=Counter[str])
    """Tokens that each kind of cut would save."""
    free: int = 0
    fates: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    """For each provider, how many tools come out how."""
    strict: int = 0
    """Tools that are strict by default with OpenAI."""
    times: dict[int, float] = field(default_factory=dict[int, float])
    """Seconds for so many tools."""
    hard: dict[str, tuple[int, float]] = field(default_factory=dict[str, "tuple[int, float]"])
    """Tools that are made to be difficult: how many, and the seconds that they took."""


def read_corpus(name: str) -> list[dict[str, Any]]:
    path = CORPUS / f"{name}.jsonl.gz"
    if not path.is_file():
        sys.exit(f"{path.name}: not there; TOOLBRIDGE_SHARED must name the folder that has the corpus")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def by_server(records: list[dict[str, Any]]) -> dict[str, list[Tool]]:
    listed: dict[str, list[Any]] = {}
    for each in records:
        listed.setdefault(each["server"], []).append(each["tool"])
    return {server: read_tools(tools, server) for server, tools in listed.items()}


def count_findings(figures: Figures, report: LintReport) -> None:
    of_tools: dict[str, set[Any]] = {}
    for each in report.findings:
        figures.findings[each.severity] += 1
        of_tools.setdefault(each.rule, set()).add(each.tool)
    for rule, tools in of_tools.items():
        figures.failing_servers[rule] += 1
        figures.failing_tools[rule] += len(tools - {None})
    grave = {each.tool for each in report.findings if each.severity != "info"}
    figures.clean_tools += len({tool.id for tool in report.tools} - grave)
    figures.tool_scores += report.scores.values()
    figures.server_scores += report.server_scores.values()


def count_tokens(figures: Figures, tools: list[Tool]) -> None:
    spent = measure(tools, "openai-chat")
    figures.tool_tokens += [each.total for each in spent.tools]
    figures.server_tokens.append(spent.total)
    figures.server_sizes.append(len(tools))
    for part in PARTS:
        figures.parts[part] += getattr(spent.parts, part)
    savings = propose(spent)
    figures.free += savings.free
    for cut in savings.cuts:
        figures.saved[cut.kind] += cut.saved


def count_fates(figures: Figures, tools: list[Tool]) -> None:
    """Each tool by itself and without its server's name: how many a request may hold, and how names are told apart, are
    other questions. What strict mode does to every tool alike is a change and no loss."""
    for tool in tools:
        alone = replace(tool, id=ToolId("", tool.id.name))
        for name in providers():
            fates = figures.fates.setdefault(name, Counter())
            made = prepare([alone], name)
            if made.left_out:
                fates["left out"] += 1
                continue
            effects = {"changed" if note.code in NATURAL else note.effect for note in made.notes[alone.id]}
            fates[next((each for each in WORST if each in effects), "exact")] += 1
            figures.strict += name == "openai-chat" and made.is_strict(alone.id)


def timed(records: list[dict[str, Any]]) -> dict[int, float]:
    """Seconds of the linter alone, for tools that it never saw: what it keeps goes by the identity of a tool."""
    draw = random.Random(SEED)
    times: dict[int, float] = {}
    for size in SIZES:
        if size > len(records):
            break
        taken = draw.sample(records, size)
        rounds: list[float] = []
        for _ in range(ROUNDS):
            tools = [tool for listed in by_server(taken).values() for tool in listed]
            before = process_time()
            lint_tools(tools)
            rounds.append(process_time() - before)
        times[size] = median(rounds)
    return times


def hard(name: str) -> tuple[int, float]:
    """Tools, or schemas as those of tools, that were collected for being difficult. That it ends is the test."""
    entries = [
        each["tool"] if "tool" in each else {"name": f"tool_{i}", "inputSchema": each["schema"]}
        for i, each in enumerate(read_corpus(name))
    ]
    before = process_time()
    report = lint_tools(read_tools(entries))
    assert len(report.tools) == len(entries)
    return len(entries), process_time() - before


def figures_of(most_servers: int | None) -> Figures:
    records = read_corpus("tools")
    figures = Figures()
    lint_tools(read_tools([{"name": "warm_up"}]))
    figures.times = timed(records)
    figures.hard = {name: hard(name) for name in ("nasty", "hard_schemas")}
    servers = by_server(records)
    chosen = list(servers.values())[:most_servers]
    for i, tools in enumerate(chosen):
        count_findings(figures, lint_tools(tools))
        count_tokens(figures, tools)
        count_fates(figures, tools)
        figures.tools += len(tools)
        figures.servers += 1
        if i % 50 == 49:
            print(f"{i + 1} of {len(chosen)} servers", file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, help="only so many servers; writes no page")
    arguments = parser.parse_args()
    figures = figures_of(arguments.servers)
    assert {*figures.failing_servers} <= {*rules()}
    assert {*figures.saved} <= {*(kind.id for kind in KINDS), "copy"}
    import ecosystem_page

    page = ecosystem_page.page(figures)
    if arguments.servers:
        print(page)
        return
    ecosystem_page.draw(figures, ROOT / "docs" / "ecosystem")
    (ROOT / "docs" / "ecosystem.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
