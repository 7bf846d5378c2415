"""Which servers: the options `--config` and `--from` that every live command has, and the specifications they lead to.

Imports no SDK: a listing that is on disk is read and printed without one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from toolbridge.errors import ToolbridgeError, UnknownServerError, nearest

if TYPE_CHECKING:
    from toolbridge.servers.spec import ServerSpec
    from toolbridge.servers.variables import InputQuestion

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_NAMED = 12
"""Servers that are named where none is near the one that was asked for."""


def server_options(function: Function) -> Function:
    """`--config` and `--from`."""
    for option in (
        click.option(
            "--from",
            "client",
            metavar="CLIENT",
            help="Use the servers of claude, claude-code, cursor, vscode, windsurf, codex, gemini, …",
        ),
        click.option(
            "--config",
            metavar="FILE",
            help="The servers: an mcp.json, or Codex's config.toml. By default the mcp.json that is here.",
        ),
    ):
        function = option(function)
    return function


def config_files(config: str | None, client: str | None) -> list[Path]:
    """The files that the options lead to; a client may have one for the project and one for the user."""
    from toolbridge.servers.found import default_config, find_config

    if config is not None and client is not None:
        raise click.UsageError("--config and --from both name servers; give one of them")
    if client is not None:
        return find_config(client)
    return [default_config() if config is None else Path(config)]


def read_servers(config: str | None, client: str | None) -> list[ServerSpec]:
    """The servers that the options lead to, all of them. Of two with one name, the nearer file's is meant."""
    from toolbridge.servers.config import read_servers as read_file

    files = config_files(config, client)
    found: dict[str, ServerSpec] = {}
    for file in files:
        for spec in read_file(file, inputs=ask_input if is_attended() else None):
            found.setdefault(spec.name, spec)
    if not found:
        raise ToolbridgeError(f'{files[0]}: lists no servers; add one under "mcpServers"')
    return list(found.values())


def is_attended() -> bool:
    """Whether a person can be asked: both where the question goes and where the answer comes from are a terminal."""
    return all(each is not None and each.isatty() for each in (sys.stdin, sys.stderr))


def chosen(specs: Sequence[ServerSpec], names: Sequence[str]) -> list[ServerSpec]:
    """Those of the servers that are named, in their own order; all where none is."""
    known = [each.name for each in specs]
    for name in names:
        if name not in known:
            raise UnknownServerError(_unknown(name, known))
    from toolbridge.servers.config import refuse_mistaken

    wanted = [each for each in specs if not names or each.name in names]
    refuse_mistaken(wanted)
    return wanted


def the_server(specs: Sequence[ServerSpec], name: str) -> ServerSpec:
    """The one server of that name, which must not be disabled."""
    spec = chosen(specs, [name])[0]
    if spec.disabled:
        raise ToolbridgeError(f"server {name!r} is disabled in {spec.source}; take it out of there to use it")
    return spec


def _unknown(name: str, known: list[str]) -> str:
    meant = nearest(name, known)
    if meant:
        return f"unknown server {name!r}; did you mean {meant!r}?"
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"unknown server {name!r}; the servers are {', '.join(known[:MOST_NAMED])}{more}"


def ask_input(question: InputQuestion) -> str:
    """What a VS Code configuration asks for, at the terminal; a secret is not echoed."""
    from toolbridge.cli.paragraph import one_line

    label = one_line(question.description or question.id)
    options = [*question.options] if question.options else []
    for i, each in enumerate(options, 1):
        print(f"  {i}  {one_line(each)}", file=sys.stderr)
    shown_default = f" [{one_line(question.default)}]" if question.default and not question.password else ""
    prompt = f"{label}{shown_default}: "
    while True:
        answer = _secret(prompt) if question.password else _line(prompt)
        if not answer:
            print(file=sys.stderr)
            raise LookupError(question.id)  # the configuration says what is missing, and where
        answer = answer.strip() or question.default or ""
        if options and answer.isdecimal() and 0 < int(answer) <= len(options):
            answer = options[int(answer) - 1]
        if not options or answer in options:
            return answer


def _line(prompt: str) -> str:
    """A line with its end; nothing at the end of the input."""
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline()


def _secret(prompt: str) -> str:
    from getpass import getpass

    try:
        return getpass(prompt, sys.stderr) + "\n"
    except EOFError:
        return ""
