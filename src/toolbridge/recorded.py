"""Recordings: bytes that somebody kept of a conversation with a model, and what they are.

A stream (server-sent events, JSON lines or a JSON list of chunks), a whole reply, a history in the provider's form (a
request body, or its messages) or one of our own: told by the content alone, in `_look`. What tools put around it is
taken away: a byte order mark, UTF-16, HTTP headers, what `curl -v` says. It reads and does not run anything.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolbridge.errors import HistoryError
from toolbridge.history.document import read_history
from toolbridge.notes import Note
from toolbridge.providers import Provider, get_provider
from toolbridge.reply import ReplyReader
from toolbridge.schema.phrases import quoted
from toolbridge.stream.events import Reply
from toolbridge.stream.partial import partial_json
from toolbridge.types import Message

Kind: TypeAlias = Literal["stream", "reply", "history"]

SLICE_BYTES = 1 << 16
"""How much of a stream is read at once: its pieces need room of their own."""

START_BYTES = 1 << 20
"""How much of a document is looked at before all of it is: the first of many chunks stands there."""

SHOWN = 60
"""Characters of a file that is nothing of this, to recognise it by."""

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock")
"""A provider of each wire format, to tell whose recording it is that the given one cannot read."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded. A stream and a reply have a `reply`, and its message is the only one of the `messages`."""

    kind: Kind
    reply: Reply | None
    messages: tuple[Message, ...]
    notes: tuple[Note, ...] = ()


def read_recording(data: bytes, provider: Provider | str, *, text_calls: Collection[str] | None = None) -> Recording:
    """What the bytes are, and what they say. `text_calls` is as for `ReplyReader`.

    Raises `HistoryError` for what is none of these, or nothing that this provider sends.
    """
    provider = get_provider(provider) if isinstance(provider, str) else provider
    text, notes = _decoded(bytes(data))
    body = _without_noise(text)
    kind, found = _look(body)
    if kind == "history":
        read = read_history(found) if _is_own(found) else provider.read_messages(found)
        return Recording("history", None, read.value, (*notes, *read.notes))
    reply = _reply(provider, body, found, text_calls)
    if not _says_anything(reply, kind, cut=kind == "stream" and _ends_inside_an_event(body)):
        raise HistoryError(_foreign(provider, body, found, kind))
    messages = (reply.message,) if reply.message.parts else ()
    return Recording(kind, reply, messages, (*notes, *reply.notes))


# ── what it is ───────────────────────────────────────────────────────────────────────────────────────────────────

_EVENTS = re.compile(rb"(?:data|event|id|retry)?[ \t]*:")
"""How a stream of server-sent events begins."""

_HISTORIES = ("messages", "contents", "input")
"""Where request bodies have their history."""

_OF_REPLIES = frozenset({"stop_reason", "stopReason", "usage", "choices", "candidates"})
"""What a whole reply has, also where it is a message by itself (Anthropic's), and no message of a history."""


def _look(body: bytes) -> tuple[Kind, Any]:
    """What a recording is: its kind, and the parsed document where it is one (`None` where it is read piece by piece).

    1. Server-sent events are a stream.
    2. One JSON object is a history where it is our own document, has messages under a request's key, or is a message
       itself; otherwise it is a reply.
    3. Several JSON objects, one after the other or in a list, are a history where the first one is a message;
       otherwise they are the chunks of a stream.
    4. Anything else is nothing of this.
    """
    if not body:
        raise HistoryError("empty")
    if _EVENTS.match(body):
        return "stream", None
    if body[:1] not in (b"{", b"["):
        raise HistoryError(f"it starts with {_shown(body)}")
    listed = body[:1] == b"["
    first, alone = _first(body[1:].lstrip() if listed else body)
    if listed:
        is_messages = first is None or _is_message(first)
        return ("history", _parsed(body)) if is_messages else ("stream", None)
    if alone:
        if _is_own(first) or any(isinstance(first.get(key), list | str) for key in _HISTORIES):
            return "history", first
        return ("history", [first]) if _is_message(first) else ("reply", first)
    if _is_own(first) or any(isinstance(first.get(key), list) for key in _HISTORIES):
        raise HistoryError("it holds more than one history; give one of them")
    return ("history", list(_lines(body))) if _is_message(first) else ("stream", None)


def _is_own(value: Any) -> bool:
    """Whether a document is one that `write_history` wrote."""
    return isinstance(value, dict) and value.get("toolbridge") == "history"


def _is_message(value: Any) -> bool:
    """Whether an object is a message, or an item of the Responses format, and no reply or chunk."""
    if not isinstance(value, dict) or value.keys() & _OF_REPLIES:
        return False
    kind = value.get("type")
    is_item = isinstance(kind, str) and (
        kind in ("reasoning", "item_reference") or kind.endswith(("_call", "_call_output"))
    )
    return isinstance(value.get("role"), str) or isinstance(value.get("parts"), list) or is_item


_DECODER = json.JSONDecoder()


def _first(start: bytes) -> tuple[Any, bool]:
    """The JSON value that the bytes begin with, and whether nothing follows. `None` for the end of an empty list."""
    if start[:1] == b"]":
        return None, True
    if start[:1] not in (b"{", b"["):
        raise HistoryError(f"a list of something else: it starts with {_shown(start)}")
    for size in (START_BYTES, len(start)):
        text = start[:size].decode("utf-8", "replace")
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            raise HistoryError("nested too deeply") from None
        except ValueError as failure:
            if size < len(start):
                continue
            raise HistoryError(_place(failure)) from None
        return value, not text[end:].strip() and not start[size:].strip()
    raise AssertionError("the last try is the whole")


