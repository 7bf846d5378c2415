"""Who is measured by `servers.py`: the libraries, their environments, and each of them in a process of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from schemas import CACHE, Failed, last_line

HERE = Path(__file__).resolve().parent

BARE, CLIENT, OURS = "mcp session", "mcp Client", "toolbridge"

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "servers-langchain": ("langchain-mcp-adapters>=0.3,<0.4", "mcp>=1.30,<2"),
    "servers-mcp-use": ("mcp-use>=1.7,<2",),
    "servers-fastmcp": ("fastmcp>=4.1,<5",),
}
"""The environments of the peers, and what pip installs into each."""

CONTESTANTS: dict[str, tuple[str, str]] = {
    BARE: ("sdk_session", ""),
    CLIENT: ("sdk_client", ""),
    OURS: ("toolbridge", ""),
    "fastmcp Client": ("fastmcp", "servers-fastmcp"),
    "fastmcp ClientGroup": ("fastmcp_group", "servers-fastmcp"),
    "mcp 1.x session": ("sdk_one", "servers-langchain"),
    "langchain": ("langchain", "servers-langchain"),
    "langchain get_tools": ("langchain_each", "servers-langchain"),
    "mcp-use": ("mcp_use", "servers-mcp-use"),
}
"""Who is measured: the adapter in `servers_peers`, and its environment (none: ours)."""

ANSWER_SECONDS = 90

QUIET = {
    "MCP_USE_ANONYMIZED_TELEMETRY": "false",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_LOG_LEVEL": "CRITICAL",
}
"""What keeps the peers from calling home, and from writing."""


def python_of(environment: str) -> Path:
    if not environment:
        return Path(sys.executable)
    return CACHE / environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(environment: str) -> str:
    """The environment, made where it is missing or asks for something else; the error, if there is one."""
    wanted = "\n".join(REQUIREMENTS[environment])
    mark = CACHE / environment / "requirements.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return ""
    print(f"installing {environment} …", flush=True)
    pip = [str(python_of(environment)), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", str(CACHE / environment)], [*pip, *REQUIREMENTS[environment]]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return last_line(done.stderr or done.stdout) or f"exit code {done.returncode}"
    mark.write_text(wanted, encoding="utf-8")
    return ""


class Worker:
    """A library in a process of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        adapter, environment = CONTESTANTS[name]
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - as long as the process
        scripts = (HERE / "servers_worker.py", HERE / "servers_peers" / f"{adapter}.py")
        self._process = subprocess.Popen(
            [str(python_of(environment)), *map(str, scripts)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, encoding="utf-8",
            env={**os.environ, **QUIET, "TOOLBRIDGE_CACHE_DIR": str(folder / "cache")},
        )  # fmt: skip

    def ask(self, do: str, **request: Any) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do, **request}) + "\n")
            process.stdin.flush()
        except OSError:
            raise Failed(self._death()) from None
        if not select.select([process.stdout], [], [], ANSWER_SECONDS)[0]:
            process.kill()
            raise Failed(f"more than {ANSWER_SECONDS} s")
        line = process.stdout.readline()
        if not line:
            raise Failed(self._death())
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(last_line(answer["error"]))
        return answer

    def _death(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return last_line(self._errors.read()) or f"exit code {self._process.returncode}"

    def close(self) -> None:
        """The end of its stdin, so that it closes what it has open; a worker that does not is killed."""
        try:
            self._process.communicate(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
