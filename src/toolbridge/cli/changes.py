"""Changes against a lock, for people and for programs; and what a SOURCE offers, in the form that locks have.

Shared by `lock`, which tells what it replaces, and `verify`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolbridge.cli.paragraph import folded, one_line
from toolbridge.lock import Change, Lock, LockedServer

if TYPE_CHECKING:
    from toolbridge.cli.surfaces import Source
    from toolbridge.cli.terminal import Paint


def lockfile_of(source: Source) -> str:
    """Where the lock of a source is: beside a configuration, else here."""
    from toolbridge.servers.locked import default_lockfile

    path = default_lockfile(source.path if source.kind == "config" and source.path else "")
    try:
        return str(Path(path).absolute().relative_to(Path.cwd()))
    except ValueError:
        return path


def own_lockfile(source: Source) -> str:
    """Where `lock` writes it. Raises `ConfigError` where the lock there is that of a configuration, and the source is
    no part of it: its servers would be gone for whoever verifies the configuration."""
    from toolbridge.errors import ConfigError
    from toolbridge.servers.found import default_config
    from toolbridge.servers.locked import default_lockfile

    file = lockfile_of(source)
    if source.kind == "config":
        return file
    try:
        config = default_config()
    except ConfigError:
        return file
    if os.path.abspath(default_lockfile(str(config))) != os.path.abspath(file):
        return file
    whose = f"is the lock of {config.name}, where {source.label} is not from"
    raise ConfigError([f"{file}: {whose}; name another file with -o FILE"])


def locked_servers(source: Source, file: str, known: Lock, named: bool) -> dict[str, LockedServer]:
    """What each server that is there offers, as it stands in a lock of that file.

    A command or an address is a server without a name of an operator's: where the lock knows one server alone, that is
    it, so that one which calls itself otherwise is found out.
    """
    from toolbridge.servers.locked import lock_listing

    folder = os.path.dirname(os.path.abspath(file))
    found = {
        each.name or _called(source): lock_listing(each.spec, each.tools, each, folder)
        for each in source.served
        if each.failure is None
    }
    if source.kind != "config" and not named and len(known.servers) == 1 and not found.keys() & known.servers.keys():
        return dict(zip(known.servers, found.values(), strict=True))
    return found


def _called(source: Source) -> str:
    """The server of a file of tools, which does not say whose they are."""
    return Path(source.path).stem if source.path else "tools"


def gone_servers(source: Source, known: Lock, named: bool) -> tuple[str, ...]:
    """Servers of the lock that a whole configuration has no more."""
    if source.kind != "config" or named:
        return ()
    there = {*source.disabled, *(each.name for each in source.served)}
    return tuple(name for name in known.servers if name not in there)


def change_lines(changes: Iterable[Change], width: int, paint: Paint) -> list[str]:
    """The changes by server and tool, the gravest first."""
    servers: dict[str, dict[str | None, list[Change]]] = {}
    for each in changes:  # sorted already: what comes first is gravest
        servers.setdefault(each.server, {}).setdefault(each.tool, []).append(each)
    lines: list[str] = []
    for server, tools in servers.items():
        fails = any(each.fails for found in tools.values() for each in found)
        mark = paint("✗", "red") if fails else paint("!", "yellow")
        lines.append(f"{mark} {paint(one_line(server), 'bold')}")
        for tool, found in tools.items():
            indent = "  " if tool is None else "    "
            if tool is not None:
                lines.append(f"  {paint(one_line(tool), 'cyan')}")
            for each in found:
                lines += _lines(each, indent, width, paint)
    return lines


def _lines(change: Change, indent: str, width: int, paint: Paint) -> list[str]:
    mark, style = _MARKS[change.kind] if change.fails else ("!", "yellow")
    first, *more = folded(one_line(change.words), width - len(indent) - 2) or [""]
    return [f"{indent}{paint(mark, style)} {first}", *(f"{indent}  {each}" for each in more)]


_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def change_fields(change: Change) -> dict[str, Any]:
    """A change as an object."""
    return {
        "tool": change.tool,
        "kind": change.kind,
        "what": change.what,
        "path": change.path,
        "words": change.words,
        "grave": change.grave,
        "fails": change.fails,
    }


def painted_diff(lines: Sequence[str], paint: Paint) -> list[str]:
    """A unified diff in the usual colours."""
    return [_painted(each, paint) for each in lines]


def _painted(line: str, paint: Paint) -> str:
    if line.startswith(("---", "+++")):
        return paint(line, "bold")
    style = {"@": "cyan", "+": "green", "-": "red"}.get(line[:1])
    return paint(line, style) if style else line


def counted_tools(servers: Mapping[str, LockedServer]) -> str:
    """`2 servers, 5 tools`."""
    from toolbridge.cli.words import counted

    tools = sum(len(each.tools) for each in servers.values())
    return f"{counted(len(servers), 'server')}, {counted(tools, 'tool')}"
