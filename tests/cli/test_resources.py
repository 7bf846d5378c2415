"""`toolbridge resources`: what servers have to read, and one of them read, exactly and safely."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cli.process import LIMIT_SECONDS, command_line, surroundings
from tests.cli.workplace import Workplace


def test_the_list_has_addresses_names_types_and_marks_templates(work: Workplace) -> None:
    work.configure(garden=work.garden(), chaos=work.chaos())
    answer = work("resources", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "garden  2 resources, 1 template",
        "  garden://plan",
        "    plan, text/plain. The plan.",
        "  garden://photo.png",
        "    photo, image/png",
        "  template garden://beds/{number}",
        "    bed, text/plain",
        "",
        "no resources: chaos",
    ]


def test_json_lists_every_server_with_what_it_has_or_why_not(work: Workplace) -> None:
    work.configure(garden=work.garden(), gone={"command": "no-such-program-anywhere"})
    answer = work("resources", "--json")
    assert answer.code == 1
    assert answer.err.startswith("✗ gone: there is no command")
    servers = answer.json["servers"]
    assert servers["garden"]["failure"] is None
    assert servers["garden"]["resources"][0] == {
        "uri": "garden://plan",
        "name": "plan",
        "title": None,
        "description": "The plan. And more of it.",
        "mimeType": "text/plain",
        "size": None,
    }
    assert servers["garden"]["resources"][2]["uriTemplate"] == "garden://beds/{number}"
    assert servers["gone"]["resources"] == []
    assert servers["gone"]["failure"]["cause"] == "not_found"


def test_text_goes_to_stdout_made_harmless_and_to_a_file_as_it_is(work: Workplace) -> None:
    work.configure(garden=work.garden())
    shown = work("resources", "garden", "garden://plan")
    assert (shown.code, shown.out, shown.err) == (0, "beds \\x1b[31mand paths\n", "")
    assert work("resources", "garden", "garden://beds/7").out == "bed 7\n"
    written = work("resources", "garden", "garden://plan", "--output", "plan.txt")
    assert (written.code, written.out, written.err) == (0, "", "")
    assert (work.directory / "plan.txt").read_bytes() == b"beds \x1b[31mand paths\n"
    exact = work("resources", "garden", "garden://plan", "--output", "-")
    assert (exact.code, exact.out) == (0, "beds \x1b[31mand paths\n")
    as_json = work("resources", "garden", "garden://plan", "--json")
    assert as_json.json == {
        "contents": [{"uri": "garden://plan", "mimeType": "text/plain", "text": "beds \x1b[31mand paths\n"}]
    }


def test_what_is_no_text_is_saved_and_named_or_written_to_stdout_byte_for_byte(work: Workplace) -> None:
    work.configure(garden=work.garden())
    for name in ("photo.png", "photo-2.png"):
        answer = work("resources", "garden", "garden://photo.png")
        assert (answer.code, answer.err) == (0, "")
        assert answer.out == f"image/png garden://photo.png, 69 bytes, saved as {name}\n"
    (work.directory / "out").mkdir()
    answer = work("resources", "garden", "garden://photo.png", "--output", "out")
    assert (answer.code, answer.out, answer.err) == (0, "", "69 bytes, saved as out/photo.png\n")
    done = subprocess.run(
        command_line("resources", "garden", "garden://photo.png", "--output", "-"),
        capture_output=True,
        cwd=work.directory,
        env=surroundings(**work.environment),
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (work.directory / "photo.png").read_bytes()
    assert done.stdout.startswith(b"\x89PNG")


def test_what_is_not_there_is_one_line_with_how_to_find_what_is(work: Workplace) -> None:
    work.configure(garden=work.garden())
    answer = work("resources", "garden", "garden://nope\x1b[2J")
    assert (answer.code, answer.out, answer.err.count("\n")) == (1, "", 1)
    assert answer.err.startswith("toolbridge: server 'garden': ")
    assert answer.err.endswith("; 'toolbridge resources garden' lists what there is\n")
    assert "\x1b" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("resources gardn", "unknown server 'gardn'; did you mean 'garden'?"),
        ("resources gardn a://b", "unknown server 'gardn'; did you mean 'garden'?"),
        ("resources garden --output x", "--output is for one resource; give SERVER and URI as well"),
        ("resources garden a://b --output x --json", "--json and --output are two ways to have a resource; give one of them"),
        ("resources off a://b", "server 'off' is disabled in {}/mcp.json; take it out of there to use it"),
    ],
)  # fmt: skip
def test_misuse_is_one_line_and_starts_nothing(work: Workplace, arguments: str, line: str) -> None:
    work.configure(garden=work.script("note('started')"), off=work.script("note('started')", disabled=True))
    answer = work(*arguments.split())
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line.format(work.directory)}\n")
    assert work.noted() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="everything may be written")
def test_a_place_that_may_not_be_written_is_told(work: Workplace) -> None:
    work.configure(garden=work.garden())
    (work.directory / "closed").mkdir(mode=0o500)
    answer = work("resources", "garden", "garden://plan", "--output", "closed/plan.txt")
    assert answer.code == 2
    assert "permission denied" in answer.err
