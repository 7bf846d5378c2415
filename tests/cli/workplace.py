"""A place to work at: a directory with a configuration of servers, a catalogue of its own, and a ledger that the servers
write into when they start. And a terminal, for what is only to be seen on one."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.cli.process import LIMIT_SECONDS, Answer, command_line, surroundings, toolbridge
from tests.support.processes import TOKEN, marked
from toolbridge.servers.catalog import Catalog, Listing
from toolbridge.servers.config import read_config
from toolbridge.tools import read_tools
from toolbridge.types import ToolId

HERE = Path(__file__).parent
GARDEN = HERE / "garden_server.py"
CHAOS = HERE.parent / "servers" / "chaos" / "stdio_server.py"

SECRET = "sk-9f8e7d6c5b4a39281706"


class Workplace:
    """A directory where `toolbridge` is run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.ledger = directory / "ledger"
        self.token = f"cli-{os.getpid()}-{directory.name}"
        self.environment = {
            "TOOLBRIDGE_CACHE_DIR": str(directory / "cache"),
            "HOME": str(directory / "home"),
            "XDG_CONFIG_HOME": str(directory / "home" / ".config"),
            TOKEN: self.token,
        }
        (directory / "home").mkdir()

    def configure(self, **servers: Mapping[str, Any]) -> Path:
        """Write the mcp.json."""
        path = self.directory / "mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        return path

    def garden(self, **more: Any) -> dict[str, Any]:
        """The server that has something of everything."""
        return {"command": sys.executable, "args": [str(GARDEN), str(self.ledger)], "inherit": "all", **more}

    def chaos(self, *words: str, **more: Any) -> dict[str, Any]:
        """The server that misbehaves as told. Without site-packages, which it does not need, it is there at once."""
        return {"command": sys.executable, "args": ["-S", "-E", str(CHAOS), *words], "inherit": "all", **more}

    def script(self, text: str, **more: Any) -> dict[str, Any]:
        """A server that is a few lines of Python; `note(line)` writes into the ledger."""
        head = f"import sys, time\ndef note(line):\n    open({str(self.ledger)!r}, 'a').write(line + '\\n')\n"
        return {"command": sys.executable, "args": ["-c", head + text], "inherit": "all", **more}

    def __call__(self, *arguments: str | Path, stdin: bytes = b"", **changes: str) -> Answer:
        """Run a command to its end. Nothing of it may be left."""
        answer = toolbridge(*arguments, stdin=stdin, cwd=self.directory, **{**self.environment, **changes})
        self.nothing_left()
        return answer

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Begin a command."""
        return subprocess.Popen(
            command_line(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.directory,
            env=surroundings(**self.environment),
        )

    def known(self, name: str, tools: Sequence[Mapping[str, Any]], **more: Any) -> None:
        """Put a listing of a server of the configuration on disk, as if it had been listed before."""
        found = tuple(replace(each, id=ToolId(name, each.id.name)) for each in read_tools([*tools]))
        catalog = Catalog(self.directory / "cache")
        with contextlib.chdir(self.directory):  # where a server is started belongs to what it is known by
            spec = next(each for each in read_config(self.directory / "mcp.json") if each.name == name)
            options: dict[str, Any] = {"listed_at": time.time(), **more}
            catalog.store(spec, Listing(found, **options))
            assert catalog.load(spec) is not None

    def noted(self) -> list[str]:
        """The lines of the ledger."""
        return self.ledger.read_text(encoding="utf-8").splitlines() if self.ledger.exists() else []

    def wait_for(self, line: str) -> None:
        """Wait until the ledger has the line."""
        wait_until(lambda: any(each.startswith(line) for each in self.noted()), f"the ledger has no {line!r}")

    def nothing_left(self) -> None:
        """No process that was started lives on."""
        wait_until(lambda: not marked(self.token), "processes are left behind")


def wait_until(true: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class Terminal:
    """A command on a terminal of its own; with `program`, another one than ours."""

    def __init__(
        self,
        work: Workplace,
        *arguments: str,
        columns: int = 80,
        program: Sequence[str] | None = None,
        **changes: str,
    ) -> None:
        self.seen = ""
        self._read_to = 0
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.process = subprocess.Popen(
            command_line(*arguments) if program is None else [*program, *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=work.directory,
            env=surroundings(**{**work.environment, "TERM": "xterm", **changes}),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None,
        )
        os.close(side)

    def wait_for(self, text: str, seconds: float = 30.0) -> str:
        """Wait until the text is written, after what was waited for before; what was written until then."""
        end = time.monotonic() + seconds
        while (at := self.seen.find(text, self._read_to)) < 0:
            assert time.monotonic() < end, f"waited for {text!r}, and saw {self.seen[self._read_to :]!r}"
            assert self._read(), f"ended without {text!r}: {self.seen!r}"
        found = self.seen[self._read_to : at]
        self._read_to = at + len(text)
        return found

    def type(self, text: str) -> None:
        """What a person types; Ctrl-C is \\x03, Ctrl-D is \\x04."""
        os.write(self._main, text.encode())

    def end(self, seconds: float = LIMIT_SECONDS) -> int:
        """Wait for the end; the exit code."""
        end = time.monotonic() + seconds
        while self._read():
            assert time.monotonic() < end, f"does not end; saw {self.seen!r}"
        os.close(self._main)
        return self.process.wait(5)

    def screen(self) -> list[str]:
        """What is to be seen in the end, without colours and empty lines: what was written over or cleared is gone."""
        lines, column = [""], 0
        for part in re.findall(r"\x1b\[K|\x1b\[[0-9;]*m|\n|\r|[^\x1b\n\r]+", self.seen):
            if part == "\n":
                lines.append("")
                column = 0
            elif part == "\r":
                column = 0
            elif part == "\x1b[K":
                lines[-1] = lines[-1][:column]
            elif not part.startswith("\x1b"):
                lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part) :]
                column += len(part)
        return [each for each in lines if each]

    def _read(self) -> bool:
        """Read what there is; whether more may come."""
        ready, _, _ = select.select([self._main], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self._main, 65536)
        except OSError:  # the other side is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


def interrupt(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Ctrl-C, and what comes of it."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    return process.returncode, out, err
