"""Content of a server, for people and for programs: text as it is, what is no text saved and named, links with how to
read them.

`structuredContent` is shown once: where the text says the same, as the protocol wants it to, one of them is enough.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolbridge.cli.media import decoded, save, sized, uri_name
from toolbridge.cli.paragraph import harmless, one_line
from toolbridge.cli.terminal import Paint
from toolbridge.history.said import says
from toolbridge.schema.phrases import quoted
from toolbridge.types import Audio, Content, Image, Resource, ResourceLink, Text, ToolResult

NO_CONTENT = "(no content)"

LONGEST_ABYSS = 10_000
"""Characters that are shown of a value that is nested too deeply to be laid out."""


class Shelf:
    """Where the media of one answer are put: which directory, and under which names."""

    def __init__(self, directory: Path, stem: str) -> None:
        self.directory = directory
        self.stem = stem

    def put(self, block: Image | Audio | Resource) -> tuple[Path, int]:
        """Save a block that is no text; where, and how many bytes."""
        data = block.blob or "" if isinstance(block, Resource) else block.data
        name = uri_name(block.uri) if isinstance(block, Resource) else self.stem
        content = decoded(data, block.uri if isinstance(block, Resource) else block.mime_type)
        path = save(content, self.directory, name, block.mime_type)
        return path, len(content)


def result_lines(result: ToolResult, server: str, shelf: Shelf, paint: Paint) -> list[str]:
    """A result for people."""
    parts, structured = _once(result)
    lines = [line for each in parts for line in block_lines(each, server, shelf, paint)]
    if structured is not _NOTHING:
        lines += harmless(_pretty(structured)).split("\n")
    return lines or [paint(NO_CONTENT, "dim")]


def block_lines(block: Content, server: str, shelf: Shelf, paint: Paint) -> list[str]:
    """One block for people."""
    match block:
        case Text():
            return harmless(block.text.rstrip("\n")).split("\n")
        case Resource() if block.text is not None:
            head = f"{one_line(block.uri)}{_kind(block.mime_type)}"
            return [paint(head, "dim"), *harmless(block.text.rstrip("\n")).split("\n")]
        case Image() | Audio() | Resource():
            path, size = shelf.put(block)
            what = one_line(block.mime_type or "data")
            uri = f" {one_line(block.uri)}" if isinstance(block, Resource) else ""
            return [f"{what}{uri}, {sized(size)}, saved as {paint(one_line(str(path)), 'bold')}"]
        case ResourceLink():
            name = f"{one_line(block.name)}: " if block.name and block.name != block.uri else ""
            about = [paint(f"  {one_line(block.description)}", "dim")] if block.description else []
            read = f"  read it with: toolbridge resources {_word(server)} {_word(block.uri)}"
            return [f"→ {name}{one_line(block.uri)}{_kind(block.mime_type)}", *about, paint(read, "dim")]


def _pretty(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:
        return quoted(value, LONGEST_ABYSS)


def _kind(mime_type: str | None) -> str:
    return f" ({one_line(mime_type)})" if mime_type else ""


def _word(text: str) -> str:
    """A word for a shell; what is not printable would not be the same word."""
    return shlex.quote(one_line(text))


# ── once ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_NOTHING = object()


def _once(result: ToolResult) -> tuple[Sequence[Content], Any]:
    """The blocks that are to be shown, and the structured content unless they say the same."""
    structured = result.structured
    if structured is None:
        return result.content, _NOTHING
    if not says([each.text for each in result.content if isinstance(each, Text)], structured):
        return result.content, structured
    wrapped = isinstance(structured, dict) and list(structured) == ["result"]
    inner = structured["result"] if wrapped else structured
    if isinstance(inner, str):
        return result.content, _NOTHING  # as text it reads best
    return [each for each in result.content if not isinstance(each, Text)], inner


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────


def result_fields(result: ToolResult, shelf: Shelf | None) -> dict[str, Any]:
    """A result under the protocol's names; media in files where there is a shelf for them."""
    fields: dict[str, Any] = {"content": [block_fields(each, shelf) for each in result.content]}
    if result.structured is not None:
        fields["structuredContent"] = result.structured
    fields["isError"] = result.is_error
    if result.failure is not None:
        fields["failure"] = result.failure
    if result.notes:
        fields["notes"] = [{"code": each.code, "path": each.path, "before": each.before} for each in result.notes]
    return fields


def block_fields(block: Content, shelf: Shelf | None = None) -> dict[str, Any]:
    """A block under the protocol's names."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Image() | Audio():
            kind = "image" if isinstance(block, Image) else "audio"
            content = {"data": block.data} if shelf is None else {"file": str(shelf.put(block)[0])}
            return {"type": kind, "mimeType": block.mime_type, **content}
        case Resource():
            return {"type": "resource", "resource": resource_fields(block, shelf)}
        case ResourceLink():
            fields = {
                "type": "resource_link",
                "uri": block.uri,
                "name": block.name,
                "mimeType": block.mime_type,
                "description": block.description,
            }
            return {key: value for key, value in fields.items() if value is not None}


def resource_fields(block: Resource, shelf: Shelf | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"uri": block.uri, "mimeType": block.mime_type, "text": block.text}
    if block.blob is not None:
        fields |= {"blob": block.blob} if shelf is None else {"file": str(shelf.put(block)[0])}
    return {key: value for key, value in fields.items() if value is not None}


def print_lines(lines: Sequence[str]) -> None:
    """Lines on stdout, and a reader that is gone is noticed now."""
    print("\n".join(lines), file=sys.stdout, flush=True)
