"""Filters: which tools of a server are offered. Exclude wins; an empty include lets every name pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from toolbridge.errors import ConfigError
from toolbridge.mistakes import Wrong, inner, kind


@dataclass(frozen=True, slots=True, init=False)
class MCPToolFilter:
    """Include and exclude tools by name or glob (`read_*`), and by the claim to be read-only."""

    include: tuple[str, ...]
    exclude: tuple[str, ...]
    read_only: bool | None

    def __init__(
        self,
        *,
        include: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        read_only: bool | None = None,
    ) -> None:
        for name, patterns in (("include", include), ("exclude", exclude)):
            if isinstance(patterns, str):
                raise TypeError(f"{name} takes a list of names, and {patterns!r} is one name: put it into a list")
            object.__setattr__(self, name, tuple(patterns or ()))
        object.__setattr__(self, "read_only", read_only)

    def accepts(self, name: str) -> bool:
        """Whether a tool of this name passes."""
        if any(_matches(name, pattern) for pattern in self.exclude):
            return False
        return not self.include or any(_matches(name, pattern) for pattern in self.include)

    def apply(self, tools: Iterable[Any]) -> list[Any]:
        """The tools that pass, in their order: ours, or anything with a `name`."""
        return [tool for tool in tools if self.accepts(_name(tool)) and self._hinted(tool)]

    def unused(self, names: Iterable[str]) -> list[str]:
        """The patterns that no name matches: probably mistaken, or for tools that are gone."""
        known = list(names)
        return [each for each in (*self.include, *self.exclude) if not any(_matches(name, each) for name in known)]

    def _hinted(self, tool: Any) -> bool:
        if self.read_only is None:
            return True
        hints = getattr(tool, "hints", None)
        if hints is not None:
            return bool(hints.read_only) is self.read_only
        annotations = tool.get("annotations") if isinstance(tool, dict) else getattr(tool, "annotations", None)
        if isinstance(annotations, dict):
            claim = annotations.get("readOnlyHint")
        else:
            claim = getattr(annotations, "read_only_hint", getattr(annotations, "readOnlyHint", None))
        return (claim is True) is self.read_only


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)  # a name may hold brackets


def is_glob(name: str) -> bool:
    """Whether a name stands for many."""
    return any(each in name for each in "*?[")


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name", ""))
    identity = getattr(tool, "id", None)
    return str(getattr(identity, "name", None) or getattr(tool, "name", ""))


# ── as settings write it ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Selection:
    """Tools as `allowed_tools` and both halves of `require_approval` name them: those that meet all that is said."""

    names: tuple[str, ...] | None = None
    """`None` where nothing is said of names."""
    read_only: bool | None = None


def read_allowed_tools(value: Any) -> MCPToolFilter:
    """`allowed_tools`, as hosted servers and server files have it: a list of names, or an object of `tool_names` and
    `read_only`, both of which must hold; `None` lets every tool pass. Raises `ConfigError` with every mistake."""
    problems: list[str] = []
    read = read_selection("allowed_tools", value, lambda key, text: problems.append(f"{key}: {text}"))
    if read.names == () and not problems:
        problems.append("allowed_tools: is empty; leave it out to offer every tool")
    if problems:
        raise ConfigError(problems)
    return MCPToolFilter(include=() if read.names == ("*",) else read.names, read_only=read.read_only)


def read_selection(key: str, value: Any, wrong: Wrong) -> Selection:
    """The tools that one such value means."""
    if value is None:
        return Selection()
    if not isinstance(value, Mapping):
        return Selection(read_names(key, value, wrong))
    for name in value:
        if name not in ("tool_names", "read_only"):
            wrong(inner(key, str(name)), 'unknown key; expected "tool_names" or "read_only"')
    listed, claim = value.get("tool_names"), value.get("read_only")
    if claim is not None and not isinstance(claim, bool):
        wrong(inner(key, "read_only"), f"{kind(claim)}; expected true or false")
        claim = None
    return Selection(None if listed is None else read_names(inner(key, "tool_names"), listed, wrong), claim)


def read_names(key: str, value: Any, wrong: Wrong) -> tuple[str, ...]:
    """A list of names of tools; what is none is told."""
    if not isinstance(value, list):
        wrong(key, f"{kind(value)}; expected a list of names of tools")
        return ()
    for index, each in enumerate(value):
        if not isinstance(each, str) or not each:
            wrong(f"{key}[{index}]", f"{'empty' if each == '' else kind(each)}; expected the name of a tool")
    return tuple(dict.fromkeys(each for each in value if isinstance(each, str) and each))
