"""Entries of `tool_calls`: what is where in them, and how one is written.

A function's call has its arguments as text, a custom tool's call free text, and some servers have the fields one level
up, or an object for text. Everything that is none of these is kept as it came and written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from toolbridge.stream.arguments import INVALID_JSON
from toolbridge.types import ToolCall

Wire: TypeAlias = dict[str, Any]

_ENTRY = frozenset({"index", "id", "type", "function", "custom", "name", "arguments"})
_FUNCTION = frozenset({"name", "arguments", "index"})
_NO_ID = ("", "null")
"""Ids that are none: `"null"` is what Mistral's SDK and servers have in its place."""


class Entry(NamedTuple):
    """What an entry says, in part or in whole."""

    id: str
    name: str
    given: Any
    """The argument text, or whatever stands in its place; `None` is nothing."""
    opaque: Wire
    index: Any


def read_entry(entry: Mapping[str, Any]) -> Entry:
    function, custom, kind = entry.get("function"), entry.get("custom"), entry.get("type")
    opaque = {key: value for key, value in entry.items() if key not in _ENTRY and value is not None}
    body: Mapping[str, Any] = entry
    given = None
    if isinstance(custom, dict):
        body, given, kind = custom, custom.get("input"), "custom"
    elif isinstance(function, dict):
        body, given = function, function.get("arguments")
        beside = {key: value for key, value in function.items() if key not in _FUNCTION and value is not None}
        if beside:
            opaque["function"] = beside
    if given is None:
        given = entry.get("arguments")
    if isinstance(kind, str) and kind not in ("", "function"):
        opaque["type"] = kind
    name = body.get("name") or entry.get("name")
    return Entry(
        read_id(entry.get("id")),
        name if isinstance(name, str) else "",
        given,
        opaque,
        entry.get("index", body.get("index")),
    )


def read_id(id: Any) -> str:
    """An id, and the empty string for what is none."""
    if isinstance(id, int) and not isinstance(id, bool):
        return str(id)
    return id if isinstance(id, str) and id not in _NO_ID else ""


def write_call(call: ToolCall) -> Wire:
    """An entry of `tool_calls`, with everything that its provider put into it."""
    beside = {key: value for key, value in call.opaque.items() if key not in _ENTRY}
    kind = call.opaque.get("type")
    if kind == "custom":
        broken = (call.arguments or {}).get(INVALID_JSON)  # free text is no JSON, and stands there as such
        text = broken if isinstance(broken, str) else call.text
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": text}, **beside}
    inner = call.opaque.get("function")
    function = {"name": call.name, "arguments": call.text}
    if isinstance(inner, dict):
        function |= {key: value for key, value in inner.items() if key not in _FUNCTION}
    return {"id": call.id, "type": kind if isinstance(kind, str) else "function", "function": function, **beside}
