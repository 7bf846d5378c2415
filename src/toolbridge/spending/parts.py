"""The parts of a definition: whose text the tokens are. Looks at what a provider is sent, not at the server's tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolbridge.history.said import json_text
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP
from toolbridge.tokens import Counter

PARTS: Final = ("name", "description", "parameters", "enums", "structure")
"""In the order in which they are shown."""

_SCHEMAS: Final = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
"""Where providers have the schema of the arguments."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Tokens of a definition. The parts are counted each by itself, and the structure is what remains of the whole, so
    that they add up."""

    name: int
    description: int
    parameters: int
    """What is said of the parameters, at any depth."""
    enums: int
    """The values that are listed."""
    structure: int
    """Everything else: keys, types, limits, titles, examples, brackets."""

    @property
    def total(self) -> int:
        return self.name + self.description + self.parameters + self.enums + self.structure


def parts_of(definition: Mapping[str, Any], count: Counter, total: int | None = None) -> Parts:
    """The definition of one tool, whichever provider's it is, taken apart; `total` where it is not sent as JSON."""
    if total is None:
        total = count(json_text(definition, compact=True))
    function = _function(definition)
    name = _text(function.get("name"), count)
    description = _text(function.get("description"), count)
    said = listed = 0
    for node in _nodes(_schema(function)):
        said += _text(node.get("description"), count)
        values = node.get("enum")
        listed += count(json_text(values, compact=True)) if isinstance(values, list) else 0
    name = min(name, total)
    description = min(description, total - name)
    said = min(said, total - name - description)
    listed = min(listed, total - name - description - said)
    return Parts(name, description, said, listed, total - name - description - said - listed)


def _text(value: Any, count: Counter) -> int:
    return count(json_text(value)[1:-1]) if isinstance(value, str) and value else 0


def _function(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where the name stands: at the top, or one level down."""
    for each in (definition, *definition.values()):
        if isinstance(each, Mapping) and isinstance(each.get("name"), str):
            return each
    return definition


def _schema(function: Mapping[str, Any]) -> Any:
    found = next((function[key] for key in _SCHEMAS if key in function), None)
    return found["json"] if isinstance(found, Mapping) and set(found) == {"json"} else found


def _nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        yield node
        for keyword, value in node.items():
            if keyword in SCHEMAS_IN_MAP and isinstance(value, Mapping):
                waiting += value.values()
            elif keyword in SCHEMAS_IN_LIST and isinstance(value, list):
                waiting += value
            elif keyword in SCHEMA_IN_VALUE:
                waiting.append(value)
