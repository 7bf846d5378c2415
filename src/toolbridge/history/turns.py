"""Turns: a history in the one normal form from which every wire format can be written without a decision left.

history (as it happened)  ──legal_turns──▶  turns (as a provider accepts it)  ──a wire format──▶  request fields
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolbridge.history.rules import Rules
from toolbridge.notes import Converted
from toolbridge.types import (
    Audio,
    Foreign,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
)

TurnPart: TypeAlias = Text | Image | Audio | Resource | ResourceLink | Reasoning | Foreign | ToolCall
"""A `Resource` here is a document (`blob`, or `text` where the rules list its type); a `ResourceLink` an image or a
document by its address. Everything else has become text."""

Block: TypeAlias = Text | Image | Audio | Resource


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one call, with everything in it that the provider can carry and nothing else."""

    call: ToolCall
    """The call that it answers, with the id and the name that are written."""
    blocks: tuple[Block, ...]
    """Never empty. Text says what could not be carried."""
    structured: Any = None
    """JSON to be sent as it is, in place of the text that says the same; only where the rules have `structured`."""
    is_error: bool = False

    @property
    def text(self) -> str:
        """All text blocks, joined: for formats whose results are one string."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, and, where it has calls, the results of all of them."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[TurnPart, ...]
    answers: tuple[Answer, ...] = ()
    """One for each call among the parts, in their order. They are written right after the message."""
    model: str = ""


def legal_turns(messages: Sequence[Message], rules: Rules, origin: str, model: str = "") -> Converted[tuple[Turn, ...]]:
    """The history as turns that keep the rules, for the provider `origin`, and what had to change."""
    from toolbridge.history.drafts import draft  # both are made of the classes above
    from toolbridge.history.order import order

    drafts, changes = draft(messages, rules, origin, model)
    turns, moves = order(drafts, rules)
    return Converted(turns, (*changes, *moves))
