"""`toolbridge doctor`: what is wrong with the configuration and with each server, and what to do about it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from toolbridge.cli.servers import server_options

if TYPE_CHECKING:
    from toolbridge.cli.progress import Line
    from toolbridge.cli.terminal import Paint
    from toolbridge.failure import Failure
    from toolbridge.servers.config import Examined
    from toolbridge.servers.spec import ServerSpec
    from toolbridge.servers.status import ServerStatus

UNWELL = 1
"""The exit code where something is wrong."""

Files: TypeAlias = "dict[Path, Examined]"


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found out about one server."""

    spec: ServerSpec
    program: str | None = None
    """The full path of the command, where there is one."""
    failure: Failure | None = None
    status: ServerStatus | None = None
    seconds: float = 0.0
    """From the start to the first listing, or to the failure."""

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.status.warnings if self.status is not None else ()


@click.command("doctor", short_help="Check the configuration and every server; say what to fix.")
@click.argument("servers", metavar="[SERVER]...", nargs=-1)
@server_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object for programs.")
def command(servers: tuple[str, ...], config: str | None, client: str | None, as_json: bool) -> int:
    """Check the configuration, each command and each connection, and say what to fix.

    Every mistake of the file is told. The servers without a mistake are started or reached anew, all at
    once, whatever is known of them from before. The exit code is 0 when all is well.

    \b
      ✓  it works             !  it works, but something is odd
      ✗  it does not work     –  it is disabled

    \b
    Examples:
      toolbridge doctor
      toolbridge doctor --from cursor
      toolbridge doctor --config mcp.json github
      toolbridge doctor --json | jq '.servers | map_values(.ok)'

    \b
    Exit codes:
      0  all is well
      1  something does not work; the report says what to do
      2  misuse: no such server
    """
    from toolbridge.cli.servers import ask_input, chosen, config_files, is_attended
    from toolbridge.servers.config import examine_config

    ask = ask_input if is_attended() else None
    files: Files = {path: examine_config(path, inputs=ask) for path in config_files(config, client)}
    specs: dict[str, ServerSpec] = {}
    for examined in files.values():
        for spec in examined.specs:
            specs.setdefault(spec.name, spec)
    problems = [each for examined in files.values() for each in examined.problems]
    wanted = _wanted(list(specs.values()), servers, problems)
    checked = _checked(chosen(list(specs.values()), wanted) if wanted or not servers else [])
    if as_json:
        from toolbridge.cli.document import write_json

        write_json(_document(files, checked))
    else:
        from toolbridge.cli.terminal import Paint, columns

        print("\n".join(_lines(files, checked, columns(), Paint(sys.stdout))), flush=True)
    return UNWELL if problems or any(each.failure for each in checked) or not checked else 0


def _wanted(specs: Sequence[ServerSpec], names: tuple[str, ...], problems: Sequence[str]) -> list[str]:
    """The named servers that can be checked: one with a mistake in the file is known, and told of there."""
    known = [each.name for each in specs]
    return [name for name in names if name in known or not any(f"server {name!r}" in each for each in problems)]


# ── checking ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _checked(specs: Sequence[ServerSpec]) -> list[Checkup]:
    """Look for each command, then connect to every server that has one, all at once."""
    from toolbridge.servers.locked import sealed

    found = [_looked_at(each) for each in sealed(specs)[0]]
    able = [each.spec for each in found if each.failure is None and not each.spec.disabled]
    if not able:
        return found
    from toolbridge.cli import live
    from toolbridge.cli.progress import Line, ticking, waiting_for

    async def work() -> dict[str, Checkup]:
        import asyncio

        line = Line(sys.stderr)
        waiting = [each.name for each in able]
        async with ticking(line, lambda seconds: waiting_for(waiting, seconds, line.paint)):
            done = await asyncio.gather(*(_connected(each, waiting, line) for each in able))
        return {each.spec.name: each for each in done}

    connected = live.run(work)
    return [
        replace(connected[each.spec.name], program=each.program) if each.spec.name in connected else each
        for each in found
    ]


def _looked_at(spec: ServerSpec) -> Checkup:
    from toolbridge.failure import Failure
    from toolbridge.servers.environment import find_command
    from toolbridge.servers.spec import mistake

    if spec.problem is not None and not spec.disabled:
        return Checkup(spec, failure=mistake(spec))
    if spec.disabled or spec.command is None:
        return Checkup(spec)
    found = find_command(spec)
    return Checkup(spec, failure=found) if isinstance(found, Failure) else Checkup(spec, program=found)


