"""Tables of JSON Schema: the keywords, what their values are, where subschemas stand, and the JSON kinds as bits.

A walk is steered by these tables and never by a literal `type`: JSON Schema makes `type` optional and lets it be a
list. `enum`, `const`, `default` and `examples` hold data and are never walked into.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

NULL: Final = 1
BOOLEAN: Final = 2
INTEGER: Final = 4
FRACTION: Final = 8
STRING: Final = 16
ARRAY: Final = 32
OBJECT: Final = 64
ANY: Final = 127

KINDS: Final[dict[str, int]] = {
    "null": NULL,
    "boolean": BOOLEAN,
    "integer": INTEGER,
    "number": INTEGER | FRACTION,
    "string": STRING,
    "array": ARRAY,
    "object": OBJECT,
}
"""The JSON kinds that each type name admits. A whole number is an integer however it is written."""

TYPE_SYNONYMS: Final[dict[str, str | None]] = {
    "str": "string", "text": "string", "char": "string", "date": "string", "datetime": "string", "file": "string",
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "uint": "integer",
    "float": "number", "double": "number", "decimal": "number", "numeric": "number", "num": "number",
    "bool": "boolean", "dict": "object", "map": "object", "record": "object", "struct": "object", "json": None,
    "list": "array", "tuple": "array", "set": "array", "none": "null", "nil": "null", "undefined": "null",
    "any": None, "enum": None, "unknown": None, "mixed": None, "*": None,
}  # fmt: skip
"""Type names seen in the wild that JSON Schema does not have, and what they plainly mean (`None`: any value)."""

SCHEMA_IN_VALUE: Final = frozenset({
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "contentSchema",
})  # fmt: skip
SCHEMAS_IN_LIST: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
SCHEMAS_IN_MAP: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})

NOT_MONOTONE: Final = frozenset({"not", "if", "oneOf"})
"""Keywords under which accepting more may mean accepting less outside, so that nothing below may be loosened."""

NUMBERS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
COUNTS: Final = frozenset({
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
})  # fmt: skip

VALUE_TYPES: Final[dict[str, frozenset[type]]] = {
    **dict.fromkeys(SCHEMA_IN_VALUE, frozenset({dict, bool})),
    **dict.fromkeys(SCHEMAS_IN_LIST, frozenset({list})),
    **dict.fromkeys(SCHEMAS_IN_MAP, frozenset({dict})),
    **dict.fromkeys(NUMBERS, frozenset({int, float})),
    **dict.fromkeys(COUNTS, frozenset({int})),
    **dict.fromkeys(("required", "enum", "examples"), frozenset({list})),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), frozenset({bool})),
    **dict.fromkeys(
        ("title", "description", "format", "pattern", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor",
         "contentEncoding", "contentMediaType"),
        frozenset({str}),
    ),
    "type": frozenset({str}),
    "dependentRequired": frozenset({dict}),
}  # fmt: skip
"""The Python type each keyword's value has when nothing about it needs a second look; `repair` looks at the rest."""

KNOWN: Final = frozenset(VALUE_TYPES) | {"const", "default"}
"""Every keyword that means something."""

ANNOTATIONS: Final = frozenset({
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment",
})  # fmt: skip
"""Keywords that no value can fail."""

OBJECT_KEYWORDS: Final = frozenset({
    "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
    "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
})  # fmt: skip
ARRAY_KEYWORDS: Final = frozenset({
    "items", "prefixItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems",
    "unevaluatedItems",
})  # fmt: skip
STRING_KEYWORDS: Final = frozenset({
    "minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema",
})  # fmt: skip

KINDS_OF_KEYWORD: Final[dict[str, int]] = {
    **dict.fromkeys(OBJECT_KEYWORDS, OBJECT),
    **dict.fromkeys(ARRAY_KEYWORDS, ARRAY),
    **dict.fromkeys(STRING_KEYWORDS, STRING),
    **dict.fromkeys(NUMBERS, INTEGER | FRACTION),
}
"""The kinds of value a keyword speaks about; the others pass it untouched."""


_KIND_OF: Final[dict[type, int]] = {
    type(None): NULL, bool: BOOLEAN, int: INTEGER, str: STRING, list: ARRAY, tuple: ARRAY, dict: OBJECT,
}  # fmt: skip


def kind_of(value: Any) -> int:
    """The kind of a JSON value, as a bit."""
    kind = _KIND_OF.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, float):
        return INTEGER if value.is_integer() else FRACTION
    return next((kind for of, kind in _KIND_OF.items() if isinstance(value, of)), OBJECT)


def kinds_of_type(declared: str | list[str]) -> int:
    """The kinds that a sound `type` keyword admits."""
    if type(declared) is str:
        return KINDS[declared]
    kinds = 0
    for each in declared:
        kinds |= KINDS[each]
    return kinds


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, as JSON Schema sees it: `true` is not `1`, `1.0` is."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(each, other[key]) for key, each in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def subschemas(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects that stand in a schema's place inside a node, one level down, be the node sound or not."""
    for keyword, value in node.items():
        if keyword in SCHEMA_IN_VALUE or keyword in SCHEMAS_IN_LIST:
            yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict))
        elif keyword in SCHEMAS_IN_MAP and isinstance(value, dict):
            yield from (each for each in value.values() if isinstance(each, dict))
