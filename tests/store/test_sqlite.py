"""The SQLite store, where files are: whose they are, and what happens when they are locked, full, damaged or not ours."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import pytest

from tests.store.test_store import HELLO, fails
from toolbridge import Message, Note
from toolbridge.errors import StoreError
from toolbridge.store.sqlite import SqliteStore
from toolbridge.store.store import open_store

LONG = [Message.user(f"{number} " + "x" * 9000) for number in range(10)]
"""Messages that fill pages of their own."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "conversations.db"


async def keep(path: Path, *messages: Message) -> None:
    async with open_store(path) as store:
        await store.append("it", messages or HELLO)


def change(path: Path, *statements: str) -> None:
    """As another program would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_files_and_their_folder_are_for_their_owner_alone(path: Path) -> None:
    umask = os.umask(0)
    try:
        async with open_store(path) as store:
            await store.append("it", HELLO)
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in [path.parent, *path.parent.iterdir()]}
    finally:
        os.umask(umask)
    assert modes == {
        "kept": 0o700,
        "conversations.db": 0o600,
        "conversations.db-wal": 0o600,
        "conversations.db-shm": 0o600,
    }
    assert [each.name for each in path.parent.iterdir()] == ["conversations.db"]


async def test_without_a_place_conversations_are_among_the_users_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBRIDGE_DATA_DIR", str(tmp_path / "mine"))
    async with open_store() as store:
        await store.append("it", HELLO)
    assert (tmp_path / "mine" / "conversations.sqlite3").exists()
    monkeypatch.delenv("TOOLBRIDGE_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert repr(open_store()) == f"SqliteStore('{tmp_path}/data/toolbridge/conversations.sqlite3')"


@pytest.mark.parametrize(
    ("where", "path"),
    [
        ("chats.db", "{here}/chats.db"),
        ("sqlite:///chats.db", "{here}/chats.db"),
        ("SQLite:////var/chats.db", "/var/chats.db"),
        ("sqlite:///C:/chats.db", "{here}/C:/chats.db"),
        ("C:\\Users\\Zoë\\chats.db", "{here}/C:\\Users\\Zoë\\chats.db"),
        ("C:/Users/chats.db", "{here}/C:/Users/chats.db"),
        ("file:chats.db", "{here}/file:chats.db"),
        ("~/chats.db", "{home}/chats.db"),
        (Path("a") / "chats.db", "{here}/a/chats.db"),
        (":memory:", ":memory:"),
        ("sqlite://", ":memory:"),
        ("sqlite:///:memory:", ":memory:"),
    ],
)
def test_a_place_says_which_file_is_meant(where: str | Path, path: str) -> None:
    expected = path.format(here=Path.cwd(), home=Path.home())
    assert repr(open_store(where)) == f"SqliteStore({expected!r})"


@pytest.mark.parametrize("where", ["postgres://user:secret@host/db", "http://host", "mysql+pymysql://u:secret@h/db"])
def test_a_place_of_another_kind_is_refused_without_its_secrets(where: str) -> None:
    with pytest.raises(StoreError, match="no store of this kind; known are a path, sqlite:///path") as raised:
        open_store(where)
    assert "secret" not in str(raised.value)


async def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("chats.db")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    await store.append("it", HELLO)
    await store.close()
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["chats.db"]


async def test_a_place_that_no_file_can_be_in_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for where in (tmp_path, tmp_path / "file" / "x.db", f"{tmp_path}/\0.db"):
        store = open_store(where)
        assert str(tmp_path) in await fails(store.load("it"), "unreachable")
        await store.close()
    with pytest.raises(StoreError, match="the path of the store is empty"):
        open_store("")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Outside of pytest's own folders, which nobody else may look into."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@contextmanager
def as_nobody() -> Generator[None]:
    """Without root's right to write everywhere; others have none to lose."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


