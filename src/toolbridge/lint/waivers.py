"""Waivers: what a tool says about rules that it breaks on purpose, in its own `_meta`.

    "_meta": {"toolbridge/lint": {"ignore": {"name.version": "v2 is the name of the file format"}}}

A list of ids does too. Some rules cannot be waived so: they protect from the very server that would waive them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from toolbridge.lint.table import matches
from toolbridge.types import Tool

KEY = "toolbridge/lint"

NOT_WAIVED: Final[Mapping[str, str]] = {
    "safety": "an attacker would waive it first",
    "annotation.read-only-contradicted": "hosts run unasked what claims to only read; no claim vouches for itself",
    "annotation.destructive-denied": "hosts leave out their warning for such a claim",
    "annotation.contradictory": "hosts heed one of two claims, and the tool would choose which is told",
    "app.visibility": "it says who may call the tool, and hosts take a broken one for everybody",
    "parameter.secret": "the secret that it asks for is the user's, not the server's",
    "name.duplicate": "one of the two takes the calls of the other",
}
"""Rules and groups that a tool cannot waive by itself, and why not; the settings of whoever lints it can."""


MOST: Final = 200
LONGEST: Final = 100
"""Patterns that are heeded, and characters of one: each is held against every finding, and no id is as long."""


@dataclass(frozen=True, slots=True)
class Waivers:
    """Patterns of rules, and the reason that is given for each."""

    reasons: Mapping[str, str]

    def reason(self, rule: str) -> str | None:
        """Why a rule does not hold here; `None` where it does."""
        said = next((reason for pattern, reason in self.reasons.items() if matches(rule, pattern)), None)
        return None if any(matches(rule, each) for each in NOT_WAIVED if said is not None) else said


NONE = Waivers({})


def read_waivers(tool: Tool) -> Waivers:
    """What a tool waives. A waiver of another shape waives nothing."""
    said = tool.meta.get(KEY)
    ignore = said.get("ignore") if isinstance(said, Mapping) else None
    if not isinstance(ignore, Mapping | list):
        return NONE
    said = dict(ignore) if isinstance(ignore, Mapping) else {each: "" for each in ignore if isinstance(each, str)}
    heeded = islice(((str(key), each) for key, each in said.items() if len(str(key)) <= LONGEST), MOST)
    return Waivers({key: each if isinstance(each, str) else "" for key, each in heeded})
