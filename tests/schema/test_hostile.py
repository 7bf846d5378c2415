"""Schemas made to do harm cost bounded time and memory, and get a definition or a reason. Nothing raises."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge import BoundCall, Tool, ToolCall, ToolId, ToolResult, prepare
from toolbridge.providers import providers

ID = ToolId("", "t")


def nested(depth: int, keyword: str) -> dict[str, Any]:
    node: Any = {"type": "string"}
    for _ in range(depth):
        match keyword:
            case "properties":
                node = {"type": "object", "properties": {"a": node}}
            case "anyOf" | "oneOf" | "allOf":
                node = {keyword: [node]}
            case _:
                node = {keyword: node}
    return {"type": "object", "properties": {"x": node}}


def bomb(levels: int, node: Any) -> dict[str, Any]:
    """Definitions of which each refers to the next many times."""
    defs = {f"d{i}": node({"$ref": f"#/$defs/d{i + 1}"}) for i in range(levels)}
    return {
        "type": "object",
        "$defs": {**defs, f"d{levels}": {"type": "string"}},
        "properties": {"x": {"$ref": "#/$defs/d0"}},
    }


def looped() -> dict[str, Any]:
    root: dict[str, Any] = {"type": "object", "properties": {}}
    root["properties"]["self"] = root
    return root


def shared(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "object", "properties": {"l": {"type": "string"}}}
    for _ in range(levels):
        node = {"type": "object", "properties": {"a": node, "b": node}}
    return node


HOSTILE: dict[str, Any] = {
    **{f"10,000 {keyword} deep": nested(10_000, keyword) for keyword in ("properties", "items", "anyOf", "allOf", "not", "if")},
    "a bomb of properties": bomb(12, lambda ref: {"type": "object", "properties": {f"p{i}": ref for i in range(10)}}),
    "a bomb of allOf": bomb(12, lambda ref: {"allOf": [ref] * 10}),
    "a bomb of anyOf": bomb(10, lambda ref: {"anyOf": [{"allOf": [ref, {"minLength": i}]} for i in range(8)]}),
    "a chain of 10,000 definitions": bomb(10_000, lambda ref: {"type": "object", "properties": {"n": ref}}),
    "an object inside itself": looped(),
    "one object 2^40 times": shared(40),
    "allOf in a circle": {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}},
    },
    "a reference to itself": {"type": "object", "properties": {"x": {"$ref": "#/properties/x"}}},
    "a root that is itself": {"$ref": "#"},
    "a root that is all of itself": {"type": "object", "allOf": [{"$ref": "#"}]},
    "references to elsewhere": {
        "type": "object",
        "properties": {"x": {"$ref": "http://192.0.2.1/x"}, "y": {"$ref": "file:///etc/passwd"}},
    },
    "10,000 properties": {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(10_000)}},
    "five megabytes": {
        "type": "object",
        "properties": {
            f"p{i}": {"type": "object", "properties": {f"q{j}": {"enum": ["a" * 30, "b"], "description": "x" * 30} for j in range(20)}}
            for i in range(2_000)
        },
    },
    "half a million enum values": {"type": "object", "properties": {"e": {"enum": [f"value {i}" for i in range(500_000)]}}},
    "expressions": {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "(a+)+$"},
            "b": {"type": "string", "pattern": "(" * 500 + "a" + ")" * 500},
            "c": {"pattern": "a{1,100000}{1,100000}"},
            "d": {"pattern": "["},
            "e": {"pattern": "x" * 100_000},
        },
    },
    "unions times unions": {
        "type": "object",
        "properties": {
            "a": {
                "allOf": [
                    {"anyOf": [{"type": "object", "properties": {f"p{i}_{j}": {"type": "string"}}} for j in range(8)]}
                    for i in range(12)
                ]
            }
        },
    },
    "3,000 branches": {
        "type": "object",
        "properties": {"x": {"anyOf": [{"type": "object", "required": [f"k{i}"], "properties": {f"k{i}": {}}} for i in range(3_000)]}},
    },
    "5,000 branches at the root": {
        "type": "object",
        "anyOf": [{"properties": {f"k{i}": {"type": "string"}}, "required": [f"k{i}"]} for i in range(5_000)],
    },
    "branches times properties": {
        "type": "object",
        "properties": {
            "x": {
                "type": "object",
                "properties": {f"k{i}": {"type": "string"} for i in range(300)},
                "anyOf": [{"required": [f"k{i}"], "minProperties": i} for i in range(300)],
            }
        },
    },
    "numbers past all bounds": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": -(10**400), "maximum": 10**400},
            "b": {"type": "number", "multipleOf": 1e-300, "minimum": 1e308, "default": float("nan")},
            "c": {"type": "string", "minLength": 10**30},
            "d": {"type": "array", "minItems": 10**12},
        },
    },
    "junk": {
        "type": "object",
        "properties": {
            "a": None, "b": 3, "c": "string", "d": ["x"], "e": {"type": {"x": 1}}, "f": {"type": ["string", None, 3]},
            "g": {"enum": "abc"}, "h": {"anyOf": {}}, "i": {"anyOf": []}, "j": {"items": "string"}, "k": {"properties": []},
            "l": {"required": "x"}, "m": {"$ref": 5}, "n": {"allOf": [None]}, "o": {"pattern": 5}, "q": {"not": "x"},
            "p": {"additionalProperties": "string"}, "r": {"const": set()}, "s": {3: 4}, "t": {"type": "strin"},
        },
        "required": [1, None, "a", "a"],
    },
    "keys that are no strings": {1: 2, "type": "object", None: 3},
    "half characters": {"type": "object", "properties": {"\ud800": {"type": "string", "description": "\udfff"}}},
    "true": True, "false": False, "a list": [], "a word": "object", "a number": 5, "nothing": None, "{}": {},
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("strict", [True, False])
def test_hostile_schemas_get_a_definition_or_a_reason(name: str, strict: bool) -> None:
    tool = Tool(ID, "d", HOSTILE[name])
    beside = Tool(ToolId("", "beside"), "d", {"type": "object", "properties": {"a": {"type": "string"}}})
    for provider in providers():
        ready = prepare([tool, beside], provider, strict)
        assert len(ready.definitions) + len(ready.left_out) == 2
        assert beside.id not in ready.left_out
        assert all(isinstance(why, str) and why for why in ready.left_out.values())


@pytest.mark.parametrize("name", HOSTILE)
def test_calls_of_hostile_tools_are_answered(name: str) -> None:
    for provider in ("openai-chat", "gemini-openapi"):
        ready = prepare([Tool(ID, "d", HOSTILE[name])], provider, strict=False)
        if not ready.left_out:
            answer = ready.resolve(
                ToolCall("1", ready.wire_name(ID), "{}", {"x": "abc", "a": "a" * 5000 + "!", "b": [[1]]})
            )
            assert isinstance(answer, BoundCall | ToolResult)
