"""The page for newcomers, followed to the letter: its files in an empty folder, its commands there, its program.

What needs a model asks one on loopback; what installs is for `.ci/run`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import command_line, surroundings
from tests.cli.scripted_model import KEYS
from tests.docs.pages import ROOT, elsewhere, files, programs
from tests.docs.test_pages import LIMIT_SECONDS, commands, matches
from tests.run.conftest import calls, says
from tests.support.wire_servers import WireServer

PAGE = ROOT / "docs" / "getting-started.md"
TURNS = (calls(("mcp__shop__count_stock", {"item": "lamp"})), says("There are 12 lamps in stock."))


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        server.says_in_turn(*TURNS, *TURNS)
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for title, text in files(PAGE).items():
        (tmp_path / title).write_text(text, encoding="utf-8")
    return tmp_path


def followed(folder: Path, wire: WireServer, *words: str) -> str:
    """What a command prints, on both streams, in a shell where the environment is activated and a key is set."""
    activated = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    changes = KEYS | {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": wire.url, "TOOLBRIDGE_MODEL": "", "PATH": activated}
    places = {"TOOLBRIDGE_CACHE_DIR": str(folder / "cache"), "TOOLBRIDGE_DATA_DIR": str(folder / "data")}
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=surroundings(COLUMNS="100", **changes, **places),
        timeout=LIMIT_SECONDS,
        check=False,
    ).stdout.decode("utf-8")


def test_a_newcomer_gets_to_an_answer_with_their_own_server_and_key(folder: Path, wire: WireServer) -> None:
    run = 0
    for block in elsewhere(PAGE):
        for command, shown in commands(block):
            program, *arguments = shlex.split(command)
            assert program == "toolbridge"
            printed = followed(folder, wire, *command_line(*arguments))
            assert matches(shown, printed.splitlines()), f"{command} printed\n{printed}"
            run += 1
    assert run == 4
    ((program, expected),) = programs(PAGE)
    assert program.title is not None
    assert followed(folder, wire, sys.executable, program.title) == expected
    assert len(wire.requests) == 4
