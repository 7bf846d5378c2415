"""The door to Pydantic AI: its own agent and models, a hub as its toolset."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import anthropic
import openai
import pytest
from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelResponse,
    ModelRetry,
    TextPart,
    ToolReturnPart,
    UnexpectedModelBehavior,
)
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

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
from toolbridge import Approval, BoundCall, ServerSpec, Text, Tool, ToolId, ToolResult, connect
from toolbridge.frameworks.bridge import Bridge, plain_form
from toolbridge.frameworks.pydantic_ai import HubToolset, ToolProgress, provider_of

PROVIDERS = ("openai-chat", "openai-responses", "anthropic")


@asynccontextmanager
async def model_at(wire: WireServer, provider: str = "openai-chat") -> AsyncGenerator[Model]:
    if provider == "anthropic":
        async with anthropic.AsyncAnthropic(base_url=wire.url, api_key="k", max_retries=0) as client:
            yield AnthropicModel("claude-sonnet-5", provider=AnthropicProvider(anthropic_client=client))
    else:
        kind = OpenAIChatModel if provider == "openai-chat" else OpenAIResponsesModel
        async with openai.AsyncOpenAI(base_url=f"{wire.url}/v1", api_key="k", max_retries=0) as client:
            yield kind("gpt-5", provider=OpenAIProvider(openai_client=client))


def returns(messages: list[Any]) -> list[ToolReturnPart]:
    return [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]


async def test_an_agent_waters_the_garden_and_opens_the_hub_for_it(wire: WireServer, garden: ServerSpec) -> None:
    wire.says_in_turn(*GARDEN_TURNS)
    hub = connect([garden])
    heard: list[ToolProgress] = []
    result: Any = None
    async with model_at(wire) as model:
        agent = Agent(model, toolsets=[HubToolset(hub)])
        async with agent.run_stream_events("Water the roses.") as events:
            async for event in events:
                if isinstance(event, ToolProgress):
                    heard.append(event)
                result = getattr(event, "result", result)
    assert result.output == "B2 has been watered."
    assert hub.status["garden"].state == "closed"
    found, refused, picture, watered = returns(result.all_messages())
    assert found.metadata["structured_content"] == {"rose": "B2"}
    assert (refused.content, refused.outcome) == (REFUSAL, "retried")
    assert isinstance(picture.content, BinaryContent)
    assert watered.content == "B2 has had 2 litres."
    assert [(each.tool_name, each.progress, each.total) for each in heard] == [(WATER, 1, 2), (WATER, 2, 2)]
    sent = wire.requests[0].body["tools"]
    assert [each["function"]["name"] for each in sent] == [FIND, WATER, MAP]
    assert refused_by_the_vendor("openai-chat", sent) == []


@pytest.mark.parametrize("strict", [None, False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_nasty_tools_are_sent_legally_and_come_back_whole(
    provider: str, strict: bool | None, wire: WireServer, nasty: Nasty
) -> None:
    async with connect({"nasty": nasty.server()}) as hub, model_at(wire, provider) as model:
        bridge = Bridge(hub)
        wire.says_in_turn(*nasty_turns(bridge.offered(bridge.prepared(plain_form(provider), strict))))
        result = await Agent(model, toolsets=[HubToolset(hub, strict=strict)]).run("Go")
    sent = wire.requests[0].body["tools"]
    assert len(sent) == len(NASTY)  # and not the private one
    assert refused_by_the_vendor(provider, sent) == []
    assert dict(nasty.sent) == {name: arguments for name, (arguments, _) in NASTY.items()}
    assert [each.content for each in returns(result.all_messages())] == [f"did {name}" for name in NASTY]


async def test_a_free_form_object_stays_open_where_it_is_not_strict(wire: WireServer, nasty: Nasty) -> None:
    wire.says_in_turn(says("Done."))
    async with connect({"nasty": nasty.server()}) as hub, model_at(wire) as model:
        await Agent(model, toolsets=[HubToolset(hub)]).run("Go")
    sent = {each["function"]["name"]: each["function"] for each in wire.requests[0].body["tools"]}
    details = sent["mcp__nasty__record_observation"]["parameters"]["properties"]["details"]
    assert "additionalProperties" not in details
    assert {sent[f"mcp__nasty__{name}"].get("strict") for name in ("record_observation", "odd")} == {None}


async def test_wrong_arguments_cost_a_retry_and_errors_of_tools_do_not(wire: WireServer, chaos: Chaos) -> None:
    failing = [calls(("mcp__bad__content", {"kind": "error"}), start=i) for i in range(5)]
    async with connect([chaos()]) as hub, model_at(wire) as model:
        agent = Agent(model, toolsets=[HubToolset(hub, retries=1)])
        wire.says_in_turn(*failing, says("It is full."))
        result = await agent.run("Go")
        assert result.output == "It is full."
        assert {(each.content, each.outcome) for each in returns(result.all_messages())} == {
            ("the disk is full", "failed")
        }
        wire.says_in_turn(*[calls(("mcp__bad__content", {}), start=i) for i in range(2)])
        with pytest.raises(UnexpectedModelBehavior):
            await agent.run("Go")


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_call_that_needs_a_word_is_deferred_with_the_reason(
    allowed: bool, wire: WireServer, chaos: Chaos, events: Events
) -> None:
    wire.says_in_turn(calls(("mcp__bad__count", {"key": "a"})), says("Done."))
    async with connect([chaos(approval=Approval("always"))]) as hub, model_at(wire) as model:
        agent = Agent(model, toolsets=[HubToolset(hub)], output_type=[str, DeferredToolRequests])
        stopped = await agent.run("Count.")
        assert isinstance(stopped.output, DeferredToolRequests)
        (asked,) = stopped.output.approvals
        assert stopped.output.metadata[asked.tool_call_id] == {
            "why": "it may change or delete things: its server does not say otherwise",
            "arguments": {"key": "a"},
        }
        assert events("count") == []
        words = DeferredToolResults(approvals={asked.tool_call_id: allowed})
        done = await agent.run(message_history=stopped.all_messages(), deferred_tool_results=words)
    assert done.output == "Done."
    assert [each["key"] for each in events("count")] == (["a"] if allowed else [])


async def test_a_tool_that_joins_the_catalogue_is_offered_in_the_next_step(wire: WireServer, chaos: Chaos) -> None:
    wire.says_in_turn(calls(("mcp__bad__change", {"text": "new_tool"})), says("Done."))
    async with connect([chaos()]) as hub, model_at(wire) as model:
        agent = Agent(model, toolsets=[HubToolset(hub)])
        await agent.run("Go")
        await eventually(lambda: any(each.id.name == "new_tool" for each in hub.tools), what="the new tool")
        wire.says_in_turn(says("Done."))
        await agent.run("Go")
    names = [each["function"]["name"] for each in wire.requests[-1].body["tools"]]
    assert "mcp__bad__new_tool" in names


async def test_whoever_stops_waiting_cancels_the_call_at_the_server(
    wire: WireServer, chaos: Chaos, events: Events
) -> None:
    wire.says_in_turn(calls(("mcp__bad__hang", {})))
    async with connect([chaos()]) as hub, model_at(wire) as model:
        waiting = asyncio.create_task(Agent(model, toolsets=[HubToolset(hub)]).run("Go"))
        await eventually(lambda: len(events("call")) == 1, what="the call")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await eventually(lambda: was_cancelled(events), what="the cancellation")


async def test_the_provider_is_found_by_the_model(wire: WireServer) -> None:
    for provider in PROVIDERS:
        async with model_at(wire, provider) as model:
            assert provider_of(model) == provider
            assert provider_of(FallbackModel(model, TestModel())) in (provider, "openai-responses")
    assert provider_of(SimpleNamespace(system="azure")) == "azure"
    assert provider_of(TestModel()) == "openai-chat"
    assert provider_of(FunctionModel(lambda messages, info: None)) == "openai-chat"  # type: ignore[arg-type,return-value]


# ── who opens the hub, and closes it ─────────────────────────────────────────────────────────────────────────────


def names_what_it_is_offered(messages: list[Any], info: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart(" ".join(each.name for each in info.function_tools))])


async def test_runs_side_by_side_all_get_the_tools(chaos: Chaos) -> None:
    hub = connect([chaos()])
    agent = Agent(FunctionModel(names_what_it_is_offered), toolsets=[HubToolset(hub)])
    for _ in range(2):
        said = [each.output for each in await asyncio.gather(*(agent.run("Go") for _ in range(3)))]
        assert ["mcp__bad__echo" in each for each in said] == [True, True, True]
        assert hub.status["bad"].state == "closed"


@pytest.mark.parametrize("beside", [False, True])
async def test_a_run_that_is_cancelled_while_the_hub_opens_costs_no_other_run_its_tools(
    beside: bool, chaos: Chaos
) -> None:
    hub = connect([chaos()])
    agent = Agent(FunctionModel(names_what_it_is_offered), toolsets=[HubToolset(hub)])
    first = asyncio.create_task(agent.run("Go"))
    second = asyncio.create_task(agent.run("Go")) if beside else None
    while hub.status["bad"].state == "closed":
        await asyncio.sleep(0)
    assert hub.status["bad"].state == "connecting"
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert "mcp__bad__echo" in (await (second or agent.run("Go"))).output
    assert hub.status["bad"].state == "closed"


def test_one_toolset_serves_one_event_loop_after_the_other(chaos: Chaos) -> None:
    toolset = HubToolset(connect([chaos()]))

    async def both() -> list[str]:
        agent = Agent(FunctionModel(names_what_it_is_offered), toolsets=[toolset])
        return [each.output for each in await asyncio.gather(agent.run("Go"), agent.run("Go"))]

    for _ in range(2):
        assert ["mcp__bad__echo" in each for each in asyncio.run(both())] == [True, True]


# ── tools that come from no hub ──────────────────────────────────────────────────────────────────────────────────


def label(schema: dict[str, Any]) -> Tool:
    return Tool(
        ToolId("", "label"), "Labels.", {"type": "object", "properties": {"names": schema}, "required": ["names"]}
    )


async def test_arguments_are_read_in_the_form_that_the_model_was_shown(wire: WireServer) -> None:
    pairs = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"key": {"type": "string"}, "value": {"type": "string"}},
            "required": ["key", "value"],
        },
    }
    ran: list[Any] = []

    async def run(bound: BoundCall) -> ToolResult:
        ran.append(bound.arguments)
        return ToolResult(bound.call.id, (Text("done"),))

    toolset = HubToolset(
        [label({"type": "object", "additionalProperties": {"type": "string"}})], "openai-chat", run=run, strict=True
    )
    context: Any = SimpleNamespace(model=None, tool_call_id="1", tool_call_approved=False)
    shown = (await toolset.get_tools(context))["label"]

    class Changed(Bridge):
        generation = 1  # type: ignore[assignment]

    toolset._bridge = Changed([label(pairs)], run)  # the catalogue changes while the model writes
    await toolset.call_tool("label", {"names": [{"key": "rose", "value": "B2"}]}, context, shown)
    assert ran == [{"names": {"rose": "B2"}}]


async def test_what_runs_the_calls_may_fail_and_may_speak_to_the_framework(wire: WireServer) -> None:
    async def run(bound: BoundCall) -> ToolResult:
        raise ModelRetry("Say it again.") if bound.call.id.endswith("1") else ValueError("the shed is locked")

    turns = [calls(("label", {"names": "a"}), start=i) for i in range(2)]
    wire.says_in_turn(*turns, says("Done."))
    async with model_at(wire) as model:
        agent = Agent(model, toolsets=[HubToolset([label({"type": "string"})], run=run)])
        result = await agent.run("Go")
    assert result.output == "Done."
    failed, retried = returns(result.all_messages())
    assert (failed.content, failed.outcome) == ("The call failed: the shed is locked", "failed")
    assert (retried.content, retried.outcome) == ("Say it again.", "retried")
