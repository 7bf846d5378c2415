"""Replies of Gemini: a chunk of a stream is a reply with a few of its parts, so both are read alike.

Parts have no numbers. Text without a signature goes on where text stopped; a part with a signature is one of its own,
since signatures must come back on the very part that they came on. A call is whole in one part. Only Vertex, and only
where it is asked to, cuts calls: a part with the name opens one, parts with pieces of arguments follow, and it ends
with the first part that does not say `willContinue`, which may be empty.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from toolbridge.stream.events import (
    About,
    CallDelta,
    Event,
    Failed,
    Finish,
    Finished,
    ForeignPart,
    ImagePart,
    ReasoningDelta,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Image
from toolbridge.wire.gemini.parts import beside, blob, camel, get, is_set, kind_of, string, whole

FINISH: Final[Mapping[str, Finish]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "LANGUAGE": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "MODEL_ARMOR": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
    "IMAGE_RECITATION": "filtered",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "NO_IMAGE": "error",
    "IMAGE_OTHER": "error",
    "OTHER": "error",
}
"""google-genai 3.1 `FinishReason`; Vertex says MODEL_ARMOR besides."""

_UNSPECIFIED: Final = frozenset(
    {"", "FINISH_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED"}
)

_FIELDS: Final = (
    "candidates",
    "promptFeedback",
    "usageMetadata",
    "modelVersion",
    "responseId",
    "createTime",
    "modelStatus",
)
"""What makes an object a reply, or a chunk of one."""

_USUAL: Final = frozenset({"content", "index", "finishReason"})
_CITATIONS: Final = frozenset({"groundingMetadata", "citationMetadata", "urlContextMetadata"})
"""Where an answer is from. It stands beside the message and has no place in it."""


def read_event(chunk: Any) -> list[Event]:
    """One chunk, or a list of them."""
    if isinstance(chunk, list):
        return [event for each in chunk for event in read_event(each)]
    if not isinstance(chunk, Mapping):
        return [Unread(chunk)]
    if chunk.get("error") is not None:
        return [_error(chunk["error"])]
    if chunk.get("candidates") is None and not any(is_set(chunk, name) for name in _FIELDS):
        return [Unread(chunk)]
    events: list[Event] = []
    about = About(string(get(chunk, "modelVersion")), string(get(chunk, "responseId")))
    if about != About():
        events.append(about)
    events += _feedback(get(chunk, "promptFeedback"))
    candidates = get(chunk, "candidates")
    for place, candidate in enumerate(candidates if isinstance(candidates, list) else []):
        number = get(candidate, "index")
        if (number if isinstance(number, int) else place) == 0:
            events += _candidate(candidate)
        else:
            events.append(Unread(candidate, "choice.ignored"))
    return events + _usage(get(chunk, "usageMetadata"))


def read_reply(reply: Any) -> list[Event]:
    """A whole reply; a list of chunks, where somebody collected a stream."""
    return read_event(reply)


# ── around the message ───────────────────────────────────────────────────────────────────────────────────────────────


def _error(error: Any) -> Failed:
    code = get(error, "status") or get(error, "code")
    told = string(get(error, "message")) or string(error) or "the provider reports an error and does not say which"
    return Failed(told, str(code) if isinstance(code, str | int) else "")


def _feedback(feedback: Any) -> list[Event]:
    reason = string(get(feedback, "blockReason"))
    if reason in _UNSPECIFIED:
        return []
    told = string(get(feedback, "blockReasonMessage"))
    return [Finished("filtered", reason), *([Unread(told, "prompt.blocked")] if told else [])]


def _usage(usage: Any) -> list[Event]:
    """Thoughts are counted beside the candidates, and are output too; results of hosted tools are input."""
    if not isinstance(usage, Mapping):
        return []
    prompt, tools = _count(usage, "promptTokenCount"), _count(usage, "toolUsePromptTokenCount")
    said, thought = _count(usage, "candidatesTokenCount"), _count(usage, "thoughtsTokenCount")
    told = Usage(_sum(prompt, tools), _sum(said, thought), _count(usage, "cachedContentTokenCount"), thought)
    return [Spent(told)] if told != Usage() else []


def _count(usage: Any, name: str) -> int | None:
    value = get(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sum(first: int | None, second: int | None) -> int | None:
    return second if first is None else first + (second or 0)


def _finish(candidate: Any) -> list[Event]:
    raw = string(get(candidate, "finishReason"))
    if raw.upper() in _UNSPECIFIED:
        return []
    reason = FINISH.get(raw.upper())
    told = string(get(candidate, "finishMessage"))
    match reason:
        case None:
            return [Finished("stop", raw), Unread(raw, "finish.unknown")]
        case "error":
            return [Finished(reason, raw), Failed(told or f"the model stopped: {raw}", raw)]
        case "filtered" if told:
            return [Finished(reason, raw), Unread(told, "reply.filtered")]
        case _:
            return [Finished(reason, raw)]


# ── the message ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _candidate(candidate: Any) -> list[Event]:
    if not isinstance(candidate, Mapping):
        return [Unread(candidate)]
    events: list[Event] = []
    parts = get(get(candidate, "content"), "parts")
    for part in parts if isinstance(parts, list) else []:
        events += _part(part)
    for key, value in candidate.items():
        if key not in _USUAL and value and camel(key) in _CITATIONS:
            events.append(Unread(value, "annotations.dropped"))
    return events + _finish(candidate)


def _part(part: Any) -> list[Event]:
    if not isinstance(part, Mapping):
        return [Unread(part)]
    kind, opaque = kind_of(part), beside(part)
    match kind:
        case "functionCall":
            return _call(get(part, kind), opaque)
        case "text" if isinstance(text := get(part, kind), str):
            if not text and not opaque:
                return []
            thought = get(part, "thought") is True
            return [ReasoningDelta(text, opaque=opaque or None) if thought else TextDelta(text, opaque=opaque or None)]
        case "inlineData" if (found := blob(get(part, kind))) is not None:
            data, mime_type = found
            if mime_type.startswith("image/") and get(part, "thought") is not True:
                return [ImagePart(Image(data, mime_type, opaque))]
            return [ForeignPart(kind, whole(part))]  # sound; a sketch that the model made while it thought
        case "":
            # A signature by itself. A part must be something, so it is on an empty text, as in the usual last chunk.
            return [TextDelta("", opaque=opaque)] if opaque else []
        case "text" | "inlineData":
            return [Unread(part)]
        case _:
            return [ForeignPart(kind, whole(part))]


def _call(call: Any, opaque: dict[str, Any]) -> list[Event]:
    if not isinstance(call, Mapping):
        return [Unread(call)]
    id, name, arguments = string(get(call, "id")), string(get(call, "name")), get(call, "args")
    given = get(call, "partialArgs")
    continues = get(call, "willContinue") is True
    # A whole call is one of its own, even if its tool or its id was there before; pieces know their call by its id.
    in_pieces = given is not None or get(call, "willContinue") is not None
    opens = bool(name) and not (id and in_pieces)
    if not given and not continues and (name or arguments is not None):
        # Of the model's own: arguments without a name are nobody else's, and are told as a call without a name.
        whole_call = arguments if arguments is not None else {}
        return [CallDelta(id=id, name=name, arguments=whole_call, opaque=opaque or None, opens=opens or not name)]
    pieces = [*_members(arguments), *_pieces(given), ("$", None, continues)]
    events: list[Event] = [CallDelta(id=id, name=name, pieces=tuple(pieces), opaque=opaque or None, opens=opens)]
    return events


_VALUES: Final = ("stringValue", "numberValue", "boolValue")


def _members(arguments: Any) -> list[tuple[str, Any, bool]]:
    """Arguments that came beside pieces, as pieces."""
    if not isinstance(arguments, Mapping):
        return []
    return [(f"$[{json.dumps(str(name))}]", value, False) for name, value in arguments.items()]


def _pieces(given: Any) -> list[tuple[str, Any, bool]]:
    pieces: list[tuple[str, Any, bool]] = []
    for piece in given if isinstance(given, list) else []:
        path, continues = get(piece, "jsonPath"), get(piece, "willContinue") is True
        if not isinstance(path, str) or path == "$":
            pieces.append(("", None, False))  # leads nowhere: the call is broken, and not made of what is left
            continue
        value = next((found for name in _VALUES if (found := get(piece, name)) is not None), None)
        # Without any value a piece says no more than that something will come, or has come to its end.
        if value is not None or _is_null(piece):
            pieces.append((path, _number(value), continues))
    return pieces


def _is_null(piece: Mapping[Any, Any]) -> bool:
    """Whether the value is null, which JSON has as null: the key is there, and no key of another value."""
    names = {camel(key) for key in piece}
    return get(piece, "nullValue") is not None or ("nullValue" in names and names.isdisjoint(_VALUES))


def _number(value: Any) -> Any:
    """A number as JSON would have it: on the wire all of them are doubles, and an SDK hands out 3 as 3.0."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
