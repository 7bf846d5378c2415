"""Findings in the order that people read them: by server, by tool, the gravest first, repetitions folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from toolbridge.lint.finding import SEVERITIES, Finding, Severity, Waived
from toolbridge.lint.linting import LintReport
from toolbridge.types import ToolId

NOUNS: Final[dict[Severity, tuple[str, str]]] = {
    "error": ("error", "errors"),
    "warning": ("warning", "warnings"),
    "info": ("remark", "remarks"),
}


@dataclass(frozen=True, slots=True)
class Fold:
    """A rule that one tool breaks, once or many times."""

    first: Finding
    more: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """A tool with its findings and what was waived of it."""

    id: ToolId
    score: int
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """A server with its tools. Its own findings are those about all tools together."""

    name: str
    score: int | None
    """`None` where it lists no tool."""
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    tools: tuple[ToolGroup, ...]
    """In the order of the list."""

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        return (*self.findings, *(each for tool in self.tools for each in tool.findings))


def by_server(report: LintReport) -> list[ServerGroup]:
    """Every server with every tool, those without findings too. A name that is listed twice is one tool here."""
    found: dict[ToolId | str, list[Finding]] = {}
    for each in report.findings:
        found.setdefault(each.tool or each.server, []).append(each)
    waived: dict[ToolId | str, list[Waived]] = {}
    for each in report.waived:
        waived.setdefault(each.finding.tool or each.finding.server, []).append(each)
    tools: dict[str, dict[ToolId, ToolGroup]] = {name: {} for name in report.server_scores}
    for id in (
        *(tool.id for tool in report.tools),
        *(each.tool for each in report.findings if each.tool is not None),
    ):
        own = tools.setdefault(id.server, {})
        if id not in own:
            group = ToolGroup(id, report.scores.get(id, 0), tuple(found.get(id, ())), tuple(waived.get(id, ())))
            own[id] = group
    for each in report.findings:
        tools.setdefault(each.server, {})
    return [
        ServerGroup(
            name,
            report.server_scores.get(name),
            tuple(found.get(name, ())),
            tuple(waived.get(name, ())),
            tuple(own.values()),
        )
        for name, own in tools.items()
    ]


def gravest_first(tools: Iterable[ToolGroup]) -> list[ToolGroup]:
    """The tools that have findings, the worst at the top; those that are equally bad stay as they are listed."""
    return sorted(
        (each for each in tools if each.findings),
        key=lambda each: (min(SEVERITIES.index(one.severity) for one in each.findings), each.score),
    )


def folded(findings: Iterable[Finding]) -> list[Fold]:
    """The findings of one tool, each rule once."""
    rules: dict[tuple[str, Severity], list[Finding]] = {}
    for each in findings:
        rules.setdefault((each.rule, each.severity), []).append(each)
    return [
        Fold(first, tuple(more))
        for first, *more in sorted(rules.values(), key=lambda own: SEVERITIES.index(own[0].severity))
    ]


def shared(group: ServerGroup, least: int, *, by_rule: bool) -> list[list[Finding]]:
    """What at least so many tools of a server do alike: the same rule broken, with the same words; remarks, if asked,
    whatever the words. Errors are told with each tool."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for tool in group.tools:
        for each in tool.findings:
            if each.severity != "error":
                message = "" if by_rule and each.severity == "info" else each.message
                alike.setdefault((each.rule, message), []).append(each)
    many = [each for each in alike.values() if len({one.tool for one in each}) >= least]
    return sorted(many, key=lambda each: (SEVERITIES.index(each[0].severity), -len(each)))


def named(finding: Finding) -> str:
    """What of the tool a finding is about, in short: the parameter's name, or the last step of the path."""
    steps = finding.path.split("/")
    for at in range(len(steps) - 2, 0, -1):
        if steps[at] == "properties":
            return _read(steps[at + 1])
    return _read(steps[-1]) if len(steps) > 1 else ""


def are_parameters(findings: Iterable[Finding]) -> bool:
    return all("/properties/" in each.path for each in findings)


def _read(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def counts(findings: Iterable[Finding]) -> str:
    """`1 error, 2 warnings, 3 remarks`: those that there are."""
    tally = Counter(each.severity for each in findings)
    return ", ".join(counted(tally[each], *NOUNS[each]) for each in SEVERITIES if tally[each])


def most_frequent(findings: Iterable[Finding], most: int) -> list[tuple[str, int]]:
    """Rules by how many tools break them; of equals, the graver first, as the findings stand."""
    broken = dict.fromkeys((each.rule, each.tool or each.server) for each in findings)
    return Counter(rule for rule, _ in broken).most_common(most)
