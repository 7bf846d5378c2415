"""What the frameworks' own MCP adapters do with nasty tools: the numbers of docs/from-langchain.md and its neighbours.

    python benchmarks/doors.py

It prints its numbers and writes no page, so that it is no area of `run.py`. Each framework runs in its own environment
(`environments.py`), with `workers/doors.py` in it. Definitions are judged for OpenAI by the judge of the shared folder
(TOOLBRIDGE_SHARED), which shares no code with toolbridge; without it by `plain_rules.py`, which knows the main rules
only, and then it says so. What the doors of toolbridge do with the same tools is asserted by `tests/frameworks`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import jsonschema  # noqa: E402
import plain_rules  # noqa: E402
from environments import JUDGE, QUIET, install_one, python_of  # noqa: E402
from tests.support.shared import judge  # noqa: E402

CALLS: dict[str, dict[str, Any]] = json.loads(
    (HERE.parent / "tests" / "frameworks" / "nasty.json").read_text(encoding="utf-8")
)["calls"]
FRAMEWORKS = ("langchain", "openai-agents", "pydantic-ai")
SECONDS = 120


def asked(framework: str) -> dict[str, Any] | str:
    """What the worker found; or why there is nothing."""
    failure = install_one(framework)
    if failure:
        return failure
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python_of(framework)), str(HERE / "workers" / "doors.py"), framework, f"{folder}/ledger"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, env={**os.environ, **QUIET}
        )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rules() -> Any:
    """The independent judge where it is at hand, else the main rules."""
    return judge() if JUDGE.is_file() else plain_rules


def counted(framework: str, found: dict[str, Any]) -> list[str]:
    most = len(CALLS)
    rows = [f"{framework}: {most} tools"]
    for form in ("plain", "strict"):
        legal = {
            name: each["function"]
            for name, each in found[form].items()
            if not isinstance(each, str) and not rules().violations("openai-chat", each)
        }
        sayable = [
            name for name, each in legal.items() if jsonschema.Draft202012Validator(each["parameters"]).is_valid(
                CALLS[name]["right"]
            )
        ]  # fmt: skip
        strict = sum(each.get("strict") is True for each in legal.values())
        raised = [f"{name} raises {each}" for name, each in found[form].items() if isinstance(each, str)]
        rows.append(f"  {form}: {len(legal)} legal, {strict} strict, {len(sayable)} let the right call be written")
        rows += [f"    {each}" for each in raised]
    right = sum(each["right"] == CALLS[name]["right"] for name, each in found["reached"].items())
    wrong = sum(each["wrong"] is not None for each in found["reached"].values())
    rows.append(f"  calls: {right} right ones reached the server as they were meant, {wrong} wrong ones reached it")
    return rows


if __name__ == "__main__":
    if not JUDGE.is_file():
        print("judged by plain_rules.py, which knows the main rules only: the numbers of the documents are not these")
    for framework in FRAMEWORKS:
        found = asked(framework)
        print("\n".join(counted(framework, found) if isinstance(found, dict) else [f"{framework}: {found}"]))
