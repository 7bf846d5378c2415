"""Reports: what the linter found, written for people, for programs and for the services that show findings.

One module a format, each one function from a `LintReport` to text; the table of formats is here. Where a finding stands
in a file is asked of `places`, and only by the formats that say it. Text of servers is untrusted: each format escapes
what its readers would take for more than text.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from toolbridge.errors import ToolbridgeError, nearest
from toolbridge.failure import Failure
from toolbridge.lint.linting import LintReport
from toolbridge.lint.places import NOWHERE, Places, SourceLabel
from toolbridge.lint.report.task import Paint, Task, plain

_MODULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "text": "text",
        "json": "document",
        "sarif": "sarif",
        "github": "github",
        "junit": "junit",
        "markdown": "markdown",
    }
)
"""The module of each format. Only the one that is asked for is loaded."""

FORMATS: Final[tuple[str, ...]] = tuple(_MODULES)
"""The names of the formats: `text` is for people at a terminal, `markdown` for people at a pull request."""


def write_report(
    report: LintReport,
    format: str,
    *,
    source: SourceLabel,
    places: Places = NOWHERE,
    width: int = 100,
    paint: Paint = plain,
    exit_code: int = 0,
    failures: tuple[Failure, ...] = (),
    disabled: tuple[str, ...] = (),
) -> str:
    """The report in a format, ending in a newline. `width` and `paint` are for text alone; `exit_code` is what the
    command is about to return, which SARIF records. `failures` and `disabled` are the servers that nothing was learnt
    of: what is not found there is no praise."""
    module = _MODULES.get(format)
    if module is None:
        meant = nearest(format, FORMATS)
        raise ToolbridgeError(
            f"unknown report format {format!r}; "
            + (f"did you mean {meant!r}?" if meant else f"there are {', '.join(FORMATS)}")
        )
    write = import_module(f"toolbridge.lint.report.{module}").write
    return write(Task(report, source, places, width, paint, exit_code, failures, disabled))
