"""Misuse and bad surroundings: one line on stderr, nothing on stdout, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import EXAMPLE, LIMIT_SECONDS, command_line, surroundings, toolbridge
from toolbridge.cli.group import COMMANDS

HINT = "expected a tools/list answer or a list of tools, as JSON"

FILES = {
    "broken.json": '{"tools": [',
    "text.json": "hello",
    "empty.json": "",
    "numbers.json": "[1, 2]",
    "object.json": '{"mcpServers": {}}',
    "string.json": '"tools"',
    "error.json": '{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such\\nmethod"}}',
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "latin.json").write_bytes('[{"name": "grüß"}]'.encode("latin-1"))
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "tools.json").write_bytes(EXAMPLE.read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("convert tool.json --to gemini", "tool.json: no such file; did you mean tools.json?"),
        ("convert zzz --to gemini", "zzz: no such file; give a JSON file of tools, or - for standard input"),
        ("convert no/where.json --to gemini", "no/where.json: no such file; give a JSON file of tools, or - for standard input"),
        ("convert folder --to gemini", "folder: a directory; give a JSON file of tools, or - for standard input"),
        ("matrix folder --json", "folder: a directory; give a JSON file of tools, or - for standard input"),
        ("convert tools.json --to openai-chatt", "unknown provider 'openai-chatt'; did you mean 'openai-chat'?"),
        ("convert missing.json --to antropic", "unknown provider 'antropic'; did you mean 'anthropic'?"),
        ("matrix tools.json --providers gemini,olama", "unknown provider 'olama'; did you mean 'ollama'?"),
        ("matrix tools.json --providers ,", "--providers names no provider; give names with commas between them, or 'all'"),
        ("providers bedrok --json", "unknown provider 'bedrok'; did you mean 'bedrock'?"),
        ("convrt tools.json", "unknown command 'convrt'; did you mean 'convert'?"),
        ("tools.json", "unknown command 'tools.json'; did you mean 'tools'?"),
        ("zzz", f"unknown command 'zzz'; the commands are {', '.join(COMMANDS)}"),
        ("--verson", "unknown option --verson; did you mean --version?"),
        ("convert tools.json --too gemini", "convert: unknown option --too; did you mean --to?"),
        ("convert tools.json --to gemini --no-strct", "convert: unknown option --no-strct; did you mean --no-strict?"),
        ("matrix tools.json -q", "matrix: unknown option -q; the options are --providers, --strict, --no-strict, --all, --json, --help"),
        ("convert", "convert: FILE is missing: give a JSON file of tools, or - for standard input; see toolbridge convert --help"),
        ("matrix", "matrix: FILE is missing: give a JSON file of tools, or - for standard input; see toolbridge matrix --help"),
        ("convert tools.json", "convert: --to is missing: name a provider, such as --to openai-chat ('toolbridge providers' lists them); see toolbridge convert --help"),
        ("convert a b --to gemini", "convert: got unexpected extra argument (b); see toolbridge convert --help"),
        ("convert tools.json --to gemini --description-limit many", "convert: invalid value for '--description-limit': 'many' is not a valid integer range; see toolbridge convert --help"),
        ("convert tools.json --to gemini --description-limit 0", "convert: invalid value for '--description-limit': 0 is not in the range x>=1; see toolbridge convert --help"),
    ],
)  # fmt: skip
def test_misuse_is_one_line_that_says_what_would_be_right(directory: Path, arguments: str, line: str) -> None:
    answer = toolbridge(*arguments.split(), cwd=directory)
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")


NO_TOOLS = {
    "broken.json": "not JSON: expecting value at line 1, column 12",
    "text.json": "not JSON: expecting value at line 1, column 1",
    "empty.json": "not JSON: expecting value at line 1, column 1",
    "latin.json": "not UTF-8 text",
    "deep.json": "nested too deeply",
    "numbers.json": "not a list of tools: its first item is a number",
    "object.json": 'no "tools" in it',
    "string.json": "a string",
    "error.json": "the server answered with an error: no such\\nmethod",
}
"""What each file is told to be; the words that follow are the library's."""


