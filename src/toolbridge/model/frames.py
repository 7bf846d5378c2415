"""Amazon's event frames as server-sent events: the one wire that is not text.

A frame is a prelude (its whole length, that of its headers, a checksum), headers, a payload and a checksum
(docs.aws.amazon.com/transcribe streaming-event-stream, 2026-11). What it means is the wire format's business, as with
every other provider; here it only gets the framing of the others. Checksums are TLS's business and not checked.
"""

from __future__ import annotations

import json
import struct

from toolbridge.errors import ModelError

MEDIA = "application/vnd.amazon.eventstream"
LARGEST = 16 * 1024 * 1024
"""Bytes of a frame, as the service bounds it. A length beyond it is no length."""

_PRELUDE = struct.Struct(">III")
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value, by its type. The other two types tell their length: 6 and 7, bytes and text."""


class Frames:
    """Bytes of frames in, in any cut; bytes of events out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> bytes:
        data, events = self._rest + chunk, bytearray()
        while len(data) >= _PRELUDE.size:
            whole, heads, _ = _PRELUDE.unpack_from(data)
            if not _PRELUDE.size + heads + 4 <= whole <= LARGEST:
                raise _no_frames()
            if len(data) < whole:
                break
            end = _PRELUDE.size + heads
            events += _event(_headers(data[_PRELUDE.size : end]), data[end : whole - 4])
            data = data[whole:]
        self._rest = data
        return bytes(events)


def _headers(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        if at + size > len(data):
            raise _no_frames()
        at += size
        return data[at - size : at]

    while at < len(data):
        name = take(take(1)[0]).decode("utf-8", "replace")
        kind = take(1)[0]
        if kind in (6, 7):
            found[name] = take(int.from_bytes(take(2))).decode("utf-8", "replace")
        elif kind in _FIXED:
            take(_FIXED[kind])
        else:
            raise _no_frames()
    return found


def _no_frames() -> ModelError:
    return ModelError("not_a_model", "the answer is no stream of Amazon's events; is the base URL right?")


def _event(headers: dict[str, str], payload: bytes) -> bytes:
    name = headers.get(":event-type") or headers.get(":exception-type") or headers.get(":error-code", "")
    value = payload.decode("utf-8", "replace") or "{}"
    if headers.get(":message-type") == "error":  # its words are in a header, and it has no payload
        value = json.dumps({"message": headers.get(":error-message", "")})
    return f"data: {{{json.dumps(name)}: {value}}}\n\n".encode()
