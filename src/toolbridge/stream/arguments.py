"""Argument text: what a model wrote for a call's arguments, as a JSON object or as what is wrong with it.

Strict on purpose: text that is not one JSON object is told, never mended. Nothing at all (`""`, white space, `null`)
is how models say that there are no arguments, and a JSON string that holds a JSON object is how some servers send one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from toolbridge.types import EMPTY, JsonObject, ToolCall

INVALID_JSON = "INVALID_JSON"
"""The one key under which a call whose arguments are no JSON object stands in a transcript: providers, or the servers
behind them, refuse a history with broken arguments in it."""

SHOWN = 40
"""Characters of the text that are shown around a mistake."""

_HALF = re.compile("[\ud800-\udfff]")
_KINDS = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def read_arguments(text: str) -> tuple[JsonObject | None, str | None]:
    """(the arguments, `None`), or (`None`, what is wrong and where)."""
    if not text or text.isspace():
        return {}, None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as failure:
        return None, _place(text, failure)
    except RecursionError:
        return None, "the arguments are nested too deeply"
    except ValueError as failure:  # a number of thousands of digits, NaN
        return None, f"the arguments are not JSON: {failure}"
    if value is None:
        return {}, None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        inner, problem = read_arguments(value)
        return (inner, None) if inner is not None else (None, f"the arguments are a string of JSON, and {problem}")
    if not isinstance(value, dict):
        return None, f"the arguments are {_KINDS[type(value)]}, not a JSON object"
    if "\\u" in text and _HALF.search(json.dumps(value, ensure_ascii=False)):
        return None, "the arguments hold half of a surrogate pair, which is no character"
    if not text.isascii() and _HALF.search(text):
        return None, "the arguments hold half of a surrogate pair, which is no character"
    return value, None


def write_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments as compact JSON text, with every character as it is."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def read_call(id: str, name: str, given: Any, opaque: Mapping[str, Any] = EMPTY) -> ToolCall:
    """A call from a whole transcript or reply, where `given` is its argument text or the object itself."""
    if given is None:
        text, arguments, problem = "", {}, None
    elif isinstance(given, str):
        text = given
        arguments, problem = read_arguments(text)
    else:
        try:
            text = json.dumps(given, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            return ToolCall(id, name, "", None, "the arguments are not JSON", opaque)
        arguments, problem = read_arguments(text)
    if arguments is not None and len(arguments) == 1 and isinstance(arguments.get(INVALID_JSON), str):
        return read_broken(id, name, arguments[INVALID_JSON], opaque)
    return ToolCall(id, name, text, arguments, problem, opaque)


def read_broken(id: str, name: str, text: str, opaque: Mapping[str, Any]) -> ToolCall:
    """A call that stands in a transcript as broken: it stays so, whatever its text looks like."""
    _, problem = read_arguments(text)
    return ToolCall(id, name, text, None, problem or "the call was not understood when it was made", opaque)


def _place(text: str, failure: json.JSONDecodeError) -> str:
    if failure.pos >= len(text.rstrip()):
        return f"the arguments end too early, after {_excerpt(text[-SHOWN:])}"
    if failure.msg.startswith("Unterminated string"):
        return f"the arguments end too early, inside of a string, after {_excerpt(text[-SHOWN:])}"
    around = text[max(0, failure.pos - SHOWN // 2) : failure.pos + SHOWN // 2]
    where = (
        f"at character {failure.pos + 1}"
        if failure.lineno == 1
        else f"in line {failure.lineno}, column {failure.colno}"
    )
    return f"the arguments are not valid JSON {where} ({_WORDS.get(failure.msg, failure.msg)}), near {_excerpt(around)}"


def _excerpt(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_WORDS = {
    "Extra data": "more text after the end of the object",
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a key in double quotes is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Invalid control character at": "a control character inside a string",
    "Illegal trailing comma before end of object": "a comma before the end of the object",
    "Illegal trailing comma before end of array": "a comma before the end of the list",
}
"""The parser's messages, in words for a model."""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
