"""The word on a call: what `--approve` means, and the question to the person at the terminal.

Whether a call needs a word at all is `run.policy`'s to say, from the operator's settings; here it is given. Where
nobody can be asked the answer is no. What is shown is exactly what would be sent, with nothing in it that could steer
the terminal or hide.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from toolbridge.approval import Approval
from toolbridge.cli.arguments import ArgumentsError, read_arguments
from toolbridge.cli.form import read_line
from toolbridge.cli.paragraph import folded, harmless, one_line
from toolbridge.cli.terminal import columns, shown
from toolbridge.errors import ToolbridgeError
from toolbridge.run.events import Asked, Decision
from toolbridge.run.policy import why_asked
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import JsonObject, Tool, ToolId

if TYPE_CHECKING:
    from toolbridge.cli.chat_show import Screen
    from toolbridge.run.planning import Ask

Mode: TypeAlias = Literal["ask", "always", "never", "read-only"]
MODES: tuple[Mode, ...] = ("ask", "always", "never", "read-only")

MOST_LINES = 30
"""Lines of arguments that are shown at once. The rest is counted, and `?` shows it."""

_UNATTENDED = Decision(False, "it needs the approval of a person, and nobody is there to ask")
_NEVER = Decision(False, "this chat runs nothing that needs the approval of a person")
_READ_ONLY = Decision(False, "this chat only runs tools that only read")
_NO = Decision(False)


class Approver:
    """Gives the word. `tool` finds a tool by its identity; `specs` are the servers as their operator has set them."""

    def __init__(
        self, mode: Mode, specs: Sequence[ServerSpec], screen: Screen, *, attended: bool, pausing: bool
    ) -> None:
        self.mode: Mode = mode
        self.screen = screen
        self.tool: Callable[[ToolId], Tool | None] = lambda _: None
        self._specs = {each.name: each for each in specs}
        self._attended = attended
        self._pausing = pausing
        self._always: set[tuple[ToolId, str, str]] = set()
        self._is_told = False

    @property
    def approval(self) -> Approval:
        """The policy where a server's operator says nothing."""
        return Approval("never") if self.mode == "always" else Approval()

    def specs(self) -> list[ServerSpec]:
        """The servers as the hub gets them: only in `read-only` every call comes here, whatever the settings allow."""
        if self.mode != "read-only":
            return list(self._specs.values())
        return [replace(each, approval=Approval()) for each in self._specs.values()]

    @property
    def ask(self) -> Ask | None:
        """Who is asked; `None` lets the run wait."""
        return None if self.mode == "ask" and self._pausing else self.word

    async def word(self, asked: Asked) -> Decision:
        """The word on a call."""
        if self.mode == "always":
            return Decision(True)
        if self.mode == "never":
            return _NEVER
        if self.mode == "read-only":
            return Decision(True) if self._only_reads(asked.tool) else _READ_ONLY
        if _seen(asked) in self._always:
            return Decision(True)
        if not self._attended:
            if not self._is_told:
                self._is_told = True
                self.screen.tell(
                    f"{asked.tool} needs approval ({asked.why}) and there is no terminal to ask at: not run; "
                    "--approve always runs it, --json lets the run wait for a word"
                )
            return _UNATTENDED
        self.screen.end()
        self.screen.line.hold(True)
        try:
            return await self._asked(asked)
        finally:
            self.screen.line.hold(False)

    def _only_reads(self, id: ToolId) -> bool:
        """Whether the tool claims to only read, and its operator has nothing against it."""
        tool = self.tool(id)
        if tool is None or not tool.hints.read_only:
            return False
        return why_asked(tool, self._specs.get(id.server), Approval(never_read_only=True)) is None

    # ── at the terminal ──────────────────────────────────────────────────────────────────────────────────────────

    async def _asked(self, asked: Asked) -> Decision:
        arguments = asked.arguments
        self._show(asked, arguments)
        _forget_typed()  # nobody allows what they have not seen
        while True:
            answer = await read_line("  Run it? [y]es, [N]o, [a]lways this tool, [e]dit, ? ")
            match (answer or "").strip().lower():
                case "y" | "yes":
                    return _allowed(asked, arguments)
                case "a" | "always":
                    self._always.add(_seen(asked))
                    return _allowed(asked, arguments)
                case "e" | "edit":
                    arguments = await self._edited(asked, arguments)
                    self._show(asked, arguments)
                case "?" | "help":
                    self._explain(asked, arguments)
                case "" | "n" | "no":
                    return _NO
                case _:
                    self._say("  y, n, a, e or ?")

    def _show(self, asked: Asked, arguments: JsonObject) -> None:
        paint = self.screen.paint
        name = paint(one_line(str(asked.tool)), "bold")
        self._say(f"{paint('?', 'yellow')} {name} is to be run: {one_line(asked.why)}")
        lines = _lines(arguments)
        self._say(*lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            self._say(paint(f"    … {len(lines) - MOST_LINES} lines more; ? shows them", "yellow"))

    def _explain(self, asked: Asked, arguments: JsonObject) -> None:
        for line in harmless(asked.description.strip()).splitlines():
            self._say(*(f"    {each}" for each in folded(shown(line), columns() - 4)))
        self._say(*_lines(arguments))
        self._say(
            "  y  run it this once",
            "  n  do not run it; the model is told (also Enter)",
            "  a  run it, and this tool unasked from now on in this chat",
            "  e  change the arguments first",
        )

    async def _edited(self, asked: Asked, arguments: JsonObject) -> JsonObject:
        tool = self.tool(asked.tool) or Tool(asked.tool, "", {})
        self._say(f"  {shown(json.dumps(arguments, ensure_ascii=False, default=str))}")  # to be copied
        while True:
            text = await read_line("  Arguments, as one JSON object (Enter keeps them): ")
            if text is None or not text.strip():
                return arguments
            try:
                if text.lstrip().startswith("{"):
                    return read_arguments([text], tool)
                self._say('  That is no JSON object; write {"name": value, …}')
            except ToolbridgeError as refused:
                problems = refused.problems if isinstance(refused, ArgumentsError) else [str(refused)]
                self._say(*(f"  {one_line(each)}" for each in problems))

    def _say(self, *lines: str) -> None:
        for each in lines:
            print(each, file=sys.stderr, flush=True)


def _allowed(asked: Asked, arguments: JsonObject) -> Decision:
    return Decision(True, arguments=None if arguments is asked.arguments else arguments)


def _seen(asked: Asked) -> tuple[ToolId, str, str]:
    """What `always` was said to: a tool that describes itself in other words is another one."""
    return asked.tool, asked.title, asked.description


def _lines(arguments: JsonObject) -> list[str]:
    """The arguments, one to a line or more, whole."""
    if not arguments:
        return ["    (no arguments)"]
    return [
        f"    {each}"
        for key, value in arguments.items()
        for line in f"{shown(str(key))}: {_value(value)}".split("\n")
        for each in _broken(line)
    ]


def _value(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:  # a text of many lines is read as one
        return "\n".join(["|", *(f"  {shown(each)}" for each in value.split("\n"))])
    try:
        text = json.dumps(value, ensure_ascii=False, indent=2 if len(str(value)) > 60 else None)
    except (ValueError, TypeError, RecursionError):
        text = repr(value)
    return "\n".join(shown(each) for each in text.split("\n"))


def _broken(line: str) -> list[str]:
    """A line in parts that fit, with its own spaces."""
    width = max(columns() - 4, 20)
    return [line[start : start + width] for start in range(0, len(line), width)] or [""]


def _forget_typed() -> None:
    """What was typed before the question was asked is no answer to it."""
    if os.name == "posix":
        import termios
        from contextlib import suppress

        with suppress(termios.error, ValueError, OSError):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
