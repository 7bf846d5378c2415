"""Items of the Responses format: what an item says, and what it has beside that and wants back.

Read in replies and in transcripts alike. Every function takes whatever stands on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolbridge.types import Reasoning, Text

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that are calls, and the field with what they are called with."""

_SAID: Final = frozenset({"type", "call_id", "name", "arguments", "input"})
"""What a `ToolCall` has fields for."""

_ONLY_OUT: Final = frozenset({"status", "parsed_arguments", "created_by"})
"""Told in replies and refused, or of no use, in requests; `parsed_arguments` is the SDK's own."""


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def kind_of(item: Any) -> str:
    """The item's type. Messages may leave theirs out."""
    if not isinstance(item, Mapping):
        return ""
    kind = string(item.get("type"))
    return kind or ("message" if isinstance(item.get("role"), str) else "")


def call_id(item: Mapping[str, Any]) -> str:
    """The id that the result must name: `call_id`, and not the item's own `id`, unless there is nothing else."""
    return string(item.get("call_id")) or string(item.get("id"))


def beside_call(item: Mapping[str, Any]) -> dict[str, Any]:
    """What a call has beside id, name and arguments: its item id, `namespace`, `caller`, …

    A namespace must come back: "Missing namespace for function_call" is said to a call without it. The type is kept
    where it is not the usual one.
    """
    beside = {
        key: value
        for key, value in item.items()
        if value is not None and key not in _SAID and key not in _ONLY_OUT and isinstance(key, str)
    }
    if item.get("type") == "custom_tool_call":
        beside["type"] = "custom_tool_call"
    return beside


def is_replayable(part: Reasoning | Text) -> bool:
    """Reasoning that is a whole item: what a stream left that broke off inside of one is none."""
    return isinstance(part, Text) or part.opaque.get("type") == "reasoning"


def text_of(part: Any) -> str | None:
    """The text of a content part of any kind that has text."""
    if not isinstance(part, Mapping):
        return None
    match part.get("type"):
        case "output_text" | "input_text" | "text" | "summary_text" | "reasoning_text":
            return string(part.get("text"))
        case "refusal":
            return string(part.get("refusal"))
        case _:
            return None


def beside_text(message: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """What a text of the assistant has beside it: the id and the phase of its message, its citations, and whether it
    is a refusal."""
    beside: dict[str, Any] = {}
    for key in ("id", "phase"):
        if isinstance(message.get(key), str):
            beside[key] = message[key]
    annotations = part.get("annotations")
    if isinstance(annotations, list) and annotations:
        beside["annotations"] = annotations
    if part.get("type") == "refusal":
        beside["type"] = "refusal"
    return beside


def reasoning_text(item: Mapping[str, Any]) -> str:
    """What a reasoning item shows: its summaries, and its text where the server gives it."""
    parts = [*_list(item.get("summary")), *_list(item.get("content"))]
    return "\n\n".join(text for part in parts if (text := text_of(part)))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
