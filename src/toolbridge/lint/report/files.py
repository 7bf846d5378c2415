"""Files as services want them named: from the root of the repository, with forward slashes, or as a URI."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from toolbridge.lint.places import SourceLabel


class Files:
    """Names files from one root."""

    def __init__(self, source: SourceLabel) -> None:
        self._root = Path(source.root) if source.root is not None else _repository(Path.cwd())
        self._known: dict[str, str | None] = {}

    def relative(self, file: str) -> str | None:
        """The path from the root; `None` for a file outside of it."""
        if file not in self._known:
            self._known[file] = _below(self._root, file)
        return self._known[file]

    def shown(self, file: str) -> str:
        return self.relative(file) or Path(file).as_posix()

    def uri(self, file: str) -> tuple[str, bool]:
        """A URI reference, and whether it is relative to the root."""
        relative = self.relative(file)
        if relative is not None:
            return quote(relative), True
        return "file://" + quote((Path.cwd() / file).as_posix()), False


def _below(root: Path, file: str) -> str | None:
    """As it is written, so that a link keeps its own name; with links followed, where that leads out of the root."""
    for follow in (os.path.abspath, os.path.realpath):
        try:
            return Path(follow(file)).relative_to(follow(root)).as_posix()
        except (OSError, ValueError):  # outside of the root, or no path at all
            continue
    return None


def _repository(start: Path) -> Path:
    """Where the working copy begins that this directory is in; the directory itself where it is in none."""
    return next((each for each in (start, *start.parents) if (each / ".git").exists()), start)
