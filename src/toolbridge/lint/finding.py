"""What a linter finds: a flaw as a rule tells it, and the finding that a report shows. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolbridge.types import ToolId

Severity: TypeAlias = Literal["error", "warning", "info"]
"""`error`: it breaks, or somebody is deceived; `warning`: models or people will get it wrong; `info`: a remark."""

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""The gravest first."""


def is_at_least(severity: Severity, other: Severity) -> bool:
    """Whether one severity is as grave as another, or graver."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(other)


@dataclass(frozen=True, slots=True)
class Flaw:
    """What a rule's function yields: what is wrong, and where in the tool."""

    message: str
    """One sentence without a full stop: what is wrong here, and what would be right."""
    path: str = ""
    """A JSON pointer into the tool as MCP spells it: `/description`, `/inputSchema/properties/city`. Empty is the
    whole tool."""
    text: str = ""
    """The text that is wrong, where it is one: reports show it."""
    span: tuple[int, int] | None = None
    """Which characters of the text."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A flaw of a tool, or of a whole server, by the rule that says so."""

    rule: str
    severity: Severity
    server: str
    tool: ToolId | None
    """`None` where the finding is about all tools of the server."""
    flaw: Flaw

    @property
    def message(self) -> str:
        return self.flaw.message

    @property
    def path(self) -> str:
        return self.flaw.path


@dataclass(frozen=True, slots=True)
class Waived:
    """A finding that does not count, and who says so."""

    finding: Finding
    by: Literal["settings", "tool"]
    reason: str = ""
