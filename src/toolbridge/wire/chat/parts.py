"""Content parts: what stands in the content list of a message, to our parts and back.

The reader takes every form that is in use under any vendor; the writers write OpenAI's, or Mistral's where it differs.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never
from urllib.parse import unquote_to_bytes

from toolbridge.history.rules import PDF
from toolbridge.notes import Note
from toolbridge.types import EMPTY, Audio, Foreign, Image, Reasoning, Resource, ResourceLink, Text
from toolbridge.wire.chat.reasoning import read_thinking

Wire: TypeAlias = dict[str, Any]
ContentPart: TypeAlias = Text | Image | Audio | Resource | ResourceLink | Foreign
"""What can stand in a content list."""

FILE_NAME = "file"
"""The name of a file that has none: OpenAI asks for one."""

_TEXTS = ("text", "input_text", "output_text")
_KEPT = frozenset({"file", "video_url", "audio_url", "input_video", "reference", "image_embeds"})
"""Parts that are known and that only their provider understands."""

_SIGNS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("JVBERi", PDF),
    ("SUQz", "audio/mpeg"),
    ("//", "audio/mpeg"),
)
"""What data starts with, in base64, for data that comes without a type."""


def write_data_url(mime_type: str | None, data: str) -> str:
    return f"data:{mime_type or 'application/octet-stream'};base64,{data}"


def read_data_url(url: str) -> tuple[str, str] | None:
    """(MIME type, base64 data) of a data URL; `None` for any other address."""
    if url[:5].lower() != "data:":
        return None
    head, comma, data = url[5:].partition(",")
    if not comma:
        return None
    mime_type, *parameters = head.split(";")
    if not any(each.strip().lower() == "base64" for each in parameters):
        data = b64encode(unquote_to_bytes(data)).decode("ascii")
    return mime_type.strip().lower() or sign(data) or "application/octet-stream", data


def sign(data: str) -> str | None:
    """The MIME type that the data itself tells, where it is one of the usual ones."""
    if data.startswith("UklGR"):  # RIFF; the kind of it stands eight bytes on: WEBP or WAVE
        return "image/webp" if data[12:16] == "RUJQ" else "audio/wav"
    return next((mime_type for start, mime_type in _SIGNS if data.startswith(start)), None)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def write_part(part: ContentPart) -> Wire:
    """A part as OpenAI has it, and all who follow."""
    match part:
        case Text():
            return {"type": "text", "text": part.text, **_beside(part.opaque, "type", "text")}
        case Image():
            return _write_image(write_data_url(part.mime_type, part.data), part.opaque)
        case ResourceLink():
            return _write_image(part.uri, EMPTY)
        case Audio():
            return {"type": "input_audio", "input_audio": {"data": part.data, "format": _audio_format(part)}}
        case Resource():
            if part.blob is None:
                return {"type": "text", "text": part.text or ""}
            file = {"filename": _file_name(part.uri), "file_data": write_data_url(part.mime_type, part.blob)}
            return {"type": "file", "file": file}
        case Foreign():
            return dict(part.opaque)
        case _:
            assert_never(part)


def write_mistral_part(part: ContentPart) -> Wire:
    """A part as Mistral has it: documents by `document_url`, sounds as bare base64."""
    match part:
        case Audio():
            return {"type": "input_audio", "input_audio": part.data}
        case ResourceLink() if not (part.mime_type or "").startswith("image/"):
            return _write_document(part.uri, part.name)
        case Resource() if part.blob is not None:
            return _write_document(write_data_url(part.mime_type, part.blob), _file_name(part.uri))
        case _:
            return write_part(part)


def _write_image(url: str, opaque: Mapping[str, Any]) -> Wire:
    inner = opaque.get("image_url")
    image_url = {"url": url, **(_beside(inner, "url") if isinstance(inner, dict) else EMPTY)}
    return {"type": "image_url", "image_url": image_url, **_beside(opaque, "type", "image_url")}


def _write_document(url: str, name: str) -> Wire:
    document = {"type": "document_url", "document_url": url}
    return {**document, "document_name": name} if name else document


def _audio_format(part: Audio) -> str:
    return "wav" if "wav" in part.mime_type else "mp3"


def _file_name(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2] or FILE_NAME


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_content(content: Any, path: str, notes: list[Note]) -> list[ContentPart | Reasoning]:
    """A message's content: a string, a list of parts, or nothing. What is not understood is noted."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    given = enumerate(content) if isinstance(content, list) else [("", content)]
    found = (read_part(part, f"{path}/{i}".rstrip("/"), notes) for i, part in given)
    return [part for part in found if part is not None]


