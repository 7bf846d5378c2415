"""Servers that are locked: which lock holds for which, and what of a listing it lets through.

Between the lock (`toolbridge.lock`, which knows no server) and the hub. A server is locked by `"locked"` in the
configuration or by `connect(lock=…)`; without a lock to hold it against it is not started, and that is a mistake of its
configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeAlias

from toolbridge.errors import ConfigError
from toolbridge.failure import Failure
from toolbridge.lock import LOCKFILE, Lock, LockedServer, Verdict, judge, lock_server, read_lock
from toolbridge.lock.judge import CLEAN, TO_A_MODEL
from toolbridge.servers.catalog import Listing
from toolbridge.servers.found import project_root
from toolbridge.servers.secrets import redact, secret_values
from toolbridge.servers.spec import ServerSpec
from toolbridge.types import Tool

LockSource: TypeAlias = "str | os.PathLike[str] | Lock"
"""A lock, or the file that holds it."""

MOST_WARNINGS = 8
"""Tools set apart that a status warns of one by one."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The lock of one server, and how its listings are held against it."""

    spec: ServerSpec
    locked: LockedServer
    folder: str
    """Where the lock is: paths below it are written from there."""

    def verdict(self, listing: Listing) -> Verdict:
        """What of a listing may be used."""
        return self._judged(listing, refuse=self.spec.locked == "refuse")

    def holds(self, listing: Listing) -> bool:
        """Whether a listing has nothing that a lock is there to find, not even a tool too few."""
        return self._judged(listing, refuse=True) == CLEAN

    def _judged(self, listing: Listing, *, refuse: bool) -> Verdict:
        offered: list[Tool] = self.spec.filter.apply(listing.tools)
        now = lock_listing(self.spec, offered, listing, self.folder)
        return judge(self.spec.name, self.locked, now, refuse=refuse)


class Said(Protocol):
    """What a server says of itself: a listing has it, and so has what a command found."""

    @property
    def server_name(self) -> str | None: ...
    @property
    def server_version(self) -> str | None: ...
    @property
    def protocol(self) -> str | None: ...
    @property
    def instructions(self) -> str | None: ...


def lock_listing(spec: ServerSpec | None, tools: Iterable[Tool], said: Said, folder: str) -> LockedServer:
    """A server's surface as it goes into a lock in that folder: without secrets, and without this machine's paths."""
    return lock_server(
        tools,
        name=said.server_name,
        version=said.server_version,
        protocol=said.protocol,
        instructions=said.instructions,
        clean=cleaner(spec, folder),
    )


def cleaner(spec: ServerSpec | None, folder: str) -> Callable[[str], str]:
    """Takes out what must not stand in a lock: the server's secrets, and where this machine keeps things, so that a
    lock holds on another machine too."""
    secrets = secret_values(spec) if spec is not None else frozenset[str]()
    places = {_place(os.path.abspath(folder)): ".", _place(os.path.expanduser("~")): "~"}
    known = sorted((each for each in places if each), key=len, reverse=True)
    pattern = re.compile("|".join(f"{re.escape(each)}(?![\\w.-])" for each in known)) if known else None

    def clean(text: str) -> str:
        text = redact(text, secrets) if secrets else text
        return pattern.sub(lambda found: places[found[0]], text) if pattern else text

    return clean


def _place(path: str) -> str:
    """A directory that is somebody's: `/` and `/root` stand in many texts and mean no one."""
    return path if len(Path(path).parts) > 2 else ""


def sealed(specs: Iterable[ServerSpec], lock: LockSource | None = None) -> tuple[list[ServerSpec], dict[str, Seal]]:
    """The servers and the seals of those that are locked. One whose lock is not there has that as its problem.

    With `lock` every server is locked, but for those that say that they are not. One that is named here and cannot be
    read raises `ConfigError`.
    """
    known: dict[str, Lock | str] = {}
    given = lock if lock is None or isinstance(lock, Lock) else read_lock(lock)
    found: list[ServerSpec] = []
    seals: dict[str, Seal] = {}
    for spec in specs:
        wanted = spec.locked is not False and (lock is not None or spec.locked is not None)
        if not wanted or spec.disabled or spec.problem is not None:
            found.append(spec)
            continue
        file = os.fspath(lock) if isinstance(lock, str | os.PathLike) else default_lockfile(spec.source)
        held = given if given is not None else _held(file, known)
        locked = held if isinstance(held, str) else held.servers.get(spec.name)
        if isinstance(locked, LockedServer):
            found.append(spec)
            assert isinstance(held, Lock)
            seals[spec.name] = Seal(spec, locked, held.folder or lock_folder(spec))
        else:
            name = "the lock" if isinstance(lock, Lock) else file
            why = locked or f"{name}: server {spec.name!r} is locked and not in it; add it with 'toolbridge lock'"
            found.append(replace(spec, problem=why))
    return found, seals


def default_lockfile(source: str) -> str:
    """Where the lock of a configuration is: beside it, or here where it is no file."""
    return os.path.join(project_root(Path(source).expanduser()), LOCKFILE) if source else LOCKFILE


def lock_folder(spec: ServerSpec) -> str:
    """Where the paths of a server are written from in a lock that is in no file yet: where its file would be."""
    return os.path.dirname(os.path.abspath(default_lockfile(spec.source)))


def _held(file: str, known: dict[str, Lock | str]) -> Lock | str:
    """The lock of a file, or what is wrong with it; each file is read once."""
    if file not in known:
        try:
            known[file] = read_lock(file)
        except ConfigError as problem:
            known[file] = str(problem)
    return known[file]


# ── what is said of it ───────────────────────────────────────────────────────────────────────────────────────────


def refusal(server: str, tool: str, verdict: Verdict) -> str | None:
    """Why a tool is not called, in words for a model, which do not quote what changed; `None` where it is as locked."""
    if tool in verdict.quarantined:
        return f"Not called: the tool {tool!r} of server {server!r} {TO_A_MODEL}. Do not try it again."
    return server_refusal(server) if verdict.refused is not None else None


def server_refusal(server: str) -> str:
    """The same for a server that is refused as a whole. Its failure is for people: it quotes what changed."""
    return f"Not called: server {server!r} {TO_A_MODEL}. Do not try it again."


def changed(server: str, verdict: Verdict) -> Failure:
    """The failure of a server that is refused as a whole."""
    return Failure(server, "changed", verdict.refused or "it is not as locked")


def lock_warnings(verdict: Verdict) -> list[str]:
    """What of a server is set apart, a line each."""
    told = list(verdict.quarantined.items())[:MOST_WARNINGS] if verdict.refused is None else []
    lines = [f"its tool {tool!r} is not as locked and not used: {why}" for tool, why in told]
    if verdict.refused is None and len(verdict.quarantined) > MOST_WARNINGS:
        lines.append(f"{len(verdict.quarantined) - MOST_WARNINGS} more of its tools are not as locked and not used")
    if verdict.withheld is not None:
        lines.append(f"its instructions are not as locked and not handed on: {verdict.withheld}")
    return lines
