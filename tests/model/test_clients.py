"""Clients of the vendors' own SDKs, handed in: they ask the same servers and come to the same replies."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from mistralai.client import Mistral

from tests.model.asking import HELLO, KEY, ask, question, refused
from tests.model.faulty_server import Answer, FaultyServer, error
from tests.stream.folding import told
from tests.support.processes import eventually
from tests.support.wire.clients import _bedrock
from tests.support.wire.recordings import told as expectation
from tests.support.wire.scenario import ALL_KINDS, ERROR, TWO_CALLS
from tests.support.wire_servers import WireServer
from toolbridge import ModelError
from toolbridge.model.clients import ClientModel
from toolbridge.model.find import get_model

Make = Callable[[str], Any]


def _genai(url: str) -> Any:
    options = genai.types.HttpOptions(base_url=url, timeout=10_000)
    return genai.Client(api_key=KEY, http_options=options)


SET: dict[str, Any] = {"api_key": KEY, "max_retries": 0, "timeout": 10}
CLIENTS: dict[str, tuple[str, Make]] = {
    "openai": ("openai-chat", lambda url: openai.OpenAI(base_url=f"{url}/v1", **SET)),
    "openai async": ("openai-chat", lambda url: openai.AsyncOpenAI(base_url=f"{url}/v1", **SET)),
    "responses": ("openai-responses", lambda url: openai.OpenAI(base_url=f"{url}/v1", **SET)),
    "responses async": ("openai-responses", lambda url: openai.AsyncOpenAI(base_url=f"{url}/v1", **SET)),
    "anthropic": ("anthropic", lambda url: anthropic.Anthropic(base_url=url, **SET)),
    "anthropic async": ("anthropic", lambda url: anthropic.AsyncAnthropic(base_url=url, **SET)),
    "gemini": ("gemini", _genai),
    "mistral": ("mistral", lambda url: Mistral(api_key=KEY, server_url=f"{url}/mistral", timeout_ms=10_000)),
}
EVERY = sorted(CLIENTS)
BLOCKING = ["anthropic", "openai", "responses"]


async def _closed(client: Any) -> None:
    """As its owner would."""
    if isinstance(client, openai.AsyncOpenAI | anthropic.AsyncAnthropic | anthropic.AsyncAnthropicBedrockMantle):
        await client.close()
    elif isinstance(client, openai.OpenAI | anthropic.Anthropic | anthropic.AnthropicBedrockMantle):
        client.close()
    elif isinstance(client, genai.Client):
        await client.aio.aclose()
        client.close()
    else:
        await client.__aexit__(None, None, None)
        client.__exit__(None, None, None)


class Owner:
    """Makes clients, and closes them in the loop of the test."""

    def __init__(self) -> None:
        self.clients: list[Any] = []

    def model(self, kind: str, url: str, **options: Any) -> ClientModel:
        provider, make = CLIENTS[kind]
        client = make(url)
        self.clients.append(client)
        model = get_model("m", client=client, provider=provider, **options)
        assert isinstance(model, ClientModel)
        return model

    async def __aenter__(self) -> Owner:
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self.clients:
            await _closed(client)


@pytest.mark.parametrize("kind", EVERY)
async def test_a_handed_in_client_asks_and_hears_what_is_asked_and_heard_without(server: WireServer, kind: str) -> None:
    server.says(ALL_KINDS, every=9)
    provider = CLIENTS[kind][0]
    fields = question(provider)
    path = "/mistral" if provider == "mistral" else ""
    plain = get_model("m", provider=provider, base_url=server.url + path, api_key=KEY)
    async with Owner() as owner:
        replies = [await ask(model, fields) for model in (plain, owner.model(kind, server.url))]
    await plain.close()
    expected = expectation(provider, ALL_KINDS)
    for reply in replies:
        assert told(reply, expected) == {name: expected[name] for name in expected if name not in ("offered", "names")}
    assert [(request.provider, request.streamed) for request in server.requests] == [(provider, True)] * 2
    first, second = (request.body for request in server.requests)
    if provider == "gemini":  # the SDK spells a field its own way, which Google takes too
        second["systemInstruction"].pop("role", None)
        assert second.pop("generationConfig") == {}
        second = json.loads(json.dumps(second).replace("parameters_json_schema", "parametersJsonSchema"))
    assert second == first


async def test_bedrocks_client_is_taken(server: WireServer) -> None:
    server.says(TWO_CALLS)
    with ExitStack() as stack:
        client = stack.enter_context(_bedrock(server.url))
        model = get_model("m", client=client)
        reply = await ask(model, question("bedrock"))
    assert [call.name for call in reply.calls] == ["get_weather", "get_time"]


@pytest.mark.parametrize(
    ("provider", "make", "part"),
    [
        ("anthropic", lambda url: anthropic.AnthropicBedrockMantle(base_url=url, skip_auth=True, **SET), None),
        ("anthropic", lambda url: anthropic.AsyncAnthropicBedrockMantle(base_url=url, skip_auth=True, **SET), None),
        ("gemini", _genai, "aio"),
    ],
    ids=["mantle", "mantle async", "the async half of gemini's"],
)
async def test_clients_of_other_doors_to_the_same_models_are_taken(
    server: WireServer, provider: str, make: Make, part: str | None
) -> None:
    server.says(TWO_CALLS)
    async with Owner() as owner:
        client = make(server.url)
        owner.clients.append(client)
        model = get_model("m", client=getattr(client, part) if part else client)
        reply = await ask(model, question(provider))
    assert (model.provider.name, [call.name for call in reply.calls]) == (provider, ["get_weather", "get_time"])


@pytest.mark.parametrize("kind", [each for each in EVERY if each != "mistral"])
async def test_a_field_that_the_sdk_does_not_know_is_sent_all_the_same(server: WireServer, kind: str) -> None:
    server.says(TWO_CALLS)
    async with Owner() as owner:
        await ask(owner.model(kind, server.url, options={"odd_one": {"a": 1}}), question(CLIENTS[kind][0]))
    assert server.requests[0].body["odd_one"] == {"a": 1}


async def test_mistrals_client_says_which_field_it_does_not_know(server: WireServer) -> None:
    async with Owner() as owner:
        failed = await refused(owner.model("mistral", server.url, options={"odd_one": 1}), question("mistral"))
    assert (failed.kind, str(failed)) == ("refused", "mistralai's client has no field 'odd_one' in a request")


async def test_what_gemini_has_in_its_configuration_gets_there(server: WireServer) -> None:
    server.says(TWO_CALLS)
    options = {
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 9},
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    }
    async with Owner() as owner:
        await ask(owner.model("gemini", server.url, options=options), question("gemini"))
    body = server.requests[0].body
    assert {name: body[name] for name in options} == options


REFUSALS: list[tuple[int, str, str]] = [
    (400, "Invalid schema for function 'x'", "refused"),
    (401, "no such key", "wrong_key"),
    (404, "The model `m` does not exist", "unknown_model"),
    (429, "slow down", "rate_limited"),
    (503, "busy", "overloaded"),
    (400, "maximum context length is 10 tokens", "too_long"),
]


@pytest.mark.parametrize("client", EVERY)
async def test_errors_of_every_sdk_say_the_same(faulty: FaultyServer, client: str) -> None:
    async with Owner() as owner:
        model = owner.model(client, faulty.url)
        for status, message, kind in REFUSALS:
            faulty.says(error(status, f"{message} {KEY}"))
            failed = await refused(model, question(CLIENTS[client][0]))
            assert (failed.kind, failed.status, failed.said) == (kind, status, f"{message} ***")


@pytest.mark.parametrize("client", EVERY)
async def test_a_server_that_is_not_there_is_unreachable_to_every_sdk(client: str) -> None:
    async with Owner() as owner:
        failed = await refused(owner.model(client, "http://127.0.0.1:9"), question(CLIENTS[client][0]))
    assert failed.kind == "unreachable"


@pytest.mark.parametrize("client", ["anthropic", "openai", "openai async"])
async def test_html_is_told_by_way_of_a_client_too(faulty: FaultyServer, client: str) -> None:
    faulty.says(Answer(404, b"<html>not here</html>", media="text/html"))
    async with Owner() as owner:
        failed = await refused(owner.model(client, faulty.url), question(CLIENTS[client][0]))
    assert failed.kind == "not_a_model"
    assert "it sent HTML" in str(failed)


@pytest.mark.parametrize("client", ["anthropic", "openai", "openai async"])
async def test_an_error_in_the_middle_is_a_model_error(server: WireServer, client: str) -> None:
    server.says(ERROR)
    provider = CLIENTS[client][0]
    async with Owner() as owner:
        failed = await refused(owner.model(client, server.url), question(provider))
    assert failed.kind == "overloaded"
    assert failed.said == "The engine is overloaded."


@pytest.mark.parametrize("client", ["openai", "openai async"])
async def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on(
    faulty: FaultyServer, client: str
) -> None:
    faulty.says(error(400, "Unknown parameter: 'stream_options'"), Answer())
    async with Owner() as owner:
        model = owner.model(client, faulty.url)
        for _ in range(2):
            assert (await ask(model)).text == "Hello"
    assert ["stream_options" in each.body for each in faulty.asked] == [True, False, False]


BEGUN = {
    "openai-chat": b'data: {"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}\n\n',
    "anthropic": b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
}


@pytest.mark.parametrize("client", ["openai", "openai async", "anthropic", "anthropic async"])
@pytest.mark.parametrize("way", ["cancel", "close"])
async def test_who_stops_listening_ends_the_request(faulty: FaultyServer, client: str, way: str) -> None:
    faulty.says(Answer(body=BEGUN[CLIENTS[client][0]], then="hang"))
    async with Owner() as owner:
        stream = owner.model(client, faulty.url).stream(question(CLIENTS[client][0]))
        await anext(stream)
        if way == "close":
            await stream.aclose()
        else:
            task = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await eventually(faulty.left.is_set, what="the server sees that the client is gone")
    await eventually(lambda: not _pumps(), what="the thread ends")


def _pumps() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "toolbridge-client"]


async def test_a_blocking_client_that_waits_holds_nobody_up(faulty: FaultyServer) -> None:
    faulty.says(Answer(silent=True))
    async with Owner() as owner:
        task = asyncio.create_task(ask(owner.model("openai", faulty.url)))
        await eventually(faulty.given.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        faulty.stop_waiting()
        await eventually(lambda: not _pumps(), what="the thread ends with its request")


@pytest.mark.parametrize("kind", ["openai async", "anthropic async", "gemini", "mistral", "openai"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_client_is_used_from_one_event_loop_after_the_other(server: WireServer, kind: str) -> None:
    """Connections that an async client keeps are lost with their loop; that is the SDK's own, and here made good."""
    server.says(TWO_CALLS)
    provider, make = CLIENTS[kind]
    model = get_model("m", client=make(server.url), provider=provider)
    for _ in range(3):
        assert len(asyncio.run(ask(model, question(provider))).calls) == 2
    del model
    gc.collect()  # what the SDK left open is told here, and not to another test