async def test_a_folder_that_cannot_be_written_to_is_an_error_that_says_so(folder: Path) -> None:
    await keep(folder / "kept.db")
    (folder / "kept.db").chmod(0o444)
    folder.chmod(0o555)
    with as_nobody():
        async with open_store(folder / "new.db") as store:
            assert await fails(store.append("it", HELLO), "unreachable") == (
                f"{folder}/new.db: permission denied; name a file that can be written to, or set TOOLBRIDGE_DATA_DIR"
            )
        async with open_store(folder / "kept.db") as store:
            assert str(folder / "kept.db") in await fails(store.append("it", HELLO), "unreachable")
    folder.chmod(0o700)
    (folder / "kept.db").chmod(0o600)
    async with open_store(folder / "kept.db") as store:
        assert (await store.load("it")).messages == HELLO


# ── locked ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_store_that_stays_locked_is_an_error_after_a_while_and_can_still_be_read(path: Path) -> None:
    await keep(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with open_store(path, wait=0.2) as store:
            start = time.monotonic()
            assert await fails(store.append("it", HELLO), "locked") == (
                f"{path}: another program has been writing to it for 0.2 s; end that, or wait longer"
            )
            assert 0.1 < time.monotonic() - start < 5
            assert (await store.load("it")).messages == HELLO
            other.execute("ROLLBACK")
            assert await store.append("it", HELLO, after=2) == 4


async def test_many_that_wait_for_a_locked_store_are_told_after_about_as_long_as_one(path: Path) -> None:
    await keep(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with open_store(path, wait=1) as store:
            start = time.monotonic()
            tried = await asyncio.gather(*(store.append("it", HELLO) for _ in range(5)), return_exceptions=True)
            assert [each.kind for each in tried if isinstance(each, StoreError)] == ["locked"] * 5
            assert 1 <= time.monotonic() - start < 3.5


async def test_a_new_file_that_stays_locked_is_an_error_too(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        async with open_store(path, wait=0.1) as store:
            await fails(store.append("it", HELLO), "locked")
            other.execute("ROLLBACK")
            assert await store.append("it", HELLO) == 2


# ── full ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_full_disk_costs_the_append_and_nothing_that_was_kept(path: Path) -> None:
    async with open_store(path) as store:
        await store.append("it", HELLO)
        inner = cast(SqliteStore, store)
        await inner._threads.run(lambda: inner._connection().execute("PRAGMA max_page_count = 20").fetchall())
        assert await fails(store.append("it", LONG), "full") == (
            f"{path}: there is no room left on the disk; nothing that was kept is lost: make room and try again"
        )
        assert (await store.load("it")).messages == HELLO
        assert await store.append("it", [Message.user("small")], after=2) == 3
        await inner._threads.run(lambda: inner._connection().execute("PRAGMA max_page_count = 1000").fetchall())
        assert await store.append("it", LONG, after=3) == 13


async def test_a_write_that_the_system_refuses_costs_the_append_and_nothing_that_was_kept(path: Path) -> None:
    async with open_store(path) as store:
        await store.append("it", HELLO)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            assert str(path) in await fails(store.append("it", LONG * 10), "full")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (await store.load("it")).messages == HELLO
        assert await store.append("it", LONG, after=2) == 12


# ── damaged, or not ours ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("content", [b"Dear diary", b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_file_that_is_no_store_is_an_error_that_names_it_and_stays_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    async with open_store(path) as store:
        for work in (store.load("it"), store.append("it", HELLO), store.list()):
            assert str(path) in await fails(work, "corrupt")
    assert path.read_bytes() == content


async def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    change(path, "CREATE TABLE message (x)", "INSERT INTO message VALUES (1)")
    content = path.read_bytes()
    async with open_store(path) as store:
        assert await fails(store.append("it", HELLO), "corrupt") == (
            f"{path}: a SQLite database of another program; name another file"
        )
    assert path.read_bytes() == content


async def test_a_store_of_a_newer_toolbridge_is_left_alone(path: Path) -> None:
    await keep(path)
    change(path, "PRAGMA user_version = 7")
    async with open_store(path) as store:
        assert await fails(store.append("it", HELLO), "unreachable") == (
            f"{path}: written by a newer toolbridge (version 7 of its form, and this one knows 1); upgrade toolbridge, "
            "or name another file"
        )


async def test_a_file_that_lost_its_end_is_an_error_and_is_not_made_anew(path: Path) -> None:
    await keep(path, *LONG)
    size = path.stat().st_size
    os.truncate(path, 4096)
    async with open_store(path) as store:
        assert str(path) in await fails(store.load("it"), "corrupt")
        assert str(path) in await fails(store.append("it", HELLO), "corrupt")
    assert 4096 <= path.stat().st_size < size


@pytest.mark.parametrize(
    ("damage", "before"),
    [
        ("UPDATE message SET entry = '{\"toolbridge\":' WHERE place = 1", '{"toolbridge":'),
        ("UPDATE message SET entry = x'ff00fe' WHERE place = 1", "\ufffd\0\ufffd"),
        ("UPDATE message SET entry = 5 WHERE place = 1", "5"),
        ("UPDATE message SET entry = '[]' WHERE place = 1", "[]"),
        (
            'UPDATE message SET entry = \'{"toolbridge":"history","version":9,"messages":[]}\' WHERE place = 1',
            '{"toolbridge":"history","version":9,"messages":[]}',
        ),
        ("DELETE FROM message WHERE place = 1", None),
    ],
)
async def test_a_message_that_cannot_be_read_costs_itself_and_is_noted(
    path: Path, damage: str, before: str | None
) -> None:
    await keep(path, *LONG[:3])
    change(path, damage)
    async with open_store(path) as store:
        kept = await store.load("it")
        lost = Note("message.unreadable", "narrowed", "/messages/1", before)
        assert (kept.messages, kept.version, kept.notes) == ((LONG[0], LONG[2]), 3, (lost,))
        assert await store.append("it", HELLO, after=kept.version) == 5
        kept = await store.load("it")
        assert (kept.messages, kept.version, kept.notes) == ((LONG[0], LONG[2], *HELLO), 5, (lost,))


async def test_a_field_that_a_later_toolbridge_wrote_is_noted_at_its_place(path: Path) -> None:
    await keep(path)
    change(path, "UPDATE message SET entry = json_set(entry, '$.messages[0].mood', 'fine') WHERE place = 1")
    async with open_store(path) as store:
        kept = await store.load("it")
    assert (kept.messages, kept.notes) == (HELLO, (Note("field.unknown", "narrowed", "/messages/1/mood", "fine"),))


async def test_a_damaged_page_costs_the_messages_on_it(path: Path) -> None:
    await keep(path, *LONG)
    content = bytearray(path.read_bytes())
    place = content.index(b'"5 xxx')  # in the table's own page; the rest of the message is on pages that it leads to
    pages = [start for start in range(0, len(content), 4096) if content[start + 4 : start + 4096] == b"x" * 4092]
    leads = next(start for start in pages if start > place)
    content[leads : leads + 4] = b"\xff" * 4  # the number of the next page
    path.write_bytes(content)
    async with open_store(path) as store:
        kept = await store.load("it")
        assert (len(kept.messages), kept.version, [note.code for note in kept.notes]) == (9, 10, ["message.unreadable"])
        assert set(kept.messages) < set(LONG)
        assert await store.append("it", HELLO, after=10) == 12
        assert (await store.load("it")).messages == (*kept.messages, *HELLO)


async def test_a_waiting_run_that_cannot_be_read_is_an_error_when_it_is_taken(path: Path) -> None:
    async with open_store(path) as store:
        await store.keep_pause("a", {"x": 1})
        await store.keep_pause("b", {"x": 2})
        change(path, "UPDATE pause SET state = '{' WHERE id = 'a'")
        assert [(each.id, each.state) for each in await store.pauses()] == [("a", {}), ("b", {"x": 2})]
        assert (
            await fails(store.take_pause("a"), "corrupt") == f"{path}: the run 'a' that waits cannot be read any more"
        )
        assert await store.take_pause("b") == {"x": 2}
