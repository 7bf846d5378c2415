"""What the tests of rules share: the flaws that one rule finds in entries as servers list them."""

from __future__ import annotations

from typing import Any

from toolbridge.lint.finding import Finding, Flaw
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.tools import read_tools


def findings(rule: str, *entries: Any, server: str = "") -> list[Finding]:
    """What a rule, or a group of rules, finds in the tools of one server."""
    return list(lint_tools(read_tools(list(entries), server), settings=LintSettings(select=(rule,))).findings)


def flaws(rule: str, *entries: Any, server: str = "") -> list[Flaw]:
    return [each.flaw for each in findings(rule, *entries, server=server)]


def named(rule: str, *names: str, server: str = "") -> list[str]:
    """Which of these names a rule finds."""
    found = findings(rule, *({"name": name} for name in names), server=server)
    return [each.tool.name for each in found if each.tool is not None]


def shown(flaw: Flaw) -> str:
    """The characters that a flaw points at."""
    assert flaw.span is not None
    return flaw.text[slice(*flaw.span)]


def described(text: str, name: str = "search_products", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": text, **more}


def tool(*required: str, **properties: Any) -> dict[str, Any]:
    """A tool of these parameters."""
    return {
        "name": "search_products",
        "inputSchema": {"type": "object", "properties": properties, "required": list(required)},
    }
