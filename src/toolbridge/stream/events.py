"""Neutral events: what a provider's wire events say, and the reply that they fold to.

A wire format's `read_event` makes these from one wire event, its `read_reply` from a whole reply, so that both ways
meet in the one assembler. None of them keeps state: an event says which part of the reply it belongs to by its `key`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from toolbridge.notes import Note
from toolbridge.types import Image, Message, ToolCall

Key: TypeAlias = int | str | None
"""Which part of the reply: its number or id on the wire; `None` where the wire does not say (the last one is meant)."""

Finish: TypeAlias = Literal["stop", "calls", "length", "filtered", "error", "broken_off"]
"""Why a reply ended. `calls` wherever there are calls to run; `length`: cut at the token limit; `broken_off`: the
stream ended without an end."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text. `key` only where the wire numbers its blocks: text of another key is another part."""

    text: str
    key: Key = None
    opaque: Mapping[str, Any] | None = None
    """Merged into the part's."""
    whole: bool = False
    """Whether this is the whole text of the part, in place of what came before."""


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thought. String values of `opaque` under the same key replace each other."""

    text: str = ""
    key: Key = None
    opaque: Mapping[str, Any] | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class CallDelta:
    """More of a call: whatever of id, name and arguments this event has.

    `text` is the next fragment of the argument text, or all of it where `whole`. `arguments` is the object itself,
    where the wire has an object; `pieces` are Vertex's `(json path, value, continues)`, of which the path `$` is the
    object itself and says with `continues` alone whether more of it follows.

    `opens` says that a call of its own begins here, whatever is open: Gemini's calls have no number and often no id,
    and two calls of one tool in a row are two calls. What follows without `opens` belongs to the last call.
    """

    key: Key = None
    id: str = ""
    name: str = ""
    text: str = ""
    whole: bool = False
    arguments: Any = None
    pieces: tuple[tuple[str, Any, bool], ...] = ()
    opaque: Mapping[str, Any] | None = None
    opens: bool = False


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image that the model made, whole."""

    image: Image
    key: Key = None


@dataclass(frozen=True, slots=True)
class ForeignPart:
    """A part that only the provider understands, as it stands on the wire; a later one of the same key replaces it.

    Argument text that arrives under its key is its own: a hosted tool's call streams as any call does.
    """

    kind: str
    data: Mapping[str, Any]
    key: Key = None


@dataclass(frozen=True, slots=True)
class ForeignDelta:
    """More of a foreign part: `text` is appended to the string at `field` of its data (parsed as JSON at the end where
    `json` is set, since hosted calls stream their arguments as text)."""

    key: Key
    field: str
    text: str
    json: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """Nothing more of the part of that key follows, unless the reply was cut right there."""

    key: Key


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply ends here, for this reason; `raw` is the provider's word for it."""

    reason: Finish
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The transport says that nothing follows (`[DONE]`, `message_stop`)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply cost, in tokens; `None` is not told."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What the reply cost so far. Later values replace earlier ones, field by field."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Repeated:
    """The reply once more, whole, at its end. It counts only where nothing came before it: some servers stream the end
    alone, and others number the parts there in another way than before."""

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class About:
    """What the reply says of itself."""

    model: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The provider reports an error in the middle of the stream."""

    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """An event, or a part of one, that is not understood: what, for a note. `code` is the note's."""

    what: Any
    code: str = "event.unknown"


Event: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | CallDelta
    | ImagePart
    | ForeignPart
    | ForeignDelta
    | Closed
    | Finished
    | Ended
    | Spent
    | Repeated
    | About
    | Failed
    | Unread
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, whole."""

    message: Message
    """The assistant's message, with its parts in the order in which they were opened."""
    finish: Finish
    raw_finish: str = ""
    usage: Usage | None = None
    error: str | None = None
    """What the provider said in place of the rest."""
    notes: tuple[Note, ...] = field(default=())
    id: str = ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.message.calls

    @property
    def text(self) -> str:
        return self.message.text
