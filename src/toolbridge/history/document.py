"""A history as a JSON document: to be kept, sent, and read back as it was.

    {"toolbridge": "history", "version": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}

Fields carry the names they have in `toolbridge.types`; those that have their default are left out. Nothing is lost:
opaque values, notes and what is for hosts are in it. What JSON has no form for and histories do hold (bytes, numbers
that are not finite) stands in an object with the one key `$bytes` or `$number`; tuples become lists.

This is our own form. The messages of a provider are read by `provider.read_messages`.
"""

from __future__ import annotations

import math
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeAlias, get_args

from toolbridge.errors import HistoryError
from toolbridge.notes import Converted, Effect, Note, pointer
from toolbridge.stream.plain import read_json
from toolbridge.types import (
    Audio,
    FailureKind,
    Foreign,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Role,
    Text,
    ToolCall,
    ToolResult,
)

VERSION = 1
"""Raised when a reader of the old form would misread the new one."""

LONGEST_PATH = 4096
"""A longer text is no path."""

_Place: TypeAlias = tuple[str | int, ...]
_BYTES, _NUMBER, _OBJECT = "$bytes", "$number", "$object"
_TAGS = frozenset({_BYTES, _NUMBER, _OBJECT})


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def write_history(messages: Iterable[Message]) -> dict[str, Any]:
    """The history as a document that `json.dumps` writes and `read_history` reads.

    Raises `HistoryError` where there is something in it that is no JSON and could not be read back.
    """
    try:
        written = [_write(message, ("messages", i)) for i, message in enumerate(messages)]
    except RecursionError:
        raise HistoryError("/messages: nested too deeply to be written") from None
    return {"toolbridge": "history", "version": VERSION, "messages": written}


def _write(value: Any, place: _Place) -> dict[str, Any]:
    """A message, a part or a note: its type where there is more than one, and every field that is not as always."""
    kind = type(value)
    if kind not in _DEFAULTS:
        raise HistoryError(f"{pointer(place)}: a {kind.__name__} is no part of a history")
    written: dict[str, Any] = {"type": _NAMES[kind]} if kind in _NAMES else {}
    for name, default in _DEFAULTS[kind].items():
        held = getattr(value, name)
        if name in ("parts", "content", "notes"):
            if held or default is MISSING:
                written[name] = [_write(each, (*place, name, i)) for i, each in enumerate(held)]
        elif isinstance(default, Mapping):
            if held:
                written[name] = _json(held, (*place, name))
        elif default is MISSING or type(held) is not type(default) or held != default:
            written[name] = _json(held, (*place, name))
    return written


