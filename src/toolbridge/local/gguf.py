"""The head of a GGUF file: whether it is one, which model it holds and how long its window is.

Read before the engine gets the file, so that a wrong one is refused in words. Only the head is read: the engine itself
checks the tensors.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from toolbridge.errors import ModelError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_ENTRIES = 10_000
LONGEST_TEXT = 1 << 20
"""A head has a few dozen entries with short texts; a damaged one claims anything."""

_STRUCTS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class Head:
    """What a model file says of itself."""

    architecture: str
    name: str
    context: int | None
    """Tokens of the window that the model was made for."""


class _Broken(Exception):
    """The head ends early, or claims what cannot be."""


def read_head(path: Path) -> Head:
    """The head of a model file. Raises `ModelError` where it is none."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
            if magic != MAGIC:
                raise ModelError(
                    "no_weights", f"{path} is no GGUF model: it begins with {magic!r} and not with {MAGIC!r}"
                )
            entries = _read_entries(file, path)
    except FileNotFoundError:
        raise ModelError("no_weights", f"{path} is not there; give the path of a GGUF file") from None
    except IsADirectoryError:
        raise ModelError("no_weights", f"{path} is a directory; give the path of a GGUF file in it") from None
    except OSError as failure:
        raise ModelError("no_weights", f"{path} cannot be read: {failure.strerror or failure}") from None
    except (_Broken, struct.error, UnicodeDecodeError):
        raise ModelError("no_weights", f"{path} is damaged or was not downloaded to its end; get it again") from None
    architecture = str(entries.get("general.architecture", ""))
    context = entries.get(f"{architecture}.context_length")
    return Head(architecture, str(entries.get("general.name", "")), context if isinstance(context, int) else None)


def _read_entries(file: BinaryIO, path: Path) -> dict[str, Any]:
    version, _, count = _read(file, "IQQ")
    if version not in VERSIONS:
        raise ModelError("no_weights", f"{path} is GGUF version {version}, which is not known here")
    if count > MOST_ENTRIES:
        raise _Broken
    found: dict[str, Any] = {}
    for _ in range(count):
        key = _read_text(file)
        if key.startswith("tokenizer."):  # a long vocabulary, and nothing behind it that is looked for
            break
        (kind,) = _read(file, "I")
        found[key] = _read_value(file, kind)
    return found


def _read_value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _read_text(file)
    if kind == _ARRAY:
        inner, count = _read(file, "IQ")
        if count > MOST_ENTRIES or inner == _ARRAY:
            raise _Broken
        return [_read_value(file, inner) for _ in range(count)]
    if kind not in _STRUCTS:
        raise _Broken
    return _read(file, _STRUCTS[kind])[0]


def _read_text(file: BinaryIO) -> str:
    (length,) = _read(file, "Q")
    if length > LONGEST_TEXT:
        raise _Broken
    data = file.read(length)
    if len(data) < length:
        raise _Broken
    return data.decode("utf-8")


def _read(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{layout}", file.read(struct.calcsize(f"<{layout}")))
