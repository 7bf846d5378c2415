"""OpenAI's Responses: items, and the events that build them up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.wire.scenario import Ask, Said, Say, Scenario, Think, fragments
from tests.support.wire.sse import named

USAGE = {
    "input_tokens": 31,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens": 17,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 48,
}


def call_id(ask: Ask) -> str:
    return f"call_{ask.id}"


def response(output: list[Any], status: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_68a1",
        "object": "response",
        "created_at": 1763200000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5-mini",
        "output": output,
        **more,
    }


def item(part: Said, number: int, *, done: bool = True) -> dict[str, Any]:
    """An item of the output: as it is when it is finished, or when it is opened."""
    match part:
        case Say(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            status = "completed" if done else "in_progress"
            return {
                "id": f"msg_{number}",
                "type": "message",
                "status": status,
                "role": "assistant",
                "content": content if done else [],
            }
        case Think(text, signature):
            summary = [{"type": "summary_text", "text": text}] if done else []
            return {"id": f"rs_{number}", "type": "reasoning", "summary": summary, "encrypted_content": signature}
        case Ask():
            cut = part.cut is not None
            return {
                "id": f"fc_{number}",
                "type": "function_call",
                "status": ("incomplete" if cut else "completed") if done else "in_progress",
                "arguments": part.text if done else "",
                "call_id": call_id(part),
                "name": part.name,
            }


def _ending(scenario: Scenario) -> dict[str, Any]:
    output = [item(part, number) for number, part in enumerate(scenario.parts)]
    if scenario.error:
        return response(output, "failed", error={"code": "server_error", "message": scenario.error})
    if scenario.finish == "length":
        return response(output, "incomplete", incomplete_details={"reason": "max_output_tokens"}, usage=USAGE)
    return response(output, "completed", usage=USAGE)


def whole(scenario: Scenario) -> dict[str, Any]:
    return _ending(scenario)


def _of_part(part: Said, number: int) -> Iterator[dict[str, Any]]:
    opened, finished = item(part, number, done=False), item(part, number)
    place = {"item_id": opened["id"], "output_index": number}
    yield {"type": "response.output_item.added", "output_index": number, "item": opened}
    match part:
        case Say(text):
            at = {**place, "content_index": 0}
            empty = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.content_part.added", **at, "part": empty}
            for piece in fragments(text):
                yield {"type": "response.output_text.delta", **at, "delta": piece}
            yield {"type": "response.output_text.done", **at, "text": text}
            yield {"type": "response.content_part.done", **at, "part": finished["content"][0]}
        case Think(text):
            at = {**place, "summary_index": 0}
            yield {"type": "response.reasoning_summary_part.added", **at, "part": {"type": "summary_text", "text": ""}}
            for piece in fragments(text):
                yield {"type": "response.reasoning_summary_text.delta", **at, "delta": piece}
            yield {"type": "response.reasoning_summary_text.done", **at, "text": text}
            yield {"type": "response.reasoning_summary_part.done", **at, "part": finished["summary"][0]}
        case Ask():
            for piece in fragments(part.text):
                yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
            yield {"type": "response.function_call_arguments.done", **place, "arguments": part.text}
    yield {"type": "response.output_item.done", "output_index": number, "item": finished}


def events(scenario: Scenario) -> list[dict[str, Any]]:
    made = [
        {"type": "response.created", "response": response([], "in_progress")},
        {"type": "response.in_progress", "response": response([], "in_progress")},
    ]
    for number, part in enumerate(scenario.parts):
        made += _of_part(part, number)
    ending = _ending(scenario)
    made.append({"type": f"response.{ending['status']}", "response": ending})
    return numbered(made)


def numbered(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events with their sequence numbers."""
    return [{"type": event["type"], "sequence_number": number, **event} for number, event in enumerate(made)]


def stream(scenario: Scenario) -> bytes:
    return named(events(scenario))
