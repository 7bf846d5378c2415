"""Bedrock's Converse: blocks, the events of a stream as boto3 hands them out, and their frames on the wire."""

from __future__ import annotations

import json
import struct
from typing import Any
from zlib import crc32

from tests.support.wire.scenario import Ask, Said, Say, Scenario, Think, fragments
from tests.support.wire.sse import dumps

STOP = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens"}
USAGE = {"inputTokens": 31, "outputTokens": 17, "totalTokens": 48}
METRICS = {"latencyMs": 812}


def call_id(ask: Ask) -> str:
    return f"tooluse_{ask.id}"


def block(part: Said) -> dict[str, Any]:
    match part:
        case Say(text):
            return {"text": text}
        case Think(text, signature):
            return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}
        case Ask():
            return {"toolUse": {"toolUseId": call_id(part), "name": part.name, "input": part.arguments}}


def whole(scenario: Scenario) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [block(part) for part in scenario.parts]}},
        "stopReason": STOP[scenario.finish],
        "usage": USAGE,
        "metrics": METRICS,
    }


def events(scenario: Scenario) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{"messageStart": {"role": "assistant"}}]
    for number, part in enumerate(scenario.parts):
        match part:
            case Say(text):  # text has no event that opens it
                deltas: list[Any] = [{"text": piece} for piece in fragments(text)]
            case Think(text, signature):
                deltas = [{"reasoningContent": {"text": piece}} for piece in fragments(text)]
                deltas.append({"reasoningContent": {"signature": signature}})
            case Ask():
                opened = {"toolUse": {"toolUseId": call_id(part), "name": part.name}}
                made.append({"contentBlockStart": {"start": opened, "contentBlockIndex": number}})
                pieces = fragments(part.text) if part.arguments else [""]
                deltas = [{"toolUse": {"input": piece}} for piece in pieces]
        made += [{"contentBlockDelta": {"delta": each, "contentBlockIndex": number}} for each in deltas]
        if not scenario.error:
            made.append({"contentBlockStop": {"contentBlockIndex": number}})
    if scenario.error:
        return [*made, {"modelStreamErrorException": {"message": scenario.error}}]
    return [
        *made,
        {"messageStop": {"stopReason": STOP[scenario.finish]}},
        {"metadata": {"usage": USAGE, "metrics": METRICS}},
    ]


def lines(made: list[Any]) -> bytes:
    """The events as boto3 hands them out, one a line."""
    return "".join(dumps(event) + "\n" for event in made).encode()


def stream(scenario: Scenario) -> bytes:
    """The events as they stand on the wire."""
    return b"".join(frame(event) for event in events(scenario))


def frame(event: dict[str, Any]) -> bytes:
    """One event in AWS's binary form: two lengths and their checksum, headers, payload, the checksum of it all."""
    ((kind, payload),) = event.items()
    failed = kind.endswith("Exception")
    headers = {
        ":exception-type" if failed else ":event-type": kind,
        ":content-type": "application/json",
        ":message-type": "exception" if failed else "event",
    }
    head = b"".join(_header(name, value) for name, value in headers.items())
    body = json.dumps(payload).encode()
    prelude = struct.pack("!II", 12 + len(head) + len(body) + 4, len(head))
    message = prelude + struct.pack("!I", crc32(prelude)) + head + body
    return message + struct.pack("!I", crc32(message))


def _header(name: str, value: str) -> bytes:
    text_type = 7
    return bytes([len(name)]) + name.encode() + bytes([text_type]) + struct.pack("!H", len(value)) + value.encode()
