"""The table of all recordings: every scenario in every provider's form, and the dialects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.wire import (
    block_dialects,
    chat,
    chat_dialects,
    converse,
    gemini,
    item_dialects,
    messages,
    part_dialects,
    responses,
    vendor_dialects,
)
from tests.support.wire.recording import Recording, call, expected
from tests.support.wire.scenario import ERROR, SCENARIOS, Ask, Scenario

FORMATS: dict[str, tuple[Callable[[Scenario], bytes], Callable[[Scenario], Any], Callable[[Ask], str]]] = {
    "openai-chat": (chat.stream, chat.whole, chat.call_id),
    "openai-responses": (responses.stream, responses.whole, responses.call_id),
    "anthropic": (messages.stream, messages.whole, messages.call_id),
    "gemini": (gemini.stream, gemini.whole, gemini.call_id),
    "mistral": (chat.mistral_stream, chat.mistral_whole, lambda ask: ask.id),
    "bedrock": (lambda scenario: converse.lines(converse.events(scenario)), converse.whole, converse.call_id),
}
"""How each provider streams, answers whole, and spells the id of a call."""

OBJECTS = ("anthropic", "bedrock", "gemini")
"""Providers whose whole replies hold arguments as objects, which cannot be cut."""


def told(provider: str, scenario: Scenario) -> dict[str, Any]:
    """What a scenario comes to. Gemini does not send a call that was cut."""
    spelt = FORMATS[provider][2]
    calls: list[dict[str, Any]] = []
    for ask in scenario.calls:
        if ask.cut is None:
            calls.append(call(ask.name, ask.arguments, spelt(ask)))
        elif provider != "gemini":
            calls.append(call(ask.name, None, spelt(ask), text=ask.text))
    finish = "error" if scenario.error else scenario.finish
    return expected(calls, finish, scenario.text, reasoning=scenario.thoughts, error=scenario.error)


def of_scenario(provider: str, scenario: Scenario) -> Recording:
    stream, whole, _ = FORMATS[provider]
    cut = provider in OBJECTS and any(ask.cut is not None for ask in scenario.calls)
    reply = None if cut or scenario is ERROR else whole(scenario)
    suffix = ".jsonl" if provider == "bedrock" else ".sse"
    return Recording(provider, scenario.name, stream(scenario), told(provider, scenario), suffix, reply)


PLAIN = tuple(of_scenario(provider, scenario) for provider in FORMATS for scenario in SCENARIOS)
"""What real SDKs read without complaint."""

DIALECTS = (
    *chat_dialects.RECORDINGS,
    *vendor_dialects.RECORDINGS,
    *item_dialects.RECORDINGS,
    *block_dialects.RECORDINGS,
    *part_dialects.RECORDINGS,
)

ALL = (*PLAIN, *DIALECTS)
