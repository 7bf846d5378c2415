"""The FILE argument: what is in a file or in standard input, and what to say where that is not what it should be."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from toolbridge.errors import HistoryError, SourceError, nearest
from toolbridge.tools import read_tools
from toolbridge.types import Tool

STANDARD_INPUT = "standard input"

TOOLS_WANTED = "give a JSON file of tools"


def read_source(file: str, server: str = "") -> list[Tool]:
    """The tools in a file, or in standard input where the file is `-`."""
    if file == "-":
        return _read_standard_input(server)
    path = _existing(file, TOOLS_WANTED)
    try:
        return read_tools(path, server)
    except SourceError as failure:
        raise SourceError(_with_hint(str(failure))) from None


def read_bytes(file: str, wanted: str) -> bytes:
    """What is in a file, or in standard input where the file is `-`; `wanted` says what to give, if there is none."""
    try:
        if file != "-":
            return _existing(file, wanted).read_bytes()
        if sys.stdin is None:
            raise HistoryError(f"{STANDARD_INPUT}: closed; {wanted}")
        return sys.stdin.buffer.read()
    except OSError as failure:
        name = STANDARD_INPUT if file == "-" else file
        raise HistoryError(f"{name}: {(failure.strerror or str(failure)).lower()}; {wanted}") from None


def read_document(file: str, wanted: str = TOOLS_WANTED) -> bytes:
    """What is in a file, or in standard input where the file is `-`, read once: it may be a pipe."""
    where = STANDARD_INPUT if file == "-" else file
    try:
        if file != "-":
            return _existing(file, wanted).read_bytes()
        content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    except OSError as failure:
        raise SourceError(f"{where}: {(failure.strerror or str(failure)).lower()}; {wanted}") from None
    except ValueError as failure:  # a NUL in the name
        raise SourceError(f"{file!r}: {failure}; {wanted}") from None
    if not content.strip():
        raise SourceError(f"{STANDARD_INPUT}: empty; expected a tools/list answer or a list of tools")
    return content


def tools_in(content: bytes, where: str, server: str = "") -> list[Tool]:
    """The tools in what was read; `where` is what an error calls it."""
    try:
        return read_tools(content, server)
    except SourceError as failure:
        raise SourceError(_with_hint(f"{where}{str(failure).removeprefix('the bytes')}")) from None


def _existing(file: str, wanted: str) -> Path:
    """The path of a file that is there."""
    path = Path(file)
    if path.is_dir():
        raise SourceError(f"{file or repr(file)}: a directory; {wanted}, or - for standard input")
    if not path.exists() and not path.is_symlink():
        meant = _nearest_file(path)
        hint = f"did you mean {meant}?" if meant else f"{wanted}, or - for standard input"
        raise SourceError(f"{file}: no such file; {hint}")
    return path


def _with_hint(message: str) -> str:
    return message if "; " in message else f"{message}; expected a tools/list answer or a list of tools, as JSON"


def _read_standard_input(server: str) -> list[Tool]:
    if sys.stdin is None:
        raise SourceError(f"{STANDARD_INPUT}: closed; pipe a JSON list of tools into it")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(_with_hint(f"{STANDARD_INPUT}: not UTF-8 text")) from None
    except OSError as failure:
        raise SourceError(f"{STANDARD_INPUT}: {(failure.strerror or str(failure)).lower()}") from None
    if not text.strip():
        raise SourceError(f"{STANDARD_INPUT}: empty; expected a tools/list answer or a list of tools")
    try:
        return read_tools(text + "\n", server)  # a text of one line that is no JSON would be taken for a path
    except SourceError as failure:
        raise SourceError(_with_hint(f"{STANDARD_INPUT}{str(failure).removeprefix('the text')}")) from None


def _nearest_file(path: Path) -> str | None:
    try:
        found = nearest(path.name, os.listdir(path.parent))
    except (OSError, ValueError):  # the directory is not there either, or the path is none
        return None
    return str(path.parent / found) if found else None
