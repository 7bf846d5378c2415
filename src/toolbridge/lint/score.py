"""Scores: findings as one number for each tool and each server, from 0 to 100."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from toolbridge.lint.finding import Finding, Severity
from toolbridge.types import Tool, ToolId

COSTS: Final[Mapping[Severity, int]] = {"error": 25, "warning": 8, "info": 1}
"""Points that a broken rule takes. A rule counts once for a tool, however often it is broken: ten parameters without a
description are one habit, not ten."""


def scores(tools: Sequence[Tool], findings: Iterable[Finding]) -> tuple[dict[ToolId, int], dict[str, int]]:
    """The scores of tools and of servers. A server has the mean of its tools, less what is wrong with it as a whole."""
    broken: dict[ToolId | str, dict[str, int]] = {}
    for each in findings:
        of = each.server if each.tool is None else each.tool
        broken.setdefault(of, {})[each.rule] = COSTS[each.severity]

    def lost(of: ToolId | str) -> int:
        return sum(broken.get(of, {}).values())

    of_tools = {tool.id: max(0, 100 - lost(tool.id)) for tool in tools}
    of_server: dict[str, list[int]] = {}
    for id, score in of_tools.items():
        of_server.setdefault(id.server, []).append(score)
    return of_tools, {server: max(0, sum(own) // len(own) - lost(server)) for server, own in of_server.items()}
