"""Filters: which tools of a server are offered. Exclude wins; an empty include lets every name pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any


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


def visible(tool: Any) -> bool:
    """Whether models may see the tool: its server can keep it for widgets and hosts (two keys of `_meta`)."""
    meta = getattr(tool, "meta", None) or {}
    if meta.get("openai/visibility") == "private":
        return False
    ui = meta.get("ui")
    audience = ui.get("visibility") if isinstance(ui, dict) else None
    return not isinstance(audience, list) or "model" in audience


def is_glob(name: str) -> bool:
    """Whether a name stands for many."""
    return any(each in name for each in "*?[")


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name", ""))
    identity = getattr(tool, "id", None)
    return str(getattr(identity, "name", None) or getattr(tool, "name", ""))
