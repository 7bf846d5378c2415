"""Models behind HTTP: every wire format end to end, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import anthropic
import pytest

from tests.model.asking import HELLO, KEY, ask, question, refused
from tests.model.faulty_server import GOOD, Answer, FaultyServer
from tests.stream.folding import told
from tests.support.processes import eventually
from tests.support.wire.recordings import told as expectation
from tests.support.wire.scenario import ALL_KINDS, TEXT, TWO_CALLS, Scenario
from tests.support.wire_servers import ENDPOINTS, WireServer
from toolbridge.model.find import get_model
from toolbridge.model.http import HttpModel, tls_context
from toolbridge.model.vendors import VENDORS
from toolbridge.providers import providers

CHAT = sorted(name for name, row in VENDORS.items() if row.wire == "chat" and name not in ("mistral", "azure", "dial"))
AT = {**dict.fromkeys(CHAT, ""), "mistral": "/mistral", "azure": "/v1", "dial": "/v1", "anthropic": "", "gemini": "",
      "openai-responses": "", "gemini-openapi": "", "bedrock": ""}  # fmt: skip
SENT_AS = {
    "anthropic": ("x-api-key", KEY), "gemini": ("x-goog-api-key", KEY), "gemini-openapi": ("x-goog-api-key", KEY),
    "azure": ("api-key", KEY), "dial": ("api-key", KEY),
}  # fmt: skip


def model_at(server: WireServer | FaultyServer, provider: str = "openai-chat", **options: Any) -> HttpModel:
    model = get_model("m", provider=provider, base_url=server.url + AT[provider], api_key=KEY, **options)
    assert isinstance(model, HttpModel)
    return model


@pytest.mark.parametrize("every", [None, 7], ids=["at once", "in sevens"])
@pytest.mark.parametrize("scenario", [TWO_CALLS, ALL_KINDS, TEXT], ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("wire", sorted(ENDPOINTS))
async def test_a_reply_arrives_as_it_was_said(
    server: WireServer, wire: str, scenario: Scenario, every: int | None
) -> None:
    server.says(scenario, every=every)
    reply = await ask(model_at(server, wire), question(wire))
    expected = expectation(wire, scenario)
    assert told(reply, expected) == {key: value for key, value in expected.items() if key not in ("offered", "names")}
    assert server.requests[0].streamed
    assert server.requests[0].provider == wire


@pytest.mark.parametrize("provider", sorted(VENDORS))
async def test_every_provider_is_asked_in_its_own_way(server: WireServer, provider: str) -> None:
    server.says(TWO_CALLS)
    fields = question(provider)
    reply = await ask(model_at(server, provider), fields)
    assert [call.name for call in reply.calls] == ["get_weather", "get_time"] or provider == "json-schema"
    (request,) = server.requests
    row = VENDORS[provider]
    header, value = SENT_AS.get(provider, ("authorization", f"Bearer {KEY}"))
    headers = {name.lower(): each for name, each in request.headers.items()}
    assert headers[header] == value
    assert headers["content-type"] == "application/json"
    named = {"model": "m", "stream": True} if row.streams_by_field else {}
    more = {"include": ["reasoning.encrypted_content"]} if provider == "openai-responses" else {}
    assert request.body == {**row.fields, **row.wishes, **more, **fields, **named}


def test_every_provider_has_a_row() -> None:
    assert set(VENDORS) == set(providers())


async def test_the_version_of_anthropics_api_is_the_one_that_its_sdk_tells(server: WireServer) -> None:
    server.says(TEXT)
    await ask(model_at(server, "anthropic"))
    sent = {name.lower(): value for name, value in server.requests[0].headers.items()}
    with anthropic.Anthropic(api_key=KEY) as client:
        assert sent["anthropic-version"] == client.default_headers["anthropic-version"]


async def test_options_are_fields_of_every_request_and_what_is_asked_counts_more(server: WireServer) -> None:
    server.says(TEXT)
    model = model_at(server, "anthropic", options={"temperature": 0, "max_tokens": 7, "model": "other"})
    await ask(model, {**HELLO, "temperature": 1, "stream": False})
    assert server.requests[0].body == {**HELLO, "model": "m", "stream": True, "temperature": 1, "max_tokens": 7}


async def test_a_connection_is_kept_between_turns(faulty: FaultyServer) -> None:
    model = model_at(faulty)
    for _ in range(3):
        assert (await ask(model)).text == "Hello"
    assert (faulty.connections, len(faulty.asked)) == (1, 3)


async def test_a_closed_model_can_be_used_again(faulty: FaultyServer) -> None:
    model = model_at(faulty)
    await model.close()
    await ask(model)
    await model.close()
    assert (await ask(model)).text == "Hello"
    assert faulty.connections == 2


def test_a_model_is_used_from_one_event_loop_after_the_other(faulty: FaultyServer) -> None:
    model = model_at(faulty)
    for _ in range(3):
        assert asyncio.run(ask(model)).text == "Hello"
    assert faulty.connections == 3


async def test_two_event_loops_at_once_have_connections_of_their_own(faulty: FaultyServer) -> None:
    model = model_at(faulty)
    assert (await ask(model)).text == "Hello"

    async def elsewhere() -> str:
        reply = await ask(model)
        await model.close()
        return reply.text

    assert await asyncio.to_thread(asyncio.run, elsewhere()) == "Hello"
    assert (await ask(model)).text == "Hello"
    await model.close()


def test_a_loop_that_was_closed_without_notice_does_no_harm(faulty: FaultyServer) -> None:
    model = model_at(faulty)
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(ask(model)).text == "Hello"
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    assert asyncio.run(ask(model)).text == "Hello"


async def test_bodies_of_any_size_are_sent(faulty: FaultyServer) -> None:
    long = {"messages": [{"role": "user", "content": "Grüße \ud83c " + "x" * 900_000}]}
    assert (await ask(model_at(faulty), long)).text == "Hello"
    assert faulty.asked[0].body["messages"] == long["messages"]


async def test_a_server_that_does_not_stream_is_read_all_the_same(faulty: FaultyServer) -> None:
    whole = {"choices": [{"message": {"role": "assistant", "content": "Whole"}, "finish_reason": "stop"}]}
    faulty.says(Answer(body=json.dumps(whole).encode(), media="application/json"))
    reply = await ask(model_at(faulty))
    assert (reply.text, reply.finish) == ("Whole", "stop")


@pytest.mark.parametrize("way", ["cancel", "close"])
async def test_who_stops_listening_ends_the_request(faulty: FaultyServer, way: str) -> None:
    faulty.says(Answer(then="hang"))
    stream = model_at(faulty).stream(HELLO)
    assert await anext(stream) == GOOD
    if way == "close":
        await stream.aclose()
    else:
        task = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await eventually(faulty.left.is_set, what="the server sees that the client is gone")


async def test_a_request_that_was_not_answered_yet_can_be_cancelled(faulty: FaultyServer) -> None:
    faulty.says(Answer(silent=True))
    task = asyncio.create_task(ask(model_at(faulty)))
    await eventually(faulty.given.is_set)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(faulty.left.is_set, what="the server sees that the client is gone")


async def test_a_proxy_of_the_environment_is_used(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", faulty.url)
    model = get_model("m", base_url="http://models.example/v1", api_key=KEY)
    assert (await ask(model)).text == "Hello"
    assert faulty.asked[0].target == "http://models.example/v1/chat/completions"


@pytest.mark.parametrize(("proxy", "kind"), [("socks5://h:1", "not_installed"), ("gopher://h:1", "unreachable")])
async def test_a_proxy_that_cannot_be_used_is_said(proxy: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)  # as where it is not installed
    monkeypatch.setenv("ALL_PROXY", proxy)
    failed = await refused(get_model("m", base_url="http://models.example/v1", api_key=KEY))
    assert (failed.kind, str(failed).startswith("the proxy of the environment cannot be used: ")) == (kind, True)


def test_certificates_are_read_once() -> None:
    assert tls_context() is tls_context()


async def test_two_questions_at_once_do_not_mix(server: WireServer) -> None:
    server.says(TWO_CALLS, every=11)
    model = model_at(server)
    replies = await asyncio.gather(*(ask(model) for _ in range(8)))
    assert {tuple(call.name for call in reply.calls) for reply in replies} == {("get_weather", "get_time")}
