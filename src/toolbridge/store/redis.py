"""Conversations in Redis: the store that many processes and machines share.

What must happen in one piece is a script, which Redis runs alone: it looks at everything first, and writes only then. A
command is sent once: an append that was sent again after a lost connection could stand there twice. The client is the
plain one, in threads (see `threads`). Not for Redis Cluster: a script's keys are on one server here.

How safe a kept message is, Redis' own settings say: `appendonly yes` and `maxmemory-policy noeviction` are what
conversations want.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from toolbridge.errors import StoreError, StoreFailure
from toolbridge.extras import install
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
from toolbridge.store.store import PREFIX, WAIT_SECONDS, Kept, KeptPause, Summary
from toolbridge.store.threads import Threads
from toolbridge.types import Message

T = TypeVar("T")

CONNECTIONS = 8
"""At most, and as many threads: a command takes less than a millisecond, as a rule."""

TYPES = """
local function is(key, kind)
    local found = redis.call('TYPE', key)['ok']
    if found ~= 'none' and found ~= kind then error('WRONGTYPE') end
end
"""
"""A script that fails in the middle is not undone, so every type is looked at before the first write."""

APPEND = """
is(KEYS[1], 'list') is(KEYS[2], 'hash') is(KEYS[3], 'zset') is(KEYS[4], 'set')
local version = redis.call('LLEN', KEYS[1])
if ARGV[6] ~= '' and redis.call('SISMEMBER', KEYS[4], ARGV[6]) == 1 then return {1, version} end
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= version then return {0, version} end
if #ARGV < 7 then return {1, version} end
for i = 7, #ARGV do redis.call('RPUSH', KEYS[1], ARGV[i]) end
if ARGV[6] ~= '' then redis.call('SADD', KEYS[4], ARGV[6]) end
local title = redis.call('HGET', KEYS[2], 'title')
if not title or title == '' then redis.call('HSET', KEYS[2], 'title', ARGV[4]) end
redis.call('HSET', KEYS[2], 'changed', ARGV[3])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
if ARGV[5] ~= '' then
    redis.call('PEXPIRE', KEYS[1], ARGV[5])
    redis.call('PEXPIRE', KEYS[2], ARGV[5])
    redis.call('PEXPIRE', KEYS[4], ARGV[5])
end
return {1, version + #ARGV - 6}
"""
"""Keys: messages, facts, index, appends that were named. Arguments: after, name, now, title, milliseconds to live,
once, entries."""

LIST = """
local found = {}
for _, name in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, -1)) do
    local version = redis.call('LLEN', ARGV[1] .. name)
    if version == 0 then
        redis.call('ZREM', KEYS[1], name)
    else
        local facts = redis.call('HMGET', ARGV[2] .. name, 'title', 'changed')
        table.insert(found, {name, facts[1] or '', version, facts[2] or '0'})
    end
end
return found
"""
"""What has expired leaves the index here: nobody can write between the look and the removal."""

RENAME = """
is(KEYS[2], 'hash')
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'title', ARGV[1])
return 1
"""

DELETE = """
is(KEYS[3], 'zset') is(KEYS[5], 'zset')
redis.call('DEL', KEYS[1], KEYS[2], KEYS[4])
redis.call('ZREM', KEYS[3], ARGV[1])
for _, id in ipairs(redis.call('ZRANGE', KEYS[5], 0, -1)) do
    if redis.call('HGET', ARGV[2] .. id, 'conversation') == ARGV[1] then
        redis.call('DEL', ARGV[2] .. id)
        redis.call('ZREM', KEYS[5], id)
    end
