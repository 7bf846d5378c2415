"""Shapes: where in a document the servers are. Every client has its own place for the same entries.

{"mcpServers": {name: entry}}       Claude Desktop, Claude Code, Cursor, Windsurf, Cline, Gemini CLI
{"servers": {…}, "inputs": […]}     VS Code; in its settings.json under "mcp"
{"mcp_servers": …}                  Codex (TOML); a list of entries with names: Anthropic's connector
{"context_servers": {…}}            Zed
{"mcp": {name: entry}}              opencode
{"projects": {path: {"mcpServers"}}} Claude Code: the working directory's go over the user's
[entry, …]                          entries with "name" or "server_label" (the Responses API)
{name: entry}, entry                where every value, or the document itself, clearly is an entry
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbridge.mistakes import inner, kind
from toolbridge.servers.document import repeated_keys
from toolbridge.servers.entry import Report
from toolbridge.servers.keys import folded, is_server
from toolbridge.servers.variables import InputQuestion

SECTIONS = ("mcpServers", "servers", "context_servers")
_SECTIONS = {folded(each) for each in SECTIONS}
_EXPECTED = 'expected "mcpServers" or "servers" with an object of servers in it'


@dataclass(slots=True)
class Shape:
    """The entries of a document by name, and the questions that it wants to ask."""

    servers: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    questions: dict[str, InputQuestion] = field(default_factory=dict[str, InputQuestion])
    excluded: set[str] = field(default_factory=set[str])
    """Servers that the document switches off in another place than their entry."""
    locked: tuple[str, Any] | None = None
    """The key and the value that say of all servers whether they are locked."""


def read_shape(document: Any, report: Report, directory: str) -> Shape:
    """The entries of a document; `directory` is where we are, for files that list servers by project."""
    shape = Shape()
    if isinstance(document, list):
        _add_list(shape, "", document, report)
    elif not isinstance(document, Mapping):
        report.wrong(f"{kind(document)}; {_EXPECTED}")
    elif not _add_sections(shape, "", document, report, directory) and document:
        _add_bare(shape, document, report)
    return shape


def _add_sections(shape: Shape, prefix: str, document: Mapping[str, Any], report: Report, directory: str) -> bool:
    """Whether any known section was there."""
    keys = {folded(str(key)): str(key) for key in document}
    sections = [keys[each] for each in keys if each in _SECTIONS]
    for key in repeated_keys(document):
        if folded(key) in _SECTIONS or folded(key) in ("mcp", "inputs"):
            report.wrong("is given twice; put all servers into one", None, prefix + key)
    for key in sections:
        _add_section(shape, prefix + key, document[key], report)
    found = bool(sections)
    if "inputs" in keys and (found or prefix):
        _add_questions(shape, prefix + keys["inputs"], document[keys["inputs"]], report)
    nested = document.get("mcp")
    if not prefix and isinstance(nested, Mapping):
        if _add_sections(shape, "mcp.", nested, report, directory):
            found = True
        elif nested and all(is_server(each) for each in nested.values()):
            _add_section(shape, "mcp", nested, report)
            found = True
        else:
            _lock_all(shape, "mcp.", nested, report)
        _exclude(shape, nested)
    projects = document.get("projects")
    if not prefix and isinstance(projects, Mapping) and all(isinstance(each, Mapping) for each in projects.values()):
        found = found or any("mcpServers" in each for each in projects.values())
        _add_project(shape, projects, report, directory)
    if found:
        _lock_all(shape, prefix, document, report)
    return found


def _lock_all(shape: Shape, prefix: str, document: Mapping[str, Any], report: Report) -> None:
    """What the document says of all servers, wherever in it they are."""
    for key, value in document.items():
        if folded(str(key)) != "locked" or value is None:
            continue
        if shape.locked is not None and shape.locked[1] != value:
            report.wrong(f"{shape.locked[0]} says otherwise; keep one of the two", None, f"{prefix}{key}")
        shape.locked = f"{prefix}{key}", value


def _add_section(shape: Shape, key: str, section: Any, report: Report) -> None:
    if isinstance(section, list):
        _add_list(shape, key, section, report)
    elif not isinstance(section, Mapping):
        report.wrong(f"{kind(section)}; expected an object of servers", None, key)
    else:
        for name in repeated_keys(section):
            report.wrong("is there twice; give one of the two another name", name)
        for name, entry in section.items():
            _add(shape, str(name), entry, report, key)


def _add_list(shape: Shape, key: str, section: list[Any], report: Report) -> None:
    for index, entry in enumerate(section):
        place = f"{key}[{index}]"
        if not isinstance(entry, Mapping):
            report.wrong(f'{kind(entry)}; expected an object with "name"', None, place)
            continue
        plain = {folded(str(each)): value for each, value in entry.items()}
        name = plain.get("name", plain.get("serverlabel"))
        if not isinstance(name, str):
            report.wrong('has no name; servers in a list need "name"', None, place)
            continue
        if name in shape.servers:
            report.wrong("is there twice; give one of the two another name", name)
        _add(shape, name, entry, report, place)


def _add(shape: Shape, name: str, entry: Any, report: Report, place: str) -> None:
    if not name.strip():
        report.wrong("a server has an empty name; give it one", None, place)
    elif any(each < " " or each == "\x7f" or "\ud800" <= each <= "\udfff" for each in name):
        report.wrong("the name of a server holds a control character", name)
    elif not isinstance(entry, Mapping):
        report.wrong(f"{kind(entry)}; expected an object", name)
    elif name in shape.servers and shape.servers[name] != entry:
        report.wrong("is there twice; give one of the two another name", name)
    else:
        shape.servers[name] = entry


def _add_bare(shape: Shape, document: Mapping[str, Any], report: Report) -> None:
    if is_server(document):
        name = document.get("name") or document.get("server_label")
        _add(shape, name if isinstance(name, str) else "server", document, report, "")
    elif all(is_server(each) for each in document.values()):
        _add_section(shape, "", document, report)
    else:
        known = [str(each) for each in document]
        shown = ", ".join(repr(each[:40]) for each in known[:8]) + (
            f" and {len(known) - 8} more" if len(known) > 8 else ""
        )
        report.wrong(f"no servers in it; {_EXPECTED}, found {shown}")


def _add_project(shape: Shape, projects: Mapping[str, Any], report: Report, directory: str) -> None:
    """Claude Code: the servers of the nearest project that we are in, over the user's."""
    by_place = {
        os.path.normcase(os.path.normpath(str(path))): (str(path), project) for path, project in projects.items()
    }
    here = os.path.normcase(os.path.normpath(directory))
    while here not in by_place:
        above = os.path.dirname(here)
        if above == here:
            return
        here = above
    path, project = by_place[here]
    _lock_all(shape, f"{inner('projects', path)}.", project, report)
    section = project.get("mcpServers")
    if section is not None:
        local = Shape()
        _add_section(local, f"{inner('projects', path)}.mcpServers", section, report)
        shape.servers.update(local.servers)
    disabled = project.get("disabledMcpServers")
    if isinstance(disabled, list):
        shape.excluded.update(each for each in disabled if isinstance(each, str))


