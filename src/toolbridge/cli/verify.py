"""`toolbridge verify`: whether servers still offer what was locked, and what is different where they do not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.surfaces import SurfaceCommand, surface_arguments

if TYPE_CHECKING:
    from toolbridge.cli.surfaces import Source
    from toolbridge.lock import Change, Lock, LockedServer

CHANGED = 1
"""The exit code where something is not as locked, or some server could not be asked."""


@click.command("verify", cls=SurfaceCommand, short_help="Compare your servers with their lock; tell every change.")
@surface_arguments()
@click.option("--lock", "file", metavar="FILE", help="The lockfile: toolbridge.lock, beside the configuration.")
@click.option("--diff", is_flag=True, help="The changes as a unified diff, with hidden characters shown.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for programs.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing; the exit code tells.")
def command(
    source: str | None,
    client: str | None,
    server: str | None,
    file: str | None,
    diff: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Compare what your servers offer with what was locked.

    Every change is said by server and tool, the gravest first: a tool that no longer says that it only
    reads, a description with new words, a tool that is new, a parameter that is required now. A new version
    of a server alone is told and is no failure.

    \b
    Examples:
      toolbridge verify
      toolbridge verify --diff
      toolbridge verify mcp.json --server github --quiet
      toolbridge verify --json | jq '.servers[].changes[].words'

    \b
    Exit codes:
      0  all is as it was locked
      1  something changed, or a server could not be asked
      2  misuse, or there is nothing to compare with
    """
    from toolbridge.cli.changes import gone_servers, locked_servers, lockfile_of
    from toolbridge.cli.surfaces import given_command, read_surface
    from toolbridge.lock import compare, read_lock

    if quiet and (as_json or diff):
        raise click.UsageError("--quiet says nothing; leave it out, or --json and --diff")
    known = read_lock(file) if file is not None else None  # a lock that is not there is told before anything is started
    found = read_surface(source, given_command(), client=client, server=server, refresh=True)
    file = file or lockfile_of(found)
    known = known or read_lock(file)
    servers = locked_servers(found, file, known, server is not None)
    gone = gone_servers(found, known, server is not None)
    changes = compare(known, servers, gone=gone)
    if as_json:
        from toolbridge.cli.document import write_json

        write_json(_document(found, file, known, servers, changes, diff))
    elif not quiet:
        _tell(found, known, servers, gone, changes, diff)
    return CHANGED if found.failures or any(each.fails for each in changes) else 0


def _tell(
    found: Source,
    known: Lock,
    servers: Mapping[str, LockedServer],
    gone: tuple[str, ...],
    changes: tuple[Change, ...],
    diff: bool,
) -> None:
    from toolbridge.cli.changes import change_lines, counted_tools, painted_diff
    from toolbridge.cli.failures import tell_failures
    from toolbridge.cli.terminal import Paint, columns
    from toolbridge.cli.words import counted
    from toolbridge.lock import diff_lines

    paint = Paint(sys.stdout)
    lines: list[str] = []
    if diff:
        for name in (*servers, *gone):
            lines += painted_diff(diff_lines(name, known.servers.get(name), servers.get(name)), paint)
    else:
        lines = change_lines(changes, columns(), paint)
        failing = sum(each.fails for each in changes)
        lines += [""] if lines else []
        if failing:
            lines.append(paint(f"{counted(failing, 'change')} since the lock", "red"))
        else:
            lines.append(paint(f"as locked: {counted_tools(servers)}", "green"))
    if lines:
        print("\n".join(lines), flush=True)
    if found.failures:
        tell_failures(found.failures)


def _document(
    found: Source,
    file: str,
    known: Lock,
    servers: Mapping[str, LockedServer],
    changes: tuple[Change, ...],
    diff: bool,
) -> dict[str, Any]:
    from toolbridge.cli.changes import change_fields
    from toolbridge.cli.failures import failure_fields
    from toolbridge.lock import diff_lines

    failures = {each.name: each.failure for each in found.served if each.failure is not None}
    listed: dict[str, Any] = {}
    for name in sorted({*servers, *failures, *(each.server for each in changes)}):
        own = [each for each in changes if each.server == name]
        listed[name] = {
            "ok": name not in failures and not any(each.fails for each in own),
            "changes": [change_fields(each) for each in own],
            "failure": failure_fields(failures.get(name)),
        }
        if diff and name not in failures:
            listed[name]["diff"] = "\n".join(diff_lines(name, known.servers.get(name), servers.get(name)))
    return {"ok": all(each["ok"] for each in listed.values()), "lock": file, "servers": listed}
