"""References: any location, siblings intersected, anchors, recursion, and never a look outside the document."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge import BoundCall, Tool, ToolCall, ToolId, prepare
from toolbridge.schema.convert import convert
from toolbridge.schema.dialects import JSON_SCHEMA, OLLAMA, OPENAI_STRICT

ID = ToolId("", "t")
WORD = {"type": "string", "maxLength": 3}


def accepts(schema: dict[str, Any], value: Any, provider: str = "openai-chat") -> bool:
    ready = prepare([Tool(ID, "d", schema)], provider, strict=False)
    return isinstance(ready.resolve(ToolCall("1", ready.wire_name(ID), "", {"a": value})), BoundCall)


@pytest.mark.parametrize(
    ("ref", "more"),
    [
        ("#/$defs/W", {"$defs": {"W": WORD}}),
        ("#/definitions/W", {"definitions": {"W": WORD}}),
        ("#/$defs/a~1b~0c", {"$defs": {"a/b~c": WORD}}),
        ("#/$defs/a%20b", {"$defs": {"a b": WORD}}),
        ("#/properties/b", {}),
        ("#/properties/list/items", {}),
        ("#/properties/union/anyOf/1", {}),
        ("#word", {"$defs": {"W": {"$anchor": "word", **WORD}}}),
        ("#word", {"$defs": {"W": {"$dynamicAnchor": "word", **WORD}}}),
        ("#old", {"definitions": {"W": {"$id": "#old", **WORD}}}),
        ("https://example.org/root#/$defs/W", {"$id": "https://example.org/root", "$defs": {"W": WORD}}),
        ("word.json", {"$defs": {"W": {"$id": "word.json", **WORD}}}),
        ("#/$defs/chain", {"$defs": {"chain": {"$ref": "#/$defs/W"}, "W": WORD}}),
    ],
)
@pytest.mark.parametrize("provider", ["openai-chat", "ollama", "gemini-openapi", "bedrock"])
def test_a_reference_leads_to_any_place_in_its_document(ref: str, more: dict[str, Any], provider: str) -> None:
    others = {"b": WORD, "list": {"type": "array", "items": WORD}, "union": {"anyOf": [{"type": "null"}, WORD]}}
    schema = {"type": "object", "properties": {"a": {"$ref": ref}, **others}, **more}
    assert accepts(schema, "abc", provider)
    assert not accepts(schema, "abcd", provider)
    assert not accepts(schema, {"x": 1}, provider)


def test_what_stands_beside_a_reference_holds_too() -> None:
    schema = {"type": "object", "$defs": {"W": WORD}, "properties": {"a": {"$ref": "#/$defs/W", "minLength": 2}}}
    assert [text for text in ("a", "ab", "abc", "abcd") if accepts(schema, text)] == ["ab", "abc"]
    strict = convert(schema, OPENAI_STRICT).schema
    assert strict["properties"]["a"] == {
        "type": ["string", "null"],
        "description": "At least 2 characters. At most 3 characters.",
    }


def test_a_description_beside_a_reference_is_kept_where_siblings_are_refused() -> None:
    schema = {
        "type": "object",
        "required": ["a"],
        "$defs": {"W": WORD},
        "properties": {"a": {"$ref": "#/$defs/W", "description": "mine"}},
    }
    assert convert(schema, OPENAI_STRICT).schema["properties"]["a"] == {
        "anyOf": [{"$ref": "#/$defs/W"}],
        "description": "mine",
    }
    assert convert(schema, OLLAMA).schema["properties"]["a"] == {
        "type": "string",
        "description": "mine. At most 3 characters.",
    }


TREE = {
    "type": "object",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"v": {"type": "integer"}, "c": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
            "required": ["v", "c"],
            "additionalProperties": False,
        }
    },
    "properties": {"a": {"$ref": "#/$defs/Node"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_recursion_is_kept_where_the_dialect_has_it() -> None:
    assert convert(TREE, JSON_SCHEMA).schema == TREE
    assert convert(TREE, OPENAI_STRICT).schema == TREE
    assert convert(TREE, OPENAI_STRICT).notes == ()


@pytest.mark.parametrize("provider", ["gemini-openapi", "ollama", "anthropic", "bedrock"])
@pytest.mark.parametrize("strict", [True, False])
def test_recursion_that_is_cut_can_still_be_said(provider: str, strict: bool) -> None:
    deep: Any = {"v": 5, "c": []}
    for i in range(5):
        deep = {"v": i, "c": [deep]}
    ready = prepare([Tool(ID, "d", TREE)], provider, strict)
    written = ready.write_arguments(ID, {"a": deep})
    assert ready.read_arguments("t", written) == {"a": deep}
    wrong = ready.write_arguments(ID, {"a": {"v": 1, "c": [{"v": 2, "c": [{"v": "no", "c": []}]}]}})
    assert not isinstance(ready.resolve(ToolCall("1", "t", "", wrong)), BoundCall)


def test_nothing_outside_the_document_is_ever_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import socket

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("somebody looked outside")

    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "http://192.0.2.1/schema.json"},
            "b": {"$ref": "file:///etc/hostname"},
            "c": {"$ref": "other.json#/x"},
        },
    }
    ready = prepare([Tool(ID, "d", schema)], "openai-chat", strict=False)
    first = ready.resolve(ToolCall("1", "t", "", {"a": 1}))
    assert isinstance(first, BoundCall)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(builtins, "open", refuse)
    again = prepare([Tool(ID, "e", schema)], "gemini-openapi")
    assert [note.code for note in again.notes[ID]].count("$ref.unresolved") == 3
    assert isinstance(again.resolve(ToolCall("1", "t", "", {"a": "1"})), BoundCall)
