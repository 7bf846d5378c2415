"""What a provider asks of a transcript, as data: roles, order, ids, and which media may stand where.

A wire format says how a transcript is written; these rules say what may be in it. `history.turns` reads them, so that
the writers have nothing left to decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolbridge.names import NameRule, name_rule
from toolbridge.types import Reasoning, Text

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The images that every provider with images takes."""

PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Carries:
    """The media that a place can hold, by MIME type. `links` are images and files by their https address."""

    images: frozenset[str] = frozenset()
    audio: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    """Other files: PDFs, and text files where the provider has a form for them."""
    links: frozenset[str] = frozenset()
    """MIME types that may be given by address instead; `image/*` for images of any kind."""


NOTHING = Carries()


@dataclass(frozen=True, slots=True)
class IdRule:
    """What a provider accepts as the id of a call."""

    pattern: re.Pattern[str]
    length: int
    exact: bool = False
    """Whether every id has just that length."""

    def allows(self, id: str) -> bool:
        return (len(id) == self.length if self.exact else len(id) <= self.length) and self.pattern.fullmatch(
            id
        ) is not None


def id_rule(characters: str, length: int, exact: bool = False) -> IdRule:
    return IdRule(re.compile(f"[{characters}]+"), length, exact)


ANY_ID = id_rule(r"\x21-\x7e", 64)
PLAIN_NAMES = name_rule("a-zA-Z0-9_-", 64)

SystemPlace: TypeAlias = Literal["anywhere", "first"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a transcript must be like."""

    system: SystemPlace = "anywhere"
    """`first`: system text stands before everything else, or in a field of its own."""
    alternate: bool = False
    """Whether user and assistant take turns: messages of one role in a row are one message."""
    user_first: bool = False
    user_last: bool = False
    """Whether the last message must be the user's (or results): an assistant's is not taken as the last one."""
    ids: IdRule = ANY_ID
    names: NameRule = PLAIN_NAMES
    most_calls: int | None = None
    """Calls in one message of the assistant; past that they are more than one message."""
    in_results: Carries = NOTHING
    """What may stand inside a result."""
    in_user: Carries = NOTHING
    """What may stand in a user's message; what a result cannot hold and this can follows the results."""
    in_assistant: Carries = NOTHING
    error_flag: bool = False
    """Whether a result has a place for failure; where it has none, its text says so."""
    structured: bool = False
    """Whether a result carries structured content as it is, and not as text."""
    reasoning: bool = True
    """Whether reasoning may be sent back at all."""
    replayable: Callable[[Reasoning | Text], bool] | None = None
    """Whether the provider takes this back of its own: what its model thought, or a text that is blank and has
    something opaque beside it. `None`: all of it. A pure function, which the wire format gives."""
    thoughts_together: bool = False
    """Whether all reasoning of a message goes back or none of it, since what came of it is tied to it."""
    thoughts_lead: bool = False
    """Whether something must follow reasoning in the same message: it may not be the end of one."""
    longest_result: int | None = None
    """Characters of text in one result; past that it is cut, and a line of it says so."""
    beside_results: frozenset[type] | None = None
    """Which parts a user's turn may have that comes right behind results; `None`: all of them. Where one has others,
    the assistant says a word in between."""


DEFAULT_RULES = Rules()
