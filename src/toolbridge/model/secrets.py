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

    def removed_from_bytes(self, chunk: bytes) -> bytes:
        """The same for a piece of a stream, where only the key itself is looked for."""
        value = self._value.encode()
        return chunk.replace(value, b"***") if len(value) >= SHORTEST and value in chunk else chunk


def shown(address: str) -> str:
    """An address for a message: without a query, which may hold a key, and without a user and a password."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