def _exclude(shape: Shape, settings: Mapping[str, Any]) -> None:
    """Gemini CLI: `mcp.allowed` and `mcp.excluded` switch servers on and off by name."""
    allowed, excluded = settings.get("allowed"), settings.get("excluded")
    if isinstance(allowed, list):
        shape.excluded.update(each for each in shape.servers if each not in allowed)
    if isinstance(excluded, list):
        shape.excluded.update(each for each in excluded if isinstance(each, str))


def _add_questions(shape: Shape, key: str, section: Any, report: Report) -> None:
    if not isinstance(section, list):
        report.wrong(f"{kind(section)}; expected a list of inputs", None, key)
        return
    for index, each in enumerate(section):
        id = each.get("id") if isinstance(each, Mapping) else None
        if not isinstance(each, Mapping) or not isinstance(id, str) or not id:
            report.wrong('expected an object with "id"', None, f"{key}[{index}]")
            continue
        if id in shape.questions:
            report.wrong("is there twice", None, f"{key}[{index}]")
        options = each.get("options")
        default, description = each.get("default"), each.get("description")
        shape.questions[id] = InputQuestion(
            id=id,
            type=str(each.get("type", "promptString")),
            description=description if isinstance(description, str) else "",
            default=default if isinstance(default, str) else None,
            password=each.get("password") is True,
            options=tuple(map(_option, options)) if isinstance(options, list) else (),
        )


def _option(option: Any) -> str:
    return str(option.get("value", "")) if isinstance(option, Mapping) else str(option)
