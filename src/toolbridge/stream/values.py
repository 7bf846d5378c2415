"""JSON values in text that is still arriving: where one ends. Nothing is parsed; no character is looked at twice."""

from __future__ import annotations

import re

_STRUCTURE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')


class Depth:
    """How deep inside of JSON text we are. `ends` of `feed` are the offsets behind each value that closes."""

    __slots__ = ("_escaped", "_in_string", "depth")

    def __init__(self) -> None:
        self.depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, text: str, floor: int = 0) -> list[int]:
        """The offsets in this text behind which an object or a list closed that stood at depth `floor`."""
        ends: list[int] = []
        at = 0
        while True:
            if self._escaped:
                if at >= len(text):
                    return ends
                self._escaped = False
                at += 1
            found = (_IN_STRING if self._in_string else _STRUCTURE).search(text, at)
            if found is None:
                return ends
            at = found.end()
            match found[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._escaped = True
                case "{" | "[":
                    self.depth += 1
                case _:
                    self.depth -= 1
                    if self.depth == floor:
                        ends.append(at)

    @property
    def inside(self) -> bool:
        """Whether a value or a string is open."""
        return self.depth > 0 or self._in_string


class ValueReader:
    """Text that is a run of JSON values, or one list of them, cut into the texts of the values."""

    def __init__(self) -> None:
        self._depth = Depth()
        self._floor: int | None = None
        self._pieces: list[str] = []
        self._count = 0

    def feed(self, text: str) -> list[str]:
        """The texts of the values that this text completes."""
        if self._floor is None:
            text = text.lstrip("\ufeff \t\r\n")
            if not text:
                return []
            self._floor = 1 if text[0] == "[" else 0
        values: list[str] = []
        start = 0
        for end in self._depth.feed(text, self._floor):
            self._pieces.append(text[start:end])
            values.append(self._trimmed("".join(self._pieces)))
            self._count += 1
            self._pieces.clear()
            start = end
        self._pieces.append(text[start:])
        return values

    @property
    def is_over(self) -> bool:
        """Whether nothing can follow: the list of values closed, or there was one value and no more."""
        return not self.rest() and (self._depth.depth == 0 if self._floor == 1 else self._count == 1)

    def rest(self) -> str:
        """What is left that is no whole value; empty where the text ended as it should."""
        text = "".join(self._pieces).strip(" \t\r\n,")
        if self._floor == 1 and self._depth.depth == 0:
            return "" if text in ("]", "[]") else text
        return text

    @staticmethod
    def _trimmed(text: str) -> str:
        """Without what stands between values: commas, line ends, and the bracket that opens the list of them."""
        start = text.find("{")
        return text[start:] if start > 0 and not text[:start].strip(" \t\r\n,[") else text.strip(" \t\r\n,")
