"""Places: the line and column of a file where a finding stands.

A finding has a JSON pointer into its tool; an editor, a pull request and a code scanner want a line. For a file of
tools that is where the value stands in the text (`scan` reads it once, when the first place is asked for); for a server
that was started, the line of the configuration that names it, or the line of its script that defines the tool. What
cannot be found stands at the nearest place around it. Lines and columns count from 1, columns in Unicode code points.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, Protocol

from toolbridge.lint.finding import Finding, Flaw
from toolbridge.lint.scan import Value, characters, scan
from toolbridge.tools import SCHEMA_KEYS
from toolbridge.types import Tool, ToolId

LARGEST_SCRIPT_BYTES: Final = 2_000_000
"""A larger file among a command's arguments is no script that somebody edits."""


@dataclass(frozen=True, slots=True)
class SourceLabel:
    """What was linted, as the reports name it."""

    label: str
    """In a few words: a path, an address, a command."""
    kind: Literal["file", "input", "command", "url", "config", "several"]
    path: str | None = None
    """The file where it stands, if it is one: what findings without a place of their own are laid at."""
    root: str | None = None
    """The directory that services tell files from; the working copy that the command runs in, where none is given."""


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a file. The end is the column after the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Places(Protocol):
    """Knows where findings stand."""

    def place(self, finding: Finding) -> Place | None: ...


class SeveralPlaces:
    """Places in several files: each server has its own."""

    def __init__(self, servers: Mapping[str, Places]) -> None:
        self._servers = servers

    def place(self, finding: Finding) -> Place | None:
        return self._servers.get(finding.server, NOWHERE).place(finding)


class Nowhere:
    """Places of what has no file: an address, a pipe."""

    def place(self, finding: Finding) -> Place | None:
        return None


NOWHERE: Final = Nowhere()


class DocumentPlaces:
    """Places in a JSON text that `read_tools` took these tools from, in this order."""

    def __init__(self, text: str, file: str, tools: Sequence[Tool]) -> None:
        self._text = text
        self._file = file
        self._tools = tools
        self._strings: dict[int, tuple[str, Sequence[int]]] = {}

    def place(self, finding: Finding) -> Place | None:
        entry = self._entries.get(finding.tool) if finding.tool is not None else None
        if entry is None:
            return self._lines.place(*_document_start(self._text))
        value = _meant(entry, finding.path)
        return self._lines.place(*(self._exact(value, finding.flaw) or _own(value)))

    def _exact(self, value: Value, flaw: Flaw) -> tuple[int, int] | None:
        """The characters that the flaw's span means, where its text is this value or this value's key."""
        if flaw.span is None:
            return None
        ends = [(value.start, value.end)] if value.kind == "string" else []
        if value.key_start is not None:
            ends.append((value.key_start, value.key_end))
        for start, end in ends:
            if start not in self._strings:  # many findings may stand in one long text
                self._strings[start] = characters(self._text, start, end)
            text, offsets = self._strings[start]
            if text == flaw.text and flaw.span[1] < len(offsets):
                return offsets[flaw.span[0]], offsets[flaw.span[1]]
        return None

    @cached_property
    def _entries(self) -> dict[ToolId, Value]:
        found: dict[ToolId, Value] = {}
        for tool, entry in zip(self._tools, _entries(scan(self._text)), strict=False):
            found.setdefault(tool.id, entry)
        return found

    @cached_property
    def _lines(self) -> _Lines:
        return _Lines(self._text, self._file)


class ConfigPlaces:
    """Places in a configuration: the line where the server's name stands."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._known: dict[str, Place] = {}

    def place(self, finding: Finding) -> Place | None:
        if finding.server not in self._known:
            self._known[finding.server] = self._lines.place(*self._named(finding.server))
        return self._known[finding.server]

    def _named(self, server: str) -> tuple[int, int]:
        value = self._servers.get(server)
        if value is not None and value.key_start is not None:
            return value.key_start, value.key_end
        return _mention(self._text, server) or _document_start(self._text)

    @cached_property
    def _servers(self) -> dict[str, Value]:
        """Every object that is the value of a key and itself inside an object: the least deep under each key."""
        found: dict[str, Value] = {}
        waiting = [each for root in scan(self._text) for each in root.members.values()]
        while waiting:
            deeper: list[Value] = []
            for holder in waiting:
                for key, value in holder.members.items():
                    if value.kind == "object":
                        found.setdefault(key, value)
                        deeper.append(value)
            waiting = deeper
        return found

    @cached_property
    def _lines(self) -> _Lines:
        return _Lines(self._text, self._file)


class ScriptPlaces:
    """Places in the script that a command runs: where the tool is defined, else quoted, else mentioned, else the first
    line."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._known: dict[str, Place] = {}

    def place(self, finding: Finding) -> Place | None:
        if self._lines is None:
            return None
        name = "" if finding.tool is None else finding.tool.name
        if name not in self._known:
            text = self._lines.text
            self._known[name] = self._lines.place(*(_mention(text, name) or _document_start(text)))
        return self._known[name]

    @cached_property
    def _lines(self) -> _Lines | None:
        for argument in self._command:
            text = _script(argument)
            if text is not None:
                return _Lines(text, argument)
        return None