def test_a_client_of_a_class_of_ones_own_is_known_by_what_it_inherits() -> None:
    class Ours(openai.OpenAI):
        pass

    with Ours(**SET) as client:
        model = get_model("gpt-4o", client=client)
        assert (model.provider.name, model.name, model.context_tokens) == ("openai-chat", "gpt-4o", 128_000)
        assert repr(model) == "ClientModel('openai-chat', 'gpt-4o', Ours)"
        assert get_model("openai/gpt-4o", client=client).name == "gpt-4o"
        assert get_model("m", client=client, provider="vllm").provider.name == "vllm"
    azure = openai.AzureOpenAI(azure_endpoint="https://own.openai.azure.com", api_version="2024-10-21", api_key=KEY)
    with azure:
        assert get_model("d", client=azure).provider.name == "azure"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": object()}, "a client of builtins.object is not known; known are anthropic.Anthropic, "),
        ({"client": "openai", "provider": "anthropic"}, "a OpenAI of openai does not speak to anthropic"),
        ({"client": "openai", "api_key": KEY}, "a client has its own base_url, api_key and timeout: "),
    ],
)
def test_a_client_that_cannot_be_used_is_said(options: dict[str, Any], message: str) -> None:
    with openai.OpenAI(**SET) as client:
        if options["client"] == "openai":
            options = {**options, "client": client}
        with pytest.raises(ModelError) as caught:
            get_model("m", **options)
        assert str(caught.value).startswith(message)


@pytest.fixture(autouse=True)
def no_pumps_left() -> Iterator[None]:
    yield
    assert _pumps() == []


async def test_a_handed_in_client_stays_its_owners(faulty: FaultyServer) -> None:
    async with Owner() as owner:
        model = owner.model("openai async", faulty.url)
        await model.close()
        assert (await ask(model, HELLO)).text == "Hello"
