"""Running `toolbridge` as a real process, in surroundings that are the same wherever the tests run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "tools.json"

LIMIT_SECONDS = 60
"""How long any command may take before the test gives up on it."""

_UNWANTED = (
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said on both streams, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "toolbridge", *arguments]


def surroundings(**changes: str) -> dict[str, str]:
    return {**{key: value for key, value in os.environ.items() if key not in _UNWANTED}, **changes}


def toolbridge(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **changes: str) -> Answer:
    """Run a command to its end. Keyword arguments are environment variables."""
    done = subprocess.run(
        command_line(*map(str, arguments)),
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=surroundings(**changes),
        timeout=LIMIT_SECONDS,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
