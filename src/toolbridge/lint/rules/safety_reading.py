"""How the rules of safety read: every text of every tool, and what servers say of themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from toolbridge.display import shown
from toolbridge.lint.confusables import read_as
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import CheckAll
from toolbridge.lint.rules.safety_search import Match, Phrase, anchors_in, find
from toolbridge.lint.subject import ServerFacts, Surface
from toolbridge.lint.texts import Located, Texts
from toolbridge.types import ToolId

SOURCE: Final = "attacks on MCP hosts as published since April 2025 (tool poisoning, shadowing), checked November 2026"
MEASURED: Final = "11,549 tools of real servers, measured November 2026"
UNICODE: Final = "Unicode 16 and UTR #36 (security considerations), checked November 2026"

MOST_FLAWS: Final = 20
"""Findings of one rule in one tool: a list of 5,000 poisoned values is one attack."""

LONGEST_NAME: Final = 128
"""Characters of a name that are compared: the most that the protocol allows."""

LONGEST_QUOTE: Final = 80
"""Characters of a text that a message quotes."""

SHORTEST_ORDER: Final = 8
"""Characters of a text that can be an order."""

SHORTEST_ORDER_ABROAD: Final = 5
"""The same where a character may be a word, as in Chinese."""

Look: TypeAlias = Callable[[Texts], Iterable[Flaw]]


def everywhere(look: Look) -> CheckAll:
    """A check that looks at the texts of every tool, and at the instructions and names of servers."""

    def check(surface: Surface) -> Iterator[tuple[ToolId | str, Flaw]]:
        for subject in surface.subjects:
            for flaw in islice(look(subject.texts), MOST_FLAWS):
                yield subject.tool.id, flaw
        for server, facts in surface.servers.items():
            for flaw in islice(look(_own_words(facts)), MOST_FLAWS):
                yield server, flaw

    return check


def saying(phrases: tuple[Phrase, ...], *, advice: str) -> Look:
    """A look for phrases."""

    def look(texts: Texts) -> Iterator[Flaw]:
        if not any(find(phrases, texts.folded, texts.once(_anchors))):
            return
        for located in texts.located:
            for match, start, end in said(phrases, located.text):
                yield Flaw(
                    f"the text {match.meaning}: {quoted(located.text[start:end])}; {advice}",
                    located.path,
                    located.text,
                    (start, end),
                )

    return look


def _anchors(texts: Texts) -> int:
    return anchors_in(texts.folded, texts.words)


def said(phrases: tuple[Phrase, ...], text: str) -> Iterator[tuple[Match, int, int]]:
    """The phrases of a text, and where they are in it as it was sent."""
    if len(text) < (SHORTEST_ORDER if text.isascii() else SHORTEST_ORDER_ABROAD):
        return
    folded, offsets = read_as(text)
    for match in find(phrases, folded):
        if offsets is None:
            yield match, match.start, match.end
        else:
            yield match, offsets[match.start], offsets[match.end - 1] + 1


def quoted(text: str) -> str:
    """Text of others within a message: on one line, short, printable."""
    line = " ".join(text.split())
    cut = line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return f'"{shown(cut)}"'


def flaw_at(located: Located, message: str, start: int, end: int) -> Flaw:
    return Flaw(message, located.path, located.text, (start, end))


def _own_words(facts: ServerFacts) -> Texts:
    return Texts((
        ("/instructions", facts.instructions or ""),
        ("/serverInfo/name", facts.server_name or ""),
        ("/serverInfo/version", facts.server_version or ""),
    ))  # fmt: skip
