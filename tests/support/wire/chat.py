"""Chat Completions, as OpenAI and the servers that imitate it send them; Mistral's variant of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.wire.scenario import Ask, Say, Scenario, Think, fragments
from tests.support.wire.sse import DONE, sse

FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length"}
USAGE = {"prompt_tokens": 31, "completion_tokens": 17, "total_tokens": 48}


def call_id(ask: Ask) -> str:
    return f"call_{ask.id}"


def chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk with OpenAI's envelope."""
    return {
        "id": "chatcmpl-Cb7",
        "object": "chat.completion.chunk",
        "created": 1763200000,
        "model": "gpt-5-mini",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def whole(scenario: Scenario, thoughts: str = "reasoning_content") -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": scenario.text or None}
    if scenario.thoughts:
        message[thoughts] = scenario.thoughts
    if scenario.calls:
        message["tool_calls"] = [
            {"id": call_id(ask), "type": "function", "function": {"name": ask.name, "arguments": ask.text}}
            for ask in scenario.calls
        ]
    return {
        "id": "chatcmpl-Cb7",
        "object": "chat.completion",
        "created": 1763200000,
        "model": "gpt-5-mini",
        "choices": [{"index": 0, "message": message, "finish_reason": FINISH[scenario.finish], "logprobs": None}],
        "usage": USAGE,
    }


def events(scenario: Scenario, thoughts: str = "reasoning_content") -> list[Any]:
    """The chunks of a well-behaved stream."""
    made: list[Any] = [chunk({"role": "assistant", "content": None, "refusal": None})]
    number = -1
    for part in scenario.parts:
        match part:
            case Say(text):
                made += [chunk({"content": piece}) for piece in fragments(text)]
            case Think(text):
                made += [chunk({thoughts: piece}) for piece in fragments(text)]
            case Ask():
                number += 1
                start: Mapping[str, Any] = {"name": part.name, "arguments": ""}
                opened = {"index": number, "id": call_id(part), "type": "function", "function": start}
                made.append(chunk({"tool_calls": [opened]}))
                made += [
                    chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
                    for piece in fragments(part.text)
                ]
    if scenario.error:
        return [
            *made,
            {"error": {"message": scenario.error, "type": "server_error", "param": None, "code": "overloaded"}},
        ]
    return [*made, chunk({}, FINISH[scenario.finish]), {**chunk({}), "choices": [], "usage": USAGE}, DONE]


def stream(scenario: Scenario, thoughts: str = "reasoning_content") -> bytes:
    return sse(events(scenario, thoughts))


def mistral_chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "cmpl-e5c2",
        "object": "chat.completion.chunk",
        "created": 1763200000,
        "model": "mistral-medium-latest",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _mistral_call(ask: Ask, number: int) -> dict[str, Any]:
    return {"id": ask.id, "function": {"name": ask.name, "arguments": ask.text}, "index": number}


def mistral_whole(scenario: Scenario) -> dict[str, Any]:
    content: Any = scenario.text
    if scenario.thoughts:
        content = [_thinking(scenario.thoughts)]
        content += [{"type": "text", "text": scenario.text}] if scenario.text else []
    calls = [{**_mistral_call(ask, number), "type": "function"} for number, ask in enumerate(scenario.calls)]
    message = {"role": "assistant", "tool_calls": calls or None, "content": content}
    return {
        "id": "cmpl-e5c2",
        "object": "chat.completion",
        "created": 1763200000,
        "model": "mistral-medium-latest",
        "choices": [{"index": 0, "message": message, "finish_reason": FINISH[scenario.finish]}],
        "usage": USAGE,
    }


def mistral_events(scenario: Scenario) -> list[Any]:
    """Mistral sends calls whole, all in one chunk, and thoughts as chunks of content."""
    made: list[Any] = [mistral_chunk({"role": "assistant", "content": ""})]
    for part in scenario.parts:
        match part:
            case Say(text):
                made += [mistral_chunk({"content": piece}) for piece in fragments(text)]
            case Think(text):
                made += [mistral_chunk({"content": [_thinking(piece)]}) for piece in fragments(text)]
            case Ask():
                pass
    if scenario.error:
        return [*made, {"object": "error", "message": scenario.error, "type": "internal_server_error", "code": "3000"}]
    calls = [_mistral_call(ask, number) for number, ask in enumerate(scenario.calls)]
    last: dict[str, Any] = {"content": ""}
    if calls:
        last["tool_calls"] = calls
    return [*made, mistral_chunk(last, FINISH[scenario.finish], usage=USAGE), DONE]


def mistral_stream(scenario: Scenario) -> bytes:
    return sse(mistral_events(scenario))
