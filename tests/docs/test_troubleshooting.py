"""The page of troubles has every kind of failure that programs read, and quotes messages that there really are."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Any, get_args

import pytest

from tests.docs.pages import ROOT
from toolbridge.errors import ModelFailure, StoreFailure
from toolbridge.failure import Cause
from toolbridge.types import FailureKind

PAGE = ROOT / "docs" / "troubleshooting.md"
KINDS: dict[str, tuple[str, Any]] = {
    "A server is not there": ("cause", Cause),
    "A call failed": ("failure", FailureKind),
    "The model": ("kind", ModelFailure),
    "Conversations and approval": ("kind", StoreFailure),
}
SOMETHING = "…"


def section(title: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1]


@pytest.mark.parametrize("title", KINDS)
def test_every_kind_of_failure_has_a_row_and_no_other_does(title: str) -> None:
    column, alias = KINDS[title]
    assert f"| message | `{column}` | what to do |" in section(title)
    rows = re.findall(r"^\| `[^`]+` \|(?: `(\w+)`)? \|", section(title), re.MULTILINE)
    assert {each for each in rows if each} == set(get_args(alias))


@cache
def texts() -> list[str]:
    """Every text in the source, with `…` wherever a value goes into it; neighbours of a sum are one."""
    found: list[str] = []
    for file in sorted((ROOT / "src" / "toolbridge").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [each.value if isinstance(each, ast.Constant) else SOMETHING for each in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                found.append(node.value)
    return found


MESSAGES = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_message_on_the_page_is_in_the_source() -> None:
    assert len(MESSAGES) > 80
    assert [each for each in MESSAGES if not any(says(text, each) for text in texts())] == []


def says(text: str, message: str) -> bool:
    """Whether a text of the source has the words of a message, in their order."""
    place = 0
    for words in message.split(SOMETHING):
        if len(words) > 2:
            found = text.find(words.strip(), place)
            if found < 0:
                return False
            place = found + len(words.strip())
    return True


def test_a_message_that_is_nowhere_is_found_out() -> None:
    assert says("the host … is not known here", "the host … is not known")
    assert not says("the host … is known", "the host … is not known")
    assert not any(says(text, "there is no such message as …, nowhere") for text in texts())
