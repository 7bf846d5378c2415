"""The surface of a server, in one canonical form: what a model sees of it and what hosts act on, with digests.

Two servers that say the same in another order, or write 1 as 1.0, have the same form. It is plain JSON of bounded depth
and size whatever the server sent, so that it can be written, read again and compared: what is nested further, or is no
JSON, stands there by its digest. It sits between `Tool` and the lockfile, and knows neither files nor servers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, TypeAlias

from toolbridge.types import EMPTY, Tool

Clean: TypeAlias = Callable[[str], str]
"""Takes out of a text what must not be kept: secrets, and where things are on this machine."""

DEEPEST = 64
"""Levels of a value that are kept as they are. Real schemas have some twenty; the file is read by recursion."""

MOST_VALUES = 200_000
"""Values of one tool that are looked at. The largest real tool has some 10,000; one that contains itself has no end."""

UNLOCKABLE: Final = {
    "$endless": "is too large to be locked",
    "$alike": "cannot be locked: two of its keys are told apart by a secret or by a path of this machine alone",
}
"""Tools that are not locked: the only key of their content, and why. Nobody knows what is in them, so they count as
changed always."""

HOST_META = ("openai/", "ui", "ui/", "anthropic/")
"""The keys of `_meta` that hosts act on, or what they begin with: who may see and call a tool, what is shown for its
result, which parameters are files. Others are the server's own affair and may change with every listing."""

_UNORDERED = frozenset({"required", "type"})
"""Keywords whose lists are sets: a server that keeps them in one may list them in any order."""

_HINTS = {
    "readOnlyHint": "read_only_hint",
    "destructiveHint": "destructive_hint",
    "idempotentHint": "idempotent_hint",
    "openWorldHint": "open_world_hint",
}

IDENTITY = ("name", "version", "protocol", "instructions")
"""What a server says of itself, in the order of the file."""


@dataclass(frozen=True)
class LockedTool:
    """A tool in its canonical form."""

    name: str
    content: Mapping[str, Any]
    """What there is of title, description, inputSchema, outputSchema, annotations and _meta."""

    @cached_property
    def digest(self) -> str:
        return digest([self.name, self.content])

    @property
    def unlockable(self) -> str | None:
        """Why it is not locked, where it cannot be."""
        return next((UNLOCKABLE[key] for key in self.content if key in UNLOCKABLE), None)


@dataclass(frozen=True)
class LockedServer:
    """A server: what it says of itself, and its tools by their names."""

    identity: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    """What there is of `IDENTITY`."""
    tools: Mapping[str, LockedTool] = field(default_factory=dict[str, LockedTool])

    @cached_property
    def digest(self) -> str:
        return digest([self.identity, [self.tools[name].digest for name in sorted(self.tools)]])

    @property
    def unlockable(self) -> dict[str, str]:
        """The tools that are not locked, and why."""
        return {name: why for name, tool in self.tools.items() if (why := tool.unlockable) is not None}


@dataclass(frozen=True)
class Lock:
    """Servers as they were when they were locked, by the names that their operator gave them."""

    servers: Mapping[str, LockedServer] = field(default_factory=dict[str, LockedServer])
    folder: str | None = field(default=None, compare=False)
    """Where its paths are written from. `None`: from where each server's configuration is."""

    @cached_property
    def digest(self) -> str:
        return digest({name: each.digest for name, each in self.servers.items()})


def lock_server(
    tools: Iterable[Tool],
    *,
    name: str | None = None,
    version: str | None = None,
    protocol: str | None = None,
    instructions: str | None = None,
    clean: Clean = str,
) -> LockedServer:
    """The canonical form of what a server offers. Of two tools with one name the first counts, as in the hub; an entry
    that can be no tool is none."""
    said = zip(IDENTITY, (name, version, protocol, instructions), strict=True)
    found: dict[str, LockedTool] = {}
    for tool in tools:
        if tool.problem is None and tool.id.name not in found:
            found[tool.id.name] = lock_tool(tool, clean)
    return LockedServer(
        {key: clean(text) for key, text in said if text},
        dict(sorted(found.items())),
    )


def lock_tool(tool: Tool, clean: Clean = str) -> LockedTool:
    """The canonical form of a tool."""
    hints = {key: value for key, hint in _HINTS.items() if (value := getattr(tool.hints, hint)) is not None}
    unread = tool.unread.get("annotations")
    annotations = {**unread, **hints} if isinstance(unread, Mapping) else hints
    meta = {key: value for key, value in tool.meta.items() if _acted_on(str(key))}
    canon = _Canon(clean)
    parts = {
        "title": tool.title or None,
        "description": tool.description or None,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": annotations or None,
        "_meta": meta or None,
    }
    content = {key: canon.plain(each) for key, each in parts.items() if each is not None}
    if canon.is_spent or canon.is_ambiguous:
        content = {"$endless" if canon.is_spent else "$alike": True}
    return LockedTool(tool.id.name, content)


def _acted_on(key: str) -> bool:
    return key == "ui" or (key.startswith(HOST_META) and "/" in key)


def digest(value: Any) -> str:
    """The digest of a value that is plain JSON: of its shortest text with sorted keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()}"


class _Canon:
    """The walk that makes a value plain, within one budget for a tool."""

    def __init__(self, clean: Clean) -> None:
        self._clean = clean
        self._left = MOST_VALUES
        self.is_ambiguous = False
        """Whether keys became one by cleaning, so that the value of one of them is not in the form."""

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def plain(self, value: Any, level: int = 0, key: str = "") -> Any:
        self._left -= 1
        match value:
            case str():
                return self._clean(value)
            case None | bool():
                return value
            case int():
                # Numbers of thousands of digits are not written: their text would cost its square.
                return value if value.bit_length() < 1024 else {"$number": hex(value)}
            case float():
                if not math.isfinite(value):
                    return {"$number": str(value)}
                return int(value) if value.is_integer() and abs(value) < 2**53 else value
            case Mapping() | list() | tuple() if self._left < 0:
                return None
            case Mapping() | list() | tuple() if level >= DEEPEST:
                return {"$deeper": self._deep(value)}
            case Mapping():
                pairs = sorted(((str(each), inner) for each, inner in value.items()), key=_first)
                found = {self._clean(each): self.plain(inner, level + 1, each) for each, inner in pairs}
                self.is_ambiguous |= len(found) < len(pairs)
                return found
            case list() | tuple():
                plain = [self.plain(each, level + 1) for each in value]
                unordered = key in _UNORDERED and all(isinstance(each, str) for each in plain)
                return sorted(plain) if unordered else plain
            case _:
                return {"$foreign": type(value).__name__}

    def _deep(self, value: Any) -> str:
        """The digest of a value of any depth, without recursion."""
        found = sha256()
        stack: list[Any] = [value]
        while stack and self._left >= 0:
            self._left -= 1
            each = stack.pop()
            if isinstance(each, Mapping):
                pairs = sorted(((str(key), inner) for key, inner in each.items()), key=_first)
                found.update(f"{{{len(pairs)},".encode())
                for key, inner in reversed(pairs):
                    stack += (inner, key)
            elif isinstance(each, list | tuple):
                found.update(f"[{len(each)},".encode())
                stack += reversed(each)
            else:
                found.update(json.dumps(self.plain(each), sort_keys=True).encode("ascii") + b",")
        return f"sha256:{found.hexdigest()}"


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]
