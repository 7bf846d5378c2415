"""A rule: its id, how grave it is, why it is there, an example of each kind, and the function that looks.

Rules live in `rules/`, one module a subject, each ending in a tuple of rows. `table` gathers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolbridge.lint.finding import Flaw, Severity
from toolbridge.lint.subject import ServerFacts, Subject, Surface
from toolbridge.types import EMPTY, JsonObject, ToolId

Check: TypeAlias = Callable[[Subject], Iterable[Flaw]]
"""Looks at one tool."""

CheckAll: TypeAlias = Callable[[Surface], Iterable[tuple[ToolId | str, Flaw]]]
"""Looks at all tools at once; tells each flaw with the tool it is of, or with the name of the server."""


@dataclass(frozen=True, slots=True)
class Sample:
    """An example of a rule: entries as servers list them, no more of each than the rule looks at."""

    tools: tuple[JsonObject, ...]
    servers: tuple[str, ...] = ()
    """The server of each tool, where they are of several."""
    facts: ServerFacts | None = None
    """What a live server showed, where the rule needs one."""
    settings: Mapping[str, Any] = field(default_factory=lambda: EMPTY)
    """What was set, where the rule needs it: fields of `LintSettings`."""


def of(*tools: JsonObject, **more: Any) -> Sample:
    """A sample of these entries."""
    return Sample(tools, **more)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. Exactly one of `check` and `check_all` is set."""

    id: str
    """`subject.flaw`: the first half is the group."""
    severity: Severity
    summary: str
    """What the rule asks for, as a sentence with a full stop."""
    why: str
    """What happens to those who break it."""
    source: str
    """Where the rule comes from: a specification, a guide, a measurement, with the month it was checked."""
    bad: Sample
    good: Sample
    check: Check | None = None
    check_all: CheckAll | None = None

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]