def _lines(start: bytes) -> Iterator[Any]:
    """The JSON values that stand one after the other."""
    text = start.decode("utf-8", "replace")
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as failure:
            raise HistoryError(_place(failure)) from None
        yield value
        at = _BETWEEN.match(text, at).end()  # pyright: ignore[reportOptionalMemberAccess]  # it matches nothing, too


_BETWEEN = re.compile(r"[\s,]*")


def _parsed(document: bytes) -> Any:
    try:
        return json.loads(document.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as failure:
        raise HistoryError(_place(failure)) from None


def _place(failure: ValueError | RecursionError) -> str:
    if isinstance(failure, json.JSONDecodeError):
        return f"not JSON: {failure.msg.lower()} at line {failure.lineno}, column {failure.colno}"
    return "nested too deeply" if isinstance(failure, RecursionError) else f"not readable JSON: {failure}"


def _shown(start: bytes) -> str:
    line = start[: 4 * SHOWN].decode("utf-8", "replace").strip().partition("\n")[0].rstrip()
    return quoted(line, SHOWN)


# ── what it says ─────────────────────────────────────────────────────────────────────────────────────────────────


def _reply(provider: Provider, body: bytes, document: Any, text_calls: Collection[str] | None) -> Reply:
    """The reply that a document or a stream comes to."""
    reader = ReplyReader(provider, text_calls=text_calls)
    if document is not None:
        reader.feed(document)
        return reader.reply(broken_off=False)
    for at in range(0, len(body), SLICE_BYTES):
        reader.feed(body[at : at + SLICE_BYTES])
    return reader.reply()


def _says_anything(reply: Reply, kind: Kind, *, cut: bool = False) -> bool:
    """Whether the provider's format understood it. (Ids, models and usage are told alike by many.)

    `cut` says that the last event has no end, so that nobody could understand it: of what came, nothing is foreign.
    """
    if reply.message.parts or reply.raw_finish or reply.error:
        return True
    problems = [note.code for note in reply.notes if note.code != "stream.broken_off"]
    return kind == "stream" and (not problems or (cut and problems == ["stream.unreadable"]))


def _ends_inside_an_event(body: bytes) -> bool:
    """Whether the data of the last server-sent event is JSON without its end."""
    line = body[max(body.rfind(b"\n"), body.rfind(b"\r")) + 1 :]
    if not line.startswith(b"data:"):
        return False
    data = line[len(b"data:") :].decode("utf-8", "ignore").strip()
    return isinstance(partial_json(data), dict)


def _foreign(provider: Provider, body: bytes, document: Any, kind: Kind) -> str:
    """Why a stream or a reply cannot be read: what it looks like, and whose it is."""
    others = (each for each in FORMATS if get_provider(each).talk().read_event is not provider.talk().read_event)
    replies = ((each, _reply(get_provider(each), body[:START_BYTES], document, None)) for each in others)
    meant = next((each for each, reply in replies if _says_anything(reply, kind)), None)
    listed = ", ".join(quoted(each, SHOWN) for each in list(document)[:5]) if isinstance(document, dict) else ""
    keys = f" with {listed or 'nothing in it'}"
    what = "a stream" if kind == "stream" else f"a JSON object{keys}"
    hint = f"; did you mean {meant!r}?" if meant else ""
    return f"{what}, and nothing that {provider.name} sends{hint}"


# ── what tools put around it ─────────────────────────────────────────────────────────────────────────────────────

_HEADERS = rb"HTTP/[\d.]+ \d{3}[^\n]*\n(?:[^\r\n]+\r?\n)*(?:\r?\n|\Z)"
_VERBOSE = rb"[*<>](?:[ \t][^\r\n]*)?[\r\n]+|[{}] \[\d+ bytes data\][\r\n]+"
_METER = rb"[ \t\r]*(?:% Total\b|Dload\b|\d+ [^\r\n]*(?:--:--:--|\d:\d\d:\d\d))[^\r\n]*[\r\n]+"
_IN_FRONT = re.compile(rb"(?:[ \t]*\r?\n|" + _HEADERS + rb"|" + _VERBOSE + rb"|" + _METER + rb")*+")
"""An HTTP header block (or several: redirects, proxies), `curl -v`'s remarks, and its progress meter."""

_SPOKE = re.compile(rb"^[*<] ", re.MULTILINE)
_BETWEEN_LINES = re.compile(
    rb"^[{}] \[\d+ bytes data\]\r?\n|(?:^|(?<=[}\]]))\* (?:Connection #\d+ to host|Closing connection)[^\r\n]*\r?\n?",
    re.MULTILINE,
)
"""What `curl -v` says while a body arrives and after it; no line of events or JSON looks like that."""


def _without_noise(data: bytes) -> bytes:
    """The body alone."""
    front = _IN_FRONT.match(data)
    end = front.end() if front else 0
    body = data[end:]
    if _SPOKE.search(data, 0, end):
        body = _BETWEEN_LINES.sub(b"", body)
    return body.strip()


def _decoded(data: bytes) -> tuple[bytes, tuple[Note, ...]]:
    """The data as UTF-8 without a mark, from the encodings that shells write; a note where it is not all text."""
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    encoding = json.detect_encoding(data[:4])
    if not encoding.startswith("utf-8"):
        text = data.decode(encoding, "replace")
        if "\0" in text[:SHOWN] or "\ufffd" in text[:SHOWN]:
            raise HistoryError("binary data, not text")
        return text.encode("utf-8", "replace"), ()
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), SLICE_BYTES):
            decoder.decode(data[at : at + SLICE_BYTES])  # a character that is cut at the very end is no mistake
    except UnicodeDecodeError as failure:
        wrong = failure.object[failure.start : failure.end].hex(" ")
        return data, (Note("bytes.replaced", "narrowed", "", wrong),)
    return data, ()
