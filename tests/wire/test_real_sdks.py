"""The vendors' own SDKs against the wire server: they read what it sends, we read the same from them as from the bytes,
and they send what we wrote, as we wrote it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import zip_longest
from typing import Any

import pytest

from tests.stream.folding import folded, told, wanted
from tests.support.histories import HISTORIES
from tests.support.wire import converse
from tests.support.wire.clients import CLIENTS, HELLO
from tests.support.wire.recordings import told as expectation
from tests.support.wire.scenario import ALL_KINDS, CUT_CALL, ERROR, SCENARIOS, TEXT, TWO_CALLS, Scenario
from tests.support.wire_servers import WireServer
from toolbridge import get_provider

every_client = pytest.mark.parametrize("provider", CLIENTS)
every_scenario = pytest.mark.parametrize(
    "scenario", [each for each in SCENARIOS if each is not ERROR], ids=lambda each: each.name
)


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with WireServer() as started:
        yield started


def sent(server: WireServer, provider: str, scenario: Scenario) -> bytes:
    """What went over the wire; of Bedrock, whose frames boto3 alone can read, the events in them."""
    return converse.lines(converse.events(scenario)) if provider == "bedrock" else server.sent[-1]


@every_client
@every_scenario
def test_objects_of_an_sdk_fold_to_the_same_as_the_bytes(server: WireServer, provider: str, scenario: Scenario) -> None:
    server.says(scenario, every=17)
    objects = list(CLIENTS[provider].stream(server.url, HELLO[provider]))
    reply = folded(provider, objects)
    assert reply == folded(provider, [sent(server, provider, scenario)])
    assert told(reply, (wish := expectation(provider, scenario))) == wanted(wish)


@every_client
@every_scenario
def test_a_whole_reply_of_an_sdk_reads_as_its_json(server: WireServer, provider: str, scenario: Scenario) -> None:
    if scenario is CUT_CALL and provider in ("anthropic", "bedrock", "gemini"):
        pytest.skip("an object cannot be cut")
    server.says(scenario)
    object = CLIENTS[provider].whole(server.url, HELLO[provider])
    reply = get_provider(provider).read_reply(object)
    assert reply == get_provider(provider).read_reply(json.loads(server.sent[-1]))
    assert told(reply, (wish := expectation(provider, scenario))) == wanted(wish)


@every_client
def test_what_came_before_an_error_is_kept(server: WireServer, provider: str) -> None:
    server.says(ERROR)
    objects: list[Any] = []
    message = None if provider == "mistral" else ERROR.error  # Mistral's SDK does not know errors in a stream
    with nullcontext() if provider == "openai-responses" else pytest.raises(Exception, match=message):
        objects.extend(CLIENTS[provider].stream(server.url, HELLO[provider]))
    assert folded(provider, objects).text == ERROR.text
    assert told(folded(provider, [sent(server, provider, ERROR)]), (wish := expectation(provider, ERROR))) == wanted(
        wish
    )


def test_the_accumulators_of_the_sdks_come_to_the_same_calls(server: WireServer) -> None:
    import anthropic
    import openai

    for scenario in (TEXT, TWO_CALLS, ALL_KINDS):
        server.says(scenario, every=23)
        with openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=0) as client:
            with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "x"}]) as stream:
                chat = stream.get_final_completion()
            with client.responses.stream(model="m", input="x") as stream:
                response = stream.get_final_response()
        with (
            anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0) as client,
            client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as stream,
        ):
            message = stream.get_final_message()
        finals = {"openai-chat": chat, "openai-responses": response, "anthropic": message}
        for provider, final in finals.items():
            reply = get_provider(provider).read_reply(final)
            assert told(reply, (wish := expectation(provider, scenario))) == wanted(wish)


def test_gemini_streams_a_json_list_where_events_are_not_asked_for(server: WireServer) -> None:
    from urllib.request import Request, urlopen

    server.says(ALL_KINDS, every=9)
    address = f"{server.url}/v1beta/models/gemini-3-flash:streamGenerateContent"
    request = Request(address, json.dumps(HELLO["gemini"]).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        pieces = list(iter(lambda: answer.read(11), b""))
    assert json.loads(b"".join(pieces))
    assert told(folded("gemini", pieces), (wish := expectation("gemini", ALL_KINDS))) == wanted(wish)


def _on_the_wire(value: Any) -> Any:
    """Request fields as JSON has them: boto3 writes bytes as base64."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _on_the_wire(each) for key, each in value.items()}
    return [_on_the_wire(each) for each in value] if isinstance(value, list) else value


def _as_written(body: Any, fields: Any) -> Any:
    """What was sent, without the SDKs' own habits: Mistral's adds its defaults (`prefix`, `index`); google-genai's has
    another spelling of some keys, and the other alphabet of base64, which the API takes too."""
    if isinstance(body, list) and isinstance(fields, list):
        return [_as_written(each, own) for each, own in zip_longest(body, fields)]
    if not isinstance(body, dict) or not isinstance(fields, dict):
        return body
    spelt = {"mime_type": "mimeType", "inline_data": "inlineData"}
    body = {spelt[key] if spelt.get(key) in fields else key: each for key, each in body.items()}
    for key in ("data", "thoughtSignature"):
        if key in fields and isinstance(body.get(key), str):
            body[key] = body[key].replace("-", "+").replace("_", "/")
    return {key: _as_written(body[key], fields.get(key)) for key in body if key in fields or body[key]}


@every_client
@pytest.mark.parametrize("name", [each for each in HISTORIES if each not in ("nothing", "many calls")])
def test_an_sdk_sends_what_was_written(server: WireServer, provider: str, name: str) -> None:
    server.says(TEXT)
    fields = get_provider(provider).write_messages(HISTORIES[name]).value
    CLIENTS[provider].whole(server.url, fields)
    body = server.requests[-1].body
    written = _on_the_wire(fields)
    assert _as_written({key: body.get(key) for key in fields}, written) == written
