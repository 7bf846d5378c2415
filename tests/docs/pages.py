"""The pages of the project, and the blocks of code in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

_BLOCK = re.compile(r'^```(\w*)(?: title="([^"\n]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language, its text, and the line that its text begins on.

    One with a title is a program in a file of its own; the block of `output` that follows it is what it prints.
    """

    language: str
    title: str | None
    text: str
    line: int


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[Block]:
    """The page's blocks in a language, in order, without those that are programs of their own."""
    return [each for each in _all(page) if each.language == language and each.title is None]


def programs(page: Path) -> list[tuple[Block, str]]:
    """The page's programs that stand in a file of their own, in order, and what each prints."""
    found = _all(page)
    return [
        (each, after.text)
        for each, after in zip(found, [*found[1:], None], strict=True)
        if each.title is not None and each.language == "python" and after is not None and after.language == "output"
    ]


def files(page: Path) -> dict[str, str]:
    """The page's files by their names: blocks with a title that is one."""
    return {each.title: each.text for each in _all(page) if each.title is not None and " " not in each.title}


def elsewhere(page: Path) -> list[Block]:
    """The page's commands that are run in a folder of the reader's."""
    return [each for each in _all(page) if each.title is not None and each.language == "console"]


def _all(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(each[1], each[2], each[3], text.count("\n", 0, each.start()) + 2) for each in _BLOCK.finditer(text)]


def prose(page: Path) -> str:
    """The page without its blocks of code."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))
