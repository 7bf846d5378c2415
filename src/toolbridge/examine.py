"""Examining live servers: what the linter can only know by asking them.

`examine` takes an open hub and gives, for each server, who it says it is, which resources it lists and, where somebody
asks for that, how its tools answer: one right call and one wrong call of each tool that claims to be read-only and
that nothing else it says gives the lie. No other tool is ever called. A claim is no fact, so calling is for servers
that one would let a model call too.

The calls of one server are made one after the other, so that a server that ends is told of the call that ended it;
servers are asked side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from toolbridge.apps import read_app_meta
from toolbridge.errors import ServerError
from toolbridge.lint.settings import DEFAULTS
from toolbridge.lint.subject import ServerFacts, Subject, Trial
from toolbridge.types import JsonObject, Resource, Tool, ToolId, ToolResult, failed

if TYPE_CHECKING:
    from toolbridge.servers.hub import Hub

CALL_SECONDS: Final = 10.0
"""How long a call that is tried may take without a sign of life."""

GRACE_SECONDS: Final = 2.0
"""How much longer one is waited for that goes on showing progress, and for the end of one that is cancelled."""

MOST_LOST: Final = 3
"""Calls without an answer after which a server is left in peace."""

MOST_PAGES: Final = 50
"""Pages of one server that are asked for."""

SERVERS_AT_ONCE: Final = 8
"""Servers whose tools are tried at the same time."""


async def examine(
    hub: Hub,
    *,
    call: bool = False,
    skip: Iterable[str] = (),
    limit: float = CALL_SECONDS,
) -> dict[str, ServerFacts]:
    """What is known of each server of an open hub, by its name.

    With `call`, tools that claim to be read-only are tried. `skip` are tools that are not: names, `server/name`, or
    globs of either. `limit` is how many seconds each call may take. A server that is not there has its name only.
    """
    room = asyncio.Semaphore(SERVERS_AT_ONCE)
    spared = tuple(skip)

    async def one(server: str) -> ServerFacts:
        async with room:
            return await _examined(hub, server, spared if call else None, limit)

    names = [name for name, spec in hub.specs.items() if not spec.disabled]
    found = await asyncio.gather(*(one(name) for name in names))
    return dict(zip(names, found, strict=True))


async def _examined(hub: Hub, server: str, skip: tuple[str, ...] | None, limit: float) -> ServerFacts:
    resources: Mapping[str, str | None] | None
    try:
        resources = {each.uri: each.mime_type for each in await hub.resources(server)}
    except ServerError:
        resources = None  # it is not there, or does not list them: nobody knows
    tools = [each for each in hub.all_tools if each.id.server == server]
    if resources is not None:
        resources = {**resources, **await _unlisted(hub, server, tools, resources)}
    trials, untried = (None, None) if skip is None else await _tried(hub, tools, skip, limit)
    status = hub.status[server]
    return ServerFacts(
        name=server,
        server_name=status.server_name,
        server_version=status.server_version,
        protocol=status.protocol,
        instructions=status.instructions,
        resources=resources,
        trials=trials,
        untried=untried,
    )


async def _unlisted(
    hub: Hub, server: str, tools: list[Tool], listed: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Pages that tools name and the server has without listing them: MCP Apps allows that, and so do templates."""
    found: dict[str, str | None] = {}
    named = dict.fromkeys(read_app_meta(each).template or "" for each in tools)
    for uri in [each for each in named if each.startswith("ui://") and each not in listed][:MOST_PAGES]:
        try:
            content = await hub.read_resource(server, uri)
        except ServerError:
            continue
        found[uri] = next((each.mime_type for each in content if isinstance(each, Resource)), None)
    return found


async def _tried(
    hub: Hub, tools: list[Tool], skip: tuple[str, ...], limit: float
) -> tuple[dict[ToolId, tuple[Trial, ...]], dict[ToolId, str]]:
    """The trials of a server's tools, and why the others were not tried."""
    from toolbridge.lint.arguments import sample_arguments, wrong_arguments  # the validator is loaded to call only

    trials: dict[ToolId, tuple[Trial, ...]] = {}
    untried: dict[ToolId, str] = {}
    lost = 0
    for tool in tools:
        arguments = None
        why = _why_not(tool, skip)
        if why is None and lost >= MOST_LOST:
            why = f"the server gave no answer to {lost} other calls"
        if why is None:
            arguments = sample_arguments(tool.input_schema)
            why = None if arguments is not None else "no arguments could be made that its input schema accepts"
        if why is not None or arguments is None:
            untried[tool.id] = why or ""
            continue
        made = [Trial(arguments, await _called(hub, tool, arguments, limit))]
        wrong = wrong_arguments(tool.input_schema, arguments)
        if wrong is not None and made[0].result.failure in (None, "protocol"):
            made.append(Trial(wrong, await _called(hub, tool, wrong, limit), wrong=True))
        last = made[-1].result
        if last.failure in ("unavailable", "refused", "unknown_tool"):
            made.pop()  # it never reached the tool
            if not made:
                untried[tool.id] = last.text
        lost += last.failure in ("timed_out", "outcome_unknown", "unavailable")
        if made:
            trials[tool.id] = tuple(made)
    return trials, untried


def _why_not(tool: Tool, skip: tuple[str, ...]) -> str | None:
    """Why a tool is not to be called; `None` where it may be."""
    if tool.problem is not None:
        return tool.problem
    if not tool.hints.read_only:
        return "it does not claim to be read-only"
    if any(_is_meant(tool.id, each) for each in skip):
        return "it is excepted"
    return _contradiction(tool)


def _contradiction(tool: Tool) -> str | None:
    """What speaks against a tool's claim to be read-only, as the rules on annotations tell it."""
    from toolbridge.lint.rules.annotations import contradictory, read_only_contradicted

    subject = Subject(tool, DEFAULTS)
    for rule in (contradictory, read_only_contradicted):
        for flaw in rule(subject):
            return f"it {flaw.message.partition(';')[0].removeprefix('the tool ')}"
    return None


def _is_meant(id: ToolId, pattern: str) -> bool:
    return pattern in (id.name, str(id)) or fnmatchcase(id.name, pattern) or fnmatchcase(str(id), pattern)


async def _called(hub: Hub, tool: Tool, arguments: JsonObject, limit: float) -> ToolResult:
    try:
        await hub.client(tool.id.server)  # a server that the last call ended starts again, on its own time
        async with asyncio.timeout(limit + GRACE_SECONDS):
            return await hub.call(tool.id.server, tool.id.name, arguments, timeout=limit)
    except TimeoutError:
        return failed("", "timed_out", f"{tool.id} gave no answer within {limit + GRACE_SECONDS:g} s.")
    except ServerError as error:
        return failed("", "unavailable", str(error))
