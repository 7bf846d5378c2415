"""Reports made by hand: every shape of finding, with the texts of a server that means harm."""

from __future__ import annotations

import json
from typing import Any

from toolbridge.lint.finding import Finding, Flaw, Severity, Waived
from toolbridge.lint.linting import LintReport
from toolbridge.lint.places import DocumentPlaces, SourceLabel
from toolbridge.lint.score import scores
from toolbridge.lint.settings import DEFAULTS, LintSettings
from toolbridge.tools import read_tools
from toolbridge.types import Tool, ToolId

ENTRIES: list[dict[str, Any]] = [
    {
        "name": "find_order",
        "description": "Finds an order.\nCheap\u200band quick.",
        "inputSchema": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("id", "customer", "since", "until")},
        },
    },
    {"name": "drop_v2", "description": "Löscht 注文 {0} | `x` <b>@octocat</b> [a](http://evil.test)"},
    {"name": "list_orders", "description": "Lists orders."},
]
TEXT = json.dumps({"tools": ENTRIES}, indent=2, ensure_ascii=False)
SOURCE = SourceLabel("tools.json", "file", "tools.json", root=".")


def tools(server: str = "") -> list[Tool]:
    return read_tools(TEXT, server)


def finding(
    rule: str,
    severity: Severity,
    tool: str | None,
    message: str,
    path: str = "",
    text: str = "",
    span: tuple[int, int] | None = None,
    server: str = "",
) -> Finding:
    of = None if tool is None else ToolId(server, tool)
    return Finding(rule, severity, server, of, Flaw(message, path, text, span))


HIDDEN = finding(
    "safety.hidden-text", "error", "find_order", "a character that nobody sees stands in the description; remove it",
    "/description", ENTRIES[0]["description"], (21, 22),
)  # fmt: skip
UNDESCRIBED = [
    finding(
        "parameter.no-description",
        "warning",
        "find_order",
        f"parameter {name!r} has no description",
        f"/inputSchema/properties/{name}",
    )
    for name in ("id", "customer", "since", "until")
]
VERSION = finding(
    "name.version", "warning", "drop_v2", "the name carries a version: 'drop' would do", "/name", "drop_v2", (5, 7)
)
NASTY = finding(
    "description.short", "info", "drop_v2",
    "says ::error::x ##[error] %0A {0} | `x` <b>@octocat</b> [a](http://evil.test) $x$ #1 www.evil.test \x1b[31m\u202e\ud800",
    "/description",
)  # fmt: skip
OF_ALL = finding("cost.list", "info", None, "the list costs much")
FINDINGS = [OF_ALL, HIDDEN, *UNDESCRIBED, VERSION, NASTY]
WAIVED = (
    Waived(finding("name.verb", "info", "list_orders", "the name has no verb", "/name"), "tool", "it has | one"),
    Waived(finding("result.no-output-schema", "info", "list_orders", "nothing says what it returns"), "settings"),
)


def report(
    findings: list[Finding] = FINDINGS,
    waived: tuple[Waived, ...] = WAIVED,
    settings: LintSettings = DEFAULTS,
    listed: list[Tool] | None = None,
) -> LintReport:
    listed = tools() if listed is None else listed
    of_tools, of_servers = scores(listed, findings)
    return LintReport(tuple(listed), tuple(findings), waived, of_tools, of_servers, settings)


def places() -> DocumentPlaces:
    return DocumentPlaces(TEXT, "tools.json", tools())
