"""Contract: what the DIAL agent's records promise of `DialClient`, with the real SDK, a server that speaks as DIAL does,
and real MCP servers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.compat.scripted import ScriptedServer, asks, says
from tests.support.processes import descendants, wait_until
from tests.support.wire import chat as chat_format
from tests.support.wire.scenario import Ask, Say, Scenario
from tests.support.wire.sse import DONE, sse
from toolbridge.compat.dial import DialClient, Message, Role, StdioMCPClient
from toolbridge.errors import HistoryError

GARDEN = Path(__file__).parents[2] / "examples" / "garden_server.py"
USERS = Path(__file__).with_name("users_server.py")
ECHO = {"type": "function", "function": {"name": "echo", "description": "", "parameters": {"type": "object"}}}

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = {each.pid for each in descendants()}
    yield
    wait_until(lambda: {each.pid for each in descendants()} <= before, 5, "the servers to be gone")


class Echo:
    """An MCP client that needs no server: it says what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((name, arguments))
        return f"{name}: {json.dumps(arguments)}"


@asynccontextmanager
async def dial(model: ScriptedServer, owner: Any = None, **more: Any) -> AsyncGenerator[DialClient]:
    fields: dict[str, Any] = {"tools": [ECHO], "tool_name_client_map": {"echo": owner}} if owner is not None else {}
    async with DialClient("dial-key", model.url, "gpt-4o", **{**fields, **more}) as client:
        yield client


def question(text: str = "Find John Doe") -> list[Any]:
    return [Message(Role.USER, text)]


def tool_calls(*asks: Ask) -> list[dict[str, Any]]:
    return [
        {"id": f"call_{each.id}", "type": "function", "function": {"name": each.name, "arguments": each.text}}
        for each in asks
    ]


async def streamed(client: DialClient, messages: list[Any]) -> list[str]:
    return [event async for event in client.stream_response(messages)]


def text_of(events: list[str]) -> str:
    chunks = [json.loads(event.removeprefix("data: ")) for event in events if event != "data: [DONE]\n\n"]
    return "".join(each["choices"][0]["delta"].get("content", "") for each in chunks)


async def test_dial_is_asked_at_its_deployment_with_its_key(model: ScriptedServer) -> None:
    model.then(says("Hello!"))
    async with dial(model) as client:
        messages = question("Hi")
        assert await client.response(messages) == Message(Role.ASSISTANT, "Hello!")
        assert messages == question("Hi")
    assert model.paths == ["/openai/deployments/gpt-4o/chat/completions?api-version="]
    (request,) = model.requests
    assert request.headers["api-key"] == "dial-key"
    assert request.body == {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}


