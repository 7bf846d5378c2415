"""Reading a history from items of the Responses format: a request's `input`, or a response's `output`.

Items of the assistant that follow each other are one message, and so are results; only texts without an id are each a
message of their own, as they are written. Items that only the provider understands are kept whole, on the side that
they come from: a hosted search is the assistant's, the approval of a hosted call is the user's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from toolbridge.errors import HistoryError
from toolbridge.notes import Converted, Note, pointer
from toolbridge.stream.arguments import read_arguments, read_call
from toolbridge.types import Content, Foreign, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolbridge.wire.responses.content import KINDS, read_part
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

Path: TypeAlias = tuple[str | int, ...]

OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})

FROM_THE_CLIENT: Final = frozenset(
    {
        "computer_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "mcp_approval_response",
        "additional_tools",
        "configuration_update",
        "compaction_trigger",
    }
)
"""Items that the caller sends and no model says (openai 3.49 `ResponseInputItemParam`)."""

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


def read(source: Any, origin: str) -> Converted[tuple[Message, ...]]:
    """A request body, its fields, a response, or the bare list of items, as a history."""
    items, instructions, start, model = _found(source)
    history = _History(origin, model)
    if instructions is not None:
        history.instruct(instructions)
    for index, item in enumerate(items):
        history.take(item, (*start, index))
    history.close()
    return Converted(tuple(history.messages), tuple(history.notes))


def _found(source: Any) -> tuple[list[Any], Any, tuple[str, ...], str]:
    """(the items, the instructions, where the items stand, the model that said them)"""
    if isinstance(source, list):
        return source, None, (), ""
    if isinstance(source, Mapping):
        given = source.get("input")
        if isinstance(given, str):
            return [{"role": "user", "content": given}], source.get("instructions"), ("input",), ""
        if isinstance(given, list):
            return given, source.get("instructions"), ("input",), ""
        if isinstance(source.get("output"), list) and source.get("type") not in OUTPUTS:
            return source["output"], None, ("output",), string(source.get("model"))
        if kind_of(source):
            return [source], None, (), ""
        if source.get("instructions") is not None and "input" not in source:
            return [], source["instructions"], (), ""
    found = sorted(map(str, source))[:8] if isinstance(source, Mapping) else type(source).__name__
    raise HistoryError(f"expected a list of items, or a request with `input`, or a response with `output`, not {found}")


class _History:
    """The messages so far, with the assistant's message and the results that are still open."""

    def __init__(self, origin: str, model: str) -> None:
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._origin = origin
        self._model = model
        self._said: list[Part] = []
        self._results: list[Part] = []

    def instruct(self, instructions: Any) -> None:
        if isinstance(instructions, list):
            for index, item in enumerate(instructions):
                self.take(item, ("instructions", index))
        elif isinstance(instructions, str):
            self._add("system", (Text(instructions),) if instructions else ())
        else:
            self._unknown(instructions, ("instructions",))

    def take(self, item: Any, path: Path) -> None:
        kind = kind_of(item)
        if not kind and isinstance(item, Mapping) and isinstance(item.get("id"), str):
            kind = "item_reference"  # the one item that may leave its type out
        if not kind:
            self._unknown(item, path)
        elif kind == "message":
            self._take_message(item, path)
        elif kind in CALLS:
            self._say(_read_call(item, kind))
        elif kind in OUTPUTS:
            self._answer(item, path)
        elif kind == "reasoning":
            self._say(Reasoning(reasoning_text(item), dict(item)))
        elif kind in FROM_THE_CLIENT or (kind == "tool_search_output" and item.get("execution") == "client"):
            self._add("user", (Foreign(kind, dict(item)),))
        elif kind in KINDS:
            part = read_part(item)  # a part without a message around it
            if part is None:
                self._unknown(item, path)
            else:
                self._add("user", (part,))
        else:
            self._say(Foreign(kind, dict(item)))

    def close(self) -> None:
        """Ends the assistant's message, or the results, that are open."""
        if self._said:
            self.messages.append(Message("assistant", tuple(self._said), self._origin, self._model))
            self._said = []
        if self._results:
            self.messages.append(Message("tool", tuple(self._results)))
            self._results = []

    def _add(self, role: Role, parts: tuple[Part, ...]) -> None:
        self.close()
        foreign = any(isinstance(part, Foreign) for part in parts)
        self.messages.append(Message(role, parts, self._origin if foreign else ""))

    def _say(self, part: Part) -> None:
        if self._results:
            self.close()
        self._said.append(part)

    def _unknown(self, value: Any, path: Path) -> None:
        self.notes.append(Note("part.unknown", "narrowed", pointer(path), value))

    def _take_message(self, item: Mapping[str, Any], path: Path) -> None:
        role = _ROLES.get(string(item.get("role")))
        if role is None:
            self._unknown(item, path)
        elif role == "assistant":
            self._take_said(item, path)
        else:
            self._add(role, tuple(part for part, _ in self._read_content(item.get("content"), (*path, "content"))))

    def _take_said(self, item: Mapping[str, Any], path: Path) -> None:
        if self._said and isinstance(self._said[-1], Text) and not item.get("id"):
            self.close()  # by its id a message is part of a reply; without one, a message behind a text is another
        content = item.get("content")
        if isinstance(content, str):
            content = [{"type": "output_text", "text": content}]
        for index, part in enumerate(content if isinstance(content, list) else []):
            text = text_of(part)
            if text is None:
                self._unknown(part, (*path, "content", index))
            elif text:
                self._say(Text(text, beside_text(item, part)))
        if content is not None and not isinstance(content, list):
            self._unknown(content, (*path, "content"))

    def _read_content(self, content: Any, path: Path) -> list[tuple[Content | Foreign, Path]]:
        """The parts of a message or of an output, and where each of them stands."""
        if isinstance(content, str):
            return [(Text(content), path)] if content else []
        if not isinstance(content, list):
            if content is not None:
                self._unknown(content, path)
            return []
        parts: list[tuple[Content | Foreign, Path]] = []
        for index, given in enumerate(content):
            part = read_part(given)
            if part is None:
                self._unknown(given, (*path, index))
            elif part != Text(""):
                parts.append((part, (*path, index)))
        return parts

    def _answer(self, item: Mapping[str, Any], path: Path) -> None:
        if self._said:
            self.close()
        output = item.get("output")
        content: list[Content] = []
        if isinstance(output, str | list) or output is None:
            for part, place in self._read_content(output, (*path, "output")):
                if isinstance(part, Foreign):  # a result has no place for what only its provider can open
                    self._unknown(part.opaque, place)
                else:
                    content.append(part)
        else:
            content += self._read_value(output, (*path, "output"))
        self._results.append(ToolResult(call_id(item), tuple(content)))

    def _read_value(self, output: Any, path: Path) -> list[Content]:
        """An output that is neither text nor parts: what some servers let pass, and send on as JSON."""
        try:
            return [Text(json.dumps(output, ensure_ascii=False))]
        except (TypeError, ValueError, RecursionError):
            self._unknown(output, path)
            return []


def _read_call(item: Mapping[str, Any], kind: str) -> ToolCall:
    id, name, given, beside = call_id(item), string(item.get("name")), item.get(CALLS[kind]), beside_call(item)
    if kind == "custom_tool_call" and isinstance(given, str):
        return ToolCall(id, name, given, *read_arguments(given), beside)  # any text is right: nothing to unwrap
    return read_call(id, name, given, beside)
