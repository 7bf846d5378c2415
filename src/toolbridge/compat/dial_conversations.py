"""The DIAL agent's conversations, kept in Redis under its own keys and in its own form, so that both read the same.

    conversation:{id}      {"id", "title", "messages": […], "created_at", "updated_at"} as JSON
    conversations:list     the ids, sorted by their last change

Between a `DialClient` and a `redis.asyncio.Redis`, of which only the object is used. The core way is a store, from
`open_store(…)`, and `Chat(…, store=…, conversation=…)`.

Decisions where the agent's records are silent:

- An exchange, from the question to its answer, is added in one piece when it ends, to whatever stands there then. Of
  two that end at once none is lost, and a crash leaves the conversation as it was before the question.
- Of an exchange that fails or that nobody waits for any more, what was said and done is kept, if there is any of it.
- The answer to a question in a conversation that was deleted meanwhile is given, and not kept.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from hashlib import sha1
from typing import Any, Literal, overload

from toolbridge.compat.dial_client import DONE, DialClient
from toolbridge.compat.dial_messages import Message, Role, as_message
from toolbridge.errors import StoreError

logger = logging.getLogger(__name__)

CONVERSATION_PREFIX = "conversation:"
CONVERSATION_LIST_KEY = "conversations:list"

UNTITLED = "New conversation"

TRIES = 200
"""How often an exchange is added anew because somebody else was faster. Each time somebody got through."""

REPLACE = """
local kept = redis.call('GET', KEYS[1])
if not kept or redis.sha1hex(kept) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[4])
return 1
"""
"""Puts a conversation in the place of the one that was read, only if that is still there, in one step."""


class ConversationManager:
    """Conversations with a model. The core way: a `Chat` with a `store`.

    `system_prompt` is the first message of every conversation.
    """

    def __init__(self, dial_client: DialClient, redis_client: Any, *, system_prompt: str = "") -> None:
        self.dial_client = dial_client
        self.redis: Any = redis_client
        self.system_prompt = system_prompt
        self._keeping: set[asyncio.Future[None]] = set()

    async def create_conversation(self, title: str | None = None) -> dict[str, Any]:
        """A new, empty conversation."""
        now = datetime.now(UTC)
        made: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "title": title or UNTITLED,
            "messages": [],
            "created_at": now.isoformat(),
            "updated_at": now.isoformat(),
        }
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.set(_key(made["id"]), json.dumps(made))
            pipe.zadd(CONVERSATION_LIST_KEY, {made["id"]: now.timestamp()})
            await pipe.execute()
        return made

    async def list_conversations(self) -> list[dict[str, Any]]:
        """All of them without their messages, the last changed first. One that cannot be read is left out."""
        ids = [_text(each) for each in await self.redis.zrevrange(CONVERSATION_LIST_KEY, 0, -1)]
        kept = await self.redis.mget([_key(each) for each in ids]) if ids else []
        listed: list[dict[str, Any]] = []
        for id, value in zip(ids, kept, strict=True):
            if value is None:
                continue
            try:
                found = _read(id, value)
            except StoreError as error:
                logger.warning("Left out of the list: %s", error)
                continue
            summary = {key: found.get(key, "") for key in ("id", "title", "created_at", "updated_at")}
            listed.append({**summary, "message_count": len(found["messages"])})
        return listed

    async def get_conversation(self, conversation_id: str) -> dict[str, Any] | None:
        """A conversation with its messages; `None` where there is none. Raises `StoreError` where it is damaged."""
        kept = await self.redis.get(_key(conversation_id))
        return None if kept is None else _read(conversation_id, kept)

    async def delete_conversation(self, conversation_id: str) -> bool:
        """Whether there was one."""
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.delete(_key(conversation_id))
            pipe.zrem(CONVERSATION_LIST_KEY, conversation_id)
            deleted, _ = await pipe.execute()
        return bool(deleted)

    @overload
    async def chat(self, user_message: Any, conversation_id: str, stream: Literal[False] = False) -> dict[str, Any]: ...
    @overload
    async def chat(self, user_message: Any, conversation_id: str, stream: Literal[True]) -> AsyncGenerator[str]: ...
    @overload
    async def chat(
        self, user_message: Any, conversation_id: str, stream: bool
    ) -> dict[str, Any] | AsyncGenerator[str]: ...

    async def chat(
        self, user_message: Any, conversation_id: str, stream: bool = False
    ) -> dict[str, Any] | AsyncGenerator[str]:
        """Ask in a conversation: `{"content", "conversation_id"}`, or the server-sent events of the answer.

        The message is text, a dict or a `Message`. Raises `StoreError` of the kind `unknown` where there is no such
        conversation.
        """
        conversation = await self.get_conversation(conversation_id)
        if conversation is None:
            raise StoreError("unknown", f"conversation {conversation_id!r} not found; create_conversation() makes one")
        messages = [as_message(each) for each in conversation["messages"]]
        known = len(messages)
        if not messages and self.system_prompt:
            messages.append(Message(Role.SYSTEM, self.system_prompt))
        messages.append(as_message(user_message))
        exchange = self._events(conversation_id, messages, known) if stream else None
        return exchange if exchange is not None else await self._answer(conversation_id, messages, known)

    async def _answer(self, conversation_id: str, messages: list[Message], known: int) -> dict[str, Any]:
        try:
            answer = await self.dial_client.response(messages)
        except BaseException:
            await self._keep(conversation_id, messages[known:])
            raise
        await self._keep(conversation_id, [*messages[known:], answer])
        return {"content": answer.content or "", "conversation_id": conversation_id}

    async def _events(self, conversation_id: str, messages: list[Message], known: int) -> AsyncGenerator[str]:
        yield f"data: {json.dumps({'conversation_id': conversation_id})}\n\n"
        kept = False
        try:
            async with aclosing(self.dial_client.stream_response(messages)) as events:
                async for event in events:
                    if event == DONE:  # whoever has read the end finds the exchange in the store
                        kept = True
                        await self._keep(conversation_id, messages[known:])
                    yield event
        finally:
            if not kept:
                await self._keep(conversation_id, messages[known:])

    async def _keep(self, conversation_id: str, exchange: Sequence[Message]) -> None:
        """Add an exchange, to the end, also where the one who waits for it is cancelled."""
        if all(each.role in (Role.SYSTEM, Role.USER) for each in exchange):
            return
        keeping = asyncio.ensure_future(self._append(conversation_id, exchange))
        self._keeping.add(keeping)
        keeping.add_done_callback(self._keeping.discard)
        await asyncio.shield(keeping)

    async def _append(self, conversation_id: str, exchange: Sequence[Message]) -> None:
        for _ in range(TRIES):
            kept = await self.redis.get(_key(conversation_id))
            if kept is None:
                logger.warning("Conversation %s was deleted meanwhile: the exchange is not kept", conversation_id)
                return
            conversation = _read(conversation_id, kept)
            begun = bool(conversation["messages"])
            # The system prompt stands once, also where two exchanges were the first.
            added = [each.model_dump() for each in exchange if not (begun and each.role == Role.SYSTEM)]
            now = datetime.now(UTC)
            conversation["messages"] += added
            conversation["updated_at"] = now.isoformat()
            stood = sha1(kept.encode() if isinstance(kept, str) else kept, usedforsecurity=False).hexdigest()
            arguments = (stood, json.dumps(conversation), now.timestamp(), conversation_id)
            keys = (_key(conversation_id), CONVERSATION_LIST_KEY)
            if await self.redis.eval(REPLACE, len(keys), *keys, *arguments):
                return
            await asyncio.sleep(random.uniform(0, 0.01))
        raise StoreError("conflict", f"conversation {conversation_id!r}: others write to it all the time; try again")


def _key(conversation_id: str) -> str:
    return f"{CONVERSATION_PREFIX}{conversation_id}"


def _text(value: str | bytes) -> str:
    """Redis answers with bytes, unless its client was made with `decode_responses`."""
    return value if isinstance(value, str) else value.decode()


def _read(conversation_id: str, kept: str | bytes) -> dict[str, Any]:
    try:
        found = json.loads(kept)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("messages"), list):
        where = _key(conversation_id)
        raise StoreError("corrupt", f"what stands in Redis under {where!r} is no conversation; delete the key")
    return found
