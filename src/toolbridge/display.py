"""Text for a screen: what may be shown of the words of others, and how many columns it takes. Nothing here prints.

Names and reasons come from servers that nobody vetted, so nothing of theirs is shown that could move the cursor,
change colours or turn the writing round.
"""

from __future__ import annotations

import unicodedata


def shown(text: str) -> str:
    """Text of others on one line: what is not printable is written as an escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def cells(text: str) -> int:
    """How many columns the text takes: an ideograph takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def fitted(text: str, width: int) -> str:
    """The text in exactly that many columns: filled up, or cut in the middle, where names differ least."""
    if cells(text) > width:
        kept = max(width - 1, 0)
        tail = ending(text, kept // 2)
        text = f"{beginning(text, kept - cells(tail))}…{tail}" if width else ""
    return text + " " * (width - cells(text))


def beginning(text: str, width: int) -> str:
    """As much of the text as fits into that many columns."""
    used = 0
    for i, each in enumerate(text):
        used += cells(each)
        if used > width:
            return text[:i]
    return text


def ending(text: str, width: int) -> str:
    """As much of the end of the text as fits into that many columns."""
    return beginning(text[::-1], width)[::-1]


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """The text in lines of at most that many columns, each behind the indent."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and cells(indent) + cells(longer) > width:
            lines.append(indent + line)
            line = word
        else:
            line = longer
    return [*lines, indent + line] if line else lines
