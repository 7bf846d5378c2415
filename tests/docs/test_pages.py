"""Every program on a page is run, and every command with it; every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import command_line, surroundings
from tests.docs.pages import PAGES, ROOT, Block, blocks, name, prose

LIMIT_SECONDS = 60

ANYTHING = "…"
"""A line of an output that stands for any number of lines."""

pages = pytest.mark.parametrize("page", PAGES, ids=name)


def pages_with(language: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, language)], ids=name)


@pages_with("python")
def test_the_programs_of_a_page_run_one_after_the_other(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks(page, "python"):
        lines = "\n" * (block.line - 1)  # so that a traceback names the line of the page
        exec(compile(lines + block.text, name(page), "exec"), namespace)


@pages_with("console")
def test_the_commands_of_a_page_print_what_it_says(page: Path, tmp_path: Path) -> None:
    for block in blocks(page, "console"):
        for command, shown in commands(block):
            program, *arguments = shlex.split(command)
            assert program == "toolbridge", f"{name(page)}: only toolbridge is run in a console block, not {program}"
            printed = subprocess.run(
                command_line(*arguments),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=surroundings(COLUMNS="100", TOOLBRIDGE_CACHE_DIR=str(tmp_path / "cache")),
                timeout=LIMIT_SECONDS,
                check=False,
            ).stdout.decode("utf-8")
            assert matches(shown, printed.splitlines()), f"{name(page)}: {command} printed\n{printed}"


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a console block, and the lines that the page shows for each."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def matches(shown: list[str], printed: list[str]) -> bool:
    parts = [".*" if line == ANYTHING else re.escape(line) + "\n" for line in shown]
    whole = "".join(f"{line}\n" for line in printed)
    return re.fullmatch("".join(parts), whole, re.DOTALL) is not None


def test_an_ellipsis_stands_for_lines_and_nothing_else_does() -> None:
    assert matches(["a", ANYTHING, "d"], ["a", "b", "c", "d"])
    assert matches(["a", ANYTHING], ["a"])
    assert not matches(["a", "d"], ["a", "b", "d"])
    assert not matches(["a", ANYTHING, "d"], ["a", "b", "c"])
    assert not matches(["a…"], ["abc"])


@pages
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{name(page)} links to {target}, and there is no such file"
        if anchor:
            assert anchor in anchors(file), f"{name(page)} links to {target}, and there is no such heading"


def anchors(page: Path) -> list[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return [
        "".join(each for each in head.lower().replace(" ", "-") if each.isalnum() or each in "-_") for head in heads
    ]


@pages
def test_a_page_names_no_place_outside_the_project(page: Path) -> None:
    assert not re.findall(r"(?<![\w.])(?:/work|/tmp|/root|/home)\b|\.\./shared", page.read_text(encoding="utf-8"))
