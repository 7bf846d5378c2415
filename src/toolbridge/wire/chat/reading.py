"""Histories in the form of Chat Completions, read: everything that people have in them, of any vendor and any year.

Nothing here raises because of what stands in a message: what is not understood is noted, and the rest is read. Results
without an id, and those of the old `function_call`, are paired with their calls by name.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolbridge.errors import HistoryError
from toolbridge.notes import Converted, Note, pointer
from toolbridge.stream.arguments import read_call
from toolbridge.types import (
    EMPTY,
    Content,
    Foreign,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from toolbridge.wire.chat.calls import read_entry, read_id
from toolbridge.wire.chat.parts import read_content, read_part
from toolbridge.wire.chat.reasoning import DETAILS, FIELDS, THINKING, read_thoughts

Wire: TypeAlias = dict[str, Any]

_PLAIN_FIELDS = frozenset({"role", "content", "name", "custom_content"})
_RESULT_FIELDS = frozenset({"role", "content", "name", "tool_call_id"})
_ASSISTANT_FIELDS = _PLAIN_FIELDS | frozenset(
    {"tool_calls", "function_call", "refusal", "audio", "images", "extra_content", "annotations"}
    | {DETAILS, THINKING, *FIELDS}
)


def read(source: Any, origin: str) -> Converted[tuple[Message, ...]]:
    """A request body, its fields, or the bare list, as a history; `origin` is whose the assistant's messages are."""
    where = ""
    messages = source
    if isinstance(source, dict):
        where, messages = "/messages", source.get("messages")
    if not isinstance(messages, list):
        raise HistoryError(
            "expected a list of messages, or a request body with one under 'messages', not "
            + (f"a dict with the keys {list(source)[:10]}" if isinstance(source, dict) else type(source).__name__)
        )
    reader = _Reader(origin)
    for i, message in enumerate(messages):
        reader.read(message, f"{where}/{i}", i)
    reader.end_results()
    return Converted(tuple(reader.messages), tuple(reader.notes))


