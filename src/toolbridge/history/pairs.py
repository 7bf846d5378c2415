"""Pairs: which result belongs to which call, when ids are missing, reused, doubled, or in the wrong order.

Looks at ids and places alone; what becomes of a result that belongs to no call is decided in `history.drafts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from toolbridge.types import Message, ToolCall, ToolResult

Place: TypeAlias = tuple[int, int]
"""A message of the history, and a part of it."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What belongs together. A result that is in neither field is the result of no call in the history."""

    calls: Mapping[Place, Place]
    """The call of each result that has one."""
    duplicates: frozenset[Place]
    """Results whose call had its result before."""


@dataclass(slots=True)
class _Round:
    """The calls of one id in one message. Those before `answered` have their results."""

    message: int
    places: list[Place]
    answered: int = 0


@dataclass(slots=True)
class _Calls:
    """The calls of one id, as far as the walk has come."""

    open: list[_Round] = field(default_factory=list[_Round])
    """Messages with calls that have no result yet."""
    early: list[Place] = field(default_factory=list[Place])
    """Results that came before the first call."""
    called: bool = False


def pair(messages: Sequence[Message]) -> Pairs:
    """Each result with its call.

    A result belongs to the latest message before it that has a call of its id without a result, since ids may be
    reused in every round; and there to the first such call, since a provider that gives no ids answers in order. Only
    where no call of its id stands before it, it belongs to one after it that nothing else answers.
    """
    calls: dict[Place, Place] = {}
    duplicates: list[Place] = []
    by_id: dict[str, _Calls] = {}
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                _open(by_id.setdefault(part.id, _Calls()), (index, number))
            elif isinstance(part, ToolResult):
                known = by_id.setdefault(part.call_id, _Calls())
                if known.open:
                    calls[index, number] = _latest(known)
                elif known.called:
                    duplicates.append((index, number))
                else:
                    known.early.append((index, number))
    for known in by_id.values():
        if known.early:
            unanswered = (place for each in known.open for place in each.places[each.answered :])
            calls.update(zip(known.early, unanswered, strict=False))
    return Pairs(calls, frozenset(duplicates))


def _open(known: _Calls, place: Place) -> None:
    known.called = True
    if known.open and known.open[-1].message == place[0]:
        known.open[-1].places.append(place)
    else:
        known.open.append(_Round(place[0], [place]))


def _latest(known: _Calls) -> Place:
    latest = known.open[-1]
    found = latest.places[latest.answered]
    latest.answered += 1
    if latest.answered == len(latest.places):
        known.open.pop()
    return found
