"""Asking servers: a hub for the length of a command, and on a terminal a line that says who is being waited for.

Between `live`, which owns the event loop, and the commands that want something of one server or of many.
"""

from __future__ import annotations

import math
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from toolbridge.cli import live
from toolbridge.cli.progress import Line, ticking, waiting_for
from toolbridge.errors import ServerError
from toolbridge.failure import Failure
from toolbridge.servers.catalog import Catalog
from toolbridge.servers.spec import ServerSpec

if TYPE_CHECKING:
    from toolbridge.servers.callbacks import Callbacks
    from toolbridge.servers.hub import Hub

T = TypeVar("T")


@asynccontextmanager
async def servers_open(
    specs: Sequence[ServerSpec],
    line: Line,
    *,
    lazy: bool = False,
    catalog: Catalog | None = None,
    callbacks: Callbacks | None = None,
) -> AsyncGenerator[Hub]:
    """The servers in a hub, all of them connected or failed. None is required: a failed one is told of, not raised."""
    from toolbridge.servers.hub import connect

    options: dict[str, Any] = {"lazy": lazy, "catalog": catalog, "patience": math.inf}
    if callbacks is not None:
        options["callbacks"] = callbacks
    hub = connect([replace(each, required=False) for each in specs], **options)
    async with live.closing(hub):
        async with ticking(line, lambda seconds: waiting_for(_missing(hub, specs), seconds, line.paint)):
            await hub.open()
        yield hub


def _missing(hub: Hub, specs: Sequence[ServerSpec]) -> list[str]:
    status = hub.status
    names = [spec.name for spec in specs]
    return [name for name in names if name in status and status[name].state == "connecting"] or names


def ask_each(
    specs: Sequence[ServerSpec], question: Callable[[Hub, str], Awaitable[T]], what: str
) -> dict[str, T | Failure]:
    """Ask every server that is not disabled the same, all at once; what it answered, or why it did not."""
    asked = [each for each in specs if not each.disabled]

    async def one(hub: Hub, spec: ServerSpec) -> T | Failure:
        failure = hub.status[spec.name].failure
        if failure is not None:
            return failure
        try:
            return await question(hub, spec.name)
        except ServerError as failed:
            return failed.failure

    async def work() -> list[T | Failure]:
        import asyncio

        line = Line(sys.stderr)
        async with servers_open(asked, line) as hub, ticking(line, lambda seconds: f"{what} … {int(seconds)} s"):
            return await asyncio.gather(*(one(hub, each) for each in asked))

    return dict(zip((each.name for each in asked), live.run(work), strict=True))
