"""Content and results in words: what is no text is described, and nothing is said twice.

The texts that models read in place of what cannot be carried to them. Knows no rules: `history.media` decides what has
to be said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from toolbridge.types import Audio, Content, Image, Resource, ResourceLink, Text, ToolResult

LONGEST_ABYSS = 10_000
"""Characters that are written of a value that is nested too deeply to be written whole."""

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")
_NO_JSON = object()


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────


def described(block: Content) -> str:
    """A block as text: text as it is, a resource's text under a line that names it, and what is no text in a line."""
    match block:
        case Text():
            return block.text
        case Image():
            return f"[image: {_list(block.mime_type, data_size(block.data))}]"
        case Audio():
            return f"[audio: {_list(block.mime_type, data_size(block.data))}]"
        case Resource():
            if block.text is not None:
                return headed(block, block.text)
            return f"[resource: {_list(block.uri, block.mime_type, data_size(block.blob or ''))}]"
        case ResourceLink():
            return f"[link: {_list(block.name, block.uri, block.mime_type, block.description)}]"


def unreadable(block: Image | Audio | Resource) -> str:
    """A block whose data cannot be read, in a line."""
    uri = block.uri if isinstance(block, Resource) else None
    kind = type(block).__name__.lower()
    return f"[{kind}: {_list(uri, block.mime_type, 'its data cannot be read')}]"


def headed(resource: Resource, text: str) -> str:
    """A resource's text, under a line that names it."""
    return f"[resource: {_list(resource.uri, resource.mime_type)}]\n{text}"


def data_size(data: str) -> str:
    """The size of base64 data, in words."""
    return f"{len(data.rstrip('=')) * 3 // 4:,} bytes"


def _list(*parts: str | None) -> str:
    return ", ".join(each for each in parts if each)


def is_blank(text: str) -> bool:
    """Whether there is nothing but white space."""
    return not text or text.isspace()


def well_formed(text: str) -> str:
    """The text, where every character is one: half a surrogate pair cannot be sent, and is replaced by U+FFFD."""
    if text.isascii() or not _HALF.search(text):
        return text
    paired = _PAIR.sub(lambda found: found[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _HALF.sub("\ufffd", paired)


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


def result_text(result: ToolResult) -> str:
    """A whole result as one text: what is no text is described, and nothing is said twice."""
    return "\n".join([described(each) for each in result.content] + structured_lines(result))


def structured_lines(result: ToolResult) -> list[str]:
    """The structured content as text, unless there is none or the content says it."""
    if result.structured is None or said_within(own_texts(result), result.structured):
        return []
    return [json_text(result.structured)]


def own_texts(result: ToolResult) -> list[str]:
    """The texts that the tool wrote, in blocks of text and in resources."""
    texts = [each.text for each in result.content if isinstance(each, Text | Resource)]
    return [each for each in texts if each]


def json_text(value: Any, *, compact: bool = False) -> str:
    """A value as JSON with every character as it is; cut, where it is nested too deeply to be written whole."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":") if compact else None)
    except (TypeError, ValueError, RecursionError):
        from toolbridge.schema.phrases import quoted  # for an abyss only

        return quoted(value, LONGEST_ABYSS)


def sendable(value: Any) -> Any:
    """A value that is JSON throughout, with whole characters; `None` where it cannot be sent as JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return value if (whole := well_formed(text)) == text else json.loads(whole)


# ── once ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def says(texts: Sequence[str], structured: Any) -> bool:
    """Whether these texts are the structured content: one text, or a text for each item of a list.

    What is no object comes in an object with the one key `result`, and is meant all the same.
    """
    if not texts:
        return False
    values = [_value(each) for each in texts]
    wrapped = isinstance(structured, dict) and list(structured) == ["result"]
    for meant in (structured, structured["result"]) if wrapped else (structured,):
        if len(texts) == 1 and _is(texts[0], values[0], meant):
            return True
        if isinstance(meant, list) and len(meant) == len(texts) and all(map(_is, texts, values, meant)):
            return True
    return False


def said_within(texts: Sequence[str], structured: Any) -> bool:
    """Whether the structured content is said by these texts, alone or among other things."""
    if says(texts, structured):
        return True
    return len(texts) > 1 and isinstance(structured, dict | list) and any(says([each], structured) for each in texts)


def _is(text: str, value: Any, meant: Any) -> bool:
    return text == meant or (value is not _NO_JSON and same_json(value, meant))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: `1` is `1.0` and is not `true`. However deep they are."""
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, dict):
            if not isinstance(right, dict) or left.keys() != right.keys():
                return False
            pending += [(value, right[key]) for key, value in left.items()]
        elif isinstance(left, list | tuple):
            if not isinstance(right, list | tuple) or len(left) != len(right):
                return False
            pending += zip(left, right, strict=True)
        elif isinstance(left, bool) is not isinstance(right, bool) or left != right:
            return False
    return True
