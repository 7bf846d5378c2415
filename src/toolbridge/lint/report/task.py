"""What a report is written from: the findings, where they come from, and how the page looks. A plain value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from toolbridge.failure import Failure
from toolbridge.lint.linting import LintReport
from toolbridge.lint.places import Places, SourceLabel

DISABLED: Final = "disabled, and not asked"
"""What reports say of a server that the configuration has switched off."""


class Paint(Protocol):
    """Puts colours round a text: styles are `bold`, `dim`, `red`, `green`, `yellow`, `cyan`."""

    def __call__(self, text: str, *styles: str) -> str: ...


def plain(text: str, *_styles: str) -> str:
    """No colours."""
    return text


@dataclass(frozen=True, slots=True)
class Task:
    """One report that somebody wants."""

    report: LintReport
    source: SourceLabel
    places: Places
    width: int
    paint: Paint
    exit_code: int
    failures: tuple[Failure, ...] = ()
    """Of several servers, those that are not there."""
    disabled: tuple[str, ...] = ()
    """Servers of a configuration that nobody asks."""
