"""The report as Markdown of GitHub's kind, for a comment on a pull request or the summary of a job.

Text of servers is untrusted here as everywhere: it can close no table, draw no picture, link nowhere and call nobody
by `@name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from toolbridge.display import shown
from toolbridge.lint.finding import SEVERITIES, Waived
from toolbridge.lint.report.files import Files
from toolbridge.lint.report.grouping import (
    NOUNS,
    Fold,
    ServerGroup,
    by_server,
    counted,
    counts,
    folded,
    gravest_first,
)
from toolbridge.lint.report.task import DISABLED, Task

LONGEST: Final = 60_000
"""Characters of the whole: GitHub refuses a comment of more than 65,536."""

LONGEST_CELL: Final = 400
"""Characters of one message."""

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()<>#+!|~$@&]|//|\bwww\.", re.IGNORECASE)

_SPELT: Final = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "|": "&#124;",
    "$": "<span>$</span>",
    "@": "@<!-- -->",
    "#": "#<!-- -->",
    "//": "/<!-- -->/",
}
"""What a backslash does not make harmless: GitHub looks for formulas, people, issues and addresses in the text that is
left when the escapes are gone; a comment in their middle stops it."""


def plain(text: str) -> str:
    """Text of others as nothing but text."""
    return _MARKUP.sub(_escape, shown(text))


def _escape(found: re.Match[str]) -> str:
    text = found.group()
    return _SPELT.get(text) or (f"{text[:-1]}<!-- -->." if text.endswith(".") else f"\\{text}")


def code(text: str) -> str:
    """Text of others as code, inside a table too."""
    text = shown(text) or " "
    return f"<code>{plain(text)}</code>" if "`" in text or "|" in text else f"`{text}`"


def write(task: Task) -> str:
    groups = by_server(task.report)
    lines = [f"## Tools of {code(task.source.label)}", "", _summary(task, groups)]
    unasked = [f"- **Not there:** {code(each.server)}: {_message(each.message)}" for each in task.failures]
    if task.disabled:
        unasked.append(f"- {DISABLED.capitalize()}: {', '.join(map(code, task.disabled))}")
    if unasked:
        lines += ["", *unasked]
    if len(groups) > 1:
        lines += ["", *_servers(groups)]
    budget = LONGEST - sum(map(len, lines))
    rows = list(_rows(task, groups))
    grave = [row for fold, row in rows if fold.first.severity != "info"]
    remarks = [row for fold, row in rows if fold.first.severity == "info"]
    kept = _within(grave, budget * 3 // 4)
    lines += _table(kept, len(grave), "Where")
    budget -= sum(map(len, kept))
    for title, more, last in (
        (counted(task.report.count("info"), *NOUNS["info"]), remarks, "Where"),
        (f"{len(task.report.waived):,} waived", [_waived(each) for each in task.report.waived], "By"),
    ):
        if more:
            kept = _within(more, budget // 2)
            lines += ["", f"<details><summary>{title}</summary>", *_table(kept, len(more), last), "", "</details>"]
            budget -= sum(map(len, kept))
    return "\n".join(lines) + "\n"


def _summary(task: Task, groups: Sequence[ServerGroup]) -> str:
    tools = sum(len(group.tools) for group in groups)
    if not task.report.findings:
        return f"{counted(tools, 'tool', 'tools')}, nothing to find fault with."
    concerned = sum(bool(tool.findings) for group in groups for tool in group.tools)
    score = f" Score: {groups[0].score} of 100." if len(groups) == 1 and groups[0].score is not None else ""
    return f"**{counts(task.report.findings)}** in {concerned:,} of {counted(tools, 'tool', 'tools')}.{score}"


def _servers(groups: Sequence[ServerGroup]) -> Iterator[str]:
    yield "| Server | Score | Tools | Findings |"
    yield "|---|--:|--:|---|"
    for group in groups[:100]:
        score = "–" if group.score is None else str(group.score)
        yield f"| {code(group.name)} | {score} | {len(group.tools):,} | {counts(group.all_findings) or 'none'} |"
    if len(groups) > 100:
        yield f"| and {len(groups) - 100:,} more | | | |"


def _rows(task: Task, groups: Iterable[ServerGroup]) -> Iterator[tuple[Fold, str]]:
    files = Files(task.source)
    folds = [
        fold
        for group in groups
        for own in (group.findings, *(tool.findings for tool in gravest_first(group.tools)))
        for fold in folded(own)
    ]
    folds.sort(key=lambda fold: SEVERITIES.index(fold.first.severity))
    for fold in folds:
        finding = fold.first
        place = task.places.place(finding)
        where = "" if place is None else code(f"{files.shown(place.file)}:{place.line}")
        more = f" (and in {counted(len(fold.more), 'more place', 'more places')})" if fold.more else ""
        yield (
            fold,
            f"| {finding.severity} | {_whose(fold)} | {finding.rule} | {_message(finding.message)}{more} | {where} |",
        )


def _whose(fold: Fold) -> str:
    finding = fold.first
    if finding.tool is None:
        return f"all of {code(finding.server)}" if finding.server else "all tools"
    return code(f"{finding.server}/{finding.tool.name}" if finding.server else finding.tool.name)


def _message(text: str) -> str:
    return plain(text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1] + "…")


def _waived(each: Waived) -> str:
    fold = Fold(each.finding, ())
    why = f"{each.by}: {_message(each.reason)}" if each.reason else each.by
    return (
        f"| {each.finding.severity} | {_whose(fold)} | {each.finding.rule} | {_message(each.finding.message)} | {why} |"
    )


def _within(rows: Sequence[str], budget: int) -> list[str]:
    kept: list[str] = []
    for row in rows:
        budget -= len(row) + 1
        if budget < 0:
            break
        kept.append(row)
    return kept


def _table(rows: Sequence[str], whole: int, last: str) -> Iterator[str]:
    if not whole:
        return
    yield ""
    yield f"| | Tool | Rule | What is wrong | {last} |"
    yield "|---|---|---|---|---|"
    yield from rows
    if len(rows) < whole:
        yield f"| | and {whole - len(rows):,} more | | | |"
