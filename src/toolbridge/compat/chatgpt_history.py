"""The ChatGPT provider's history, in the form that OpenAI or Gemini takes: one conversation of several models.

Thin over the core: entries become `Message`s, and `write_messages` makes a legal transcript of them, in which every
call has its result. The core way is a history of `Message`s and `get_provider(name).write_messages(history).value`.

    {"role": "user" | "chatgpt" | "gemini" | "system" | "tool", "content": …}

`content` is text, a part, or a list of parts: `{"type": "text", "text": …}`, `{"type": "tool_call", "tool_name",
"arguments", "tool_call_id"}`, `{"type": "tool_result", "tool_call_id", "result"}`. What a part holds may also stand
under its `content`, as `call_api` yields it.

Decisions where the design is silent:

- What another model said is text for this one: a message of the user that begins with its name, calls and results
  said in words. A model that were shown another's words as its own would contradict itself.
- A result without an id belongs to the first call of that name that has none yet.
- For Gemini, whose system text is no part of the contents, a `system` entry is told likewise; give `system_prompt`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolbridge.compat.chatgpt_calls import field, text_of
from toolbridge.prepare import PreparedTools
from toolbridge.providers import get_provider
from toolbridge.stream.arguments import read_call
from toolbridge.types import EMPTY, Message, Part, Text, ToolCall, ToolId, ToolResult

logger = logging.getLogger(__name__)


def content_to_text(content: Any) -> str:
    """The content of an entry as plain text; calls and results in words."""
    return "\n".join(text for each in _parts_of(content) if (text := _said(each)))


def format_history(history: Iterable[Any]) -> list[dict[str, Any]]:
    """The history as OpenAI's `messages`. The core way: `get_provider("openai-chat").write_messages(history)`."""
    messages = _Reading("openai-chat", ("chatgpt", "assistant", "model"), system=True).messages(history)
    return _written("openai-chat", messages)["messages"]


def format_gemini_history(history: Iterable[Any], tools: PreparedTools | None = None) -> list[dict[str, Any]]:
    """The history as Gemini's `contents`; with `tools`, calls of theirs stand as Gemini's model would write them.

    The core way: `get_provider("gemini").write_messages(history)`.
    """
    messages = _Reading("gemini", ("gemini", "assistant", "model"), system=False).messages(history)
    if tools is not None:
        known = {each.id for each in tools.tools}
        messages = [replace(each, parts=tuple(_shaped(part, tools, known) for part in each.parts)) for each in messages]
    return _written("gemini", messages)["contents"]


def has_tool_parts(history: Iterable[Any]) -> bool:
    """Whether there are calls or results in a history."""
    parts = (part for entry in history for part in _parts_of(field(entry, "content")))
    return any(part.get("type") in ("tool_call", "tool_result") for part in parts)


def _shaped(part: Part, tools: PreparedTools, known: set[ToolId]) -> Part:
    if not isinstance(part, ToolCall) or ToolId("", part.name) not in known or part.arguments is None:
        return part
    id = ToolId("", part.name)
    arguments = tools.write_arguments(id, part.arguments)
    return replace(part, name=tools.wire_name(id), arguments=arguments, text=_json(arguments))


def _written(provider: str, messages: list[Message]) -> dict[str, Any]:
    written = get_provider(provider).write_messages(messages)
    for note in written.notes:
        if note.effect == "narrowed":
            logger.warning("Formatting the history for %s: %s", provider, note)
    return written.value


