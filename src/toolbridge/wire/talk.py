"""What a wire format is: four pure functions, and the rules of its transcripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from toolbridge.history.rules import DEFAULT_RULES, Rules
from toolbridge.history.turns import Turn
from toolbridge.notes import Converted
from toolbridge.stream.events import Event, Key
from toolbridge.types import Message

Wire: TypeAlias = dict[str, Any]


class Sifter(Protocol):
    """What the text of one reply means, where calls and answers both stand in it: events in, events out.

    It is made anew for each reply, since what a fragment means depends on those before it.
    """

    def feed(self, events: Sequence[Event]) -> list[Event]:
        """The same events, with those of the text replaced by what it says."""
        ...

    def damage(self) -> None:
        """A piece of the stream is lost: what was held back until it is clear may lack it, and is no call."""
        ...

    def close(self) -> list[Event]:
        """What is left at the end. Closing twice is closing once."""
        ...


@dataclass(frozen=True, slots=True)
class Talk:
    """One way of talking: a wire format's functions, with the rules of one provider.

    All of them take plain JSON values (SDK objects were made plain before) and raise nothing because of their content.
    """

    write: Callable[[Sequence[Turn], Rules], Wire]
    """Legal turns as request fields: `{"messages": […]}`, `{"system": …, "messages": […]}`, `{"input": […]}`, …"""
    read: Callable[[Any, str], Converted[tuple[Message, ...]]]
    """(a request body, its fields, or the bare list of messages; the origin of assistants' messages) to a history."""
    read_event: Callable[[Any], list[Event]]
    """One event of a stream."""
    read_reply: Callable[[Any], list[Event]]
    """A whole reply, as the events that a stream of it would have come to."""
    rules: Rules = DEFAULT_RULES
    continuation: Callable[[Any], tuple[Key, str] | None] | None = None
    """The short way for the usual event of a long stream: (key, fragment) where it only continues a call."""
    object_continuation: Callable[[Any], tuple[Key, str] | None] | None = None
    """The same for an object of the vendor's SDK."""
    always_ends: bool = False
    """Whether the provider always says that a reply ends, so that one without an end has broken off."""
    models: tuple[tuple[re.Pattern[str], Rules], ...] = ()
    """Rules of models that differ: the first pattern that is found in the model's name counts."""

    sifter: Callable[[], Sifter] | None = None
    """Reads calls out of the text, between `read_event` or `read_reply` and the assembler."""

    def rules_for(self, model: str) -> Rules:
        return next((rules for pattern, rules in self.models if pattern.search(model)), self.rules)
