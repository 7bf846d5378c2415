"""Replies of the Responses format, streamed and whole, as neutral events.

An event belongs to the part with its `output_index`; where a server leaves that out, to the item it names. (Not the
other way round: some gateways give the same item another id in every event.) Events that end an item repeat it whole,
and what they say counts; only where they say nothing (`arguments: ""` after a stream of fragments) the fragments stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from toolbridge.stream.events import (
    About,
    CallDelta,
    Ended,
    Event,
    Failed,
    Finish,
    Finished,
    ForeignPart,
    Key,
    ReasoningDelta,
    Repeated,
    Spent,
    TextDelta,
    Unread,
    Usage,
)
from toolbridge.wire.responses.items import (
    CALLS,
    beside_call,
    beside_text,
    call_id,
    kind_of,
    reasoning_text,
    string,
    text_of,
)

_Reader: TypeAlias = Callable[[Mapping[str, Any]], list[Event]]

_OF_RESPONSE: Final = "response."
"""What the names of nearly all events begin with."""

_INCOMPLETE: Final[Mapping[str, Finish]] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "filtered",
    "steered": "stop",
}
"""Why a response is incomplete (openai 3.49 `Response.incomplete_details`)."""

_SAYS_NOTHING: Final = frozenset(
    {
        "response.content_part.added",
        "response.output_text.annotation.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.done",
        "keepalive",
        "ping",
    }
)
"""Events that say nothing which the end of their item does not say again."""

_PROGRESS: Final = (
    "mcp_",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "tool_search_call",
    "compaction",
    "steer",
)
"""What the events are about that tell how far a hosted tool is: its item, when it is done, says it all."""


def read_event(event: Any) -> list[Event]:
    if not isinstance(event, Mapping):
        return [Unread(event)]
    kind = string(event.get("type"))
    about = kind.removeprefix(_OF_RESPONSE)
    reader = _READERS.get(kind) or (_STATES.get(about) if about != kind else None)
    if reader is not None:
        return reader(event)
    if kind in _SAYS_NOTHING or (about != kind and about.startswith(_PROGRESS)):
        return []
    if not kind and event.get("error"):
        return _error(event)
    if not kind and isinstance(event.get("output"), list):
        return read_reply(event)
    return [Unread(event)]


def continuation(event: Mapping[str, Any]) -> tuple[Key, str] | None:
    """(key, fragment) of an event that is nothing but the next fragment of a call's arguments."""
    if event.get("type") != "response.function_call_arguments.delta":
        return None
    index, delta = event.get("output_index"), event.get("delta")
    return (index, delta) if type(index) is int and isinstance(delta, str) else None


def read_reply(reply: Any) -> list[Event]:
    if not isinstance(reply, Mapping):
        return [Unread(reply)]
    response = reply.get("response")
    if isinstance(response, Mapping) and "output" not in reply:
        reply = response  # the event that ends a stream, in place of the reply
    output = reply.get("output")
    if not isinstance(output, list):
        return [*_about(reply), *(_error(reply) if reply.get("error") else [Unread(reply)])]
    return [*_about(reply), *_items(output), *_end(reply, string(reply.get("status")))]


# ── the response ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _about(response: Mapping[str, Any]) -> list[Event]:
    model, id = string(response.get("model")), string(response.get("id"))
    return [About(model, id)] if model or id else []


def _begin(event: Mapping[str, Any]) -> list[Event]:
    response = event.get("response")
    return _about(response) if isinstance(response, Mapping) else []


def _last_event(event: Mapping[str, Any]) -> list[Event]:
    """`response.completed` and its like, with the whole response."""
    response = event.get("response")
    status = string(event.get("type")).removeprefix(_OF_RESPONSE)
    if not isinstance(response, Mapping):
        return _end({}, status)
    repeated = _items(response.get("output"))
    return [*_about(response), *([Repeated(tuple(repeated))] if repeated else []), *_end(response, status)]


def _end(response: Mapping[str, Any], status: str) -> list[Event]:
    events: list[Event] = []
    usage = _usage(response.get("usage"))
    if usage is not None:
        events.append(Spent(usage))
    if response.get("error") or status == "failed":
        events += _error(response)
    match status:
        case "completed" | "done" | "":
            events.append(Finished("stop", status))
        case "incomplete":
            details = response.get("incomplete_details")
            reason = string(details.get("reason")) if isinstance(details, Mapping) else ""
            events.append(Finished(_INCOMPLETE.get(reason, "length"), reason or status))
        case "failed" | "cancelled":
            events.append(Finished("error", status))
        case _:
            return events  # `in_progress`, `queued`: not the end
    return [*events, Ended()]


def _error(event: Mapping[str, Any]) -> list[Event]:
    """An error, however deep: `{"error": {"message": …}}`, or the message in the event itself."""
    error = event.get("error")
    if isinstance(error, Mapping):
        return [Failed(_message(error), string(error.get("code")) or string(error.get("type")))]
    if isinstance(error, str):
        return [Failed(error, string(event.get("code")))]
    return [Failed(_message(event), string(event.get("code")))]


