"""Reading a history from Gemini's contents: a request's, or what google-genai takes for one (text, parts, contents).

Results belong to calls by their id, and where they have none by name and order: the first call of that name which is
not answered yet. Calls without an id get one, so that both sides have it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final, Literal, TypeAlias

from toolbridge.errors import HistoryError
from toolbridge.notes import Converted, Note, pointer
from toolbridge.stream.arguments import read_call
from toolbridge.types import (
    Audio,
    Content,
    Foreign,
    Image,
    Message,
    Part,
    Reasoning,
    Resource,
    ResourceLink,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from toolbridge.wire.gemini.parts import beside, blob, get, is_set, kind_of, string, whole

Path: TypeAlias = tuple[str | int, ...]
Side: TypeAlias = Literal["user", "assistant", "system"]

_ROLES: Final[Mapping[str, Side]] = {
    "user": "user",
    "function": "user",
    "tool": "user",
    "model": "assistant",
    "assistant": "assistant",
    "system": "system",
}

_OWN_ADDRESS: Final = re.compile(
    r"(?!https?://)|https?://(?:[\w.-]*\.)?(?:googleapis\.com|youtube\.com|youtu\.be)(?:[:/]|$)", re.I
)
"""Files that nobody but Google can open, or look at: in its stores, by its Files API, on YouTube."""


def read(source: Any, origin: str) -> Converted[tuple[Message, ...]]:
    """A request body, its fields, the arguments of an SDK's call, a reply, or the bare contents, as a history."""
    contents, instruction, start = _found(source)
    history = _History(origin, contents)
    if instruction is not None:
        place, value = instruction
        history.say("system", list(_parts_of(value, place)))
    places = enumerate(contents) if isinstance(contents, list) else [(None, contents)]
    placed = [(each, start if index is None else (*start, index)) for index, each in places]
    for loose, run in groupby(placed, lambda each: _is_part(each[0])):
        if loose:
            history.say("user", list(run))
            continue
        for content, path in run:
            history.take(content, path)
    return Converted(tuple(history.messages), tuple(history.notes))


def _found(source: Any) -> tuple[Any, tuple[Path, Any] | None, Path]:
    """(the contents; where the instructions stand, and they; where the contents stand)"""
    if isinstance(source, list):
        return source, None, ()
    if isinstance(source, Mapping):
        if is_set(source, "contents"):
            return source["contents"], _instruction(source), ("contents",)
        if is_set(source, "parts"):
            return source, None, ()
        candidates = get(source, "candidates")
        if isinstance(candidates, list):
            content = get(candidates[0], "content") if candidates else None
            return content if content is not None else [], None, ("candidates", 0, "content")
        if (instruction := _instruction(source)) is not None:
            return [], instruction, ()
    found = sorted(map(str, source))[:8] if isinstance(source, Mapping) else type(source).__name__
    raise HistoryError(f"expected a list of contents, or a request with `contents`, not {found}")


def _instruction(source: Mapping[Any, Any]) -> tuple[Path, Any] | None:
    """Where an instruction stands, and it: in a request, or in the `config` of an SDK's call."""
    for place, holder in (((), source), (("config",), get(source, "config"))):
        found = get(holder, "systemInstruction")
        if found is not None:
            return (*place, "systemInstruction"), found
    return None


