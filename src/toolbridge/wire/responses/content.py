"""Content parts of the Responses format: text, images and files, in messages and in results.

Files and images travel as data URLs. What is given by a file id only OpenAI can open: it is kept whole.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from toolbridge.history.rules import PDF
from toolbridge.types import Audio, Content, Foreign, Image, Reasoning, Resource, ResourceLink, Text, ToolCall
from toolbridge.wire.responses.items import string, text_of
from toolbridge.wire.talk import Wire

KINDS: Final = frozenset({"input_text", "input_image", "input_file", "input_audio"})
"""The parts that a message can hold, and that are no items of their own."""

_AUDIO: Final = {"mp3": "audio/mpeg", "wav": "audio/wav"}

_SUFFIXES: Final = {PDF: ".pdf"}
"""The API goes by the ending of a file's name."""

_DATA: Final = re.compile(r"data:([^;,]*)((?:;[^;,]*)*),", re.IGNORECASE)


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_part(part: Content | Foreign | Reasoning | ToolCall) -> Wire | None:
    """A part of a user's message or of a result; nothing for what cannot stand there."""
    match part:
        case Text():
            return {"type": "input_text", "text": part.text}
        case Image():
            return {"type": "input_image", "image_url": _data_url(part.mime_type, part.data), "detail": "auto"}
        case Resource():
            return _write_file(part)
        case ResourceLink():
            if (part.mime_type or "").startswith("image/"):
                return {"type": "input_image", "image_url": part.uri, "detail": "auto"}
            return {"type": "input_file", "file_url": part.uri}
        case Foreign():
            return dict(part.opaque) if part.kind in KINDS else None
        case Audio() | Reasoning() | ToolCall():
            return None


def _write_file(file: Resource) -> Wire:
    """`file_data` must be a data URL ("Expected a base64-encoded data URL"), and needs a name beside it."""
    if file.blob is None:
        return {"type": "input_text", "text": file.text or ""}
    mime_type = file.mime_type or PDF
    name = _file_name(file.uri) or "document" + _SUFFIXES.get(mime_type, "")
    return {"type": "input_file", "filename": name, "file_data": _data_url(mime_type, file.blob)}


def _data_url(mime_type: str, data: str) -> str:
    return f"data:{mime_type};base64,{data}"


def _file_name(uri: str) -> str:
    """What a file is called: the last step of its address, or its name as it stands."""
    if "://" not in uri:
        return uri.strip()
    try:
        return unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2]
    except ValueError:
        return uri.rpartition("/")[2]


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_part(part: Any) -> Content | Foreign | None:
    """A content part of a message or of a result; `None` where it is not understood."""
    if isinstance(part, str):
        return Text(part)
    text = text_of(part)
    if text is not None:
        return Text(text)
    if not isinstance(part, Mapping):
        return None
    match part.get("type"):
        case "input_image":
            return _read_image(part)
        case "input_file":
            return _read_file(part)
        case "input_audio":
            return _read_audio(part)
        case _:
            return None


def _read_image(part: Mapping[str, Any]) -> Content | Foreign | None:
    url = part.get("image_url")
    if isinstance(url, Mapping):
        url = url.get("url")  # as Chat Completions has it, which servers take here too
    if not isinstance(url, str) or not url:
        return Foreign("input_image", dict(part)) if part.get("file_id") else None
    found = read_data_url(url)
    return Image(found[1], found[0] or "image/png") if found else ResourceLink(url, mime_type="image/*")


def _read_file(part: Mapping[str, Any]) -> Content | Foreign | None:
    name = string(part.get("filename"))
    data = part.get("file_data")
    if isinstance(data, str) and data:
        found = read_data_url(data)
        mime_type, blob = found or ("", data)
        return Resource(name, mime_type or PDF, blob=blob)
    url = part.get("file_url")
    if isinstance(url, str) and url:
        suffix = _file_name(url).rpartition(".")[1:]
        is_pdf = not suffix[0] or suffix[1].lower() == "pdf"
        return ResourceLink(url, name, PDF if is_pdf else None)
    return Foreign("input_file", dict(part)) if part.get("file_id") else None


def _read_audio(part: Mapping[str, Any]) -> Content | None:
    given = part.get("input_audio")
    if not isinstance(given, Mapping) or not isinstance(given.get("data"), str):
        return None
    format = string(given.get("format"))
    return Audio(given["data"], _AUDIO.get(format, f"audio/{format}" if format else "audio/wav"))


def read_data_url(url: str) -> tuple[str, str] | None:
    """(MIME type, base64) of a data URL; `None` where it is none."""
    found = _DATA.match(url)
    if found is None:
        return None
    data = url[found.end() :]
    if ";base64" not in found[2].lower():
        data = b64encode(unquote_to_bytes(data)).decode("ascii")
    return found[1], data