async def test_calls_go_to_the_client_that_has_the_tool_until_there_is_an_answer(model: ScriptedServer) -> None:
    """The records' own conversation: find a user, then something else about what was found."""
    users = await StdioMCPClient.create(sys.executable, [str(USERS), "stdio"])
    garden = await StdioMCPClient.create(sys.executable, [str(GARDEN)])
    search = Ask("a1B2c3D4e", "search_users", {"query": "John Doe"})
    rose, water = (
        Ask("f5G6h7I8j", "find_plants", {"query": "rose"}),
        Ask("k9L0m1N2o", "water", {"bed": "B2", "litres": 1}),
    )
    model.then(asks(search, text="Looking."), asks(rose, water), says("He waters the rose."))
    async with users, garden:
        tools: list[dict[str, Any]] = []
        owners: dict[str, Any] = {}
        for owner in (users, garden):
            for tool in await owner.get_tools():
                tools.append(tool)
                owners[tool["function"]["name"]] = owner
        async with dial(model, tools=tools, tool_name_client_map=owners) as client:
            messages: list[Any] = [Message(Role.SYSTEM, "You help."), *question()]
            assert await client.get_completion(messages) == Message(Role.ASSISTANT, "He waters the rose.")
    assert [request.body["tools"] for request in model.requests] == [tools] * 3
    assert [each.model_dump() for each in messages[2:]] == [
        Message(Role.ASSISTANT, "Looking.", tool_calls=tool_calls(search)).model_dump(),
        Message(
            Role.TOOL, 'search_users {"query": "John Doe"}', tool_call_id="call_a1B2c3D4e", name="search_users"
        ).model_dump(),
        Message(Role.ASSISTANT, None, tool_calls=tool_calls(rose, water)).model_dump(),
        Message(Role.TOOL, '{\n  "rose": "B2"\n}', tool_call_id="call_f5G6h7I8j", name="find_plants").model_dump(),
        Message(Role.TOOL, "B2 has had 1 litres.", tool_call_id="call_k9L0m1N2o", name="water").model_dump(),
    ]
    roles = [each["role"] for each in model.messages[2]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool", "tool"]


async def test_a_stream_has_the_shape_of_the_agent_and_adds_everything_to_the_messages(model: ScriptedServer) -> None:
    echo, ask = Echo(), Ask("a1B2c3D4e", "echo", {"text": "東京"})
    model.then(asks(ask, text="Hm."), Scenario("two", (Say("It is"), Say("done."))))
    async with dial(model, echo) as client:
        messages = question()
        events = await streamed(client, messages)
    assert events == [
        f'data: {{"choices": [{{"delta": {{"content": "{text}"}}, "index": 0, "finish_reason": null}}]}}\n\n'
        for text in ("Hm.", "It is", "done.")
    ] + ['data: {"choices": [{"delta": {}, "index": 0, "finish_reason": "stop"}]}\n\n', "data: [DONE]\n\n"]
    assert messages == [
        *question(),
        Message(Role.ASSISTANT, "Hm.", tool_calls=tool_calls(ask)),
        Message(Role.TOOL, 'echo: {"text": "\\u6771\\u4eac"}', "call_a1B2c3D4e", "echo"),
        Message(Role.ASSISTANT, "It isdone."),
    ]
    assert echo.calls == [("echo", {"text": "東京"})]
    assert all(request.streamed for request in model.requests)


@pytest.mark.parametrize("stream", [False, True])
async def test_whatever_goes_wrong_with_a_call_is_its_result_and_the_others_run(
    model: ScriptedServer, stream: bool
) -> None:
    class Moody(Echo):
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
            match arguments.get("text"):
                case "raise":
                    raise OSError("the disk is full")
                case "cancel":
                    raise asyncio.CancelledError
                case "null":
                    return None
                case "mcp":
                    return {"content": [{"type": "text", "text": "no such user"}], "isError": True}
                case _:
                    return await super().call_tool(name, arguments)

    moody = Moody()
    wrong = [Ask(f"{text:_<9}"[:9], "echo", {"text": text}) for text in ("raise", "cancel", "null", "mcp", "fine")]
    unknown, broken = Ask("f5G6h7I8j", "ecko", {}), Ask("k9L0m1N2o", "echo", {"text": "half"}, cut=9)
    model.then(asks(*wrong, unknown, broken), says("So be it."))
    async with dial(model, moody) as client:
        messages = question()
        if stream:
            assert text_of(await streamed(client, messages)) == "So be it."
        else:
            assert (await client.response(messages)).content == "So be it."
    results = [each.content for each in messages if each.role == Role.TOOL]
    assert results == [
        "Error: The call of echo failed: OSError: the disk is full",
        "Error: The call was interrupted. Whether it took effect is not known.",
        "",
        "Error: no such user",
        'echo: {"text": "fine"}',
        "Error: Tool 'ecko' not found. Did you mean 'echo'?",
        'Error: The call of echo was not run: the arguments end too early, after "{\\"text\\": ". Send one JSON object.',
    ]
    assert moody.calls == [("echo", {"text": "fine"})]
    sent = model.messages[1]
    calls = [each["id"] for each in sent[1]["tool_calls"]]
    assert calls == [each["tool_call_id"] for each in sent[2:]]
    assert all(json.loads(each["function"]["arguments"]) is not None for each in sent[1]["tool_calls"])


async def test_calls_of_one_reply_run_side_by_side_and_their_results_keep_the_order(model: ScriptedServer) -> None:
    class Meeting:
        """Nobody leaves before all are there; the first to come leaves last."""

        def __init__(self) -> None:
            self.there = asyncio.Barrier(3)
            self.left: list[str] = []
            self.gone = asyncio.Condition()

        async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
            await self.there.wait()
            async with self.gone:
                await self.gone.wait_for(lambda: len(self.left) == 3 - int(arguments["n"]))
                self.left.append(str(arguments["n"]))
                self.gone.notify_all()
            return str(arguments["n"])

    meeting = Meeting()
    model.then(asks(*(Ask(f"a1B2c3D4{n}", "echo", {"n": n}) for n in (1, 2, 3))), says("met"))
    async with dial(model, meeting) as client, asyncio.timeout(10):
        messages = question()
        await client.response(messages)
    assert meeting.left == ["3", "2", "1"]
    assert [each.content for each in messages if each.role == Role.TOOL] == ["1", "2", "3"]


@pytest.mark.parametrize("stream", [False, True])
async def test_in_the_last_turn_the_model_may_not_call_and_one_that_does_is_stopped(
    model: ScriptedServer, stream: bool
) -> None:
    echo, stopped = Echo(), "Stopped after 3 turns: the model was still calling tools."
    model.then(asks(Ask("a1B2c3D4e", "echo", {})))
    async with dial(model, echo, max_turns=3) as client:
        messages = question()
        if stream:
            events = await streamed(client, messages)
            assert (text_of(events), events[-1]) == (stopped, "data: [DONE]\n\n")
            assert messages[-1] == Message(Role.ASSISTANT, stopped)
        else:
            assert await client.response(messages) == Message(Role.ASSISTANT, stopped)
    assert [request.body.get("tool_choice") for request in model.requests] == [None, None, "none"]
    assert len(echo.calls) == 2


async def test_calls_without_ids_or_with_one_twice_get_their_own(model: ScriptedServer) -> None:
    entries = [
        {"index": index, "id": id, "type": "function", "function": {"name": "echo", "arguments": f'{{"n": {index}}}'}}
        for index, id in enumerate(("same", "same", None))
    ]
    body = [*(chat_format.chunk({"tool_calls": [each]}) for each in entries), chat_format.chunk({}, "tool_calls"), DONE]
    model.then(sse(body), says("ok"))
    async with dial(model, Echo()) as client:
        messages = question()
        await streamed(client, messages)
    ids = [each["id"] for each in messages[1].tool_calls]
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    assert [(each.tool_call_id, each.content) for each in messages[2:5]] == [
        (id, f'echo: {{"n": {n}}}') for n, id in enumerate(ids)
    ]


async def test_a_stream_that_nobody_listens_to_any_more_leaves_messages_that_go_on(model: ScriptedServer) -> None:
    model.then(says("It is a long story, told at length."))
    async with dial(model) as client:
        messages = question()
        events = client.stream_completion(messages)
        first = text_of([await anext(events)])
        await events.aclose()
        assert first
        assert messages == [*question(), Message(Role.ASSISTANT, first)]
        model.then(says("Yes."))
        assert (await client.response([*messages, *question("And?")])).content == "Yes."
    assert [each["role"] for each in model.messages[-1]] == ["user", "assistant", "user"]


async def test_a_call_that_is_interrupted_is_answered_in_the_messages(model: ScriptedServer) -> None:
    begun = asyncio.Event()

    class Slow(Echo):
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
            if not arguments:
                begun.set()
                await asyncio.Event().wait()
            return "quick"

    model.then(asks(Ask("f5G6h7I8j", "echo", {"quick": 1}), Ask("a1B2c3D4e", "echo", {})), says("Yes."))
    async with dial(model, Slow()) as client:
        messages = question()
        asked = asyncio.create_task(client.response(messages))
        await begun.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert [(each.role, each.content) for each in messages[1:]] == [
            (Role.ASSISTANT, None),
            (Role.TOOL, "quick"),
            (Role.TOOL, "Error: The call was interrupted. Whether it took effect is not known."),
        ]
        assert (await client.response([*messages, *question("And?")])).content == "Yes."


async def test_messages_may_be_dicts_or_objects_of_the_agents_own_and_need_not_be_legal(model: ScriptedServer) -> None:
    class Own:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "user", "content": "Hi", "id": 7}

    call = {"id": "c", "type": "function", "function": {"name": "echo", "arguments": '{"half'}}
    model.then(says("ok"))
    async with dial(model) as client:
        await client.response([Own(), {"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "?"}])
        with pytest.raises(HistoryError, match="not int"):
            await client.response([3])
        with pytest.raises(HistoryError, match="'robot' is not a valid Role"):
            await client.response([{"role": "robot"}])
    roles = [each["role"] for each in model.messages[0]]
    assert roles == ["user", "assistant", "tool", "user"]
    assert json.loads(model.messages[0][1]["tool_calls"][0]["function"]["arguments"])


async def test_what_the_sdk_raises_is_let_through(model: ScriptedServer) -> None:
    model.says(raw=b'{"error": {"message": "no such deployment", "code": "404"}}', status=404)
    async with dial(model) as client:
        with pytest.raises(openai.NotFoundError, match="no such deployment"):
            await client.response(question())
        model.then(Scenario("error", (Say("It is "),), error="The engine is overloaded."))
        messages = question()
        with pytest.raises(openai.APIError, match="overloaded"):
            await streamed(client, messages)
        assert messages[-1] == Message(Role.ASSISTANT, "It is ")


async def test_a_client_of_ones_own_and_the_other_word_for_the_model(model: ScriptedServer) -> None:
    model.then(says("ok"))
    own = openai.AsyncOpenAI(api_key="k", base_url=f"{model.url}/v1")
    async with DialClient(client=own, deployment_name="claude") as client:
        assert client.async_openai is own
        assert (await client.response(question())).content == "ok"
    assert model.requests[0].body["model"] == "claude"


def test_what_is_missing_is_said() -> None:
    with pytest.raises(ValueError, match="no model is named"):
        DialClient("key", "http://localhost")
    with pytest.raises(ValueError, match="api_key and endpoint are needed"):
        DialClient(model="gpt-4o", tools=[])
    with pytest.raises(ValueError, match="max_turns is 0"):
        DialClient("key", "http://localhost", "gpt-4o", max_turns=0)
