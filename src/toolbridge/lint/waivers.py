"""Waivers: what a tool says about rules that it breaks on purpose, in its own `_meta`.

    "_meta": {"toolbridge/lint": {"ignore": {"name.version": "v2 is the name of the file format"}}}

A list of ids does too. Rules of safety cannot be waived so: they protect from the very server that would waive them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolbridge.lint.table import matches
from toolbridge.types import Tool

KEY = "toolbridge/lint"

NOT_WAIVED = ("safety",)
"""Groups of rules that a tool cannot waive by itself; the settings of whoever lints it can."""


@dataclass(frozen=True, slots=True)
class Waivers:
    """Patterns of rules, and the reason that is given for each."""

    reasons: Mapping[str, str]

    def reason(self, rule: str) -> str | None:
        """Why a rule does not hold here; `None` where it does."""
        if rule.partition(".")[0] in NOT_WAIVED:
            return None
        return next((reason for pattern, reason in self.reasons.items() if matches(rule, pattern)), None)


NONE = Waivers({})


def read_waivers(tool: Tool) -> Waivers:
    """What a tool waives. A waiver of another shape waives nothing."""
    said = tool.meta.get(KEY)
    ignore = said.get("ignore") if isinstance(said, Mapping) else None
    if isinstance(ignore, Mapping):
        return Waivers({str(key): each if isinstance(each, str) else "" for key, each in ignore.items()})
    if isinstance(ignore, list):
        return Waivers({each: "" for each in ignore if isinstance(each, str)})
    return NONE
