"""Every text of a tool, wherever it stands in its entry: keys and values, however deep, of input and output.

The rules of safety read these. A good tool speaks in its descriptions; a bad one could hide words anywhere: in the name
of a definition, in a value of `required`, under a keyword that nobody knows. They are walked twice at most: once for
all strings together, which most rules dismiss at a glance, and once with places, where one of them finds something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from toolbridge.lint.confusables import folded
from toolbridge.types import Tool

MOST_VALUES: Final = 150_000
"""Values of one entry that are looked at: all that `safety.schema-bomb` lets pass in its three parts."""

LONGEST_PATH: Final = 2_000
"""Characters of a path that grows: below that, values stand where their parents do. An abyss has no paths as deep."""

T = TypeVar("T")

_STRANGE = re.compile(r"[^\n\t\r -~]")


@dataclass(frozen=True, slots=True)
class Located:
    """A text and its place."""

    path: str
    text: str
    is_key: bool = False
    """Whether it is a key, or a name: these are compared by machines, and hold no prose."""


class Texts:
    """All texts of some values, each of which stands under a path."""

    def __init__(self, parts: Iterable[tuple[str, Any]]) -> None:
        self._parts = tuple(parts)
        self._answers: dict[Callable[[Texts], Any], Any] = {}

    def once(self, question: Callable[[Texts], T]) -> T:
        """The answer to a question about these texts that several rules ask, worked out once."""
        if question not in self._answers:
            self._answers[question] = question(self)
        return self._answers[question]

    @cached_property
    def joined(self) -> str:
        """All texts, one after the other: enough to see that something is in none of them."""
        return "\n".join(_strings(value for _, value in self._parts))

    @cached_property
    def folded(self) -> str:
        """The same in lower case, as eyes and models read it."""
        return folded(self.joined)

    @cached_property
    def words(self) -> frozenset[str]:
        """What stands between blanks in it, each once."""
        return frozenset(self.folded.split())

    @cached_property
    def plain(self) -> bool:
        """Whether all characters are printable ASCII, or break lines."""
        return _STRANGE.search(self.joined) is None

    @cached_property
    def located(self) -> tuple[Located, ...]:
        """Each text with its place."""
        return tuple(_located(self._parts))


def texts_of(tool: Tool) -> Texts:
    """All texts of a tool that may reach a model, or a person: hosts may show what we do not read, too."""
    return Texts((
        ("/name", tool.id.name),
        ("/title", tool.title or ""),
        ("/description", tool.description),
        ("/inputSchema", tool.input_schema),
        ("/outputSchema", tool.output_schema),
        ("", tool.unread),
    ))  # fmt: skip


def _strings(values: Iterable[Any]) -> Iterator[str]:
    waiting = [*values][::-1]
    left = MOST_VALUES
    while waiting and left:
        left -= 1
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | Mapping):
            for key, each in value.items():
                yield str(key)
                if isinstance(each, str):
                    yield each
                elif isinstance(each, dict | list | Mapping):  # the first two are nearly all, and quickly told
                    waiting.append(each)
        elif isinstance(value, list):
            waiting += value[:left]


def _located(parts: tuple[tuple[str, Any], ...]) -> Iterator[Located]:
    waiting = [*reversed(parts)]
    left = MOST_VALUES
    while waiting and left:
        left -= 1
        path, value = waiting.pop()
        if isinstance(value, str):
            if value:
                yield Located(path, value, path == "/name")
        elif isinstance(value, Mapping):
            held: list[tuple[str, Any]] = []
            for key, each in value.items():
                place = below(path, str(key).replace("~", "~0").replace("/", "~1"))
                yield Located(place, str(key), True)
                if isinstance(each, str | Mapping | list):
                    held.append((place, each))
            waiting += reversed(held)
        elif isinstance(value, list):
            waiting += ((below(path, str(i)), each) for i, each in reversed([*enumerate(value[:left])]))


def below(path: str, step: str) -> str:
    """The path of a value within another."""
    return f"{path}/{step}" if len(path) + len(step) < LONGEST_PATH else path
