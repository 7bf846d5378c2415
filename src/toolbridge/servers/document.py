"""Documents: the bytes of a configuration file become plain data, or a mistake with its line and column.

JSON as people write it: any Unicode encoding, comments, trailing commas; and TOML. Comments are blanked out in place,
so every position that an error names is the position in the file. What the data mean is `config`'s business.
"""

from __future__ import annotations

import json
import re
from typing import Any

LARGEST_BYTES = 64 * 1024 * 1024
"""No configuration is larger; a disk image given by mistake is not read into memory."""

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\[^\n])*+"?|//[^\n]*|/\*(?:.*?\*/|.*)', re.DOTALL)
_COMMA = re.compile(r'"(?:[^"\\\n]++|\\[^\n])*+"?|,(?=\s*[}\]])')


class DocumentError(ValueError):
    """The text is no document; the message says where and holds nothing of the text itself."""


class JsonObject(dict[str, Any]):
    """An object that remembers which of its keys stood in the text more than once: Python keeps the last in silence."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.repeated = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))


def repeated_keys(value: Any) -> tuple[str, ...]:
    """The keys that an object of a document has twice."""
    return value.repeated if isinstance(value, JsonObject) else ()


def read_json(data: bytes) -> Any:
    """The value of a JSON text with or without comments, trailing commas and a byte order mark."""
    text = _decoded(data)
    if not text.strip():
        raise DocumentError("the file is empty")
    strict = _strict(text)
    try:
        return json.loads(strict, object_pairs_hook=JsonObject)
    except json.JSONDecodeError as problem:
        raise DocumentError(
            f"not valid JSON at line {problem.lineno}, column {problem.colno}: {_reason(problem)}"
        ) from None
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    except ValueError:
        raise DocumentError("a number in it has too many digits") from None


def read_toml(data: bytes) -> Any:
    """The value of a TOML text."""
    import tomllib

    try:
        return tomllib.loads(_decoded(data))
    except tomllib.TOMLDecodeError as problem:
        place = re.search(r"at line \d+, column \d+|at end of document", str(problem))
        raise DocumentError(f"not valid TOML {place[0] if place else ''}".rstrip()) from None
    except (RecursionError, ValueError):
        raise DocumentError("not valid TOML") from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode(json.detect_encoding(data)).removeprefix("\ufeff")
    except UnicodeDecodeError as problem:
        raise DocumentError(
            f"not text in UTF-8 or UTF-16: byte {problem.start + 1} is no part of a character"
        ) from None


def _strict(text: str) -> str:
    """The same text with blanks for comments and trailing commas: line and column of all that is left stay true."""
    if "/" in text:
        text = _TOKEN.sub(_without_comment, text)
    return _COMMA.sub(lambda each: " " if each[0] == "," else each[0], text)


def _without_comment(token: re.Match[str]) -> str:
    found = token[0]
    if found.startswith('"'):
        return found
    if found.startswith("/*") and (len(found) < 4 or not found.endswith("*/")):
        before = token.string[: token.start()]
        line, column = before.count("\n") + 1, token.start() - before.rfind("\n")
        raise DocumentError(f"not valid JSON at line {line}, column {column}: a comment that is not closed")
    return re.sub(r"[^\n\r]", " ", found)


def _reason(problem: json.JSONDecodeError) -> str:
    """What Python's parser says, in the words of someone who writes JSON by hand. Never a piece of the text."""
    found = problem.doc[problem.pos : problem.pos + 1]
    if found == "'":
        return "strings are written with double quotes"
    if not found:
        return "the text ends too early; a bracket or quote is not closed"
    return next((text for start, text in _REASONS.items() if problem.msg.startswith(start)), "not as JSON is written")


_REASONS = {
    "Expecting ',' delimiter": "a comma or a closing bracket is missing before this",
    "Expecting ':' delimiter": "a colon is expected here",
    "Expecting property name": "a name in double quotes is expected here",
    "Expecting value": "a value is expected here",
    "Extra data": "there is more after the end of the document",
    "Unterminated string": "a string that is not closed begins here",
    "Invalid \\": "a backslash in a string is written twice: C:\\\\Users",
    "Invalid control character": "a string must be closed on its line",
}