@pytest.mark.parametrize("name", NO_TOOLS)
@pytest.mark.parametrize("arguments", [("convert", "--to", "gemini"), ("matrix", "--json")])
def test_a_file_without_tools_is_one_line_that_says_what_it_is_and_what_was_expected(
    directory: Path, name: str, arguments: tuple[str, ...]
) -> None:
    answer = toolbridge(*arguments, name, cwd=directory)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith(f"toolbridge: {name}: {NO_TOOLS[name]}")
    assert "; expected a tools/list answer or a list" in answer.err


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "standard input: empty; expected a tools/list answer or a list of tools"),
        (b"hello", f"standard input: not JSON: expecting value at line 1, column 1; {HINT}"),
        (b"tools.json", f"standard input: not JSON: expecting value at line 1, column 1; {HINT}"),
        (b"\xff\xfe", f"standard input: not UTF-8 text; {HINT}"),
    ],
)
def test_bad_standard_input_is_named_as_such_and_never_taken_for_a_path(
    directory: Path, data: bytes, line: str
) -> None:
    answer = toolbridge("convert", "-", "--to", "gemini", stdin=data, cwd=directory)
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")


def test_standard_input_without_tools_is_told_apart_from_a_file(directory: Path) -> None:
    answer = toolbridge("convert", "-", "--to", "gemini", stdin=b"[3]", cwd=directory)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith("toolbridge: standard input: not a list of tools: its first item is a number")


def test_a_name_that_holds_a_newline_is_still_one_line(tmp_path: Path) -> None:
    answer = toolbridge("convert", "a\nb\x1b[31m", "--to", "gemini", cwd=tmp_path)
    wanted = "toolbridge: a\\nb\\x1b[31m: no such file; give a JSON file of tools, or - for standard input\n"
    assert (answer.code, answer.out, answer.err) == (2, "", wanted)


@pytest.mark.skipif(os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="everything may be read")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    file = tmp_path / "closed.json"
    file.write_text("[]", encoding="utf-8")
    file.chmod(0)
    answer = toolbridge("convert", "closed.json", "--to", "gemini", cwd=tmp_path)
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: closed.json: permission denied; {HINT}\n")


@pytest.mark.parametrize(
    "arguments", [("convert", "-", "--to", "gemini"), ("matrix", "-"), ("providers",), ("--help",)]
)
def test_a_reader_that_went_away_is_met_with_silence(arguments: tuple[str, ...]) -> None:
    source, sink = os.pipe()
    os.close(source)  # nobody will ever read, and the command finds out when it writes
    try:
        done = subprocess.run(
            command_line(*arguments),
            input=EXAMPLE.read_bytes(),
            stdout=sink,
            stderr=subprocess.PIPE,
            env=surroundings(),
            timeout=LIMIT_SECONDS,
            check=False,
        )
    finally:
        os.close(sink)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_reader_that_stops_after_one_line_is_met_with_silence(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    tools = ",".join(f'{{"name": "tool_{i}", "inputSchema": {{"type": "object"}}}}' for i in range(3000))
    file.write_text(f"[{tools}]", encoding="utf-8")
    arguments = command_line("convert", str(file), "--to", "anthropic")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert (first, process.wait(LIMIT_SECONDS), said) == (b"[\n", 141, b"")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_an_interrupt_ends_the_command_quietly(tmp_path: Path) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        pytest.skip("whoever runs the tests has interrupts ignored, and so does what they start")
    pipe = tmp_path / "tools.json"
    os.mkfifo(pipe)
    arguments = command_line("convert", str(pipe), "--to", "gemini")
    with (
        subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()) as process,
        pipe.open("wb"),  # returns when the command has opened its end, and is waiting for the first byte
    ):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command_line("convert", str(EXAMPLE), "--to", "anthropic", "--json"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=surroundings(),
            timeout=LIMIT_SECONDS,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == b"toolbridge: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell")
def test_closed_streams_are_no_reason_to_fail() -> None:
    program = f'"{sys.executable}" -m toolbridge'
    for redirected, code in (("convert - --to gemini <&-", 2), (f"convert '{EXAMPLE}' --to gemini >&- 2>&-", 0)):
        done = subprocess.run(
            f"{program} {redirected}",
            shell=True,
            capture_output=True,
            env=surroundings(),
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("package", ["mcp", "httpx2"])
def test_an_installation_that_lacks_a_package_is_one_line(directory: Path, package: str) -> None:
    (directory / "mcp.json").write_text('{"mcpServers": {"a": {"command": "nothing"}}}', encoding="utf-8")
    program = f"import sys; sys.modules[{package!r}] = None; from toolbridge.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "tools", "--config", "mcp.json"],
        capture_output=True,
        cwd=directory,
        env=surroundings(TOOLBRIDGE_CACHE_DIR=str(directory)),
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"toolbridge: the package {package} is not installed; reinstall toolbridge\n"
