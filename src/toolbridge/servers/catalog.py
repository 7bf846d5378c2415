"""The catalogue on disk: what each server listed last, so that a warm listing starts nothing.

One JSON file per server, named by a fingerprint of what decides which tools it lists. It is not the live catalogue
(that is the hub's), and it knows nothing of MCP: it sits between `ServerSpec` and the file system. A cache must never
be the reason that something fails, so whatever is wrong with the disk is the same as an empty cache; and what is read
is exactly what was stored, or nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from toolbridge.servers.private import create_private, make_private, write_private
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import EMPTY, NO_HINTS, Tool, ToolHints, ToolId

VERSION = 2
"""Of the file's shape. A file of another version is as if absent."""

MAX_AGE_SECONDS = 24 * 3600.0
"""How long a listing is believed when the server did not say: tools change with upgrades, which are rarely hourly."""

KEPT_SECONDS = 30 * 24 * 3600.0
"""After this long without being written a file goes: its server was removed, moved or upgraded. No `ttl` reaches
beyond it."""

PRUNE_SECONDS = 24 * 3600.0
"""How often a store looks for such files."""

SCRIPTS = (
    ".py",
    ".pyz",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".sh",
    ".rb",
    ".pl",
    ".php",
    ".jar",
    ".lua",
    ".exe",
    ".json",
    ".toml",
)
"""Arguments that are programs, or say what a program offers. Others are data: a database changes with every call."""

_KEY_BYTES = 32
_HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server said about itself and its tools, and when."""

    tools: tuple[Tool, ...]
    server_name: str | None = None
    server_version: str | None = None
    protocol: str | None = None
    """The protocol version that was spoken, so that a reconnect knows the server's era."""
    instructions: str | None = None
    listed_at: float = 0.0
    """Seconds since the epoch."""
    ttl: float | None = None
    """For how many seconds the server wants to be believed; `None` where it does not say."""

    def is_fresh(self, now: float) -> bool:
        """A listing from the future is not: the clock was wrong then, or is now."""
        age = now - self.listed_at
        return 0 <= age < min(MAX_AGE_SECONDS if self.ttl is None else self.ttl, KEPT_SECONDS)


class Catalog:
    """Listings in a directory, safe for several processes at once. Nothing here raises for what the disk does."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = directory if directory is not None else default_directory()
        self._key: bytes | None = None

    def load(self, spec: ServerSpec) -> Listing | None:
        """The last listing of this server, where it is there, whole and fresh."""
        path = self._path(spec, create=False)
        if path is None:
            return None
        try:
            listing = _read_listing(json.loads(path.read_bytes()), spec.name)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return listing if listing.is_fresh(time.time()) else None

    def store(self, spec: ServerSpec, listing: Listing) -> None:
        """Keep a listing, unless that would show a secret or change a tool."""
        path = self._path(spec, create=True)
        if path is None:
            return
        text = _storable(spec, listing)
        with suppress(OSError):
            if text is None:
                path.unlink(missing_ok=True)  # what was kept is no longer what the server lists
            else:
                write_private(path, text.encode("ascii"))
            self._prune()

    def forget(self, spec: ServerSpec) -> None:
        """Drop what is kept of this server: after a login as somebody else, for example."""
        path = self._path(spec, create=False)
        if path is not None:
            with suppress(OSError):
                path.unlink()

    def _path(self, spec: ServerSpec, *, create: bool) -> Path | None:
        if self.directory is None or spec.transport == "memory" or spec.headers_from is not None:
            return None
        try:
            if create:
                make_private(self.directory)
            if self._key is None:
                if not _is_ours(self.directory):
                    return None
                self._key = _read_key(self.directory / "key", create=create)
            return None if self._key is None else self.directory / f"{fingerprint(spec, self._key)}.json"
        except (OSError, ValueError):
            return None

    def _prune(self) -> None:
        """Now and then, remove what nobody wrote for long, and what a killed process left half-written."""
        assert self.directory is not None
        now, mark = time.time(), self.directory / "pruned"
        with suppress(OSError):
            if 0 <= now - mark.stat().st_mtime < PRUNE_SECONDS:
                return
        write_private(mark, b"")
        with os.scandir(self.directory) as entries:
            for entry in entries:
                kept = {".json": KEPT_SECONDS, ".part": 3600.0}.get(os.path.splitext(entry.name)[1])
                with suppress(OSError):
                    if kept is not None and now - entry.stat(follow_symlinks=False).st_mtime > kept:
                        os.unlink(entry.path)


def default_directory(environment: Mapping[str, str] | None = None) -> Path | None:
    """Where the user's caches are, or `None` where the user has no home."""
    environment = os.environ if environment is None else environment
    if chosen := environment.get("TOOLBRIDGE_CACHE_DIR"):
        return Path(chosen)
    try:
        if sys.platform == "win32":
            local = environment.get("LOCALAPPDATA")
            return (Path(local) if local else Path.home() / "AppData" / "Local") / "toolbridge" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "toolbridge"
        caches = environment.get("XDG_CACHE_HOME", "")
        return (Path(caches) if os.path.isabs(caches) else Path.home() / ".cache") / "toolbridge"
    except RuntimeError:
        return None


