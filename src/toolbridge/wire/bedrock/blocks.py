"""Blocks of Bedrock's Converse: each is an object with one key, its kind. Media are bytes, as boto3 has them.

Read in replies and in transcripts alike; every function takes whatever stands on the wire, and blobs as bytes or as
base64. In our values blobs are always base64, so that a history can be kept as JSON.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

from toolbridge.history.rules import PDF
from toolbridge.history.said import well_formed
from toolbridge.types import Audio, Content, Foreign, Image, Reasoning, Resource, ResourceLink, Text

IMAGES: Final[Mapping[str, str]] = {
    "image/png": "png",
    "image/jpeg": "jpeg",
    "image/gif": "gif",
    "image/webp": "webp",
}
DOCUMENTS: Final[Mapping[str, str]] = {
    PDF: "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
VIDEOS: Final[Mapping[str, str]] = {
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/x-matroska": "mkv",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/mpeg": "mpeg",
    "video/x-ms-wmv": "wmv",
    "video/3gpp": "three_gp",
}
"""MIME types and the formats that Converse has for them (botocore 1.44 `ImageFormat`, `DocumentFormat`,
`VideoFormat`)."""

_IMAGE_TYPES: Final = {format: type for type, format in IMAGES.items()}
_DOCUMENT_TYPES: Final = {format: type for type, format in DOCUMENTS.items()}
_VIDEO_TYPES: Final = {"mpg": "video/mpeg"} | {format: type for type, format in VIDEOS.items()}
_SOUND_TYPES: Final = {"mp3": "audio/mpeg", "mpga": "audio/mpeg", "x-aac": "audio/aac", "m4a": "audio/mp4"}


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def kind_of(block: Any) -> str:
    """The one key of a block that has a value; empty where there is none."""
    if not isinstance(block, Mapping):
        return ""
    return next((key for key, value in block.items() if isinstance(key, str) and value is not None), "")


# ── blobs ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def base64_of(blob: Any) -> str:
    """A blob as base64; empty where it is none."""
    if isinstance(blob, bytes | bytearray | memoryview):
        return b64encode(bytes(blob)).decode("ascii")
    return string(blob)


def bytes_of(data: Any) -> bytes:
    """Base64 as bytes; none where it is no base64."""
    if isinstance(data, bytes):
        return data
    try:
        return b64decode(data) if isinstance(data, str) else b""
    except ValueError:
        return b""


def without_bytes(value: Any) -> Any:
    """A value in which blobs are base64."""
    if isinstance(value, bytes | bytearray | memoryview):
        return base64_of(value)
    if isinstance(value, Mapping):
        return {str(key): without_bytes(each) for key, each in value.items()}
    return [without_bytes(each) for each in value] if isinstance(value, list | tuple) else value


def with_bytes(value: Any) -> Any:
    """The same, with bytes in the places where Converse has blobs: `source.bytes`, in blocks and in results."""
    if isinstance(value, Mapping):
        return {
            key: {**each, "bytes": bytes_of(each["bytes"])}
            if key == "source" and isinstance(each, Mapping) and "bytes" in each
            else with_bytes(each)
            for key, each in value.items()
        }
    return [with_bytes(each) for each in value] if isinstance(value, list) else value


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_block(block: Any) -> Content | Reasoning | Foreign | None:
    """A block that is no call and no result; `None` where it cannot be read."""
    kind = kind_of(block)
    value = get(block, kind)
    if kind == "text":
        return Text(value) if isinstance(value, str) else None
    if not isinstance(value, Mapping):
        return None
    match kind:
        case "image" | "audio" | "document":
            return _read_medium(kind, value) or Foreign(kind, without_bytes(value))
        case "reasoningContent":
            return _read_reasoning(value)
        case "citationsContent":
            text = "".join(string(get(each, "text")) for each in _list(value.get("content")))
            return Text(text, {"citations": _list(value.get("citations"))})
        case _:
            return Foreign(kind, without_bytes(value))


def _read_medium(kind: str, value: Mapping[Any, Any]) -> Content | None:
    source, format = value.get("source"), string(value.get("format"))
    data, address = base64_of(get(source, "bytes")), string(get(get(source, "s3Location"), "uri"))
    match kind:
        case "image" if data:
            return Image(data, _IMAGE_TYPES.get(format, f"image/{format}"))
        case "audio" if data:
            return Audio(data, _SOUND_TYPES.get(format, f"audio/{format}"))
        case "document" if not address and not get(value.get("citations"), "enabled"):
            return _read_document(string(value.get("name")), format, source, data)
        case _:
            return None  # in a bucket, which nobody else can open, or asking for citations: kept whole


def _read_document(name: str, format: str, source: Any, data: str) -> Resource | None:
    uri, mime_type = f"{name}.{format}" if format else name, _DOCUMENT_TYPES.get(format)
    if data:
        return Resource(uri, mime_type, blob=data)
    text = get(source, "text")
    if not isinstance(text, str):
        texts = [get(each, "text") for each in _list(get(source, "content"))]
        text = "\n".join(string(each) for each in texts) if texts else None
    return Resource(uri, mime_type or "text/plain", text=text) if text is not None else None


def _read_reasoning(value: Mapping[Any, Any]) -> Reasoning | None:
    hidden = base64_of(value.get("redactedContent"))
    if hidden:
        return Reasoning("", {"redactedContent": hidden})
    told = value.get("reasoningText")
    if not isinstance(told, Mapping):
        return None
    signature = string(told.get("signature"))
    return Reasoning(string(told.get("text")), {"signature": signature} if signature else {})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def write_image(image: Image) -> dict[str, Any]:
    format = IMAGES.get(image.mime_type, image.mime_type.rpartition("/")[2])
    return {"image": {"format": format, "source": {"bytes": bytes_of(image.data)}}}


def write_file(file: Resource, name: str) -> dict[str, Any]:
    data = file.text.encode("utf-8", "replace") if file.text is not None else bytes_of(file.blob)
    mime_type = file.mime_type or ""
    if mime_type in VIDEOS:
        return {"video": {"format": VIDEOS[mime_type], "source": {"bytes": data}}}
    return {"document": {"format": DOCUMENTS.get(mime_type, "txt"), "name": name, "source": {"bytes": data}}}


def write_link(link: ResourceLink) -> dict[str, Any]:
    """Nothing can be sent by its address (but out of a bucket, which is kept as it is): the address is said."""
    return {"text": f"[link: {', '.join(each for each in (link.name, link.uri, link.mime_type) if each)}]"}


def is_replayable(part: Reasoning | Text) -> bool:
    """Thoughts that are signed, or hidden: what is neither was cut, or is of a model that wants none back. Blank texts
    are refused, but for what is cited."""
    if isinstance(part, Text):
        return bool(_list(part.opaque.get("citations")))
    return bool(string(part.opaque.get("redactedContent")) or string(part.opaque.get("signature")))


def write_reasoning(reasoning: Reasoning) -> dict[str, Any]:
    hidden = string(reasoning.opaque.get("redactedContent"))
    if hidden:
        return {"reasoningContent": {"redactedContent": bytes_of(hidden)}}
    signature = string(reasoning.opaque.get("signature"))
    return {"reasoningContent": {"reasoningText": {"text": well_formed(reasoning.text), "signature": signature}}}


def write_text(text: Text) -> dict[str, Any] | None:
    citations = _list(text.opaque.get("citations"))
    if citations:
        return {"citationsContent": {"content": [{"text": well_formed(text.text)}], "citations": list(citations)}}
    return {"text": text.text} if text.text.strip() else None
