"""The rule by which tools are shown from the start. Pure: tools, prices and room in, the tools that are shown out.

1. Everything, where everything fits.
2. Else the tools that are kept, whatever they cost, as long as there are places; then each server of which all tools
   fit, in the order of the catalogue (a server shown whole needs no search, and a large one does not crowd out the
   small ones after it); then single tools in the order of the catalogue, up to the first that does not fit.
3. A part of the room (`RESERVED`) stays free for tools that the model finds by searching.

What is shown keeps the order of the catalogue. Neither chance nor the question has a say: the same catalogue gives the
same definitions, so that prompt caches hold from one conversation to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from toolbridge.types import Tool, ToolId

RESERVED = 4
"""One part in so many of the room is for tools that are found."""

SURELY = 2.0
"""A rough price above so many times the room is too much, however the tool is converted."""


@dataclass(frozen=True, slots=True)
class Room:
    """What definitions may take up: tokens and places, each without end where it is `None`."""

    tokens: int | None
    places: int | None

    def holds(self, tokens: float, places: int) -> bool:
        return (self.tokens is None or tokens <= self.tokens) and (self.places is None or places <= self.places)

    def without(self, tokens: int, places: int) -> Room:
        return Room(
            None if self.tokens is None else self.tokens - tokens,
            None if self.places is None else self.places - places,
        )

    @property
    def from_the_start(self) -> Room:
        """The room without the part that is for tools that are found."""
        return Room(
            None if self.tokens is None else self.tokens - self.tokens // RESERVED,
            None if self.places is None else self.places - self.places // RESERVED,
        )


def all_fit(tools: Sequence[Tool], room: Room, price: Callable[[Tool], int], rough: Callable[[Tool], float]) -> bool:
    """Whether nothing need be left for a search."""
    if not room.holds(0, len(tools)):
        return False
    if room.tokens is None:
        return True
    if sum(map(rough, tools)) > SURELY * room.tokens:
        return False
    return sum(map(price, tools)) <= room.tokens


def shown_first(
    tools: Sequence[Tool],
    kept: Container[ToolId],
    room: Room,
    price: Callable[[Tool], int],
    rough: Callable[[Tool], float],
) -> dict[ToolId, Tool]:
    """The tools that are shown where not all fit: step 2 of the rule. `room` is what is left for them."""
    places = None if room.places is None else max(0, room.places)
    chosen = {each.id for each in [each for each in tools if each.id in kept][:places]}
    tokens = sum(price(each) for each in tools if each.id in chosen) if room.tokens is not None else 0
    servers: dict[str, list[Tool]] = {}
    for each in tools:
        if each.id not in chosen:
            servers.setdefault(each.id.server, []).append(each)
    for members in servers.values():
        left = None if room.tokens is None else room.tokens - tokens
        if not room.holds(tokens, len(chosen) + len(members)):
            continue
        if left is not None and sum(map(rough, members)) > SURELY * left:
            continue
        cost = sum(map(price, members)) if left is not None else 0
        if room.holds(tokens + cost, len(chosen) + len(members)):
            tokens += cost
            chosen.update(each.id for each in members)
    for each in tools:
        if each.id in chosen:
            continue
        cost = price(each) if room.tokens is not None else 0
        if not room.holds(tokens + cost, len(chosen) + 1):
            break
        tokens += cost
        chosen.add(each.id)
    return {each.id: each for each in tools if each.id in chosen}
