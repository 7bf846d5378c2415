"""What a run tells while it goes on. Frozen values; the last one of a run is always `Paused` or `Done`.

Text and reasoning arrive as `TextDelta` and `ReasoningDelta` of `stream.events`, the rest is here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from toolbridge.stream.events import ReasoningDelta, Reply, TextDelta, Usage
from toolbridge.types import JsonObject, Message, ToolCall, ToolId, ToolResult

Stop: TypeAlias = Literal["turns", "time", "tokens", "repeated", "length", "filtered", "broken_off", "error"]
"""Why a run ended without the model having said its last word. `turns`, `time`, `tokens`: a limit of the run;
`repeated`: the model called the same tool with the same arguments and the same outcome, again and again; `length`:
the model's answer was cut at its own limit; `filtered`: its provider withheld it; `broken_off`, `error`: the reply
ended in the middle."""


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call is about to run: understood, checked, and allowed where that was needed."""

    call: ToolCall
    tool: ToolId
    arguments: JsonObject
    """In the server's own shape."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    """The server reports how far a call is."""

    call: ToolCall
    tool: ToolId
    progress: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class CallEnded:
    """What came of a call, as the model gets it: also of one that did not run (not understood, not allowed)."""

    call: ToolCall
    tool: ToolId | None
    """`None` where no tool of that name was offered."""
    result: ToolResult
    seconds: float = 0.0
    tokens: int = 0
    """About what the result costs the model."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that needs somebody's word. Handed to the `ask` callback, and part of a `Paused` run."""

    call: ToolCall
    tool: ToolId
    arguments: JsonObject
    """In the server's own shape: exactly what will be sent."""
    why: str
    """The rule that asks, in words."""
    title: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """The word on a call that was asked for."""

    allow: bool
    reason: str = ""
    """For the model, where it is not allowed."""
    arguments: JsonObject | None = None
    """Other arguments to run it with, in the server's own shape; they are checked like the model's."""

    def __post_init__(self) -> None:
        if not isinstance(self.allow, bool):
            raise TypeError(f"a call is allowed or not: True or False, not {self.allow!r}")


@dataclass(frozen=True, slots=True)
class Replied:
    """The model has finished one turn; its calls, if any, are run next."""

    reply: Reply
    turn: int
    """From 1 on."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that whoever watches should know: a tool was left out, a server is down, a history was trimmed."""

    code: str
    """Like a note's: `tool.refused`, `tools.deferred`, `server.down`, `history.trimmed`, …"""
    text: str
    """One line."""


@dataclass(frozen=True, slots=True)
class Paused:
    """The run waits for approval and has ended here. `resume` continues it, in this process or another."""

    asked: tuple[Asked, ...]
    state: dict[str, Any]
    """The run as plain JSON data, signed."""


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over."""

    text: str
    """The answer."""
    messages: tuple[Message, ...]
    """What this run added to the conversation, the question included; always a legal continuation."""
    turns: int
    usage: Usage = field(default_factory=Usage)
    """Of all turns together."""
    stopped: Stop | None = None
    why: str = ""
    """What was stopped and what to set, in one line."""


RunEvent: TypeAlias = (
    TextDelta | ReasoningDelta | CallStarted | CallProgress | CallEnded | Replied | Told | Paused | Done
)
