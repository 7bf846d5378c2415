"""Patterns that backtrack without end: a repetition of what repeats, with nothing between that tells the rounds apart.

One pass over the pattern. It finds `(a+)+`, `(a*b?)*`, `(a|a)*` and `(\\w|\\d)+`; `(a+,)+` is fine, for each
round ends in a comma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

LONGEST: Final = 2_000
"""Characters of a pattern that are looked at."""

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d{0,9})(,?)(\d{0,9})\})[?+]?")
_ATOM = re.compile(
    r"\\[pPxuk]\{[^}]{0,40}\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL
)
_WIDE: Final = {r"\w", ".", r"\S", r"[^\s]", r"[\s\S]", r"[\w]"}
_IN_WIDE: Final = {
    r"\d",
    r"\w",
    ".",
    "[a-z]",
    "[A-Z]",
    "[0-9]",
    "[a-zA-Z]",
    "[a-zA-Z0-9]",
    "[A-Za-z0-9]",
    r"[\w]",
    r"\S",
}


@dataclass(slots=True)
class _Group:
    """A group that is open: where it began, and its alternatives so far."""

    start: int
    looks: bool = False
    """Whether it only looks ahead or behind."""
    alternatives: list[list[_Item]] = field(default_factory=lambda: [[]])


@dataclass(slots=True)
class _Item:
    text: str
    nullable: bool = False
    endless: bool = False
    anchor: bool = False


def is_slow(pattern: str) -> tuple[int, int] | None:
    """Where a pattern repeats a repetition; `None` where it does not, or is none."""
    if len(pattern) > LONGEST or not ("(" in pattern and ("*" in pattern or "+" in pattern or "," in pattern)):
        return None
    groups = [_Group(0)]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "(":
            opening = re.compile(r"\((?:\?(?:[:=!>]|<[=!]|P?<\w{1,40}>|[a-z-]{1,8}:))?").match(pattern, position)
            assert opening is not None
            groups.append(_Group(position, opening.group()[2:] in ("=", "!", "<=", "<!")))
            position = opening.end()
        elif character == "|":
            groups[-1].alternatives.append([])
            position += 1
        elif character == ")" and len(groups) > 1:
            group = groups.pop()
            position += 1
            nullable, endless, end = _quantified(pattern, position)
            if endless and _is_ambiguous(group):
                return group.start, end
            repeats = any(item.endless for each in group.alternatives for item in each)
            empty = nullable or any(all(item.nullable for item in each) for each in group.alternatives)
            text = pattern[group.start : position]
            groups[-1].alternatives[-1].append(
                _Item(text, empty or group.looks, endless or (repeats and _is_lone(group)), group.looks)
            )
            position = end
        else:
            atom = _ATOM.match(pattern, position)
            assert atom is not None
            nullable, endless, end = _quantified(pattern, atom.end())
            anchor = atom.group() in ("^", "$", r"\b", r"\B")
            groups[-1].alternatives[-1].append(_Item(atom.group(), nullable or anchor, endless, anchor))
            position = end
    return None


def _quantified(pattern: str, position: int) -> tuple[bool, bool, int]:
    """Whether what stands before may be absent, whether it repeats without end, and where the quantifier ends."""
    found = _QUANTIFIER.match(pattern, position)
    if found is None or found.group() == "{}":
        return False, False, position
    mark = found.group()
    if mark[0] in "*+?":
        return mark[0] in "*?", mark[0] in "*+", found.end()
    return found.group(1) in ("", "0"), bool(found.group(2)) and not found.group(3), found.end()


def _is_lone(group: _Group) -> bool:
    """Whether a group is one item that repeats: `((a+))+` is as bad as `(a+)+`."""
    return any(len(each) == 1 and each[0].endless for each in group.alternatives)


def _is_ambiguous(group: _Group) -> bool:
    """Whether a group, repeated, can divide one text in several ways."""
    for items in group.alternatives:
        endless = [item for item in items if item.endless]
        if endless and all(item.nullable or item is endless[0] for item in items):
            return True
    return _overlaps(group)


def _overlaps(group: _Group) -> bool:
    """Whether two alternatives begin alike, each of them one or more of the same character."""
    single = [each[0].text for each in group.alternatives if len(each) == 1]
    if len(set(single)) < len(single):
        return True
    if any(text in _WIDE for text in single) and any(
        text in _IN_WIDE or text.isalnum() for text in single if text not in _WIDE
    ):
        return True
    letters = [
        "".join(item.text for item in each) for each in group.alternatives if not any(item.endless for item in each)
    ]
    return any(
        len(one) and other == one * (len(other) // len(one)) and other != one
        for one in letters[:20]
        for other in letters[:20]
    )
