"""Reading replies: whatever a model's server sends, whole or in pieces, becomes a `Reply`.

It sits between a transport, which it does not know, and the provider's wire format: bytes of server-sent events, JSON
text, dicts, or the objects of a vendor's SDK go in; events and, at the end, the message and its calls come out.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from toolbridge.errors import HistoryError
from toolbridge.notes import Note
from toolbridge.providers import Provider, get_provider
from toolbridge.stream.assemble import Assembler, PartialCall
from toolbridge.stream.events import CallDelta, Ended, Event, Failed, Key, ReasoningDelta, Reply, TextDelta, Unread
from toolbridge.stream.plain import plain
from toolbridge.stream.sse import SseReader
from toolbridge.stream.values import ValueReader

SHOWN = 200
"""Characters of what a server sent in place of a stream, in the note about it."""


class ReplyReader:
    """Reads one reply. Feed it what comes, in any pieces; ask it for the reply when nothing comes any more.

        reader = ReplyReader("openai-chat")
        for chunk in response.iter_bytes():          # or the SDK's own chunks
            for event in reader.feed(chunk): ...     # text as it arrives; reader.partial() for calls
        reply = reader.reply()

    `text_calls` are the names of the tools that were offered, where calls that the model wrote into its text are to be
    read as calls.
    """

    def __init__(self, provider: Provider | str, *, text_calls: Collection[str] | None = None) -> None:
        self.provider = get_provider(provider) if isinstance(provider, str) else provider
        self._talk = self.provider.talk()
        self._sifter = self._talk.sifter() if self._talk.sifter is not None else None
        self._assembler = Assembler(self.provider.origin or self.provider.name, text_calls)
        self._news = _News(held_back=text_calls is not None)
        self._bytes: _Bytes | None = None
        self._text_encoder = codecs.getincrementalencoder("utf-8")("replace")

    def feed(self, chunk: Any) -> tuple[Event, ...]:
        """What this piece says: bytes or text of the stream (in any cut), an event as a dict, or an SDK object."""
        if isinstance(chunk, bytes | bytearray | memoryview):
            return self._feed_bytes(bytes(chunk))
        if isinstance(chunk, str):
            return self._feed_bytes(self._text_encoder.encode(chunk))
        continuation = self._talk.continuation if isinstance(chunk, dict) else self._talk.object_continuation
        found = continuation(chunk) if continuation is not None else None
        if found is not None and self._assembler.append(*found):
            return (CallDelta(found[0], text=found[1]),)
        try:
            return self._feed_event(plain(chunk))
        except RecursionError:
            return self._unreadable("an event that is nested too deeply")

    def feed_all(self, chunks: Iterable[Any]) -> None:
        """Many pieces at once, for whoever wants the reply alone."""
        of_dict, of_object = self._talk.continuation, self._talk.object_continuation
        append = self._assembler.append
        for chunk in chunks:
            continuation = of_dict if type(chunk) is dict else of_object
            if continuation is not None:
                found = continuation(chunk)
                if found is not None and append(*found):
                    continue
            self.feed(chunk)

    def partial(self) -> tuple[PartialCall, ...]:
        """The calls as far as they have arrived, for showing. Only `reply` tells which of them may be run."""
        return self._assembler.partial()

    def reply(self, *, broken_off: bool | None = None) -> Reply:
        """The reply: nothing more will come. `broken_off` where the caller knows that the stream was interrupted.

        Of bytes it is known without being told: a stream that ends without its end has broken off.
        """
        if self._bytes is not None:
            for value in self._bytes.close():
                self._feed_text(value)
            told = self._bytes.problem()
            if told is not None:
                self._assembler.note(Note("stream.not_events", "narrowed", "", told))
                if not self._bytes.count:
                    self._assembler.feed(Failed(f"the server sent no events, but {told!r}"))
            if broken_off is None:
                broken_off = not self._bytes.is_whole
        elif broken_off is None:
            broken_off = self._talk.always_ends
        if self._sifter is not None:
            for event in self._sifter.close():
                self._assembler.feed(event)
        return self._assembler.reply(bool(broken_off))

    def _feed_bytes(self, chunk: bytes) -> tuple[Event, ...]:
        if self._bytes is None:
            self._bytes = _Bytes()
        events: list[Event] = []
        for text in self._bytes.feed(chunk):
            events += self._feed_text(text)
        return tuple(events)

    def _feed_text(self, text: str) -> tuple[Event, ...]:
        """The data of one event: JSON, or the word that ends the stream."""
        if text.strip() == "[DONE]":
            return self._tell([Ended()])
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self._unreadable(text[:SHOWN])
        return self._feed_event(value)

    def _unreadable(self, what: str) -> tuple[Event, ...]:
        event = Unread(what, "stream.unreadable")
        self._assembler.feed(event)
        self._assembler.damage()
        if self._sifter is not None:
            self._sifter.damage()
        return (event,)

    def _feed_event(self, value: Any) -> tuple[Event, ...]:
        events = self._talk.read_event(value)
        if events and all(isinstance(each, Unread) for each in events):
            # A server that does not stream answers whole, and some do so inside of a stream.
            whole = self._talk.read_reply(value)
            if any(not isinstance(each, Unread) for each in whole):
                events = [*whole, Ended()]
        return self._tell(events)

    def _tell(self, events: list[Event]) -> tuple[Event, ...]:
        if self._sifter is not None:
            events = self._sifter.feed(events)
        for event in events:
            self._assembler.feed(event)
        return tuple(each for event in events if (each := self._news.of(event)) is not None)


class _News:
    """What is worth telling of events: each word once, though some providers say it again at the end of its part; and
    no text that may turn out to be a call, where calls are read from the text."""

    def __init__(self, held_back: bool) -> None:
        self._held_back = held_back
        self._text = ""
        self._told = 0
        self._begun: set[tuple[type, Key]] = set()

    def of(self, event: Event) -> Event | None:
        if not isinstance(event, TextDelta | ReasoningDelta | CallDelta):
            return event
        place = (type(event), event.key)
        if event.whole and place in self._begun:
            return None
        self._begun.add(place)
        return self._without_calls(event) if self._held_back and isinstance(event, TextDelta) else event

    def _without_calls(self, event: TextDelta) -> TextDelta | None:
        from toolbridge.stream.text_calls import opening

        self._text += event.text
        held = opening(self._text, self._told)
        end = len(self._text) if held is None else held
        text, self._told = self._text[self._told : end], max(self._told, end)
        return replace(event, text=text) if text or event.opaque else None


class _Bytes:
    """The framing of a stream of bytes, told by its first character: events, or JSON (one value, lines or a list)."""

    def __init__(self) -> None:
        self._start = b""
        self._sse: SseReader | None = None
        self._values: ValueReader | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.count = 0

    def feed(self, chunk: bytes) -> list[str]:
        if self._sse is None and self._values is None:
            self._start += chunk
            first = self._start.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
            if not first or codecs.BOM_UTF8.startswith(self._start):
                return []
            if first in b"{[":
                self._values = ValueReader()
            else:
                self._sse = SseReader()
            chunk, self._start = self._start, b""
        return self._found(chunk, final=False)

    def close(self) -> list[str]:
        found = self._found(b"", final=True)
        if self._sse is not None:
            found += [each.data for each in self._sse.close()]
        if self._values is not None and self._values.rest():
            found.append(self._values.rest())
        self.count += len(found)
        return found

    def _found(self, chunk: bytes, final: bool) -> list[str]:
        if self._values is not None:
            found = self._values.feed(self._decoder.decode(chunk, final))
        elif self._sse is not None and chunk:
            found = [each.data for each in self._sse.feed(chunk)]
        else:
            found = []
        self.count += len(found)
        return found

    @property
    def is_whole(self) -> bool:
        """Whether the framing itself is proof of the end: a JSON value, or a list of them, that closed."""
        return self._values is not None and self._values.is_over

    def problem(self) -> str | None:
        """What there was that belongs to no event."""
        if self._sse is None or not self._sse.strays:
            return None
        return "\n".join(self._sse.strays)[:SHOWN]


def read_stream(
    provider: Provider | str,
    chunks: Iterable[Any] | bytes | str,
    *,
    text_calls: Collection[str] | None = None,
    broken_off: bool | None = None,
) -> Reply:
    """The reply that a recorded or finished stream comes to: bytes, pieces of bytes, events as dicts, SDK objects."""
    reader = ReplyReader(provider, text_calls=text_calls)
    if isinstance(chunks, bytes | str):
        reader.feed(chunks)
    elif isinstance(chunks, Iterable):
        reader.feed_all(chunks)
    else:
        raise HistoryError(f"expected bytes or a list of events, not {type(chunks).__name__}")
    return reader.reply(broken_off=broken_off)
