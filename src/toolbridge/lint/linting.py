"""Linting: tools held against the table of rules, waivers heeded, scores given. One function, `lint_tools`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from toolbridge.lint.finding import SEVERITIES, Finding, Severity, Waived, is_at_least
from toolbridge.lint.rule import Rule
from toolbridge.lint.score import scores
from toolbridge.lint.settings import DEFAULTS, LintSettings
from toolbridge.lint.subject import EMPTY_FACTS, NO_FACTS, ServerFacts, Subject, Surface
from toolbridge.lint.table import matches, refuse_unknown, rules
from toolbridge.lint.waivers import read_waivers
from toolbridge.types import Tool, ToolId


@dataclass(frozen=True, slots=True)
class LintReport:
    """What was found, the gravest first within each tool, in the order of the tools."""

    tools: tuple[Tool, ...]
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    scores: Mapping[ToolId, int]
    """Of each tool, from 0 to 100."""
    server_scores: Mapping[str, int]
    settings: LintSettings

    @property
    def failed(self) -> bool:
        """Whether there is a finding as grave as the settings do not allow."""
        limit = self.settings.fail_on
        return limit is not None and any(is_at_least(each.severity, limit) for each in self.findings)

    def count(self, severity: Severity) -> int:
        return sum(each.severity == severity for each in self.findings)


def lint_tools(
    tools: Iterable[Tool],
    *,
    settings: LintSettings = DEFAULTS,
    servers: Mapping[str, ServerFacts] = EMPTY_FACTS,
) -> LintReport:
    """Hold tools against the rules. `servers` is what is known of each server beside its tools."""
    listed = tuple(tools)
    chosen = _chosen(settings)
    subjects = tuple(Subject(tool, settings, servers.get(tool.id.server, NO_FACTS)) for tool in listed)
    surface = Surface(subjects, {each.id.server: NO_FACTS for each in listed} | dict(servers), settings)
    findings, waived = _sorted_out(_found(surface, chosen), settings)
    order = {tool.id: i for i, tool in enumerate(listed)}
    rank = {rule: i for i, rule in enumerate(rules())}
    findings.sort(key=lambda each: (_place(each, order), SEVERITIES.index(each.severity), rank[each.rule]))
    of_tools, of_servers = scores(listed, findings)
    return LintReport(listed, tuple(findings), tuple(waived), of_tools, of_servers, settings)


def _chosen(settings: LintSettings) -> list[tuple[Rule, Severity]]:
    """The rules that are on, and how grave each is here."""
    for where, patterns in (
        ("select", settings.select),
        ("ignore", settings.ignore),
        ("severity", tuple(settings.severity)),
        *((f"tools.{name}", patterns) for name, patterns in settings.tools.items()),
    ):
        refuse_unknown(patterns, where)
    chosen: list[tuple[Rule, Severity]] = []
    for id, rule in rules().items():
        if settings.select and not any(matches(id, each) for each in settings.select):
            continue
        if any(matches(id, each) for each in settings.ignore):
            continue
        said: list[Severity] = [each for pattern, each in settings.severity.items() if matches(id, pattern)]
        chosen.append((rule, said[-1] if said else rule.severity))
    return chosen


def _found(surface: Surface, chosen: list[tuple[Rule, Severity]]) -> Iterator[tuple[Finding, Sequence[Tool]]]:
    """Each finding, and the tools that it is of: a rule that looks at all of them tells a name, which may be several
    tools'."""
    named: dict[ToolId, list[Tool]] = {}
    for subject in surface.subjects:
        named.setdefault(subject.tool.id, []).append(subject.tool)
    for rule, severity in chosen:
        if rule.check is not None:
            for subject in surface.subjects:
                id = subject.tool.id
                for flaw in rule.check(subject):
                    yield Finding(rule.id, severity, id.server, id, flaw), (subject.tool,)
        if rule.check_all is not None:
            for of, flaw in rule.check_all(surface):
                if isinstance(of, ToolId):
                    yield Finding(rule.id, severity, of.server, of, flaw), named.get(of, ())
                else:
                    yield Finding(rule.id, severity, of, None, flaw), ()


def _sorted_out(
    found: Iterable[tuple[Finding, Sequence[Tool]]], settings: LintSettings
) -> tuple[list[Finding], list[Waived]]:
    findings: list[Finding] = []
    waived: list[Waived] = []
    for each, tools in found:
        reason = _waiver(each.rule, tools) if settings.waivers else None
        if each.tool is not None and _is_excepted(each.tool, each.rule, settings):
            waived.append(Waived(each, "settings"))
        elif reason is not None:
            waived.append(Waived(each, "tool", reason))
        else:
            findings.append(each)
    return findings, waived


def _waiver(rule: str, tools: Sequence[Tool]) -> str | None:
    """Why tools waive a rule; `None` where one of them does not."""
    reasons = [read_waivers(each).reason(rule) for each in tools]
    return None if None in reasons else next(iter(reasons), None)


def _is_excepted(tool: ToolId, rule: str, settings: LintSettings) -> bool:
    return any(
        (tool.name == name or fnmatchcase(tool.name, name) or fnmatchcase(str(tool), name))
        and any(matches(rule, pattern) for pattern in patterns)
        for name, patterns in settings.tools.items()
    )


def _place(finding: Finding, order: Mapping[ToolId, int]) -> int:
    return -1 if finding.tool is None else order.get(finding.tool, len(order))
