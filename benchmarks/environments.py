"""Where peers run: a virtual environment for each library, and each of them in a process of its own.

It knows what is installed and how a process is asked; it does not know what is measured. The areas (`conversion.py`,
`legality.py`, …) sit above it, the programs in `workers/` on the other side of the pipe.

An environment stands under .cache/bench and is made anew when its requirements change. One that cannot be made costs
its own rows: `install` gives the error back, and a peer that is asked without an environment raises `Failed`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = ROOT / ".cache" / "bench"

SHARED = Path(os.environ.get("TOOLBRIDGE_SHARED") or ROOT.parent / "shared")
"""Real tools and the independent judge, which are no part of the repository."""
CORPUS, JUDGE = SHARED / "corpus" / "tools.jsonl.gz", SHARED / "judge" / "judge.py"

OURS = "toolbridge"
"""It runs in the interpreter that runs the benchmarks."""

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "langchain": ("langchain-mcp-adapters>=0.3,<0.4", "langchain-core>=1.7,<2", "langchain-openai>=1.7,<2",
                  "langchain-anthropic>=1.7,<2", "langchain-google-genai>=4.4,<5", "mcp>=1.30,<3"),
    "openai-agents": ("openai-agents>=0.24,<0.25", "mcp>=2.3,<3"),
    "pydantic-ai": ("pydantic-ai-slim[mcp,openai,google,anthropic]>=2.66,<3",),
    "litellm": ("litellm>=1.106,<2", "mcp>=2.3,<3"),
    "mcp-use": ("mcp-use>=1.7,<2", "openai>=3.49,<4", "anthropic>=2.8,<3", "google-genai>=3.1,<4"),
    "google-adk": ("google-adk[mcp]>=2.13,<3", "litellm>=1.106,<2", "mcp>=2.3,<3"),
    "google-genai": ("google-genai>=3.1,<4", "mcp>=2.3,<3"),
    "anthropic": ("anthropic>=2.8,<3", "mcp>=2.3,<3"),
    "openai": ("openai>=3.49,<4",),
    "fastmcp": ("fastmcp>=4.1,<5",),
    "judge": ("openai>=3.49,<4", "anthropic>=2.8,<3", "google-genai>=3.1,<4", "botocore>=1.44,<2",
              "mistral-common>=1.13,<2", "llguidance>=1.9,<2", "jsonschema>=4.26,<5", "jsonschema-rs>=0.60,<1"),
}  # fmt: skip
"""The environments, and what pip installs into each. `judge` is nobody's peer: what legality is judged with."""

INSTALLS_AT_ONCE = 2
INSTALL_SECONDS = 900
ANSWER_SECONDS = 600

QUIET = {
    "MCP_USE_ANONYMIZED_TELEMETRY": "false",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_TELEMETRY": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_LOG_LEVEL": "CRITICAL",
    "OPENAI_API_KEY": "none",
    "ANTHROPIC_API_KEY": "none",
    "GOOGLE_API_KEY": "none",
}
"""What keeps the peers from calling home and from writing. Some want a key before they convert: none is used."""


class Failed(Exception):
    """An environment is not there; or a worker died, took too long or answered with an error."""


def python_of(environment: str) -> Path:
    """The interpreter of an environment: this one for ours."""
    if environment in ("", OURS):
        return Path(sys.executable)
    return CACHE / environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install_one(environment: str) -> str:
    """The environment, made where it is missing or asks for something else; the error, if there is one."""
    wanted = "\n".join(REQUIREMENTS[environment])
    mark = CACHE / environment / "requirements.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return ""
    print(f"installing {environment} …", flush=True)
    mark.unlink(missing_ok=True)
    make = [sys.executable, "-m", "venv", "--without-pip", "--clear", str(CACHE / environment)]
    pip = [sys.executable, "-m", "pip", "--python", str(python_of(environment)), "install", "-q"]
    for command in (make, [*pip, "--disable-pip-version-check", *REQUIREMENTS[environment]]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as failure:
            return last_line(str(failure))
        if done.returncode:
            return last_line(done.stderr or done.stdout) or f"exit code {done.returncode}"
    mark.write_text(wanted, encoding="utf-8")
    return ""


def install(environments: Iterable[str]) -> dict[str, str]:
    """What could not be installed, and why."""
    wanted = [each for each in dict.fromkeys(environments) if each not in ("", OURS)]
    CACHE.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(INSTALLS_AT_ONCE) as pool:
        errors = dict(zip(wanted, pool.map(install_one, wanted), strict=True))
    return {environment: error for environment, error in errors.items() if error}


def last_line(text: str) -> str:
    """The last line that says something, without the paths of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "").replace(str(ROOT), ".").replace(str(Path.home()), "~")[:200]


class Worker:
    """A program of `workers/` in an environment: one JSON line in, one JSON line out."""

    def __init__(self, environment: str, program: str, *arguments: object, error: str = "", **variables: str) -> None:
        """`error` is what `install` said of the environment."""
        if error or not python_of(environment).exists():
            raise Failed(f"not installed: {error or 'no environment'}")
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [str(python_of(environment)), str(HERE / "workers" / program), *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, encoding="utf-8",
            env={**os.environ, **QUIET, **variables},
        )  # fmt: skip

    def ask(self, do: str, seconds: float = ANSWER_SECONDS, **request: Any) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            process.stdin.flush()
        except (OSError, ValueError):
            raise Failed(self._death()) from None
        if not select.select([process.stdout], [], [], seconds)[0]:
            self.kill()
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
        if self._errors.closed:
            return "it was ended before"
        self._errors.seek(0)
        said = last_line(self._errors.read())
        self.kill()
        return said or f"exit code {self._process.returncode}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for each in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):  # what was not written to one that is dead
                each and each.close()

    def close(self) -> None:
        """The end of its stdin, so that it closes what it has open; a worker that does not is killed."""
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=10)
        self.kill()