def fingerprint(spec: ServerSpec, key: bytes) -> str:
    """A digest of what decides which tools are listed. Keyed, so that no secret in it can be guessed from it."""
    oauth = spec.oauth
    facts: list[Any] = [
        VERSION, spec.transport, spec.command, spec.args, sorted(spec.env.items()), spec.inherit, spec.cwd,
        spec.url, sorted(spec.headers.items()), spec.protocol,
        None if oauth is None else [oauth.client_id, oauth.client_secret, oauth.scopes, oauth.grant],
        _program(spec),
    ]  # fmt: skip
    return blake2b(json.dumps(facts).encode("ascii"), key=key, digest_size=20).hexdigest()


def _program(spec: ServerSpec) -> list[Any]:
    """What changes when a local server is upgraded or edited: the program, scripts among the arguments, and where
    relative paths lead."""
    if spec.transport != "stdio" or not spec.command:
        return []
    directory = os.path.abspath(spec.cwd or ".")
    files = [_file_facts(os.path.join(directory, arg)) if arg.endswith(SCRIPTS) else None for arg in spec.args]
    # Without a relative path it does not matter where we are: a user's configuration is warm in every directory.
    relative = [os.path.dirname(spec.command), *(arg for arg, facts in zip(spec.args, files, strict=True) if facts)]
    here = any(path and not os.path.isabs(path) for path in relative)
    return [directory if here else None, _file_facts(_resolved(spec, spec.command, directory)), *files]


def _resolved(spec: ServerSpec, command: str, directory: str) -> str:
    if os.path.dirname(command):
        return os.path.join(directory, command)
    from shutil import which  # not needed where nothing is local

    return which(command, path=spec.env.get("PATH")) or command


def _file_facts(path: str) -> list[int] | None:
    try:
        facts = os.stat(path)
    except (OSError, ValueError):  # most arguments are no files; a NUL is no path
        return None
    return [facts.st_mtime_ns, facts.st_size] if stat.S_ISREG(facts.st_mode) else None


def _storable(spec: ServerSpec, listing: Listing) -> str | None:
    """The file's text; `None` where it would not be read as it was written, or would show a secret."""
    try:
        text = json.dumps(_write_listing(listing), default=_plain, separators=(",", ":"))
        same = _read_listing(json.loads(text), spec.name) == _stamped(listing, spec.name)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return text if same and not _shows(text, spec.secrets) else None


def _shows(text: str, hidden: Iterable[str]) -> bool:
    """Whether the JSON text holds one of these, also where a text inside it is JSON again."""
    for secret in hidden:
        once = json.dumps(secret)[1:-1]
        if secret and (secret in text or once in text or json.dumps(once)[1:-1] in text):
            return True
    return False


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _stamped(listing: Listing, server: str) -> Listing:
    return replace(listing, tools=tuple(replace(tool, id=ToolId(server, tool.id.name)) for tool in listing.tools))


