"""The door to LangChain: its own chat model, its own agent, our tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send, interrupt

from tests.docs.pages import ROOT, blocks
from tests.frameworks.conftest import (
    FIND,
    GARDEN_TURNS,
    MAP,
    NASTY,
    REFUSAL,
    WATER,
    Nasty,
    calls,
    nasty_turns,
    refused_by_the_vendor,
    says,
    was_cancelled,
)
from tests.servers.conftest import Chaos, Events
from tests.support.processes import eventually
from tests.support.wire_servers import WireServer
from toolbridge import (
    Approval,
    BoundCall,
    Decision,
    ServerSpec,
    Text,
    Tool,
    ToolId,
    ToolResult,
    connect,
    connect_sync,
)
from toolbridge.frameworks import langchain
from toolbridge.frameworks.bridge import Bridge
from toolbridge.frameworks.langchain import langchain_tools

PAGE = ROOT / "docs" / "from-langchain.md"


@pytest.fixture
def model(wire: WireServer) -> Iterator[ChatOpenAI]:
    """LangChain's chat model, with plain clients that are closed again: its own live as long as the process."""
    with openai.DefaultHttpxClient() as client:
        options: Any = {"api_key": "k", "http_client": client}
        yield ChatOpenAI(model="gpt-5", base_url=f"{wire.url}/v1", max_retries=0, **options)


def question(text: str) -> Any:
    return {"messages": [("user", text)]}


def results(messages: list[Any]) -> list[ToolMessage]:
    return [each for each in messages if isinstance(each, ToolMessage)]


def by_name(tools: list[BaseTool]) -> dict[str, BaseTool]:
    return {each.name: each for each in tools}


def test_an_agent_of_langchain_waters_the_garden(wire: WireServer, model: ChatOpenAI, garden: ServerSpec) -> None:
    wire.says_in_turn(*GARDEN_TURNS)
    with connect_sync([garden]) as hub:
        said = create_agent(model, langchain_tools(hub)).invoke(question("Water the roses."))
    found, refused, picture, watered = results(said["messages"])
    assert said["messages"][-1].content == "B2 has been watered."
    assert (found.status, found.artifact["structured_content"]) == ("success", {"rose": "B2"})
    assert (refused.status, refused.content) == ("error", REFUSAL)
    assert (picture.content, len(picture.artifact["images"])) == ("[image: image/png, 82 bytes]", 1)
    assert watered.content == "B2 has had 2 litres."
    sent = wire.requests[0].body["tools"]
    assert [each["function"]["name"] for each in sent] == [FIND, WATER, MAP]
    assert refused_by_the_vendor("openai-chat", sent) == []


@pytest.mark.parametrize("strict", [False, True])
def test_nasty_tools_are_sent_legally_and_come_back_whole(
    strict: bool, wire: WireServer, model: ChatOpenAI, nasty: Nasty
) -> None:
    with connect_sync({"nasty": nasty.server()}) as hub:
        tools = langchain_tools(hub, strict=strict)
        forms = [(form, strict) for form in langchain._forms("openai-chat")]
        wire.says_in_turn(*nasty_turns(Bridge(hub).surviving(langchain._survives, *forms)))
        bound = model.bind_tools(tools, strict=True if strict else None)
        asked = bound.invoke("Go")
        answers = [by_name(tools)[call["name"]].invoke({**call, "type": "tool_call"}) for call in asked.tool_calls]
    sent = wire.requests[0].body["tools"]
    assert len(sent) == len(NASTY)  # and not the private one
    assert refused_by_the_vendor("openai-chat", sent) == []
    assert nasty.sent == [(name, arguments) for name, (arguments, _) in NASTY.items()]
    assert {each.status for each in answers} == {"success"}


def test_wrong_calls_of_nasty_tools_reach_no_server(nasty: Nasty) -> None:
    with connect_sync({"nasty": nasty.server()}) as hub:
        tools = {(each.metadata or {})["tool"]: each for each in langchain_tools(hub)}
        for name, (_, wrong) in NASTY.items():
            said = tools[name].invoke({"name": name, "args": wrong, "id": "1", "type": "tool_call"})
            assert (said.status, "was not run" in said.content) == ("error", True), name
    assert nasty.sent == []


@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "mistral", "gemini", "bedrock"])
def test_what_langchain_makes_of_a_schema_is_what_was_written(provider: str, nasty: Nasty) -> None:
    with connect_sync({"nasty": nasty.server()}) as hub:
        for tool in langchain_tools(hub, provider):
            assert convert_to_openai_tool(tool)["function"]["parameters"] == tool.args_schema, tool.name


