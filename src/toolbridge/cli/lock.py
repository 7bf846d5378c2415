"""`toolbridge lock`: keep what servers offer now, so that a change of it is seen."""

from __future__ import annotations

import sys

import click

from toolbridge.cli.surfaces import SurfaceCommand, surface_arguments

FAILED = 1
"""The exit code where some server could not be had, and is not locked anew, or a tool cannot be locked."""


@click.command("lock", cls=SurfaceCommand, short_help="Write down what your servers offer, to notice changes.")
@surface_arguments()
@click.option("-o", "--output", "file", metavar="FILE", help="The lockfile: toolbridge.lock, beside the configuration.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of what changed.")
def command(source: str | None, client: str | None, server: str | None, file: str | None, quiet: bool) -> int:
    """Write a lockfile of everything that a model sees of your servers.

    The names, titles, descriptions, schemas, hints and instructions, and what hosts act on, as the servers
    list them now. What changed against an older lock is said before it is replaced. 'toolbridge verify'
    tells later changes, and with "locked": true in the configuration changed tools are not used.

    With --server one server is locked and the others stay as they were locked. A server that cannot be
    reached keeps its entry, and the exit code is 1. What is not from the configuration that is here needs
    a file of its own (-o). Put the file under version control.

    \b
    Examples:
      toolbridge lock
      toolbridge lock mcp.json --server github
      toolbridge lock tools.json -o tools.lock
      toolbridge lock https://example.com/mcp
      toolbridge lock -- npx -y @example/server

    \b
    Exit codes:
      0  locked
      1  some server could not be reached, or a tool cannot be locked
      2  misuse
    """
    from toolbridge.cli.changes import change_lines, counted_tools, gone_servers, locked_servers, own_lockfile
    from toolbridge.cli.surfaces import given_command, read_surface
    from toolbridge.cli.terminal import Paint, columns, shown
    from toolbridge.errors import ConfigError
    from toolbridge.lock import Lock, compare, merged, read_old_lock, write_lock

    if file is not None:
        read_old_lock(file)  # what may not be written over is told before anything is started
    found = read_surface(source, given_command(), client=client, server=server, refresh=True)
    file = file or own_lockfile(found)
    whole = found.kind == "config" and server is None
    old, damage = read_old_lock(file)
    if damage is not None and not whole:
        raise ConfigError([damage])  # the entries of the other servers cannot be kept
    known = old or Lock()
    # By its own name: a lock is made for what is there, not for what was.
    servers = locked_servers(found, file, Lock(), server is not None)
    gone = gone_servers(found, known, server is not None)
    if damage is not None:
        print(f"toolbridge: {shown(damage)}: replaced", file=sys.stderr)
    if old is not None and not quiet:
        lines = change_lines(compare(known, servers, gone=gone), columns(), Paint(sys.stdout))
        print("\n".join([*lines, ""] if lines else ["nothing has changed"]), flush=True)
    lock = merged(known, servers, gone=gone)
    write_lock(lock, file)
    if not quiet:
        kept = len(lock.servers) - len(servers)
        others = f"; {kept} more as they were" if kept else ""
        print(f"{shown(file)}: locked {counted_tools(servers)}{others}", flush=True)
    unlockable = [(name, *each) for name, known in servers.items() for each in known.unlockable.items()]
    for name, tool, why in unlockable:
        print(f"toolbridge: server {shown(name)!r}: tool {shown(tool)!r} {why}", file=sys.stderr)
    if found.failures:
        from toolbridge.cli.failures import tell_failures

        tell_failures(found.failures)
    return FAILED if found.failures or unlockable else 0
