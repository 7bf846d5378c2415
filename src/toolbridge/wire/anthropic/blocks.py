"""Content blocks of Anthropic Messages: text, images, documents, in both directions, and what stands beside a block.

Blocks that only Anthropic understands (hosted tools, files by id, search results) are kept whole. `cache_control` is
about the request that it was in, and is never kept.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from toolbridge.history.rules import PDF
from toolbridge.types import Audio, Content, Foreign, Image, Reasoning, Resource, ResourceLink, Text, ToolCall
from toolbridge.wire.talk import Wire

PLAIN_TEXT: Final = "text/plain"

LONGEST_TITLE: Final = 500
"""Characters of a document's title."""

THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def kind_of(block: Any) -> str:
    return string(block.get("type")) if isinstance(block, Mapping) else ""


def beside(block: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """What a block has beside its known fields and its type."""
    return {
        key: value
        for key, value in block.items()
        if value is not None and key not in known and key not in ("type", "cache_control") and isinstance(key, str)
    }


def whole(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block as it is, for the one who understands it."""
    return {key: value for key, value in block.items() if key != "cache_control"}


def beside_text(block: Mapping[str, Any]) -> dict[str, Any]:
    """A text's citations, which make it acceptable as the model's own words on a document."""
    citations = block.get("citations")
    return {"citations": citations} if isinstance(citations, list) and citations else {}


def beside_thought(block: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a thought acceptable again: its signature, or all of it where it is sealed."""
    if block.get("type") == "redacted_thinking":
        return whole(block)
    return {key: value for key, value in beside(block, "thinking").items() if value != ""}


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def is_replayable(part: Reasoning | Text) -> bool:
    """Thoughts by their signature, or sealed. Blank texts are refused, whatever is cited beside them ("text content
    blocks must contain non-whitespace text")."""
    if isinstance(part, Text):
        return False
    return bool(part.opaque.get("signature")) or part.opaque.get("type") == "redacted_thinking"


def write_block(part: Content | Foreign | Reasoning | ToolCall) -> Wire | None:
    """A part of any message or result; nothing for what legal turns do not have."""
    match part:
        case Text():
            return _write_text(part)
        case Image():
            return _write_source("image", {"type": "base64", "media_type": part.mime_type, "data": part.data})
        case Resource():
            return _write_document(part)
        case ResourceLink():
            kind = "image" if (part.mime_type or "").startswith("image/") else "document"
            return _write_source(kind, {"type": "url", "url": part.uri})
        case Foreign():
            return dict(part.opaque)
        case Reasoning():
            return _write_thought(part)
        case ToolCall():
            used: Wire = {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments or {}}
            return {**used, **{key: value for key, value in part.opaque.items() if key not in used}}
        case Audio():
            return None


def _write_text(part: Text) -> Wire | None:
    if not part.text.strip():
        return None
    citations = part.opaque.get("citations")
    return {"type": "text", "text": part.text, **({"citations": citations} if citations else {})}


def _write_thought(part: Reasoning) -> Wire:
    if part.opaque.get("type") == "redacted_thinking":
        return dict(part.opaque)
    return {**part.opaque, "type": "thinking", "thinking": part.text}


def _write_document(part: Resource) -> Wire | None:
    title = _title(part.uri)
    named = {"title": title} if title else {}
    if part.blob is None or part.mime_type == PLAIN_TEXT:
        text = part.text if part.text is not None else _decoded(part.blob or "")
        if not text.strip():
            return None
        return _write_source("document", {"type": "text", "media_type": PLAIN_TEXT, "data": text}, named)
    source = {"type": "base64", "media_type": part.mime_type or PDF, "data": part.blob}
    return _write_source("document", source, named)


def _write_source(kind: str, source: Wire, beside: Mapping[str, Any] | None = None) -> Wire:
    return {"type": kind, "source": source, **(beside or {})}


def _title(uri: str) -> str:
    """What a file is called: the last step of its address, or its name as it stands."""
    name = uri
    if "://" in uri:
        try:
            name = unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2]
        except ValueError:
            name = uri.rpartition("/")[2]
    return name.strip()[:LONGEST_TITLE]


def _decoded(blob: str) -> str:
    try:
        return b64decode(blob).decode("utf-8", "replace")
    except ValueError:
        return ""


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_content(block: Any) -> Content | Foreign | None:
    """A text, an image or a document; `Foreign` where only Anthropic can open it, `None` where it is none of them."""
    if isinstance(block, str):
        return Text(block)
    match kind_of(block):
        case "text":
            return Text(block["text"], beside_text(block)) if isinstance(block.get("text"), str) else None
        case "image" | "document" as kind:
            return _read_source(block, kind)
        case _:
            return None


def _read_source(block: Mapping[str, Any], kind: str) -> Content | Foreign | None:
    source = block.get("source")
    if not isinstance(source, Mapping):
        return None
    title, data, media_type = string(block.get("title")), source.get("data"), string(source.get("media_type"))
    match source.get("type"):
        case "base64" if isinstance(data, str):
            if kind == "image":
                return Image(data, media_type or "image/png")
            return Resource(title, media_type or PDF, blob=data)
        case "text" if isinstance(data, str):
            return Resource(title, media_type or PLAIN_TEXT, text=data)
        case "url" if isinstance(source.get("url"), str):
            return ResourceLink(source["url"], title, "image/*" if kind == "image" else PDF)
        case "file" | "content":
            return Foreign(kind, whole(block))
        case _:
            return None


def lost(block: Any, part: Content | Foreign) -> dict[str, Any]:
    """What an image or a document has that no part of ours has a place for: `citations`, `context`, …"""
    if not isinstance(block, Mapping) or isinstance(part, Text | Foreign):
        return {}
    return beside(block, "source", "title")
