"""Private files: where a user's data are; for their owner alone, whatever the umask, and whole or not there at all."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def data_directory(environment: Mapping[str, str]) -> Path:
    """Where the user's data are."""
    if chosen := environment.get("TOOLBRIDGE_DATA_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        roaming = environment.get("APPDATA")
        return (Path(roaming) if roaming else _home() / "AppData" / "Roaming") / "toolbridge"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "toolbridge"
    data = environment.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else _home() / ".local" / "share") / "toolbridge"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)  # nothing can be kept there, and nothing is


def make_private(directory: Path) -> None:
    """Make a directory, and those above it that are missing, for its owner alone, whatever the umask is. What is there
    stays as it is: it may be anybody's."""
    if directory.is_dir():
        return
    if directory.parent != directory:
        make_private(directory.parent)
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)


def write_private(path: Path, content: bytes) -> None:
    """Replace a file in one step by one that only its owner may read, whatever the umask is."""
    part = _write_part(path, content)
    try:
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def create_private(path: Path, content: bytes) -> None:
    """Make a file with all its content in one step, unless it is there."""
    part = _write_part(path, content)
    try:
        os.link(part, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links: a reader may come too early, and then has no cache this once
        with suppress(FileExistsError), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    finally:
        part.unlink(missing_ok=True)


def _write_part(path: Path, content: bytes) -> Path:
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with open(descriptor, "wb") as file:
            if os.name == "posix":
                os.fchmod(descriptor, 0o600)  # an odd umask could have taken our own right too
            file.write(content)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part
