"""The report as workflow commands of GitHub Actions: annotations on the lines of a pull request, and a summary line.

GitHub shows ten of each severity for a step, so the gravest come first and what a tool does many times is told once.
The runner takes a line that begins with `::` for a command, and one that holds `##[` anywhere; text of servers is
escaped so that it can be neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolbridge.display import shown
from toolbridge.failure import Failure
from toolbridge.lint.finding import SEVERITIES, Severity
from toolbridge.lint.report.files import Files
from toolbridge.lint.report.grouping import Fold, by_server, counted, counts, folded, gravest_first
from toolbridge.lint.report.task import Task

_COMMANDS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "notice"}

LONGEST: Final = 1_000
"""Characters of an annotation. GitHub takes 64 KB and shows a few lines."""


def write(task: Task) -> str:
    groups = by_server(task.report)
    folds = [
        fold
        for group in groups
        for own in (group.findings, *(tool.findings for tool in gravest_first(group.tools)))
        for fold in folded(own)
    ]
    folds.sort(key=lambda fold: SEVERITIES.index(fold.first.severity))
    files = Files(task.source)
    lines = [_absent(task, each, files) for each in task.failures]
    lines += [_command(task, fold, files) for fold in folds]
    tools = counted(sum(len(group.tools) for group in groups), "tool", "tools")
    said = f"{counts(task.report.findings) or 'nothing to find fault with'} in {tools}"
    if task.report.waived:
        said += f", {len(task.report.waived):,} waived"
    if task.failures:
        said += f", not there: {', '.join(shown(each.server) for each in task.failures)}"
    if task.disabled:
        said += f", disabled: {', '.join(map(shown, task.disabled))}"
    lines.append(_inert(f"toolbridge lint: {shown(task.source.label)}: {said}"))
    return "\n".join(lines) + "\n"


def _absent(task: Task, failure: Failure, files: Files) -> str:
    """A server that is not there: nothing else in the log of an action would show that."""
    at = "" if task.source.path is None else f"file={_property(files.shown(task.source.path))},line=1,"
    message = f"{shown(failure.server)}: {shown(failure.message)}"
    return _inert(f"::error {at}title=server not there::{_data(message[:LONGEST])}")


def _command(task: Task, fold: Fold, files: Files) -> str:
    finding = fold.first
    whole = f"{finding.server}/" if finding.server else ""
    of = whole + finding.tool.name if finding.tool is not None else finding.server or "all tools"
    message = f"{shown(of)}: {shown(finding.message)}"
    if fold.more:
        message += f" (and in {counted(len(fold.more), 'more place', 'more places')})"
    if len(message) > LONGEST:
        message = message[: LONGEST - 1] + "…"
    properties = ",".join(f"{key}={_property(value)}" for key, value in _properties(task, fold, files))
    return _inert(f"::{_COMMANDS[finding.severity]} {properties}::{_data(message)}")


def _properties(task: Task, fold: Fold, files: Files) -> Iterator[tuple[str, str]]:
    place = task.places.place(fold.first)
    if place is not None:
        yield "file", files.shown(place.file)
        yield "line", str(place.line)
        if place.line == place.end_line and place.column < place.end_column:  # GitHub refuses columns across lines
            yield "col", str(place.column)
            yield "endColumn", str(place.end_column)
    elif task.source.path is not None:
        yield "file", files.shown(task.source.path)
        yield "line", "1"
    yield "title", fold.first.rule


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _inert(line: str) -> str:
    return line.replace("##[", "## [")
