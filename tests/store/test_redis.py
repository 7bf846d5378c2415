"""The Redis store, where a server is: away, silent, full, locked behind a password, or used by others too."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.store.conftest import Place, RedisServer, running_redis
from tests.store.test_store import HELLO, fails
from toolbridge import Message, Note
from toolbridge.errors import StoreError
from toolbridge.store.store import Kept, open_store

redis = pytest.importorskip("redis")

SECRET = "h4rd-to-guess"


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[Any]:
    """Redis as another program sees it."""
    with redis.Redis.from_url(redis_server.url) as client:
        client.ping()  # connected before it is counted what a test leaves
        yield client


@pytest.fixture
def place(redis_server: RedisServer, tmp_path: Path) -> Place:
    return Place(redis_server.url, {"prefix": f"{tmp_path.name}:"})


def test_without_the_client_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreError, match=r"^conversations in Redis need its client: pip install 'redis>=8,<9'$") as it:
        open_store("redis://localhost")
    assert it.value.kind == "not_installed"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost", "redis://localhost"),
        (f"rediss://user:{SECRET}@Example.org:6380/2", "rediss://example.org:6380/2"),
        (f"redis://:{SECRET}@[::1]:6379/0?password={SECRET}", "redis://::1:6379/0"),
        (f"unix://user:{SECRET}@/run/redis.sock?password={SECRET}", "unix:///run/redis.sock"),
        (f"redis://pass#{SECRET}@host:1/0", "redis://***"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert repr(open_store(url)) == f"RedisStore({shown!r})"


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:pa/{SECRET}@host:1/0",
        f"redis://:pass#{SECRET}@host:1/0",
        f"redis://u:{SECRET}@host:port/0",
        f"redis://:[{SECRET}@h",
    ],
)
def test_an_address_that_is_not_understood_is_not_shown_either(url: str) -> None:
    with pytest.raises(StoreError, match="with the password percent-encoded") as raised:
        open_store(url)
    assert raised.value.kind == "unreachable"
    assert SECRET not in str(raised.value)


async def test_a_server_that_is_away_is_an_error_that_says_where_without_the_password(tmp_path: Path) -> None:
    async with open_store(f"redis://me:{SECRET}@127.0.0.1:1/0") as store:
        assert await fails(store.load("it"), "unreachable") == (
            "redis://127.0.0.1:1/0: no connection to Redis (connection refused): is it running?"
        )
    async with open_store(f"unix://{tmp_path}/none.sock?password={SECRET}") as store:
        assert await fails(store.list(), "unreachable") == (
            f"unix://{tmp_path}/none.sock: no connection to Redis (no such file or directory): is it running?"
        )


async def test_a_wrong_password_is_an_error_that_says_so_and_does_not_show_it(redis_directory: Path) -> None:
    with running_redis(redis_directory, "--requirepass", SECRET) as server:
        for password in ("", "?password=wr0ng"):
            async with open_store(server.url + password) as store:
                assert await fails(store.append("it", HELLO), "unreachable") == (
                    f"{server.url}: Redis does not take this user and password; set them as redis://user:password@host"
                )
        async with open_store(f"{server.url}?password={SECRET}") as store:
            assert await store.append("it", HELLO) == 2


async def test_a_full_server_costs_the_append_and_nothing_that_was_kept(redis_directory: Path) -> None:
    with running_redis(redis_directory, "--maxmemory", "6mb", "--maxmemory-policy", "noeviction") as server:
        async with open_store(server.url) as store:
            version = 0
            with pytest.raises(StoreError) as raised:  # noqa: PT012 – until it is full
                while version < 10_000:
                    version = await store.append("it", [Message.user("x" * 10_000)] * 10)
            assert raised.value.kind == "full"
            assert str(raised.value) == (
                f"{server.url}: Redis has used up its maxmemory; nothing was written: raise it, or delete"
            )
            with redis.Redis.from_url(server.url) as client:
                client.config_set("maxmemory", "1mb")  # far below what is used
            await fails(store.append("it", HELLO), "full")
            await fails(store.keep_pause("a", {}), "full")
            kept = await store.load("it")
            assert (kept.version, len(kept.messages), version % 10) == (version, version, 0)
            assert [each.version for each in await store.list()] == [version]
            await store.delete("it")
            with redis.Redis.from_url(server.url) as client:
                client.config_set("maxmemory", "6mb")
            assert await store.append("it", HELLO) == 2


async def test_a_key_that_somebody_else_uses_is_left_alone_and_nothing_is_half_written(
    place: Place, client: Any
) -> None:
    prefix = place.options["prefix"]
    message = f"{place.where}: a key under {prefix!r} is not ours and was left as it is; set another prefix"
    async with place.open() as store:
        for key in ("messages:it", "conversation:it", "conversations", "appends:it"):
            client.set(prefix + key, "theirs")
            assert await fails(store.append("it", HELLO), "corrupt") == message
            assert client.keys(f"{prefix}*") == [(prefix + key).encode()]
            assert client.getdel(prefix + key) == b"theirs"
        client.set(f"{prefix}messages:it", "theirs")
        await fails(store.load("it"), "corrupt")
        client.delete(f"{prefix}messages:it")
        client.set(f"{prefix}pauses", "theirs")
        await fails(store.keep_pause("a", {}), "corrupt")
        await fails(store.take_pause("a"), "corrupt")
        await fails(store.delete("it"), "corrupt")


async def test_a_message_that_cannot_be_read_costs_itself_and_is_noted(place: Place, client: Any) -> None:
    prefix = place.options["prefix"]
    async with place.open() as store:
        await store.append("it", [*HELLO, Message.user("More")])
        client.lset(f"{prefix}messages:it", 1, b"\xff{")
        kept = await store.load("it")
        lost = Note("message.unreadable", "narrowed", "/messages/1", "\ufffd{")
        assert (kept.messages, kept.version, kept.notes) == ((HELLO[0], Message.user("More")), 3, (lost,))
        assert await store.append("it", HELLO, after=3) == 5
        assert (await store.load("it")).messages == (*kept.messages, *HELLO)


async def test_stores_with_other_prefixes_do_not_see_each_other(place: Place) -> None:
    async with place.open() as one, place.open(prefix="other:" + place.options["prefix"]) as two:
        await one.append("it", HELLO)
        await one.keep_pause("a", {})
        assert (await two.load("it"), await two.list(), await two.pauses()) == (Kept(), (), ())


async def test_what_nobody_writes_to_is_forgotten_where_that_was_asked_for(place: Place, client: Any) -> None:
    async with place.open() as store:
        await store.append("stays", HELLO)
    assert client.ttl(f"{place.options['prefix']}messages:stays") == -1
    async with place.open(expire=0.2) as store:
        await store.append("goes", HELLO)
        await store.keep_pause("a", {}, conversation="goes")
        assert [each.conversation for each in await store.list()] == ["goes", "stays"]
        end = time.monotonic() + 10
        while (await store.load("goes")).version or await store.pauses():
            assert time.monotonic() < end
        assert [each.conversation for each in await store.list()] == ["stays"]
        assert client.zrange(f"{place.options['prefix']}conversations", 0, -1) == [b"stays"]


async def test_a_server_that_comes_back_is_used_again_with_all_that_was_kept(redis_directory: Path) -> None:
    lasting = ("--appendonly", "yes", "--appendfsync", "always")
    store = open_store(f"unix://{redis_directory}/redis.sock")
    with running_redis(redis_directory, *lasting):
        assert await store.append("it", HELLO) == 2
    await fails(store.append("it", HELLO), "unreachable")
    with running_redis(redis_directory, *lasting):
        assert (await store.load("it")).messages == HELLO
        assert await store.append("it", HELLO, after=2) == 4
        await store.close()


async def test_a_silent_server_is_an_error_after_a_while_and_the_append_was_sent_once(redis_directory: Path) -> None:
    with running_redis(redis_directory) as server:
        async with open_store(server.url, wait=0.3) as store:
            await store.append("it", HELLO)
            server.process.send_signal(signal.SIGSTOP)
            start = time.monotonic()
            try:
                assert await fails(store.append("it", [Message.user("late")]), "unreachable") == (
                    f"{server.url}: Redis did not answer within 0.3 s; whether the messages were kept is not known: "
                    "load before writing again"
                )
            finally:
                server.process.send_signal(signal.SIGCONT)
            assert time.monotonic() - start < 5
            async with asyncio.timeout(10):
                while (await store.load("it")).version == 2:
                    pass
            assert (await store.load("it")).messages == (*HELLO, Message.user("late"))


@asynccontextmanager
async def losing_answers(server: RedisServer, way: Path) -> AsyncGenerator[list[bytes]]:
    """A way to the server that breaks once it is armed: a script is run, and its answer is lost. What was sent
    since then is in the list; put anything into it to arm it."""
    sent: list[bytes] = []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(server.directory / "redis.sock")
        try:
            while request := await reader.read(1 << 16):
                back.write(request)
                answer = await there.read(1 << 16)
                if sent and b"EVAL" in request:
                    sent.append(request)
                    break
                writer.write(answer)
        finally:
            for each in (back, writer):
                each.close()
                with suppress(OSError):
                    await each.wait_closed()

    async with await asyncio.start_unix_server(carry, way):
        yield sent


async def test_an_append_whose_answer_was_lost_is_not_sent_again(
    redis_server: RedisServer, place: Place, redis_directory: Path
) -> None:
    way = redis_directory / "way.sock"
    async with losing_answers(redis_server, way) as sent, open_store(f"unix://{way}", **place.options) as store:
        assert await store.append("it", HELLO) == 2
        sent.append(b"")
        assert await fails(store.append("it", HELLO, once="a"), "unreachable") == (
            f"unix://{way}: no connection to Redis (closed): is it running?; whether the messages "
            "were kept is not known: load before writing again"
        )
        assert len(sent) == 2
        sent.clear()
        assert await store.append("it", HELLO, once="a") == 4
        assert (await store.load("it")).messages == HELLO * 2
