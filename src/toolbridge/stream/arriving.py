"""Parts of a reply that are still arriving: fragments, kept until they are joined once; and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolbridge.stream.arguments import INVALID_JSON, read_arguments, write_arguments
from toolbridge.stream.events import Key
from toolbridge.stream.partial import PathBuilder
from toolbridge.stream.values import Depth
from toolbridge.types import JsonObject, ToolCall


class ArrivingText:
    """Text or reasoning that is still arriving."""

    __slots__ = ("key", "opaque", "pieces", "reasoning")

    def __init__(self, key: Key, reasoning: bool) -> None:
        self.key = key
        self.reasoning = reasoning
        self.pieces: list[str] = []
        self.opaque: dict[str, Any] = {}


class ArrivingCall:
    """A call that is still arriving."""

    __slots__ = (
        "after",
        "arguments",
        "began_empty",
        "depth",
        "ended",
        "id",
        "key",
        "name",
        "opaque",
        "paths",
        "pieces",
        "problem",
        "scanned",
    )

    def __init__(self, key: Key) -> None:
        self.key = key
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []
        self.arguments: Any = None
        self.paths: PathBuilder | None = None
        self.opaque: dict[str, Any] = {}
        self.depth: Depth | None = None
        self.scanned = 0
        self.problem: str | None = None
        """Why it must not be run, whatever its arguments look like in the end."""
        self.ended = False
        """Whether the wire has said that nothing more of it follows."""
        self.began_empty = False
        """Whether the event that named it had `{}` for arguments, and no other event named it since."""
        self.after: ArrivingCall | None = None
        """The call behind whose whole arguments this one began, without a name so far: it has the other's, unless one
        follows."""

    @property
    def is_blank(self) -> bool:
        return self.arguments is None and self.paths is None and self.has_no_text

    @property
    def has_no_text(self) -> bool:
        return all(not each or each.isspace() for each in self.pieces)

    def is_closed(self) -> bool:
        """Whether its arguments are whole so far. Only what came since the last question is looked at."""
        if self.arguments is not None:
            return True
        return not self.is_blank and not self._scanned_depth(self.depth or Depth()).inside

    def _scanned_depth(self, depth: Depth) -> Depth:
        for piece in self.pieces[self.scanned :]:
            depth.feed(piece)
        self.scanned = len(self.pieces)
        self.depth = depth
        return depth

    def text(self) -> str:
        if len(self.pieces) > 1:
            if self.depth is not None:
                self._scanned_depth(self.depth)
                self.scanned = 1
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""


@dataclass(slots=True)
class ArrivingForeign:
    kind: str
    data: dict[str, Any]
    key: Key
    streamed: dict[str, tuple[list[str], bool]]


def several_objects(text: str) -> list[tuple[str, JsonObject]] | None:
    """The objects, with their texts, where the text is two or more whole JSON objects and nothing else."""
    depth = Depth()
    found: list[tuple[str, JsonObject]] = []
    start = 0
    for end in depth.feed(text):
        each = text[start:end].strip()
        value, problem = read_arguments(each)
        if value is None or problem is not None or not each.startswith("{"):
            return None
        found.append((each, value))
        start = end
    return found if len(found) > 1 and not text[start:].strip() else None


def call_of_object(call: ArrivingCall) -> ToolCall:
    """A call whose arguments came as a value and not as text."""
    given = call.arguments
    if isinstance(given, str):
        arguments, problem = read_arguments(given)
        return ToolCall(call.id, call.name, given, arguments, problem, call.opaque)
    try:
        text = write_arguments(given)
    except (ValueError, TypeError, RecursionError):
        return ToolCall(call.id, call.name, "", None, "the arguments are not JSON", call.opaque)
    arguments, problem = read_arguments(text)
    return ToolCall(call.id, call.name, text, arguments, problem, call.opaque)


def foreign_data(part: ArrivingForeign) -> dict[str, Any]:
    data = dict(part.data)
    for field, (pieces, is_json) in part.streamed.items():
        text = "".join(pieces)
        if is_json:
            value, problem = read_arguments(text)
            data[field] = value if problem is None else {INVALID_JSON: text}
        else:
            before = data.get(field)
            data[field] = (before if isinstance(before, str) else "") + text
    return data
