"""Streams through the vendors' own SDKs: wire events in, the objects that a caller of the SDK gets out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import anthropic
import httpx2
import openai

from toolbridge.stream.assemble import Assembler
from toolbridge.stream.events import Reply
from toolbridge.stream.plain import plain
from toolbridge.wire.talk import Talk

Event = Mapping[str, Any]


def _transport(events: Iterable[Event]) -> httpx2.MockTransport:
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    headers = {"content-type": "text/event-stream"}
    return httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content="".join(lines).encode()))


def openai_objects(events: Iterable[Event]) -> list[Any]:
    """What `responses.create(stream=True)` yields."""
    http = httpx2.Client(transport=_transport(events))
    with openai.OpenAI(api_key="key", http_client=http) as client:
        return list(client.responses.create(model="gpt-5", input="…", stream=True))


def anthropic_objects(events: Iterable[Event]) -> list[Any]:
    """What `messages.create(stream=True)` yields."""
    http = httpx2.Client(transport=_transport(events))
    with anthropic.Anthropic(api_key="key", http_client=http) as client:
        return list(client.messages.create(model="claude-sonnet-5", max_tokens=9, messages=[], stream=True))


def anthropic_helper_objects(events: Iterable[Event]) -> list[Any]:
    """What `messages.stream()` yields: more events than there are on the wire."""
    http = httpx2.Client(transport=_transport(events))
    with (
        anthropic.Anthropic(api_key="key", http_client=http) as client,
        client.messages.stream(model="claude-sonnet-5", max_tokens=9, messages=[]) as stream,
    ):
        return list(stream)


def folded(talk: Talk, events: Iterable[Any], origin: str, broken_off: bool = False) -> Reply:
    """The reply that a stream comes to, whether of wire events or of an SDK's objects."""
    assembler = Assembler(origin)
    for event in events:
        for each in talk.read_event(plain(event)):
            assembler.feed(each)
    return assembler.reply(broken_off)


def folded_reply(talk: Talk, reply: Any, origin: str) -> Reply:
    assembler = Assembler(origin)
    for event in talk.read_reply(plain(reply)):
        assembler.feed(event)
    return assembler.reply()
