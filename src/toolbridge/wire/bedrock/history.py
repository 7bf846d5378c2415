"""Reading a history from Bedrock's messages: a request's, or a reply's.

Results stand in messages of the user; here they are messages of their own. What only Bedrock understands (cache points,
guarded content, files in a bucket, tools that it runs itself) is kept whole, on the side that it comes from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from toolbridge.errors import HistoryError
from toolbridge.notes import Converted, Note, pointer
from toolbridge.stream.arguments import read_call
from toolbridge.types import Content, Foreign, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolbridge.wire.bedrock.blocks import get, kind_of, read_block, string, without_bytes

Path: TypeAlias = tuple[str | int, ...]
Side: TypeAlias = Literal["user", "assistant", "system"]

_ROLES: Final[Mapping[str, Side]] = {"user": "user", "assistant": "assistant", "system": "system"}


def read(source: Any, origin: str) -> Converted[tuple[Message, ...]]:
    """A request body, its fields, a reply, or the bare list of messages, as a history."""
    messages, start = _found(source)
    history = _History(origin)
    system = get(source, "system")
    if system is not None:
        history.say("system", system, ("system",))
    for index, message in enumerate(messages):
        history.take(message, (*start, index) if start != ("output",) else ("output", "message"))
    return Converted(tuple(history.messages), tuple(history.notes))


def _found(source: Any) -> tuple[list[Any], Path]:
    if isinstance(source, list):
        return source, ()
    if isinstance(source, Mapping):
        if isinstance(source.get("messages"), list):
            return source["messages"], ("messages",)
        if isinstance(message := get(source.get("output"), "message"), Mapping):
            return [message], ("output",)
        if source.get("messages") is None and source.get("system") is not None:
            return [], ()
    found = sorted(map(str, source))[:8] if isinstance(source, Mapping) else type(source).__name__
    raise HistoryError(f"expected a list of messages, or a request with `messages`, not {found}")


class _History:
    """The messages so far."""

    def __init__(self, origin: str) -> None:
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._origin = origin

    def take(self, message: Any, path: Path) -> None:
        if not isinstance(message, Mapping):
            self._note("message.unknown", path, message)
            return
        role = message.get("role")
        side = _ROLES.get(role) if isinstance(role, str) else None
        if side is None:
            self._note("role.unknown", (*path, "role"), role)
        self.say(side or "user", message.get("content"), (*path, "content"))

    def say(self, side: Side, content: Any, path: Path) -> None:
        """Blocks, as one message; as more, where results stand among them."""
        if isinstance(content, str):
            content = [{"text": content}]
        elif not isinstance(content, list):
            if content is not None:
                self._note("message.unknown", path, content)
            return
        run: list[Part] = []
        speaker: Role = side
        for index, block in enumerate(content):
            part = self._read(block, side, (*path, index))
            if part is None:
                continue
            whose: Role = (
                "tool" if isinstance(part, ToolResult) else "assistant" if isinstance(part, ToolCall) else side
            )
            if run and whose != speaker:
                self._add(speaker, run)
                run = []
            speaker = whose
            run.append(part)
        if run:
            self._add(speaker, run)

    def _add(self, role: Role, parts: list[Part]) -> None:
        mine = role == "assistant" or any(isinstance(part, Foreign) for part in parts)
        self.messages.append(Message(role, tuple(parts), self._origin if mine else ""))

    def _note(self, code: str, path: Path, before: Any) -> None:
        self.notes.append(Note(code, "narrowed", pointer(path), without_bytes(before)))

    def _read(self, block: Any, side: Side, path: Path) -> Part | None:
        kind = kind_of(block)
        value = get(block, kind)
        if kind in ("toolUse", "toolResult") and isinstance(value, Mapping):
            if kind == "toolUse" and value.get("type") is None:
                given = value.get("input")
                id, name = string(value.get("toolUseId")), string(value.get("name"))
                return read_call(id, name, given if given is not None else {})
            if kind == "toolResult" and side != "assistant":
                return self._read_result(value, path)
            return Foreign(kind, without_bytes(value))  # of a tool that the server runs itself
        part = read_block(block)
        if part is None or (isinstance(part, Reasoning) and side != "assistant"):
            self._note("part.unknown", path, block)
            return None
        return None if part == Text("") else part

    def _read_result(self, result: Mapping[Any, Any], path: Path) -> ToolResult:
        structured: Any = None
        content: list[Content] = []
        given = result.get("content")
        for index, block in enumerate(given if isinstance(given, list) else []):
            place = (*path, "toolResult", "content", index)
            if kind_of(block) == "json":
                if structured is None:
                    structured = without_bytes(block["json"])
                else:
                    content.append(Text(json.dumps(without_bytes(block["json"]), ensure_ascii=False, default=str)))
                continue
            part = read_block(block)
            if part is None or isinstance(part, Foreign | Reasoning):
                self._note("part.unknown", place, block)
            elif part != Text(""):
                content.append(part)
        if given is not None and not isinstance(given, list):
            self._note("part.unknown", (*path, "toolResult", "content"), given)
        is_error = result.get("status") == "error"
        return ToolResult(string(result.get("toolUseId")), tuple(content), structured, is_error)
