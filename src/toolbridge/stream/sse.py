"""Server-sent events: bytes, in whatever pieces they come, to the data of events.

It reads what providers and their imitators really send: any line ending and any cut, also inside of a character, data
over several lines, comments as heartbeats, a byte order mark; and, in the place of events, lines of JSON. It does not
parse the data and knows nothing of its meaning.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

FIELDS = ("data", "event", "id", "retry")
"""What a line of an event stream starts with."""


class SseEvent(NamedTuple):
    """One event. `name` is empty where the stream does not name its events."""

    data: str
    name: str = ""


class SseReader:
    """Bytes in, events out. `strays` are lines that belong to no event stream: the start of an HTML page, say."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        """The pieces of the line that is not ended yet."""
        self._after_return = False
        """Whether the last character was a carriage return: a line feed that follows belongs to it."""
        self._data: list[str] = []
        self._name = ""
        self._fresh = True
        self.strays: list[str] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that this chunk completes."""
        return self._take(self._decoder.decode(chunk))

    def close(self) -> list[SseEvent]:
        """The stream is over: an event without its empty line is one all the same, since servers cut that corner."""
        events = self._take(self._decoder.decode(b"", final=True))
        if self._line:
            self._end_line(events)
        self._end_event(events)
        return events

    def _take(self, text: str) -> list[SseEvent]:
        events: list[SseEvent] = []
        if not text:
            return events
        if self._fresh:
            self._fresh = False
            text = text.removeprefix("\ufeff")
        if self._after_return:
            self._after_return = False
            text = text.removeprefix("\n")
        if "\r" in text:
            self._after_return = text.endswith("\r")
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        *ended, rest = text.split("\n")
        for line in ended:
            self._line.append(line)
            self._end_line(events)
        if rest:
            self._line.append(rest)
        return events

    def _end_line(self, events: list[SseEvent]) -> None:
        line = "".join(self._line) if len(self._line) != 1 else self._line[0]
        self._line.clear()
        if not line:
            self._end_event(events)
            return
        field, colon, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        elif field == "event":
            self._name = value.removeprefix(" ")
        elif line[0] in "{[" or not ((colon and field in FIELDS) or not field):
            self._stray(line, events)

    def _stray(self, line: str, events: list[SseEvent]) -> None:
        """A line of JSON is an event: some servers stream such lines. Others are kept, to tell of."""
        if line[0] == "{" and not self._data:
            events.append(SseEvent(line))
        elif line not in FIELDS:
            self.strays.append(line)

    def _end_event(self, events: list[SseEvent]) -> None:
        if self._data:
            events.append(SseEvent("\n".join(self._data), self._name))
            self._data.clear()
        self._name = ""
