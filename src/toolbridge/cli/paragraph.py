"""Paragraphs: text of others in lines of a given width, also where it has no spaces to break at, and made harmless.

`terminal` has what is said on one line. This is for what may be long: descriptions, and what a server answered.
"""

from __future__ import annotations

import re

from toolbridge.cli.terminal import cells, shown

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
    "|\r(?!\n)"
)
"""What could move the cursor, change colours, turn the writing round or hide in it. Letters, line breaks, tabs and the
joints inside of emoji are none of these."""

_ENDS = re.compile(r"(?<=[.!?…])(?:\s|$)|[。!?]|\n\s*\n|\n\s*[-*#•]|\n\s*\w[\w ]*:\s*\n")
"""Where a first sentence ends: at a full stop, an empty line, or the start of a list."""

_SHORT = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|z\.B)\.|\b[A-Z]\.)$")
"""A full stop that ends no sentence."""


def harmless(text: str) -> str:
    """Text of many lines for a terminal: only what could steer it is written as an escape."""
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def first_sentence(text: str) -> str:
    """The first sentence of a description, on one line."""
    text = text.strip()
    for end in _ENDS.finditer(text):
        if not _SHORT.search(text, 0, end.start()):
            text = text[: end.end()]
            if end[0].lstrip().startswith(("-", "*", "#", "•")):
                text = text[: end.start() - len(text)]
            break
    return one_line(text)


def one_line(text: str) -> str:
    """The text with every run of white space as one space, and nothing in it that is not printable."""
    return shown(" ".join(text.split()))


def folded(text: str, width: int, most: int | None = None) -> list[str]:
    """The text in lines of at most that many columns; a word that is too long, or of ideographs, is broken.

    With `most`, what is past that many lines is an ellipsis.
    """
    width = max(width, 4)
    lines: list[str] = []
    line = ""
    for word in text.split():
        for i, part in enumerate(_parts(word, width)):
            space = " " if line and i == 0 else ""
            if line and cells(line) + len(space) + cells(part) > width:
                lines.append(line)
                line = part
            else:
                line += space + part
    if line:
        lines.append(line)
    if most is not None and len(lines) > most:
        lines = lines[:most]
        last = lines[-1]
        while cells(last) > width - 1:
            last = last[:-1]
        lines[-1] = f"{last.rstrip(' ,;')}…"
    return lines


_PARTS = re.compile(r"[\x21-\x7e]+|.\W?")


def _parts(word: str, width: int) -> list[str]:
    """What a line may be broken between: text of ideographs has no spaces; a word that is too long is cut."""
    parts = [word] if word.isascii() or cells(word) <= 1.3 * len(word) else _PARTS.findall(word)
    if all(cells(part) <= width for part in parts):
        return parts
    return [each for part in parts for each in (part if cells(part) > width else [part])]
