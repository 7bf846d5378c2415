"""Envelopes: the JSON objects `{"name": …, "arguments": …}` in which most models ask for a call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from toolbridge.stream.arguments import read_arguments
from toolbridge.stream.text_calls.page import Asked, Page

ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input")
ENVELOPE_KEYS: Final = frozenset({"name", "function", "type", "id", "index", *ARGUMENT_KEYS})
"""All that an unmarked object may have in it: one with a description, say, is a definition and no call."""

LONGEST_NAME: Final = 256
CUT_OFF: Final = "the call ends before its arguments do"
NOT_JSON: Final = "the call around the arguments is not valid JSON"
_HALF = re.compile("[\ud800-\udfff]")

_BEGUN = re.compile(
    r"""\[?\s*\{\s*(?:["']type["']\s*:\s*["']function["']\s*,\s*)?(?:["']function["']\s*:\s*\{\s*)?"""
    r"""["']name["']\s*:\s*(["'])(?P<name>[^"'\\\x00-\x1f]{1,256})\1\s*"""
    rf"""(?:,\s*["'](?P<key>{"|".join(ARGUMENT_KEYS)})["']\s*:\s*)?"""
)
"""The beginning of a broken envelope: as much of it as says whose call it was going to be."""


def read_name(name: Any, page: Page) -> str | None:
    """The name of the tool: some models put their namespace for functions in front."""
    if not isinstance(name, str):
        return None
    name = name.strip()
    if name not in page.names:
        name = name.removeprefix("functions.")
    return name if 0 < len(name) <= LONGEST_NAME and not _HALF.search(name) else None


def read_calls(value: Any, page: Page, *, marked: bool) -> list[Asked] | None:
    """The calls that a JSON value is; `None` where any of it is something else.

    Where no marker says that it is a call, only what can be nothing else is one: a tool that was offered, with an
    object of arguments, and nothing beside that does not belong to a call.
    """
    values: list[Any] = value if isinstance(value, list) else [value]
    calls: list[Asked] = []
    for each in values:
        call = _read_call(each, page) if marked else _read_plain_call(each, page)
        if call is None:
            return None
        calls.append(call)
    return calls or None


def _read_call(value: Any, page: Page) -> Asked | None:
    envelope = _opened(value)
    name = None if envelope is None else read_name(envelope.get("name"), page)
    if envelope is None or name is None:
        return None
    keys = [key for key in ARGUMENT_KEYS if key in envelope]
    if len(keys) > 1:
        return Asked(name, "", f"the call has its arguments twice, as {keys[0]!r} and as {keys[1]!r}")
    return Asked(name, envelope[keys[0]] if keys else None)


def _read_plain_call(value: Any, page: Page) -> Asked | None:
    envelope = _opened(value)
    if envelope is None or not (envelope.keys() | value.keys()) <= ENVELOPE_KEYS:
        return None
    call = _read_call(envelope, page)
    if call is None or call.name not in page.names or call.problem is not None:
        return None
    if isinstance(call.given, str):
        return call if call.given.strip() and read_arguments(call.given)[0] is not None else None
    if not isinstance(call.given, dict):
        return None
    schema = call.given.get("type") == "object" and isinstance(call.given.get("properties"), dict)
    return None if schema and "parameters" in envelope else call


def _opened(value: Any) -> Mapping[str, Any] | None:
    """The object with the name in it; Chat Completions puts it into another one."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    return inner if isinstance(inner, dict) and "name" not in value else value


def read_broken(page: Page, at: int, end: int) -> Asked | None:
    """A call that is no JSON, where it is still clear whose call it is."""
    begun = _BEGUN.match(page.text, at, end)
    name = None if begun is None else read_name(begun["name"], page)
    if begun is None or name is None:
        return None
    rest = page.text[begun.end() : end].strip()
    if not rest:
        return Asked(name, rest, CUT_OFF)
    if begun["key"] is None:
        return Asked(name, rest, NOT_JSON)
    decoded = page.decode(begun.end()) if page.has_json(begun.end()) else None
    if decoded is not None and decoded[1] <= end:
        return Asked(name, page.text[begun.end() : decoded[1]], NOT_JSON)
    return Asked(name, rest, read_arguments(rest)[1] or NOT_JSON)
