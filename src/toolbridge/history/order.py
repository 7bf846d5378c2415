"""Order: who may speak when. Drafts in the order of the history become turns in the order that a provider asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolbridge.history.drafts import Draft
from toolbridge.history.rules import Rules
from toolbridge.history.turns import Turn
from toolbridge.notes import Note
from toolbridge.types import Reasoning, Text, ToolCall

BEGINNING = "(The conversation begins here.)"
"""The user's first words, where the history has none and the provider wants some."""

GO_ON = "(Please go on.)"
"""The user's last words, where the assistant had the last word and the provider wants to answer somebody."""

IN_BETWEEN = "Understood."
"""The assistant's word between results and a user's turn that may not follow them."""

FROM_RESULT = "[From the result of {name} (call id {id}):]"
"""What stands before media that a result could not hold, so that the model knows whose they are."""


def order(drafts: Iterable[Draft], rules: Rules) -> tuple[tuple[Turn, ...], list[Note]]:
    """The drafts as turns that keep the rules."""
    notes: list[Note] = []
    if rules.system == "first":
        drafts = _system_first(drafts, notes)
    if rules.thoughts_lead:
        drafts = _without_last_thoughts(list(drafts), rules.alternate, notes)
    drafts = _with_media(_in_small_turns(drafts, rules.most_calls, notes))
    if rules.alternate:
        drafts = _taking_turns(drafts, notes)
    ordered = list(drafts if rules.beside_results is None else _apart(drafts, rules.beside_results, notes))
    if rules.user_first:
        _begin(ordered, notes)
    if rules.user_last:
        _end(ordered, notes)
    turns = tuple(
        Turn(each.role, tuple(each.parts), tuple(asked.answer for asked in each.asked), each.model) for each in ordered
    )
    return turns, notes


def _system_first(drafts: Iterable[Draft], notes: list[Note]) -> Iterator[Draft]:
    """All system text in one turn, before everything."""
    first: Draft | None = None
    rest: list[Draft] = []
    for draft in drafts:
        if draft.role != "system":
            rest.append(draft)
            continue
        if rest:
            notes.append(Note("system.moved", "changed", f"/{draft.message}"))
        if first is None:
            first = draft
        else:
            first.parts += draft.parts
    if first is not None:
        yield first
    yield from rest


def _without_last_thoughts(drafts: list[Draft], alternate: bool, notes: list[Note]) -> list[Draft]:
    """No draft that ends in reasoning, unless the next one goes on in the same turn. Empty ones are gone."""
    kept: list[Draft] = []
    dropped: list[Note] = []
    for draft in reversed(drafts):
        goes_on = alternate and kept and kept[-1].role == "assistant" and not draft.asked
        while draft.parts and isinstance(thought := draft.parts[-1], Reasoning) and not goes_on:
            draft.parts.pop()
            path = f"/{draft.message}/parts/{draft.thoughts.pop()}"
            dropped.append(Note("reasoning.dropped", "narrowed", path, thought.text))
        if draft.parts:
            kept.append(draft)
    messages = {draft.message for draft in kept}
    notes += reversed(dropped)
    for gone in dict.fromkeys(draft.message for draft in drafts if not draft.parts):
        if gone not in messages:
            notes.append(Note("message.empty", "narrowed", f"/{gone}", "assistant"))
    return kept[::-1]


def _in_small_turns(drafts: Iterable[Draft], most_calls: int | None, notes: list[Note]) -> Iterator[Draft]:
    """Turns of no more calls than may be in one. What was thought and said before a call stays before it."""
    for draft in drafts:
        if most_calls is None or len(draft.asked) <= max(most_calls, 1):
            yield draft
            continue
        notes.append(Note("message.split", "changed", f"/{draft.message}", len(draft.asked)))
        left = iter(draft.asked)
        piece = _piece(draft)
        coming = len(draft.asked)
        for part in draft.parts:
            if coming and len(piece.asked) >= max(most_calls, 1):
                yield piece
                piece = _piece(draft)
            piece.parts.append(part)
            if isinstance(part, ToolCall):
                piece.asked.append(next(left))
                coming -= 1
        yield piece


def _piece(draft: Draft) -> Draft:
    return Draft(draft.role, draft.message, model=draft.model, trusted=draft.trusted, made=draft.made)


def _with_media(drafts: Iterable[Draft]) -> Iterator[Draft]:
    """Behind the answers, as the user's, the media that they could not hold."""
    for draft in drafts:
        yield draft
        media = Draft("user", draft.message, made=True)
        for asked in draft.asked:
            if asked.after:
                whose = Text(FROM_RESULT.format(name=asked.call.name, id=asked.call.id))
                media.parts += (whose, *asked.after)
        if media.parts:
            yield media


def _taking_turns(drafts: Iterable[Draft], notes: list[Note]) -> Iterator[Draft]:
    """Neighbours of one role made one. Behind answers the assistant may speak again: they are the other side's."""
    last: Draft | None = None
    for draft in drafts:
        if last is None or draft.role != last.role or last.asked or draft.role == "system":
            if last is not None:
                yield last
            last = draft
            continue
        if not (last.made or draft.made) and last.message != draft.message:
            notes.append(Note("messages.merged", "changed", f"/{draft.message}"))
        last.parts += draft.parts
        last.asked = draft.asked
        if draft.trusted and not last.trusted:
            last.model, last.trusted = draft.model, True
        last.message = draft.message
        last.made = last.made and draft.made
    if last is not None:
        yield last


def _apart(drafts: Iterable[Draft], beside: frozenset[type], notes: list[Note]) -> Iterator[Draft]:
    """A word of the assistant's between results and a user's turn with parts that may not stand beside them."""
    last: Draft | None = None
    for draft in drafts:
        behind_results = last is not None and last.asked and draft.role == "user"
        if behind_results and any(type(part) not in beside for part in draft.parts):
            notes.append(Note("message.inserted", "changed", f"/{draft.message}"))
            yield Draft("assistant", draft.message, [Text(IN_BETWEEN)], made=True)
        yield draft
        last = draft


def _begin(drafts: list[Draft], notes: list[Note]) -> None:
    """See that the first words, but for the system's, are the user's."""
    place = next((place for place, each in enumerate(drafts) if each.role != "system"), len(drafts))
    if place == len(drafts) or drafts[place].role != "user":
        _insert(drafts, place, BEGINNING, notes)


def _end(drafts: list[Draft], notes: list[Note]) -> None:
    """See that the last words are the user's, or results."""
    if not drafts or not (drafts[-1].role == "user" or drafts[-1].asked):
        _insert(drafts, len(drafts), GO_ON, notes)


def _insert(drafts: list[Draft], place: int, text: str, notes: list[Note]) -> None:
    """A user's turn. Its note points at the message before which it stands, or else behind which it stands."""
    beside = drafts[place : place + 1] or drafts[-1:]
    message = beside[0].message if beside else 0
    drafts.insert(place, Draft("user", message, [Text(text)], made=True))
    notes.append(Note("message.inserted", "changed", f"/{message}" if beside else ""))