def _message(error: Mapping[str, Any]) -> str:
    return string(error.get("message")) or "the provider reports an error and says no more"


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    return Usage(
        _count(usage, "input_tokens"),
        _count(usage, "output_tokens"),
        _count(usage.get("input_tokens_details"), "cached_tokens"),
        _count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def _count(counts: Any, key: str) -> int | None:
    value = counts.get(key) if isinstance(counts, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _items(output: Any) -> list[Event]:
    return [event for index, item in enumerate(_list(output)) for event in _whole_item(item, index)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _key(event: Mapping[str, Any]) -> Key:
    index = event.get("output_index")
    if isinstance(index, int) and not isinstance(index, bool):
        return index
    item = event.get("item")
    id = event.get("item_id") or (item.get("id") if isinstance(item, Mapping) else None)
    return id if isinstance(id, str) else None


def _content_key(key: Key, index: Any) -> Key:
    """Parts of one message are told apart by their number; the first one goes without."""
    if key is None or not isinstance(index, int) or index <= 0:
        return key
    return f"{key}/{index}"


def _opened_item(event: Mapping[str, Any]) -> list[Event]:
    """An item begins. Only a call says something yet: what other items are, and their ids, their end says."""
    item = event.get("item")
    if not isinstance(item, Mapping) or kind_of(item) not in CALLS:
        return [] if isinstance(item, Mapping) else [Unread(event)]
    return [_call(item, _key(event), whole=False)]


def _closed_item(event: Mapping[str, Any]) -> list[Event]:
    return _whole_item(event.get("item"), _key(event))


def _whole_item(item: Any, key: Key) -> list[Event]:
    """An item that is there in full: of a stream's `output_item.done`, or of a whole reply."""
    kind = kind_of(item)
    if not kind:
        return [Unread(item)]
    if kind in CALLS:
        return [_call(item, key, whole=True)]
    if kind == "message":
        return _message_item(item, key)
    if kind == "reasoning":
        text = reasoning_text(item)
        return [ReasoningDelta(text, key, dict(item), whole=bool(text))]
    return [ForeignPart(kind, dict(item), key)]


def _call(item: Mapping[str, Any], key: Key, whole: bool) -> CallDelta:
    given = item.get(CALLS[kind_of(item)])
    # An object where text belongs is taken as it is; an empty one says no more than no text does.
    text, value = (given, None) if isinstance(given, str) else ("", given or None)
    return CallDelta(
        key,
        call_id(item),
        string(item.get("name")),
        text,
        whole=whole and bool(text),
        arguments=value,
        opaque=beside_call(item),
    )


def _message_item(item: Mapping[str, Any], key: Key) -> list[Event]:
    content = item.get("content")
    if isinstance(content, str):
        content = [{"type": "output_text", "text": content}]
    if not isinstance(content, list):
        return []
    events: list[Event] = []
    for index, part in enumerate(content):
        text = text_of(part)
        if text is None:
            events.append(Unread(part))
        elif text:
            events.append(TextDelta(text, _content_key(key, index), beside_text(item, part), whole=True))
    return events


# ── fragments ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _call_fragment(event: Mapping[str, Any]) -> list[Event]:
    delta = event.get("delta")
    return [CallDelta(_key(event), text=delta)] if isinstance(delta, str) and delta else []


def _call_text(event: Mapping[str, Any]) -> list[Event]:
    given = event.get("arguments", event.get("input"))
    if isinstance(given, str):
        return [CallDelta(_key(event), text=given, whole=True)] if given else []
    return [CallDelta(_key(event), arguments=given)] if given else []


def _text_fragment(event: Mapping[str, Any]) -> list[Event]:
    delta = event.get("delta")
    key = _content_key(_key(event), event.get("content_index"))
    return [TextDelta(delta, key)] if isinstance(delta, str) and delta else []


def _text(event: Mapping[str, Any]) -> list[Event]:
    text = string(event.get("text")) or string(event.get("refusal")) or text_of(event.get("part"))
    key = _content_key(_key(event), event.get("content_index"))
    return [TextDelta(text, key, whole=True)] if text else []


def _content_part(event: Mapping[str, Any]) -> list[Event]:
    part = event.get("part")
    return [] if isinstance(part, Mapping) and part.get("type") == "reasoning_text" else _text(event)


def _reasoning_fragment(event: Mapping[str, Any]) -> list[Event]:
    delta = event.get("delta")
    return [ReasoningDelta(delta, _key(event))] if isinstance(delta, str) and delta else []


def _next_summary(event: Mapping[str, Any]) -> list[Event]:
    """Summaries are paragraphs; the end of the item has them as `reasoning_text` joins them."""
    index = event.get("summary_index")
    return [ReasoningDelta("\n\n", _key(event))] if isinstance(index, int) and index > 0 else []


_STATES: Final[Mapping[str, _Reader]] = {
    "created": _begin,
    "queued": _begin,
    "in_progress": _begin,
    "completed": _last_event,
    "done": _last_event,
    "incomplete": _last_event,
    "failed": _last_event,
    "cancelled": _last_event,
}
"""Events that say what became of the response."""

_READERS: Final[Mapping[str, _Reader]] = {
    "response.output_item.added": _opened_item,
    "response.output_item.done": _closed_item,
    "response.function_call_arguments.delta": _call_fragment,
    "response.function_call_arguments.done": _call_text,
    "response.custom_tool_call_input.delta": _call_fragment,
    "response.custom_tool_call_input.done": _call_text,
    "response.output_text.delta": _text_fragment,
    "response.output_text.done": _text,
    "response.refusal.delta": _text_fragment,
    "response.refusal.done": _text,
    "response.content_part.done": _content_part,
    "response.reasoning_summary_part.added": _next_summary,
    "response.reasoning_summary_text.delta": _reasoning_fragment,
    "response.reasoning_text.delta": _reasoning_fragment,
    "error": _error,
}
