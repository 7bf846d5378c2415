"""Anthropic's Messages."""

from __future__ import annotations

from typing import Any

from tests.support.wire.scenario import Ask, Said, Say, Scenario, Think, fragments
from tests.support.wire.sse import named

STOP = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens"}


def call_id(ask: Ask) -> str:
    return f"toolu_{ask.id}"


def block(part: Said) -> dict[str, Any]:
    match part:
        case Say(text):
            return {"type": "text", "text": text}
        case Think(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case Ask():
            return {"type": "tool_use", "id": call_id(part), "name": part.name, "input": part.arguments}


def message(content: list[Any], stop: str | None, output: int) -> dict[str, Any]:
    return {
        "id": "msg_01Xa",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 31, "cache_read_input_tokens": 8, "output_tokens": output},
    }


def whole(scenario: Scenario) -> dict[str, Any]:
    return message([block(part) for part in scenario.parts], STOP[scenario.finish], 17)


def delta(number: int, kind: str, field: str, value: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": number, "delta": {"type": kind, field: value}}


def events(scenario: Scenario) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{"type": "message_start", "message": message([], None, 1)}]
    for number, part in enumerate(scenario.parts):
        match part:
            case Say(text):
                opened: dict[str, Any] = {"type": "text", "text": ""}
                deltas = [delta(number, "text_delta", "text", piece) for piece in fragments(text)]
            case Think(text, signature):
                opened = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [delta(number, "thinking_delta", "thinking", piece) for piece in fragments(text)]
                deltas.append(delta(number, "signature_delta", "signature", signature))
            case Ask():
                opened = {**block(part), "input": {}}
                pieces = ["", *fragments(part.text)] if part.arguments else [""]
                deltas = [delta(number, "input_json_delta", "partial_json", piece) for piece in pieces]
        made.append({"type": "content_block_start", "index": number, "content_block": opened})
        if number == 0:
            made.append({"type": "ping"})
        made += deltas
        if not scenario.error:
            made.append({"type": "content_block_stop", "index": number})
    if scenario.error:
        return [*made, {"type": "error", "error": {"type": "overloaded_error", "message": scenario.error}}]
    ending = {"stop_reason": STOP[scenario.finish], "stop_sequence": None}
    return [
        *made,
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 17}},
        {"type": "message_stop"},
    ]


def stream(scenario: Scenario) -> bytes:
    return named(events(scenario))
