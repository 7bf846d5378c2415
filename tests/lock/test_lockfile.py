"""The lockfile: how it looks, and what is said of one that is not as it was written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.lock.surfaces import ANNOUNCE, LIST_PLANTS, locked
from toolbridge.errors import ConfigError
from toolbridge.lock import Lock, lock_text, merged, read_lock, read_old_lock, write_lock

LOCK = Lock({"shed": locked(ANNOUNCE, {**LIST_PLANTS, "title": "Plants"}, name="shed", version="1.0")})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "toolbridge.lock"
    write_lock(LOCK, path)
    return path


def refused(path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        read_lock(path)
    (problem,) = raised.value.problems
    return problem


def test_the_file_is_json_for_reviews_one_block_a_tool(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    shed = LOCK.servers["shed"]
    assert text.splitlines()[:16] == [
        "{",
        '  "toolbridge-lock": 1,',
        f'  "digest": "{LOCK.digest}",',
        '  "servers": {',
        '    "shed": {',
        '      "name": "shed",',
        '      "version": "1.0",',
        f'      "digest": "{shed.digest}",',
        '      "tools": {',
        '        "announce": {',
        f'          "digest": "{shed.tools["announce"].digest}",',
        '          "description": "Tells of changes.",',
        '          "inputSchema": {',
        '            "type": "object"',
        "          }",
        "        },",
    ]
    assert list(json.loads(text)["servers"]["shed"]["tools"]["list_plants"]) == [
        "digest", "title", "description", "inputSchema", "annotations",
    ]  # fmt: skip
    assert text.endswith("}\n")
    assert read_lock(file) == LOCK
    assert [each.name for each in file.parent.iterdir()] == ["toolbridge.lock"]


def test_hidden_characters_are_to_be_seen_in_the_file_and_letters_stay_letters(tmp_path: Path) -> None:
    said = "Grüße 日本 \u200b\u202e\x1b[31m\U000e0041\ufe0f\ud800 end\u2028"
    lock = Lock({"shed": locked({"name": "t", "description": said, "inputSchema": {}})})
    write_lock(lock, tmp_path / "lock")
    text = (tmp_path / "lock").read_text(encoding="utf-8")
    assert r'"Grüße 日本 \u200b\u202e\u001b[31m\udb40\udc41\ufe0f\ud800 end\u2028"' in text
    assert read_lock(tmp_path / "lock") == lock


def test_a_file_that_is_not_there_says_what_to_run(tmp_path: Path) -> None:
    path = tmp_path / "none.lock"
    assert refused(path) == f"{path}: there is no lock; make one with 'toolbridge lock'"
    assert read_old_lock(path) == (None, None)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "Tells of changes.",
            "Tells of nothing.",
            "was edited by hand or damaged: server 'shed': tool 'announce': its digest is not that of its content;"
            " lock anew with 'toolbridge lock'",
        ),
        (
            '"name": "shed"',
            '"name": "barn"',
            "was edited by hand or damaged: server 'shed': its digest is not that of its name, its instructions and its "
            "tools; lock anew with 'toolbridge lock'",
        ),
        (
            LOCK.digest,
            LOCK.servers["shed"].digest,
            "was edited by hand or merged: its digest is not that of its servers; lock anew with 'toolbridge lock'",
        ),
        (
            '"toolbridge-lock": 1',
            '"toolbridge-lock": 2',
            "was written by a newer toolbridge (form 2, known here is 1); upgrade toolbridge",
        ),
        (
            '"toolbridge-lock": 1',
            '"toolbridge-lock": true',
            "is damaged: its 'toolbridge-lock' is no version that is known here; lock anew with 'toolbridge lock'",
        ),
        (
            '"toolbridge-lock": 1',
            '"toolbridge-lock": 1.0',
            "is damaged: its 'toolbridge-lock' is no version that is known here; lock anew with 'toolbridge lock'",
        ),
        (
            '"toolbridge-lock": 1,',
            '"toolbridge-lock": 1, "comment": "Reviewed.",',
            "is damaged: it holds 'comment', which this program did not write; lock anew with 'toolbridge lock'",
        ),
        (
            '"name": "shed"',
            '"name": "shed", "trusted": true',
            "is damaged: server 'shed': it holds 'trusted', which this program did not write; lock anew with "
            "'toolbridge lock'",
        ),
        (
            '"description": "Tells of changes."',
            '"description": "Tells of nothing.", "description": "Tells of changes."',
            "is damaged: it holds 'description' twice in one place; lock anew with 'toolbridge lock'",
        ),
        (
            '"toolbridge-lock": 1,',
            "",
            "is no lock of this program: it has no 'toolbridge-lock'; name another file, or lock anew with "
            "'toolbridge lock'",
        ),
        (
            '  "servers": {',
            '<<<<<<< HEAD\n  "servers": {',
            "line 4: holds the marks of a merge that is not resolved; take one side, then lock anew with "
            "'toolbridge lock'",
        ),
        (
            '  "servers": {',
            '  "servers": {{',
            "is damaged: not JSON: expecting property name enclosed in double quotes at line 4, column 15; lock anew with "
            "'toolbridge lock'",
        ),
        (
            '"description": "Tells of changes."',
            '"describtion": "Tells of changes."',
            "is damaged: server 'shed': tool 'announce': no tool that this program wrote; lock anew with "
            "'toolbridge lock'",
        ),
        (
            '"type": "object"',
            '"type": NaN',
            "is damaged: no JSON that this program wrote; lock anew with 'toolbridge lock'",
        ),
    ],
)
def test_a_file_that_is_not_as_it_was_written_is_told_in_a_line(file: Path, before: str, after: str, said: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after, 1), encoding="utf-8")
    assert refused(file) == f"{file}: {said}"


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\xff", b"[" * 100_000, b"[]", b"", b'{"toolbridge-lock": 1, "servers": 3}']
)
def test_anything_else_is_told_in_a_line_too(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert refused(file).startswith(f"{file}: ")
    assert "\n" not in refused(file)


def test_a_directory_is_no_lock(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"{tmp_path}: the lock cannot be read: is a directory"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        said = f"{tmp_path / name}: the lock cannot be read: it is no regular file"
        assert refused(tmp_path / name) == said
        with pytest.raises(ConfigError) as raised:
            read_old_lock(tmp_path / name)
        assert raised.value.problems == (said,)


def test_a_damaged_lock_may_be_replaced_and_what_is_no_lock_or_newer_may_not(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("Tells", "Tolls"), encoding="utf-8")
    assert read_old_lock(file) == (None, refused(file))
    for other in ('{"name": "package.json"}', text.replace('lock": 1', 'lock": 2'), "# Notes"):
        file.write_text(other, encoding="utf-8")
        with pytest.raises(ConfigError):
            read_old_lock(file)


def test_a_lock_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the lock cannot be written: no such file or directory"):
        write_lock(LOCK, tmp_path / "none" / "toolbridge.lock")
    assert list(tmp_path.iterdir()) == []


def test_locking_one_server_leaves_the_others_as_they_were() -> None:
    barn, new = locked(ANNOUNCE, name="barn"), locked(ANNOUNCE, name="shed")
    both = merged(LOCK, {"barn": barn})
    assert list(both.servers) == ["barn", "shed"]
    after = merged(both, {"shed": new})
    assert after.servers == {"barn": barn, "shed": new}
    assert merged(both, {"barn": barn}, gone=["shed"]).servers == {"barn": barn}


def test_equal_surfaces_write_equal_bytes() -> None:
    def text(*tools: dict[str, Any]) -> str:
        return lock_text(Lock({"shed": locked(*tools)}))

    assert text(ANNOUNCE, LIST_PLANTS) == text(LIST_PLANTS, ANNOUNCE)
