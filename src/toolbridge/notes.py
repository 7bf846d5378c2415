"""Notes: what a conversion changed, said so that nobody has to find out.

A note is a claim about meaning. `widened` says that something the source refuses can now be said, `narrowed` that
something the source accepts no longer can, `changed` that the shape is another one and is put back on the way back.
Notes are returned, never logged; the edges (CLI, hub, loop) decide who gets to see them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

Effect: TypeAlias = Literal["widened", "narrowed", "changed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Note:
    """One change of meaning: `code` is `thing.effect` and is API, `path` a JSON pointer, `before` what stood there."""

    code: str
    effect: Effect
    path: str = ""
    before: Any = None

    def __str__(self) -> str:
        return f"{self.path or '/'}: {self.code} ({self.effect})"


def pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


@dataclass(frozen=True, slots=True)
class Converted(Generic[T]):
    """A converted value and what was changed on the way."""

    value: T
    notes: tuple[Note, ...] = ()