end
"""

KEEP = """
is(KEYS[1], 'hash') is(KEYS[2], 'zset')
redis.call('HSET', KEYS[1], 'conversation', ARGV[2], 'state', ARGV[3], 'since', ARGV[4])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
if ARGV[5] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
"""

PAUSES = """
local found = {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local facts = redis.call('HMGET', ARGV[1] .. id, 'conversation', 'state', 'since')
    if facts[2] then
        table.insert(found, {id, facts[1] or '', facts[2], facts[3] or '0'})
    else
        redis.call('ZREM', KEYS[1], id)
    end
end
return found
"""

TAKE = """
is(KEYS[1], 'hash') is(KEYS[2], 'zset')
local state = redis.call('HGET', KEYS[1], 'state')
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return state
"""


class RedisStore:
    """The store in one Redis server, under keys that begin with `prefix`.

    A list of entries a conversation (`messages:NAME`), its facts (`conversation:NAME`), and an index of all
    (`conversations`), the names of appends (`appends:NAME`); the same for runs that wait (`pause:ID`, `pauses`).
    """

    def __init__(
        self, url: str, *, wait: float = WAIT_SECONDS, prefix: str = PREFIX, expire: float | None = None
    ) -> None:
        self.place = _shown(url)
        """The address without what is secret in it."""
        self._wait = wait
        self._prefix = write_text(prefix)
        self._expire = b"" if expire is None else b"%d" % max(1, round(expire * 1000))
        self._client = self._open(url)
        self._threads = Threads(CONNECTIONS)

    def __repr__(self) -> str:
        return f"RedisStore({self.place!r})"

    async def load(self, conversation: str) -> Kept:
        name = write_name(conversation)

        def work() -> Kept:
            messages, facts, *_ = self._keys(name)
            # No transaction: a full Redis does not queue commands, and messages that can only be read are wanted then.
            asked = self._client.pipeline(transaction=False).lrange(messages, 0, -1).hmget(facts, "title", "changed")
            entries, (title, changed) = asked.execute()
            read = read_entries(entries)
            return Kept(read.value, len(entries), read_text(title or b""), float(changed or 0), read.notes)

        return await self._run(work)

    async def append(
        self, conversation: str, messages: Sequence[Message], *, after: int | None = None, once: str = ""
    ) -> int:
        name, messages = write_name(conversation), tuple(messages)

        def work() -> int:
            expected = b"" if after is None else b"%d" % after
            title = write_text(title_of(messages))
            entries = write_entries(messages)
            done, version = self._script(
                APPEND, self._keys(name), expected, name, _now(), title, self._expire, write_text(once), *entries
            )
            if not done:
                raise conflict(name, version, after or 0)
            return version

        return await self._run(work, "; whether the messages were kept is not known: load before writing again")

    async def list(self) -> tuple[Summary, ...]:
        def work() -> tuple[Summary, ...]:
            rows = self._script(LIST, [self._key("conversations")], self._key("messages:"), self._key("conversation:"))
            return tuple(Summary(read_text(name), read_text(title), n, float(at)) for name, title, n, at in rows)

        return await self._run(work)

    async def rename(self, conversation: str, title: str) -> None:
        name, words = write_name(conversation), write_text(title)

        def work() -> None:
            if not self._script(RENAME, self._keys(name)[:2], words):
                raise unknown(name)

        await self._run(work)

    async def delete(self, conversation: str) -> None:
        name = write_name(conversation)
        keys = [*self._keys(name), self._key("pauses")]
        await self._run(lambda: self._script(DELETE, keys, name, self._key("pause:")))

    async def keep_pause(self, id: str, state: Mapping[str, Any], *, conversation: str = "") -> None:
        name, of, text = write_name(id), write_text(conversation), write_json(state)
        keys = [self._key("pause:", name), self._key("pauses")]
        await self._run(lambda: self._script(KEEP, keys, name, of, text, _now(), self._expire))

    async def pauses(self, conversation: str | None = None) -> tuple[KeptPause, ...]:
        def work() -> tuple[KeptPause, ...]:
            rows = self._script(PAUSES, [self._key("pauses")], self._key("pause:"))
            found = (
                KeptPause(read_text(id), read_text(of), read_state(text) or {}, float(at)) for id, of, text, at in rows
            )
            return tuple(each for each in found if conversation in (None, each.conversation))

        return await self._run(work)

    async def take_pause(self, id: str) -> dict[str, Any] | None:
        name = write_name(id)

        def work() -> dict[str, Any] | None:
            text = self._script(TAKE, [self._key("pause:", name), self._key("pauses")], name)
            if text is None:
                return None
            state = read_state(text)
            if state is None:
                raise StoreError("corrupt", f"{self.place}: the run {id!r} that waits cannot be read any more")
            return state

        return await self._run(work)

    async def close(self) -> None:
        # Connections that somebody uses meanwhile are left to them.
        await self._threads.end(lambda: self._client.connection_pool.disconnect(inuse_connections=False))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────

    def _open(self, url: str) -> Any:
        try:
            from redis import Redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise StoreError("not_installed", f"conversations in Redis need its client: {install('redis')}") from None
        try:
            return Redis.from_url(
                url,
                max_connections=CONNECTIONS,
                socket_timeout=self._wait,
                socket_connect_timeout=self._wait,
                retry=Retry(NoBackoff(), 0),
            )
        except (ValueError, TypeError):  # whose text may hold a piece of the password
            raise StoreError(
                "unreachable",
                f"{self.place}: no address that Redis' client understands; expected redis://user:password@host:port/0, "
                "with the password percent-encoded",
            ) from None

    def _key(self, kind: str, name: bytes = b"") -> bytes:
        return self._prefix + kind.encode("ascii") + name

    def _keys(self, name: bytes) -> tuple[bytes, bytes, bytes, bytes]:
        messages, facts, appends = (self._key(each, name) for each in ("messages:", "conversation:", "appends:"))
        return messages, facts, self._key("conversations"), appends

    def _script(self, script: str, keys: Sequence[bytes], *arguments: bytes) -> Any:
        return self._client.eval(TYPES + script if "is(" in script else script, len(keys), *keys, *arguments)

    async def _run(self, work: Callable[[], T], unsure: str = "") -> T:
        from redis.exceptions import RedisError

        def told() -> T:
            try:
                return work()
            except RedisError as failure:
                raise self._error(failure, unsure) from None

        return await self._threads.run(told)

    def _error(self, failure: Exception, unsure: str) -> StoreError:
        from redis import exceptions

        said, prefix = str(failure), read_text(self._prefix)
        kinds: tuple[tuple[bool, StoreFailure, str], ...] = (
            (isinstance(failure, exceptions.AuthenticationError) or said.startswith(("NOAUTH", "WRONGPASS")),
             "unreachable", "Redis does not take this user and password; set them as redis://user:password@host"),
            (isinstance(failure, exceptions.NoPermissionError),
             "unreachable", "the user may not do this in Redis; it needs the keys under the prefix, and EVAL"),
            (isinstance(failure, exceptions.BusyLoadingError),
             "locked", "Redis is still reading its data; try again in a moment"),
            (isinstance(failure, exceptions.TimeoutError),
             "unreachable", f"Redis did not answer within {self._wait:g} s{unsure}"),
            (isinstance(failure, exceptions.ConnectionError),
             "unreachable", f"no connection to Redis ({_cause(failure)}): is it running?{unsure}"),
            (isinstance(failure, exceptions.ReadOnlyError),
             "unreachable", "this Redis is a replica that takes no writes; give the address of the primary"),
            (isinstance(failure, exceptions.OutOfMemoryError) or "OOM " in said,
             "full", "Redis has used up its maxmemory; nothing was written: raise it, or delete"),
            (said.startswith("MISCONF"), "full", "Redis cannot write to its disk and takes no writes; make room there"),
            ("WRONGTYPE" in said,
             "corrupt", f"a key under {prefix!r} is not ours and was left as it is; set another prefix"),
            (said.startswith("BUSY"), "locked", "Redis is busy with a script of somebody's; try again, or end it"),
        )  # fmt: skip
        for true, kind, text in kinds:
            if true:
                return StoreError(kind, f"{self.place}: {text}")
        return StoreError("unreachable", f"{self.place}: {said}")


def _now() -> bytes:
    return repr(time.time()).encode("ascii")


def _cause(failure: BaseException) -> str:
    """What the operating system said: the client's own sentence repeats the address."""
    cause: BaseException | None = failure
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    return "closed" if "closed" in str(failure).lower() else "failed"


def _shown(url: str) -> str:
    """The address as it may be shown: without user, password and options, which may be one too."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return f"{url.partition(':')[0]}://***"
    if "@" in parts.path + parts.query + parts.fragment:  # a password that was not percent-encoded
        return f"{parts.scheme}://***"
    number = parts.path if parts.scheme == "unix" or parts.path[1:].isdigit() else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{number}"
