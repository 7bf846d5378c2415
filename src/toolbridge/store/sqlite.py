"""Conversations in a SQLite file: the store of one machine, with nothing to install or start.

Any number of processes use the file at once: each write is one transaction that waits for its turn, and readers wait
for nobody (write-ahead log). A commit is on the disk when it returns. The file is its owner's alone. One that is
damaged, or is not ours, is an error that names it: nothing here deletes, empties or overwrites a file.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from toolbridge.errors import StoreError, StoreFailure
from toolbridge.servers.private import make_private
from toolbridge.store.entries import (
    conflict,
    read_entries,
    read_state,
    read_text,
    title_of,
    unknown,
    write_entries,
    write_json,
    write_name,
    write_text,
)
from toolbridge.store.store import WAIT_SECONDS, Kept, KeptPause, Summary
from toolbridge.store.threads import Threads
from toolbridge.types import Message

T = TypeVar("T")

APPLICATION = 0x746F6F6C
"""The mark in the file's header (`tool`) by which it is known as ours."""

SCHEMA = (
    """
    CREATE TABLE conversation (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        version INTEGER NOT NULL,
        changed REAL NOT NULL
    )
    """,
    """
    CREATE TABLE message (
        conversation INTEGER NOT NULL,
        place INTEGER NOT NULL,
        entry TEXT NOT NULL,
        UNIQUE (conversation, place)
    )
    """,
    "CREATE TABLE done (conversation INTEGER NOT NULL, once TEXT NOT NULL, PRIMARY KEY (conversation, once))",
    "CREATE TABLE pause (id TEXT PRIMARY KEY, conversation TEXT NOT NULL, state TEXT NOT NULL, since REAL NOT NULL)",
    "CREATE INDEX pause_conversation ON pause (conversation)",
)
"""`version` counts the messages, so that an append looks at one row and not at all of them; `done` has the names of
appends that must not be kept twice."""

VERSION = 1
"""Of the schema, in the file's header. Raised when an older toolbridge would misread the file."""

SHORTEST_WAIT_SECONDS = 0.1
"""What is left of the wait for a write that has stood behind others of its own process: a hundred of them are told that
a file is locked after about as long as one."""

_RETRY_SECONDS = 0.02
"""Between attempts at what SQLite does not wait for by itself: two processes that make one file at the same time."""

_BUSY = "another program has been writing to it for {wait:g} s; end that, or wait longer"
_NO_ROOM = "there is no room left on the disk; nothing that was kept is lost: make room and try again"
_FAILURES: Mapping[int, tuple[StoreFailure, str]] = {
    sqlite3.SQLITE_BUSY: ("locked", _BUSY),
    sqlite3.SQLITE_LOCKED: ("locked", _BUSY),
    sqlite3.SQLITE_FULL: ("full", _NO_ROOM),
    sqlite3.SQLITE_TOOBIG: ("full", "a message is larger than SQLite can hold"),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "the file is damaged; it was left as it is: move it away, or restore a copy"),
    sqlite3.SQLITE_NOTADB: ("corrupt", "this is no SQLite database; it was left as it is: name another file"),
    sqlite3.SQLITE_READONLY: ("unreachable", "the file or its folder is read-only; name another file"),
    sqlite3.SQLITE_CANTOPEN: ("unreachable", "cannot be opened; name a file in a folder that can be written to"),
    sqlite3.SQLITE_PERM: ("unreachable", "access is not permitted; name another file"),
    sqlite3.SQLITE_IOERR_WRITE: ("full", "a quota or a limit of file sizes is reached; nothing that was kept is lost"),
    sqlite3.SQLITE_IOERR_SHMSIZE: ("full", _NO_ROOM),
    sqlite3.SQLITE_CONSTRAINT: ("corrupt", "its counts and its messages disagree; it was left as it is"),
}  # fmt: skip
"""By extended code, else by primary one (its low byte): the kind, and what to do."""


_STORES: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
"""Those in files, for what a fork does to them."""

_forking: list[SqliteStore] = []


def _before_fork() -> None:
    _forking.extend(_STORES)
    for store in _forking:
        store.before_fork()


