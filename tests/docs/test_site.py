"""The site holds every page, under a heading, with links that lead somewhere; the reference holds every public name.

`make site` builds it, and its generator checks the same once more, with the anchors.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import toolbridge
from tests.cli.process import toolbridge as run
from tests.docs.pages import PAGES, ROOT, name

AGAIN = "run `python docs/make_cli.py` and look at what changed"


def loaded(script: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of docs/, which may import its neighbours."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    spec = importlib.util.spec_from_file_location(script, ROOT / "docs" / f"{script}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, script, module)  # for its dataclasses
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def make_site(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return loaded("make_site", monkeypatch)


def test_the_page_of_the_command_line_is_what_the_commands_say(monkeypatch: pytest.MonkeyPatch) -> None:
    written = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert written == loaded("make_cli", monkeypatch).page(), AGAIN
    assert run("chat", "--help", COLUMNS="100").out in written


def test_the_reference_holds_every_public_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = loaded("make_reference", monkeypatch).GROUPS
    names = [each for group in groups for each in group.names]
    assert len(names) == len(set(names))
    assert sorted(names) == sorted(set(toolbridge.__all__) - {"__version__"})


@pytest.mark.parametrize(
    "file", sorted((ROOT / "src" / "toolbridge" / "frameworks").glob("*.py")), ids=lambda each: each.stem
)
def test_the_reference_holds_the_public_names_of_every_door_to_a_framework(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = re.search(r"^__all__ = (\[.*?\])", file.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    doors = loaded("make_reference", monkeypatch).DOORS
    assert sorted(doors.get(file.stem, ())) == (sorted(ast.literal_eval(listed[1])) if listed else [])


def test_every_page_has_a_place_under_a_heading(make_site: ModuleType) -> None:
    configured = tomllib.loads(make_site.configuration(make_site.gathered()))["project"]
    placed = [
        page for part in configured["nav"] for entries in part.values() for each in entries for page in each.values()
    ]
    ours = {name(each).removeprefix("docs/") for each in PAGES if each.parent != ROOT}
    assert len(placed) == len(set(placed))
    assert set(placed) >= ours | {"architecture.md", "changelog.md", "contributing.md"}


def test_every_link_of_the_site_leads_to_a_page_of_it(make_site: ModuleType) -> None:
    site = make_site.gathered()
    for place, text in site.pages.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)):
            if not re.match(r"[a-z]+:|#", target):
                led = (
                    (Path("/") / place).parent.joinpath(target.partition("#")[0]).resolve().relative_to("/").as_posix()
                )
                assert led in site.pages or led in site.files, f"{place} links to {target}"


@pytest.fixture
def small(make_site: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A project of its own with a page, an architecture, and no more than it is given."""
    (tmp_path / "docs").mkdir()
    for each in make_site.JOINING:
        (tmp_path / each).write_text(f"# {each}\n", encoding="utf-8")
    monkeypatch.setattr(make_site, "ROOT", tmp_path)
    monkeypatch.setattr(make_site, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(make_site, "reference", dict[str, str])
    monkeypatch.setattr(make_site, "NAVIGATION", {"All": ("index.md", "architecture.md", "c*.md")})

    def written(text: str) -> Any:
        (tmp_path / "docs" / "index.md").write_text(text, encoding="utf-8")
        return make_site

    return written


def test_links_are_turned_to_where_the_site_has_things_and_code_stays(small: Any, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print(1)\n", encoding="utf-8")
    text = "# A\n[a](../ARCHITECTURE.md#x) [b](../program.py) [c](https://d.example)\n```text\n[e](../ARCHITECTURE.md)\n```\n"
    site = small(text).gathered()
    assert site.pages["index.md"] == (
        "# A\n[a](architecture.md#x) [b](files/program.py.md) [c](https://d.example)\n"
        "```text\n[e](../ARCHITECTURE.md)\n```\n"
    )
    assert site.pages["files/program.py.md"] == "# program.py\n\n````python\nprint(1)\n````\n"


def test_a_link_that_leads_nowhere_is_an_error(small: Any) -> None:
    make_site = small("# A\n[a](nothing.md)\n")
    with pytest.raises(make_site.SiteError, match=r"docs/index\.md links to nothing\.md, and there is no such file"):
        make_site.gathered()


def test_a_page_that_no_heading_takes_is_an_error(small: Any, tmp_path: Path) -> None:
    (tmp_path / "docs" / "stray.md").write_text("# S\n", encoding="utf-8")
    make_site = small("# A\n")
    with pytest.raises(make_site.SiteError, match=r"no heading .* takes stray\.md"):
        make_site.navigation(make_site.gathered())


def test_a_heading_without_its_page_is_an_error(small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    make_site = small("# A\n")
    monkeypatch.setitem(make_site.NAVIGATION, "More", ("other.md",))
    with pytest.raises(make_site.SiteError, match=r"other\.md is in the navigation, and there is no such page"):
        make_site.navigation(make_site.gathered())
