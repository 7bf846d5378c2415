"""Listing what servers offer beside tools: resources and prompts, for the two commands that do it."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from toolbridge.cli.terminal import Paint
    from toolbridge.failure import Failure
    from toolbridge.servers.hub import Hub
    from toolbridge.servers.spec import ServerSpec

FAILED = 1
"""The exit code where some server could not be asked."""

T = TypeVar("T")


def list_offers(
    specs: Sequence[ServerSpec],
    kind: str,
    ask: Callable[[Hub, str], Awaitable[list[T]]],
    fields: Callable[[T], dict[str, Any]],
    table: Callable[[dict[str, list[T] | Failure], int, Paint], list[str]],
    *,
    as_json: bool,
) -> int:
    """Ask every server, and print what each has: as a table, or as one JSON object."""
    from toolbridge.cli.asking import ask_each
    from toolbridge.cli.failures import failure_fields, tell_failures
    from toolbridge.failure import Failure

    found = ask_each(specs, ask, f"listing {kind}")
    failed = [each for each in found.values() if isinstance(each, Failure)]
    if as_json:
        from toolbridge.cli.document import write_json

        document = {
            name: {"failure": failure_fields(each), kind: []}
            if isinstance(each, Failure)
            else {"failure": None, kind: [fields(one) for one in each]}
            for name, each in found.items()
        }
        write_json({"servers": document})
    else:
        from toolbridge.cli.terminal import Paint, columns

        lines = table(found, columns(), Paint(sys.stdout))
        if lines:
            print("\n".join(lines), flush=True)
    tell_failures(failed)
    return FAILED if failed else 0
