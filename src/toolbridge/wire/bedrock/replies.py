"""Replies of Bedrock's Converse: the events of ConverseStream as boto3 hands them out, and the whole answer.

An event is an object with one key, its kind; it belongs to the block with its `contentBlockIndex`. Text has no event
that opens it. Errors are events too (boto3 raises them instead).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from toolbridge.stream.events import (
    CallDelta,
    Closed,
    Ended,
    Event,
    Failed,
    Finish,
    Finished,
    ForeignPart,
    ImagePart,
    Key,
    ReasoningDelta,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Foreign, Image, Reasoning, Text
from toolbridge.wire.bedrock.blocks import base64_of, get, kind_of, read_block, string, without_bytes

STOPS: Final[Mapping[str, Finish]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filtered",
    "content_filtered": "filtered",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
"""botocore 1.44 `StopReason`."""

_BEGINNINGS: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)
"""How the base64 of images begins: in a stream the format stands in another event than the data."""


def read_event(event: Any) -> list[Event]:
    kind = kind_of(event)
    value = get(event, kind)
    reader = _READERS.get(kind)
    if reader is not None and isinstance(value, Mapping):
        return reader(value)
    if kind.endswith("Exception"):
        return [_failed(kind, value)]
    if isinstance(event, Mapping) and isinstance(event.get("message"), str) and "output" not in event:
        return [_failed(string(event.get("__type")), event)]  # the body of an answer that is an error
    return [Unread(without_bytes(event))]


def read_reply(reply: Any) -> list[Event]:
    message = get(get(reply, "output"), "message")
    if not isinstance(message, Mapping):
        return read_event(reply)
    events: list[Event] = []
    content = message.get("content")
    for index, block in enumerate(content if isinstance(content, list) else []):
        events += _block(block, index)
    return [*events, *_stop(reply), *_spent(reply)]


def continuation(event: Any) -> tuple[Key, str] | None:
    """The short way for the usual event: the next fragment of a call's input."""
    delta = event.get("contentBlockDelta") if isinstance(event, dict) else None
    if not isinstance(delta, dict):
        return None
    inner, index = delta.get("delta"), delta.get("contentBlockIndex")
    use = inner.get("toolUse") if isinstance(inner, dict) else None
    text = use.get("input") if isinstance(use, dict) else None
    return (index, text) if type(index) is int and isinstance(text, str) else None


# ── events of a stream ───────────────────────────────────────────────────────────────────────────────────────────────


def _start(value: Mapping[Any, Any]) -> list[Event]:
    start, key = value.get("start"), _key(value)
    kind = kind_of(start)
    block = get(start, kind)
    match kind:
        case "toolUse" if isinstance(block, Mapping):
            if block.get("type") is not None:  # one that the server itself runs
                return [ForeignPart(kind, {"input": {}, **block}, key)]
            return [CallDelta(key, string(block.get("toolUseId")), string(block.get("name")))]
        case "toolResult" if isinstance(block, Mapping):
            return [ForeignPart(kind, {"content": [], **block}, key)]
        case "image" | "":
            return []
        case _:
            return [Unread(without_bytes(start))]


def _delta(value: Mapping[Any, Any]) -> list[Event]:
    delta, key = value.get("delta"), _key(value)
    kind = kind_of(delta)
    given = get(delta, kind)
    match kind:
        case "text" if isinstance(given, str):
            return [TextDelta(given, key)] if given else []
        case "toolUse" if isinstance(text := get(given, "input"), str):
            return [CallDelta(key, text=text)] if text else []
        case "reasoningContent":
            return _thought(given, key)
        case "image" if data := base64_of(get(get(given, "source"), "bytes")):
            mime_type = next((type for start, type in _BEGINNINGS if data.startswith(start)), "")
            return [ImagePart(Image(data, mime_type), key)] if mime_type else [Unread(kind)]
        case "citation" if isinstance(given, Mapping):
            return [Unread(dict(given), "annotations.dropped")]
        case "":
            return []
        case _:
            return [Unread(without_bytes(delta))]


def _thought(given: Any, key: Key) -> list[Event]:
    text, signature = string(get(given, "text")), string(get(given, "signature"))
    hidden = base64_of(get(given, "redactedContent"))
    opaque = {name: value for name, value in (("signature", signature), ("redactedContent", hidden)) if value}
    return [ReasoningDelta(text, key, opaque or None)] if text or opaque else []


def _nothing(value: Mapping[Any, Any]) -> list[Event]:
    return []


def _stop(value: Mapping[Any, Any]) -> list[Event]:
    raw = string(value.get("stopReason"))
    reason = STOPS.get(raw)
    if reason == "error":
        return [Finished(reason, raw), Failed(f"the model stopped: {raw}", raw)]
    if reason is None:
        return [Finished("stop", raw), Unread(raw, "finish.unknown")] if raw else []
    return [Finished(reason, raw)]


def _end(value: Mapping[Any, Any]) -> list[Event]:
    """What the reply cost: the last event of a stream."""
    return [*_spent(value), Ended()]


def _spent(value: Mapping[Any, Any]) -> list[Event]:
    usage = value.get("usage")
    told = Usage(_count(usage, "inputTokens"), _count(usage, "outputTokens"), _count(usage, "cacheReadInputTokens"))
    return [Spent(told)] if told != Usage() else []


def _count(usage: Any, name: str) -> int | None:
    value = get(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _failed(kind: str, value: Any) -> Failed:
    told = [string(get(value, name)) for name in ("message", "Message", "originalMessage")]
    message = ": ".join(dict.fromkeys(each for each in told if each))
    return Failed(message or f"the provider reports {kind} and does not say more", kind)


def _key(value: Mapping[Any, Any]) -> Key:
    index = value.get("contentBlockIndex")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _closed(event: Mapping[Any, Any]) -> list[Event]:
    key = _key(event)
    return [Closed(key)] if key is not None else []


_READERS: Final[Mapping[str, Callable[[Mapping[Any, Any]], list[Event]]]] = {
    "messageStart": _nothing,
    "contentBlockStart": _start,
    "contentBlockDelta": _delta,
    "contentBlockStop": _closed,
    "messageStop": _stop,
    "metadata": _end,
}


# ── blocks of a whole reply ──────────────────────────────────────────────────────────────────────────────────────────


def _block(block: Any, index: int) -> list[Event]:
    use = get(block, "toolUse")
    if isinstance(use, Mapping) and use.get("type") is None:
        given = use.get("input")
        arguments = given if given is not None else {}
        return [CallDelta(index, string(use.get("toolUseId")), string(use.get("name")), arguments=arguments)]
    part = read_block(block)
    match part:
        case Text():
            return [TextDelta(part.text, index, part.opaque or None)] if part.text or part.opaque else []
        case Reasoning():
            return [ReasoningDelta(part.text, index, part.opaque or None)]
        case Image():
            return [ImagePart(part, index)]
        case Foreign():
            return [ForeignPart(part.kind, part.opaque, index)]
        case _:
            kind = kind_of(block)
            value = without_bytes(get(block, kind))
            return [ForeignPart(kind, value, index) if isinstance(value, dict) else Unread(without_bytes(block))]