async def test_tools_run_in_the_loop_of_the_hub_and_tell_of_their_progress(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        work = by_name(langchain_tools(hub))["mcp__bad__work"]
        heard: list[Any] = [
            each["data"]
            async for each in work.astream_events({"number": 2}, version="v2")
            if each["event"] == "on_custom_event"
        ]
    assert [(each["tool"], each["progress"]) for each in heard] == [("mcp__bad__work", 1), ("mcp__bad__work", 2)]


async def test_what_a_result_holds_stands_where_langchain_looks_for_it(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        content = by_name(langchain_tools(hub, "anthropic"))["mcp__bad__content"]

        async def of(kind: str) -> ToolMessage:
            return await content.ainvoke({"name": "c", "args": {"kind": kind}, "id": "1", "type": "tool_call"})

        assert (await of("image")).content[0]["type"] == "image"  # type: ignore[index]
        assert (await of("audio")).content == "[audio: audio/wav, 44 bytes]"
        assert (await of("structured_only")).content == '{"degrees":21.5}'
        meta = await of("meta")
        assert (meta.content, meta.artifact["_meta"]) == ("seen", {"example.com/secret": "unseen"})
        error = await of("error")
        assert (error.content, error.status) == ("the disk is full", "error")
        content.handle_tool_error = False
        with pytest.raises(ToolException, match="the disk is full"):
            await of("error")


async def test_whoever_stops_waiting_cancels_the_call_at_the_server(chaos: Chaos, events: Events) -> None:
    async with connect([chaos()]) as hub:
        waiting = asyncio.create_task(by_name(langchain_tools(hub))["mcp__bad__hang"].ainvoke({}))
        await eventually(lambda: len(events("call")) == 1, what="the call")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await eventually(lambda: was_cancelled(events), what="the cancellation")


async def test_a_plain_call_does_not_block_the_loop_that_it_needs(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        echo = by_name(langchain_tools(hub))["mcp__bad__echo"]
        with pytest.raises(RuntimeError, match="use ainvoke"):
            echo.invoke({"text": "a"})
        assert await asyncio.to_thread(echo.invoke, {"text": "a"}) == "a"


async def test_a_call_that_needs_a_word_is_refused_where_there_is_nobody_to_ask(chaos: Chaos, events: Events) -> None:
    async with connect([chaos(approval=Approval("always"))]) as hub:
        count = by_name(langchain_tools(hub))["mcp__bad__count"]
        assert (count.metadata or {})["approval"].startswith("it may change or delete things")
        assert "nobody to ask" in await count.ainvoke({"key": "a"})
        asked = by_name(langchain_tools(hub, ask=lambda asked: Decision(True, arguments={"key": "b"})))
        said = await asked["mcp__bad__count"].ainvoke({"key": "a"})
    assert said == '(The user changed the arguments to {"key": "b"}.)\ncounted b'
    assert [each["key"] for each in events("count")] == ["b"]


@pytest.mark.parametrize(
    ("decision", "counted", "said"),
    [
        ({"type": "approve"}, ["a"], "counted a"),
        ({"type": "edit", "edited_action": {"name": "x", "args": {"key": "b"}}}, ["b"], "counted b"),
        ({"type": "reject", "message": "not today"}, [], "not today"),
    ],
)
def test_an_agent_waits_for_the_word_of_whoever_resumes_it(
    decision: dict[str, Any], counted: list[str], said: str, wire: WireServer, model: ChatOpenAI, chaos: Chaos, events: Events
) -> None:  # fmt: skip
    wire.says_in_turn(calls(("mcp__bad__count", {"key": "a"})), says("Done."))
    thread: Any = {"configurable": {"thread_id": "1"}}
    with connect_sync([chaos(approval=Approval("always"))]) as hub:
        tools = langchain_tools(hub, ask="interrupt")
        agent = create_agent(model, tools, checkpointer=InMemorySaver())
        stopped = agent.invoke(question("Count."), thread)
        (asked,) = stopped["__interrupt__"]
        assert asked.value["action_requests"][0]["args"] == {"key": "a"}
        assert events("count") == []
        done = agent.invoke(Command(resume={"decisions": [decision]}), thread)
    assert [each["key"] for each in events("count")] == counted
    assert said in results(done["messages"])[0].content


def test_two_calls_of_one_reply_are_resumed_each_by_the_id_of_its_interrupt(
    wire: WireServer, model: ChatOpenAI, chaos: Chaos, events: Events
) -> None:
    """With the lines of the page."""
    (block,) = [each for each in blocks(PAGE, "text") if "interrupt.id" in each.text]
    both = [("mcp__bad__count", {"key": "a"}), ("mcp__bad__count", {"key": "b"})]
    wire.says_in_turn(calls(*both), says("Done."))
    thread: Any = {"configurable": {"thread_id": "1"}}

    def decide(request: dict[str, Any]) -> dict[str, Any]:
        return {"type": "approve"} if request["args"] == {"key": "a"} else {"type": "reject", "message": "not today"}

    with connect_sync([chaos(approval=Approval("always"))]) as hub:
        agent = create_agent(model, langchain_tools(hub, ask="interrupt"), checkpointer=InMemorySaver())
        names: dict[str, Any] = {
            "agent": agent,
            "thread": thread,
            "decide": decide,
            "Command": Command,
            "said": agent.invoke(question("Count."), thread),
        }
        assert len(names["said"]["__interrupt__"]) == 2
        assert events("count") == []
        exec(block.text, names)
    assert [each["key"] for each in events("count")] == ["a"]
    first, second = results(names["said"]["messages"])
    assert (first.content, "not today" in second.content) == ("counted a", True)
    assert names["said"]["messages"][-1].content == "Done."


def test_tools_without_a_hub_need_something_that_runs_them() -> None:
    tool = Tool(ToolId("", "add"), "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})

    ids: list[str] = []

    async def run(bound: BoundCall) -> ToolResult:
        ids.append(bound.call.id)
        return ToolResult(bound.call.id, (Text(f"{bound.arguments['a'] + 1}"),))

    (add,) = langchain_tools([tool], run=run)
    assert (add.invoke({"a": 1}), add.invoke({"a": "2"})) == ("2", "3")
    add.invoke({"name": "add", "args": {"a": 1}, "id": "c7", "type": "tool_call"})
    assert ids == ["", "", "c7"]
    with pytest.raises(TypeError, match="something that runs their calls"):
        langchain_tools([tool])


ADD = Tool(ToolId("", "add"), "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})


def test_what_runs_the_calls_may_fail_and_a_failure_has_no_artifact() -> None:
    async def run(bound: BoundCall) -> ToolResult:
        raise ToolException("wrong day") if bound.arguments["a"] else ValueError("the shed is locked")

    (add,) = langchain_tools([ADD], run=run)
    for a, text in ((0, "Error: The call failed: the shed is locked"), (1, "wrong day")):
        said = add.invoke({"name": "add", "args": {"a": a}, "id": "1", "type": "tool_call"})
        assert (said.content, said.status, said.artifact) == (text, "error", None)


def test_what_runs_the_calls_may_interrupt_the_graph(wire: WireServer, model: ChatOpenAI) -> None:
    async def run(bound: BoundCall) -> ToolResult:
        return ToolResult(bound.call.id, (Text(interrupt("how many?")),))

    wire.says_in_turn(calls(("add", {"a": 1})), says("Done."))
    thread: Any = {"configurable": {"thread_id": "1"}}
    agent = create_agent(model, langchain_tools([ADD], run=run), checkpointer=InMemorySaver())
    assert [each.value for each in agent.invoke(question("Go"), thread)["__interrupt__"]] == ["how many?"]
    done = agent.invoke(Command(resume="three"), thread)
    assert results(done["messages"])[0].content == "three"


@pytest.mark.parametrize(("apart", "ran"), [(True, [1, 2]), (False, [1, 1, 2])])
def test_a_graph_that_sends_each_call_apart_runs_it_once(apart: bool, ran: list[int]) -> None:
    """And one that does not runs it again, as the page says: if that changes, the page is to be changed."""
    begun: list[int] = []

    async def run(bound: BoundCall) -> ToolResult:
        begun.append(bound.arguments["a"])
        return ToolResult(bound.call.id, (Text("done"),))

    def route(state: MessagesState) -> Any:
        message: Any = state["messages"][-1]
        return [Send("tools", [call]) for call in message.tool_calls] if apart else "tools"

    tools = langchain_tools([ADD], run=run, approval=Approval("always"), ask="interrupt")
    graph: Any = StateGraph(MessagesState).add_node("tools", ToolNode(tools))
    graph = graph.add_conditional_edges(START, route, ["tools"]).compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}, "max_concurrency": 1}
    both: Any = [{"name": "add", "args": {"a": a}, "id": f"{a}"} for a in (1, 2)]
    said = graph.invoke({"messages": [AIMessage("", tool_calls=both)]}, thread)
    while asked := said.get("__interrupt__"):
        words = {each.id: {"decisions": [{"type": "approve"}]} for each in asked}
        said = graph.invoke(Command(resume=words), thread)
    assert sorted(begun) == ran
    assert [each.content for each in results(said["messages"])] == ["done", "done"]
