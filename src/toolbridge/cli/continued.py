"""The runs that were continued from files, by their ids: a file can be given again, and its calls are not run again.

Each run leaves an empty file in the user's data directory, which is made in one step: of several processes that
continue a run, one does. Runs that a store holds are none of it; the store gives them out once.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from toolbridge.errors import PauseError
from toolbridge.servers.private import data_directory, make_private

FOLDER = "continued"

MOST_KEPT = 1_000
"""Runs that are remembered. Of more than these the oldest are forgotten, whose files are hardly given again."""


def note_continued(id: str) -> Path:
    """Note that a run is continued; what to remove should nothing come of it. Raises `PauseError` the second time."""
    folder = data_directory(os.environ) / FOLDER
    path = folder / sha256(id.encode("utf-8", "replace")).hexdigest()[:32]  # an id comes from a file, and is no name
    try:
        make_private(folder)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise PauseError("this run was continued already; its calls are not run twice") from None
    except OSError as failure:
        why = (failure.strerror or str(failure)).lower()
        raise PauseError(
            f"{folder}: {why}, so that nothing would keep this run from being continued twice; "
            "set TOOLBRIDGE_DATA_DIR to a directory of yours"
        ) from failure
    with suppress(OSError):  # forgetting can wait
        noted = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)
        for each in noted[:-MOST_KEPT]:
            each.unlink(missing_ok=True)
    return path
