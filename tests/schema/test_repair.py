"""Older drafts and plain junk get the meaning they plainly have; the rest is dropped, with a note."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge.schema.convert import convert
from toolbridge.schema.dialects import SOURCE


def repaired(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    conversion = convert(schema, SOURCE)
    return conversion.schema, [f"{note.path} {note.code} {note.effect}" for note in conversion.notes]


def inside(node: Any) -> tuple[Any, list[str]]:
    schema, notes = repaired({"type": "object", "properties": {"a": node}})
    return schema["properties"]["a"], notes


@pytest.mark.parametrize(
    ("node", "expected", "notes"),
    [
        # draft 4 to 7
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}, []),
        ({"type": "integer", "maximum": 9, "exclusiveMaximum": False}, {"type": "integer", "maximum": 9}, []),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}], "items": False},
            [],
        ),
        (
            {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
            [],
        ),
        # types
        ({"type": "STRING"}, {"type": "string"}, ["/properties/a type.repaired changed"]),
        ({"type": "int"}, {"type": "integer"}, ["/properties/a type.repaired changed"]),
        ({"type": "any"}, {}, ["/properties/a type.repaired changed"]),
        ({"type": "strin"}, {}, ["/properties/a type.dropped widened"]),
        ({"type": ["string"]}, {"type": "string"}, []),
        ({"type": ["string", "string", "null"]}, {"type": ["string", "null"]}, ["/properties/a type.repaired changed"]),
        # properties that are no schemas
        ("string", {"type": "string"}, [" properties.repaired changed"]),
        ("The name", {"description": "The name"}, [" properties.described changed"]),
        (None, {}, [" properties.repaired changed"]),
        (["string", "null"], {"type": ["string", "null"]}, [" properties.repaired changed"]),
        # values of the wrong kind
        (
            {"type": "string", "minLength": "3"},
            {"type": "string", "minLength": 3},
            ["/properties/a minLength.repaired changed"],
        ),
        ({"type": "string", "minLength": -1}, {"type": "string"}, ["/properties/a minLength.dropped widened"]),
        ({"type": "string", "minLength": 3.0}, {"type": "string", "minLength": 3}, []),
        ({"multipleOf": 0}, {}, ["/properties/a multipleOf.dropped widened"]),
        ({"pattern": "["}, {}, ["/properties/a pattern.dropped widened"]),
        ({"enum": ["a", "a", "b"]}, {"enum": ["a", "b"]}, []),
        ({"enum": [1, True, 1.0]}, {"enum": [1, True]}, []),
        ({"enum": "abc"}, {}, ["/properties/a enum.dropped widened"]),
        ({"anyOf": []}, {}, []),
        ({"anyOf": {"type": "string"}}, {"anyOf": [{"type": "string"}]}, ["/properties/a anyOf.repaired changed"]),
        ({"items": "string"}, {"items": {"type": "string"}}, ["/properties/a items.repaired changed"]),
        ({"description": ["two", "parts"]}, {"description": "two parts"}, []),
        ({"default": float("nan")}, {}, ["/properties/a default.dropped changed"]),
        ({"x-internal": 1, "optional": True, "nullable": True, "$comment": "c"}, {}, []),
    ],
)
def test_a_node_is_made_sound(node: Any, expected: Any, notes: list[str]) -> None:
    assert inside(node) == (expected, notes)


def test_required_inside_properties_is_hoisted() -> None:
    schema, notes = repaired({"type": "object", "properties": {"a": {"type": "string"}, "required": ["a"]}})
    assert schema == {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert notes == [" required.hoisted changed"]


def test_a_property_that_says_it_is_required_itself_is_required() -> None:
    schema, _ = repaired(
        {"type": "object", "properties": {"a": {"type": "string", "required": True}, "b": {"required": False}}}
    )
    assert schema == {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}


def test_a_whole_schema_under_properties_is_brought_up() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    schema, _ = repaired({"type": "object", "properties": inner})
    assert schema == inner


def test_properties_named_like_keywords_are_properties() -> None:
    names = [
        "type",
        "properties",
        "required",
        "default",
        "enum",
        "$ref",
        "items",
        "definitions",
        "if",
        "const",
        "title",
    ]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "default": name} for name in names},
        "required": ["$ref"],
    }
    assert repaired(schema) == (schema, [])


def test_data_is_never_walked_into() -> None:
    data = {"$ref": "#/nope", "type": "nope", "properties": 5, "default": {"default": 1}}
    schema = {
        "type": "object",
        "properties": {"a": {"default": data, "examples": [data], "enum": [data], "const": data}},
    }
    assert repaired(schema) == (schema, [])
