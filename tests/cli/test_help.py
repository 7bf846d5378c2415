"""Help and version, and that an answer feels instant because nothing is loaded that it does not need."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import toolbridge as toolbridge_package
from tests.cli.process import EXAMPLE, LIMIT_SECONDS, surroundings, toolbridge
from tests.support.wire.recording import STREAMS
from toolbridge import __version__
from toolbridge.cli.group import COMMANDS, group


def test_the_version_is_the_name_and_the_number() -> None:
    answer = toolbridge("--version")
    assert (answer.code, answer.out, answer.err) == (0, f"toolbridge {__version__}\n", "")


def test_without_arguments_the_help_is_shown() -> None:
    assert toolbridge() == toolbridge("--help") == toolbridge("-h")
    assert toolbridge().code == 0


PARTS = (("models", "list"), ("models", "pull"), ("models", "remove"))
"""Commands under commands."""


@pytest.mark.parametrize("arguments", [(), *((each,) for each in COMMANDS), *PARTS])
def test_every_help_has_examples_and_exit_codes_and_fits_into_eighty_columns(arguments: tuple[str, ...]) -> None:
    answer = toolbridge(*arguments, "--help", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    assert answer == toolbridge(*arguments, "-h", COLUMNS="80")
    assert answer.out.startswith(f"Usage: {' '.join(['toolbridge', *arguments])} [OPTIONS]")
    assert "\n  Examples:\n    toolbridge " in answer.out
    assert "\n  Exit codes:\n    0  " in answer.out
    assert "\nOptions:\n  " in answer.out
    assert [line for line in answer.out.splitlines() if len(line) > 80] == []


def test_the_help_names_every_variable_of_our_own() -> None:
    source = Path(toolbridge_package.__file__).parent
    read = {
        each
        for path in source.rglob("*.py")
        for each in re.findall(r"(?<!_)TOOLBRIDGE_[A-Z_]+", path.read_text(encoding="utf-8"))
    }
    assert read == set(re.findall(r"TOOLBRIDGE_[A-Z_]+", toolbridge("--help").out))


def test_every_option_says_what_it_does() -> None:
    def silent(command: click.Command, path: str) -> Iterator[str]:
        for each in command.params:
            if isinstance(each, click.Option) and not each.help:
                yield f"{path} {each.opts[0]}"
        if isinstance(command, click.Group):
            for name in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), name)
                assert inner is not None
                yield from silent(inner, f"{path} {name}")

    assert [*silent(group, "toolbridge")] == []


def test_the_help_names_every_command() -> None:
    listed = toolbridge("--help").out.partition("Commands:\n")[2]
    assert [line.split()[0] for line in listed.partition("\n\n")[0].splitlines()] == list(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (
            ["--help"],
            {"toolbridge.prepare", "toolbridge.providers", "toolbridge.schema", "rich", "jsonschema_rs", "mcp"},
        ),
        (
            ["convert", str(EXAMPLE), "--to", "anthropic"],
            {"rich", "jsonschema_rs", "mcp", "asyncio", "toolbridge.cli.matrix"},
        ),
        (
            ["replay", str(STREAMS / "openai-chat" / "two_calls.sse"), "--from", "openai-chat"],
            {"rich", "jsonschema_rs", "mcp", "asyncio", "openai", "pydantic", "toolbridge.prepare"},
        ),
        (["matrix", str(EXAMPLE)], {"rich", "jsonschema_rs", "mcp", "asyncio", "toolbridge.cli.convert"}),
    ],
)
def test_a_command_loads_nothing_that_it_does_not_need(arguments: list[str], unwanted: set[str]) -> None:
    program = (
        "import sys\n"
        "from toolbridge.cli import main\n"
        f"try:\n    main({arguments!r})\n"
        "except SystemExit as leaving:\n"
        "    assert not leaving.code\n"
        "print('\\nloaded:', *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=surroundings(), timeout=LIMIT_SECONDS, check=True
    )
    loaded = set(done.stdout.decode("utf-8").rpartition("loaded: ")[2].split())
    assert "toolbridge.cli" in loaded
    assert loaded & unwanted == set()
