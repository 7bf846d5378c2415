"""The table of tools: grouped by server, with what each claims about itself, what it takes and what it is for.

    files  secure-filesystem-server 0.2.0                                 3 tools, listed 2 minutes ago
      R··  read_file   path: str, head?: int     Read the complete contents of a file as text.
      DI·  write_file  path: str, content: str   Create a new file or overwrite an existing one.

On a narrow terminal the description stands below the parameters. Every text is the server's, and is made harmless.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from toolbridge.apps import visible
from toolbridge.cli.listing import Listed
from toolbridge.cli.paragraph import first_sentence, folded, one_line
from toolbridge.cli.signature import nested, parameters
from toolbridge.cli.terminal import Paint, cells
from toolbridge.cli.words import counted
from toolbridge.types import Tool, ToolHints, ToolId

INDENT = 2
GAP = 2

WIDEST_NAME = 32
"""Columns of the names; a longer one has a line of its own, for a name that is cut could not be called."""

BESIDE = 56
"""Columns that parameters and description need to stand side by side."""

MOST_LINES = 3
"""Lines of a description in the table."""

NONE = "–"

MARKS = {
    "R": ("green", "read-only"),
    "D": ("red", "destructive"),
    "A": ("yellow", "adds only"),
    "I": ("cyan", "idempotent"),
    "O": ("yellow", "open world"),
    "H": ("dim", "hidden from models"),
}
"""What a server claims about a tool."""

ASSUMED = {"d": "destructive", "o": "open world"}
"""Claims that were not made: the protocol then assumes the worst. A claim is a capital, an assumption is small."""


def marks(hints: ToolHints) -> str:
    """Three letters: what it does to things, whether again does more, and how far it reaches."""
    if hints.read_only_hint is True:
        effect = "R"
    else:
        effect = {None: "d", True: "D", False: "A"}[hints.destructive_hint]
    again = "I" if hints.idempotent_hint is True and effect != "R" else "·"
    world = {None: "o", True: "O", False: "·"}[hints.open_world_hint]
    return effect + again + world


class Toolbook:
    """Servers and their tools as lines."""

    def __init__(self, servers: Sequence[Listed], width: int, paint: Paint, *, every: bool, schemas: bool) -> None:
        self.servers = servers
        self.width = width
        self.paint = paint
        self.every = every
        self.schemas = schemas
        self.used: set[str] = set()
        self._signatures: dict[ToolId, str] = {}
        shown = [tool for each in servers for tool in self._tools(each)]
        names = [cells(one_line(tool.id.name)) for tool in shown]
        fitting = [each for each in names if each <= WIDEST_NAME]
        self.name = max(fitting, default=8)
        self.left = INDENT + 3 + GAP + self.name + GAP
        rest = width - self.left
        self.takes = 0
        """Columns of the parameters; 0 where the description stands below them."""
        if rest >= BESIDE:
            longest = max((cells(self._signature(tool)) for tool in shown), default=0)
            self.takes = min(longest, rest * 45 // 100)

    def _signature(self, tool: Tool) -> str:
        found = self._signatures.get(tool.id)
        if found is None:
            takes = parameters(tool.input_schema)
            found = self._signatures[tool.id] = one_line(", ".join(map(str, takes))) or NONE
        return found

    def lines(self) -> list[str]:
        listed = [each for each in self.servers if each.state not in ("disabled", "failed")]
        lines: list[str] = []
        for each in listed:
            lines += ["", *self._server(each)] if lines else self._server(each)
        disabled = [one_line(each.spec.name) for each in self.servers if each.state == "disabled"]
        if disabled:
            lines += [""] if lines else []
            lines.append(self.paint(f"disabled: {', '.join(disabled)}", "dim"))
        legend = self._legend()
        return [*lines, "", *legend] if legend else lines

    def _tools(self, server: Listed) -> list[Tool]:
        return [each for each in server.tools if self.every or visible(each)]

    def _server(self, server: Listed) -> list[str]:
        tools = self._tools(server)
        hidden = len(server.tools) - len(tools)
        program = one_line(" ".join(part for part in (server.server_name, server.server_version) if part))
        count = counted(len(tools), "tool")
        if hidden:
            count += f", {hidden} hidden"
        right = f"{count}, listed {_ago(server.listed_at)}"
        name = one_line(server.spec.name)
        program = program.removeprefix(f"{name} ") if program != name else ""
        left = f"{name}  {program}" if program else name
        space = self.width - cells(left) - cells(right)
        head = self.paint(name, "bold") + self.paint(left[len(name) :], "dim")
        if space >= GAP:
            lines = [head + " " * space + self.paint(right, "dim")]
        else:
            lines = [head, " " * INDENT + self.paint(right, "dim")]
        for each in tools:
            lines += self._schema(each) if self.schemas else self._tool(each)
        if not tools:
            lines.append(" " * INDENT + self.paint("no tools" + (" that are shown" if hidden else ""), "dim"))
        return lines

    def _marked(self, tool: Tool) -> str:
        letters = marks(tool.hints)
        if not visible(tool):
            letters = "H" + letters[1:]
        self.used |= set(letters)
        return "".join(self.paint(each, MARKS[each][0] if each in MARKS else "dim") for each in letters)

    def _tool(self, tool: Tool) -> list[str]:
        name = one_line(tool.id.name)
        taken = self._signature(tool)
        about = first_sentence(tool.description or tool.title or "")
        if tool.problem is not None:
            about = one_line(f"not usable: {tool.problem}")
        rest = self.width - self.left
        if self.takes:
            takes = _folded_signature(taken, self.takes)
            says = folded(about, rest - self.takes - GAP, MOST_LINES)
            rows = max(len(takes), len(says), 1)
            beside = [
                (self._taken(takes[i]) if i < len(takes) else "")
                + " " * (self.takes + GAP - (cells(takes[i]) if i < len(takes) else 0))
                + (says[i] if i < len(says) else "")
                for i in range(rows)
            ]
        else:
            beside = (
                [self._taken(each) for each in _folded_signature(taken, rest)] if taken != NONE or not about else []
            )
            beside += [self.paint(each, "dim") for each in folded(about, rest, MOST_LINES)]
        return self._beside(tool, name, [each.rstrip() for each in beside])

    def _taken(self, text: str) -> str:
        return self.paint(text, "dim") if text == NONE else self.paint(text, "cyan")

    def _beside(self, tool: Tool, name: str, lines: list[str]) -> list[str]:
        """The marks and the name, and lines to the right of them."""
        head = " " * INDENT + self._marked(tool) + " " * GAP + self.paint(name, "bold")
        if cells(name) > self.name:
            return [head, *(" " * self.left + each for each in lines)]
        head += " " * (self.name - cells(name) + GAP)
        return [(head + lines[0]).rstrip(), *((" " * self.left + each).rstrip() for each in lines[1:])]

    def _schema(self, tool: Tool) -> list[str]:
        """A tool with everything that it says of itself, and a paragraph for each parameter."""
        head = " " * INDENT + self._marked(tool) + " " * GAP + self.paint(one_line(tool.id.name), "bold")
        inner = INDENT + 3 + GAP
        lines = ["", head]
        for paragraph in tool.description.strip().splitlines():
            lines += [" " * inner + each for each in folded(one_line(paragraph), self.width - inner)] or [""]
        takes = parameters(tool.input_schema)
        if takes and lines[-1]:
            lines.append("")
        for each in (part for one in takes for part in (one, *nested(one))):
            lines += folded_under(" " * inner, self._taken(one_line(str(each))), one_line(each.about), self.width)
        return lines

    def _legend(self) -> list[str]:
        """The letters that were used; those that only assume are told together."""
        parts = [(f"{each} {words}", style) for each, (style, words) in MARKS.items() if each in self.used]
        assumed = ", ".join(f"{each} {words}" for each, words in ASSUMED.items() if each in self.used)
        if assumed:
            parts.append((f"not stated, so assumed: {assumed}", "dim"))
        lines: list[str] = []
        used = 0
        for text, style in parts:
            painted = self.paint(text, style) if len(text) > 30 else self.paint(text[0], style) + text[1:]
            if lines and used + 3 + cells(text) <= self.width:
                lines[-1] += "   " + painted
                used += 3 + cells(text)
            else:
                lines.append(painted)
                used = cells(text)
        return lines


def folded_under(indent: str, painted: str, text: str, width: int) -> list[str]:
    """A head, and a text below it, further in."""
    return [indent + painted, *(f"{indent}    {each}" for each in folded(text, width - len(indent) - 4))]


def _folded_signature(taken: str, width: int) -> list[str]:
    """A signature in lines, broken between two parameters where that is possible."""
    whole = ", ".join(each.replace(" ", "\0") if cells(each) < width else each for each in taken.split(", "))
    return [each.replace("\0", " ") for each in folded(whole, width)]


_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


def _ago(listed_at: float | None) -> str:
    """`just now`, `2 minutes ago`."""
    seconds = 0.0 if listed_at is None else max(time.time() - listed_at, 0.0)
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"