async def _connected(spec: ServerSpec, waiting: list[str], line: Line) -> Checkup:
    """One server in a hub of its own, so that its time is its own."""
    from toolbridge.cli.asking import servers_open
    from toolbridge.cli.progress import Line as Silent

    began = time.monotonic()
    async with servers_open([spec], Silent(None)) as hub:
        seconds = time.monotonic() - began
        status = hub.status[spec.name]
        waiting.remove(spec.name)
        return Checkup(spec, failure=status.failure, status=status, seconds=seconds)


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def _lines(files: Files, checked: Sequence[Checkup], width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.paragraph import one_line
    from toolbridge.cli.words import counted

    lines: list[str] = []
    for path, examined in files.items():
        count = counted(len(examined.specs), "server")
        wrong = f", {counted(len(examined.problems), 'mistake')}" if examined.problems else ""
        mark = paint("✗", "red") if examined.problems else paint("✓", "green")
        lines.append(f"{mark} {paint(one_line(str(path)), 'bold')}  {paint(count + wrong, 'dim')}")
        for each in examined.problems:
            lines += _indented(each.removeprefix(f"{path}: "), width, paint("✗", "red"))
        for each in examined.notes:
            lines += _indented(each.removeprefix(f"{path}: "), width, paint("!", "yellow"))
    label = max((len(one_line(each.spec.name)) for each in checked), default=0)
    if checked:
        lines.append("")
    for each in checked:
        lines += _checkup_lines(each, min(label, 24), width, paint)
    return [*lines, "", _sum(files, checked, paint)]


def _indented(text: str, width: int, mark: str) -> list[str]:
    from toolbridge.cli.paragraph import folded, one_line

    first, *more = folded(one_line(text), width - 4) or [""]
    return [f"  {mark} {first}", *(f"    {each}" for each in more)]


def _checkup_lines(checkup: Checkup, label: int, width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.failures import detail_lines
    from toolbridge.cli.paragraph import folded, one_line
    from toolbridge.cli.terminal import cells

    name = one_line(checkup.spec.name)
    space = " " * max(label - cells(name), 0)
    if checkup.spec.disabled:
        return [f"{paint('–', 'dim')} {paint(name, 'bold')}{space}  {paint('disabled', 'dim')}"]
    failure = checkup.failure
    if failure is not None:
        first, *more = folded(one_line(failure.message), width - label - 4) or [""]
        lines = [f"{paint('✗', 'red')} {paint(name, 'bold')}{space}  {first}"]
        lines += [" " * (label + 4) + each for each in more]
        return [*lines, *_program(checkup, paint), *detail_lines(failure, width, paint)]
    mark = paint("!", "yellow") if checkup.warnings else paint("✓", "green")
    lines = [f"{mark} {paint(name, 'bold')}{space}  {_state(checkup, paint)}", *_program(checkup, paint)]
    for each in checkup.warnings:
        lines += _indented(each, width, paint("!", "yellow"))
    return lines


def _state(checkup: Checkup, paint: Paint) -> str:
    from toolbridge.cli.paragraph import one_line
    from toolbridge.cli.words import counted

    status = checkup.status
    assert status is not None
    parts = [counted(status.tools, "tool"), f"{checkup.seconds:.1f} s"]
    about = " ".join(one_line(each) for each in (status.server_name, status.server_version) if each)
    if about:
        parts.append(about)
    if status.protocol:
        parts.append(f"MCP {one_line(status.protocol)}")
    return parts[0] + paint("".join(f"  {each}" for each in parts[1:]), "dim")


def _program(checkup: Checkup, paint: Paint) -> list[str]:
    from toolbridge.cli.paragraph import one_line
    from toolbridge.servers.secrets import redact

    if checkup.program is None or checkup.program == checkup.spec.command:
        return []
    text = redact(f"{checkup.spec.command} is {checkup.program}", checkup.spec.secrets)
    return [paint(f"    {one_line(text)}", "dim")]


def _sum(files: Files, checked: Sequence[Checkup], paint: Paint) -> str:
    from toolbridge.cli.words import counted

    mistakes = sum(len(each.problems) for each in files.values())
    able = [each for each in checked if not each.spec.disabled]
    failed = sum(each.failure is not None for each in able)
    odd = sum(each.failure is None and bool(each.warnings) for each in able)
    parts = [counted(mistakes, "mistake") + " in the configuration"] if mistakes else []
    if failed:
        parts.append(
            f"{failed} of {counted(len(able), 'server')} " + ("does not work" if failed == 1 else "do not work")
        )
    if odd:
        parts.append(f"{counted(odd, 'server')} with warnings")
    if parts:
        return paint(", ".join(parts), "red" if mistakes or failed else "yellow")
    if not able:
        return paint("no server to check", "yellow")
    return paint(f"all is well: {counted(len(able), 'server')}, {_tools(able)}", "green")


def _tools(able: Sequence[Checkup]) -> str:
    from toolbridge.cli.words import counted

    return counted(sum(each.status.tools for each in able if each.status is not None), "tool")


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def _document(files: Files, checked: Sequence[Checkup]) -> dict[str, Any]:
    from toolbridge.cli.failures import failure_fields
    from toolbridge.servers.secrets import redact

    problems = any(each.problems for each in files.values())
    servers: dict[str, Any] = {}
    for each in checked:
        status = each.status
        servers[each.spec.name] = {
            "ok": None if each.spec.disabled else each.failure is None,
            "state": "disabled" if each.spec.disabled else "failed" if each.failure else "connected",
            "program": each.program and redact(each.program, each.spec.secrets),
            "seconds": round(each.seconds, 3),
            "name": status and status.server_name,
            "version": status and status.server_version,
            "protocol": status and status.protocol,
            "tools": status.tools if status else 0,
            "warnings": list(each.warnings),
            "failure": failure_fields(each.failure),
        }
    return {
        "ok": not problems and bool(checked) and all(each.failure is None for each in checked),
        "files": [
            {"path": str(path), "problems": list(each.problems), "notes": list(each.notes)}
            for path, each in files.items()
        ],
        "servers": servers,
    }
