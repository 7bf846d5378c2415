"""A text for a pattern: the shortest way through a regular expression of the plain kind that schemas have.

It reads the pattern and never matches with it: characters, classes, groups, alternatives and counts. A pattern with
more than that (lookaround, references) has no text here. Whether the text really fits is for the validator to say.
"""

from __future__ import annotations

from typing import Final

LONGEST_PATTERN: Final = 500
"""Characters of a pattern that is read."""

MOST_REPEATED: Final = 200
"""Times that a part is written."""

DEEPEST: Final = 20
"""Groups one inside the other."""

_CLASSES: Final = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "n": "\n", "t": "\t", "r": "\r"}


class _Unread(Exception):
    """The pattern holds something that is not read here."""


def text_of_pattern(pattern: str) -> str | None:
    """A text that the pattern should match; `None` where the pattern is not of the plain kind."""
    if len(pattern) > LONGEST_PATTERN:
        return None
    try:
        reader = _Reader(pattern)
        text = reader.alternatives(0)
        return text if reader.place == len(pattern) else None
    except (_Unread, IndexError, ValueError):
        return None


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0

    def _next(self) -> str:
        self.place += 1
        return self.pattern[self.place - 1]

    def _sees(self, text: str) -> bool:
        if self.pattern.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def alternatives(self, depth: int) -> str:
        """The first alternative; the others are read past."""
        if depth > DEEPEST:
            raise _Unread
        first = self._sequence(depth)
        while self._sees("|"):
            self._sequence(depth)
        return first

    def _sequence(self, depth: int) -> str:
        out = ""
        while self.place < len(self.pattern) and self.pattern[self.place] not in "|)":
            out += self._atom(depth)
            if len(out) > LONGEST_PATTERN:
                raise _Unread
        return out

    def _atom(self, depth: int) -> str:
        character = self._next()
        if character in "^$":
            return ""
        if character == "(":
            if self._sees("?") and not self._sees(":"):
                raise _Unread
            text = self.alternatives(depth + 1)
            if not self._sees(")"):
                raise _Unread
        elif character == "[":
            text = self._of_class()
        elif character == "\\":
            text = self._escaped()
        elif character in "*+?{":
            raise _Unread
        else:
            text = "a" if character == "." else character
        return text * self._count()

    def _escaped(self) -> str:
        character = self._next()
        if character in "bBAZz":
            return ""
        if character.isalnum() and character not in _CLASSES:
            raise _Unread
        return _CLASSES.get(character, character)

    def _of_class(self) -> str:
        """A character of a class: its first member, or one that is not named where the class is turned round."""
        turned = self._sees("^")
        members: list[str] = []
        while not self._sees("]") or not members:
            character = self._next()
            members.append(self._escaped() if character == "\\" else character)
        if not turned:
            return members[0]
        for each in "aA1-_ ~":
            if each not in members:
                return each
        raise _Unread

    def _count(self) -> int:
        """How often: the least that is allowed, and once where none would do."""
        least = 1
        if self._sees("*") or self._sees("?"):
            least = 0
        elif self._sees("+"):
            least = 1
        elif self._sees("{"):
            end = self.pattern.index("}", self.place)
            least = int(self.pattern[self.place : end].partition(",")[0])
            self.place = end + 1
        self._sees("?")  # as few as possible: the same text
        if least > MOST_REPEATED:
            raise _Unread
        return least
