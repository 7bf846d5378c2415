"""`difflib`'s matcher with its steps counted. It is imported where two texts differ, and by `matching` alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate


class TooMuch(Exception):
    """The steps are used up."""


class CountedMatcher(SequenceMatcher[str]):
    """Asks before each search whether it may be made."""

    def __init__(self, old: Sequence[str], new: Sequence[str], spend: Callable[[int], bool]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._spend = spend
        places = Counter(new)
        # A search looks, for each word of its part of the old text, at every place of that word in the new one.
        self._steps = [0, *accumulate(1 + places[each] for each in old)]

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        until = len(self._steps) - 1 if ahi is None else ahi
        if not self._spend(self._steps[until] - self._steps[alo]):
            raise TooMuch
        return super().find_longest_match(alo, ahi, blo, bhi)

    def operations(self) -> list[tuple[str, int, int, int, int]]:
        return [*self.get_opcodes()]