def _json(value: Any, place: _Place) -> Any:
    """A value as JSON, with tags on what JSON has no form for."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_NUMBER: repr(value)}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise HistoryError(f"{pointer(place)}: the key {key!r} is no text, as keys in JSON are")
        written = {key: _json(each, (*place, key)) for key, each in value.items()}
        return {_OBJECT: written} if len(written) == 1 and not _TAGS.isdisjoint(written) else written
    if isinstance(value, list | tuple):
        return [_json(each, (*place, i)) for i, each in enumerate(value)]
    if isinstance(value, bytes | bytearray):
        return {_BYTES: b64encode(value).decode("ascii")}
    raise HistoryError(f"{pointer(place)}: a {type(value).__name__} is no JSON")


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_history(source: Any) -> Converted[tuple[Message, ...]]:
    """The history in a document: a path, JSON text, the document itself, or the bare list of its messages.

    Raises `HistoryError` with the place of what is not understood. Fields that are not known are left out, and noted.
    """
    try:
        return _read_source(source)
    except RecursionError:
        raise HistoryError("nested too deeply to be a history") from None


def _read_source(source: Any) -> Converted[tuple[Message, ...]]:
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not _looks_like_json(source)):
        path = Path(source)
        try:
            return _read_source(path.read_bytes())
        except OSError as failure:
            raise HistoryError(f"{path}: {(failure.strerror or str(failure)).lower()}") from None
        except ValueError as failure:  # a NUL in the name
            raise HistoryError(f"{str(path)!r}: {failure}") from None
        except HistoryError as failure:
            raise HistoryError(f"{path}: {failure}") from None
    if isinstance(source, str | bytes | bytearray):
        source = read_json(source)
    notes: list[Note] = []
    if isinstance(source, Mapping):
        _check_document(source)
        return Converted(_messages(source.get("messages"), ("messages",), notes), tuple(notes))
    return Converted(_messages(source, (), notes), tuple(notes))


def _looks_like_json(text: str) -> bool:
    return (
        text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", '"')
        or "\n" in text
        or len(text) > LONGEST_PATH
        or not text.strip()
    )


def _check_document(document: Mapping[Any, Any]) -> None:
    kind, version = document.get("toolbridge"), document.get("version")
    if kind != "history":
        raise HistoryError(
            '/toolbridge: expected "history", which marks a history of this form; '
            "the messages of a provider are read by its read_messages"
        )
    if type(version) is not int or version != VERSION:
        raise HistoryError(f"/version: {version!r} is not known here; this toolbridge reads version {VERSION}")


def _messages(value: Any, place: _Place, notes: list[Note]) -> tuple[Message, ...]:
    if not isinstance(value, list | tuple):
        raise _unexpected(value, place, "a list of messages")
    return tuple(
        each if isinstance(each, Message) else _read(Message, _MESSAGE, each, (*place, i), notes)
        for i, each in enumerate(value)
    )


def _read(kind: type[Any], readers: Mapping[str, _Reader], value: Any, place: _Place, notes: list[Note]) -> Any:
    """A message, a part or a note, from its fields."""
    if not isinstance(value, Mapping):
        raise _unexpected(value, place, "an object")
    found: dict[str, Any] = {}
    for name, held in value.items():
        if name in readers:
            found[name] = readers[name](held, (*place, name), notes)
        elif name != "type" or kind not in _NAMES:
            notes.append(Note("field.unknown", "narrowed", pointer((*place, name)), held))
    for name, default in _DEFAULTS[kind].items():
        if default is MISSING and name not in found:
            raise HistoryError(f'{pointer(place)}: "{name}" is missing')
    return kind(**found)


def _part_of(types: Mapping[str, tuple[type[Any], Mapping[str, _Reader]]]) -> _Reader:
    def read(value: Any, place: _Place, notes: list[Note]) -> Any:
        if not isinstance(value, Mapping):
            raise _unexpected(value, place, "an object")
        name = value.get("type")
        if not isinstance(name, str) or name not in types:
            raise HistoryError(f"{pointer(place)}: unknown type {name!r}; expected one of {', '.join(types)}")
        kind, readers = types[name]
        return _read(kind, readers, value, place, notes)

    return read


# ── fields ───────────────────────────────────────────────────────────────────────────────────────────────────────

_Reader: TypeAlias = Callable[[Any, _Place, list[Note]], Any]


def _text(value: Any, place: _Place, notes: list[Note]) -> str:
    if not isinstance(value, str):
        raise _unexpected(value, place, "a text")
    return value


def _flag(value: Any, place: _Place, notes: list[Note]) -> bool:
    if not isinstance(value, bool):
        raise _unexpected(value, place, "true or false")
    return value


def _object(value: Any, place: _Place, notes: list[Note]) -> dict[str, Any]:
    found = _value(value, place, notes)
    if not isinstance(found, dict):
        raise _unexpected(value, place, "an object")
    return found


def _value(value: Any, place: _Place, notes: list[Note]) -> Any:
    """Any JSON, with what the tags stand for."""
    if isinstance(value, list | tuple):
        return [_value(each, (*place, i), notes) for i, each in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        [(key, held)] = value.items()
        if key == _OBJECT and isinstance(held, Mapping):
            value = held
        elif key in _TAGS:
            return _tagged(key, held, place)
    return {str(key): _value(each, (*place, str(key)), notes) for key, each in value.items()}


def _tagged(tag: str, held: Any, place: _Place) -> bytes | float:
    try:
        if tag == _BYTES:
            return b64decode(held, validate=True)
        if tag == _NUMBER:
            return float(held)
    except (TypeError, ValueError):
        pass
    raise HistoryError(f"{pointer(place)}: no value of {tag}: {held!r:.80}")


def _maybe(reader: _Reader) -> _Reader:
    return lambda value, place, notes: None if value is None else reader(value, place, notes)


def _each(reader: _Reader) -> _Reader:
    def read(value: Any, place: _Place, notes: list[Note]) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _unexpected(value, place, "a list")
        return tuple(reader(each, (*place, i), notes) for i, each in enumerate(value))

    return read


def _one_of(*words: str) -> _Reader:
    def read(value: Any, place: _Place, notes: list[Note]) -> str:
        if not isinstance(value, str) or value not in words:
            raise HistoryError(f"{pointer(place)}: {value!r:.80}; expected one of {', '.join(words)}")
        return value

    return read


def _unexpected(value: Any, place: _Place, expected: str) -> HistoryError:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}
    kind = "null" if value is None else kinds.get(type(value), f"a {type(value).__name__}")
    return HistoryError(f"{pointer(place) or '/'}: expected {expected}, not {kind}")


_NOTE: Mapping[str, _Reader] = {"code": _text, "effect": _one_of(*get_args(Effect)), "path": _text, "before": _value}


def _note(value: Any, place: _Place, notes: list[Note]) -> Note:
    return _read(Note, _NOTE, value, place, notes)


_CONTENT: dict[str, tuple[type[Any], Mapping[str, _Reader]]] = {
    "text": (Text, {"text": _text, "opaque": _object}),
    "image": (Image, {"data": _text, "mime_type": _text, "opaque": _object}),
    "audio": (Audio, {"data": _text, "mime_type": _text}),
    "resource": (
        Resource,
        {"uri": _text, "mime_type": _maybe(_text), "text": _maybe(_text), "blob": _maybe(_text)},
    ),
    "resource_link": (
        ResourceLink,
        {"uri": _text, "name": _text, "mime_type": _maybe(_text), "description": _maybe(_text)},
    ),
}
_PARTS: dict[str, tuple[type[Any], Mapping[str, _Reader]]] = {
    **_CONTENT,
    "reasoning": (Reasoning, {"text": _text, "opaque": _object}),
    "foreign": (Foreign, {"kind": _text, "opaque": _object}),
    "call": (
        ToolCall,
        {
            "id": _text,
            "name": _text,
            "text": _text,
            "arguments": _maybe(_object),
            "problem": _maybe(_text),
            "opaque": _object,
        },
    ),
    "result": (
        ToolResult,
        {
            "call_id": _text,
            "content": _each(_part_of(_CONTENT)),
            "structured": _value,
            "is_error": _flag,
            "meta": _object,
            "notes": _each(_note),
            "failure": _maybe(_one_of(*get_args(FailureKind))),
        },
    ),
}
_MESSAGE: Mapping[str, _Reader] = {
    "role": _one_of(*get_args(Role)),
    "parts": _each(_part_of(_PARTS)),
    "origin": _text,
    "model": _text,
}
_NAMES = {kind: name for name, (kind, _) in _PARTS.items()}
_DEFAULTS: dict[type[Any], dict[str, Any]] = {
    kind: {
        each.name: each.default if each.default_factory is MISSING else each.default_factory() for each in fields(kind)
    }
    for kind in (Message, Note, *_NAMES)
}
