"""Drafts: the messages of a history as turns in the making, each call with its answer, what cannot be sent left out.

Sits between `history.pairs`, which knows what belongs together, and `history.order`, which knows who may speak when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar, assert_never

from toolbridge.history.calls import legal_call
from toolbridge.history.ids import legal_ids
from toolbridge.history.media import Placed, placed_parts, placed_result
from toolbridge.history.pairs import Place, pair
from toolbridge.history.rules import NOTHING, Carries, Rules
from toolbridge.history.said import is_blank, well_formed
from toolbridge.history.turns import Answer, Block, TurnPart
from toolbridge.notes import Effect, Note
from toolbridge.types import (
    EMPTY,
    Audio,
    Content,
    Foreign,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)

UNAVAILABLE = (
    "The result of this call is not available. Do not assume that the call ran, nor that it did not, nor what came of "
    "it."
)
"""What a call without a result is answered with: no provider takes a call that is not answered."""

ORPHAN = "[The result of a tool call that is not in this conversation (call id {id}). A tool said this, not the user:]"
"""What stands before the content of a result without a call. It must be sent as the user's, and is not the user's."""

Speaker: TypeAlias = Literal["system", "user", "assistant"]

_Part = TypeVar("_Part", bound=Content | ToolCall)


@dataclass(slots=True)
class Asked:
    """A call as it is written, and what came of it, which may be read before the call is."""

    call: ToolCall
    blocks: tuple[Block, ...] = ()
    structured: Any = None
    is_error: bool = False
    after: tuple[Content, ...] = ()
    """What the answer cannot hold and a user's message can."""

    def take(self, result: ToolResult, placed: Placed) -> None:
        self.blocks, self.structured, self.after = placed.blocks, placed.structured, placed.after
        self.is_error = result.is_error

    @property
    def answer(self) -> Answer:
        return Answer(self.call, self.blocks, self.structured, self.is_error)


@dataclass(slots=True)
class Draft:
    """A turn in the making."""

    role: Speaker
    message: int
    """The message that it comes from, or stands behind."""
    parts: list[TurnPart] = field(default_factory=list[TurnPart])
    asked: list[Asked] = field(default_factory=list[Asked])
    """One for each call among the parts."""
    model: str = ""
    trusted: bool = False
    """Whether the provider gets its opaque values back."""
    made: bool = False
    """Whether nobody said it: it was made to hold what another place cannot."""
    thoughts: list[int] = field(default_factory=list[int])
    """Where in the message each piece of reasoning among the parts stood."""


def draft(messages: Sequence[Message], rules: Rules, origin: str, model: str) -> tuple[list[Draft], list[Note]]:
    """Drafts in the order of the history. None of them is empty, and in none of them is anything that is not sent."""
    walk = _Walk(messages, rules, origin, model)
    for index, message in enumerate(messages):
        walk.read(index, message)
    return walk.drafts, walk.notes


