"""Gemini's generateContent: parts, whole or a few at a time; the stream as events or as one JSON list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.wire.scenario import Ask, Said, Say, Scenario, Think, fragments
from tests.support.wire.sse import dumps, sse

REASON = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS"}
USAGE = {"promptTokenCount": 31, "candidatesTokenCount": 12, "thoughtsTokenCount": 5, "totalTokenCount": 48}


def call_id(ask: Ask) -> str:
    return ask.id


def _call(ask: Ask) -> dict[str, Any]:
    call: dict[str, Any] = {"id": call_id(ask), "name": ask.name}
    if ask.arguments:  # left out where there are none
        call["args"] = ask.arguments
    return call


def _said(parts: tuple[Said, ...], split: bool) -> Iterator[dict[str, Any]]:
    """The parts; the signature of a thought stands on the first part that follows it, and a cut call is not sent."""
    signature: str | None = None
    for part in parts:
        match part:
            case Think(text, signature):
                for piece in fragments(text) if split else (text,):
                    yield {"text": piece, "thought": True}
            case Say(text):
                for piece in fragments(text) if split else (text,):
                    yield {"text": piece}
            case Ask():
                if part.cut is None:
                    yield {"functionCall": _call(part)} | ({"thoughtSignature": signature} if signature else {})
                    signature = None


def chunk(parts: list[Any], finish: str | None = None, usage: Any = USAGE, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}}
    if finish:
        candidate["finishReason"] = finish
    candidate["index"] = 0
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-3-flash",
        "responseId": "kZ0Yaa",
        **more,
    }


def whole(scenario: Scenario) -> dict[str, Any]:
    return chunk(list(_said(scenario.parts, split=False)), REASON[scenario.finish])


def events(scenario: Scenario) -> list[dict[str, Any]]:
    made = [chunk([part], usage={"promptTokenCount": 31}) for part in _said(scenario.parts, split=True)]
    if scenario.error:
        return [*made, {"error": {"code": 503, "message": scenario.error, "status": "UNAVAILABLE"}}]
    return [*made, chunk([{"text": ""}], REASON[scenario.finish])]


def stream(scenario: Scenario) -> bytes:
    """Google ends its lines with carriage return and line feed."""
    return sse(events(scenario), newline="\r\n")


def array(made: list[Any]) -> bytes:
    """The stream without `alt=sse`: one JSON list, an element at a time."""
    return ("[" + "\n,\r\n".join(dumps(event) for event in made) + "\n]\n").encode()


def array_stream(scenario: Scenario) -> bytes:
    return array(events(scenario))
