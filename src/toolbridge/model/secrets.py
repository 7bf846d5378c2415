"""Keys, kept out of every text: what a server says may hold the key that it was sent.

Not a store of keys; whoever makes a model has one and hands it in. It sits between that and every message.
"""

from __future__ import annotations

import json
import re
from urllib.parse import quote, urlsplit

SHORTEST = 6
"""Characters of a value that is taken for a secret. `none` and `EMPTY`, which keyless servers are given, are words."""

_MASKED = re.compile(r"\b[\w-]*[\w-]{2,}\*{3,}[\w-]*")
"""A key that the server masked itself, by which its ends still show: `sk-proj-********bcde`."""


class Secret:
    """A key that no `repr`, log or traceback of values shows."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return "Secret(***)" if self._value else "Secret()"

    def removed(self, text: str) -> str:
        """The text without the key, in whichever way it is written there."""
        value = self._value
        if len(value) >= SHORTEST:
            for form in {value, quote(value, safe=""), json.dumps(value)[1:-1]}:
                text = text.replace(form, "***")
        return _MASKED.sub("***", text)


class KeyRemoval:
    """Takes a key out of the bytes of a stream, wherever the stream is cut.

    Only the end of a piece that may be the beginning of the key waits for the next piece. Looked for is the key as it
    is, in the bytes as they come: not one that is escaped, nor one that is spread over several events, as when a model
    writes it token by token. No model is shown the key that a request is sent with.
    """

    __slots__ = ("_held", "_secret")

    def __init__(self, secret: Secret) -> None:
        self._secret = secret
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        value = self._secret.reveal().encode()
        if len(value) < SHORTEST:
            return chunk
        data = (self._held + chunk).replace(value, b"***")
        kept = next((size for size in range(len(value) - 1, 0, -1) if data.endswith(value[:size])), 0)
        whole = len(data) - kept
        self._held = data[whole:]
        return data[:whole]

    def end(self) -> bytes:
        """What waited for a piece that does not come."""
        return self._held


def shown(address: str) -> str:
    """An address for a message: without a query, which may hold a key, and without a user and a password."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