class _Reading:
    """Entries to messages, for one provider: whose words are its own, and which calls are still unanswered."""

    def __init__(self, origin: str, own: tuple[str, ...], *, system: bool) -> None:
        self._origin = origin
        self._own = own
        self._system = system
        self._count = 0
        self._unanswered: list[ToolCall] = []

    def messages(self, history: Iterable[Any]) -> list[Message]:
        return [message for entry in history for message in self._entry(entry)]

    def _entry(self, entry: Any) -> list[Message]:
        role, content = text_of(field(entry, "role")) or "user", field(entry, "content")
        if role == "tool" and not _is_structured(content):
            content = {"type": "tool_result", "text": content_to_text(content), **_keys(entry)}
        if role == "system" and self._system:
            return [Message.system(content_to_text(content))]
        if role not in (*self._own, "user", "tool"):
            said = content_to_text(content)
            return [Message.user(f"{role}: {said}")] if said else []
        messages: list[Message] = []
        spoken: list[Part] = []
        for each in _parts_of(content):
            match each.get("type"):
                case "tool_call" if role in self._own:
                    spoken.append(self._call(each))
                case "tool_result":
                    messages += [self._spoken(role, spoken), Message.results(self._result(each))]
                    spoken = []
                case _:
                    spoken.append(Text(_said(each)))
        messages.append(self._spoken(role, spoken))
        return [each for each in messages if each.parts]

    def _spoken(self, role: str, parts: list[Part]) -> Message:
        own = role in self._own
        return Message("assistant" if own else "user", tuple(parts), self._origin if own else "")

    def _call(self, part: Mapping[str, Any]) -> ToolCall:
        id = text_of(part.get("tool_call_id")) or f"unnumbered_{self._count}"
        self._count += 1
        arguments = part.get("arguments")
        signature = text_of(part.get("thought_signature"))
        given = _json(arguments) if isinstance(arguments, Mapping) else arguments
        call = read_call(id, _name(part), given, {"thoughtSignature": signature} if signature else EMPTY)
        self._unanswered.append(call)
        return call

    def _result(self, part: Mapping[str, Any]) -> ToolResult:
        id, name = text_of(part.get("tool_call_id")), _name(part)
        if id is None:
            named = [each for each in self._unanswered if each.name == name] or self._unanswered
            id = named[0].id if named else ""
        self._unanswered = [each for each in self._unanswered if each.id != id]
        structured = json.loads(_json(part.get("result")))
        return ToolResult(id, (Text(_result_text(part)),), structured, _is_error(part))


# ── entries ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _parts_of(content: Any) -> list[Mapping[str, Any]]:
    """The parts of an entry's content, each with what stands under its own `content` at its top."""
    listed = content if isinstance(content, list | tuple) else [] if content is None else [content]
    parts: list[Mapping[str, Any]] = []
    for each in listed:
        if not isinstance(each, Mapping):
            each = {"type": "text", "text": each}
        inner = each.get("content")
        parts.append({**each, **inner} if isinstance(inner, Mapping) else each)
    return parts


def _is_structured(content: Any) -> bool:
    return any(each.get("type") == "tool_result" for each in _parts_of(content))


def _keys(entry: Any) -> dict[str, Any]:
    return {key: value for key in ("tool_call_id", "name") if (value := field(entry, key)) is not None}


def _name(part: Mapping[str, Any]) -> str:
    return text_of(part.get("tool_name")) or text_of(part.get("name")) or ""


def _said(part: Mapping[str, Any]) -> str:
    """A part in words."""
    match part.get("type"):
        case "tool_call":
            return f"[called {_name(part)} with {_json(part.get('arguments') or {})}]"
        case "tool_result":
            return f"[result of {_name(part) or part.get('tool_call_id') or 'a call'}: {_result_text(part)}]"
        case _:
            text = next((part[key] for key in ("text", "content") if part.get(key) is not None), None)
            if text is None:
                return "" if part.get("type") == "text" else _json(part)
            return text if isinstance(text, str) else _json(text)


def _result_text(part: Mapping[str, Any]) -> str:
    """What a call came to: `result` as JSON, as the design has it; text that stands elsewhere as it is."""
    if "result" in part:
        return _json(part["result"])
    text = next((part[key] for key in ("text", "content", "error") if part.get(key) is not None), "")
    return text if isinstance(text, str) else _json(text)


def _is_error(part: Mapping[str, Any]) -> bool:
    return part.get("is_error") is True or bool(part.get("error"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
