"""Trimming: a history that is too long for its model loses its oldest parts, and stays a history.

What goes, in this order, until the rest fits: whole turns from the oldest on (a user's message and everything up to the
next one); then, in the newest turn, the oldest steps (an assistant's message and the results of its calls); then the
ends of long results. System messages stay, and so do the user's messages and the newest step of the newest turn. A call
and its result go together or stay together, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from toolbridge.history.excerpts import cut_result, plain_text
from toolbridge.history.pairs import pair
from toolbridge.notes import Converted, Note
from toolbridge.tokens import Counter, estimate, message_tokens, part_tokens
from toolbridge.types import Message, Part, Role, ToolCall, ToolResult

LEAST_RESULT_TOKENS = 100
"""A result is not cut to less: there would be little left beside the line that says that it was cut."""

_LONGEST_FOOTER = "\n[Shown: characters 0 to 1234567890 and 1234567890 to 1234567890 of 1234567890. The rest was cut.]"
"""About the longest such line."""


def trim_history(messages: Sequence[Message], budget: int, count: Counter = estimate) -> Converted[tuple[Message, ...]]:
    """The history within a budget of tokens, and what had to go. Paths of the notes point into the history as it was.

    Where the budget is too small for what must stay, that is returned, and a note says so.
    """
    trimming = _Trimming(tuple(messages), budget, count)
    trimming.drop_turns()
    while trimming.used > budget and trimming.drop_steps():
        trimming.drop_turns()  # steps may have tied turns together
    if trimming.used > budget:
        trimming.cut_results()
    return Converted(tuple(trimming.kept.values()), trimming.notes())


class _Trimming:
    """A history while it is trimmed."""

    def __init__(self, history: tuple[Message, ...], budget: int, count: Counter) -> None:
        self.history = history
        self.budget = budget
        self.count = count
        self.links = _links(history)
        self.kept = dict(enumerate(history))
        """What stays, by its place in the history as it was."""
        self.used = 0
        """The tokens of what stays."""
        self.newest: list[int] = []
        """The messages of the newest turn."""
        self.turns = 0
        self.steps = 0
        self.cuts: list[Note] = []
        self._sizes: dict[int, int] = {}

    def notes(self) -> tuple[Note, ...]:
        notes = [Note("turns.trimmed", "narrowed", "", self.turns)] if self.turns else []
        notes += [Note("steps.trimmed", "narrowed", "", self.steps)] if self.steps else []
        over = [Note("budget.exceeded", "changed", "", self.used)] if self.used > self.budget else []
        return (*notes, *self.cuts, *over)

    def size(self, places: Collection[int]) -> int:
        for i in places:
            if i not in self._sizes:
                self._sizes[i] = message_tokens(self.history[i], self.count)
        return sum(self._sizes[i] for i in places)

    def drop_turns(self) -> None:
        """Turns are counted from the newest on: what goes is not even looked at."""
        fixed = {i for i, message in self.kept.items() if message.role == "system" and not _acts(message)}
        self.used = self.size(fixed)
        turns = _groups(self.history, [i for i in self.kept if i not in fixed], "user", self.links)
        if not turns:
            return
        self.newest = turns.pop()
        self.used += self.size(self.newest)
        while turns and (more := self.used + self.size(turns[-1])) <= self.budget:
            self.used = more
            turns.pop()
        self.turns += len(turns)
        for turn in turns:
            self.drop(turn)

    def drop_steps(self) -> bool:
        """Whether there were any that could go."""
        before = self.steps
        spoken = [i for i in self.newest if self.history[i].role != "user" or _acts(self.history[i])]
        for step in _groups(self.history, spoken, "assistant", self.links)[:-1]:
            if any(self.history[i].role == "user" for i in step):
                continue
            self.drop(step)
            self.used -= self.size(step)
            self.steps += 1
            if self.used <= self.budget:
                break
        return self.steps > before

    def drop(self, places: Sequence[int]) -> None:
        for i in places:
            del self.kept[i]

    def cut_results(self) -> None:
        least = max(LEAST_RESULT_TOKENS, 2 * self.count(_LONGEST_FOOTER))
        for i in self.newest:
            message = self.kept.get(i)
            if message is not None and _acts(message):
                parts = tuple(self.cut(part, least, f"/{i}/parts/{j}") for j, part in enumerate(message.parts))
                self.kept[i] = replace(message, parts=parts)

    def cut(self, part: Part, least: int, path: str) -> Part:
        over = self.used - self.budget
        if over <= 0 or not isinstance(part, ToolResult):
            return part
        tokens = self.count(plain_text(part))
        if tokens <= least:
            return part
        cut = cut_result(part, max(tokens - over, least), self.count)
        saved = part_tokens(part, self.count) - part_tokens(cut, self.count)
        if saved <= 0:
            return part
        self.used -= saved
        self.cuts.append(Note("result.cut", "narrowed", path, tokens))
        return cut


def _acts(message: Message) -> bool:
    """Whether there are calls or results in a message, whoever's it is."""
    return any(isinstance(part, ToolCall | ToolResult) for part in message.parts)


def _groups(
    history: Sequence[Message], places: Sequence[int], opener: Role, links: Mapping[int, int]
) -> list[list[int]]:
    """Messages in groups, each from one of that role on. What is linked is in one group, whatever lies between."""
    groups: list[list[int]] = []
    reach = -1
    for i in places:
        if not groups or (history[i].role == opener and i > reach):
            groups.append([])
        groups[-1].append(i)
        reach = max(reach, links.get(i, -1))
    return groups


def _links(history: Sequence[Message]) -> dict[int, int]:
    """For messages with calls or results, the last message that belongs to them."""
    links: dict[int, int] = {}

    def link(one: int, other: int) -> None:
        links[min(one, other)] = max(one, other, links.get(min(one, other), -1))

    pairs = pair(history)
    for (result, _), (call, _) in pairs.calls.items():
        link(result, call)
    if pairs.duplicates:
        called: dict[str, int] = {}
        for i, message in enumerate(history):
            for number, part in enumerate(message.parts):
                if isinstance(part, ToolCall):
                    called[part.id] = i
                elif isinstance(part, ToolResult) and (i, number) in pairs.duplicates:
                    link(called.get(part.call_id, i), i)
    return links
