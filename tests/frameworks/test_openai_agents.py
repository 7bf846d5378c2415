"""The door to the OpenAI Agents SDK: its own agent and models, our tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    ToolCallOutputItem,
)
from agents.tool import FunctionToolCustomDataContext
from agents.tool_context import ToolContext

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
from toolbridge import Approval, BoundCall, Hub, ServerSpec, Text, Tool, ToolId, ToolResult, connect
from toolbridge.frameworks import openai_agents
from toolbridge.frameworks.bridge import Bridge, plain_form
from toolbridge.frameworks.openai_agents import agents_tools

MODELS = {"openai-responses": OpenAIResponsesModel, "openai-chat": OpenAIChatCompletionsModel}
UNTRACED = RunConfig(tracing_disabled=True)


@asynccontextmanager
async def agent_at(wire: WireServer, provider: str, hub: Hub, **options: Any) -> AsyncGenerator[Agent[Any]]:
    async with openai.AsyncOpenAI(base_url=f"{wire.url}/v1", api_key="k", max_retries=0) as client:
        yield Agent(
            "gardener", tools=[*agents_tools(hub, provider, **options)], model=MODELS[provider]("gpt-5", client)
        )


def outputs(result: Any) -> list[ToolCallOutputItem]:
    return [each for each in result.new_items if isinstance(each, ToolCallOutputItem)]


async def test_an_agent_of_the_sdk_waters_the_garden(wire: WireServer, garden: ServerSpec) -> None:
    wire.says_in_turn(*GARDEN_TURNS)
    heard: list[float] = []
    async with (
        connect([garden]) as hub,
        agent_at(wire, "openai-responses", hub, on_progress=lambda done, total, message: heard.append(done)) as agent,
    ):
        result = await Runner.run(agent, "Water the roses.", run_config=UNTRACED)
    assert result.final_output == "B2 has been watered."
    found, refused, picture, watered = outputs(result)
    assert (found.custom_data or {})["structured_content"] == {"rose": "B2"}
    assert refused.output == REFUSAL
    assert picture.output[0].image_url.startswith("data:image/png;base64,")
    assert (watered.output, heard) == ("B2 has had 2 litres.", [1, 2])
    sent = wire.requests[0].body["tools"]
    assert [(each["name"], each["strict"]) for each in sent] == [(FIND, True), (WATER, True), (MAP, True)]
    assert refused_by_the_vendor("openai-responses", sent) == []


@pytest.mark.parametrize("strict", [None, False, True])
@pytest.mark.parametrize("provider", MODELS)
async def test_nasty_tools_are_sent_legally_and_come_back_whole(
    provider: str, strict: bool | None, wire: WireServer, nasty: Nasty
) -> None:
    async with (
        connect({"nasty": nasty.server()}) as hub,
        agent_at(wire, provider, hub, strict=strict) as agent,
    ):
        forms = [(plain_form(provider), strict), (plain_form(provider), False)]
        wire.says_in_turn(*nasty_turns(Bridge(hub).surviving(openai_agents._survives, *forms)))
        result = await Runner.run(agent, "Go", run_config=UNTRACED)
    sent = wire.requests[0].body["tools"]
    assert len(sent) == len(NASTY)  # and not the private one
    assert refused_by_the_vendor(provider, sent) == []
    # The SDK runs the calls side by side.
    assert dict(nasty.sent) == {name: arguments for name, (arguments, _) in NASTY.items()}
    assert [each.output for each in outputs(result)] == [f"did {name}" for name in NASTY]
    if strict:
        assert {each.get("function", each)["strict"] for each in sent} == {True}


async def test_what_the_sdk_would_spoil_is_offered_outside_strict_mode(
    nasty: Nasty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_agents, "ensure_strict_json_schema", lambda schema: {**schema, "title": "spoilt"})
    async with connect({"nasty": nasty.server()}) as hub:
        tools = agents_tools(hub, strict=True)
    assert {each.strict_json_schema for each in tools} == {False}


async def test_wrong_calls_of_nasty_tools_reach_no_server(nasty: Nasty) -> None:
    async with connect({"nasty": nasty.server()}) as hub:
        tools = agents_tools(hub, strict=False)
        for tool, listed in zip(tools, hub.tools, strict=True):
            _, wrong = NASTY[listed.id.name]
            assert "was not run" in await invoked(tool, json.dumps(wrong)), tool.name
            assert "was not run" in await invoked(tool, '{"cut": "of')
    assert nasty.sent == []


async def invoked(tool: Any, text: str) -> Any:
    context: ToolContext[Any] = ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=text)
    return await tool.on_invoke_tool(context, text)


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_run_is_interrupted_where_a_person_is_to_be_asked(
    allowed: bool, wire: WireServer, chaos: Chaos, events: Events
) -> None:
    wire.says_in_turn(calls(("mcp__bad__count", {"key": "a"})), says("Done."))
    async with (
        connect([chaos()]) as hub,
        agent_at(wire, "openai-chat", hub, approval=Approval("always", never_read_only=True)) as agent,
    ):
        asking: list[Any] = [each for each in agent.tools if "echo" in each.name or "count" in each.name]
        assert {each.name: each.needs_approval for each in asking} == {
            "mcp__bad__echo": False,
            "mcp__bad__count": True,
            "mcp__bad__count_and_die": True,
            "mcp__bad__count_and_die_read_only": False,
            "mcp__bad__count_and_die_idempotent": True,
        }
        stopped = await Runner.run(agent, "Count.", run_config=UNTRACED)
        (asked,) = stopped.interruptions
        assert events("count") == []
        state = stopped.to_state()
        state.approve(asked) if allowed else state.reject(asked)
        result = await Runner.run(agent, state, run_config=UNTRACED)
    assert result.final_output == "Done."
    assert [each["key"] for each in events("count")] == (["a"] if allowed else [])


async def test_an_error_of_a_tool_is_told_as_one_and_meta_is_not_told(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        tools = {each.name: each for each in agents_tools(hub, "openai-chat")}
        content = tools["mcp__bad__content"]
        assert await invoked(content, '{"kind": "error"}') == "Error: the disk is full"
        assert await invoked(content, '{"kind": "meta"}') == "seen"
        assert await invoked(content, '{"kind": "image"}') == "[image: image/png, 70 bytes]"  # text alone is carried


async def test_whoever_stops_waiting_cancels_the_call_at_the_server(chaos: Chaos, events: Events) -> None:
    async with connect([chaos()]) as hub:
        (hang,) = [each for each in agents_tools(hub) if each.name == "mcp__bad__hang"]
        waiting = asyncio.create_task(invoked(hang, "{}"))
        await eventually(lambda: len(events("call")) == 1, what="the call")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await eventually(lambda: was_cancelled(events), what="the cancellation")


async def test_a_hub_that_was_closed_is_told_to_the_model(chaos: Chaos) -> None:
    async with connect([chaos()]) as hub:
        (echo,) = [each for each in agents_tools(hub) if each.name == "mcp__bad__echo"]
    assert (await invoked(echo, '{"text": "a"}')).startswith("Error: Not called: ")


GREET = Tool(ToolId("", "greet"), "Greets.", {"type": "object", "properties": {"who": {"type": "string"}}})


async def test_what_is_kept_from_the_model_stays_with_its_run_where_ids_of_calls_repeat() -> None:
    async def run(bound: BoundCall) -> ToolResult:
        return ToolResult(bound.call.id, (Text("done"),), structured={"who": bound.arguments["who"]})

    (greet,) = agents_tools([GREET], run=run)
    assert greet.custom_data_extractor is not None
    contexts: dict[str, ToolContext[Any]] = {
        who: ToolContext(None, tool_name=greet.name, tool_call_id="call_0", tool_arguments="")
        for who in ("alice", "bob")
    }
    for who, context in contexts.items():
        await greet.on_invoke_tool(context, json.dumps({"who": who}))
    for who, context in contexts.items():
        told: Any = greet.custom_data_extractor(FunctionToolCustomDataContext(context, greet, "done", {}))
        assert told == {"server": "", "tool": "greet", "structured_content": {"who": who}}


async def test_what_runs_the_calls_may_fail() -> None:
    async def run(bound: BoundCall) -> ToolResult:
        raise ValueError

    (greet,) = agents_tools([GREET], run=run)
    assert await invoked(greet, '{"who": "alice"}') == "Error: The call failed: ValueError"
