"""Mistakes in settings, in words: what a value is and where it stands, and never the value: it may be a secret."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Wrong: TypeAlias = Callable[[str, str], None]
"""Takes a mistake: the key where it is, and what is wrong there."""


def kind(value: Any) -> str:
    """What a value is, in words, without showing it."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def unknown(value: Any) -> str:
    """A value that is none of those expected."""
    return "an unknown word" if isinstance(value, str) else kind(value)


def inner(key: str, name: str) -> str:
    """The path of a name in an object: `env.API_KEY`, or in brackets where it is no plain word."""
    if re.fullmatch(r"[\w.-]+", name):
        return f"{key}.{name}"
    import json

    return f"{key}[{json.dumps(name)}]"
