"""Patterns that backtrack without end: a repetition of what can divide one text in several ways.

One pass over the pattern. A group that repeats is slow where, for some character, it matches that character in rows of
different lengths: `(a+)+`, `(x+x+)+`, `(.*a){20}`, `(([a-z])+.)+`. It is slow, too, where its alternatives can make one
text in two ways: `(a|aa)*`, `(a|b|ab)*`, `(\\w|\\d)+`. `(a+,)+` is fine, for each round ends in a comma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

LONGEST: Final = 2_000
"""Characters of a pattern that are looked at."""

MANY: Final = 10
"""Repetitions, counted, that cost a checker as much as endless ones."""

MOST_CHOICES: Final = 20
"""Alternatives of a group that are held against each other."""

_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d{0,9})(,?)(\d{0,9})\})[?+]?")
_OPENING = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|P?<\w{1,40}>|[a-z-]{1,8}:))?")
_ATOM = re.compile(
    r"\\[pPxuk]\{[^}]{0,40}\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL
)
_SET = re.compile(r"\\.|[\[&|~]", re.DOTALL)
_ASCII: Final = tuple(map(chr, range(128)))
_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of a sequence, quantified."""

    text: str
    letters: frozenset[str] = _NONE
    """The characters of which it matches a row, of one at least."""
    varying: frozenset[str] = _NONE
    """Those of which it matches rows of several lengths."""
    nullable: bool = False
    single: bool = True
    """Whether it is one character, once."""
    optional: bool = False
    """Whether it is there once or not at all: on its own it has one length that is not empty."""


@dataclass(slots=True)
class _Group:
    """A group that is open: where it began, and its alternatives so far."""

    start: int
    looks: bool = False
    """Whether it only looks ahead or behind."""
    alternatives: list[list[_Item]] = field(default_factory=lambda: [[]])


def is_slow(pattern: str) -> tuple[int, int] | None:
    """Where a pattern repeats what divides in several ways; `None` where it does not, or is no pattern."""
    if len(pattern) > LONGEST or not ("(" in pattern and ("*" in pattern or "+" in pattern or "{" in pattern)):
        return None
    groups = [_Group(0)]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "(":
            opening = _OPENING.match(pattern, position)
            assert opening is not None
            groups.append(_Group(position, opening.group()[2:] in ("=", "!", "<=", "<!")))
            position = opening.end()
        elif character == "|":
            groups[-1].alternatives.append([])
            position += 1
        elif character == ")" and len(groups) > 1:
            group = groups.pop()
            least, most, end = _quantified(pattern, position + 1)
            if most >= MANY and not group.looks and _is_ambiguous(group):
                return group.start, end
            groups[-1].alternatives[-1].append(_closed(group, pattern[group.start : position + 1], least, most))
            position = end
        else:
            atom = _ATOM.match(pattern, position)
            assert atom is not None
            least, most, end = _quantified(pattern, atom.end())
            letters = _letters(atom.group())
            varying = letters if most > max(least, 1) or (least, most) == (0, 1) else _NONE
            once = (least, most) == (1, 1)
            groups[-1].alternatives[-1].append(
                _Item(atom.group(), letters, varying, least == 0 or _is_anchor(atom.group()), once, most == 1 > least)
            )
            position = end
    return None


def _quantified(pattern: str, position: int) -> tuple[int, int, int]:
    """How often, at least and at most, what stands before repeats, and where the quantifier ends."""
    found = _QUANTIFIER.match(pattern, position)
    if found is None or found.group().startswith("{}") or found.group().startswith("{,}"):
        return 1, 1, position
    if found.group(1):
        return {"*": (0, MANY), "+": (1, MANY), "?": (0, 1)}[found.group(1)] + (found.end(),)
    least = int(found.group(2) or 0)
    most = int(found.group(4)) if found.group(4) else MANY + least if found.group(3) else least
    return least, most, found.end()


def _closed(group: _Group, text: str, least: int, most: int) -> _Item:
    """A group as an item of what it stands in."""
    if group.looks:
        return _Item(text, nullable=True, single=False)
    letters = _NONE.union(*(_rows(each) for each in group.alternatives))
    varying = letters if most > max(least, 1) else _NONE.union(*(_varying(each) for each in group.alternatives))
    nullable = least == 0 or any(all(item.nullable for item in each) for each in group.alternatives)
    lone = len(group.alternatives) == 1 and len(group.alternatives[0]) == 1 and group.alternatives[0][0].single
    return _Item(text, letters, varying, nullable, lone and (least, most) == (1, 1))


def _rows(items: list[_Item]) -> frozenset[str]:
    """The characters of which a sequence matches a row."""
    needed = [item.letters for item in items if not item.nullable]
    return needed[0].intersection(*needed[1:]) if needed else _NONE.union(*(item.letters for item in items))


def _varying(items: list[_Item]) -> frozenset[str]:
    """The characters of which a sequence matches rows of several lengths, none of them empty."""
    some = any(not item.nullable for item in items)
    endless = (item.varying for item in items if some or not item.optional)
    return _NONE.union(*endless) & _rows(items)


def _is_ambiguous(group: _Group) -> bool:
    """Whether a group, repeated, can divide one text in several ways."""
    if any(_varying(each) for each in group.alternatives):
        return True
    fixed = [each for each in group.alternatives if each and all(item.single for item in each)][:MOST_CHOICES]
    for i, one in enumerate(fixed):
        for other in fixed[i + 1 :]:
            if len(one) == len(other) and all(a.letters & b.letters for a, b in zip(one, other, strict=True)):
                return True
    words = {"".join(item.text for item in each) for each in fixed}
    return all(each.isalnum() for each in words) and not _is_code(words)


def _is_code(words: set[str]) -> bool:
    """Whether a text made of these words can be divided into them in one way only (Sardinas and Patterson)."""
    rests = {other.removeprefix(one) for one in words for other in words if other != one and other.startswith(one)}
    seen: set[str] = set()
    while rests - seen:
        seen |= rests
        if not words.isdisjoint(seen):
            return False
        pairs = [(one, other) for one in rests for other in words]
        rests = {b.removeprefix(a) for a, b in pairs if b.startswith(a)} | {
            a.removeprefix(b) for a, b in pairs if a.startswith(b)
        }
    return True


def _is_anchor(atom: str) -> bool:
    return atom in ("^", "$", r"\b", r"\B", r"\A", r"\Z", r"\z")


@lru_cache(maxsize=512)
def _letters(atom: str) -> frozenset[str]:
    """The characters of ASCII that an atom matches; none where it is an anchor, or nothing that can be told."""
    if _is_anchor(atom):
        return _NONE
    if atom.startswith((r"\p{L", r"\p{Alpha")):
        atom = "[A-Za-z]"
    if atom.startswith("[") and len(atom) > 1:  # what Python may one day read as operations on sets is none here
        atom = (
            f"[{_SET.sub(lambda mark: mark.group() if mark.group()[1:] else f'{chr(92)}{mark.group()}', atom[1:-1])}]"
        )
    try:
        matches = re.compile(atom, re.DOTALL).fullmatch
    except (re.error, OverflowError, Warning):
        return _NONE
    return frozenset(each for each in _ASCII if matches(each))
