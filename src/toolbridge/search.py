"""Search: which tools of a large catalogue a question is about.

A full-text index in memory (SQLite's FTS5, or a plainer count of words where that is not built in) with the weights of
`WEIGHTS`. No model and no I/O: the same tools and the same question give the same answer, everywhere. It is made when
it is first asked, so that a catalogue that nobody searches costs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolbridge.types import Tool

if TYPE_CHECKING:
    from sqlite3 import Connection

WEIGHTS = {"name": 20.0, "title": 6.0, "description": 3.0, "parameters": 1.0, "server": 4.0}
"""What a word counts by where it stands. The server's name counts much: who asks for "the issues in github" says it."""

LONGEST_QUERY = 2_000
"""Characters of a question that are read: past that it is a pasted document, and its start says what is wanted."""

MOST_WORDS = 24
"""Different words of a question that are looked for."""

LONGEST_DESCRIPTION = 1_000
"""Characters of a description that are indexed: what a tool is for stands at the start, examples at the end."""

LONGEST_PARAMETERS = 800
"""Characters of names, descriptions and values of parameters that are indexed."""

LONGEST_REMARK = 100
"""Characters of what is said of one parameter that are indexed."""

DEEPEST = 6
"""Levels of a schema that are looked into."""

_STOP_WORDS = (
    "a about all am an and any are as at be been being but by can could did do does doing for from had has have having "
    "help her him his how i if in into is it its just let may me might must my need of on or our please shall she "
    "should so some such tell than that the their them then there these they this those to tool tools use using want "
    "was we were what when where which who whom whose why will with would you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that questions are made of and that say nothing of what is wanted. They count where there is no other word."""

_CAMEL = re.compile(r"[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])")
_WORD = re.compile(r"\w+")
_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u303b\u3041-\u318f\u31a0-\u9fff\uac00-\ud7ff\uf900-\ufaff]+"
)
"""Scripts that put no spaces between words (and Hangul, whose words carry endings): cut into pairs of characters."""


def words(text: str) -> list[str]:
    """The words of a text as the index has them: `createPullRequest` and `create_pull_request` are three each."""
    return _WORD.findall(_spaced(text).replace("_", " ").lower())


def _spaced(text: str) -> str:
    """The text with spaces between all words of it; what else is no letter or digit FTS5 leaves out by itself."""
    return _CAMEL.sub(r"\g<0> ", _cut(text))


def _cut(text: str) -> str:
    """The text with spaces where a script has none. Quick for most: nearly every description is ASCII."""
    if text.isascii():
        return text
    whole = text.encode("utf-8", "replace").decode()  # half a character can stand in a string, but in no database
    return _WIDE.sub(_pairs, unicodedata.normalize("NFKC", whole))


def _pairs(run: re.Match[str]) -> str:
    said = run.group()
    if len(said) == 1:
        return f" {said} "
    return " " + " ".join(said[i : i + 2] for i in range(len(said) - 1)) + " "


def question_words(query: str) -> list[str]:
    """The words of a question that are looked for, each once."""
    said = list(dict.fromkeys(words(query[:LONGEST_QUERY])))
    telling = [each for each in said if each not in STOP_WORDS]
    return (telling or said)[:MOST_WORDS]


class ToolIndex:
    """A catalogue that can be searched. Tools that have a `problem` are not found: they cannot be called."""

    __slots__ = ("_connection", "_counts", "tools")

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools: tuple[Tool, ...] = tuple(tools)
        self._connection: Connection | None = None
        self._counts: list[dict[str, float]] | None = None

    def __del__(self) -> None:
        connection: Connection | None = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()  # Python 3.13 warns of one that is merely forgotten

    def search(self, query: str, limit: int = 5, *, closeness: float = 0.0) -> list[Tool]:
        """The tools that the question is about, the best first; equals in the order of the catalogue.

        With `closeness`, only those whose score is at least that part of the best one's.
        """
        asked = question_words(query)
        if not asked or limit < 1 or not self.tools:
            return []
        if self._connection is None and self._counts is None:
            self._build()
        if self._connection is not None:
            rows = self._connection.execute(_QUERY, (_expression(asked), limit)).fetchall()
            found = [(row, -score) for row, score in rows]  # FTS5 has the best as the least
        else:
            found = self._counted(asked)[:limit]
        return [self.tools[row] for row, score in found if score >= closeness * found[0][1]]

    def _build(self) -> None:
        """The index as a whole and only then in its place, so that a second thread finds none or all of it."""
        rows = [(i, *_document(each)) for i, each in enumerate(self.tools) if each.problem is None]
        try:
            self._connection = _indexed(rows)
        except _missing():  # a Python whose SQLite has no FTS5
            self._counts = [{}] * len(self.tools)
            for i, *columns in rows:
                self._counts[i] = _weighed(columns)

    def _counted(self, asked: Sequence[str]) -> list[tuple[int, float]]:
        """Without FTS5: words that are there, by their weight and by how few tools have them."""
        from math import log

        counts = self._counts or []
        scores = [0.0] * len(counts)
        for word in asked:
            stem = _stem(word)
            having = [i for i, each in enumerate(counts) if stem in each]
            for i in having:
                scores[i] += counts[i][stem] * log(1 + len(counts) / len(having))
        found = [(i, score) for i, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda each: (-each[1], each[0]))


