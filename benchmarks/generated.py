"""Generated tools: a list that needs nothing outside the repository, the same at every run.

The mix follows what MCP servers list: two or three properties in the middle, a long tail, a quarter of the tools with
`anyOf` and null as Pydantic writes it, some nesting, few references, here and there a map or an object of any shape.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

TOOLS = 500
SEED = 2026
GROWTH = (10, 100, 1_000, 10_000)
"""Properties of the schemas that show how the cost grows."""

_VERBS = ("list", "get", "create", "update", "delete", "search", "export", "archive", "run", "describe")
_NOUNS = ("issue", "invoice", "pod", "dashboard", "contact", "table", "page", "event", "ticket", "branch", "alert",
          "order", "asset", "comment", "webhook", "dataset", "meeting", "secret", "policy", "job")  # fmt: skip
_FIELDS = ("id", "name", "query", "limit", "cursor", "owner", "status", "labels", "from_date", "to_date", "region",
           "format", "dry_run", "content", "path", "parent_id", "sort", "title", "metadata", "filters", "timeout",
           "include_archived", "tags", "priority", "email", "url", "offset", "fields", "body", "type")  # fmt: skip
_WORDS = ("The identifier of the resource as other calls return it", "How many to return at most", "Text to look for",
          "ISO 8601 date; leave it out for no bound", "Whether archived entries count too", "Free text in Markdown",
          "Comma-separated names, or one name", "Where to begin; take it from the previous answer")  # fmt: skip

Make = Callable[[Random], dict[str, Any]]


def _enum(random: Random) -> dict[str, Any]:
    values = ["open", "closed", "all", "draft", "asc", "desc", "json", "csv", "low", "normal", "high", "critical"]
    return {"type": "string", "enum": random.sample(values, random.randint(2, 8))}


def _count(random: Random) -> dict[str, Any]:
    return {"type": "integer", "minimum": random.choice((0, 1)), "maximum": random.choice((50, 100, 1000))}


def _maybe(random: Random) -> dict[str, Any]:
    kind = random.choice(("string", "integer", "boolean", "number"))
    return {"anyOf": [{"type": kind}, {"type": "null"}], "default": None}


def _list(random: Random) -> dict[str, Any]:
    if random.random() < 0.2:
        return {"type": "array", "items": _object(random), "minItems": 1}
    return {"type": "array", "items": {"type": random.choice(("string", "integer"))}}


def _object(random: Random, kinds: tuple[tuple[int, Make], ...] = ()) -> dict[str, Any]:
    members = _members(random, random.randint(1, 5), kinds or _FLAT)
    return {"type": "object", "properties": members, "required": sorted(random.sample(sorted(members), 1))}


def _variant(random: Random) -> dict[str, Any]:
    arms = [
        {"type": "object", "properties": {"kind": {"const": kind}, key: {"type": "string"}}, "required": ["kind", key]}
        for kind, key in (("card", "number"), ("transfer", "iban"))
    ]
    return {"oneOf": arms}


_FLAT: tuple[tuple[int, Make], ...] = (
    (40, lambda random: {"type": "string"}),
    (9, lambda random: {"type": "integer", "default": random.choice((10, 20, 50))}),
    (6, _count),
    (5, lambda random: {"type": "number"}),
    (9, lambda random: {"type": "boolean", "default": False}),
    (7, _enum),
    (14, _maybe),
    (2, lambda random: {"type": "string", "format": random.choice(("date-time", "email", "uri", "uuid"))}),
    (2, lambda random: {"type": "string", "minLength": 1, "maxLength": 255}),
    (1, lambda random: {"type": "string", "pattern": "^[a-z0-9-]+$"}),
    (2, lambda random: {"type": ["string", "null"]}),
    (1, lambda random: {}),
)
_ALL: tuple[tuple[int, Make], ...] = (
    *_FLAT,
    (7, _list),
    (3, lambda random: {"type": "object", "additionalProperties": True}),
    (2, lambda random: {"type": "object", "additionalProperties": {"type": "string"}}),
    (4, lambda random: _object(random, (*_FLAT, (6, _object), (6, _list)))),
    (1, _variant),
)


def _members(random: Random, count: int, kinds: tuple[tuple[int, Make], ...]) -> dict[str, Any]:
    weights = [weight for weight, _ in kinds]
    members: dict[str, Any] = {}
    for i in range(count):
        key = _FIELDS[random.randrange(len(_FIELDS))] if count < 20 else f"{random.choice(_FIELDS)}_{i}"
        member = random.choices(kinds, weights)[0][1](random)
        if random.random() < 0.72:
            member["description"] = random.choice(_WORDS)
        members[key] = member
    return members


def _with_references(random: Random, schema: dict[str, Any]) -> None:
    schema["$defs"] = {"Address": _object(random), "Item": _object(random)}
    schema["properties"]["address"] = {"$ref": "#/$defs/Address"}
    schema["properties"]["items"] = {"type": "array", "items": {"$ref": "#/$defs/Item"}}
    if random.random() < 0.3:
        schema["$defs"]["Item"]["properties"]["parts"] = {"type": "array", "items": {"$ref": "#/$defs/Item"}}


def _tool(random: Random, i: int) -> dict[str, Any]:
    count = random.choices((0, 1, 2, 3, 4, 6, 9, 14, 40), (8, 22, 22, 15, 10, 10, 8, 4, 1))[0]
    members = _members(random, count, _ALL)
    schema: dict[str, Any] = {"type": "object", "properties": members}
    if members:
        schema["required"] = [key for key in members if random.random() < 0.45] or [next(iter(members))]
    if random.random() < 0.45:
        schema["additionalProperties"] = False
    if random.random() < 0.28:
        schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    if random.random() < 0.22:
        schema["title"] = "Arguments"
        for key, member in members.items():
            member["title"] = key.replace("_", " ").title()
    if random.random() < 0.01 or i % 100 == 50:
        _with_references(random, schema)
    verb, noun = random.choice(_VERBS), random.choice(_NOUNS)
    text = f"{verb.capitalize()} one {noun} or several. " + " ".join(random.choices(_WORDS, k=random.randint(0, 8)))
    return {"name": f"{verb}_{noun}_{i}", "description": text, "inputSchema": schema}


def tools() -> list[dict[str, Any]]:
    """The list."""
    random = Random(SEED)
    return [_tool(random, i) for i in range(TOOLS)]


def wide(properties: int) -> dict[str, Any]:
    """One tool with that many properties, of five kinds in turn."""
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "string", "description": "Some text"},
        {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        {"type": "array", "items": {"type": "string"}},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"type": "string", "enum": ["one", "two", "three"]},
    )
    members = {f"field_{i}": kinds[i % len(kinds)] for i in range(properties)}
    schema = {"type": "object", "properties": members, "required": [key for key in members if key.endswith("0")]}
    return {"name": "update_record", "description": "Update a record.", "inputSchema": schema}
