"""Real servers that nobody here wrote, installed once into a cache and pinned; where they cannot be had, the test skips.

The cache is the folder that TOOLBRIDGE_TEST_CACHE names, or `~/.cache/toolbridge-tests`. Several test processes may ask at
once: the first installs, the others wait for it. With TOOLBRIDGE_TEST_REAL=required an installation that fails is a failed
test and no skip, so that a pipeline cannot lose these tests in silence.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.http_servers import free_port, wait_for_port
from tests.support.processes import OURS, TOKEN

NPM = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "memory-of-2024@npm:@modelcontextprotocol/server-memory@0.6.2",  # speaks 2024-11-05
    "@modelcontextprotocol/sdk@1.32.2",
)
PYPI = {
    "2026": (  # speak 2026-07-28; fastmcp puts one of them behind HTTP
        "mcp-server-time==2026.10.19",
        "mcp-server-git==2026.10.19",
        "mcp-server-fetch==2026.10.24",
        "mcp==2.3.0",
        "fastmcp==4.1.2",
    ),
    "2025": (  # speak 2025-11-25; mcp-proxy puts one of them behind HTTP and the older SSE
        "mcp-server-time==2026.8.18",
        "mcp-server-git==2026.8.18",
        "mcp-server-fetch==2026.8.18",
        "mcp==1.30.0",
        "mcp-proxy==0.13.0",
    ),
}
"""The Python servers by the year of the protocol they speak, each lot in a virtual environment of its own."""

INSTALL_SECONDS = 300
RETRY_SECONDS = 600
"""How long a failed installation is not tried again."""


def _cache_directory() -> Path:
    given = os.environ.get("TOOLBRIDGE_TEST_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "toolbridge-tests"


def _missing(reason: str) -> NoReturn:
    if os.environ.get("TOOLBRIDGE_TEST_REAL") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def _run(command: Sequence[str]) -> str:
    """Runs it; the reason where it failed, nothing where it did not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{command[0]}: {problem}"
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return f"{Path(command[0]).name} exited with {done.returncode}: {' / '.join(lines[-3:])}" if done.returncode else ""


def _installed(name: str, commands: Sequence[Sequence[str]]) -> Path:
    """The directory that the commands fill, once; `{}` in a command stands for it."""
    digest = hashlib.sha256(repr((commands, sys.version_info[:2])).encode()).hexdigest()[:12]
    root = _cache_directory()
    place = root / f"{name}-{digest}"
    complete, failed = place / ".complete", root / f"{name}-{digest}.failed"
    if complete.exists():
        return place
    root.mkdir(parents=True, exist_ok=True)
    with (root / f"{name}-{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if complete.exists():
            return place
        if failed.exists() and time.time() - failed.stat().st_mtime < RETRY_SECONDS:
            _missing(failed.read_text(encoding="utf-8"))
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for command in commands:
            if problem := _run([word.replace("{}", str(place)) for word in command]):
                reason = f"the real servers of {name} cannot be installed: {problem}"
                failed.write_text(reason, encoding="utf-8")
                _missing(reason)
        failed.unlink(missing_ok=True)
        complete.touch()
    return place


@cache
def _npm() -> Path | str:
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "npm is absent: the real servers of npm cannot be installed"
    options = ("--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=30000", "--loglevel=error")
    return _installed("npm", [("npm", "install", *options, "--prefix", "{}", *NPM)])


def node_server(package: str) -> tuple[str, Path]:
    """How a server of npm is started: `node`, and its program."""
    place = _npm()
    if isinstance(place, str):
        _missing(place)
    return shutil.which("node") or "node", place / "node_modules" / package / "dist" / "index.js"


def python_program(year: str, name: str) -> Path:
    """A program of PyPI, out of the lot of that year."""
    pip = ("{}/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1")
    place = _installed(f"pypi-{year}", [(sys.executable, "-m", "venv", "{}"), (*pip, "--timeout", "30", *PYPI[year])])
    return place / "bin" / name


@dataclass(frozen=True, slots=True)
class Running:
    """A real server that listens."""

    port: int
    pid: int

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@contextmanager
def running(
    command: Sequence[str | Path], environment: Mapping[str, str] | None = None, port: int | None = None
) -> Generator[Running]:
    """Starts a server that listens on a port; `{port}` in a word stands for it, and PORT holds it too."""
    port = port or free_port()
    words = [str(word).replace("{port}", str(port)) for word in command]
    process = subprocess.Popen(
        words,
        env={**os.environ, **(environment or {}), "PORT": str(port), TOKEN: OURS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for_port(port)
        yield Running(port, process.pid)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
