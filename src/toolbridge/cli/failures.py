"""Failures of servers, for people and for programs: what happened, what the server wrote last, and what to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from toolbridge.cli.paragraph import folded, one_line
from toolbridge.cli.terminal import Paint, columns
from toolbridge.failure import Failure

LAST_LINES = 5
"""Lines of the server's stderr that are shown."""


def failure_lines(failure: Failure, width: int, paint: Paint) -> list[str]:
    """`✗ name: what happened`, and below it what it wrote last and what would help."""
    first, *more = folded(f"{one_line(failure.server)}: {one_line(failure.message)}", width - 2)
    name = one_line(failure.server)
    head = paint("✗", "red") + " " + (paint(name, "bold") + first[len(name) :] if first.startswith(name) else first)
    return [head, *(f"  {each}" for each in more), *detail_lines(failure, width, paint)]


def detail_lines(failure: Failure, width: int, paint: Paint) -> list[str]:
    """What stands below a failure."""
    lines: list[str] = []
    if failure.command:
        lines += [paint(f"    {each}", "dim") for each in folded(one_line(failure.command), width - 4, 2)]
    wrote = [each for each in failure.stderr.splitlines() if each.strip()][-LAST_LINES:]
    for each in wrote:
        lines += [paint(f"    │ {part}", "dim") for part in folded(one_line(each), width - 6, 2)]
    first, *more = folded(one_line(failure.fix), width - 4) or [""]
    return [*lines, f"  {paint('→', 'cyan')} {first}", *(f"    {each}" for each in more)]


def failure_fields(failure: Failure | None) -> dict[str, Any] | None:
    """A failure as an object."""
    if failure is None:
        return None
    return {
        "cause": failure.cause,
        "message": failure.message,
        "fix": failure.fix,
        "command": failure.command,
        "exit_code": failure.exit_code,
        "status": failure.status,
        "stderr": failure.stderr,
    }


def tell_failures(failures: Sequence[Failure], *, refusal: str = "") -> None:
    """Say on stderr which servers failed, and what to do.

    A server that answers with an error did not fail where it was asked for one thing: `refusal` is the hint then, with
    the server's name in it.
    """
    paint = Paint(sys.stderr)
    for each in failures:
        if refusal and each.cause == "refused":
            lines = [
                f"toolbridge: {one_line(f'server {each.server!r}: {each.message}; {refusal.format(each.server)}')}"
            ]
        else:
            lines = failure_lines(each, columns(), paint)
        for line in lines:
            print(line, file=sys.stderr, flush=True)
