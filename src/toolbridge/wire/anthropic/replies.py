"""Replies of Anthropic Messages, streamed and whole, as neutral events. An event's part is its block's `index`.

A fragment of input does not say whose it is: a call's, or a hosted tool's. It is a `CallDelta` either way, and the
assembler gives it to what stands under its number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from toolbridge.stream.events import (
    About,
    CallDelta,
    Closed,
    Ended,
    Event,
    Failed,
    Finish,
    Finished,
    ForeignDelta,
    ForeignPart,
    Key,
    ReasoningDelta,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.wire.anthropic.blocks import THOUGHTS, beside, beside_text, beside_thought, kind_of, string, whole

_STOPS: Final[Mapping[str, Finish]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filtered",
    "pause_turn": "stop",
    "compaction": "stop",
}
"""`stop_reason` (anthropic 2.8 `StopReason`, `BetaStopReason`). A paused turn goes on when it is sent back as it is;
its raw word says so."""

_SAYS_NOTHING: Final = frozenset({"ping", "text", "input_json", "citation", "thinking", "signature"})
"""Events that add nothing. The last five are the SDK's own, which it puts beside the deltas that they repeat."""


def read_event(event: Any) -> list[Event]:
    if not isinstance(event, Mapping):
        return [Unread(event)]
    kind = kind_of(event)
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(event)
    if kind in _SAYS_NOTHING:
        return []
    return _error(event) if not kind and event.get("error") else [Unread(event)]


def continuation(event: Mapping[str, Any]) -> tuple[Key, str] | None:
    """(key, fragment) of an event that is nothing but the next fragment of a call's input."""
    delta = event.get("delta")
    if event.get("type") != "content_block_delta" or type(delta) is not dict:
        return None
    index, fragment = event.get("index"), delta.get("partial_json")
    return (index, fragment) if type(index) is int and isinstance(fragment, str) else None


def read_reply(reply: Any) -> list[Event]:
    if not isinstance(reply, Mapping):
        return [Unread(reply)]
    content = reply.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return _error(reply) if reply.get("error") else [Unread(reply)]
    cut = _STOPS.get(string(reply.get("stop_reason"))) == "length"
    events = _about(reply)
    for index, block in enumerate(content):
        events += _block(block, index, unfinished=cut)
    return [*events, *_finished(reply), Ended()]


# ── the message ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _about(message: Mapping[str, Any]) -> list[Event]:
    model, id = string(message.get("model")), string(message.get("id"))
    events: list[Event] = [About(model, id)] if model or id else []
    usage = _usage(message.get("usage"))
    return [*events, Spent(usage)] if usage is not None else events


def _finished(said: Any) -> list[Event]:
    reason = string(said.get("stop_reason")) if isinstance(said, Mapping) else ""
    return [Finished(_STOPS.get(reason, "stop"), reason)] if reason else []


def _begin(event: Mapping[str, Any]) -> list[Event]:
    message = event.get("message")
    return _about(message) if isinstance(message, Mapping) else []


def _end(event: Mapping[str, Any]) -> list[Event]:
    usage = _usage(event.get("usage"))
    spent: list[Event] = [Spent(usage)] if usage is not None else []
    return [*spent, *_finished(event.get("delta"))]


def _usage(usage: Any) -> Usage | None:
    """All input together, as other providers count it: Anthropic tells what the cache held apart from the rest."""
    if not isinstance(usage, Mapping):
        return None
    given, cached = _count(usage, "input_tokens"), _count(usage, "cache_read_input_tokens")
    if given is not None:
        given += (cached or 0) + (_count(usage, "cache_creation_input_tokens") or 0)
    return Usage(
        given,
        _count(usage, "output_tokens"),
        cached,
        _count(usage.get("output_tokens_details"), "thinking_tokens"),
    )


def _count(counts: Any, key: str) -> int | None:
    value = counts.get(key) if isinstance(counts, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _error(event: Mapping[str, Any]) -> list[Event]:
    error = event.get("error")
    if not isinstance(error, Mapping):
        return [Failed(string(error) or "the provider reports an error and says no more")]
    message = string(error.get("message")) or "the provider reports an error and says no more"
    return [Failed(message, string(error.get("type")))]


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _key(event: Mapping[str, Any]) -> Key:
    index = event.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _opened_block(event: Mapping[str, Any]) -> list[Event]:
    return _block(event.get("content_block"), _key(event), unfinished=True)


def _block(block: Any, key: Key, unfinished: bool) -> list[Event]:
    """A block as far as it is there: all of it, or, `unfinished`, what it begins with."""
    kind = kind_of(block)
    if not kind:
        return [Unread(block)]
    if kind == "text":
        text, opaque = string(block.get("text")), beside_text(block)
        return [TextDelta(text, key, opaque or None)] if text or opaque else []
    if kind in THOUGHTS:
        text, opaque = string(block.get("thinking")), beside_thought(block)
        return [ReasoningDelta(text, key, opaque or None)] if text or opaque else []
    if kind == "tool_use":
        given = block.get("input")
        if unfinished and not given:
            given = None  # an empty object holds the place of what follows in fragments, or was cut
        opaque = beside(block, "id", "name", "input")
        return [CallDelta(key, string(block.get("id")), string(block.get("name")), arguments=given, opaque=opaque)]
    return [ForeignPart(kind, whole(block), key)]


def _closed_block(event: Mapping[str, Any]) -> list[Event]:
    key = _key(event)
    return [Closed(key)] if key is not None else []


def _fragment(event: Mapping[str, Any]) -> list[Event]:
    delta, key = event.get("delta"), _key(event)
    if not isinstance(delta, Mapping):
        return [Unread(event)]
    match delta.get("type"):
        case "input_json_delta":
            text = string(delta.get("partial_json"))
            return [CallDelta(key, text=text)] if text else []
        case "text_delta":
            text = string(delta.get("text"))
            return [TextDelta(text, key)] if text else []
        case "thinking_delta":
            text = string(delta.get("thinking"))
            return [ReasoningDelta(text, key)] if text else []
        case "signature_delta":
            signature = string(delta.get("signature"))
            return [ReasoningDelta("", key, {"signature": signature})] if signature else []
        case "citations_delta":
            citation = delta.get("citation")
            return [TextDelta("", key, {"citations": [citation]})] if isinstance(citation, Mapping) else []
        case "compaction_delta":
            fields = ((name, delta.get(name)) for name in ("content", "encrypted_content"))
            return [ForeignDelta(key, name, text) for name, text in fields if isinstance(text, str)]
        case _:
            return [Unread(event)]


def _ended(event: Mapping[str, Any]) -> list[Event]:
    return [Ended()]


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], list[Event]]]] = {
    "message_start": _begin,
    "content_block_start": _opened_block,
    "content_block_delta": _fragment,
    "content_block_stop": _closed_block,
    "message_delta": _end,
    "message_stop": _ended,
    "error": _error,
    "message": read_reply,
}
