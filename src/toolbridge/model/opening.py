"""The beginning of an answer with status 200: is it a model's at all?

Login pages, health checks and web servers answer 200 to anything, and some vendors report an error as the first event
of a stream. Both must be known before the first byte is handed on. It looks at the first bytes alone, and at the whole
where a server answers with one JSON value; what follows is `ReplyReader`'s business.
"""

from __future__ import annotations

import codecs
import json
from typing import Any

from toolbridge.errors import ModelError
from toolbridge.model.refusals import Asker, is_html, one_line, read_refusal, read_said
from toolbridge.model.secrets import shown
from toolbridge.providers import Provider
from toolbridge.stream.events import Failed, Unread
from toolbridge.stream.sse import SseReader

MOST_HELD = 1024 * 1024
"""Bytes that are held to see a JSON value whole. A longer one is no error message."""

_EVENTS = b"deir:"
"""What a line of events starts with: data, event, id, retry, or a comment."""


class Opening:
    """Takes pieces until it is clear what they are. `held` are those, to be handed on."""

    def __init__(self, provider: Provider, media: str, asker: Asker) -> None:
        self._provider = provider
        self._media = media.lower()
        self._asker = asker
        self.held: list[bytes] = []
        self._sse = SseReader()

    def take(self, chunk: bytes) -> bool:
        """Whether it is a good answer now; raises where it is none."""
        if not chunk:
            return False
        self.held.append(chunk)
        start = self._start()
        if not start:
            return False
        if start in b"{[":
            return sum(map(len, self.held)) > MOST_HELD or "event-stream" in self._media
        if start == b"<" or (start not in _EVENTS and "event-stream" not in self._media):
            raise self._stranger()
        for event in self._sse.feed(chunk):
            self._judge(event.data)
            return True
        return sum(map(len, self.held)) > MOST_HELD

    def end(self) -> None:
        """The answer is over before it was clear: a whole JSON value, or nothing at all."""
        start = self._start()
        if start in (b"{", b"["):
            self._judge(b"".join(self.held).decode("utf-8", "replace"), whole=True)
            return
        events = self._sse.close() if start else []
        if not events:
            where = shown(self._asker.address)
            raise ModelError(
                "not_a_model", f"what answers at {where} sent no events; is the base URL right?", status=200
            )
        self._judge(events[0].data)

    def _start(self) -> bytes:
        return b"".join(self.held[:8]).removeprefix(codecs.BOM_UTF8).lstrip()[:1]

    def _judge(self, text: str, *, whole: bool = False) -> None:
        try:
            value: Any = json.loads(text)
        except (ValueError, RecursionError):
            if whole:
                raise self._stranger() from None
            return
        talk = self._provider.talk()
        events = list(talk.read_event(value))
        if not events or all(isinstance(each, Unread) for each in events):
            events = [*events, *(talk.read_reply(value) if whole else ())]
        if any(isinstance(each, Failed) for each in events) and read_said(_error_of(value)) is not None:
            raise read_refusal(_status_of(value), _error_of(value), self._asker)
        if whole and all(isinstance(each, Unread) for each in events):
            raise self._stranger()

    def _stranger(self) -> ModelError:
        text = b"".join(self.held).decode("utf-8", "replace")
        if is_html(text):
            return read_refusal(200, text, self._asker)
        where, told = shown(self._asker.address), one_line(self._asker.key.removed(text))
        return ModelError(
            "not_a_model", f"what answers at {where} is no model server; it says: {told}", status=200, said=told
        )


def _error_of(value: Any) -> Any:
    """The envelope of the error: Responses has it in the response that failed, Bedrock by the name of the event."""
    if isinstance(value, dict) and isinstance(value.get("response"), dict) and value["response"].get("error"):
        return value["response"]
    if isinstance(value, dict) and len(value) == 1:
        (name, inner) = next(iter(value.items()))
        if str(name).endswith("Exception") and isinstance(inner, dict):
            return {"error": {**inner, "code": name}}
    return value


def _status_of(value: Any) -> int | None:
    """The status that should have been, where the error says it (OpenRouter, Gemini)."""
    error = value.get("error") if isinstance(value, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None