def _write_listing(listing: Listing) -> dict[str, Any]:
    return {
        "version": VERSION,
        "listed_at": listing.listed_at,
        "ttl": listing.ttl,
        "server_name": listing.server_name,
        "server_version": listing.server_version,
        "protocol": listing.protocol,
        "instructions": listing.instructions,
        "tools": [_write_tool(tool) for tool in listing.tools],
    }


def _write_tool(tool: Tool) -> dict[str, Any]:
    """A tool without its server's name, which the operator may change; and without what is as usual."""
    document: dict[str, Any] = {"name": tool.id.name, "description": tool.description, "input": tool.input_schema}
    hints = [getattr(tool.hints, name) for name in _HINTS]
    usual = (
        ("output", tool.output_schema, None), ("title", tool.title, None), ("hints", hints, [None] * 4),
        ("meta", tool.meta, EMPTY), ("icons", tool.icons, ()), ("problem", tool.problem, None),
        ("unread", tool.unread, EMPTY),
    )  # fmt: skip
    document.update((key, value) for key, value, default in usual if value != default)
    return document


def _read_listing(document: Any, server: str) -> Listing:
    """Raises what the standard library raises for a foreign shape; the caller catches it."""
    if document["version"] != VERSION:
        raise ValueError("another version")
    ttl = document["ttl"]
    return Listing(
        tools=tuple(_read_tool(tool, server) for tool in _a(list, document["tools"])),
        server_name=_text(document["server_name"]),
        server_version=_text(document["server_version"]),
        protocol=_text(document["protocol"]),
        instructions=_text(document["instructions"]),
        listed_at=_number(document["listed_at"]),
        ttl=None if ttl is None else _number(ttl),
    )


def _read_tool(document: Any, server: str) -> Tool:
    hints = document.get("hints")
    output = document.get("output")
    icons = _a(list, document.get("icons", []))
    return Tool(
        id=ToolId(server, _a(str, document["name"])),
        description=_a(str, document["description"]),
        input_schema=document["input"],  # whatever the server said: `prepare` judges it
        output_schema=None if output is None else _a(dict, output),
        title=_text(document.get("title")),
        hints=NO_HINTS if hints is None else _read_hints(hints),
        meta=_a(dict, document["meta"]) if "meta" in document else EMPTY,
        icons=tuple(icons),
        problem=_text(document.get("problem")),
        unread=_a(dict, document["unread"]) if "unread" in document else EMPTY,
    )


def _read_hints(hints: Any) -> ToolHints:
    if len(_a(list, hints)) != len(_HINTS) or not all(hint is None or isinstance(hint, bool) for hint in hints):
        raise ValueError("no hints")
    return ToolHints(*hints)


def _a(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError("another shape")
    return value


def _text(value: Any) -> str | None:
    return None if value is None else _a(str, value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("no number")
    return value


def _read_key(path: Path, *, create: bool) -> bytes | None:
    """The cache's own key. Whoever comes first makes it; the others take that one."""
    for _ in range(2):
        with suppress(FileNotFoundError):
            key = path.read_bytes()
            if len(key) == _KEY_BYTES:
                return key
            if not create:
                return None
            path.unlink(missing_ok=True)  # damaged: what it named is lost, and pruned one day
        if not create:
            return None
        create_private(path, secrets.token_bytes(_KEY_BYTES))
    key = path.read_bytes()
    return key if len(key) == _KEY_BYTES else None


def _is_ours(directory: Path) -> bool:
    """Whether nobody else can put a listing there: a planted tool description would speak to the model."""
    if os.name != "posix":
        return True
    facts = directory.stat()
    return facts.st_uid == os.geteuid() and not stat.S_IMODE(facts.st_mode) & 0o022
