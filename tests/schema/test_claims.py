"""Notes are claims, and these tests try to catch one lying.

A value that the definition accepts and the server's schema does not must be covered by a note that says `widened` or
`changed`; the reverse by one that says `narrowed` or `changed`. Deliberate breakages caught: the notes of `say`,
`optional.nullable`, `additionalProperties.closed`, `prefixItems.loosened`, `oneOf.loosened`, `anyOf.merged` and
`map.pairs` left out one at a time.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.schemas import Schemas
from tests.support.trips import validator, wire_schema
from tests.support.values import Values
from toolbridge import Tool, ToolId, prepare
from toolbridge.providers import providers
from toolbridge.schema.convert import convert
from toolbridge.schema.dialects import SOURCE

TARGETS = [
    (name, strict)
    for name, provider in providers().items()
    for strict in ((False, True) if provider.strict is not None else (False,))
]
ID = ToolId("", "t")


def lies(schema: Any, provider: str, strict: bool, seed: int) -> list[str]:
    ready = prepare([Tool(ID, "d", schema)], provider, strict)
    if ready.left_out:
        return []
    effects = {note.effect for note in ready.notes[ID]}
    source_schema, shown = convert(schema, SOURCE).schema, wire_schema(ready.definitions[0])
    source, wire = validator(source_schema), validator(shown)
    makers = (
        Values(source_schema, seed, extras=True),
        Values(shown, seed + 1),
        Values({"type": "object"}, seed + 2, extras=True),
    )
    found: list[str] = []
    for maker in makers:
        for _ in range(4):
            value = maker.make()
            if not isinstance(value, dict):
                continue
            before, after = source.is_valid(value), wire.is_valid(value)
            if after and not before and not effects & {"widened", "changed"}:
                found.append(f"{value} became possible without a note")
            if before and not after and not effects & {"narrowed", "changed"}:
                found.append(f"{value} became impossible without a note")
    return found


@pytest.mark.parametrize(("provider", "strict"), TARGETS)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 1_000_000))
def test_no_change_of_meaning_goes_without_a_note(provider: str, strict: bool, seed: int) -> None:
    assert lies(Schemas(seed).tool(), provider, strict, seed) == []


OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
SINGLE: list[tuple[dict[str, Any], str, bool, set[str]]] = [
    ({"type": "string", "minLength": 2}, "openai-chat", True, {"minLength.said"}),
    ({"type": "string", "format": "uri"}, "openai-chat", True, {"format.said"}),
    ({"type": "string", "format": "uri"}, "anthropic", True, set()),
    ({"type": "integer", "exclusiveMinimum": 0}, "gemini", False, set()),
    ({"type": "number", "exclusiveMinimum": 0}, "gemini", False, {"exclusiveMinimum.said"}),
    ({"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "openai-chat", True, {"uniqueItems.said"}),
    ({"type": "array"}, "openai-chat", False, set()),
    ({"type": "array"}, "openai-chat", True, {"value.text"}),
    ({}, "openai-chat", True, {"value.text"}),
    ({}, "openai-chat", False, set()),
    ({"type": "object"}, "gemini-openapi", False, {"object.text"}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "bedrock", True, {"map.pairs"}),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "ollama", False, {"additionalProperties.said"}),
    ({"type": "integer", "enum": [1, 2]}, "gemini-openapi", False, {"enum.words"}),
    ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "openai-chat", True, set()),
    ({"oneOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]}, "gemini", False, {"maxLength.said", "oneOf.loosened"}),
    ({"$ref": "https://example.org/x"}, "openai-chat", False, {"$ref.unresolved"}),
    ({"not": {"type": "null"}}, "ollama", False, {"not.said"}),
    ({"prefixItems": [{"type": "string"}], "type": "array", "items": False}, "openai-chat", True, {"prefixItems.loosened"}),
    ({"type": "string", "pattern": "^(?!x)"}, "openai-chat", True, {"pattern.said"}),
    ({"type": "string", "pattern": "^[a-z]+$"}, "openai-chat", True, set()),
]  # fmt: skip


@pytest.mark.parametrize(("node", "provider", "strict", "codes"), SINGLE)
def test_one_change_makes_one_note(node: dict[str, Any], provider: str, strict: bool, codes: set[str]) -> None:
    schema = {"type": "object", "properties": {"a": node}, "required": ["a"], "additionalProperties": False}
    notes = prepare([Tool(ID, "d", schema)], provider, strict).notes[ID]
    open_ = {"additionalProperties.dropped"} if provider in ("ollama", "gemini-openapi") else set[str]()
    assert {note.code for note in notes} == codes | open_
    assert all(note.path.startswith("/properties/a") for note in notes if note.code in codes)


def test_values_of_an_enum_that_its_type_refuses_are_left_out() -> None:
    node = {"type": "string", "enum": ["a", 1, "b", None]}
    schema = {"type": "object", "properties": {"a": node}, "required": ["a"], "additionalProperties": False}
    for provider, strict in (("openai-chat", True), ("ollama", False), ("gemini", False)):
        shown = wire_schema(prepare([Tool(ID, "d", schema)], provider, strict).definitions[0])
        assert shown["properties"]["a"] == {"type": "string", "enum": ["a", "b"]}
