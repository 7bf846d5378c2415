"""Ids of calls, as a provider takes them: legal, and no two alike in one transcript.

What is legal and not taken yet stays as it is; what is not is spelt as far as it can be, plus a digest, as names are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import count

from toolbridge.history.rules import IdRule
from toolbridge.names import digest

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567ABCDEFGHIJKLMNOPQRSTUVWXYZ0189"
"""What a digest may be written in, the digest's own letters first."""


def legal_ids(ids: Sequence[str], rule: IdRule) -> list[str]:
    """An id for each, in order: its own for the first call that has it, if the rule allows it.

    An id does not depend on the calls after it, so that a transcript that grows stays the same up to there (unless a
    later call has, of its own, the very id that was made for an earlier one).
    """
    own = {id for id in ids if rule.allows(id)}
    made: set[str] = set()
    uses: dict[str, int] = {}
    written: list[str] = []
    for id in ids:
        use = uses[id] = uses.get(id, 0) + 1
        if use == 1 and id in own:
            written.append(id)
            continue
        spellings = (spell_id(id, rule, str(use), str(attempt)) for attempt in count())
        spelling = next(each for each in spellings if each not in own and each not in made)
        made.add(spelling)
        written.append(spelling)
    return written


def spell_id(id: str, rule: IdRule, *identity: str) -> str:
    """As much of the id as the rule allows, and a digest of it and of what else tells it from others."""
    letters = _letters(rule)
    mark = "".join(
        each if each in letters else letters[ord(each) % len(letters)] for each in digest(id, *identity)[: rule.length]
    )
    joint = "_" if rule.pattern.fullmatch("_") else ""
    legal = (each if rule.pattern.fullmatch(each) else joint for each in id[: rule.length])
    readable = "".join(legal).strip("_")[: max(rule.length - len(mark) - len(joint), 0)]
    head = f"{readable}{joint}" if readable else ""
    return (head.ljust(rule.length - len(mark), letters[0]) if rule.exact else head) + mark


@lru_cache(maxsize=64)
def _letters(rule: IdRule) -> str:
    return "".join(each for each in _LETTERS if rule.pattern.fullmatch(each)) or _LETTERS
