"""Media on disk: what a terminal cannot show is saved under a safe name, and never over a file that is there."""

from __future__ import annotations

import base64
import binascii
import os
import re
from pathlib import Path

from toolbridge.errors import ToolbridgeError

ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "application/pdf": ".pdf",
    "application/json": ".json",
    "application/zip": ".zip",
    "application/gzip": ".gz",
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/markdown": ".md",
}
"""The endings of files by media type. Others are looked up in the system's table, and are .bin where it has none."""

LONGEST_NAME = 80
"""Characters of a file's name before its ending."""

MOST_TRIES = 10_000
"""Names that are tried where files of that name are there already."""

_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_ENDING = re.compile(r"\.[a-z0-9]{1,5}", re.IGNORECASE)


def decoded(data: str, what: str) -> bytes:
    """The bytes of base64 text as servers write it: with line breaks, without padding, in either alphabet."""
    text = "".join(data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ToolbridgeError(f"{what}: the server sent data that is no base64; --json shows it as it is") from None


def save(content: bytes, directory: Path, name: str, mime_type: str | None) -> Path:
    """Write the content into the directory, under that name or the next one that is free."""
    stem, ending = _parts(name, mime_type)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for number in range(1, MOST_TRIES):
            path = directory / f"{stem}{f'-{number}' if number > 1 else ''}{ending}"
            try:
                descriptor = os.open(path, flags, 0o644)
            except FileExistsError:
                continue
            with open(descriptor, "wb") as file:
                file.write(content)
            return path
    except OSError as failure:
        why = (failure.strerror or str(failure)).lower()
        raise ToolbridgeError(f"{directory}: {why}; --output names another directory") from None
    raise ToolbridgeError(f"{directory}: has {MOST_TRIES:,} files of that name; --output names another directory")


def _parts(name: str, mime_type: str | None) -> tuple[str, str]:
    """A stem and an ending that are harmless on any file system, of a name that a server may have chosen."""
    clean = _UNSAFE.sub("_", name).strip("._-") or "content"
    if _RESERVED.fullmatch(clean):
        clean = f"_{clean}"
    stem, dot, last = clean.rpartition(".")
    if dot and stem and _ENDING.fullmatch(f".{last}"):
        return stem[:LONGEST_NAME].rstrip("._-"), f".{last}"
    return clean[:LONGEST_NAME].rstrip("._-"), ending_of(mime_type)


def ending_of(mime_type: str | None) -> str:
    """The ending of files of a media type."""
    bare = (mime_type or "").partition(";")[0].strip().lower()
    if bare in ENDINGS:
        return ENDINGS[bare]
    from mimetypes import guess_extension  # reads the tables of the system

    found = guess_extension(bare) if bare else None
    return found if found and _ENDING.fullmatch(found) else ".bin"


def sized(count: int) -> str:
    """`12 bytes`, `3.4 kB`, `5.6 MB`."""
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 999.95 or unit == "GB":
            return f"{size:,.1f} {unit}"
    raise AssertionError


def uri_name(uri: str) -> str:
    """The last part of an address, as the name of a file."""
    from urllib.parse import unquote

    path = uri.partition("#")[0].partition("?")[0]
    last = unquote(path.rstrip("/").rpartition("/" if "/" in path else ":")[2])
    return last.replace("/", "_").replace("\\", "_")
