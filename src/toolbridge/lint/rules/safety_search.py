"""The search for phrases: what a row of the tables of phrases is, and how a text is held against many rows at once.

Patterns are over lower case; a space stands for whatever is between two words, `WORD` for any word. A row is tried only
where one of each of its anchors occurs. All anchors of all rows are looked for together, word by word, and what a word
holds is remembered: most tools cost no regular expression at all, and no search for a substring either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

NEAR: Final = 200
"""Characters before and behind a phrase that belong to it."""

WINDOW: Final = 700
"""Characters before and behind an anchor in which the whole phrase is: more than the longest has."""

MOST_TRIED: Final = 2_000
"""Places in one text where a phrase is tried."""

MOST_KNOWN: Final = 1 << 15
"""Words that are remembered."""

LONGEST_KNOWN: Final = 40
"""Characters of a word that is remembered."""

MOST_WORDS: Final = 2_000
"""Different words of a text that are asked one by one: a text of more is made to be costly, and searched as it is."""

WORDS_IN_A_NAME: Final = 3
"""Words of a phrase that may be the name of a parameter: `skip_confirmation`."""

_GAP: Final = r"[\W_]{1,8}"
_WORD: Final = r"[^\W_]{1,30}"
_IDENTIFIER: Final = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)+")

_bits: dict[tuple[str, ...], int] = {}
"""The anchors of all rows, each with a bit of its own."""

_starts: dict[str, dict[str, int]] = {}
"""Every word of them by its first three characters, with the bits of the anchors that it is one of."""

_harmless: set[str] = set()
"""Words that are known to hold no anchor: most words."""

_short: dict[str, int] = {}
"""Those that have no three."""


@dataclass(frozen=True)
class Phrase:
    """One row: what the words do, the substrings without which they cannot be there, and their pattern."""

    meaning: str
    anchors: tuple[tuple[str, ...], ...]
    """Of each of these, one must be within a word of the text: none has a blank in it."""
    pattern: str
    before: str = ""
    """What must stand within a few words before it."""
    after: str = ""
    """What must stand within a few words after it."""
    may_be_a_name: bool = False
    """Whether the words in one identifier are a name and no order."""

    def __post_init__(self) -> None:
        for each in self.anchors:
            bit = _bits.setdefault(each, 1 << len(_bits))
            for word in each:
                same = _starts.setdefault(word[:3], {}) if len(word) > 2 else _short
                same[word] = same.get(word, 0) | bit
        _known.cache_clear()
        _harmless.clear()

    @cached_property
    def needs(self) -> int:
        """The bits of its anchors."""
        return sum({_bits[each] for each in self.anchors})

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
        return _compiled(self.pattern), _compiled(self.before), _compiled(self.after)

    def search(self, text: str) -> tuple[int, int] | None:
        """Where it is in a text. Its surroundings are looked at apart, so that the cost stays linear."""
        pattern, before, after = self.compiled
        found = (match for start, end in self._windows(text) for match in pattern.finditer(text, start, end))
        for match in islice(found, MOST_TRIED):
            first = before.search(text, max(0, match.start() - NEAR), match.start())
            last = after.search(text, match.end(), match.end() + NEAR)
            if first is not None and last is not None and not (self.may_be_a_name and _is_name(match.group())):
                return first.start() if self.before else match.start(), last.end()
        return None

    def _windows(self, text: str) -> list[tuple[int, int]]:
        """The parts of a text that are near to an anchor: a phrase is nowhere else."""
        if len(text) < 2 * WINDOW:
            return [(0, len(text))]
        places: list[int] = []
        for anchor in min(self.anchors, key=len):
            place = text.find(anchor)
            while place >= 0:
                places.append(place)
                place = text.find(anchor, place + len(anchor))
        windows: list[tuple[int, int]] = []
        for place in sorted(places):
            if windows and place - WINDOW <= windows[-1][1]:
                windows[-1] = windows[-1][0], place + WINDOW
            else:
                windows.append((max(0, place - WINDOW), place + WINDOW))
        return windows


def _is_name(words: str) -> bool:
    return _IDENTIFIER.fullmatch(words) is not None and len(re.split("[_-]", words)) <= WORDS_IN_A_NAME


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("WORD", _WORD).replace(" ", _GAP))


@dataclass(frozen=True, slots=True)
class Match:
    """What was found, and where."""

    meaning: str
    start: int
    end: int


def anchors_in(text: str, words: frozenset[str]) -> int:
    """The bits of all anchors that are in a text, folded, of these words."""
    found = 0
    if len(words) > MOST_WORDS:
        for same in (_short, *_starts.values()):
            for anchor, bits in same.items():
                found |= bits if anchor in text else 0
        return found
    for word in words.difference(_harmless):
        bits = _known(word) if len(word) <= LONGEST_KNOWN else _looked_up(word)
        found |= bits
        if not bits and len(word) <= LONGEST_KNOWN and len(_harmless) < MOST_KNOWN:
            _harmless.add(word)
    return found


def _looked_up(word: str) -> int:
    found = 0
    for anchor, bits in _short.items():
        found |= bits if anchor in word else 0
    for i in range(len(word) - 2):
        same = _starts.get(word[i : i + 3])
        for anchor, bits in same.items() if same else ():
            found |= bits if word.startswith(anchor, i) else 0
    return found


_known = lru_cache(maxsize=MOST_KNOWN)(_looked_up)
"""What was looked up: texts of tools repeat a few thousand words."""


def find(phrases: tuple[Phrase, ...], text: str, anchors: int | None = None) -> Iterator[Match]:
    """What a text, folded, says of these: the first of each meaning. `anchors` is what is known to be in it."""
    there = anchors_in(text, frozenset(text.split())) if anchors is None else anchors
    said: set[str] = set()
    for phrase in phrases:
        if phrase.needs & ~there == 0 and phrase.meaning not in said:
            span = phrase.search(text)
            if span is not None:
                said.add(phrase.meaning)
                yield Match(phrase.meaning, *span)