def _after_fork() -> None:
    while _forking:
        _forking.pop().after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class SqliteStore:
    """The store in one file; in memory where there is no path."""

    def __init__(self, path: Path | None, *, wait: float = WAIT_SECONDS) -> None:
        self.path = None if path is None else Path(os.path.abspath(path))  # whatever the working directory is later
        self._wait = wait
        self._patience = wait
        self._threads = Threads(1)  # writers would only wait for each other
        self._database: sqlite3.Connection | None = None
        self._use = threading.Lock()  # while the connection is used, and while the process is forked
        if path is not None:
            _STORES.add(self)

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path or ':memory:')!r})"

    async def load(self, conversation: str) -> Kept:
        name = write_name(conversation)
        return await self._run(lambda: self._load(name))

    async def append(
        self, conversation: str, messages: Sequence[Message], *, after: int | None = None, once: str = ""
    ) -> int:
        name, messages = write_name(conversation), tuple(messages)
        return await self._run(lambda: self._append(name, messages, after, write_text(once)))

    async def list(self) -> tuple[Summary, ...]:
        return await self._run(self._list)

    async def rename(self, conversation: str, title: str) -> None:
        name, words = write_name(conversation), write_text(title)
        await self._run(lambda: self._rename(name, words))

    async def delete(self, conversation: str) -> None:
        name = write_name(conversation)
        await self._run(lambda: self._delete(name))

    async def keep_pause(self, id: str, state: Mapping[str, Any], *, conversation: str = "") -> None:
        row = (write_name(id), write_text(conversation), write_json(state), time.time())
        await self._run(lambda: self._keep_pause(row))

    async def pauses(self, conversation: str | None = None) -> tuple[KeptPause, ...]:
        name = None if conversation is None else write_text(conversation)
        return await self._run(lambda: self._pauses(name))

    async def take_pause(self, id: str) -> dict[str, Any] | None:
        name = write_name(id)
        return await self._run(lambda: self._take_pause(name))

    async def close(self) -> None:
        await self._threads.end(self._disconnect)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ── in the thread ────────────────────────────────────────────────────────────────────────────────────────────

    async def _run(self, work: Callable[[], T]) -> T:
        asked = time.monotonic()

        def told() -> T:
            with self._use:
                self._patience = max(self._wait - (time.monotonic() - asked), min(self._wait, SHORTEST_WAIT_SECONDS))
                try:
                    return work()
                except sqlite3.Error as failure:
                    raise self._error(failure) from None

        return await self._threads.run(told)

    def _load(self, name: bytes) -> Kept:
        with self._reading() as database:
            row = _one(
                database, "SELECT id, version, title, changed FROM conversation WHERE name = CAST(? AS TEXT)", name
            )
            if row is None:
                return Kept()
            id, version, title, changed = row
            entries = _entries(database, id, version)
        read = read_entries(entries)
        return Kept(read.value, version, read_text(title), changed, read.notes)

    def _append(self, name: bytes, messages: tuple[Message, ...], after: int | None, once: bytes) -> int:
        entries = write_entries(messages)
        title = write_text(title_of(messages))
        with self._writing() as database:
            row = _one(database, "SELECT id, version FROM conversation WHERE name = CAST(? AS TEXT)", name)
            version = 0 if row is None else row[1]
            if row is not None and once and _is_done(database, row[0], once):
                return version
            if after is not None and after != version:
                raise conflict(name, version, after)
            if not entries:
                return version
            if row is None:
                made = database.execute(
                    "INSERT INTO conversation (name, title, version, changed) VALUES (CAST(? AS TEXT), '', 0, 0)",
                    (name,),
                )
                id = made.lastrowid
            else:
                id = row[0]
            database.executemany(
                "INSERT INTO message (conversation, place, entry) VALUES (?, ?, CAST(? AS TEXT))",
                ((id, place, entry) for place, entry in enumerate(entries, version)),
            )
            if once:
                database.execute("INSERT INTO done (conversation, once) VALUES (?, CAST(? AS TEXT))", (id, once))
            version += len(entries)
            database.execute(
                "UPDATE conversation SET version = ?, changed = ?, "
                "title = CASE title WHEN '' THEN CAST(? AS TEXT) ELSE title END WHERE id = ?",
                (version, time.time(), title, id),
            )
        return version

    def _list(self) -> tuple[Summary, ...]:
        with self._reading() as database:
            rows = database.execute(
                "SELECT name, title, version, changed FROM conversation ORDER BY changed DESC, id DESC"
            ).fetchall()
        return tuple(Summary(read_text(name), read_text(title), version, at) for name, title, version, at in rows)

    def _rename(self, name: bytes, title: bytes) -> None:
        with self._writing() as database:
            done = database.execute(
                "UPDATE conversation SET title = CAST(? AS TEXT) WHERE name = CAST(? AS TEXT)", (title, name)
            )
            if not done.rowcount:
                raise unknown(name)

    def _delete(self, name: bytes) -> None:
        with self._writing() as database:
            for table in ("message", "done"):
                database.execute(
                    f"DELETE FROM {table} WHERE conversation IN "
                    "(SELECT id FROM conversation WHERE name = CAST(? AS TEXT))",
                    (name,),
                )
            database.execute("DELETE FROM conversation WHERE name = CAST(? AS TEXT)", (name,))
            database.execute("DELETE FROM pause WHERE conversation = CAST(? AS TEXT)", (name,))

    def _keep_pause(self, row: tuple[bytes, bytes, bytes, float]) -> None:
        with self._writing() as database:
            database.execute(
                "INSERT OR REPLACE INTO pause (id, conversation, state, since) "
                "VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?)",
                row,
            )

    def _pauses(self, conversation: bytes | None) -> tuple[KeptPause, ...]:
        with self._reading() as database:
            rows = database.execute(
                "SELECT id, conversation, state, since FROM pause "
                "WHERE ?1 IS NULL OR conversation = CAST(?1 AS TEXT) ORDER BY since, rowid",
                (conversation,),
            ).fetchall()
        return tuple(
            KeptPause(read_text(id), read_text(name), read_state(text) or {}, since) for id, name, text, since in rows
        )

    def _take_pause(self, id: bytes) -> dict[str, Any] | None:
        with self._writing() as database:
            row = _one(database, "SELECT state FROM pause WHERE id = CAST(? AS TEXT)", id)
            if row is None:
                return None
            state = read_state(row[0])
            if state is None:
                raise StoreError(
                    "corrupt", f"{self._place}: the run {read_text(id)!r} that waits cannot be read any more"
                )
            database.execute("DELETE FROM pause WHERE id = CAST(? AS TEXT)", (id,))
            return state

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _place(self) -> str:
        return str(self.path or ":memory:")

    @contextmanager
    def _reading(self) -> Generator[sqlite3.Connection]:
        """One moment of the file. Nothing is committed: that fails where a page that was read is damaged."""
        database = self._connection()
        database.execute("BEGIN")
        try:
            yield database
        finally:
            _roll_back(database)

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """Takes the lock at once: a transaction that reads first and writes then could not wait for its turn."""
        database = self._connection()
        database.execute(f"PRAGMA busy_timeout = {round(self._patience * 1000)}").fetchall()
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
            database.execute("COMMIT")
        finally:
            _roll_back(database)

    def _connection(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = self._connect()
        return self._database

    def _disconnect(self) -> None:
        with self._use:
            self._let_go()

    def _let_go(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    # ── a fork ───────────────────────────────────────────────────────────────────────────────────────────────────

    def before_fork(self) -> None:
        """A connection must not be there twice: SQLite would believe in the child that it holds the parent's locks, and
        the file would be damaged. Both processes connect anew."""
        self._use.acquire()
        self._let_go()

    def after_fork(self) -> None:
        self._use.release()

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None:
            self._make_file(self.path)
        end = time.monotonic() + self._wait
        while True:
            database = sqlite3.connect(
                self.path or ":memory:", timeout=self._wait, isolation_level=None, check_same_thread=False
            )
            try:
                database.text_factory = bytes  # text that is damaged is judged entry by entry
                self._set_up(database)
            except sqlite3.Error as failure:
                database.close()
                if _code(failure) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(_RETRY_SECONDS)
            except BaseException:
                database.close()
                raise
            else:
                return database

    def _make_file(self, path: Path) -> None:
        """An empty file that is its owner's alone: SQLite would make one that the umask lets others read, and makes the
        files beside it like the first."""
        try:
            make_private(path.parent)
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except (OSError, ValueError) as failure:
            why = (failure.strerror or str(failure)).lower() if isinstance(failure, OSError) else str(failure)
            raise StoreError(
                "unreachable", f"{path}: {why}; name a file that can be written to, or set TOOLBRIDGE_DATA_DIR"
            ) from None

    def _set_up(self, database: sqlite3.Connection) -> None:
        """Look whose file it is before anything in it is changed."""
        database.execute("BEGIN")  # its facts are read together: another process may be making the file just now
        version = self._version(database)
        database.execute("COMMIT")
        if version != VERSION:
            database.execute("BEGIN IMMEDIATE")
            if self._version(database) != VERSION:  # nobody else has done it meanwhile
                for statement in SCHEMA:
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {APPLICATION}")
                database.execute(f"PRAGMA user_version = {VERSION}")
            database.execute("COMMIT")
        database.execute("PRAGMA journal_mode = WAL").fetchall()
        database.execute("PRAGMA synchronous = FULL")

    def _version(self, database: sqlite3.Connection) -> int:
        """The schema's version: 0 of a file that is still empty."""
        application, version, things = (
            database.execute(each).fetchone()[0]
            for each in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        if application != APPLICATION and (things or version or application):
            raise StoreError("corrupt", f"{self._place}: a SQLite database of another program; name another file")
        if version > VERSION:
            raise StoreError(
                "unreachable",
                f"{self._place}: written by a newer toolbridge (version {version} of its form, and this one knows "
                f"{VERSION}); upgrade toolbridge, or name another file",
            )
        return version

    def _error(self, failure: sqlite3.Error) -> StoreError:
        code = _code(failure)
        kind, advice = _FAILURES.get(code) or _FAILURES.get(code & 0xFF) or ("unreachable", str(failure))
        return StoreError(kind, f"{self._place}: {advice.format(wait=self._wait)}")


def _roll_back(database: sqlite3.Connection) -> None:
    if database.in_transaction:
        with suppress(sqlite3.Error):  # the error that led here is the one to tell
            database.execute("ROLLBACK")


def _code(failure: sqlite3.Error) -> int:
    """SQLite's own code; the module's own complaints have none."""
    return getattr(failure, "sqlite_errorcode", sqlite3.SQLITE_TOOBIG if isinstance(failure, sqlite3.DataError) else 0)


def _one(database: sqlite3.Connection, statement: str, value: bytes) -> Any:
    with closing(database.execute(statement, (value,))) as rows:
        return rows.fetchone()


def _is_done(database: sqlite3.Connection, id: int, once: bytes) -> bool:
    rows = database.execute("SELECT 1 FROM done WHERE conversation = ? AND once = CAST(? AS TEXT)", (id, once))
    return rows.fetchone() is not None


def _entries(database: sqlite3.Connection, id: int, version: int) -> Iterable[Any]:
    """The entries in their places; `None` where there is none, or where its part of the file is damaged."""
    try:
        found = dict(database.execute("SELECT place, entry FROM message WHERE conversation = ?", (id,)).fetchall())
    except sqlite3.DatabaseError as failure:
        if _code(failure) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        found = dict(_one_by_one(database, id, version))
        if not found:
            raise
    return [found.get(place) for place in range(version)]


def _one_by_one(database: sqlite3.Connection, id: int, version: int) -> Generator[tuple[int, Any]]:
    for place in range(version):
        with suppress(sqlite3.DatabaseError):
            row = database.execute(
                "SELECT entry FROM message WHERE conversation = ? AND place = ?", (id, place)
            ).fetchone()
            if row is not None:
                yield place, row[0]
