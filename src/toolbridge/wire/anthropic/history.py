"""Reading a history from messages of Anthropic's format: a request body, its fields, a list of messages, or a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from toolbridge.errors import HistoryError
from toolbridge.notes import Converted, Note, pointer
from toolbridge.stream.arguments import read_call
from toolbridge.types import Content, Foreign, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolbridge.wire.anthropic.blocks import (
    THOUGHTS,
    beside,
    beside_thought,
    kind_of,
    lost,
    read_content,
    string,
    whole,
)

Path: TypeAlias = tuple[str | int, ...]


def read(source: Any, origin: str) -> Converted[tuple[Message, ...]]:
    """The history, with a `tool` message in front of the user's for the results that stand in it."""
    history = _History(origin)
    if isinstance(source, list):
        history.read_messages(source, ())
    elif isinstance(source, Mapping) and isinstance(source.get("messages"), list):
        if source.get("system") is not None:
            history.read_system(source["system"], ("system",))
        history.read_messages(source["messages"], ("messages",))
    elif isinstance(source, Mapping) and isinstance(source.get("role"), str):
        history.read_message(source, ())
    else:
        found = sorted(map(str, source))[:8] if isinstance(source, Mapping) else type(source).__name__
        raise HistoryError(f"expected a list of messages, or a request with `messages`, not {found}")
    return Converted(tuple(history.messages), tuple(history.notes))


class _History:
    """The messages and the notes so far."""

    def __init__(self, origin: str) -> None:
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._origin = origin

    def read_system(self, content: Any, path: Path) -> None:
        parts = [part for part in self._content(content, path) if not isinstance(part, ToolResult)]
        self._add("system", parts)

    def read_messages(self, messages: list[Any], path: Path) -> None:
        for index, message in enumerate(messages):
            self.read_message(message, (*path, index))

    def read_message(self, message: Any, path: Path) -> None:
        role = message.get("role") if isinstance(message, Mapping) else None
        match role:
            case "system":
                self.read_system(message.get("content"), (*path, "content"))
            case "user":
                parts = self._content(message.get("content"), (*path, "content"))
                results = [part for part in parts if isinstance(part, ToolResult)]
                rest = [part for part in parts if not isinstance(part, ToolResult)]
                if results:
                    self._add("tool", results)
                if rest or not results:
                    self._add("user", rest)
            case "assistant":
                parts = self._said(message.get("content"), (*path, "content"))
                self.messages.append(Message("assistant", tuple(parts), self._origin, string(message.get("model"))))
            case _:
                self._unknown(message, path)

    def _add(self, role: Role, parts: Sequence[Part]) -> None:
        """A message of nobody's model. It has an origin only where something in it is for that provider alone."""
        kept = any(isinstance(part, Foreign) or (isinstance(part, Text) and part.opaque) for part in parts)
        self.messages.append(Message(role, tuple(parts), self._origin if kept else ""))

    def _unknown(self, value: Any, path: Path) -> None:
        self.notes.append(Note("part.unknown", "narrowed", pointer(path), value))

    def _blocks(self, content: Any, path: Path) -> list[tuple[Any, Path]]:
        """The blocks of a content, and where each of them stands."""
        if isinstance(content, str):
            return [({"type": "text", "text": content}, path)]
        if isinstance(content, list):
            return [(block, (*path, index)) for index, block in enumerate(content)]
        if content is not None:
            self._unknown(content, path)
        return []

    # ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _said(self, content: Any, path: Path) -> list[Part]:
        """What the assistant said, thought and called."""
        parts: list[Part] = []
        for block, place in self._blocks(content, path):
            kind = kind_of(block)
            if kind == "tool_use":
                parts.append(_read_call(block))
            elif kind in THOUGHTS:
                parts.append(Reasoning(string(block.get("thinking")), beside_thought(block)))
            elif kind == "tool_result":
                self.notes.append(Note("part.misplaced", "changed", pointer(place), string(block.get("tool_use_id"))))
                parts.append(self._result(block, place))
            else:
                parts += self._part(block, place)
        return parts

    def _content(self, content: Any, path: Path) -> list[Part]:
        """What a user, or the system, said, and results."""
        parts: list[Part] = []
        for block, place in self._blocks(content, path):
            kind = kind_of(block)
            if kind == "tool_result":
                parts.append(self._result(block, place))
            elif kind == "tool_use" or kind in THOUGHTS:
                self.notes.append(Note("part.misplaced", "narrowed", pointer(place), block))
            else:
                parts += self._part(block, place)
        return parts

    def _part(self, block: Any, path: Path) -> list[Content | Foreign]:
        part = read_content(block)
        if part is None:
            kind = kind_of(block)
            if kind in ("", "text", "image", "document"):
                self._unknown(block, path)
                return []
            return [Foreign(kind, whole(block))]
        self._note_lost(block, part, path)
        return [] if part == Text("") else [part]

    def _note_lost(self, block: Any, part: Content | Foreign, path: Path) -> None:
        if left := lost(block, part):
            self.notes.append(Note("opaque.dropped", "narrowed", pointer(path), left))

    def _result(self, block: Mapping[str, Any], path: Path) -> ToolResult:
        content: list[Content] = []
        for inner, place in self._blocks(block.get("content"), (*path, "content")):
            part = _read_search_result(inner) if kind_of(inner) == "search_result" else read_content(inner)
            if part is None or isinstance(part, Foreign):  # a result has no place for what only its provider can open
                self._unknown(inner, place)
            elif part != Text(""):
                self._note_lost(inner, part, place)
                if kind_of(inner) == "search_result":
                    self.notes.append(Note("search_result.said", "changed", pointer(place), inner))
                content.append(part)
        return ToolResult(string(block.get("tool_use_id")), tuple(content), is_error=block.get("is_error") is True)


def _read_call(block: Mapping[str, Any]) -> ToolCall:
    id, name = string(block.get("id")), string(block.get("name"))
    return read_call(id, name, block.get("input"), beside(block, "id", "name", "input"))


def _read_search_result(block: Mapping[str, Any]) -> Text:
    """A search result as text: its title, where it is from, and what it says."""
    content = block.get("content")
    inner = content if isinstance(content, list) else []
    texts = [part.text for each in inner if isinstance(part := read_content(each), Text)]
    said = [string(block.get("title")), string(block.get("source")), *texts]
    return Text("\n".join(text for text in said if text))
