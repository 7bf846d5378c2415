"""`toolbridge prompts`: what servers have prepared, and one of them filled in."""

from __future__ import annotations

import pytest

from tests.cli.workplace import Workplace


def test_the_list_has_names_arguments_and_sentences(work: Workplace) -> None:
    work.configure(garden=work.garden(), chaos=work.chaos())
    answer = work("prompts", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "garden  1 prompt",
        "  describe  plant, tone?",
        "    Describe a plant.",
        "",
        "no prompts: chaos",
    ]


def test_json_lists_every_server_with_what_it_has_or_why_not(work: Workplace) -> None:
    work.configure(garden=work.garden(), gone={"command": "no-such-program-anywhere"})
    answer = work("prompts", "--json")
    assert answer.code == 1
    assert answer.json["servers"]["garden"] == {
        "failure": None,
        "prompts": [
            {
                "name": "describe",
                "title": None,
                "description": "Describe a plant. In words.",
                "arguments": [
                    {"name": "plant", "description": None, "required": True},
                    {"name": "tone", "description": None, "required": False},
                ],
            }
        ],
    }
    assert answer.json["servers"]["gone"]["failure"]["cause"] == "not_found"


def test_a_prompt_is_filled_in_with_texts(work: Workplace) -> None:
    work.configure(garden=work.garden())
    (work.directory / "plant.txt").write_text("a \x1b[31mrose", encoding="utf-8")
    answer = work("prompts", "garden", "describe", "plant=@plant.txt", "tone=5")
    assert (answer.code, answer.out, answer.err) == (0, "user:\nDescribe a \\x1b[31mrose in a 5 tone.\n", "")
    answer = work("prompts", "garden", "describe", "plant=rose", "--json")
    text = "Describe rose in a dry tone."
    assert answer.json == {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["descibe"], "unknown prompt 'descibe' of server 'garden'; did you mean 'describe'?"),
        (["describe", "plnt=rose"], "garden/describe: unknown argument 'plnt'; did you mean 'plant'?"),
        (["describe"], "garden/describe: plant: is required and is missing. Expected: string"),
    ],
)
def test_misuse_is_one_line_that_says_what_would_be_right(work: Workplace, words: list[str], line: str) -> None:
    work.configure(garden=work.garden())
    answer = work("prompts", "garden", *words)
    assert (answer.code, answer.out, answer.err) == (2, "", f"toolbridge: {line}\n")
