"""The report as SARIF 2.1.0, for code scanning and editors.

Nothing in it depends on the day or the machine, so two runs over the same tools are equal byte for byte, and a result
keeps its fingerprint when lines move or a message is worded anew. GitHub refuses results without a file, so those that
have no place are laid at the first line of the source. `helpUri` is left out: it must be absolute, and each rule
carries its help.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from toolbridge import __version__
from toolbridge.display import shown
from toolbridge.lint.finding import SEVERITIES, Finding, Severity, Waived
from toolbridge.lint.places import Place
from toolbridge.lint.report.files import Files
from toolbridge.lint.report.task import DISABLED, Task
from toolbridge.lint.rule import Rule
from toolbridge.lint.table import rules

MOST_RESULTS: Final = 25_000
"""GitHub refuses a run with more (code scanning's limits, checked November 2026)."""

NO_FILE: Final = "mcp.json"
"""Where results of a source without a file are laid: what names the server in most projects."""

_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "note"}

_RISKS: Final[dict[Severity, str]] = {"error": "8.0", "warning": "5.0", "info": "2.0"}
"""`security-severity` of the rules of safety: GitHub shows 7 and more as high, 4 and more as medium."""

_EXITS: Final = {0: "no finding is as grave as the settings forbid", 1: "there are findings that the settings forbid"}
_NOT_THERE: Final = "not every server is there"


def write(task: Task) -> str:
    report = task.report
    found: list[Finding | Waived] = [*report.findings, *report.waived]
    kept = sorted(found, key=_gravity)[:MOST_RESULTS] if len(found) > MOST_RESULTS else found
    broken = {_of(each).rule for each in kept}
    order = {id: i for i, id in enumerate([*(id for id in rules() if id in broken), *sorted(broken - rules().keys())])}
    run = {
        "tool": {
            "driver": {
                "name": "toolbridge",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(id, rules().get(id)) for id in order],
            }
        },
        "automationDetails": {"id": f"toolbridge-lint/{quote(task.source.label, safe='')[:200]}/"},
        "invocations": [_invocation(task, len(found) - len(kept))],
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(task, kept, order)),
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2) + "\n"


def _invocation(task: Task, left_out: int) -> dict[str, Any]:
    """How the run went, and what of it the results do not show."""
    invocation: dict[str, Any] = {
        "executionSuccessful": task.exit_code in _EXITS and not task.failures,
        "exitCode": task.exit_code,
    }
    said = [_EXITS[task.exit_code]] if task.exit_code in _EXITS else []
    if task.failures:
        said = [*(said if task.report.failed else ()), _NOT_THERE]
    if said:
        invocation["exitCodeDescription"] = ", and ".join(said)
    told = [("error", f"{each.server}: {each.message}") for each in task.failures]
    told += [("note", f"{each}: {DISABLED}") for each in task.disabled]
    if left_out:
        told.append(("warning", f"{left_out:,} results are left out: no more than {MOST_RESULTS:,} are taken"))
    if told:
        invocation["toolExecutionNotifications"] = [
            {"level": level, "message": {"text": _inert(shown(text))}} for level, text in told
        ]
    return invocation


def _of(each: Finding | Waived) -> Finding:
    return each.finding if isinstance(each, Waived) else each


def _gravity(each: Finding | Waived) -> tuple[bool, int]:
    return isinstance(each, Waived), SEVERITIES.index(_of(each).severity)


def _rule(id: str, rule: Rule | None) -> dict[str, Any]:
    name = "".join(word.capitalize() for word in re.split(r"[.-]", id))
    if rule is None:
        return {"id": id, "name": name}
    properties: dict[str, Any] = {"tags": [rule.group]}
    if rule.group == "safety":
        properties = {"tags": ["security", rule.group], "security-severity": _RISKS[rule.severity]}
    return {
        "id": id,
        "name": name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {rule.why}"},
        "help": {
            "text": f"{rule.summary}\n\n{rule.why}\n\nSource: {rule.source}",
            "markdown": f"{rule.summary}\n\n{rule.why}\n\n*Source: {rule.source}*",
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": properties,
    }


def _results(task: Task, found: list[Finding | Waived], order: dict[str, int]) -> Iterator[dict[str, Any]]:
    files = Files(task.source)
    seen: dict[str, int] = {}
    for each in found:
        finding = _of(each)
        mark = _fingerprint(finding)
        seen[mark] = seen.get(mark, 0) + 1
        result: dict[str, Any] = {
            "ruleId": finding.rule,
            "ruleIndex": order[finding.rule],
            "level": _LEVELS[finding.severity],
            "message": {"text": _message(finding)},
            "locations": [
                {
                    "physicalLocation": _physical(task, task.places.place(finding), files),
                    "logicalLocations": [_logical(finding)],
                }
            ],
            "partialFingerprints": {
                "toolbridge/v1": f"{mark}:{seen[mark]}",
                "primaryLocationLineHash": f"{mark}:{seen[mark]}",  # the one that GitHub goes by
            },
        }
        if isinstance(each, Waived):
            suppression = {"kind": "external" if each.by == "settings" else "inSource", "status": "accepted"}
            if each.reason:
                suppression["justification"] = shown(each.reason)
            result["suppressions"] = [suppression]
        yield result


def _message(finding: Finding) -> str:
    """What is wrong, and with which tool."""
    of = finding.server or "all tools" if finding.tool is None else finding.tool.name
    return _inert(f"{shown(of)}: {shown(finding.message)}")


def _inert(text: str) -> str:
    """Text in which nothing is a placeholder or a link to a reader of SARIF."""
    return re.sub(r"\{(\d+)\}", r"{{\1}}", text).replace("](", "] (")


def _physical(task: Task, place: Place | None, files: Files) -> dict[str, Any]:
    file = place.file if place is not None else task.source.path or NO_FILE
    uri, relative = files.uri(file)
    location = {"uri": uri, "uriBaseId": "%SRCROOT%"} if relative else {"uri": uri}
    if place is None:
        return {"artifactLocation": location, "region": {"startLine": 1}}
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    return {"artifactLocation": location, "region": region}


def _logical(finding: Finding) -> dict[str, Any]:
    """The server, the tool and the path, as one name."""
    if finding.tool is None:
        name = finding.server or "all tools"
        return {"name": shown(name), "fullyQualifiedName": shown(name), "kind": "module"}
    whole = f"{finding.server}/{finding.tool.name}" if finding.server else finding.tool.name
    if not finding.path:
        return {"name": shown(finding.tool.name), "fullyQualifiedName": shown(whole), "kind": "function"}
    kind = "parameter" if finding.path.startswith("/inputSchema/") else "member"
    last = finding.path.rpartition("/")[2]
    return {"name": shown(last), "fullyQualifiedName": shown(whole + finding.path), "kind": kind}


def _fingerprint(finding: Finding) -> str:
    tool = None if finding.tool is None else finding.tool.name
    whole = json.dumps([finding.rule, finding.server, tool, finding.path])
    return hashlib.sha256(whole.encode()).hexdigest()[:32]
