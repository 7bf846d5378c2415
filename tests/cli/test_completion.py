"""Completion, in the shells themselves where they are installed, and what is offered at every place of a line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.types import StringParamType

from tests.cli.process import LIMIT_SECONDS, surroundings, toolbridge
from tests.cli.workplace import Terminal, Workplace
from toolbridge.cli.candidates import FILES, SOURCES
from toolbridge.cli.completion import SCRIPTS, complete, split
from toolbridge.cli.group import COMMANDS, group

TOOLS = [
    {
        "name": "water",
        "description": "Water a bed.\nSlowly.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "bed": {"type": "string", "enum": ["A1", "A2"], "description": "The bed."},
                "litres": {"type": "integer"},
                "slowly": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            },
            "required": ["bed"],
        },
    },
    {"name": "weigh", "description": "Weigh.", "inputSchema": {"type": "object"}},
    {"name": "hidden", "description": "Kept out.", "inputSchema": {"type": "object"}},
]

Ask = Callable[..., list[str]]
STARTS = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], 'eval "$(toolbridge completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'bindkey -e; eval "$(toolbridge completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "toolbridge completion fish | source"),
}


@pytest.fixture
def place(work: Workplace) -> Workplace:
    """Two servers, of which nobody may start one: the ledger would say so."""
    note = work.script("note('started')")
    work.configure(garden={**note, "exclude": ["hidden"]}, **{"my $(shed)": work.script("note('shed')")})
    work.known("garden", TOOLS)
    shim = work.directory / "bin" / "toolbridge"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toolbridge "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    work.environment |= {"PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    return work


@pytest.mark.parametrize("shell", STARTS)
def test_a_shell_completes_server_tool_arguments_values_and_options_as_they_are_typed(
    place: Workplace, shell: str
) -> None:
    program, start = STARTS[shell]
    if shutil.which(program[0]) is None:
        pytest.skip(f"{shell} is not installed")
    terminal = Terminal(place, program=program, columns=200)
    terminal.type(f"{start}; echo rea''dy\n")
    terminal.wait_for("ready")
    terminal.type("toolbridge ca\tgar\twat\tbe\tA1 li\t5 --jso\t\x01echo do''ne: \n")
    terminal.wait_for("done: ")
    terminal.type("exit\n")
    terminal.end()
    said = [line for line in terminal.seen.replace("\r", "\n").splitlines() if "done: " in line]
    assert [each.rstrip() for each in said if "''" not in each] == [
        "done: toolbridge call garden water bed=A1 litres=5 --json"
    ]
    assert place.noted() == []


def test_bash_inserts_a_name_so_that_it_is_that_name_and_nothing_else(place: Workplace) -> None:
    terminal = Terminal(place, program=STARTS["bash"][0], columns=200)
    terminal.type(f"{STARTS['bash'][1]}; echo rea''dy\n")
    terminal.wait_for("ready")
    terminal.type("toolbridge tools my\t\x01echo do''ne: \n")
    terminal.wait_for("done: toolbridge tools my $(shed)")
    terminal.type("toolbridge convert x --to=anth\t\x01echo do''ne: \n")
    terminal.wait_for("done: toolbridge convert x --to=anthropic")
    terminal.type("toolbridge lint mcp.j\t\x01echo do''ne: \n")
    terminal.wait_for("done: toolbridge lint mcp.json")
    terminal.type("exit\n")
    terminal.end()


EVIL = [
    "x$(touch PWNED)y",
    "q'; touch PWNED; echo 'x",
    'd"; touch PWNED; echo "x',
    "b`touch PWNED`b",
    "s\\$(touch PWNED)\\s",
]
"""Names that are shell code wherever a shell takes them for anything but a name."""  # fmt: skip


@pytest.mark.parametrize("quote", ["", '"', "'"])
@pytest.mark.parametrize("shell", STARTS)
def test_a_name_is_inserted_as_that_name_whatever_quote_is_open(place: Workplace, shell: str, quote: str) -> None:
    program, start = STARTS[shell]
    if shutil.which(program[0]) is None:
        pytest.skip(f"{shell} is not installed")
    values = {"type": "object", "properties": {"bed": {"type": "string", "enum": EVIL}}}
    place.configure(garden=place.script("note('started')"), **{each: {"command": "x"} for each in EVIL})
    place.known("garden", [{"name": "water", "inputSchema": values}, *({"name": each} for each in EVIL)])
    terminal = Terminal(place, program=program, columns=400)
    terminal.type(f"{start}; echo rea''dy\n")
    terminal.wait_for("ready")
    places = {
        "": "<toolbridge><call><{}>",
        "garden ": "<toolbridge><call><garden><{}>",
        "garden water bed=": "<toolbridge><call><garden><water><bed={}>",
    }
    for before, shown in places.items():
        for each in EVIL if not before and shell == "bash" else EVIL[:2] if shell == "bash" else EVIL[:1]:
            terminal.type(f"toolbridge call {before}{quote}{each[0]}\t\x01printf '<%s>' \n")
            terminal.wait_for(shown.format(each))
    terminal.type("\nexit\n")
    terminal.end()
    assert not (place.directory / "PWNED").exists()
    assert place.noted() == []


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_is_one_that_its_shell_can_read(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n"], input=SCRIPTS[shell].encode(), capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture
def offered(place: Workplace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What is offered at the end of a line: kinds and words."""
    for key, value in place.environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(place.directory)

    def ask(line: str, shell: str = "zsh", breaks: str = "") -> list[str]:
        monkeypatch.setenv("_TOOLBRIDGE_COMPLETE", f"{shell}_complete")
        monkeypatch.setenv("_TOOLBRIDGE_LINE", line)
        monkeypatch.setenv("_TOOLBRIDGE_BREAKS", breaks)
        complete(group, f"{shell}_complete")
        rows = [row.split("\t") for row in capsys.readouterr().out.splitlines()]
        return [word if kind == "plain" else f"<{kind}>" for kind, word, _ in rows]

    return ask


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("toolbridge l", ["lint", "lock"]),
        ("toolbridge convert tools.json --to open", ["openai-chat", "openai-responses", "openrouter"]),
        ("toolbridge convert tools.json --to=anth", ["--to=anthropic"]),
        ("toolbridge matrix tools.json --providers gemini,bed", ["gemini,bedrock"]),
        ("toolbridge matrix tools.json --providers al", ["all"]),
        ("toolbridge matrix tools.json --providers bedrock,bedr", []),
        ("toolbridge tools --from curs", ["cursor"]),
        ("toolbridge lint --select name,cost.li", ["name,cost.list"]),
        ("toolbridge lint --rules cost.li", ["cost.list"]),
        ("toolbridge lint --format sar", ["sarif"]),
        ("toolbridge lint mcp.json --server g", ["garden"]),
        ("toolbridge lint ", ["<file>"]),
        ("toolbridge convert ", ["<file>"]),
        ("toolbridge call --output ", ["<dir>"]),
        ("toolbridge tools garden ", ["my $(shed)"]),
        ("toolbridge call ", ["garden", "my $(shed)"]),
        ("toolbridge call garden ", ["water", "weigh"]),
        ("toolbridge call 'my $(shed)' ", []),
        ("toolbridge call garden water ", ["bed=", "litres=", "slowly="]),
        ("toolbridge call garden water bed=A1 ", ["litres=", "slowly="]),
        ("toolbridge call garden water bed=", ["bed=A1", "bed=A2"]),
        ("toolbridge call garden water slowly=t", ["slowly=true"]),
        ("toolbridge chat --approve re", ["read-only"]),
        ("toolbridge chat --model local/s", ["local/smollm2"]),
        ("toolbridge models pull q", ["qwen2.5-coder-1.5b"]),
        ("toolbridge completion f", ["fish"]),
        ("toolbridge nonsense ", []),
        ("toolbridge tools --config missing.json ", []),
    ],
)
def test_what_is_offered_fits_the_place(offered: Ask, line: str, words: list[str]) -> None:
    assert offered(line) == words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("toolbridge tools my", ["my\\ \\$\\(shed\\)"]),
        ("toolbridge tools 'my", ["my $(shed)"]),
        ('toolbridge tools "my', ["my \\$(shed)"]),
        ("toolbridge tools m'y", ["y $(shed)"]),
        ("toolbridge tools $'my", []),
        ("toolbridge convert x --to=anth", ["anthropic"]),
        ("toolbridge convert x --to='anth", ["anthropic"]),
        ("toolbridge convert x '--to=anth", ["--to=anthropic"]),
        ("toolbridge call garden water bed=A", ["A1", "A2"]),
    ],
)
def test_bash_gets_words_as_it_breaks_and_quotes_them(offered: Ask, line: str, words: list[str]) -> None:
    assert offered(line, "bash", " \t\n\"'@><=;|&(:") == words