def _parts_of(value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
    """The parts of an instruction, which may be a text, a part, a content, or a list of these, with their places."""
    if isinstance(value, Mapping) and is_set(value, "parts"):
        value, path = value["parts"], (*path, "parts")
    if not isinstance(value, list):
        yield value, path
        return
    for index, each in enumerate(value):
        if isinstance(each, Mapping) and is_set(each, "parts"):
            yield from ((part, (*path, index, "parts", i)) for i, part in enumerate(_list(each["parts"])))
        else:
            yield each, (*path, index)


def _is_part(content: Any) -> bool:
    """Whether a part stands among contents: google-genai takes it, and its neighbours with it, for a content."""
    if not isinstance(content, Mapping):
        return isinstance(content, str)
    return not is_set(content, "parts") and kind_of(content) not in ("", "role", "parts")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


class _Calls:
    """The calls that wait for a result, and the ids of those that have none of their own."""

    def __init__(self, contents: Any) -> None:
        self._taken = set(_ids(contents))
        self._count = 0
        self._by_id: set[str] = set()
        self._by_name: dict[str, deque[str]] = {}

    def open(self, id: str, name: str) -> str:
        id = id or self._made()
        self._by_id.add(id)
        self._by_name.setdefault(name, deque()).append(id)
        return id

    def answered(self, id: str, name: str) -> str:
        """The id of the call that this is the result of."""
        if not id:
            waiting = self._by_name.get(name) or deque()
            while waiting and waiting[0] not in self._by_id:
                waiting.popleft()  # answered by its id
            id = waiting.popleft() if waiting else self._made()
        self._by_id.discard(id)
        return id

    def _made(self) -> str:
        while (id := f"call_{self._count}") in self._taken:
            self._count += 1
        self._taken.add(id)
        return id


def _ids(contents: Any) -> Iterator[str]:
    """All ids that are there, so that no made one is among them."""
    for content in _list(contents):
        for part in _list(get(content, "parts")) if is_set(content, "parts") else [content]:
            for kind in ("functionCall", "functionResponse"):
                id = get(get(part, kind), "id")
                if isinstance(id, str):
                    yield id


class _History:
    """The messages so far."""

    def __init__(self, origin: str, contents: Any) -> None:
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._origin = origin
        self._calls = _Calls(contents)

    def take(self, content: Any, path: Path) -> None:
        if isinstance(content, list):
            self.say("user", [(part, (*path, index)) for index, part in enumerate(content)])
            return
        if not isinstance(content, Mapping):
            self._note("message.unknown", path, content)
            return
        role = get(content, "role")
        side = _ROLES.get(role.lower()) if isinstance(role, str) else "user" if role is None else None
        if side is None:
            self._note("role.unknown", (*path, "role"), role)
        parts = enumerate(_list(get(content, "parts")))
        self.say(side or "user", [(part, (*path, "parts", index)) for index, part in parts])

    def say(self, side: Side, parts: list[tuple[Any, Path]]) -> None:
        """Parts, as one message; as more, where calls or results stand among what is not of their side."""
        run: list[Part] = []
        speaker: Role = side
        for part, path in parts:
            for whose, read in self._read(part, side, path):
                if run and whose != speaker:
                    self._add(speaker, run)
                    run = []
                speaker = whose
                run.append(read)
        if run:
            self._add(speaker, run)

    def _add(self, role: Role, parts: list[Part]) -> None:
        mine = role == "assistant" or any(isinstance(part, Foreign) or getattr(part, "opaque", None) for part in parts)
        self.messages.append(Message(role, tuple(parts), self._origin if mine else ""))

    def _note(self, code: str, path: Path, before: Any) -> None:
        self.notes.append(Note(code, "narrowed", pointer(path), before))

    def _read(self, part: Any, side: Side, path: Path) -> list[tuple[Role, Part]]:
        if isinstance(part, str):
            return [(side, Text(part))] if part else []
        if not isinstance(part, Mapping):
            self._note("part.unknown", path, part)
            return []
        kind, value, opaque = kind_of(part), get(part, kind_of(part)), beside(part)
        match kind:
            case "functionCall":
                return [("assistant", self._read_call(value, opaque, path))] if self._is_object(value, path) else []
            case "functionResponse":
                return [("tool", self._read_result(value, path))] if self._is_object(value, path) else []
            case "text" if isinstance(value, str):
                if get(part, "thought") is True and side == "assistant":
                    return [(side, Reasoning(value, opaque))]
                return [(side, Text(value, opaque))] if value or opaque else []
            case "inlineData" | "fileData":
                read = self._read_medium(part, kind, value, opaque, side, path)
                return [(side, read)] if read is not None else []
            case "":
                return [(side, Text("", opaque))] if opaque else []
            case "text":
                self._note("part.unknown", path, part)
                return []
            case _:
                return [(side, Foreign(kind, whole(part)))]

    def _is_object(self, value: Any, path: Path) -> bool:
        if not isinstance(value, Mapping):
            self._note("part.unknown", path, value)
        return isinstance(value, Mapping)

    def _read_call(self, call: Mapping[Any, Any], opaque: dict[str, Any], path: Path) -> ToolCall:
        if get(call, "partialArgs") or get(call, "willContinue") is True:
            # A stream that somebody kept in its pieces. What is whole in it is read.
            self._note("arguments.unread", path, get(call, "partialArgs"))
        name, arguments = string(get(call, "name")), get(call, "args")
        id = self._calls.open(string(get(call, "id")), name)
        return read_call(id, name, arguments if arguments is not None else {}, opaque)

    # ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_result(self, response: Mapping[Any, Any], path: Path) -> ToolResult:
        for name in ("willContinue", "scheduling"):
            if is_set(response, name):
                self._note("opaque.dropped", (*path, "functionResponse"), [name])
        said, is_error = _said(get(response, "response"))
        content: list[Content] = [Text(said)] if isinstance(said, str) and said else []
        media = get(response, "parts")
        for index, part in enumerate(media if isinstance(media, list) else []):
            place = (*path, "functionResponse", "parts", index)
            kind = kind_of(part) if isinstance(part, Mapping) else ""
            read = None
            if kind in ("inlineData", "fileData"):
                read = self._read_medium(part, kind, get(part, kind), beside(part), "user", place)
            if read is None or isinstance(read, Foreign):
                self._note("part.unknown", place, part)
            else:
                content.append(read)
        id = self._calls.answered(string(get(response, "id")), string(get(response, "name")))
        return ToolResult(id, tuple(content), None if isinstance(said, str) else said, is_error)

    # ── media ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _read_medium(
        self, part: Mapping[Any, Any], kind: str, value: Any, opaque: dict[str, Any], side: Side, path: Path
    ) -> Content | Foreign | None:
        if kind == "fileData":
            uri = string(get(value, "fileUri"))
            if not uri or _OWN_ADDRESS.match(uri) or side == "assistant":
                return Foreign(kind, whole(part))
            read = ResourceLink(uri, string(get(value, "displayName")), string(get(value, "mimeType")) or None)
        else:
            found = blob(value)
            if found is None:
                self._note("part.unknown", path, part)
                return None
            data, mime_type = found
            if mime_type.startswith("image/") and not (side == "assistant" and get(part, "thought") is True):
                return Image(data, mime_type, opaque)
            if side == "assistant":
                return Foreign(kind, whole(part))
            if mime_type.startswith("audio/"):
                read = Audio(data, mime_type)
            else:
                read = Resource(string(get(value, "displayName")), mime_type or None, blob=data)
        if opaque:
            self._note("opaque.dropped", path, sorted(opaque))
        return read


def _said(response: Any) -> tuple[Any, bool]:
    """(what a response says, whether it is a failure): under `output` or `error`, or else all of it."""
    if not isinstance(response, Mapping):
        return response, False
    told = {str(key): value for key, value in response.items() if value is not None}
    for key in ("output", "error"):
        if list(told) == [key]:
            return told[key], key == "error"
    return (dict(response) if told or not response else None), "error" in told
