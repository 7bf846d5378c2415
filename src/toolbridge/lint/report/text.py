"""The report for people at a terminal: by server and tool, the gravest first, with the text that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from toolbridge.display import cells, fitted, shown, wrapped
from toolbridge.lint.finding import Finding, Severity
from toolbridge.lint.report.excerpt import excerpt
from toolbridge.lint.report.grouping import (
    NOUNS,
    Fold,
    ServerGroup,
    ToolGroup,
    are_parameters,
    by_server,
    counted,
    counts,
    folded,
    gravest_first,
    most_frequent,
    named,
    shared,
)
from toolbridge.lint.report.task import DISABLED, Task

MOST_NAMED_TOOLS: Final = 40
"""Of a server with more tools, those without findings are counted and not named."""

MOST_RULES: Final = 5
"""Rules that the summary names as the most frequent."""

LEAST_ALIKE: Final = 5
"""Tools that break a rule in the same words and are told of once."""

_COLOURS: Final[dict[Severity, str]] = {"error": "red", "warning": "yellow", "info": "cyan"}
_INDENT: Final = " " * 13
"""Under the message: two levels of four columns less two, the severity and a gap."""


def write(task: Task) -> str:
    groups = by_server(task.report)
    if not task.report.findings:
        return "\n".join(_all_well(task, groups)) + "\n"
    lines: list[str] = []
    for group in groups:
        lines += [*_server(task, group), ""]
    lines += _summary(task, groups)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _all_well(task: Task, groups: Sequence[ServerGroup]) -> Iterator[str]:
    count = sum(len(group.tools) for group in groups)
    waived = task.report.waived
    grave = any(each.finding.severity == "error" for each in waived)
    said = f"{counted(count, 'tool', 'tools')}, nothing to find fault with" if count else "no tools"
    more = f" ({len(waived):,} waived)" if waived and not grave else ""
    yield f"{shown(task.source.label)}: {task.paint(said, 'green' if count else 'dim')}{more}"
    if grave:
        yield from _waived(task)
    yield from _unasked(task)


def _server(task: Task, group: ServerGroup) -> Iterator[str]:
    paint = task.paint
    name = shown(group.name) or shown(task.source.label)
    rest = [counted(len(group.tools), "tool", "tools")]
    if group.score is not None:
        rest.append(f"score {group.score}")
    tail = " · " + " · ".join(rest)
    yield paint(fitted(name, min(cells(name), task.width - cells(tail))), "bold") + paint(tail, "dim")
    if group.findings:
        yield ""
        yield "  " + paint("all tools together", "bold")
        yield from _findings(task, group.findings)
    alike = shared(group, LEAST_ALIKE, by_rule=len(group.tools) > MOST_NAMED_TOOLS)
    told = {id(each) for own in alike for each in own}
    for tool in gravest_first(group.tools):
        rest = [each for each in tool.findings if id(each) not in told]
        if rest:
            yield ""
            yield _heading(task, tool, rest[0])
            yield from _findings(task, rest)
    if alike:
        yield ""
        yield "  " + paint("in many tools", "bold")
    for own in alike:
        names = list(dict.fromkeys(each.tool.name for each in own if each.tool is not None))
        yield from _finding(task, own[0], {"/name"})
        yield from _listed(task, f"in {len(names):,} of {len(group.tools):,} tools", names)
    clean = [tool for tool in group.tools if not tool.findings]
    if clean:
        yield ""
        said = counted(len(clean), "tool", "tools") + " without findings"
        if len(group.tools) <= MOST_NAMED_TOOLS:
            said += ": " + ", ".join(shown(tool.id.name) for tool in clean)
        for line in wrapped(said, task.width, "  "):
            yield paint(line, "dim")


def _heading(task: Task, tool: ToolGroup, first: Finding) -> str:
    """The tool, its score, and its line in the file: what one clicks on."""
    place = task.places.place(first)
    where = "" if place is None else f"  {shown(place.file)}:{place.line}"
    score = f"  {tool.score}"
    name = shown(tool.id.name) or '""'
    room = max(task.width - 2 - cells(score) - cells(where), 20)
    colour = "red" if tool.score < 50 else "yellow" if tool.score < 80 else "green"
    return (
        "  "
        + task.paint(fitted(name, min(cells(name), room)), "bold")
        + task.paint(score, colour)
        + task.paint(where, "dim")
    )


def _findings(task: Task, findings: Sequence[Finding]) -> Iterator[str]:
    told = {"/name"}  # the heading tells it
    for fold in folded(findings):
        more = tuple(each for each in fold.more if each != fold.first)  # a tool that is listed twice has them twice
        yield from _finding(task, fold.first, told)
        if len(more) == 1:  # as long as the line that would fold it
            yield from _finding(task, more[0], told)
        elif more:
            yield from _folded(task, Fold(fold.first, more))


def _finding(task: Task, finding: Finding, told: set[str]) -> Iterator[str]:
    """The finding with its text; a text without a span only if its path is not among those that were told."""
    flaw = finding.flaw
    paint = task.paint
    colour = _COLOURS[finding.severity]
    label = f"    {finding.severity:<7}  "
    path = shown(flaw.path) if flaw.path != "/name" else ""  # the heading is the name
    lines = wrapped(f"{finding.rule}: {shown(flaw.message)}", task.width, _INDENT)
    lines = [fitted(line, min(cells(line), task.width)) for line in lines]
    head = lines[0].removeprefix(_INDENT).removeprefix(finding.rule)
    at = f"  {path}" if path else ""
    joined = bool(at) and cells(lines[-1]) + cells(at) <= task.width
    for i, line in enumerate(lines):
        end = paint(at, "dim") if joined and i == len(lines) - 1 else ""
        if i == 0:
            yield paint(label, colour) + paint(finding.rule, "bold") + head + end
        else:
            yield line + end
    room = max(task.width - len(_INDENT), 20)
    if at and not joined:
        yield _INDENT + paint(fitted(path, min(cells(path), room)), "dim")
    if flaw.text and (flaw.span is not None or flaw.path not in told):
        told.add(flaw.path)
        line, carets = excerpt(flaw.text, flaw.span, room - 2)
        yield _INDENT + paint("│ ", "dim") + line
        if carets:
            yield _INDENT + paint("│ ", "dim") + paint(carets, colour)


def _folded(task: Task, fold: Fold) -> Iterator[str]:
    one, many = ("parameter", "parameters") if are_parameters((fold.first, *fold.more)) else ("place", "places")
    said = f"and in {len(fold.more):,} more {one if len(fold.more) == 1 else many}"
    yield from _listed(task, said, list(dict.fromkeys(filter(None, map(named, fold.more)))))


def _listed(task: Task, said: str, names: Sequence[str]) -> Iterator[str]:
    """The names behind the words, as many as two lines take."""
    room = 2 * (task.width - len(_INDENT)) - len(said) - 4
    listed: list[str] = []
    for each in map(shown, names):
        room -= cells(each) + 2
        if room < 0:
            listed.append("…")
            break
        listed.append(each)
    if listed and listed != ["…"]:
        said += ": " + ", ".join(listed)
    for line in wrapped(said, task.width, _INDENT):
        yield task.paint(line, "dim")


def _summary(task: Task, groups: Sequence[ServerGroup]) -> Iterator[str]:
    report, paint = task.report, task.paint
    tools = sum(len(group.tools) for group in groups)
    concerned = sum(bool(tool.findings) for group in groups for tool in group.tools)
    tally = Counter(each.severity for each in report.findings)
    parts = [
        paint(counted(tally[severity], *nouns), _COLOURS[severity], "bold")
        for severity, nouns in NOUNS.items()
        if tally[severity]
    ]
    line = f"{', '.join(parts)} in {concerned:,} of {counted(tools, 'tool', 'tools')}"
    if len(groups) == 1 and groups[0].score is not None:
        line += f" · score {groups[0].score}"
    yield line
    if len(groups) > 1:
        name_width = min(max(cells(shown(group.name)) for group in groups), 30)
        for group in groups:
            score = "  –" if group.score is None else f"{group.score:>3}"
            said = counts(group.all_findings) or "nothing"
            yield f"  {fitted(shown(group.name), name_width)}  {score}  {paint(said, 'dim')}"
    often = most_frequent(report.findings, MOST_RULES)
    if len(often) > 1 and often[0][1] > 1:
        said = ", ".join(f"{rule} ({count:,})" for rule, count in often)
        yield from wrapped(f"broken by most tools: {said}", task.width)
    if report.waived:
        yield from _waived(task)
    yield from _unasked(task)


def _unasked(task: Task) -> Iterator[str]:
    """The servers that nothing was learnt of."""
    for each in task.failures:
        said = f"not there: {shown(each.server)} ({shown(each.message)})"
        yield from (task.paint(line, "red") for line in wrapped(said, task.width))
    if task.disabled:
        yield from wrapped(f"{DISABLED}: {', '.join(map(shown, task.disabled))}", task.width)


def _waived(task: Task) -> list[str]:
    """What was waived, errors first and each of them: no flood of lesser waivers hides one."""
    waived = task.report.waived
    grave = {each.finding.rule for each in waived if each.finding.severity == "error"}
    of = Counter(each.finding.rule for each in waived).most_common()
    of.sort(key=lambda each: each[0] not in grave)
    named = of[: max(MOST_RULES, len(grave))]
    said = ", ".join(f"{rule} ({count:,})" for rule, count in named)
    more = f" and {len(of) - len(named)} more rules" if len(of) > len(named) else ""
    return wrapped(f"{len(waived):,} waived: {said}{more}", task.width)
