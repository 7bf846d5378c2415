"""The report as one JSON object, for programs. Its shape is stable: `schema_version` changes when a key changes its
meaning or goes, not when one is added.

    {
      "schema_version": 1,
      "tool": {"name": "toolbridge", "version": "…"},
      "source": {"label": "…", "kind": "file|input|command|url|config|several", "path": "…" or null},
      "exit_code": 1,
      "fail_on": "error|warning|info" or null,
      "counts": {"tools": 1, "error": 0, "warning": 1, "info": 0, "waived": 0},
      "servers": [{"name": "…", "score": 92 or null, "tools": 1, "error": 0, "warning": 1, "info": 0}],
      "tools": [{"server": "…", "name": "…", "score": 92}],
      "findings": [FINDING],
      "waived": [FINDING with "by": "settings|tool" and "reason": "…"],
      "rules": {"name.version": {"severity": "…", "summary": "…", "why": "…", "source": "…"}},
      "failures": [{"server": "…", "cause": "…", "message": "…", "fix": "…"}],
      "disabled": ["…"]
    }

A FINDING has `rule`, `severity`, `server`, `tool` (null where it is about all tools of the server), `message`, `path`
(a JSON pointer into the tool), `excerpt` (null, or `text`, the `span` in it that is wrong, or null, and `offset`: where
the excerpt begins in the whole text) and `place` (null, or `file`, `line`, `column`, `end_line`, `end_column`).
`rules` holds those that were broken; `failures` the servers that are not there, `disabled` those that nobody asks.
Everything but ASCII is escaped, so that hidden characters are seen.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from toolbridge import __version__
from toolbridge.lint.finding import SEVERITIES, Finding, Flaw
from toolbridge.lint.report.grouping import by_server
from toolbridge.lint.report.task import Task
from toolbridge.lint.table import rules

SCHEMA_VERSION: Final = 1

AROUND: Final = 80
"""Characters on each side of the span that an excerpt holds."""

LONGEST: Final = 400
"""Characters of an excerpt: a description of a megabyte is not told again with each finding."""


def write(task: Task) -> str:
    report = task.report
    groups = by_server(report)
    broken = {each.rule for each in report.findings} | {each.finding.rule for each in report.waived}
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "toolbridge", "version": __version__},
        "source": {"label": task.source.label, "kind": task.source.kind, "path": task.source.path},
        "exit_code": task.exit_code,
        "fail_on": report.settings.fail_on,
        "counts": {
            "tools": sum(len(group.tools) for group in groups),
            **{severity: report.count(severity) for severity in SEVERITIES},
            "waived": len(report.waived),
        },
        "servers": [
            {
                "name": group.name,
                "score": group.score,
                "tools": len(group.tools),
                **{each: sum(one.severity == each for one in group.all_findings) for each in SEVERITIES},
            }
            for group in groups
        ],
        "tools": [
            {"server": tool.id.server, "name": tool.id.name, "score": tool.score}
            for group in groups
            for tool in group.tools
        ],
        "findings": [_finding(task, each) for each in report.findings],
        "waived": [_finding(task, each.finding) | {"by": each.by, "reason": each.reason} for each in report.waived],
        "rules": {
            id: {"severity": rule.severity, "summary": rule.summary, "why": rule.why, "source": rule.source}
            for id, rule in rules().items()
            if id in broken
        },
        "failures": [
            {"server": each.server, "cause": each.cause, "message": each.message, "fix": each.fix}
            for each in task.failures
        ],
        "disabled": list(task.disabled),
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(task: Task, finding: Finding) -> dict[str, Any]:
    place = task.places.place(finding)
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "server": finding.server,
        "tool": None if finding.tool is None else finding.tool.name,
        "message": finding.message,
        "path": finding.path,
        "excerpt": _excerpt(finding.flaw) if finding.flaw.text else None,
        "place": None if place is None else asdict(place),
    }


def _excerpt(flaw: Flaw) -> dict[str, Any]:
    if flaw.span is None:
        return {"text": flaw.text[:LONGEST], "span": None, "offset": 0}
    start, end = flaw.span
    offset = max(0, start - AROUND)
    text = flaw.text[offset : min(end + AROUND, offset + LONGEST)]
    return {"text": text, "span": [start - offset, min(end - offset, len(text))], "offset": offset}
