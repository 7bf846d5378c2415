"""Transcripts of Gemini: turns as `systemInstruction` and `contents`.

Results are a content of their own, with nothing but `functionResponse` parts in it, one for each call: Gemini takes a
content with anything else beside them for the model's. What the user says next is another content; two of the user's
in a row are taken. Two of the model's are not where the second one calls (a call must come right behind the user or
behind results), so they are made one.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, assert_never

from toolbridge.history.rules import Rules
from toolbridge.history.said import described, well_formed
from toolbridge.history.turns import Answer, Block, Turn, TurnPart
from toolbridge.types import Audio, Foreign, Image, Reasoning, Resource, ResourceLink, Text, ToolCall
from toolbridge.wire.gemini.history import read
from toolbridge.wire.gemini.parts import NO_SIGNATURE, SIGNATURE
from toolbridge.wire.talk import Wire

__all__ = ["read", "write"]


def write(turns: Sequence[Turn], rules: Rules) -> Wire:
    """Legal turns as `{"systemInstruction": {"parts": […]}, "contents": […]}`."""
    instructions: list[Wire] = []
    contents: list[Wire] = []
    for turn in turns:
        parts = [written for part in turn.parts for written in _write_part(part)]
        if turn.role == "system":
            instructions += parts
            continue
        role = "model" if turn.role == "assistant" else "user"
        if parts and role == "model" and contents and contents[-1]["role"] == "model":
            contents[-1]["parts"] += parts
        elif parts:
            contents.append({"role": role, "parts": parts})
        if turn.answers:
            contents.append({"role": "user", "parts": [_write_answer(answer) for answer in turn.answers]})
    for content in contents:
        _sign(content["parts"])
    return {**({"systemInstruction": {"parts": instructions}} if instructions else {}), "contents": contents}


def _sign(parts: list[Wire]) -> None:
    """See that the first call of the model's has a signature, or what stands for none.

    Later ones of the same content need none, and calls of Gemini's own have theirs. `Function call is missing a
    thought_signature` is said to the others, which come from another provider or another model.
    """
    first = next((part for part in parts if "functionCall" in part), None)
    if first is not None:
        first.setdefault(SIGNATURE, NO_SIGNATURE)


def _write_part(part: TurnPart) -> list[Wire]:
    match part:
        case Text():
            return [{**part.opaque, "text": well_formed(part.text)}]
        case Reasoning():
            return [{**part.opaque, "text": well_formed(part.text), "thought": True}]
        case Image():
            return [{**part.opaque, **_write_data(part.data, part.mime_type)}]
        case Audio():
            return [_write_data(part.data, part.mime_type)]
        case Resource():
            named: list[Wire] = [{"text": _name(part)}] if part.uri else []
            return [*named, _write_file(part)]
        case ResourceLink():
            return [_write_link(part)]
        case Foreign():
            return [dict(part.opaque)]
        case ToolCall():
            call: Wire = {"id": part.id, "name": part.name, "args": part.arguments or {}}
            return [{**part.opaque, "functionCall": call}]
        case _:
            assert_never(part)


def _write_data(data: str, mime_type: str) -> Wire:
    return {"inlineData": {"mimeType": mime_type, "data": data}}


def _write_file(file: Resource) -> Wire:
    data = file.blob if file.text is None else b64encode(file.text.encode("utf-8", "replace")).decode("ascii")
    return _write_data(data or "", file.mime_type or "application/octet-stream")


def _name(file: Resource) -> str:
    """A line that names the file. Inline data has a `displayName`, but not everywhere, and models do not see it."""
    return f"[resource: {', '.join(each for each in (file.uri, file.mime_type) if each)}]"


def _write_link(link: ResourceLink) -> Wire:
    file: Wire = {"fileUri": link.uri}
    if link.mime_type and not link.mime_type.endswith("/*"):
        file["mimeType"] = link.mime_type
    return {"fileData": file}


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_answer(answer: Answer) -> Wire:
    said: Any = answer.structured
    if said is None:
        said = "\n".join(text for block in answer.blocks if (text := _text(block)) is not None)
        if not said:  # media alone: an empty output reads as if nothing had come of the call
            said = "\n".join(described(block) for block in answer.blocks)
    response: Wire = {
        "id": answer.call.id,
        "name": answer.call.name,
        "response": {"error" if answer.is_error else "output": said},
    }
    media = [written for block in answer.blocks if (written := _write_medium(block)) is not None]
    if media:
        response["parts"] = media
    return {"functionResponse": response}


def _text(block: Block) -> str | None:
    match block:
        case Text():
            return block.text
        case Resource():
            return _name(block) if block.uri else None
        case Image() | Audio():
            return None


def _write_medium(block: Block) -> Wire | None:
    match block:
        case Text():
            return None
        case Image() | Audio():
            return _write_data(block.data, block.mime_type)
        case Resource():
            return _write_file(block)
