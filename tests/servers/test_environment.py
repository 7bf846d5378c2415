"""The environment of a child process, and finding its command: what is passed on, and what is said when it is not there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from toolbridge.failure import Failure
from toolbridge.servers.environment import child_environment, find_command
from toolbridge.servers.spec import ServerSpec

posix = pytest.mark.skipif(os.name == "nt", reason="about permissions and scripts of POSIX")


def program(path: Path, text: str = "", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def find(
    command: str, path: Path | str = "", windows: bool = False, env: dict[str, str] | None = None, **fields: Any
) -> Any:
    return find_command(ServerSpec("x", command=command, **fields), {"PATH": str(path), **(env or {})}, windows=windows)


OURS = {
    "PATH": "/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C",
    "XDG_RUNTIME_DIR": "/run/1",
    "https_proxy": "http://proxy",
    "NO_PROXY": "localhost",
    "NODE_EXTRA_CA_CERTS": "/ca.pem",
    "NVM_DIR": "/nvm",
    "SYSTEMROOT": "C:\\Windows",
    "OPENAI_API_KEY": "hush",
    "VIRTUAL_ENV": "/venv",
    "PYTHONPATH": "/lib",
    "SSH_AUTH_SOCK": "/agent",
    "LC_FUNC": "() { :; }",
}
SAFE = {name: OURS[name] for name in ("PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR", "https_proxy", "NO_PROXY", "NODE_EXTRA_CA_CERTS", "NVM_DIR")}  # fmt: skip


def test_only_what_is_known_to_be_harmless_is_inherited_and_env_goes_over_it() -> None:
    spec = ServerSpec("x", command="y", env={"HOME": "/elsewhere", "KEY": "v"})
    assert child_environment(spec, OURS, windows=False) == {**SAFE, "HOME": "/elsewhere", "KEY": "v"}


def test_all_or_nothing_is_inherited_on_request() -> None:
    everything = {name: value for name, value in OURS.items() if name != "LC_FUNC"}
    assert child_environment(ServerSpec("x", inherit="all"), OURS) == everything
    assert child_environment(ServerSpec("x", inherit="none", env={"A": "1"}), OURS) == {"PATH": os.defpath, "A": "1"}


def test_on_windows_the_systems_variables_are_inherited_and_names_have_no_case() -> None:
    ours = {
        "Path": "C:\\bin",
        "SystemRoot": "C:\\Windows",
        "ProgramFiles(x86)": "C:\\P",
        "HOME": "/h",
        "SECRET_KEY": "x",
    }
    spec = ServerSpec("x", env={"PATH": "D:\\bin"})
    assert child_environment(spec, ours, windows=True) == {
        "SystemRoot": "C:\\Windows",
        "ProgramFiles(x86)": "C:\\P",
        "PATH": "D:\\bin",
    }
    assert child_environment(ServerSpec("x"), ours, windows=True)["Path"] == "C:\\bin"


def test_our_own_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_TOOLBRIDGE", "here")
    assert child_environment(ServerSpec("x"))["LC_TOOLBRIDGE"] == "here"
    assert find_command(ServerSpec("x", command=os.path.basename(sys.executable), inherit="all")) != ""


@posix
def test_a_command_is_found_on_the_childs_path(tmp_path: Path) -> None:
    first = program(tmp_path / "one" / "tool")
    program(tmp_path / "two" / "tool")
    program(tmp_path / "none" / "tool", mode=0o644)
    path = f"{tmp_path}/gone::{tmp_path}/none:{tmp_path}/one:{tmp_path}/two"
    assert find("tool", path) == str(first)


@posix
def test_a_path_is_taken_as_it_is_and_a_relative_one_from_the_working_directory(tmp_path: Path) -> None:
    file = program(tmp_path / "bin" / "tool")
    assert find(str(file)) == str(file)
    assert find("./bin/tool", cwd=str(tmp_path)) == str(file)
    assert find("bin/tool", cwd=str(tmp_path)) == str(file)


def test_windows_puts_extensions_behind_a_command(tmp_path: Path) -> None:
    program(tmp_path / "npx", mode=0o644)
    script = program(tmp_path / "npx.cmd", mode=0o644)
    exe = program(tmp_path / "node.exe", mode=0o644)
    path = f'C:\\gone;"{tmp_path}"'
    assert find("npx", path, True, {"PATHEXT": ".EXE;.CMD"}) == str(script)
    assert find("node", path, True) == str(exe)
    assert find("node.exe", path, True) == str(exe)
    assert find_command(ServerSpec("x", command="npx"), {"Path": path}, windows=True) == str(script)


def told(failure: Any) -> tuple[str, str]:
    assert isinstance(failure, Failure)
    assert failure.server == "x"
    return failure.cause, failure.message


@posix
def test_a_command_that_is_nowhere_says_where_it_was_looked_for_and_what_is_near(tmp_path: Path) -> None:
    program(tmp_path / "uvx-tool")
    path = ":".join([str(tmp_path), *(f"/gone/{each}" for each in range(9))])
    shown = " ".join([str(tmp_path), *(f"/gone/{each}" for each in range(5))])
    assert told(find("uvx-tol", path)) == (
        "not_found", f"there is no command uvx-tol in {shown} and 4 more; did you mean uvx-tool?",
    )  # fmt: skip
    assert told(find("npx", tmp_path)) == (
        "not_found", f"there is no command npx in {tmp_path}; npx comes with Node.js (https://nodejs.org)",
    )  # fmt: skip
    assert told(find("uv run", tmp_path))[1].endswith(
        '"command" is one program: write uv there, and the words after it first in "args"'
    )
    assert told(find("nothing", "")) == ("not_found", "there is no command nothing in an empty PATH")
    home = os.path.expanduser("~")
    assert told(find("zzz", f"{home}/nowhere"))[1] == "there is no command zzz in ~/nowhere"


@posix
def test_a_file_that_is_not_there_or_cannot_run_says_which(tmp_path: Path) -> None:
    file = program(tmp_path / "server.py", mode=0o644)
    program(tmp_path / "real-server")
    assert told(find(str(file))) == ("not_executable", f"{file} is not executable")
    assert told(find("server.py", tmp_path)) == ("not_executable", f"{file} is not executable")
    assert told(find(str(tmp_path))) == ("not_executable", f"{tmp_path} is a directory, not a program")
    assert told(find(f"{tmp_path}/real-sever")) == (
        "not_found", f"{tmp_path}/real-sever does not exist; did you mean {tmp_path}/real-server?",
    )  # fmt: skip
    assert told(find(f"{tmp_path}/qqq")) == ("not_found", f"{tmp_path}/qqq does not exist")
    assert told(find("")) == ("not_found", "it has no command")


@posix
def test_a_script_whose_interpreter_is_missing_says_so(tmp_path: Path) -> None:
    moved = program(tmp_path / "moved", "#!/old/venv/bin/python\n")
    assert told(find("moved", tmp_path)) == (
        "not_found",
        f"{moved} starts with #!/old/venv/bin/python, which does not exist",
    )
    script = program(tmp_path / "script", "#!/usr/bin/env -S node --x\n")
    assert told(find(str(script), tmp_path)) == (
        "not_found",
        f"{script} is run by node, and there is no command node in {tmp_path}; node is Node.js (https://nodejs.org)",
    )
    program(tmp_path / "node")
    assert find(str(script), tmp_path) == str(script)


def test_a_working_directory_that_is_none_is_told(tmp_path: Path) -> None:
    file = program(tmp_path / "file")
    assert told(find("x", cwd=f"{tmp_path}/gone")) == (
        "bad_cwd",
        f"its working directory {tmp_path}/gone does not exist",
    )
    assert told(find("x", cwd=str(file))) == ("bad_cwd", f"its working directory {file} is not a directory")


def test_a_failure_shows_the_command_line_without_its_secrets() -> None:
    failure = find("gone-away", args=("--token", "hush-hush", "hush-hush.txt"), env=None)
    assert failure.command == "gone-away --token *** '***.txt'"
    failure = find_command(ServerSpec("x", command="/no/hush-hush", env={"KEY": "hush-hush"}), {})
    assert "hush-hush" not in repr(failure)
