"""The same loop with the vendors' own clients in place of ours, against servers that speak their wire formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from tests.run.conftest import calls, collected, last, says
from tests.servers.conftest import Chaos, Events
from tests.support.wire_servers import WireServer
from toolbridge import Approval, Chat, connect, get_model

CLIENTS: dict[str, tuple[str, Callable[[str], Any], str | None]] = {
    "openai": ("gpt-5", lambda url: openai.OpenAI(base_url=f"{url}/v1", api_key="k"), None),
    "openai, async": ("gpt-5", lambda url: openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k"), None),
    "openai, responses": ("gpt-5", lambda url: openai.OpenAI(base_url=f"{url}/v1", api_key="k"), "openai-responses"),
    "anthropic": ("claude-sonnet-5", lambda url: anthropic.Anthropic(base_url=url, api_key="k"), None),
    "anthropic, async": ("claude-sonnet-5", lambda url: anthropic.AsyncAnthropic(base_url=url, api_key="k"), None),
    "gemini": (
        "gemini-3-flash",
        lambda url: genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url)),
        None,
    ),
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_the_loop_drives_a_client_of_the_vendors(
    client: str, wire: WireServer, chaos: Chaos, events: Events
) -> None:
    name, make, provider = CLIENTS[client]
    wire.says_in_turn(
        calls(("mcp__bad__count", {"key": "Zürich"}), ("mcp__bad__content", {"kind": "image"}), say="One moment."),
        says("Counted."),
        says("Once."),
    )
    made = make(wire.url)
    model = get_model(name, client=made, provider=provider)
    async with connect([chaos()]) as hub:
        chat = Chat(hub, model, approval=Approval("never"), system="Be brief.")
        assert last(await collected(chat.say("Count Zürich, please"))).text == "Counted."
        assert last(await collected(chat.say("How often?"))).text == "Once."
    assert [each["key"] for each in events("count")] == ["Zürich"]
    assert [each.streamed for each in wire.requests] == [True, True, True]
    await model.close()
    closing = made.aio.aclose() if client == "gemini" else made.close()
    if closing is not None:
        await closing
