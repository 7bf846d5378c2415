"""The guard against a model that calls the same thing again and again.

What counts is the call *and* its outcome: a model that polls, and is told something new each time, is at work.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from hashlib import sha256

from toolbridge.types import Text, ToolCall, ToolResult

GRACE = 2
"""How often a call may be repeated after the model was told to stop."""


@dataclass(slots=True)
class Repeats:
    """The calls of one run: in how many replies in a row each came to its last outcome."""

    most: int
    seen: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    _counted: set[str] = field(default_factory=set[str])

    def next_reply(self) -> None:
        """Equal calls of one reply count once: the model has not been told anything in between."""
        self._counted.clear()

    def count(self, call: ToolCall, result: ToolResult) -> int:
        """How often this call has now come to this outcome."""
        key = _digest(call.name, call.text if call.arguments is None else _plain(call.arguments))
        outcome = _digest(str(result.is_error), repr(result.content), repr(result.structured))
        before, times = self.seen.get(key, ("", 0))
        if key in self._counted and before == outcome:
            return times
        times = times + 1 if before == outcome else 1
        self._counted.add(key)
        self.seen[key] = (outcome, times)
        return times

    def told(self, result: ToolResult, times: int) -> ToolResult:
        """The result, with a word to the model where it repeats itself."""
        if times < self.most:
            return result
        word = f"(This call has come to the same result {times} times now. Do not repeat it: go on with the result.)"
        return replace(result, content=(*result.content, Text(word)))

    def is_too_much(self, times: int) -> bool:
        return times >= self.most + GRACE


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
