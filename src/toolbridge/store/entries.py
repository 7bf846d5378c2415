"""Entries: a message as the bytes that every store keeps, and back. Each is a history document of its own.

So an entry can be read without the others, by whatever program reads such documents, and one that is damaged costs
itself. Names and titles are bytes here too: a text of any kind has some, also one with half a surrogate pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbridge.errors import HistoryError, StoreError
from toolbridge.history.document import read_history, write_history
from toolbridge.notes import Converted, Note
from toolbridge.types import Message

TITLE_LENGTH = 60
"""Characters: a line of a list."""

_SHOWN = 80
"""Bytes of an unreadable entry that its note shows."""


def write_entries(messages: Iterable[Message]) -> list[bytes]:
    """Raises `HistoryError` for what could not be read back; then nothing is kept of it."""
    return [write_json(write_history([message])) for message in messages]


def read_entries(entries: Iterable[Any]) -> Converted[tuple[Message, ...]]:
    """The messages that can be read; a note for each that cannot, and for each that is not there (`None`)."""
    messages: list[Message] = []
    notes: list[Note] = []
    for place, entry in enumerate(entries):
        try:
            message, found = _read(entry)
        except HistoryError:
            before = entry[:_SHOWN].decode("utf-8", "replace") if isinstance(entry, bytes) else None
            notes.append(Note("message.unreadable", "narrowed", f"/messages/{place}", before))
        else:
            messages.append(message)
            notes += [replace(note, path=f"/messages/{place}{note.path.removeprefix('/messages/0')}") for note in found]
    return Converted(tuple(messages), tuple(notes))


def _read(entry: Any) -> tuple[Message, tuple[Note, ...]]:
    if not isinstance(entry, bytes):
        raise HistoryError("not there")
    read = read_history(entry)
    if len(read.value) != 1:
        raise HistoryError("not one message")
    return read.value[0], read.notes


def write_json(value: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8; where a text in it has none (half a surrogate pair), in ASCII, which escapes it."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")
    except (ValueError, TypeError, RecursionError) as failure:
        raise HistoryError(f"cannot be kept as JSON: {failure}") from None


def read_state(entry: bytes) -> dict[str, Any] | None:
    """The state of a run that waits; `None` where it is damaged."""
    try:
        state = json.loads(entry)
    except (ValueError, RecursionError):
        return None
    return state if isinstance(state, dict) else None


def write_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def read_text(text: bytes) -> str:
    """The reverse; what others damaged is shown as damaged."""
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


def write_name(name: str) -> bytes:
    """What a conversation or a run is kept under."""
    if not name:
        raise ValueError("a conversation, and a run that waits, is kept under a name; this one is empty")
    return write_text(name)


def title_of(messages: Sequence[Message]) -> str:
    """The beginning of the first question, for lists; empty where nobody has asked yet."""
    for message in messages:
        if message.role == "user" and (line := message.text[: 20 * TITLE_LENGTH].strip().partition("\n")[0].strip()):
            return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
    return ""


def conflict(name: bytes, version: int, after: int) -> StoreError:
    return StoreError(
        "conflict",
        f"conversation {read_text(name)!r}: it has {version} messages, and {after} were expected: somebody else wrote "
        "to it; load it again",
    )


def unknown(name: bytes) -> StoreError:
    return StoreError("unknown", f"conversation {read_text(name)!r}: there is none of this name")
