"""What a wire format is: four pure functions, and the rules of its transcripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolbridge.history.rules import DEFAULT_RULES, Rules
from toolbridge.history.turns import Turn
from toolbridge.notes import Converted
from toolbridge.stream.events import Event, Key
from toolbridge.types import Message

Wire: TypeAlias = dict[str, Any]


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

    def rules_for(self, model: str) -> Rules:
        return next((rules for pattern, rules in self.models if pattern.search(model)), self.rules)
