"""Listings for a command: from the disk where they are fresh, from the servers themselves where they are not.

A warm listing reads the configuration and a file for each server, starts nothing and loads no SDK. A cold one opens a
hub for those servers alone that are not known.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolbridge.servers.catalog import Catalog, Listing
from toolbridge.servers.spec import ServerSpec, mistake
from toolbridge.types import Tool

if TYPE_CHECKING:
    from toolbridge.failure import Failure
    from toolbridge.servers.hub import Hub
    from toolbridge.servers.locked import Seal


@dataclass(frozen=True, slots=True)
class Listed:
    """What is known of one server."""

    spec: ServerSpec
    state: str
    """As in the hub's status; `idle` is known from disk and not started."""
    tools: tuple[Tool, ...] = ()
    """Those that the operator's filter lets through, also the ones hidden from models."""
    server_name: str | None = None
    server_version: str | None = None
    protocol: str | None = None
    listed_at: float | None = None
    """Seconds since the epoch; `None` is now."""
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()
    instructions: str | None = None


def list_servers(specs: Sequence[ServerSpec], *, refresh: bool = False) -> list[Listed]:
    """What each server lists, in the order of the servers. None of them is a reason to raise."""
    catalog = Catalog()
    specs, seals = _sealed(specs)
    found: dict[str, Listed] = {}
    unknown: list[ServerSpec] = []
    for spec in specs:
        if spec.disabled:
            found[spec.name] = Listed(spec, "disabled")
            continue
        if spec.problem is not None:
            found[spec.name] = Listed(spec, "failed", failure=mistake(spec))
            continue
        listing = None if refresh else catalog.load(spec)
        seal = seals.get(spec.name)
        # What is on disk and not as locked may be older than the lock: the server itself is asked.
        if listing is None or (seal is not None and not seal.holds(listing)):
            unknown.append(spec)
        else:
            found[spec.name] = _from_disk(spec, listing)
    if unknown:
        found |= {each.spec.name: each for each in _asked(unknown, catalog)}
    return [found[spec.name] for spec in specs]


def _sealed(specs: Sequence[ServerSpec]) -> tuple[Sequence[ServerSpec], dict[str, Seal]]:
    """The locks of those that are locked; loaded only where one is."""
    if not any(spec.locked for spec in specs):
        return specs, {}
    from toolbridge.servers.locked import sealed

    return sealed(specs)


def _from_disk(spec: ServerSpec, listing: Listing) -> Listed:
    return Listed(
        spec,
        "idle",
        tuple(spec.filter.apply(listing.tools)),
        listing.server_name,
        listing.server_version,
        listing.protocol,
        listing.listed_at,
        instructions=listing.instructions,
    )


def _asked(specs: list[ServerSpec], catalog: Catalog) -> list[Listed]:
    """Ask the servers, all at once; on a terminal, say who is being waited for."""
    from toolbridge.cli import live
    from toolbridge.cli.asking import servers_open
    from toolbridge.cli.progress import Line

    async def work() -> list[Listed]:
        async with servers_open(specs, Line(sys.stderr), catalog=catalog) as hub:
            tools = hub.all_tools
            return [from_hub(spec, hub, tools) for spec in specs]

    return live.run(work)


def from_hub(spec: ServerSpec, hub: Hub, tools: Sequence[Tool]) -> Listed:
    """What an open hub knows of a server."""
    status = hub.status[spec.name]
    return Listed(
        spec,
        "failed" if status.failure is not None else status.state,  # a failed one may already be at its next attempt
        tuple(_told(each, spec) for each in tools if each.id.server == spec.name),
        status.server_name,
        status.server_version,
        status.protocol,
        failure=status.failure,
        warnings=tuple(status.warnings),
        instructions=status.instructions,
    )


def _told(tool: Tool, spec: ServerSpec) -> Tool:
    """The tool without what its server should not have put into words."""
    from toolbridge.servers.secrets import redact

    description = redact(tool.description, spec.secrets)
    return tool if description == tool.description else replace(tool, description=description)
