"""docs/notes.md has every code that a note can carry, with its effects, and none besides."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.support.histories import HISTORIES
from tests.support.wire.recording import read_recordings
from toolbridge import ToolCall, prepare, read_tools
from toolbridge.meanings import meaning
from toolbridge.providers import Provider, providers
from toolbridge.recorded import read_recording

SOURCE = ROOT / "src" / "toolbridge"

CODE = re.compile(r"[$a-zA-Z_]+\.[a-z_]+")

NO_CODES = {"llama.cpp", "reasoning.text", "reasoning.summary"}
"""Texts in the source that look like codes and are none."""

EVENTS = "response."
"""What the names of the Responses format's events begin with."""


def documented() -> dict[str, set[str]]:
    """Every code of the page, and its effects."""
    text = (ROOT / "docs" / "notes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([$*\w]+\.\w+)` \| ([a-z, ]+) \|", text, re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a code stands on the page twice"
    return {code: set(effects.split(", ")) for code, effects in rows}


def row(code: str) -> set[str]:
    """The effects that the page gives a code, by its own row or by that of its family."""
    page = documented()
    return page.get(code) or page.get(f"*.{code.rpartition('.')[2]}") or set()


def in_the_source() -> Iterator[tuple[Path, str]]:
    """Every text in the core that is a code, or would be one: `*.said` for an f-string that begins with a keyword."""
    for file in sorted(SOURCE.rglob("*.py")):
        place = file.relative_to(SOURCE).parts
        if place[0] in (
            "cli",
            "compat",
            "frameworks",
            "lint",
            "local",
            "lock",
            "meanings.py",
            "model",
            "run",
            "__init__.py",
        ) or (place[0] == "servers" and place[1] != "read.py"):
            continue  # they make no notes, and their file names and fields look like codes
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docs = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            match node:
                case ast.JoinedStr(values=[ast.FormattedValue(), ast.Constant(value=str(ending))]):
                    if re.fullmatch(r"\.[a-z_]+", ending):
                        yield file, f"*{ending}"
                case ast.Constant(value=str(text)) if id(node) not in docs:
                    if CODE.fullmatch(text) and text not in NO_CODES and not text.startswith(EVENTS):
                        yield file, text
                case _:
                    pass


def test_every_code_in_the_source_is_on_the_page() -> None:
    missing = sorted({f"{code} ({file.name})" for file, code in in_the_source() if not row(code)})
    assert missing == []


def test_every_code_that_a_run_tells_is_on_its_page() -> None:
    codes = {
        code
        for file in (SOURCE / "run").glob("*.py")
        for code in re.findall(r'Told\(\s*"([a-z_]+\.[a-z_]+)"', file.read_text(encoding="utf-8"))
    }
    text = (ROOT / "docs" / "chat.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", text, re.MULTILINE)) == codes


def test_every_code_on_the_page_is_in_the_source() -> None:
    put_together = {"defer_loading.dropped", "properties.described"}
    known = {code for _, code in in_the_source()} | put_together
    assert sorted(documented().keys() - known) == []


ODD: list[Any] = [
    None,
    {},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/no"}, "b": {"type": "strng"}, "c": "a text"}},
    {"type": "object", "properties": {"a": {"minLength": "x", "maximum": "3", "enum": "x", "pattern": "("}}},
    {"type": "object", "properties": {"a": {"type": "string", "required": True}}, "required": "a"},
    {"type": "object", "properties": {"a": {"type": "integer", "enum": ["x"]}, "b": False}},
    {"type": "object", "properties": {"a": {}, "b": {"type": "object"}, "c": {"minimum": 1, "minLength": 1}}},
    {"type": "object", "properties": {"a": {"enum": [[1], {"b": 2}, None]}, "b": {"const": True}}},
    {"type": "object", "properties": {"a b": {"type": ["string", "null"]}}, "additionalProperties": {"type": "string"}},
    {"type": "object", "patternProperties": {"^x": {"type": "string"}, "^y": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}]}}},
    {"type": "object", "properties": {"a": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}},
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "object"}, {"type": "string"}]}}},
    {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}},
    {"type": "object", "required": ["a"], "additionalProperties": False, "not": {"required": ["z"]}},
    {"type": "object", "properties": {"a": {"$ref": "#"}}},
    {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}},
    {"type": "object", "properties": {"a": {"if": {"type": "string"}, "then": {"minLength": 1}}}, "minProperties": 1},
    {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "object"}}}},
    {"type": "object", "properties": {"a": {"type": "string", "contentEncoding": "base64", "format": "binary"}}},
    {"type": "object", "dependentRequired": {"a": "b"}, "dependencies": {"a": ["b"]}, "properties": {"a": {}, "b": {}}},
    {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": "yes", "items": [{"type": "string"}]}}},
]  # fmt: skip


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("strict", [False, True])
def test_every_note_that_is_made_has_an_effect_that_the_page_gives_it(provider: str, strict: bool) -> None:
    odd = [{"name": f"odd {i}", **({} if each is None else {"inputSchema": each})} for i, each in enumerate(ODD)]
    tools = [*read_tools(ROOT / "examples" / "tools.json"), *read_tools(odd)]
    made = prepare(tools, provider, strict, flatten=True, description_limit=30)
    noted = {(note.code, note.effect) for notes in made.notes.values() for note in notes if "/not" not in note.path}
    assert noted
    assert sorted((code, effect) for code, effect in noted if effect not in row(code)) == []


def test_the_notes_of_a_call_that_was_put_right_are_on_the_page() -> None:
    schema = {
        "type": "object",
        "properties": {
            "one": {"type": "integer"},
            "two": {"type": "array", "items": {"type": "string"}},
            "three": {"type": "string"},
            "four": {"type": "boolean"},
            "five": {"type": "integer"},
        },
    }
    ready = prepare(read_tools([{"name": "t", "inputSchema": schema}]), "anthropic")
    arguments = {"one": "1", "two": "x", "three": 3, "four": None, "five": 5}
    bound = ready.resolve(ToolCall("1", "t", "", arguments))
    noted = {note.code for note in bound.notes}
    assert noted == {"text.parsed", "value.listed", "value.written", "null.dropped"}
    assert all(row(code) == {"changed"} for code in noted)


def test_the_notes_of_replies_have_an_effect_that_the_page_gives_them() -> None:
    read = [read_recording(each.body, each.provider) for each in read_recordings()]
    noted = {(note.code, note.effect) for each in read for note in each.notes}
    assert len(noted) > 3
    assert sorted((code, effect) for code, effect in noted if effect not in row(code)) == []


@pytest.mark.parametrize("provider", providers().values(), ids=lambda each: each.name)
def test_the_notes_of_histories_have_an_effect_that_the_page_gives_them(provider: Provider) -> None:
    noted: set[tuple[str, str]] = set()
    for history in HISTORIES.values():
        written = provider.write_messages(history)
        again = provider.read_messages(written.value)
        noted |= {(note.code, note.effect) for note in (*written.notes, *again.notes)}
    assert len(noted) > 10
    assert sorted((code, effect) for code, effect in noted if effect not in row(code)) == []


def test_every_code_of_replies_and_histories_has_words_for_the_command_line() -> None:
    talk = ("reply.py", "recorded.py", "moving.py", "history", "stream", "wire")
    codes = {code for file, code in in_the_source() if file.relative_to(SOURCE).parts[0] in talk}
    assert len(codes) > 50
    assert sorted(code for code in codes if meaning(code) == code.replace(".", " is ")) == []
