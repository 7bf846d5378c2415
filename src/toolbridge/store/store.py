"""Where conversations are kept: what every store promises, and the door to them.

A conversation is a list of messages that only grows. What is kept is whole appends, one after the other: writers never
mix their messages, lose none, and a process that dies leaves the appends that were done and nothing of the next. A
store knows nothing of providers: a conversation that ends in the middle of a turn is made legal by whoever writes it
for one (`provider.write_messages`).

`sqlite` is one file of one machine; `redis` is a server that many share. Both are loaded when they are asked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from toolbridge.errors import StoreError
from toolbridge.notes import Note
from toolbridge.types import Message

WAIT_SECONDS = 10.0
"""How long a store that is busy, or a server that is silent, is waited for before it is an error."""

PREFIX = "toolbridge:"
"""What the names of our keys begin with, in a Redis that others use too."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
"""Two letters at least: `C:/` is a drive."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A conversation as it is kept. One that nobody has written to is empty, at version 0."""

    messages: tuple[Message, ...] = ()
    version: int = 0
    """How many messages were kept; `append(…, after=version)` writes only if that is still so. Messages that cannot be
    read any more count, so it is not always `len(messages)`."""
    title: str = ""
    """The beginning of the first question, until `rename` gives another."""
    changed: float = 0.0
    """When it was written to, in seconds of the epoch."""
    notes: tuple[Note, ...] = ()
    """What could not be read: `message.unreadable`, with its place."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list."""

    conversation: str
    title: str
    version: int
    """How many messages it has."""
    changed: float


@dataclass(frozen=True, slots=True)
class KeptPause:
    """A run that waits for somebody's word."""

    id: str
    conversation: str
    state: dict[str, Any] = field(repr=False, hash=False)
    """As `Paused.state` had it; empty where it cannot be read any more."""
    since: float


class Store(Protocol):
    """Keeps conversations, and runs that wait. Every method may be called from any task, thread and event loop, and
    raises `StoreError`; whatever fails, what was kept before is still there."""

    async def load(self, conversation: str) -> Kept:
        """The whole conversation. What cannot be read costs itself, and is noted."""
        ...

    async def append(
        self, conversation: str, messages: Sequence[Message], *, after: int | None = None, once: str = ""
    ) -> int:
        """Add the messages in one piece; the new version is returned.

        With `after`, only if the conversation is still at that version: else `StoreError` of the kind `conflict`, and
        nothing is written.

        Where the task is cancelled or a connection is lost, it was done whole or not at all, and nobody can say which.
        `once` is a name for this very append, a random one: sent again under it, what is there already is not kept a
        second time.
        """
        ...

    async def list(self) -> tuple[Summary, ...]:
        """All conversations, the one last written to first."""
        ...

    async def rename(self, conversation: str, title: str) -> None:
        """Give it another title. The name that it is kept under stays. `StoreError` of the kind `unknown` where there
        is no such conversation."""
        ...

    async def delete(self, conversation: str) -> None:
        """Forget the conversation, and the runs of it that wait. One that is not there is no error."""
        ...

    async def keep_pause(self, id: str, state: Mapping[str, Any], *, conversation: str = "") -> None:
        """Keep a run that waits. The state is JSON, and comes back as it was."""
        ...

    async def pauses(self, conversation: str | None = None) -> tuple[KeptPause, ...]:
        """The runs that wait, of one conversation or of all, the longest waiting first."""
        ...

    async def take_pause(self, id: str) -> dict[str, Any] | None:
        """The state of a run that waits, once: of two that take it, one gets it and the other `None`."""
        ...

    async def close(self) -> None:
        """Let go of files and connections. A store may be used again afterwards; one in memory is empty then."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_store(
    where: str | os.PathLike[str] | None = None,
    *,
    wait: float = WAIT_SECONDS,
    prefix: str = PREFIX,
    expire: float | None = None,
) -> Store:
    """The store at a place. Nothing is read or connected before the first use.

    `where` is `None` (a file among the user's data, or `TOOLBRIDGE_DATA_DIR`), a path, `sqlite:///path`, `:memory:`, or
    `redis://`, `rediss://` or `unix://`, which need the extra `redis`. `prefix` and `expire` are Redis': what its keys
    begin with, and after how many seconds without an append a conversation is forgotten (never, unless asked for).
    """
    scheme = _SCHEME.match(where) if isinstance(where, str) else None
    kind = scheme[1].lower() if scheme else ""
    if isinstance(where, str) and kind in ("redis", "rediss", "unix"):
        from toolbridge.store.redis import RedisStore

        return RedisStore(where, wait=wait, prefix=prefix, expire=expire)
    if kind not in ("", "sqlite"):
        raise StoreError(
            "unreachable",
            f"{kind}://: no store of this kind; known are a path, sqlite:///path, :memory:, redis://, rediss://, unix://",
        )
    if expire is not None:
        raise StoreError("unreachable", "expire: only Redis forgets by itself; delete what is no longer wanted")
    from toolbridge.store.sqlite import SqliteStore

    return SqliteStore(_path(where), wait=wait)


def _path(where: str | os.PathLike[str] | None) -> Path | None:
    """The file that is meant; `None` for none, in memory."""
    if where is None:
        from toolbridge.servers.private import data_directory

        return data_directory(os.environ) / "conversations.sqlite3"
    if isinstance(where, str):
        if where[:7].lower() == "sqlite:":
            # As SQLAlchemy has it, which people know: three slashes and a relative path, or an absolute one.
            where = where[7:].removeprefix("//").removeprefix("/") or ":memory:"
        if where == ":memory:":
            return None
    if not os.fspath(where):
        raise StoreError("unreachable", "the path of the store is empty; give a file, or nothing for the user's own")
    return Path(os.path.expanduser(where))