_QUERY = (
    f"SELECT rowid, bm25(tools, {', '.join(map(str, WEIGHTS.values()))}) AS score "
    "FROM tools WHERE tools MATCH ? ORDER BY score, rowid LIMIT ?"
)


def _indexed(rows: list[tuple[Any, ...]]) -> Connection:
    import sqlite3

    # Whoever asks may do so from another thread; SQLite itself lets one in at a time. Statements are not kept: two
    # threads would share one, and get each other's rows.
    connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None, cached_statements=0)
    columns = ", ".join(WEIGHTS)
    connection.execute(
        f"CREATE VIRTUAL TABLE tools USING fts5({columns}, content='', tokenize='porter unicode61 remove_diacritics 2')"
    )
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO tools(rowid, {columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.execute("COMMIT")
    return connection


def _missing() -> tuple[type[Exception], ...]:
    try:
        from sqlite3 import OperationalError
    except ImportError:
        return (ImportError,)
    return (OperationalError,)


def _expression(asked: Sequence[str]) -> str:
    """What FTS5 is asked. Every word is quoted and holds letters and digits alone, so none can be an operator.

    A word counts where it stands and, from four letters on, where one begins with it: "repo" finds repositories.
    """
    return " OR ".join(f'"{each}" OR "{each}"*' if len(each) > 3 else f'"{each}"' for each in asked)


# ── what is said of a tool ───────────────────────────────────────────────────────────────────────────────────────


def _document(tool: Tool) -> tuple[str, str, str, str, str]:
    said: list[str] = []
    _parameters(tool.input_schema, said, DEEPEST)
    return (
        _spaced(tool.id.name),
        _spaced(tool.title or ""),
        _cut(tool.description[:LONGEST_DESCRIPTION]),
        _spaced(" ".join(said)[:LONGEST_PARAMETERS]),
        _spaced(tool.id.server),
    )


def _parameters(schema: Any, said: list[str], levels: int) -> None:
    """Names of parameters, what is said of them and the values they may have, from the top down."""
    if not isinstance(schema, Mapping) or not levels:
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, each in properties.items():
            said.append(str(name))
            if isinstance(each, Mapping):
                _described(each, said)
        for each in properties.values():
            _parameters(each, said, levels - 1)
    for key in ("items", "additionalProperties"):
        _parameters(schema.get(key), said, levels - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(key)
        if isinstance(branches, list):
            for each in branches:
                _parameters(each, said, levels - 1)


def _described(schema: Mapping[str, Any], said: list[str]) -> None:
    description = schema.get("description")
    if isinstance(description, str):
        said.append(description[:LONGEST_REMARK])
    values = schema.get("enum")
    if isinstance(values, list):
        said += [each for each in values[:50] if isinstance(each, str)]


# ── without FTS5 ─────────────────────────────────────────────────────────────────────────────────────────────────


def _weighed(columns: Sequence[str]) -> dict[str, float]:
    out: dict[str, float] = {}
    for weight, text in zip(WEIGHTS.values(), columns, strict=True):
        for word in set(words(text)):
            stem = _stem(word)
            out[stem] = max(out.get(stem, 0.0), weight)
    return out


def _stem(word: str) -> str:
    """Enough of a stem that "issues" finds "issue" and "creating" finds "create"."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