def _script(argument: str) -> str | None:
    """The text of an argument that is a file of text, and not the interpreter."""
    try:
        path = Path(argument)
        if not path.suffix or not path.is_file() or path.stat().st_size > LARGEST_SCRIPT_BYTES:
            return None
        return path.read_bytes().decode()
    except (OSError, ValueError):  # no file, a NUL in its name, or no text
        return None


_MENTIONS: Final = (
    r"(?<![\w-])(?:def|function|fn|func)[ \t]+({})(?![\w-])",
    r"""["'`]({})["'`]""",
    r"(?<![\w-])({})(?![\w-])",
)
"""How a script speaks of a tool, the surest way first: a word may stand in any comment."""


def _mention(text: str, name: str) -> tuple[int, int] | None:
    for pattern in _MENTIONS if name else ():
        found = re.search(pattern.format(re.escape(name)), text)
        if found is not None:
            return found.span(1)
    return None


def _document_start(text: str) -> tuple[int, int]:
    start = int(text.startswith("\ufeff"))
    return start, start


class _Lines:
    """From offsets into a text to lines and columns."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self._file = file
        self._starts = [int(text.startswith("\ufeff"))]  # a byte order mark takes no column
        self._starts += [each.end() for each in re.finditer("\n", text)]

    def place(self, start: int, end: int) -> Place:
        return Place(self._file, *self._position(start), *self._position(max(start, end)))

    def _position(self, offset: int) -> tuple[int, int]:
        line = max(1, bisect_right(self._starts, offset))
        return line, max(0, offset - self._starts[line - 1]) + 1


def _entries(roots: Sequence[Value]) -> list[Value]:
    """The tools of a text, in each of the shapes that `read_tools` takes; several roots are JSON lines."""
    if len(roots) == 1 and roots[0].kind != "list":
        return _listed(roots[0]) or list(roots)
    items = list(roots) if len(roots) != 1 else roots[0].items
    if any(_is_entry(each) for each in items):
        return items
    return [tool for page in items for tool in _listed(page)]


def _listed(document: Value) -> list[Value]:
    """The list inside a `tools/list` answer."""
    for holder in (document, document.members.get("result")):
        tools = holder.members.get("tools") if holder else None
        if tools is not None and tools.kind == "list":
            return tools.items
    return []


def _is_entry(value: Value) -> bool:
    if value.kind != "object":
        return False
    function = value.members.get("function")
    keys = value.members if function is None or function.kind != "object" else function.members
    return not value.members or any(key in keys for key in ("name", "description", *SCHEMA_KEYS[:2]))


_SPELLINGS: Final = {
    "inputSchema": SCHEMA_KEYS,
    "outputSchema": ("outputSchema", "output_schema"),
    "_meta": ("_meta", "meta"),
}
"""Other keys under which an entry may hold what MCP keeps under this one, in the order that `read_tools` tries them."""


def _meant(entry: Value, path: str) -> Value:
    """The value at a path of the entry, or the nearest around it; for the entry itself, its name."""
    function = entry.members.get("function")
    if "name" not in entry.members and function is not None and function.kind == "object":
        entry = function
    found = entry
    for depth, step in enumerate(_steps(path)):
        below = _child(found, step, top=depth == 0)
        if below is None:
            break
        found = below
    return entry.members.get("name", entry) if found is entry else found


def _steps(pointer: str) -> Iterator[str]:
    for step in pointer.split("/")[1:]:
        yield step.replace("~1", "/").replace("~0", "~")


def _child(value: Value, step: str, *, top: bool) -> Value | None:
    if value.kind == "list":
        return value.items[int(step)] if step.isdecimal() and int(step) < len(value.items) else None
    if top:
        for key in _SPELLINGS.get(step, (step,)):
            child = value.members.get(key)
            if child is not None and child.kind != "null":
                return child
        if step == "title" and "annotations" in value.members:
            return value.members["annotations"].members.get("title")
    return value.members.get(step)


def _own(value: Value) -> tuple[int, int]:
    """What is marked for a value: itself if it is short; of an object or a list its key, or the bracket that opens."""
    if value.kind not in ("object", "list"):
        return value.start, value.end
    if value.key_start is not None:
        return value.key_start, value.key_end
    return value.start, value.start + 1
