"""The shape of a release, as far as it shows without building one: `.ci/package` builds, installs and uses it."""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import toolbridge
from toolbridge.extras import EXTRAS

ROOT = Path(__file__).parents[1]

Instruction = tuple[str, str]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def stages() -> list[list[Instruction]]:
    """The stages of the Dockerfile, each a list of instructions."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [each for each in re.sub(r"\\\n\s*", " ", text).splitlines() if each.strip()]
    found: list[list[Instruction]] = []
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest.strip()))
    return found


def said(stage: list[Instruction], word: str) -> list[str]:
    return [rest for each, rest in stage if each == word]


def test_the_image_is_built_in_one_stage_and_run_from_another_by_nobody_in_particular(
    stages: list[list[Instruction]],
) -> None:
    build, final = stages
    assert said(build, "FROM") == ["python:3.13-slim AS build"]
    assert said(final, "FROM") == ["python:3.13-slim"]
    assert said(final, "USER") == ["10001:10001"]
    assert said(final, "ENTRYPOINT") == ['["toolbridge"]']
    assert said(final, "COPY") == ["--from=build /opt/toolbridge /opt/toolbridge"]
    words = [word for word, _ in final]
    assert words.index("USER") > max(at for at, word in enumerate(words) if word == "RUN")
    known = {"FROM", "ARG", "WORKDIR", "COPY", "RUN", "LABEL", "ENV", "USER", "ENTRYPOINT", "CMD"}
    assert {word for stage in stages for word, _ in stage} <= known


def test_the_commands_of_the_image_are_ones_that_a_shell_can_read(stages: list[list[Instruction]]) -> None:
    for command in (each for stage in stages for each in said(stage, "RUN")):
        subprocess.run(["sh", "-n", "-c", command], check=True, timeout=30)


def test_the_builder_gets_what_the_package_is_made_of_and_nothing_else(
    stages: list[list[Instruction]], project: dict[str, Any]
) -> None:
    copied = {name for each in said(stages[0], "COPY") for name in shlex.split(each)[:-1]}
    needed = {"pyproject.toml", "src", project["project"]["readme"], *project["project"]["license-files"]}
    assert copied == needed
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [each for each in lines if each and not each.startswith("#")]
    assert rules[0] == "*"
    assert {each[1:] for each in rules if each.startswith("!")} == copied
    assert any(fnmatch.fnmatch("src/toolbridge/__pycache__", each) for each in rules[1:])


def test_the_image_has_a_python_that_the_package_is_for(
    stages: list[list[Instruction]], project: dict[str, Any]
) -> None:
    version = re.search(r"python:(3\.\d+)-", said(stages[0], "FROM")[0])
    assert version is not None
    assert f"Programming Language :: Python :: {version[1]}" in project["project"]["classifiers"]


def test_the_package_says_who_it_is(project: dict[str, Any]) -> None:
    about = project["project"]
    assert (about["name"], about["license"], about["requires-python"]) == ("toolbridge", "MIT", ">=3.11")
    assert about["scripts"] == {"toolbridge": "toolbridge.cli:main"}
    assert (Path(toolbridge.__file__).parent / "py.typed").exists()
    assert re.fullmatch(r"\d+\.\d+\.\d+", toolbridge.__version__)
    assert [each for each in about["dependencies"] if "<" not in each] == []


def test_what_the_sdist_is_to_hold_is_there(project: dict[str, Any]) -> None:
    names = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert [each for each in names if not (ROOT / each).exists()] == []


def test_the_check_of_the_package_is_part_of_what_must_hold_and_can_be_read() -> None:
    assert '"$python" .ci/package' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    script = ROOT / ".ci" / "package"
    compile(script.read_text(encoding="utf-8"), str(script), "exec")
    assert os.access(script, os.X_OK)


def test_what_a_message_says_to_install_is_what_the_extra_installs(project: dict[str, Any]) -> None:
    assert {name: [each] for name, each in EXTRAS.items()} == project["project"]["optional-dependencies"]


def test_no_message_and_no_page_installs_an_extra_of_a_package_index() -> None:
    places = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.py"), *ROOT.glob("examples/*")]
    told = [each for each in places if each.is_file() and "install 'toolbridge[" in each.read_text(encoding="utf-8")]
    assert [str(each.relative_to(ROOT)) for each in told] == []
