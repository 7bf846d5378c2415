"""An excerpt: the characters of a text that are wrong, with what stands around them, on one line, and a line of carets.

What cannot be seen is written as an escape, so a hidden character is as wide as its escape and the carets stand under
it. Cost does not depend on the length of the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolbridge.display import cells, shown

_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that Unicode calls printable and that no font shows."""

_CUT: Final = "…"


def excerpt(text: str, span: tuple[int, int] | None, width: int) -> tuple[str, str]:
    """One line of the text around the span, and the line of carets below it: empty where there is no span."""
    if span is None:
        return _kept(text, _line_after(text, 0, width), width), ""
    start, end = max(0, span[0]), min(span[1], len(text))
    inside = [_exposed(each) for each in text[start : min(end, start + width)]]
    room = max(width * 2 // 3, 12)
    marked = _taken(inside, room)
    cut_inside = len(marked) < end - start
    core = "".join(marked) + (_CUT if cut_inside else "")
    left = width - cells(core)
    before_all = [shown(each) for each in _line_before(text, start, width)]
    after_all = [] if cut_inside else [shown(each) for each in _line_after(text, end, width)]
    after_want = cells("".join(after_all))
    before = _taken(before_all[::-1], max(left - min(after_want, left // 2), 0) - 1)[::-1]
    lead = _CUT if len(before) < len(before_all) else ""
    ahead = lead + "".join(before)
    after = _taken(after_all, left - cells(ahead) - 1)
    tail = _CUT if len(after) < len(after_all) else ""
    line = ahead + core + "".join(after) + tail
    return line, " " * cells(ahead) + "^" * max(1, cells(core))


def _exposed(character: str) -> str:
    if not character.isprintable() or character in _BLANK or not cells(character) or _selects(character):
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def _selects(character: str) -> bool:
    """Whether it is a variation selector, which smugglers write bytes with."""
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _line_before(text: str, start: int, most: int) -> str:
    near = text[max(0, start - most) : start]
    line = near.rpartition("\n")[2]
    return line.lstrip() if len(line) < len(near) or start <= most else line


def _line_after(text: str, end: int, most: int) -> str:
    return text[end : end + most].partition("\n")[0].rstrip()


def _kept(text: str, line: str, width: int) -> str:
    pieces = [shown(each) for each in line]
    if len(line) == len(text) and cells("".join(pieces)) <= width:
        return "".join(pieces)
    return "".join(_taken(pieces, width - 1)) + _CUT


def _taken(pieces: Iterable[str], width: int) -> list[str]:
    """As many pieces as fit; an escape is never cut."""
    used = 0
    kept: list[str] = []
    for each in pieces:
        used += cells(each)
        if used > width:
            break
        kept.append(each)
    return kept
