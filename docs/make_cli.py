"""Writes docs/cli.md, the page of the command line, from what the commands say of themselves with `--help`.

    python docs/make_cli.py

A test compares what is committed with what this makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from toolbridge.cli.group import group

PAGE = Path(__file__).resolve().parent / "cli.md"

WIDTH = 98
"""Columns of the help: what is used of a terminal with 100."""

HEAD = """# The command line

*This page is written by `docs/make_cli.py` from what every command says with `--help`.*

| command | |
|---|---|
{rows}

What is asked for goes to stdout, everything about it to stderr. Exit codes are the same everywhere:
[The command line](errors.md#the-command-line) has them.
"""


def page() -> str:
    """The whole page."""
    found = list(_commands(group, "toolbridge"))
    rows = [
        f"| [`{path}`](#{path.replace(' ', '-')}) | {each.get_short_help_str(WIDTH)} |" for path, each, _ in found[1:]
    ]
    parts = [HEAD.format(rows="\n".join(rows))]
    parts += [f"## {path}\n\n```text\n{text.rstrip()}\n```\n" for path, _, text in found]
    return "\n".join(parts)


def _commands(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Command, str]]:
    """A command and those below it: the words that call it, the command, and its help."""
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield context.command_path, command, command.get_help(context)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            if found is not None and not found.hidden:
                yield from _commands(found, each, context)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
