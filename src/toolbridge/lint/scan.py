"""A scanner of JSON text that keeps where each value stands, which no parser of the standard library does.

One pass over the text, without recursion: cost and memory are linear whatever the nesting. It is no validator: what it
reads was parsed before, or is a configuration with comments and trailing commas; what it does not know it steps over.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["object", "list", "string", "null", "scalar"]

_TOKEN: Final = re.compile(
    r'"(?:[^"\\]++|\\.)*+"'  # a string
    r"|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/"  # comments, as VS Code's files have them
    r"|[{}\[\],:]"
    r'|[^\s{}\[\],:"/\ufeff]++',  # a number, a word
    re.DOTALL,
)

_ESCAPED: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two escapes, one character
    r"|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)


class Value:
    """A value of the text. Offsets are of its first character and of the one after its last."""

    __slots__ = ("end", "items", "key_end", "key_start", "kind", "members", "start")

    def __init__(self, kind: Kind, start: int, end: int, key: tuple[int, int] | None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.key_start, self.key_end = key if key is not None else (None, 0)
        self.members: dict[str, Value] = {} if kind == "object" else _NO_MEMBERS
        self.items: list[Value] = [] if kind == "list" else _NO_ITEMS


_NO_MEMBERS: Final[dict[str, Value]] = {}
_NO_ITEMS: Final[list[Value]] = []
"""Shared by all values that can hold nothing, and never written to: most values are strings."""


def scan(text: str) -> list[Value]:
    """The values at the top of the text: one, or one a line in JSON lines."""
    roots: list[Value] = []
    open: list[Value] = []
    key: tuple[int, int] | None = None
    word = ""
    pending: tuple[int, int] | None = None  # a string that is a key if a colon follows
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        first = text[start]
        if first == ":":
            if pending is not None:
                key, word, pending = pending, _decoded(text, *pending), None
            continue
        if first in "}],":
            pending = key = None
            if first != "," and open:
                open.pop().end = end
            continue
        if first == "/":
            continue
        holder = open[-1] if open else None
        if first == '"' and holder is not None and holder.kind == "object" and key is None:
            pending = (start, end)
            continue
        value = Value(_kind(first, text, start, end), start, end, key)
        if holder is None:
            roots.append(value)
        elif holder.kind == "list":
            holder.items.append(value)
        elif key is not None:
            holder.members[word] = value  # of a key that is there twice, parsers keep the last too
        key = pending = None
        if first in "{[":
            open.append(value)
    return roots


def _kind(first: str, text: str, start: int, end: int) -> Kind:
    if first == "{":
        return "object"
    if first == "[":
        return "list"
    if first == '"':
        return "string"
    return "null" if text[start:end] == "null" else "scalar"


def _decoded(text: str, start: int, end: int) -> str:
    raw = text[start + 1 : end - 1]
    if "\\" not in raw:
        return raw
    try:
        return json.loads(f'"{raw}"', strict=False)
    except ValueError:  # an escape that JSON does not know
        return raw


def characters(text: str, start: int, end: int) -> tuple[str, Sequence[int]]:
    """The value of the string at that stretch, the offset of each character of it, and of the one after the last."""
    value = _decoded(text, start, end)
    if "\\" not in text[start:end]:
        return value, range(start + 1, end)
    offsets = array("Q", (each.start() for each in _ESCAPED.finditer(text, start + 1, end - 1)))
    offsets.append(end - 1)
    return value, offsets
