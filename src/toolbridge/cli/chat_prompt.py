"""The prompt: a line that can be edited, what was asked before, and words completed by Tab.

It stands on the standard library's `readline` where there is one. What was asked is kept in a file that only its owner
may read, one JSON text to a line, since a question may have many.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import Any

from toolbridge.cli.terminal import Paint
from toolbridge.servers.private import data_directory, make_private, write_private

MOST_KEPT = 1_000
"""Questions of former chats that the arrow keys lead back to."""

FILES = ("/save", "/load")
"""Commands that are followed by a path."""


class Prompt:
    """Asks for a line. `words` are the completions of a word: those that begin like it are offered."""

    def __init__(self, words: Callable[[str], Iterable[str]], path: Path | None = None) -> None:
        self._words = words
        self._path = path or data_directory(os.environ) / "chat_history"
        self._found: list[str] = []
        # Where the answer goes to a file or a pipe, the prompt must not.
        self._readline = _readline() if sys.stdin.isatty() and sys.stdout.isatty() else None
        self._is_gnu = False
        if self._readline is not None:
            self._begin(self._readline)

    def ask(self, label: str) -> str | None:
        """What is typed, perhaps in several lines; `None` at its end. An interrupt is a `KeyboardInterrupt`."""
        lines: list[str] = []
        while True:
            line = self._line(f"{label}> " if not lines else f"{' ' * len(label)}… ")
            if line is None:
                return "\n".join(lines) if lines else None
            if not line.endswith("\\"):
                break
            lines.append(line[:-1])
        text = "\n".join([*lines, line, *self._pasted()])
        self._keep(text)
        return text

    def _line(self, prompt: str) -> str | None:
        paint = Paint(sys.stdout if self._readline is not None else sys.stderr)
        if self._readline is None:
            sys.stderr.write(paint(prompt, "bold"))
            sys.stderr.flush()
            text = sys.stdin.readline()
            return text.rstrip("\r\n") if text else None
        drawn = paint(prompt, "bold")
        if self._is_gnu:  # what takes no room must be marked, or the cursor is misplaced
            drawn = drawn.replace("\x1b[1m", "\x01\x1b[1m\x02").replace("\x1b[0m", "\x01\x1b[0m\x02")
        else:
            drawn = prompt
        try:
            return input(drawn)
        except EOFError:
            if not self._is_gnu:  # which does that itself
                sys.stdout.write("\n")
            return None

    def _pasted(self) -> list[str]:
        """Further lines that are there already: a text that was pasted where the terminal does not mark it as one."""
        lines: list[str] = []
        if self._is_gnu or os.name != "posix":
            return lines
        import select

        while select.select([sys.stdin], [], [], 0)[0]:
            line = self._line("")
            if line is None:
                break
            lines.append(line)
        return lines

    # ── readline ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, readline: Any) -> None:
        self._is_gnu = "libedit" not in (readline.__doc__ or "") and getattr(readline, "backend", "") != "editline"
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self._complete)
        readline.set_auto_history(False)  # what is asked in between is no question of the chat
        readline.parse_and_bind("tab: complete" if self._is_gnu else "bind ^I rl_complete")
        if self._is_gnu:
            readline.parse_and_bind("set enable-bracketed-paste on")
        for each in self._kept():
            readline.add_history(each)

    def _complete(self, text: str, number: int) -> str | None:
        if number == 0:
            readline = self._readline
            assert readline is not None
            before = readline.get_line_buffer()[: readline.get_begidx()].split()
            self._found = _files(text) if before and before[0] in FILES else self._completions(text, not before)
        return self._found[number] if number < len(self._found) else None

    def _completions(self, text: str, is_first: bool) -> list[str]:
        if not text or (text[0] in "/@" and not is_first):
            return []
        # Names are of others: none is offered that could steer the terminal.
        found = sorted({each for each in self._words(text) if each.startswith(text) and each.isprintable()})
        return [f"{each} " for each in found]

    # ── what was asked ───────────────────────────────────────────────────────────────────────────────────────────

    def _kept(self) -> list[str]:
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return []
        if len(lines) > 2 * MOST_KEPT:
            lines = lines[-MOST_KEPT:]
            with suppress(OSError):
                write_private(self._path, "".join(f"{each}\n" for each in lines).encode())
        kept: list[str] = []
        for line in lines[-MOST_KEPT:]:
            with suppress(ValueError):
                text = json.loads(line)
                if isinstance(text, str):
                    kept.append(text)
        return kept

    def _keep(self, text: str) -> None:
        if self._readline is None or not text.strip():
            return
        with suppress(ValueError):  # a text that the terminal's encoding cannot hold
            self._readline.add_history(text)
        with suppress(OSError):  # a chat works without
            make_private(self._path.parent)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(self._path, flags, 0o600), "ab") as file:
                file.write(json.dumps(text).encode() + b"\n")


def _readline() -> Any:
    try:
        import readline
    except ImportError:  # Windows, and Pythons that were built without
        return None
    return readline


def _files(text: str) -> list[str]:
    """The files and directories whose names begin like the text."""
    start = os.path.expanduser(text)
    found = sorted(f"{each}/" if os.path.isdir(each) else each for each in glob(f"{start}*"))
    return [text + each[len(start) :] for each in found if each.isprintable()]
