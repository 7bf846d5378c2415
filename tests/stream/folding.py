"""What the tests of streams share: a reply as the expectations of a recording tell of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.wire.recording import Recording
from toolbridge.reply import ReplyReader
from toolbridge.stream.events import Reply
from toolbridge.types import Foreign, Reasoning, ToolCall


def folded(provider: str, pieces: Iterable[Any]) -> Reply:
    """The reply that the pieces come to, one after the other."""
    reader = ReplyReader(provider)
    for piece in pieces:
        reader.feed(piece)
    return reader.reply()


def told(reply: Reply, expected: Mapping[str, Any]) -> dict[str, Any]:
    """The reply in the words of the expectation: the keys that it has, and no others."""
    calls = [_call(call, asked) for call, asked in zip(reply.calls, expected["calls"], strict=False)]
    calls += [_call(call, {}) for call in reply.calls[len(calls) :]]
    found: dict[str, Any] = {
        "text": reply.text,
        "calls": calls,
        "finish": reply.finish,
        "reasoning": "".join(part.text for part in reply.message.parts if isinstance(part, Reasoning)),
        "foreign": [part.kind for part in reply.message.parts if isinstance(part, Foreign)],
        "error": expected.get("error") if expected.get("error", "") in (reply.error or "") else reply.error,
    }
    return {key: found[key] for key in found if key in expected}


def wanted(expected: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in expected.items() if key not in ("offered", "names")}


def _call(call: ToolCall, asked: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "text": call.text,
        "opaque": {key: call.opaque.get(key) for key in asked.get("opaque", ())},
    }
    return {key: found[key] for key in found if key in (asked or ("name", "arguments"))}


def of(recording: Recording) -> Reply:
    return folded(recording.provider, [recording.body])
