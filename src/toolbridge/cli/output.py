"""Files that a command writes for its user: whole or not at all, and one line where that cannot be done."""

from __future__ import annotations

import os
from pathlib import Path

from toolbridge.errors import ToolbridgeError


def refuse_unwritable(file: str) -> None:
    """Raise where a file clearly cannot be written, before anything is done for it."""
    path = Path(file)
    if not file or path.is_dir():
        raise ToolbridgeError(f"{file or repr(file)}: a directory; give the file to write")
    if not path.parent.is_dir():
        raise ToolbridgeError(f"{file}: there is no directory {path.parent}; make it first")


def write_file(file: str, text: str) -> None:
    """Put a text into a file, as UTF-8, in one step: whoever reads it meanwhile has the old one whole."""
    content = text.encode("utf-8", "backslashreplace")  # half a surrogate pair becomes its escape, as on stdout
    path = Path(os.path.realpath(file))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device is no file to be replaced
            path.write_bytes(content)
            return
        try:
            part.write_bytes(content)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as failure:
        reason = (getattr(failure, "strerror", None) or str(failure)).lower()
        raise ToolbridgeError(f"{file}: cannot be written: {reason}; give another file to write") from None
