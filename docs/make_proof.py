"""Writes the table of proof in README from docs/benchmarks/summary.json: README's numbers are those that were measured.

    python docs/make_proof.py

The table stands between two marks. Without them nothing is written, and it says so.
"""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = ROOT / "docs" / "benchmarks" / "summary.json"
BEGIN, END = "<!-- proof: written by docs/make_proof.py -->", "<!-- end of proof -->"
GROUPED = ("conversion", "tokens")
"""Areas whose targets share a row, or the table would be twice as long. Who is ahead is named for each of them."""
BREAK = "<br>"
"""A line of its own within a cell."""


def table() -> str:
    """The proof: a line for each thing that was measured beside others, and where others are ahead, who."""
    summary = json.loads(SUMMARY.read_text(encoding="utf-8"))
    lines = ["| measured | toolbridge | the others, from best to worst | ahead |", "|---|---|---|---|"]
    for area, found in groupby(summary["lines"], key=lambda each: each["area"]):
        rows: list[dict[str, Any]] = list(found)
        cells = [group(rows)] if area in GROUPED else [row(each) for each in rows]
        lines += [f"| [{what}](docs/benchmarks/{area}.md) | {' | '.join(rest)} |" for what, *rest in cells]
    dates = sorted({each["date"] for each in summary["areas"].values()})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    every = "[every number](docs/benchmarks/index.md), the versions, and the errors of what did not run"
    needs = (
        "The tools and the judge are not in the repository: the table is made again where `TOOLBRIDGE_SHARED` names a "
        "folder that has them; elsewhere generated tools and plain rules are taken, and the results are written to "
        "`.cache/bench/results`."
    )
    return "\n".join([*lines, "", f"Measured on {when} by the commands of `make bench`: {every}. {needs}"])


def row(each: dict[str, Any]) -> list[str]:
    return [each["what"], each["ours"], ends(each["others"]), marked(each["ahead"])]


def group(rows: list[dict[str, Any]]) -> list[str]:
    """All targets in one row, by name where they differ."""
    what = rows[0]["what"].partition(": ")[0]
    named = [(each["what"].partition(": ")[2], each) for each in rows]
    ours = BREAK.join(f"{target}: {each['ours']}" for target, each in named)
    others = BREAK.join(f"{target}: {ends(each['others'])}" for target, each in named)
    return [what, ours, others, BREAK.join(f"{target}: {marked(each['ahead'])}" for target, each in named)]


def marked(ahead: str) -> str:
    return ahead if not ahead or ahead == "toolbridge" or ahead.startswith("even") else f"**{ahead}**"


def ends(others: str) -> str:
    """The best and the worst of a list: all of them are on the page."""
    listed = others.split(", ")
    return others if len(listed) < 3 else f"{listed[0]} … {listed[-1]}"


def readme(text: str) -> str:
    """README with the table between its marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README has no place for the proof: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> None:
    file = ROOT / "README.md"
    try:
        file.write_text(readme(file.read_text(encoding="utf-8")), encoding="utf-8")
    except ValueError as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
