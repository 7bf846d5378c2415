"""The note that a run was continued: made once, by one process, and forgotten when there are very many."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from toolbridge.cli import continued
from toolbridge.cli.continued import note_continued
from toolbridge.errors import PauseError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLBRIDGE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "continued"


def noted(id: str) -> bool:
    try:
        note_continued(id)
    except PauseError:
        return False
    return True


def test_of_many_who_continue_a_run_one_does_and_others_once_its_note_is_removed(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(noted, ["../../a/b"] * 16)) == [False] * 15 + [True]
    (note,) = folder.iterdir()
    assert (note.stat().st_size, stat.S_IMODE(folder.stat().st_mode)) == (0, 0o700)
    with pytest.raises(PauseError, match=r"^this run was continued already; its calls are not run twice$"):
        note_continued("../../a/b")
    note.unlink()
    assert note_continued("../../a/b") == note


def test_of_very_many_runs_the_oldest_are_forgotten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continued, "MOST_KEPT", 2)
    first, second = note_continued("1"), note_continued("2")
    os.utime(first, (3, 3))
    os.utime(second, (2, 2))
    third = note_continued("3")
    assert {*folder.iterdir()} == {first, third}


def test_where_nothing_can_be_noted_nothing_is_continued(folder: Path) -> None:
    folder.parent.write_text("no directory")
    with pytest.raises(PauseError) as raised:
        note_continued("1")
    assert str(raised.value).startswith(f"{folder}: ")
    assert str(raised.value).endswith("set TOOLBRIDGE_DATA_DIR to a directory of yours")
