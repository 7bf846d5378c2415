"""Transcripts of Bedrock's Converse: turns as `system` and `messages`, with bytes where boto3 has blobs.

The results of a turn are the first blocks of the user's message behind it, all of them together; what the user says
next stands in the same message, since roles alternate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from toolbridge.history.media import NOTHING_RETURNED
from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn, TurnPart
from toolbridge.types import Audio, Foreign, Image, Reasoning, Resource, ResourceLink, Text, ToolCall
from toolbridge.wire.bedrock.blocks import (
    with_bytes,
    write_file,
    write_image,
    write_link,
    write_reasoning,
    write_text,
)
from toolbridge.wire.bedrock.history import read
from toolbridge.wire.talk import Wire

__all__ = ["read", "write"]

LONGEST_NAME: Final = 180
"""Characters of a document's name, which may have 200, with room for a number that tells it from others."""


def write(turns: Sequence[Turn], rules: Rules) -> Wire:
    """Legal turns as `{"system": […], "messages": […]}`, without `system` where there is none."""
    names = _Names()
    system: list[Wire] = []
    messages: list[Wire] = []
    for turn in turns:
        blocks = _write_blocks(turn.parts, names)
        match turn.role:
            case "system":
                system += blocks
            case "user":
                _add(messages, "user", blocks)
            case "assistant":
                _add(messages, "assistant", blocks)
                _add(messages, "user", [_write_result(answer, names, rules) for answer in turn.answers])
    return {"system": system, "messages": messages} if system else {"messages": messages}


def _add(messages: list[Wire], role: str, blocks: list[Wire]) -> None:
    """Blocks as a message of their own, or as the rest of the last one, where that is of the same role."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


# ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_blocks(parts: Iterable[TurnPart], names: _Names) -> list[Wire]:
    blocks = [block for part in parts for block in _write_part(part, names)]
    documents = [str(block["document"].get("name")) for block in blocks if "document" in block]
    if documents and not any("text" in block for block in blocks):
        # Without a text beside a document the request is refused (botocore 1.44 `Message.content`).
        blocks.insert(0, {"text": f"[{', '.join(documents)}]"})
    return blocks


def _write_part(part: TurnPart, names: _Names) -> list[Wire]:
    match part:
        case Text():
            block = write_text(part)
            return [] if block is None else [block]  # legal turns have no blank ones
        case Image():
            return [write_image(part)]
        case Resource():
            return _write_file(part, names)
        case ResourceLink():
            return [write_link(part)]
        case Reasoning():
            return [write_reasoning(part)]
        case Foreign():
            return [_write_foreign(part, names)]
        case ToolCall():
            return [{"toolUse": {"toolUseId": part.id, "name": part.name, "input": part.arguments or {}}}]
        case Audio():
            return []  # no rule lists any
        case _:
            assert_never(part)


def _write_foreign(part: Foreign, names: _Names) -> Wire:
    """A block as it was, but for the name of a document, which another one may have by now."""
    block = with_bytes(part.opaque)
    name = block.get("name") if part.kind == "document" else None
    return {part.kind: {**block, "name": names.spell(f"{name}.")} if isinstance(name, str) else block}


def _write_file(file: Resource, names: _Names) -> list[Wire]:
    """A file, and its whole address where its name does not have it."""
    block = write_file(file, names.spell(file.uri))
    said = "/" in file.uri or ("video" in block and file.uri)
    address: list[Wire] = [{"text": f"[resource: {file.uri}, {file.mime_type}]"}] if said else []
    return [*address, block]


class _Names:
    """Names of documents: the characters that are allowed, and no two alike in one request ("Messages can't contain
    duplicate document names")."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}

    def spell(self, uri: str) -> str:
        file = re.split(r"[/\\]", uri.partition("?")[0].partition("#")[0].rstrip("/\\"))[-1]
        stem = file.rpartition(".")[0] or file
        name = _NOT_ALLOWED.sub(" ", stem)[:LONGEST_NAME].strip() or "document"
        spelt = name
        while spelt in self._uses:
            self._uses[name] += 1
            spelt = f"{name} {self._uses[name]}"
        self._uses[spelt] = 1
        return spelt


_NOT_ALLOWED: Final = re.compile(r"[^A-Za-z0-9()\[\]-]+")
"""botocore 1.44 `DocumentBlock.name`: letters, digits, single white space, hyphens, parentheses, square brackets."""


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_result(answer: Answer, names: _Names, rules: Rules) -> Wire:
    """Structured content goes as JSON where it is an object; lists and single values are said in text."""
    as_json = isinstance(answer.structured, dict)
    content: list[Wire] = [{"json": answer.structured}] if as_json else []
    for block in answer.blocks:
        if not (as_json and isinstance(block, Text)):
            content += _write_part(block, names)
    result: Wire = {"toolUseId": answer.call.id, "content": content or [{"text": NOTHING_RETURNED}]}
    if answer.is_error and rules.error_flag:
        result["status"] = "error"
    return {"toolResult": result}
