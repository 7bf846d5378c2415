"""Contract: the DIAL agent's `ConversationManager`, over a real Redis."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.compat.scripted import ScriptedServer, asks, says
from tests.support.real_servers import Running, running
from tests.support.wire.scenario import Ask, Say, Scenario
from toolbridge.compat.dial import ConversationManager, DialClient, Message, Role
from toolbridge.errors import HistoryError, StoreError

redis = pytest.importorskip("redis.asyncio", reason="the Python package redis is not installed")

ECHO = {"type": "function", "function": {"name": "echo", "description": "", "parameters": {"type": "object"}}}
ASK = Ask("a1B2c3D4e", "echo", {"n": 1})

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def redis_server() -> Iterator[Running]:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed (apt-get install redis-server)")
    with running([program, "--port", "{port}", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]) as server:
        yield server


class Echo:
    async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        return f"{name} {json.dumps(arguments)}"


@asynccontextmanager
async def conversations(
    server: Running, model: ScriptedServer, *, decode: bool = True, **more: Any
) -> AsyncGenerator[ConversationManager]:
    client = redis.Redis(port=server.port, decode_responses=decode)
    try:
        await client.flushall()
        async with DialClient("key", model.url, "gpt-4o", [ECHO], {"echo": Echo()}) as dial:
            yield ConversationManager(dial, client, **more)
    finally:
        await client.aclose()


async def contents(manager: ConversationManager, id: str) -> list[tuple[str, Any]]:
    conversation = await manager.get_conversation(id)
    assert conversation is not None
    return [(each["role"], each["content"]) for each in conversation["messages"]]


@pytest.mark.parametrize("decode", [True, False])
async def test_conversations_are_made_listed_read_and_deleted(
    redis_server: Running, model: ScriptedServer, decode: bool
) -> None:
    model.then(says("Hello!"))
    async with conversations(redis_server, model, decode=decode) as manager:
        assert await manager.list_conversations() == []
        first = await manager.create_conversation("Füße")
        second = await manager.create_conversation()
        assert (first["title"], second["title"], first["messages"]) == ("Füße", "New conversation", [])
        assert first["created_at"] == first["updated_at"]
        assert await manager.get_conversation(first["id"]) == first
        assert [each["id"] for each in await manager.list_conversations()] == [second["id"], first["id"]]
        await manager.chat("Hi", first["id"])
        listed = await manager.list_conversations()
        assert [(each["id"], each["message_count"]) for each in listed] == [(first["id"], 2), (second["id"], 0)]
        assert set(listed[0]) == {"id", "title", "created_at", "updated_at", "message_count"}
        assert listed[0]["updated_at"] > first["updated_at"]
        assert await manager.delete_conversation(first["id"]) is True
        assert await manager.delete_conversation(first["id"]) is False
        assert await manager.get_conversation(first["id"]) is None
        assert [each["id"] for each in await manager.list_conversations()] == [second["id"]]


async def test_the_keys_and_the_form_are_those_of_the_agent(redis_server: Running, model: ScriptedServer) -> None:
    model.then(asks(ASK, text="Hm."), says("Done."))
    async with conversations(redis_server, model, system_prompt="You help.") as manager:
        id = (await manager.create_conversation("T"))["id"]
        assert await manager.chat(Message(Role.USER, "Do"), id) == {"content": "Done.", "conversation_id": id}
        client = manager.redis
        assert sorted(await client.keys("*")) == sorted([f"conversation:{id}", "conversations:list"])
        assert await client.zrange("conversations:list", 0, -1) == [id]
        kept = json.loads(await client.get(f"conversation:{id}"))
    assert set(kept) == {"id", "title", "messages", "created_at", "updated_at"}
    call = {"id": "call_a1B2c3D4e", "type": "function", "function": {"name": "echo", "arguments": '{"n": 1}'}}
    empty = {"content": None, "tool_call_id": None, "name": None, "tool_calls": None}
    assert kept["messages"] == [
        {**empty, "role": "system", "content": "You help."},
        {**empty, "role": "user", "content": "Do"},
        {**empty, "role": "assistant", "content": "Hm.", "tool_calls": [call]},
        {**empty, "role": "tool", "content": 'echo {"n": 1}', "tool_call_id": "call_a1B2c3D4e", "name": "echo"},
        {**empty, "role": "assistant", "content": "Done."},
    ]


async def test_a_conversation_goes_on_where_it_was_also_one_that_the_agent_itself_kept(
    redis_server: Running, model: ScriptedServer
) -> None:
    old = {
        "id": "old",
        "title": "Old",
        "messages": [
            {"role": "user", "content": "Hi", "tool_call_id": None, "name": None, "tool_calls": None},
            {"role": "assistant", "content": "Hello", "tool_call_id": None, "name": None, "tool_calls": None},
        ],
        "created_at": "2025-12-30T10:00:00+00:00",
        "updated_at": "2025-12-30T10:00:00+00:00",
    }
    model.then(says("Better."))
    async with conversations(redis_server, model, system_prompt="Only for new ones.") as manager:
        await manager.redis.set("conversation:old", json.dumps(old), ex=1000)
        await manager.chat({"role": "user", "content": "How are you?"}, "old")
        assert await contents(manager, "old") == [
            ("user", "Hi"),
            ("assistant", "Hello"),
            ("user", "How are you?"),
            ("assistant", "Better."),
        ]
        assert 0 < await manager.redis.ttl("conversation:old") <= 1000
    assert [each["content"] for each in model.messages[0]] == ["Hi", "Hello", "How are you?"]


async def test_a_stream_tells_the_conversation_first_and_is_kept_before_its_end_is_told(
    redis_server: Running, model: ScriptedServer
) -> None:
    meanwhile: list[Any] = []

    class Looking(Echo):
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
            meanwhile.append(await contents(manager, id))
            return await super().call_tool(name, arguments)

    model.then(asks(ASK), says("Done."))
    async with conversations(redis_server, model) as manager:
        manager.dial_client.tool_name_client_map = {"echo": Looking()}
        id = (await manager.create_conversation("T"))["id"]
        events: list[str] = []
        async for event in await manager.chat("Do", id, stream=True):
            events.append(event)
            if event == "data: [DONE]\n\n":
                assert [role for role, _ in await contents(manager, id)] == ["user", "assistant", "tool", "assistant"]
        assert events[0] == f'data: {{"conversation_id": "{id}"}}\n\n'
        assert json.loads(events[1].removeprefix("data: "))["choices"][0]["delta"] == {"content": "Done."}
        assert len(await contents(manager, id)) == 4
    assert meanwhile == [[]]  # nothing of an exchange is there before all of it is: a crash leaves nothing half


async def test_of_exchanges_that_end_at_once_none_is_lost_and_none_is_torn(
    redis_server: Running, model: ScriptedServer
) -> None:
    count = 20
    model.says(says("An answer."))
    async with conversations(redis_server, model, system_prompt="Once.") as manager:
        id = (await manager.create_conversation("T"))["id"]
        others = ConversationManager(manager.dial_client, manager.redis, system_prompt="Once.")
        await asyncio.gather(*((manager, others)[n % 2].chat(f"question {n}", id) for n in range(count)))
        kept = await contents(manager, id)
    assert kept[0] == ("system", "Once.")
    assert [role for role, _ in kept[1:]] == ["user", "assistant"] * count
    assert sorted(text for role, text in kept if role == "user") == sorted(f"question {n}" for n in range(count))


async def test_an_exchange_that_fails_before_anything_was_said_leaves_the_conversation_as_it_was(
    redis_server: Running, model: ScriptedServer
) -> None:
    model.says(raw=b'{"error": {"message": "no"}}', status=400)
    async with conversations(redis_server, model) as manager:
        made = await manager.create_conversation("T")
        with pytest.raises(Exception, match="no"):
            await manager.chat("Do", made["id"])
        with pytest.raises(Exception, match="no"):
            [event async for event in await manager.chat("Do", made["id"], stream=True)]
        assert await manager.get_conversation(made["id"]) == made


async def test_what_was_done_before_an_exchange_failed_is_kept_and_the_conversation_goes_on(
    redis_server: Running, model: ScriptedServer
) -> None:
    broken = Scenario("broken", (Say("So"),), error="The engine is overloaded.")
    async with conversations(redis_server, model) as manager:
        id = (await manager.create_conversation("T"))["id"]
        model.then(asks(ASK), broken)
        with pytest.raises(Exception, match="overloaded"):
            [event async for event in await manager.chat("Do", id, stream=True)]
        assert [role for role, _ in await contents(manager, id)] == ["user", "assistant", "tool", "assistant"]
        assert (await contents(manager, id))[-1] == ("assistant", "So")
        model.then(says("Fine."))
        assert (await manager.chat("And?", id))["content"] == "Fine."
    assert [each["role"] for each in model.messages[-1]] == ["user", "assistant", "tool", "assistant", "user"]


async def test_a_reader_who_leaves_or_is_cancelled_leaves_what_was_said(
    redis_server: Running, model: ScriptedServer
) -> None:
    async with conversations(redis_server, model) as manager:
        id = (await manager.create_conversation("T"))["id"]
        model.then(says("A long story, told at length."))
        events = await manager.chat("Tell", id, stream=True)
        assert isinstance(events, AsyncGenerator)
        await anext(events)
        await anext(events)
        await events.aclose()
        assert [role for role, _ in await contents(manager, id)] == ["user", "assistant"]

        asked = asyncio.Event()

        async def read() -> None:
            async for event in await manager.chat("Again", id, stream=True):
                if "content" in event:
                    asked.set()
                    await asyncio.Event().wait()

        reader = asyncio.create_task(read())
        await asked.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        async with asyncio.timeout(5):
            while len(await contents(manager, id)) < 4:
                await asyncio.sleep(0)
        assert [role for role, _ in await contents(manager, id)] == ["user", "assistant"] * 2


async def test_a_web_server_that_gives_up_a_stream_leaves_what_was_done(
    redis_server: Running, model: ScriptedServer
) -> None:
    """As Starlette does when the browser is gone: every further `await` is cancelled too."""
    scope = anyio.CancelScope()

    class GivingUp(Echo):
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
            scope.cancel()
            await anyio.sleep_forever()
            return ""

    model.then(asks(ASK))
    async with conversations(redis_server, model) as manager:
        manager.dial_client.tool_name_client_map = {"echo": GivingUp()}
        id = (await manager.create_conversation("T"))["id"]
        with scope:
            [event async for event in await manager.chat("Do", id, stream=True)]
        assert scope.cancelled_caught
        async with asyncio.timeout(5):
            while len(await contents(manager, id)) < 3:
                await asyncio.sleep(0)
        assert (await contents(manager, id))[1:] == [
            ("assistant", None),
            ("tool", "Error: The call was interrupted. Whether it took effect is not known."),
        ]


async def test_an_answer_in_a_conversation_that_was_deleted_meanwhile_is_given_and_not_kept(
    redis_server: Running, model: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    class Deleting(Echo):
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
            await manager.delete_conversation(id)
            return "gone"

    model.then(asks(ASK), says("Done."))
    async with conversations(redis_server, model) as manager:
        manager.dial_client.tool_name_client_map = {"echo": Deleting()}
        id = (await manager.create_conversation("T"))["id"]
        assert (await manager.chat("Do", id))["content"] == "Done."
        assert await manager.list_conversations() == []
        assert await manager.redis.keys("*") == []
    assert f"Conversation {id} was deleted meanwhile: the exchange is not kept" in caplog.messages


async def test_what_is_no_conversation_is_said(
    redis_server: Running, model: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with conversations(redis_server, model) as manager:
        with pytest.raises(StoreError, match="'absent' not found") as raised:
            await manager.chat("Do", "absent")
        assert raised.value.kind == "unknown"
        id = (await manager.create_conversation("T"))["id"]
        with pytest.raises(HistoryError, match="not int"):
            await manager.chat(3, id)
        await manager.redis.set(f"conversation:{id}", "[]")
        await manager.redis.zadd("conversations:list", {"ghost": 1})
        with pytest.raises(StoreError, match="is no conversation") as raised:
            await manager.get_conversation(id)
        assert raised.value.kind == "corrupt"
        assert await manager.list_conversations() == []
    assert model.requests == []
    assert len([each for each in caplog.messages if each.startswith("Left out of the list")]) == 1
