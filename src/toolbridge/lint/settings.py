"""What a project sets for the linter: which rules, how grave they are, for which providers, within which budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolbridge.lint.finding import Severity
from toolbridge.types import EMPTY

PROVIDERS = ("openai-chat", "anthropic", "gemini")
"""Whose rules a tool is held against where none are named: the three that most hosts talk to."""


@dataclass(frozen=True, slots=True)
class LintSettings:
    """The linter's settings. A pattern is a rule's id, a group (`name`), or a glob (`name.*`)."""

    select: tuple[str, ...] = ()
    """Only these rules; all where there are none."""
    ignore: tuple[str, ...] = ()
    """Not these rules."""
    severity: Mapping[str, Severity] = field(default_factory=lambda: EMPTY)
    """Patterns of rules that are graver or less grave here."""
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: EMPTY)
    """Tools, by name, `server/name` or a glob of either, and the rules that do not hold for them."""
    fail_on: Severity | None = "warning"
    """The least grave finding that makes the command fail; `None`: no finding does."""
    waivers: bool = True
    """Whether tools may waive rules by their own `_meta`."""
    providers: tuple[str, ...] = PROVIDERS
    tool_budget: int = 1_000
    """Tokens that one tool may cost."""
    budget: int | None = None
    """Tokens that all tools together may cost; `None` sets no limit."""


DEFAULTS = LintSettings()