@pytest.mark.parametrize(
    ("name", "quote", "words"),
    [
        ("b!!", "", ["b\\!\\!"]),
        ("b!!", "'", ["b!!"]),
        ("b!!", '"', []),  # a backslash would keep it from the history, and stay in the name
        ("b'", "'", []),  # bash takes the last character for the end of the quote, and adds none
        ('b"', '"', []),
        ("b'c", '"', ["b'c"]),
        ("b'c", "'", ["b'\\''c"]),
        ("$b\\'; touch PWNED; '", "$'", []),
    ],
)
def test_bash_is_offered_nothing_that_cannot_be_written_inside_the_open_quote(
    place: Workplace, offered: Ask, name: str, quote: str, words: list[str]
) -> None:
    place.configure(**{name: {"command": "x"}})
    assert offered(f"toolbridge doctor {quote}b", "bash") == words


def test_a_name_that_would_steer_the_terminal_is_not_offered(place: Workplace, offered: Ask) -> None:
    place.configure(**{"good": {"command": "x"}, "bad\nplain\tevil": {"command": "x"}, "\x1b[2J": {"command": "x"}})
    assert offered("toolbridge doctor ") == ["good"]


@pytest.mark.parametrize(
    ("line", "words", "typed", "quote", "outside"),
    [
        ("toolbridge ca", ["toolbridge"], "ca", "", ""),
        ("toolbridge call ", ["toolbridge", "call"], "", "", ""),
        ("toolbridge call 'a b' \"c d", ["toolbridge", "call", "a b"], "c d", '"', ""),
        ("toolbridge a\\ b ''", ["toolbridge", "a b"], "", "", ""),
        ("toolbridge 'a\\", ["toolbridge"], "a\\", "'", ""),
        ("toolbridge a\\", ["toolbridge"], "a", "", ""),
        ("toolbridge a'b'\"c", ["toolbridge"], "abc", '"', "ab"),
    ],
)
def test_a_line_that_is_being_typed_is_split_as_a_shell_does(
    line: str, words: list[str], typed: str, quote: str, outside: str
) -> None:
    assert split(line) == (words, typed, quote, outside)


