"""The report as JUnit XML: a suite for each server, a case for each tool, for services that show tests.

A case fails where the command would: for findings as grave as `fail_on` says. They are one `failure`, because common
readers take only the first of a case. Lesser findings and what was waived stand in `system-out`. An `error` is a server
that is not there, which JUnit keeps for tests that could not run; one that is disabled is `skipped`. The form is that
of Jenkins' schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from toolbridge.display import shown
from toolbridge.lint.finding import Finding, Severity, Waived, is_at_least
from toolbridge.lint.report.grouping import ServerGroup, by_server, counted, counts
from toolbridge.lint.report.task import DISABLED, Task


def write(task: Task) -> str:
    root = Element("testsuites", name="toolbridge lint")
    suites = [_suite(task, root, group) for group in by_server(task.report)]
    for each in task.failures:
        suites.append(_unasked(root, each.server, "error", {"type": each.cause, "message": shown(each.message)}))
    suites += [_unasked(root, each, "skipped", {"message": DISABLED}) for each in task.disabled]
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(task: Task, root: Element, group: ServerGroup) -> Element:
    name = shown(group.name) or shown(task.source.label)
    suite = SubElement(root, "testsuite", name=name)
    if group.score is not None:
        properties = SubElement(suite, "properties")
        SubElement(properties, "property", name="score", value=str(group.score))
    if group.findings or group.waived:
        _case(task, suite, "(all tools together)", group.findings, group.waived)
    for tool in group.tools:
        _case(task, suite, shown(tool.id.name), tool.findings, tool.waived)
    return _counted(suite)


def _unasked(root: Element, server: str, kind: str, said: dict[str, str]) -> Element:
    """A suite of one case: the server that nothing was learnt of."""
    name = shown(server)
    suite = SubElement(root, "testsuite", name=name)
    SubElement(SubElement(suite, "testcase", classname=name, name="(the server)", time="0"), kind, said)
    return _counted(suite)


def _counted(suite: Element) -> Element:
    suite.set("tests", str(len(suite.findall("testcase"))))
    for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("time", "0")
    return suite


def _case(task: Task, suite: Element, name: str, findings: Sequence[Finding], waived: Sequence[Waived]) -> None:
    case = SubElement(suite, "testcase", classname=suite.get("name", ""), name=name, time="0")
    limit = task.report.settings.fail_on
    failing = [each for each in findings if _fails(each.severity, limit)]
    lesser = [each for each in findings if not _fails(each.severity, limit)]
    if failing:
        first = failing[0]
        message = f"{first.rule}: {shown(first.message)}"
        if len(failing) > 1:
            message = f"{counts(failing)}; {message}"
        failure = SubElement(case, "failure", type=first.severity, message=message)
        failure.text = _lines(task, failing)
    said = [_lines(task, lesser)] if lesser else []
    if waived:
        said.append(counted(len(waived), "finding", "findings") + " waived:")
        said += [f"{_line(task, each.finding)} ({shown(each.reason) or each.by})" for each in waived]
    if said:
        SubElement(case, "system-out").text = "\n".join(said)


def _fails(severity: Severity, limit: Severity | None) -> bool:
    return limit is not None and is_at_least(severity, limit)


def _lines(task: Task, findings: Sequence[Finding]) -> str:
    return "\n".join(_line(task, each) for each in findings)


def _line(task: Task, finding: Finding) -> str:
    place = task.places.place(finding)
    where = "" if place is None else f"{shown(place.file)}:{place.line}:{place.column}: "
    path = f" [{shown(finding.path)}]" if finding.path else ""
    return f"{where}{finding.severity}: {finding.rule}: {shown(finding.message)}{path}"
