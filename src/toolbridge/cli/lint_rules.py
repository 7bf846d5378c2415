"""`toolbridge lint --rules`: the table of rules, for people and for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolbridge.cli.document import json_text
from toolbridge.cli.output import write_file
from toolbridge.cli.paragraph import one_line
from toolbridge.cli.terminal import NO_TERMINAL_COLUMNS, Paint, columns, wrapped
from toolbridge.lint.finding import Severity
from toolbridge.lint.report.task import Paint as Painting
from toolbridge.lint.report.task import plain
from toolbridge.lint.rule import Rule, Sample
from toolbridge.lint.table import matches, refuse_unknown, rules

EVERY = "*"
"""What `--rules` means where no rule is named."""

COLOURS: Mapping[Severity, str] = {"error": "red", "warning": "yellow", "info": "cyan"}


def show_rules(pattern: str, as_json: bool, output: str | None = None) -> None:
    """The rules that a pattern means: all of them in a line each, or what was named with all there is to say."""
    refuse_unknown([pattern], "--rules")
    meant = [rule for id, rule in rules().items() if pattern == EVERY or matches(id, pattern)]
    width, paint = (columns(), Paint(sys.stdout)) if output is None else (NO_TERMINAL_COLUMNS, plain)
    if as_json:
        text = json_text([rule_fields(each) for each in meant])
    else:
        text = "\n".join(_table(meant, width, paint) if pattern == EVERY else _in_full(meant, width, paint))
    if output is None:
        print(text, flush=True)
    else:
        write_file(output, f"{text}\n")


def rule_fields(rule: Rule) -> dict[str, Any]:
    """A rule as an object."""
    return {
        "id": rule.id,
        "severity": rule.severity,
        "summary": rule.summary,
        "why": rule.why,
        "source": rule.source,
        "bad": _sample_fields(rule.bad),
        "good": _sample_fields(rule.good),
    }


def _sample_fields(sample: Sample) -> dict[str, Any]:
    fields: dict[str, Any] = {"tools": list(sample.tools)}
    if sample.servers:
        fields["servers"] = list(sample.servers)
    if sample.settings:
        fields["settings"] = dict(sample.settings)
    return fields


def _table(meant: Sequence[Rule], width: int, paint: Painting) -> list[str]:
    longest = max(len(each.id) for each in meant)
    lines: list[str] = []
    group = ""
    for each in meant:
        if each.group != group:
            lines += [""] if group else []
            group = each.group
        first, *more = wrapped(each.summary, width, " " * (longest + 11))
        severity = paint(f"{each.severity:7}", COLOURS[each.severity])
        lines += [f"{paint(each.id, 'bold')}{' ' * (longest - len(each.id))}  {severity}  {first.strip()}", *more]
    return lines


def _in_full(meant: Sequence[Rule], width: int, paint: Painting) -> list[str]:
    lines: list[str] = []
    for each in meant:
        lines += [""] if lines else []
        lines.append(f"{paint(each.id, 'bold')}  {paint(each.severity, COLOURS[each.severity])}")
        lines += wrapped(each.summary, width, "  ")
        lines += ["", *wrapped(f"Why: {each.why}", width, "  ")]
        lines += ["", *(paint(line, "dim") for line in wrapped(f"Source: {each.source}", width, "  "))]
        for word, sample, colour in (("Bad", each.bad, "red"), ("Good", each.good, "green")):
            lines += ["", f"  {paint(word, colour)}", *_sample_lines(sample)]
    return lines


def _sample_lines(sample: Sample) -> list[str]:
    """The entries of a sample as JSON, a line each: whoever wants them in full takes `--json`."""
    import json

    lines: list[str] = []
    for i, each in enumerate(sample.tools):
        server = f"{sample.servers[i]}: " if sample.servers else ""
        text = json.dumps(each, ensure_ascii=False, default=str)
        lines.append(f"    {one_line(server + text)}")
    return lines
