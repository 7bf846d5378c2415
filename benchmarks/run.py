"""Everything that is measured against other libraries, one area after the other, and the page that sums it up.

    python benchmarks/run.py                 # all areas, then docs/benchmarks/index.md and summary.json
    python benchmarks/run.py --only streams  # some of them
    python benchmarks/run.py --index         # nothing: only the page, from the numbers that are there

An area that fails is named at the end and costs the others nothing; what it wrote the last time stays, with its date.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from environments import HERE, OURS, REQUIREMENTS, install
from report import NEEDS, RESULTS, Result, destination, table

AREAS = ("legality", "conversion", "imports", "streams", "servers", "tokens", "loop")

AHEAD = {
    "legality": "a second way to write the tools that a peer gets right and toolbridge does not",
    "conversion": "doing less for each tool: LiteLLM and mcp-use pass most of a schema through, Pydantic AI rewrites "
    "it without a record, and toolbridge's time includes the notes and the way back; or a walk over the schema that "
    "is compiled to machine code",
    "imports": "fewer modules of our own in the first import",
    "streams": "nothing but joining strings",
    "servers": "fewer layers around the SDK's session: the hub looks up what is offered, bounds the call and reads the "
    "result into a type of its own",
    "tokens": "dropping titles and other words that tell a model little, which toolbridge does only when it is asked "
    "to (`toolbridge tokens`); in strict mode also making every optional argument required, which loses calls",
}
"""What it would take to be ahead of those that are ahead of us."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure everything against other libraries.")
    parser.add_argument("--only", nargs="+", choices=AREAS, default=AREAS, metavar="AREA", help=", ".join(AREAS))
    parser.add_argument("--index", action="store_true", help="measure nothing; write the page from what is there")
    parser.add_argument("--full", action="store_true", help="larger samples, more rounds")
    parser.add_argument("--skip-install", action="store_true", help="with the environments that are there")
    parser.add_argument(
        "--to", type=Path, help="the folder that is written to: docs/benchmarks, or .cache/bench/results (see the page)"
    )
    given = parser.parse_args()
    given.to = given.to or (RESULTS if given.index else destination())
    given.to.mkdir(parents=True, exist_ok=True)
    print(f"written to {given.to}", flush=True)
    failed: dict[str, int] = {}
    if not given.index:
        begun = perf_counter()
        errors = {} if given.skip_install else install(REQUIREMENTS)
        for environment, error in errors.items():
            print(f"{environment} could not be installed: {error}", flush=True)
        seconds = {"installing": perf_counter() - begun}
        # What could not be installed is tried once more by its areas: they show the error.
        flags = ["--to", str(given.to), *(["--full"] if given.full else []), *([] if errors else ["--skip-install"])]
        for area in given.only:
            print(f"── {area} ──", flush=True)
            start = perf_counter()
            done = subprocess.run([sys.executable, str(HERE / f"{area}.py"), *flags], check=False, env=environment_of())
            seconds[area] = perf_counter() - start
            if done.returncode:
                failed[area] = done.returncode
        whole = perf_counter() - begun
        shares = ", ".join(f"{name} {each:.0f} s ({each / whole:.0%})" for name, each in seconds.items())
        print(f"{whole:.0f} s: {shares}")
    write_index(given.to)
    for area, code in failed.items():
        print(f"{area} failed with exit code {code}; its page is as it was", file=sys.stderr)
    sys.exit(1 if failed else 0)


def environment_of() -> dict[str, str]:
    """Nothing is written beside the sources, and no key of this machine is used."""
    return {key: each for key, each in os.environ.items() if not key.endswith("_API_KEY")}


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────


def read(folder: Path) -> list[Result]:
    files = [folder / f"{area}.json" for area in AREAS]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]


def write_index(folder: Path) -> None:
    """summary.json, and the page that is made from it."""
    results = read(folder)
    lines = [{**line, "area": each["area"]} for each in results for line in each["summary"]]
    areas = {
        each["area"]: {
            "date": each["about"]["date"], "seconds": each["about"]["seconds"], "load": each["about"]["load"],
            "errors": each["about"].get("errors", {}),
        }
        for each in results
    }  # fmt: skip
    summary: dict[str, Any] = {"areas": areas, "lines": lines}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "index.md").write_text(page(summary), encoding="utf-8")


def page(summary: Result) -> str:
    lines = [["what", OURS, "the others", "ahead"]]
    for each in summary["lines"]:
        what = f"[{each['what']}]({each['area']}.md)"
        lines.append([what, each["ours"], each["others"], who(each["ahead"])])
    areas = [["area", "measured on", "seconds", "not measured"]]
    for area, each in summary["areas"].items():
        missing = "; ".join(f"{peer}: {error}" for peer, error in each["errors"].items()) or "–"
        areas.append([f"[{area}]({area}.md)", each["date"], str(each["seconds"]), missing])
    whole = sum(each["seconds"] for each in summary["areas"].values())
    parts = [
        "# toolbridge beside other libraries",
        "Every number here is made by the commands of `make bench` on one machine, each library in an environment "
        "of its own, on the way that its own documentation recommends. The pages behind the links have all numbers, "
        "the versions, what is not comparable, and the errors of what did not run. In bold: where others are ahead "
        "of toolbridge.",
        NEEDS,
        table(lines),
        "## Where others are ahead, and what it would take",
        behind(summary) or "Nowhere in this table.",
        "## What was measured",
        table(areas),
        f"{whole / 60:.0f} minutes in all. `python benchmarks/run.py --only AREA` repeats one, `--full` takes larger "
        "samples. What [other frameworks' adapters do with nasty tools](../from-langchain.md) is counted by "
        "`python benchmarks/doors.py`, which prints and writes no page.",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def who(ahead: str) -> str:
    return ahead if not ahead or ahead == OURS or ahead.startswith("even") else f"**{ahead}**"


def behind(summary: Result) -> str:
    out: list[str] = []
    for area in AREAS:
        lost = [each for each in summary["lines"] if each["area"] == area and who(each["ahead"]).startswith("**")]
        if lost:
            whats = "; ".join(f"{each['what']}: {each['ahead']}" for each in lost)
            out.append(f"- {area} ({whats}). It would take {AHEAD.get(area, 'a look at why')}.")
    return "\n".join(out)


if __name__ == "__main__":
    main()
