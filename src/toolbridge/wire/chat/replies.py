"""Replies of Chat Completions, chunk by chunk or whole, as neutral events.

Nothing is remembered from chunk to chunk: the assembler knows what belongs together. What servers do differently is
read as it comes: no index, ids of `"null"`, arguments as objects, a `message` where a `delta` is due, errors in the
middle of the stream, Ollama's own form. What is not understood is an `Unread`, never an exception.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from toolbridge.stream.events import (
    About,
    CallDelta,
    Event,
    ForeignPart,
    ImagePart,
    Key,
    ReasoningDelta,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.types import Image
from toolbridge.wire.chat.calls import read_entry
from toolbridge.wire.chat.endings import read_count, read_error, read_failure, read_reason, read_usage
from toolbridge.wire.chat.parts import read_image
from toolbridge.wire.chat.reasoning import DETAILS, FIELDS, THINKING, read_thinking, read_thoughts

Wire: TypeAlias = dict[str, Any]

CONTENT = "content"
"""The key of a message's text: there is one, however it is cut and whatever comes between."""

_MESSAGE_FIELDS = frozenset(
    {"content", "refusal", "tool_calls", "function_call", "audio", "images", "annotations", "extra_content"}
    | {"custom_content", DETAILS, THINKING, *FIELDS}
    # Nothing of the reply is in these:
    | {"role", "name", "index", "id", "tool_call_id", "metadata", "prefix", "logprobs", "token_ids", "tokens"}
)


def continuation(chunk: Any) -> tuple[Key, str] | None:
    """(index, fragment) of a chunk that is nothing but the next fragment of one call's arguments: most chunks of a long
    call are. `None` for every other chunk, which `read_event` then reads."""
    try:
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        entries = delta.get("tool_calls")
        if entries is None or len(delta) != 1:
            return None
        (entry,) = entries
        function = entry["function"]
        fragment = function["arguments"]
        index = entry["index"]
        if (
            len(entry) == 2
            and len(function) == 1
            and type(index) is int
            and type(fragment) is str
            and choice.get("finish_reason") is None
            and chunk.get("usage") is None
            and not choice.get("index")
            and "error" not in chunk
            and "error" not in choice
        ):
            return index, fragment
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return None


def object_continuation(chunk: Any) -> tuple[Key, str] | None:
    """The same of a chunk of the SDK's, which says of itself what was in it: to dump it costs ten times as much."""
    try:
        (choice,) = chunk.choices
        delta = choice.delta
        if delta.model_fields_set != _ONLY_CALLS:
            return None
        (entry,) = delta.tool_calls
        function = entry.function
        fragment = function.arguments
        index = entry.index
        if (
            entry.model_fields_set == _ONLY_MORE
            and function.model_fields_set == _ONLY_ARGUMENTS
            and type(index) is int
            and type(fragment) is str
            and choice.finish_reason is None
            and chunk.usage is None
            and not choice.index
            and not chunk.model_extra
            and not choice.model_extra
        ):
            return index, fragment
    except (TypeError, ValueError, AttributeError):
        return None
    return None


_ONLY_CALLS = {"tool_calls"}
_ONLY_MORE = {"index", "function"}
_ONLY_ARGUMENTS = {"arguments"}


def read_event(chunk: Any) -> list[Event]:
    """One chunk of a stream."""
    return _read(chunk, whole=False)


def read_reply(body: Any) -> list[Event]:
    """A whole reply."""
    return _read(body, whole=True)


def _read(source: Any, whole: bool) -> list[Event]:
    if not isinstance(source, dict):
        return [Unread(source)]
    inner = source.get("data")
    if isinstance(inner, dict) and "choices" in inner:  # an event of Mistral's SDK
        source = inner
    events: list[Event] = []
    model, id = _text(source.get("model")), _text(source.get("id"))
    if model or id:
        events.append(About(model, id))
    known = "choices" in source
    choices = source.get("choices")
    if isinstance(choices, list):
        for position, choice in enumerate(choices):
            events += _read_choice(choice, position, whole)
    elif choices is not None:
        events.append(Unread(source))
    elif isinstance(source.get("message"), dict) and not known and source.get("object") != "error":
        known = True
        events += _read_ollama(source, whole)
    beside = source.get("x_groq")
    for usage in (source.get("usage"), beside.get("usage") if isinstance(beside, dict) else None):
        if isinstance(usage, dict):
            known = True
            events += read_usage(usage)
    failure = read_failure(source, known)
    if failure is not None:
        return [*events, failure]
    return events if known else [Unread(source)]


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_choice(choice: Any, position: int, whole: bool) -> list[Event]:
    if not isinstance(choice, dict):
        return [Unread(choice)]
    index = choice.get("index")
    if (index if _is_int(index) else position) != 0:
        return [Unread(choice, "choice.ignored")]
    delta, message = choice.get("delta"), choice.get("message")
    events: list[Event] = []
    if isinstance(delta, dict) and (delta or not message) and not (whole and message):
        events += _read_message(delta, whole)
    elif isinstance(message, dict):
        events += _read_message(message, True)
    elif delta is not None or message is not None or not choice.keys() & {"delta", "message", "finish_reason"}:
        events.append(Unread(choice))
    usage = choice.get("usage")
    if isinstance(usage, dict):  # Moonshot
        events += read_usage(usage)
    error = choice.get("error")
    if error:
        events.append(read_error(error))
    reason = choice.get("finish_reason")
    if reason is not None:
        events += read_reason(reason)
    return events


