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


_GLOB = frozenset("*?[")


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
    if rule == pattern or rule.partition(".")[0] == pattern:
        return True
    return not _GLOB.isdisjoint(pattern) and fnmatchcase(rule, pattern)


def is_known(pattern: str) -> bool:
    """Whether a pattern means any rule."""
    return any(matches(rule, pattern) for rule in rules())


def meant_hint(pattern: str) -> str:
    """What to say of a pattern that means no rule: the nearest name, or where the rules are listed."""
    meant = nearest(pattern, [*rules(), *dict.fromkeys(rule.group for rule in rules().values())])
    return f"did you mean {meant!r}?" if meant else "'toolbridge lint --rules' lists them"


def refuse_unknown(patterns: Iterable[str], where: str) -> None:
    """Raise for a pattern that means no rule: it is misspelt, or for a rule that is gone."""
    for pattern in patterns:
        if not is_known(pattern):
            raise ToolbridgeError(f"{where}: unknown rule {pattern!r}; {meant_hint(pattern)}")