@dataclass(slots=True)
class _Reader:
    origin: str
    messages: list[Message] = field(default_factory=list[Message])
    notes: list[Note] = field(default_factory=list[Note])
    _results: list[ToolResult] = field(default_factory=list[ToolResult])
    _unanswered: set[str] = field(default_factory=set[str])
    _in_order: deque[str] = field(default_factory=deque[str])
    """Ids of calls, oldest first; those that were answered in between are skipped when their turn comes."""
    _by_name: dict[str, deque[str]] = field(default_factory=dict[str, "deque[str]"])

    def read(self, message: Any, path: str, number: int) -> None:
        if not isinstance(message, dict):
            self._note("message.unknown", path, message)
            return
        role = message.get("role")
        match role:
            case "system" | "developer" | "user":
                self._add("user" if role == "user" else "system", self._plain_parts(message, path))
                self._note_rest(message, path, _PLAIN_FIELDS)
            case "assistant":
                self._add("assistant", self._assistant_parts(message, path, number))
                self._note_rest(message, path, _ASSISTANT_FIELDS)
            case "tool" | "function":
                self._results.append(self._result(message, path, legacy=role == "function"))
                self._note_rest(message, path, _RESULT_FIELDS)
            case _:
                self._note("role.unknown", path, message)

    def end_results(self) -> None:
        """Results that follow one another are one message."""
        if self._results:
            self.messages.append(Message("tool", tuple(self._results)))
            self._results.clear()

    def _add(self, role: Role, parts: list[Part]) -> None:
        """A message. Whose it is counts for the assistant's, and for what only its provider understands."""
        self.end_results()
        owned = role == "assistant" or any(isinstance(each, Foreign) or getattr(each, "opaque", None) for each in parts)
        self.messages.append(Message(role, tuple(parts), self.origin if owned else ""))

    # ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _plain_parts(self, message: Wire, path: str) -> list[Part]:
        parts: list[Part] = [*read_content(message.get("content"), f"{path}/content", self.notes)]
        custom = message.get("custom_content")
        if isinstance(custom, dict):
            parts.append(Foreign("custom_content", dict(custom)))
        return parts

    def _assistant_parts(self, message: Wire, path: str, number: int) -> list[Part]:
        parts: list[Part] = [
            Reasoning(thought.text, thought.opaque)
            for thought in read_thoughts(message, whole=True)
            if thought.text.strip() or len(thought.opaque) > 1
        ]
        parts += self._plain_parts(message, path)
        extra = message.get("extra_content")
        if extra is not None:
            self._add_extra(parts, extra)
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal:
            parts.append(Text(refusal, {"type": "refusal"}))
        images = message.get("images")
        for i, image in enumerate(images if isinstance(images, list) else ()):
            part = read_part(image, f"{path}/images/{i}", self.notes)
            if part is not None:
                parts.append(part)
        parts += self._spoken(message, path)
        parts += self._calls(message, path, number)
        return parts

    def _add_extra(self, parts: list[Part], extra: Any) -> None:
        """A signature of the message's text belongs to the text."""
        for i, part in enumerate(parts):
            if isinstance(part, Text):
                parts[i] = Text(part.text, {**part.opaque, "extra_content": extra})
                return
        parts.append(Text("", {"extra_content": extra}))

    def _spoken(self, message: Wire, path: str) -> list[Part]:
        audio = message.get("audio")
        if audio is None:
            return []
        id = audio.get("id") if isinstance(audio, dict) else None
        if not isinstance(id, str):
            self._note("part.unknown", f"{path}/audio", audio)
            return []
        transcript = audio.get("transcript")
        said: list[Part] = []
        if isinstance(transcript, str) and transcript:
            said.append(Text(transcript, {"type": "transcript"}))
        if audio.get("data"):
            self._note("audio.dropped", f"{path}/audio/data", None)
        return [*said, Foreign("audio", {"id": id})]

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _calls(self, message: Wire, path: str, number: int) -> list[ToolCall]:
        calls: list[ToolCall] = []
        given = message.get("tool_calls")
        entries = given if isinstance(given, list) else [] if given is None else [given]
        for i, entry in enumerate(entries):
            place = f"{path}/tool_calls/{i}"
            if isinstance(entry, dict):
                calls.append(self._call(entry, place, f"call_{number}_{i}"))
            else:
                self._note("call.unknown", place, entry)
        legacy = message.get("function_call")
        if isinstance(legacy, dict) and (legacy.get("name") or legacy.get("arguments")):
            calls.append(self._call({"function": legacy}, f"{path}/function_call", f"call_{number}"))
        elif legacy is not None and not isinstance(legacy, dict):
            self._note("call.unknown", f"{path}/function_call", legacy)
        for call in calls:
            self._unanswered.add(call.id)
            self._in_order.append(call.id)
            self._by_name.setdefault(call.name, deque()).append(call.id)
        return calls

    def _call(self, given: Wire, path: str, made_id: str) -> ToolCall:
        entry = read_entry(given)
        if not entry.name:
            self._note("call.nameless", path, given)
        if not entry.id:
            self.notes.append(Note("call.id_made", "changed", path, given.get("id")))
        return read_call(entry.id or made_id, entry.name, entry.given, entry.opaque or EMPTY)

    # ── results ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _result(self, message: Wire, path: str, legacy: bool) -> ToolResult:
        id = read_id(message.get("tool_call_id")) or self._matching(message, path, legacy)
        self._unanswered.discard(id)
        return ToolResult(id, tuple(self._result_content(message, path)))

    def _matching(self, message: Wire, path: str, legacy: bool) -> str:
        """The call that a result without an id answers: by its name, else the first that has no answer yet. Of several
        by one name, the old form, which had one call at a time, means the last, and the new one the first."""
        name = message.get("name")
        name = name if isinstance(name, str) else ""
        waiting = self._by_name.get(name, deque[str]()) if name else self._in_order
        while waiting:
            id = waiting.pop() if legacy else waiting.popleft()
            if id in self._unanswered:
                if not (legacy and name):
                    self.notes.append(Note("result.matched", "changed", path, name))
                return id
        self._note("result.unmatched", path, name)
        return ""

    def _result_content(self, message: Wire, path: str) -> list[Content]:
        given = message.get("content")
        if not isinstance(given, str | list) and given is not None:
            # Some put the value there that a tool returned.
            self.notes.append(Note("content.said", "changed", f"{path}/content", given))
            return [Text(_written(given))]
        content: list[Content] = []
        for part in read_content(given, f"{path}/content", self.notes):
            if isinstance(part, Foreign | Reasoning):
                self._note("part.unknown", f"{path}/content", dict(part.opaque))
            else:
                content.append(part)
        return content

    # ── notes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _note(self, code: str, path: str, before: Any) -> None:
        self.notes.append(Note(code, "narrowed", path, before))

    def _note_rest(self, message: Wire, path: str, known: frozenset[str]) -> None:
        """What a message has beside what was read."""
        if len(message) == 2 and "content" in message:
            return
        if (name := message.get("name")) and known is not _RESULT_FIELDS:
            self._note("name.dropped", f"{path}/name", name)
        if (annotations := message.get("annotations")) and known is _ASSISTANT_FIELDS:
            self._note("annotations.dropped", f"{path}/annotations", annotations)
        for key, value in message.items():
            if key not in known and value is not None:
                self._note("field.unknown", path + pointer([str(key)]), value)


def _written(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError, RecursionError):
        return str(type(value).__name__)
