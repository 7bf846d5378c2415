"""The table of rules: every row, in the order of the groups, and the ways to pick from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from types import MappingProxyType

from toolbridge.errors import ToolbridgeError, nearest
from toolbridge.lint.rule import Rule

MODULES = (
    "names",
    "descriptions",
    "parameters",
    "shapes",
    "values",
    "annotations",
    "apps",
    "results",
    "portability",
    "cost",
    "safety",
)
"""The modules of `rules/`, in the order that reports follow."""


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its id, in the order of the table."""
    found: dict[str, Rule] = {}
    for module in MODULES:
        for rule in import_module(f"toolbridge.lint.rules.{module}").RULES:
            assert rule.id not in found, rule.id
            found[rule.id] = rule
    return MappingProxyType(found)


def matches(rule: str, pattern: str) -> bool:
    """Whether a pattern means a rule: its id, its group, or a glob."""
    return rule == pattern or rule.partition(".")[0] == pattern or fnmatchcase(rule, pattern)


def refuse_unknown(patterns: Iterable[str], where: str) -> None:
    """Raise for a pattern that means no rule: it is misspelt, or for a rule that is gone."""
    for pattern in patterns:
        if not any(matches(rule, pattern) for rule in rules()):
            meant = nearest(pattern, [*rules(), *dict.fromkeys(rule.group for rule in rules().values())])
            hint = f"did you mean {meant!r}?" if meant else "'toolbridge lint --rules' lists them"
            raise ToolbridgeError(f"{where}: unknown rule {pattern!r}; {hint}")