def _read_ollama(source: Wire, whole: bool) -> list[Event]:
    """A line of Ollama's own endpoint, which has no choices."""
    events = _read_message(source["message"], whole)
    usage = Usage(read_count(source.get("prompt_eval_count")), read_count(source.get("eval_count")))
    if usage != Usage():
        events.append(Spent(usage))
    if source.get("done") is True:
        events += read_reason(_text(source.get("done_reason")) or "stop")
    return events


# ── messages and deltas ──────────────────────────────────────────────────────────────────────────────────────────


def _read_message(body: Wire, whole: bool) -> list[Event]:
    events: list[Event] = [
        ReasoningDelta(thought.text, thought.key, thought.opaque, whole) for thought in read_thoughts(body, whole)
    ]
    extra = body.get("extra_content")
    if extra is not None:  # Gemini: a signature of the text
        events.append(TextDelta("", CONTENT, {"extra_content": extra}))
    content = body.get("content")
    if isinstance(content, str):
        if content:
            events.append(TextDelta(content, CONTENT, None, whole))
    elif content is not None:
        events += _read_content(content, whole)
    calls = body.get("tool_calls")
    if isinstance(calls, dict):
        calls = [calls]
    if isinstance(calls, list):
        for position, entry in enumerate(calls):
            events += _read_call(entry, position, whole)
    elif calls is not None:
        events.append(Unread({"tool_calls": calls}))
    if len(body) > (content is not None) + (calls is not None):
        events += _read_rest(body, whole)
    return events


def _read_rest(body: Wire, whole: bool) -> list[Event]:
    """The fields of a message that few have."""
    events: list[Event] = []
    refusal = body.get("refusal")
    if isinstance(refusal, str) and refusal:
        events.append(TextDelta(refusal, "refusal", {"type": "refusal"}, whole))
    legacy = body.get("function_call")
    if isinstance(legacy, dict):
        events += _call("function_call", "", _text(legacy.get("name")), legacy.get("arguments"), {}, whole)
    images = body.get("images")
    for image in images if isinstance(images, list) else ():
        events.append(_read_image(image))
    audio = body.get("audio")
    if isinstance(audio, dict):
        events += _read_audio(audio, whole)
    custom = body.get("custom_content")
    if isinstance(custom, dict):
        events += _read_custom_content(custom, whole)
    if annotations := body.get("annotations"):
        events.append(Unread({"annotations": annotations}, "annotations.dropped"))
    events += [
        Unread({key: value}, "field.unknown") for key, value in body.items() if key not in _MESSAGE_FIELDS and value
    ]
    return events


def _read_content(content: Any, whole: bool) -> list[Event]:
    """A content list: Mistral's chunks, or parts as in a request."""
    parts = content if isinstance(content, list) else [content]
    texts: list[str] = []
    events: list[Event] = []
    for position, part in enumerate(parts):
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, dict):
            events.append(Unread({"content": part}))
            continue
        text = part.get("text")
        match part.get("type"):
            case None | "text" | "output_text" if isinstance(text, str):
                texts.append(text)
            case "thinking":
                thought = read_thinking(part)
                # Whole chunks may each have a signature; fragments of them do not say which one they belong to.
                key = f"{thought.key}/{position}" if whole else thought.key
                events.append(ReasoningDelta(thought.text, key, thought.opaque, whole))
            case "refusal" if isinstance(part.get("refusal"), str):
                events.append(TextDelta(part["refusal"], "refusal", {"type": "refusal"}, whole))
            case "image_url":
                events.append(_read_image(part))
            case str() as kind if kind not in ("text", "output_text", "refusal", ""):
                events.append(ForeignPart(kind, part))
            case _:
                events.append(Unread({"content": part}))
    text = "".join(texts)
    return [*events, TextDelta(text, CONTENT, None, whole)] if text else events


def _read_image(part: Any) -> Event:
    image = read_image(part, "", []) if isinstance(part, dict) else None
    return ImagePart(image) if isinstance(image, Image) else Unread({"image": part})


def _read_audio(audio: Wire, whole: bool) -> list[Event]:
    """Spoken text: its id is what the next request refers to, the transcript what any other provider can read."""
    events: list[Event] = []
    id, transcript = _text(audio.get("id")), _text(audio.get("transcript"))
    if id:
        events.append(ForeignPart("audio", {"id": id}, "audio"))
    if transcript:
        events.append(TextDelta(transcript, "transcript", {"type": "transcript"}, whole))
    if audio.get("data"):
        events.append(Unread("audio", "audio.dropped"))
    return events


def _read_custom_content(custom: Wire, whole: bool) -> list[Event]:
    """DIAL's attachments and stages come in fragments of their own kind; the state comes whole and is wanted back."""
    kept = custom if whole else {key: value for key, value in custom.items() if key == "state"}
    events: list[Event] = [ForeignPart("custom_content", kept, "custom_content")] if kept else []
    if lost := [key for key in custom if key not in kept]:
        events.append(Unread({"custom_content": lost}, "field.unknown"))
    return events


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_call(given: Any, position: int, whole: bool) -> list[Event]:
    """An entry of `tool_calls`, or a fragment of one. In a whole message its place is its number."""
    if not isinstance(given, dict):
        return [Unread({"tool_calls": given})]
    entry = read_entry(given)
    key = position if whole else entry.index if _is_int(entry.index) else None
    return _call(key, entry.id, entry.name, entry.given, entry.opaque, whole)


def _call(key: Key, id: str, name: str, given: Any, opaque: Wire, whole: bool) -> list[Event]:
    if isinstance(given, str):
        text, arguments = given, None
    else:
        text, arguments = "", given
    if not (id or name or text or opaque or arguments is not None):
        return []
    return [CallDelta(key, id, name, text, whole, arguments, (), opaque or None)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