def test_the_tables_name_parameters_that_there_are() -> None:
    def parameters(command: click.Command, path: str) -> Iterator[tuple[tuple[str, str], object]]:
        yield from (((path, each.name or ""), each.type) for each in command.params)
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield from parameters(inner, f"{path} {name}")

    commands = {name: import_module(f"toolbridge.cli.{name}").command for name in COMMANDS}
    there = dict(each for name, command in commands.items() for each in parameters(command, name))
    assert ({*SOURCES} | FILES) - {*there} == set()
    assert [key for key in (*SOURCES, *FILES) if not isinstance(there[key], StringParamType)] == []
    assert {*SOURCES} & FILES == set()


def test_the_script_is_for_the_shell_that_is_named_or_the_one_that_runs() -> None:
    assert toolbridge("completion", "zsh").out == SCRIPTS["zsh"]
    assert toolbridge("completion", SHELL="/usr/bin/fish").out == SCRIPTS["fish"]
    assert toolbridge(_TOOLBRIDGE_COMPLETE="bash_source").out == SCRIPTS["bash"]
    refused = toolbridge("completion", SHELL="/bin/tcsh")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "toolbridge: completion: 'tcsh' is not known; name one of bash, zsh, fish\n"


def test_a_key_press_loads_no_sdk(place: Workplace) -> None:
    program = (
        "import sys\n"
        "from toolbridge.cli import main\n"
        "try:\n    main([])\n"
        "except SystemExit as leaving:\n    assert not leaving.code\n"
        "print('\\nloaded:', *sys.modules)\n"
    )
    asked = {"_TOOLBRIDGE_COMPLETE": "bash_complete", "_TOOLBRIDGE_LINE": "toolbridge call garden wat"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        cwd=place.directory,
        env=surroundings(**place.environment, **asked),
        timeout=LIMIT_SECONDS,
        check=True,
    )
    assert done.stdout.startswith(b"plain\twater\tWater a bed. Slowly.\n")
    loaded = set(done.stdout.decode().rpartition("loaded: ")[2].split())
    assert loaded & {"mcp", "asyncio", "pydantic", "httpx2", "jsonschema_rs", "toolbridge.cli.chat"} == set()


def test_nothing_of_a_broken_configuration_is_told_while_typing(place: Workplace) -> None:
    Path(place.directory / "mcp.json").write_text("{", encoding="utf-8")
    answer = place(_TOOLBRIDGE_COMPLETE="bash_complete", _TOOLBRIDGE_LINE="toolbridge call ")
    assert (answer.out, answer.err) == ("", "")
