"""Matching: which words or lines of two texts are the same, with every step of the work counted.

What `difflib` does on texts that repeat themselves costs the third power of their length, and a server chooses its
texts. So whoever compares has an `Effort` for all that is compared together; where it is used up, what lies between the
first and the last difference is one difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Operation: TypeAlias = tuple[str, int, int, int, int]
"""As `difflib` has it: what became of a range of the old, and the two ranges."""

MOST_COMPARED = 400
"""Words or lines between the first and the last difference that are compared one by one."""

MUCH = 10_000_000
"""Steps for a person who waits for them: a second or two."""

LITTLE = 200_000
"""Steps where others wait for the event loop: some hundredths of a second."""


class Effort:
    """What a comparison may still cost, in steps of some 100 ns."""

    def __init__(self, steps: int = MUCH) -> None:
        self._left = steps

    def spend(self, steps: int) -> bool:
        """Whether there is as much left; it is used up where there is not."""
        self._left -= steps
        return self._left >= 0


def operations(old: Sequence[str], new: Sequence[str], effort: Effort) -> list[Operation]:
    """`difflib`'s operations, in bounded time."""
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    found: list[Operation] = [("equal", 0, start, 0, start)] if start else []
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    if left or right:
        inner = _matched(left, right, effort) or [("replace", 0, len(left), 0, len(right))]
        found += [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in inner]
    if end:
        found.append(("equal", len(old) - end, len(old), len(new) - end, len(new)))
    return found


def _matched(left: Sequence[str], right: Sequence[str], effort: Effort) -> list[Operation] | None:
    """The operations word by word; `None` where that is too much."""
    if max(len(left), len(right)) > MOST_COMPARED:
        return None
    from toolbridge.lock.counted import CountedMatcher, TooMuch  # slow to import; only a difference needs it

    try:
        return CountedMatcher(left, right, effort.spend).operations()
    except TooMuch:
        return None