def read_part(part: Any, path: str, notes: list[Note]) -> ContentPart | Reasoning | None:
    if isinstance(part, str):
        return Text(part) if part else None
    if not isinstance(part, dict):
        notes.append(Note("part.unknown", "narrowed", path, part))
        return None
    kind = part.get("type")
    if kind is None:
        kind = next((each for each in ("text", "image_url", "refusal") if each in part), None)
    found = _read_typed(part, kind, path, notes)
    if found is None and not _is_empty_text(part, kind):
        notes.append(Note("part.unknown", "narrowed", path, part))
    return found


def _read_typed(part: Wire, kind: Any, path: str, notes: list[Note]) -> ContentPart | Reasoning | None:
    match kind:
        case "text" | "input_text" | "output_text":
            text = part.get("text")
            return Text(text, _beside(part, "type", "text")) if isinstance(text, str) and text else None
        case "refusal":
            text = part.get("refusal")
            return Text(text, {"type": "refusal"}) if isinstance(text, str) and text else None
        case "thinking":
            thought = read_thinking(part)
            return Reasoning(thought.text, thought.opaque)
        case "image_url" | "input_image":
            return read_image(part, path, notes)
        case "input_audio":
            return _read_audio(part)
        case "file":
            return _read_file(part, path, notes)
        case "document_url":
            return _read_document(part)
        case str() if kind:
            if kind not in _KEPT:
                notes.append(Note("part.unknown", "changed", path, part))
            return Foreign(kind, dict(part))
        case _:
            return None


def read_image(part: Wire, path: str, notes: list[Note]) -> Image | ResourceLink | Foreign | None:
    """An `image_url` part: the address may stand in an object or by itself, and may be data, with a prefix or bare."""
    given = part.get("image_url")
    inner = given if isinstance(given, dict) else {}
    url = inner.get("url") if isinstance(given, dict) else given
    if not isinstance(url, str) or not url:
        return None
    opaque = _beside(part, "type", "image_url")
    if rest := _beside(inner, "url"):
        opaque = {**opaque, "image_url": rest}
    known = read_data_url(url)
    if known is not None:
        return Image(known[1], known[0], opaque)
    if _is_address(url):
        if opaque:
            notes.append(Note("opaque.dropped", "narrowed", path, opaque))
        return ResourceLink(url, mime_type="image/*")
    mime_type = sign(url)
    if mime_type is not None and mime_type.startswith("image/"):
        return Image(url, mime_type, opaque)
    return Foreign("image_url", dict(part))


def _read_audio(part: Wire) -> Audio | Foreign | None:
    given = part.get("input_audio")
    data = given.get("data") if isinstance(given, dict) else given
    if not isinstance(data, str) or not data:
        return None
    if _is_address(data):
        return Foreign("input_audio", dict(part))
    known = read_data_url(data)
    format = given.get("format") if isinstance(given, dict) else None
    if isinstance(format, str) and format:
        mime_type = "audio/mpeg" if format.lower() == "mp3" else f"audio/{format.lower()}"
    else:
        mime_type = known[0] if known is not None and known[0].startswith("audio/") else None
    data = known[1] if known is not None else data
    return Audio(data, mime_type or sign(data) or "audio/mpeg")


def _read_file(part: Wire, path: str, notes: list[Note]) -> Resource | ResourceLink | Foreign | None:
    file = part.get("file")
    if not isinstance(file, dict):
        return Foreign("file", dict(part)) if isinstance(part.get("file_id"), str) else None
    data, name = file.get("file_data"), file.get("filename")
    name = name if isinstance(name, str) else ""
    if not isinstance(data, str) or not data:
        return Foreign("file", dict(part)) if isinstance(file.get("file_id"), str) else None
    if rest := _beside(part, "type", "file"):
        notes.append(Note("opaque.dropped", "narrowed", path, rest))
    return _read_document_at(data, name)


def _read_document(part: Wire) -> Resource | ResourceLink | None:
    url, name = part.get("document_url"), part.get("document_name")
    if not isinstance(url, str) or not url:
        return None
    return _read_document_at(url, name if isinstance(name, str) else "")


def _read_document_at(url: str, name: str) -> Resource | ResourceLink:
    """A file by its data, as a data URL or bare, or by its address."""
    if _is_address(url):
        return ResourceLink(url, name, PDF)
    known = read_data_url(url) or (sign(url) or "application/octet-stream", url)
    return Resource(name or FILE_NAME, known[0], blob=known[1])


def _is_address(url: str) -> bool:
    return url[:8].lower().startswith(("https://", "http://"))


def _beside(part: Mapping[str, Any], *known: str) -> Mapping[str, Any]:
    """What stands beside the fields that are known."""
    if len(part) <= len(known) and all(key in known for key in part):
        return EMPTY
    return {key: value for key, value in part.items() if key not in known and value is not None} or EMPTY


def _is_empty_text(part: Wire, kind: Any) -> bool:
    return (kind in _TEXTS and part.get("text") == "") or (kind == "refusal" and part.get("refusal") in ("", None))
