"""`toolbridge tools`: what the servers offer, as a table, as JSON, or as a provider's definitions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.servers import server_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolbridge.cli.listing import Listed
    from toolbridge.types import Tool

FAILED = 1
"""The exit code where some server could not be listed, or a provider cannot be given some tool."""


@click.command("tools", short_help="List the tools of your MCP servers.")
@click.argument("servers", metavar="[SERVER]...", nargs=-1)
@server_options
@click.option("--to", "provider", metavar="PROVIDER", help="Write the definitions for a provider's request, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for programs: servers and their tools.")
@click.option("--schema", "schemas", is_flag=True, help="Every tool in full, with each parameter on its own.")
@click.option("--refresh", is_flag=True, help="Ask the servers, also where their last listing is fresh.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Also the tools that are hidden from models; with --to they are counted, never written.",
)
def command(
    servers: tuple[str, ...],
    config: str | None,
    client: str | None,
    provider: str | None,
    as_json: bool,
    schemas: bool,
    refresh: bool,
    every: bool,
) -> int:
    """List the tools of all servers, or of those that are named.

    What a server listed is kept on disk, so that the next listing is instant and starts nothing. A server
    that cannot be listed is named on stderr with what to do about it; the others are listed, and the exit
    code is 1.

    \b
    Examples:
      toolbridge tools
      toolbridge tools --from claude
      toolbridge tools files github --schema
      toolbridge tools --to anthropic > tools.json
      toolbridge tools --json | jq '.servers[].tools[].name'

    \b
    The letters before a name are what the server claims about the tool:
      R  read-only      I  idempotent: doing it again does no more
      D  destructive    O  open world: it reaches beyond the server
      A  adds only      d, o  nothing is said, so the worst is assumed

    \b
    Exit codes:
      0  every server was listed
      1  some server could not be listed, or with --to some tool was left out
      2  misuse
    """
    from toolbridge.cli.listing import list_servers
    from toolbridge.cli.servers import chosen, read_servers

    if provider is not None:
        if as_json:
            raise click.UsageError("--to and --json are two forms of JSON; give one of them")
        from toolbridge.providers import get_provider

        get_provider(provider)  # a wrong name is told before anything is started
    listed = list_servers(chosen(read_servers(config, client), servers), refresh=refresh)
    left_out = False
    if as_json:
        from toolbridge.cli.document import write_json

        write_json({"servers": {each.spec.name: _fields(each) for each in listed}})
    elif provider is not None:
        left_out = _write_definitions(listed, provider, every)
    else:
        from toolbridge.cli.terminal import Paint, columns
        from toolbridge.cli.toolbook import Toolbook

        lines = Toolbook(listed, columns(), Paint(sys.stdout), every=every, schemas=schemas).lines()
        if lines:
            print("\n".join(lines), flush=True)
    _warn(listed)
    failed = [each.failure for each in listed if each.failure is not None]
    if failed:
        from toolbridge.cli.failures import tell_failures

        tell_failures(failed)
    return FAILED if failed or left_out else 0


def _write_definitions(listed: Sequence[Listed], provider: str, every: bool) -> bool:
    """The definitions on stdout, what changed on stderr; whether tools were left out."""
    from toolbridge.apps import visible
    from toolbridge.cli.convert import _summed_up, failures
    from toolbridge.cli.document import write_json
    from toolbridge.prepare import prepare

    ready = prepare([tool for each in listed for tool in each.tools if every or visible(tool)], provider)
    write_json(ready.definitions, indented=True)
    for line in _summed_up(ready):
        print(line.removesuffix("; --explain says how"), file=sys.stderr)
    return bool(failures(ready))


def _warn(listed: Sequence[Listed]) -> None:
    """What is odd about a server that is there: tools that are not as locked, for one."""
    from toolbridge.cli.paragraph import folded, one_line
    from toolbridge.cli.terminal import Paint, columns

    paint = Paint(sys.stderr)
    for server in listed:
        for each in server.warnings:
            first, *more = folded(one_line(f"{server.spec.name}: {each}"), columns() - 2)
            for line in (f"{paint('!', 'yellow')} {first}", *(f"  {part}" for part in more)):
                print(line, file=sys.stderr, flush=True)


def _fields(server: Listed) -> dict[str, Any]:
    from toolbridge.cli.failures import failure_fields

    return {
        "state": server.state,
        "name": server.server_name,
        "version": server.server_version,
        "protocol": server.protocol,
        "listed_at": server.listed_at,
        "failure": failure_fields(server.failure),
        "warnings": list(server.warnings),
        "tools": [_tool_fields(each) for each in server.tools],
    }


def _tool_fields(tool: Tool) -> dict[str, Any]:
    """A tool as its server lists it."""
    from toolbridge.apps import visible

    hints = {
        "readOnlyHint": tool.hints.read_only_hint,
        "destructiveHint": tool.hints.destructive_hint,
        "idempotentHint": tool.hints.idempotent_hint,
        "openWorldHint": tool.hints.open_world_hint,
    }
    return {
        "name": tool.id.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {key: value for key, value in hints.items() if value is not None},
        "hidden": not visible(tool),
    }
