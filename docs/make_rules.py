"""Writes docs/rules.md, the page of the linter's rules, from the table that the linter itself uses.

    python docs/make_rules.py

A test compares what is committed with what this makes.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from toolbridge.lint.rule import Rule, Sample
from toolbridge.lint.score import COSTS
from toolbridge.lint.table import rules

PAGE = Path(__file__).resolve().parent / "rules.md"

LONGEST = 700
"""Characters of an example that are shown: some are of schemas that grow without end."""

HEAD = """# The linter's rules

*This page is written by `docs/make_rules.py` from the table that the linter itself uses.*

There are {count} rules in {groups} groups. [Linting tools](lint.md) says how to use them, and
`toolbridge lint --rules ID` shows one in a terminal.

A finding is an **error** ({errors} rules) where something breaks or somebody is deceived, a **warning** ({warnings})
where models or people will get it wrong, and an **info** ({infos}) where something could be better. A broken rule takes
{cost_error}, {cost_warning} or {cost_info} point{s} from a tool's score of 100, once for a tool.
"""

GROUPS = {
    "name": "What a model chooses by, and what every provider must be able to spell.",
    "description": "What the tool does, what it returns, when to use it.",
    "parameter": "What a call is made of: described, typed, limited, no deeper than need be.",
    "annotation": "What a tool claims about its effects, and what hosts do with the claim.",
    "app": "What `_meta` says to hosts that show widgets (Apps SDK, MCP Apps).",
    "result": "What comes back. Some need a live server, or `--call`.",
    "portability": "What becomes of the tool with each provider that the settings name.",
    "cost": "What the tools take of every request.",
    "safety": "What deceives people or models, or harms hosts. A tool cannot waive these.",
}


def page() -> str:
    """The whole page."""
    listed = list(rules().values())
    found = Counter(each.severity for each in listed)
    groups = list(dict.fromkeys(each.group for each in listed))
    parts = [
        HEAD.format(
            count=len(listed),
            groups=len(groups),
            errors=found["error"],
            warnings=found["warning"],
            infos=found["info"],
            cost_error=COSTS["error"],
            cost_warning=COSTS["warning"],
            cost_info=COSTS["info"],
            s="" if COSTS["info"] == 1 else "s",
        )
    ]
    for group in groups:
        own = [each for each in listed if each.group == group]
        parts += [f"## {group}", "", GROUPS[group], "", "| rule | | asks that |", "|---|---|---|"]
        parts += [f"| [`{each.id}`](#{_anchor(each.id)}) | {each.severity} | {_cell(each.summary)} |" for each in own]
        for each in own:
            parts += ["", *_rule(each)]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _rule(rule: Rule) -> list[str]:
    return [
        f"### {rule.id}",
        "",
        f"{_text(rule.summary)} *{rule.severity}*",
        "",
        f"{_text(rule.why)} (Source: {_text(rule.source)}.)",
        "",
        f"Bad: {_sample(rule.bad)}",
        "",
        f"Good: {_sample(rule.good)}",
    ]


def _sample(sample: Sample) -> str:
    """The entries of an example as JSON, with every character that is not ASCII as an escape: some are invisible."""
    names = [f"of {each}: " if each else "" for each in sample.servers]
    names += [""] * (len(sample.tools) - len(names))
    shown = [f"{name}{_code(_json(tool))}" for name, tool in zip(names, sample.tools, strict=True)]
    if sample.settings:
        shown.append("with " + ", ".join(f"{key} {value}" for key, value in sample.settings.items()))
    if sample.facts is not None:
        shown.append("as a live server shows")
    return ", ".join(shown) or "no tools"


def _json(value: object) -> str:
    try:
        text = json.dumps(value, default=str)
    except (RecursionError, ValueError):
        return "a schema too deep to be written down"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _code(text: str) -> str:
    """Text as code, whatever backticks it holds."""
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _text(text: str) -> str:
    """Words of a rule as Markdown: what is no code is written as it is, marks and all."""
    parts = text.removesuffix("\n").split("`")
    for i in range(0, len(parts), 2):
        parts[i] = "".join(f"\\{each}" if each in "_*<[" else each for each in parts[i])
    return "`".join(parts)


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|")


def _anchor(id: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return "".join(each for each in id.lower() if each.isalnum() or each in "-_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
