"""Data of images, sounds and files: base64 as it comes, and the MIME type by its name or by how the bytes begin."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolbridge.history.rules import PDF, Carries
from toolbridge.history.said import well_formed
from toolbridge.types import EMPTY, Audio, Image, Resource, ResourceLink

Medium: TypeAlias = Image | Audio | Resource
Kind: TypeAlias = Literal["image", "audio", "resource"]

SAME_TYPES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "application/x-pdf": PDF,
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-flac": "audio/flac",
}
"""Other spellings of a type. Rules may list either one, and what is sent is spelt as in the rules."""

UNTOLD = frozenset({"", "image", "audio", "image/*", "audio/*", "*/*", "application/octet-stream"})
"""Types that say no more than that there are bytes."""

_MAGIC: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"%PDF-"), PDF),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"ID3|\xff[\xfb\xf3\xf2]"), "audio/mpeg"),
    (re.compile(rb"OggS"), "audio/ogg"),
    (re.compile(rb"fLaC"), "audio/flac"),
)
"""How files begin."""

_ENDINGS = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "pdf": PDF,
}  # fmt: skip

_TEXT_TYPE = re.compile(
    r"text/.+|application/(?:json|xml|yaml|x-yaml|toml|javascript|sql|x-sh|x-ndjson)|[^/]+/.+\+(?:json|xml|yaml)"
)


@dataclass(frozen=True, slots=True)
class Data:
    """What a block holds: its base64 in standard form, the bytes, and what they are."""

    base64: str
    content: bytes
    mime_type: str
    kind: Kind

    @property
    def text(self) -> str | None:
        """The bytes as text, where they are some."""
        untold = self.mime_type in UNTOLD
        if self.kind != "resource" or not (untold or _TEXT_TYPE.fullmatch(self.mime_type)):
            return None
        if untold and b"\0" in self.content:
            return None
        try:
            return self.content.decode("utf-8")
        except UnicodeDecodeError:
            return None


def read_data(block: Medium) -> Data | None:
    """The data of a block; `None` where there is none, or where it is no base64.

    Where the bytes are plainly an image or a PDF, they are that, whatever the block says they are.
    """
    decoded = _decoded(block.blob if isinstance(block, Resource) else block.data)
    if decoded is None:
        return None
    told = bare_type(block.mime_type)
    found = _found(decoded[1][:16]) if told in UNTOLD or told.startswith("image/") or told == PDF else None
    if found is not None and told not in UNTOLD and found.startswith("audio/"):
        found = None
    mime_type = found or told
    return Data(*decoded, mime_type, _kind_of(mime_type, block))


def _found(start: bytes) -> str | None:
    return next((type for pattern, type in _MAGIC if pattern.match(start)), None)


def _decoded(data: Any) -> tuple[str, bytes] | None:
    """Base64 as servers write it: with line breaks, without padding, in either alphabet, as a data URL."""
    if not isinstance(data, str):
        return None
    text = data
    if text[:5].lower() == "data:":
        head, _, text = text.partition(",")
        if not head.lower().endswith(";base64"):
            return None
    text = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    text += "=" * (-len(text) % 4)
    try:
        content = b64decode(text, validate=True)
    except ValueError:
        return None
    return (text, content) if content else None


def kind_of(block: Medium) -> Kind:
    """What a block is called."""
    match block:
        case Image():
            return "image"
        case Audio():
            return "audio"
        case Resource():
            return "resource"


def _kind_of(mime_type: str, block: Medium) -> Kind:
    if mime_type.startswith("image/"):
        return "image"
    if mime_type.startswith("audio/"):
        return "audio"
    return kind_of(block) if mime_type in UNTOLD else "resource"


# ── types ────────────────────────────────────────────────────────────────────────────────────────────────────────


def bare_type(mime_type: str | None) -> str:
    """A MIME type without parameters, in its usual spelling; empty where there is none."""
    bare = mime_type.partition(";")[0].strip().lower() if isinstance(mime_type, str) else ""
    return SAME_TYPES.get(bare, bare)


def link_type(link: ResourceLink, types: frozenset[str]) -> str | None:
    """The type of what a link leads to, as it says or as its address ends; `None` where that type is not listed."""
    told = bare_type(link.mime_type)
    if told in UNTOLD:
        path = link.uri.partition("#")[0].partition("?")[0]
        told = _ENDINGS.get(path.rpartition("/")[2].rpartition(".")[2].lower(), told)
    if told == "image/*" and any(each.startswith("image/") for each in types):
        return told  # which kind of image, nobody knows before it is fetched
    return listed(told, types)


def listed(mime_type: str, types: frozenset[str]) -> str | None:
    """A bare type as the rules spell it, if they list it."""
    if not mime_type:
        return None
    if mime_type in types:
        return mime_type
    spelt = next((each for each in types if SAME_TYPES.get(each, each) == mime_type), None)
    if spelt is not None:
        return spelt
    return mime_type if f"{mime_type.partition('/')[0]}/*" in types else None


def carried(block: Medium, data: Data, carries: Carries) -> Medium | None:
    """The block as it is sent to a place that carries it."""
    types = {"image": carries.images, "audio": carries.audio, "resource": carries.documents}[data.kind]
    mime_type = listed(data.mime_type, types)
    if mime_type is None or data.mime_type in UNTOLD:
        return None
    match data.kind:
        case "image":
            opaque = block.opaque if isinstance(block, Image) else EMPTY
            return Image(data.base64, mime_type, opaque)
        case "audio":
            return Audio(data.base64, mime_type)
        case "resource":
            uri = well_formed(block.uri) if isinstance(block, Resource) else ""
            return Resource(uri, mime_type, blob=data.base64)
