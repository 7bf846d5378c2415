"""Rules for names: what a model chooses by."""

from __future__ import annotations

from collections.abc import Iterator

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.subject import Subject

_GUIDE = "Apps SDK tool design guide, checked November 2026"


def version(subject: Subject) -> Iterator[Flaw]:
    for before, last in zip(("", *subject.words), subject.words, strict=False):
        if before == "v" and last.isdecimal():
            start = subject.name.lower().rfind(f"v{last}")
            yield Flaw("the name holds a version", "/name", subject.name, (start, start + len(last) + 1))


RULES = (
    Rule(
        "name.version",
        "warning",
        "A name holds no version.",
        "Two versions beside each other make a model choose by chance, and a new version breaks every saved prompt.",
        _GUIDE,
        bad=of({"name": "search_v2"}),
        good=of({"name": "search_products"}),
        check=version,
    ),
)