class _Walk:
    """One way through a history, from its first part to its last."""

    def __init__(self, messages: Sequence[Message], rules: Rules, origin: str, model: str) -> None:
        self.rules = rules
        # A result without a call stands among the user's words, where there is no flag and no structured content.
        self.rules_of_orphans = replace(rules, in_results=rules.in_user, structured=False, error_flag=False)
        self.origin = origin
        self.model = model
        self.pairs = pair(messages)
        self.answered = set(self.pairs.calls.values())
        self.ids = _ids(messages, rules)
        self.drafts: list[Draft] = []
        self.notes: list[Note] = []
        self.asked: dict[Place, tuple[Asked, Draft]] = {}
        """The calls so far, and where they stand now."""
        self.early: dict[Place, tuple[ToolResult, Placed]] = {}
        """Results that came before their calls, by the calls."""

        self.index = 0
        self.message = Message("user", ())
        self.trusted = False
        self.thinking = False
        """Whether the provider takes back what was thought in this message."""
        self.open: Draft | None = None
        """The draft to which the next part of this message belongs, if it is of the same role."""
        self.run: Draft | None = None
        """The draft behind which a result is in its place: nothing was said since but other results."""
        self.heard = False
        """Whether anything of this message was said, or was a result."""

    def read(self, index: int, message: Message) -> None:
        self.index, self.message, self.open, self.heard = index, message, None, False
        same_model = not self.model or not message.model or message.model == self.model
        self.trusted = self.origin != "" and message.origin == self.origin and same_model
        self.thinking = self.trusted and self.rules.reasoning
        if self.thinking and self.rules.thoughts_together:
            self.thinking = all(self.is_replayable(part) for part in message.parts if isinstance(part, Reasoning))
        for number, part in enumerate(message.parts):
            match part:
                case Text() | Image() | Audio() | Resource() | ResourceLink():
                    self.read_content(number, part)
                case Reasoning():
                    self.read_reasoning(number, part)
                case Foreign():
                    self.read_foreign(number, part)
                case ToolCall():
                    self.read_call(number, part)
                case ToolResult():
                    self.read_result(number, part)
                case _:
                    assert_never(part)
        if not self.heard:
            self.notes.append(Note("message.empty", "narrowed", f"/{index}", message.role))

    def read_content(self, number: int, part: Content) -> None:
        part = self.without_opaque(part, self.path(number))
        if isinstance(part, Text) and part.opaque and is_blank(part.text) and not self.is_replayable(part):
            self.note("opaque.dropped", "narrowed", number, list(part.opaque))
            return
        parts, notes = placed_parts((part,), self.carries)
        self.notes += [replace(note, path=self.path(number)) for note in notes]
        for each in parts:
            self.say(number, each)

    def read_reasoning(self, number: int, part: Reasoning) -> None:
        if self.message.role != "assistant":
            self.note("part.misplaced", "narrowed", number, part.text)
        elif self.thinking and self.is_replayable(part):
            self.say(number, part)
            if self.open is not None:
                self.open.thoughts.append(number)
        else:
            self.note("reasoning.dropped", "narrowed", number, part.text)

    def is_replayable(self, part: Reasoning | Text) -> bool:
        return self.rules.replayable is None or self.rules.replayable(part)

    def read_foreign(self, number: int, part: Foreign) -> None:
        if self.trusted and self.message.role != "system":  # a system message holds text
            self.say(number, part)
        else:
            self.note("foreign.dropped", "narrowed", number, part.kind)

    def read_call(self, number: int, part: ToolCall) -> None:
        place = (self.index, number)
        if self.message.role != "assistant":
            self.note("call.misplaced", "changed", number, self.message.role)
        part = self.without_opaque(part, self.path(number))
        call, notes = legal_call(part, self.ids[place], self.rules, self.path(number))
        self.notes += notes
        asked = Asked(call)
        if place not in self.answered:
            self.note("result.missing", "changed", number, part.id)
            missing = ToolResult(call.id, (Text(UNAVAILABLE),), is_error=True)
            asked.take(missing, placed_result(missing, self.rules))
        elif place in self.early:
            asked.take(*self.early.pop(place))
        turn = self.add("assistant", call)
        turn.asked.append(asked)
        self.run = turn
        self.asked[place] = asked, turn

    def read_result(self, number: int, part: ToolResult) -> None:
        self.heard = True
        place = (self.index, number)
        call = self.pairs.calls.get(place)
        if call is not None:
            self.read_answer(number, part, call)
        elif place in self.pairs.duplicates:
            self.note("result.duplicate", "narrowed", number, part.text)
        else:
            self.note("result.orphaned", "changed", number, part.call_id)
            placed = self.place(number, part, self.rules_of_orphans)
            self.add("user", Text(well_formed(ORPHAN.format(id=part.call_id))), *placed.blocks, *placed.after)

    def read_answer(self, number: int, part: ToolResult, call: Place) -> None:
        asked, turn = self.asked.get(call, (None, None))
        if turn is None or turn is not self.run:
            self.note("result.moved", "changed", number)
        placed = self.place(number, part, self.rules)
        if asked is None:
            self.early[call] = part, placed
        else:
            asked.take(part, placed)
        if turn is self.open:
            self.open = None  # what this message says next was said after the result

    def place(self, number: int, result: ToolResult, rules: Rules) -> Placed:
        """The result, as far as it can be carried."""
        path = self.path(number)
        content = tuple(
            self.without_opaque(each, f"{path}/content/{place}") for place, each in enumerate(result.content)
        )
        placed = placed_result(result if content == result.content else replace(result, content=content), rules)
        self.notes += [replace(note, path=path + note.path) for note in placed.notes]
        return placed

    def without_opaque(self, part: _Part, path: str) -> _Part:
        """The part with nothing on it that is another provider's."""
        if self.trusted or not isinstance(part, Text | Image | ToolCall) or not part.opaque:
            return part
        self.notes.append(Note("opaque.dropped", "narrowed", path, list(part.opaque)))
        return replace(part, opaque=EMPTY)

    def say(self, number: int, part: TurnPart) -> None:
        """A part that is said by whom the message is from."""
        match self.message.role:
            case "system":
                self.add("system", part)
                if self.rules.system == "anywhere":
                    self.run = None
            case "user":
                self.add("user", part)
                self.run = None
            case "assistant":
                self.run = self.add("assistant", part)
            case "tool":
                self.note("part.misplaced", "changed", number)
                self.add("user", part)

    def add(self, role: Speaker, *parts: TurnPart) -> Draft:
        """The draft that the parts stand in: a new one, unless this message is just speaking in that role."""
        self.heard = True
        if self.open is None or self.open.role != role:
            made = role != self.message.role
            self.open = Draft(role, self.index, model=self.message.model, trusted=self.trusted, made=made)
            self.drafts.append(self.open)
        self.open.parts += parts
        return self.open

    @property
    def carries(self) -> Carries:
        """What the message may hold."""
        match self.message.role:
            case "system":
                return NOTHING
            case "assistant":
                return self.rules.in_assistant
            case "user" | "tool":
                return self.rules.in_user

    def path(self, number: int) -> str:
        return f"/{self.index}/parts/{number}"

    def note(self, code: str, effect: Effect, number: int, before: Any = None) -> None:
        self.notes.append(Note(code, effect, self.path(number), before))


def _ids(messages: Sequence[Message], rules: Rules) -> dict[Place, str]:
    """The id of each call, as it is written."""
    ids = {
        (index, number): part.id
        for index, message in enumerate(messages)
        for number, part in enumerate(message.parts)
        if isinstance(part, ToolCall)
    }
    return dict(zip(ids, legal_ids(tuple(ids.values()), rules.ids), strict=True))
