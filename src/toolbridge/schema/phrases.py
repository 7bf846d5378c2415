"""Phrases: a constraint that a provider would refuse or ignore, said in words for the model.

One short sentence each, put behind the description. What is said is still checked when the call comes back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

LONGEST_SCHEMA = 400
"""Characters of a rule quoted as JSON Schema in a description; a longer one is cut and ends in an ellipsis."""

LONGEST_LIST = 1000
"""Characters of a list of values in a description."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def quoted(value: Any, longest: int = LONGEST_SCHEMA) -> str:
    """A JSON value in the shortest spelling, non-ASCII as it is, cut where it is very long."""
    if type(value) is int:
        return str(value)
    if type(value) is str:
        text = json.encoder.encode_basestring(value)  # what an encoder would make of it, without making one
        return text if len(text) <= longest else text[: longest - 1] + "…"
    parts: list[str] = []
    length = 0
    try:
        for part in _ENCODER.iterencode(value):  # piece by piece: what is cut is never written
            parts.append(part)
            length += len(part)
            if length > longest:
                break
    except (TypeError, ValueError, RecursionError):
        parts.append("…")
    text = "".join(parts)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(values: list[Any], longest: int = LONGEST_LIST) -> str:
    """Values one after another, and how many more there are where they are too many."""
    parts: list[str] = []
    length = 0
    for each in values:
        text = quoted(each)
        length += len(text) + 2
        if parts and length > longest:
            return f"{', '.join(parts)} and {len(values) - len(parts)} more"
        parts.append(text)
    return ", ".join(parts)


def _counted(text: str, one: str) -> Callable[[Any], str]:
    return lambda count: f"{text} {count} {one if count == 1 else one + 's' if one != 'property' else 'properties'}."


def _dependent(value: Any) -> str:
    return " ".join(f"With {key}, also give {', '.join(names)}." for key, names in value.items() if names)


_PHRASES: dict[str, Callable[[Any], str]] = {
    "minLength": _counted("At least", "character"),
    "maxLength": _counted("At most", "character"),
    "pattern": lambda value: f"Must match the regular expression {value}",
    "format": lambda value: f"Format: {value}.",
    "minimum": lambda value: f"Minimum: {quoted(value)}.",
    "maximum": lambda value: f"Maximum: {quoted(value)}.",
    "exclusiveMinimum": lambda value: f"Greater than {quoted(value)}.",
    "exclusiveMaximum": lambda value: f"Less than {quoted(value)}.",
    "multipleOf": lambda value: f"A multiple of {quoted(value)}.",
    "minItems": _counted("At least", "item"),
    "maxItems": _counted("At most", "item"),
    "uniqueItems": lambda value: "No item twice." if value else "",
    "minProperties": _counted("At least", "property"),
    "maxProperties": _counted("At most", "property"),
    "dependentRequired": _dependent,
    "default": lambda value: f"Default: {quoted(value)}.",
    "examples": lambda value: f"Examples: {listed(value, 300)}." if value else "",
    "enum": lambda value: f"One of: {listed(value)}.",
    "const": lambda value: f"Always {quoted(value)}.",
    "not": lambda value: f"Must not match {quoted(value)}.",
    "contentEncoding": lambda value: f"Encoding: {value}.",
    "contentMediaType": lambda value: f"Media type: {value}.",
    "propertyNames": lambda value: f"Every key must match {quoted(value)}.",
    "additionalProperties": lambda value: f"Every further value must match {quoted(value)}.",
    "deprecated": lambda value: "Deprecated." if value else "",
}


def phrase(keyword: str, value: Any) -> str:
    """The sentence for a constraint; a rule with no phrase of its own is quoted as JSON Schema."""
    made = _PHRASES.get(keyword)
    return made(value) if made else f"Must also satisfy {quoted({keyword: value})}."


def with_sentences(description: str, sentences: list[str]) -> str:
    """The description, never shortened, and the sentences it does not already hold."""
    text = description.rstrip()
    for each in sentences:
        if each and each not in text:
            glue = " " if not text or text[-1] in ".!?:;)…。" else ". "
            text = f"{text}{glue}{each}" if text else each
    return text
