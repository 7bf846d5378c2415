"""Writes the table of proof in README from docs/benchmarks/summary.json: README's numbers are those that were measured.

    python docs/make_proof.py

The table stands between two marks. Without them nothing is written, and it says so.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = ROOT / "docs" / "benchmarks" / "summary.json"
BEGIN, END = "<!-- proof: written by docs/make_proof.py -->", "<!-- end of proof -->"


def table() -> str:
    """The proof: a line for each thing that was measured beside others, and where others are ahead, who."""
    summary = json.loads(SUMMARY.read_text(encoding="utf-8"))
    lines = ["| measured | toolbridge | the others, from best to worst | ahead |", "|---|---|---|---|"]
    for each in summary["lines"]:
        ahead = each["ahead"]
        if ahead and ahead != "toolbridge" and not ahead.startswith("even"):
            ahead = f"**{ahead}**"
        what = f"[{each['what']}](docs/benchmarks/{each['area']}.md)"
        lines.append(f"| {what} | {each['ours']} | {ends(each['others'])} | {ahead} |")
    dates = sorted({each["date"] for each in summary["areas"].values()})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    every = "[every number](docs/benchmarks/index.md), the versions, and the errors of what did not run"
    return "\n".join([*lines, "", f"Measured on {when} by the commands of `make bench`: {every}."])


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
