"""The pre-commit hooks and the GitHub Action: what they run, run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CHAOS = str(ROOT / "tests" / "servers" / "chaos" / "stdio_server.py")
VERSIONED = '[{"name": "search_v2"}]'

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


HOOKS = {each["id"]: each for each in read(".pre-commit-hooks.yaml")}
ACTION = read("action.yml")
STEPS = {each["name"]: each for each in ACTION["runs"]["steps"]}
LINT = STEPS["Lint"]


# -- pre-commit --------------------------------------------------------------------------------------------------------


def hooked(id: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A hook as pre-commit runs it: its entry, then arguments and files."""
    program, *words = HOOKS[id]["entry"].split()
    assert program == "toolbridge"
    command = [sys.executable, "-m", "toolbridge", *words, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


def test_the_hooks_are_made_of_what_pre_commit_knows() -> None:
    assert list(HOOKS) == ["toolbridge-lint", "toolbridge-lint-server"]
    known = {
        "id",
        "name",
        "description",
        "entry",
        "language",
        "files",
        "require_serial",
        "pass_filenames",
        "always_run",
    }
    assert all(set(each) <= known and each["language"] == "python" for each in HOOKS.values())


@pytest.mark.parametrize(
    ("path", "is_meant"),
    [
        ("tools.json", True), ("a/b/tools.json", True), ("garden.tools.json", True), ("mcp-tools.json", True),
        ("mytools.json", False), ("tools.json5", False), ("mcp.json", False), ("tools.py", False),
    ],
)  # fmt: skip
def test_a_commit_lints_files_of_tools_and_starts_no_servers(path: str, is_meant: bool) -> None:
    assert bool(re.search(HOOKS["toolbridge-lint"]["files"], path)) is is_meant


def test_the_hook_for_files_takes_several_and_fails_for_findings(tmp_path: Path) -> None:
    (tmp_path / "a.tools.json").write_text(VERSIONED, encoding="utf-8")
    (tmp_path / "b.tools.json").write_text("[]", encoding="utf-8")
    (tmp_path / "toolbridge.toml").write_text("[lint]\nselect = ['name.version']\n", encoding="utf-8")
    done = hooked("toolbridge-lint", "a.tools.json", "b.tools.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "name.version" in done.stdout
    assert hooked("toolbridge-lint", "b.tools.json", cwd=tmp_path).returncode == 0


def test_the_hook_for_servers_takes_the_command_from_its_arguments(tmp_path: Path) -> None:
    done = hooked("toolbridge-lint-server", "--fail-on", "never", "--", sys.executable, "-S", CHAOS, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert HOOKS["toolbridge-lint-server"]["pass_filenames"] is False


# -- the action --------------------------------------------------------------------------------------------------------


def test_no_input_is_a_piece_of_a_script() -> None:
    scripts = [each["run"] for each in STEPS.values() if "run" in each]
    assert len(scripts) == 2
    assert [each for each in scripts if "${{" in each] == []


def test_every_input_is_used_and_described_and_none_is_unknown() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8").partition("\nruns:")[2]
    used = set(re.findall(r"inputs\.([a-z-]+)", text))
    assert used == set(ACTION["inputs"])
    assert all(each["description"] and isinstance(each["default"], str) for each in ACTION["inputs"].values())


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """What is there when the step runs: an environment with toolbridge, and a place to work."""
    place = tmp_path / "temp" / "toolbridge" / "bin"
    place.mkdir(parents=True)
    python = place / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "tools.json").write_text(VERSIONED, encoding="utf-8")
    return tmp_path


def step(runner: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The action's step with these inputs, as a runner runs it, and its outputs."""
    given = {name: each["default"] for name, each in ACTION["inputs"].items()}
    given |= {name.replace("_", "-"): value for name, value in inputs.items()}
    environment = {
        key: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: given[found[1]], value)
        for key, value in LINT["env"].items()
    }
    script = runner / "step.sh"
    script.write_text(LINT["run"], encoding="utf-8")
    outputs = runner / "outputs"
    outputs.write_text("", encoding="utf-8")
    done = subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=runner / "work",
        env={**os.environ, "RUNNER_TEMP": str(runner / "temp"), "GITHUB_OUTPUT": str(outputs), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = outputs.read_text(encoding="utf-8").splitlines()
    return done, dict(each.split("=", 1) for each in lines)


def test_the_action_annotates_a_file_and_fails_for_findings(runner: Path) -> None:
    done, outputs = step(runner, source="tools.json", select="name.version")
    assert (done.returncode, done.stderr, outputs) == (1, "", {"exit-code": "1"})
    assert done.stdout.startswith("::warning ")
    done, outputs = step(runner, source="tools.json", select="name.version", fail_on="error")
    assert (done.returncode, outputs) == (0, {"exit-code": "0"})


def test_the_action_writes_sarif_and_says_where(runner: Path) -> None:
    done, outputs = step(runner, source="tools.json", select="name.version", format="sarif")
    assert done.returncode == 1
    assert outputs == {"exit-code": "1", "report": str(runner / "work" / "toolbridge.sarif")}
    assert json.loads(Path(outputs["report"]).read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_the_action_starts_a_command_with_its_quoted_words(runner: Path) -> None:
    done, outputs = step(
        runner,
        command=f"'{sys.executable}' -S \"{CHAOS}\"",
        format="json",
        output="out file.json",
        fail_on="never",
        tool_budget="900",
        budget="9000",
        providers="anthropic",
        server="beds",
    )
    assert (done.returncode, outputs["report"]) == (0, str(runner / "work" / "out file.json"))
    document = json.loads(Path(outputs["report"]).read_text(encoding="utf-8"))
    assert [each["name"] for each in document["servers"]] == ["beds"]
    assert step(runner, source="tools.json", call="true")[0].stderr == (
        "toolbridge: --call needs a server; tools.json is a list of tools\n"
    )


def test_a_report_of_another_run_is_not_passed_off_as_this_ones(runner: Path) -> None:
    (runner / "work" / "toolbridge.sarif").write_text("old", encoding="utf-8")
    done, outputs = step(runner, source="nowhere.json", format="sarif")
    assert (done.returncode, outputs) == (2, {"exit-code": "2"})


def test_the_action_heeds_no_waivers_if_it_shall_not(runner: Path) -> None:
    waived = {"name": "search_v2", "_meta": {"toolbridge/lint": {"ignore": ["name.version"]}}}
    (runner / "work" / "waived.json").write_text(json.dumps([waived]), encoding="utf-8")
    assert step(runner, source="waived.json", select="name.version")[0].returncode == 0
    assert step(runner, source="waived.json", select="name.version", waivers="false")[0].returncode == 1


@pytest.mark.parametrize("name", ["source", "command", "select", "output", "server", "config", "format"])
def test_what_stands_in_an_input_is_never_run(runner: Path, name: str) -> None:
    evil = "\"; touch pwned; $(touch pwned) `touch pwned` ${IFS}; ' #\n--output=pwned"
    inputs = {"source": "tools.json"} if name not in ("source", "command") else {}
    done, _ = step(runner, **{**inputs, name: evil})
    assert done.returncode in (0, 1, 2)
    assert sorted(each.name for each in (runner / "work").iterdir() if each.name == "pwned") == []


def test_a_source_is_no_option(runner: Path) -> None:
    done, _ = step(runner, source="tools.json\n--output=pwned")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("toolbridge: ./--output=pwned: no such file")
    assert not (runner / "work" / "pwned").exists()


def test_a_command_without_its_closing_quote_is_misuse(runner: Path) -> None:
    done, outputs = step(runner, command="python 'server.py")
    assert (done.returncode, outputs) == (2, {"exit-code": "2"})
    assert "toolbridge: the input command: no closing quotation" in done.stderr
