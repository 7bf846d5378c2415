"""Three lines with the official SDKs: their own clients, their own loop, our tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from tests.run.conftest import calls, says
from tests.servers.conftest import Chaos, Events
from tests.support.wire_servers import WireServer
from toolbridge import (
    Approval,
    Decision,
    HistoryError,
    Hub,
    SyncHub,
    connect,
    connect_sync,
    get_provider,
    prepare,
    read_stream,
)

ECHO, COUNT = "mcp__bad__echo", "mcp__bad__count"
TURNS = (
    calls((ECHO, {"text": "Grüße"}), ("mcp__bad__content", {"kind": "image"}), (ECHO, {"text": 1, "x": []})),
    calls((COUNT, {"key": "k"}), start=3),
    says("That was all."),
)


def openai_chat(wire: WireServer, tools: Any) -> Callable[[list[Any]], Any]:
    client = openai.OpenAI(base_url=f"{wire.url}/v1", api_key="k", max_retries=0)
    return lambda messages: client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)


def responses(wire: WireServer, tools: Any) -> Callable[[list[Any]], Any]:
    client = openai.OpenAI(base_url=f"{wire.url}/v1", api_key="k", max_retries=0)
    return lambda messages: client.responses.create(model="gpt-5", input=messages, tools=tools)


def claude(wire: WireServer, tools: Any) -> Callable[[list[Any]], Any]:
    client = anthropic.Anthropic(base_url=wire.url, api_key="k", max_retries=0)
    return lambda messages: client.messages.create(
        model="claude-sonnet-5", max_tokens=100, messages=messages, tools=tools
    )


def gemini(wire: WireServer, tools: Any) -> Callable[[list[Any]], Any]:
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=wire.url))
    config = types.GenerateContentConfig(tools=tools)
    return lambda messages: client.models.generate_content(model="gemini-3-flash", contents=messages, config=config)


LOOPS: dict[str, tuple[Callable[..., Any], Any]] = {
    "openai-chat": (openai_chat, {"role": "user", "content": "Go"}),
    "openai-responses": (responses, {"role": "user", "content": "Go"}),
    "anthropic": (claude, {"role": "user", "content": "Go"}),
    "gemini": (gemini, {"role": "user", "parts": [{"text": "Go"}]}),
}


@pytest.mark.parametrize("provider", LOOPS)
def test_a_loop_of_ones_own_with_a_plain_client(provider: str, wire: WireServer, chaos: Chaos, events: Events) -> None:
    wire.says_in_turn(*TURNS)
    loop, question = LOOPS[provider]
    with connect_sync([chaos()]) as hub:
        ask = loop(wire, hub.tools_for(provider))
        messages = [question]
        response = ask(messages)
        while added := hub.answer(response):
            messages += added
            response = ask(messages)
    assert get_provider(provider).read_reply(response).text == "That was all."
    assert [each["key"] for each in events("count")] == ["k"]
    history = get_provider(provider).read_messages(messages).value
    results = [part for message in history for part in message.parts if hasattr(part, "call_id")]
    assert len(results) == 4
    assert len(wire.requests) == 3


ASYNC: dict[str, Callable[[str], Any]] = {
    "openai-chat": lambda url: openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k"),
    "openai-responses": lambda url: openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k"),
    "anthropic": lambda url: anthropic.AsyncAnthropic(base_url=url, api_key="k"),
    "gemini": lambda url: genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url)).aio,
}


async def asked(provider: str, client: Any, messages: list[Any], tools: Any) -> Any:
    match provider:
        case "openai-chat":
            return await client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
        case "openai-responses":
            return await client.responses.create(model="gpt-5", input=messages, tools=tools)
        case "anthropic":
            return await client.messages.create(model="c", max_tokens=9, messages=messages, tools=tools)
        case _:
            config = types.GenerateContentConfig(tools=tools)
            return await client.models.generate_content(model="gemini-3-flash", contents=messages, config=config)


@pytest.mark.parametrize("provider", LOOPS)
async def test_a_loop_of_ones_own_with_an_async_client(provider: str, wire: WireServer, chaos: Chaos) -> None:
    wire.says_in_turn(*TURNS)
    client = ASYNC[provider](wire.url)
    async with connect([chaos()]) as hub:
        tools = hub.tools_for(provider)
        messages = [LOOPS[provider][1]]
        response = await asked(provider, client, messages, tools)
        while added := await hub.answer(response):
            messages += added
            response = await asked(provider, client, messages, tools)
    assert get_provider(provider).read_reply(response).text == "That was all."
    await (client.aclose() if provider == "gemini" else client.close())


async def test_the_operators_settings_count_in_a_loop_of_ones_own_too(
    wire: WireServer, chaos: Chaos, events: Events
) -> None:
    reply = {"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": COUNT, "arguments": '{"key": "a"}'}}]}}]}  # fmt: skip
    async with connect([chaos(approval=Approval("always"))]) as hub:
        refused = await hub.answer(reply)
        assert events("count") == []
        assert "there is nobody to ask" in refused[1]["content"]
        allowed = await hub.answer(reply, ask=lambda asked: Decision(asked.arguments == {"key": "a"}))
        assert allowed[1] == {"role": "tool", "tool_call_id": "c1", "content": "counted a"}
    async with connect([chaos()]) as hub:
        free = await hub.answer(reply)
        assert free == allowed
        assert (await hub.answer(reply, approval=Approval("always")))[1] == refused[1]
    assert len(events("count")) == 2


async def test_what_came_as_a_stream_is_answered_too_and_a_long_result_is_cut(chaos: Chaos) -> None:
    chunk = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {
        "name": "mcp__bad__large", "arguments": '{"number": 9000}'}}]}}]}  # fmt: skip
    async with connect([chaos()]) as hub:
        added = await hub.answer(read_stream("groq", [chunk]), result_tokens=100)
    assert [each["role"] for each in added] == ["assistant", "tool"]
    assert len(added[1]["content"]) < 1_000


async def test_the_tools_that_were_handed_out_are_those_that_calls_are_read_with(chaos: Chaos) -> None:
    """A vendor's response looks like OpenAI's; what it was given may not."""
    async with connect([chaos()]) as hub:
        hub.tools_for("anthropic")
        hub.tools_for("openai-chat", strict=True)
        hub.tools_for("groq")
        reply = {"choices": [{"message": {"role": "assistant", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": ECHO, "arguments": '{"text": "x"}'}}]}}]}  # fmt: skip
        assert (await hub.answer(reply))[1]["content"] == "x"
        assert hub.tools_for("openai-chat") == prepare(hub.tools, "openai-chat").definitions
        with pytest.raises(HistoryError, match="no response of a model: dict; name its provider"):
            await hub.answer({"hello": "world"})


def test_a_hub_without_tools_hands_out_an_empty_list() -> None:
    with connect_sync({}) as hub:
        assert hub.tools_for("gemini") == []


def test_the_sync_hub_has_the_doors_of_the_hub() -> None:
    doors = {name for name in vars(Hub) if not name.startswith("_")}
    assert doors - set(vars(SyncHub)) == {"client"}
