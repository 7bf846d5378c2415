"""The pictures of the terminal can be drawn again, load nothing, and show what their commands are."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tests.docs.pages import ROOT

DRAWN = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "docs" / "make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_pictures"] = module  # where dataclasses look for the types of their fields
    spec.loader.exec_module(module)
    return module


def lines(picture: Path) -> list[str]:
    """The lines of text in a picture, with one blank between what stands apart."""
    found: dict[str, list[str]] = {}
    for each in ElementTree.fromstring(picture.read_text(encoding="utf-8")).iter(f"{SVG}text"):
        found.setdefault(each.attrib["y"], []).append(each.text or "")
    return [" ".join(each) for each in found.values()]


def test_a_picture_is_drawn_of_what_a_command_prints(pictures: ModuleType, tmp_path: Path) -> None:
    pictures.main(["matrix", "lint", "--to", str(tmp_path)])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lint.svg", "matrix.svg"]
    assert lines(tmp_path / "matrix.svg")[:3] == [
        "$ toolbridge matrix tools.json",
        "8 tools × 8 providers",
        "exact adapted left out",
    ]
    assert lines(tmp_path / "lint.svg")[0] == "$ toolbridge lint tools.json"


def test_every_picture_is_there_with_its_commands_in_it(pictures: ModuleType) -> None:
    assert {each.stem for each in DRAWN} == {*pictures.PICTURES}
    for each in DRAWN:
        shown = lines(each)
        assert [
            f"$ {command}" for command in pictures.PICTURES[each.stem].commands if f"$ {command}" not in shown
        ] == []


@pytest.mark.parametrize("picture", DRAWN, ids=lambda path: path.name)
def test_a_picture_loads_nothing_and_stays_inside_of_its_window(picture: Path) -> None:
    text = picture.read_text(encoding="utf-8")
    assert re.findall(
        r"https?:|href|url\(|@import|<script|<image|<foreignObject|/tmp/|/root/|/home/|Traceback", text
    ) == [
        "http:"  # the name of the format
    ]
    root = ElementTree.fromstring(text)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for each in root.iter(f"{SVG}text"):
        assert "  " not in (each.text or "")
        assert float(each.attrib["x"]) + float(each.attrib["textLength"]) < width
        assert float(each.attrib["y"]) < height
    assert root.findtext(f"{SVG}title")


def test_the_terminal_keeps_what_a_person_would_see_in_the_end(pictures: ModuleType) -> None:
    screen = pictures.Screen()
    screen.write("waiting … 1 s\r\x1b[Kdone\r\n\x1b[1;32m✓\x1b[0m ok\x1b[?25h\r\nab\bc\r\n")
    assert screen.text() == "done\n✓ ok\nac\n"
    assert screen.lines[1][0].style == pictures.Style("green", bold=True)
    with pytest.raises(SystemExit, match="not known here"):
        screen.write("\x1b[5;5H")
