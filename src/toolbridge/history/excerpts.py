"""A token budget for results: what is too long is cut at a sensible place, and the rest can be had.

`Excerpts` keeps the whole result, and `excerpts.tool` is a tool for the model to read on in it or to search it. It does
no more than that: results are held in memory, within a limit. Media are never cut and are not counted.

    kept = excerpts.keep(result)                    # what the model gets to see
    excerpts.answer(call.id, call.arguments)        # what it gets when it asks for more
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from sys import getsizeof
from typing import Any

from toolbridge.history.said import described, structured_lines
from toolbridge.history.views import (
    LONGEST_LINE,
    SHORTEST_LINE,
    View,
    Whole,
    beginning,
    found_lines,
    matches,
    page,
    view_within,
)
from toolbridge.notes import Converted, Note
from toolbridge.tokens import Counter, estimate
from toolbridge.types import Audio, Content, Image, Resource, Text, Tool, ToolHints, ToolId, ToolResult

MOST_KEPT_BYTES = 50_000_000
"""How much is kept of results that were cut. Past that the oldest go."""

MOST_GONE = 1_000
"""How many keys of results that went are remembered, to tell them from keys that never were."""

MOST_NAMED = 20
"""How many kept results an error names."""

_FOOTER = re.compile(r"\n\[Shown: [^\n]{1,1000}\]\Z")
"""The last line of what was cut before."""


# ── cutting ──────────────────────────────────────────────────────────────────────────────────────────────────────


def cut_text(text: str, budget: int, count: Counter = estimate) -> Converted[str]:
    """The text, cut to the budget; its last line says how much of it is shown, and is there in any case.

    Of a text that was cut before the last line is kept: it says how to get the rest.
    """
    total = count(text)
    if total <= budget:
        return Converted(text)
    before = _FOOTER.search(text)
    whole = Whole(text[: before.start()] if before else text)

    def footer(view: View) -> str:
        return f"\n[Cut to {view.what}.]{before[0]}" if before else f"\n[Shown: {view.what}. The rest was cut.]"

    shown = view_within(budget, count, lambda room: beginning(whole, room, count), footer)
    if count(shown) >= total:
        return Converted(text)
    return Converted(shown, (Note("result.cut", "narrowed", "", total),))


def cut_result(result: ToolResult, budget: int, count: Counter = estimate) -> ToolResult:
    """The result with its text cut to the budget, and with a note that says so. Media stay."""
    cut = cut_text(plain_text(result), budget, count)
    return _with_text(result, cut.value, cut.notes[0].before) if cut.notes else result


def plain_text(result: ToolResult) -> str:
    """All that a result says in text: without its media, and with its structured content once."""
    return "\n".join([described(each) for each in result.content if not _is_medium(each)] + structured_lines(result))


def _is_medium(block: Content) -> bool:
    return isinstance(block, Image | Audio) or (isinstance(block, Resource) and block.text is None)


def _with_text(result: ToolResult, text: str, total: int) -> ToolResult:
    media = (each for each in result.content if _is_medium(each))
    note = Note("result.cut", "narrowed", "/content", total)
    return replace(result, content=(Text(text), *media), structured=None, notes=(*result.notes, note))


# ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Kept:
    result: ToolResult
    whole: Whole
    size: int


class Excerpts:
    """Results cut to a budget of tokens each, the whole of them kept, and the tool that reads on in them."""

    def __init__(
        self, budget: int, count: Counter = estimate, name: str = "read_more", most: int = MOST_KEPT_BYTES
    ) -> None:
        self.budget = budget
        self.count = count
        self.name = name
        self.most = most
        self._kept: dict[str, _Kept] = {}
        self._gone: dict[str, None] = {}
        self._size = 0
        self._made = 0

    def keep(self, result: ToolResult, key: str = "") -> ToolResult:
        """The result as the model gets it: as it is where it fits, otherwise cut, with how to get the rest.

        `key` is what the model calls it by; without one, or where it is taken, one is made.
        """
        text = plain_text(result)
        total = self.count(text)
        if total <= self.budget:
            return result
        whole, key = Whole(text), self._free(key)
        is_kept = self._put(key, _Kept(result, whole, _size(result, text)))

        def footer(view: View) -> str:
            about = f"{view.what}; {total:,} tokens in all"
            if not is_kept:
                return f"\n[Shown: {about}. The rest is too long to be kept: ask for less.]"
            return f'\n[Shown: {about}. {self._more(key, view.next)}; with "find", it searches.]'

        shown = view_within(self.budget, self.count, lambda room: beginning(whole, room, self.count), footer)
        return _with_text(result, shown, total)

    def result(self, key: str) -> ToolResult | None:
        """The whole result, if it is still kept."""
        kept = self._kept.get(key)
        return kept.result if kept else None

    def _free(self, key: str) -> str:
        while not key or key in self._kept or key in self._gone:
            self._made += 1
            key = f"r{self._made}"
        return key

    def _put(self, key: str, kept: _Kept) -> bool:
        if kept.size > self.most:
            return False
        self._kept[key] = kept
        self._size += kept.size
        while self._size > self.most:
            oldest = next(iter(self._kept))
            self._size -= self._kept.pop(oldest).size
            self._gone[oldest] = None
            if len(self._gone) > MOST_GONE:
                del self._gone[next(iter(self._gone))]
        return True

    def _more(self, key: str, start: int, **find: str) -> str:
        arguments = json.dumps({"result": key, **find, "from": start}, ensure_ascii=False)
        return f"For more, call {self.name} with {arguments}"

    # ── reading on ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def tool(self) -> Tool:
        """The tool by which a model reads on. `answer` runs it."""
        return Tool(
            id=ToolId("", self.name),
            description=(
                "Read on in a tool result that was too long to be shown whole, or search it. The last line of such a "
                "result gives its key and the place to read on from."
            ),
            input_schema={
                "type": "object",
                "properties": {
                    "result": {"type": "string", "description": "The key of the result."},
                    "from": {"type": "integer", "minimum": 0, "description": "The character to start at. Default: 0."},
                    "find": {
                        "type": "string",
                        "description": "Show only the lines that hold this text, in upper or lower case.",
                    },
                },
                "required": ["result"],
                "additionalProperties": False,
            },
            hints=ToolHints(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False),
        )

    def answer(self, call_id: str, arguments: Mapping[str, Any] | None) -> ToolResult:
        """What the model gets when it calls the tool: the next part, or the lines that hold what it searches for."""
        given = arguments if isinstance(arguments, Mapping) else {}
        key, find = given.get("result"), given.get("find")
        kept = self._kept.get(key) if isinstance(key, str) else None
        if not isinstance(key, str) or kept is None:
            return _refused(call_id, self._unknown(key))
        length = len(kept.whole.text)
        start = _place(given.get("from"))
        if start is None or not 0 <= start < length:
            return _refused(call_id, f'"from" must be a number from 0 to {length - 1}: there are {length} characters.')
        if find is not None and not isinstance(find, str):
            return _refused(call_id, '"find" must be a text.')
        text = self._search(key, kept.whole, start, find) if find else self._read(key, kept.whole, start)
        return ToolResult(call_id, (Text(text),))

    def _unknown(self, key: Any) -> str:
        known = ", ".join(_quoted(each) for each in list(self._kept)[-MOST_NAMED:])
        there = f"Kept results: {known}." if known else "No result is kept."
        if not isinstance(key, str):
            return f'"result" must be the key of a result. {there}'
        if key in self._gone:
            return f"The result {_quoted(key)} is no longer kept: call its tool again. {there}"
        return f"There is no result {_quoted(key)}. {there}"

    def _read(self, key: str, whole: Whole, start: int) -> str:
        def footer(view: View) -> str:
            if view.next >= len(whole.text):
                return f"\n[Shown: {view.what}, the end of the result.]"
            return f"\n[Shown: {view.what}. {self._more(key, view.next)}.]"

        return view_within(self.budget, self.count, lambda room: page(whole, start, room, self.count), footer)

    def _search(self, key: str, whole: Whole, start: int, find: str) -> str:
        longest = LONGEST_LINE
        lines = found_lines(whole.text, start, find, longest)
        while lines and self.count(lines[0].text) > self.budget / 2 and longest > SHORTEST_LINE:
            longest //= 2
            lines = found_lines(whole.text, start, find, longest)
        if not lines:
            return f"No line from character {start} on holds {_quoted(find[:LONGEST_LINE])}."

        def look(room: int) -> View:
            return matches(lines, len(whole.text), room, self.count)

        def footer(view: View) -> str:
            more = "" if view.next >= len(whole.text) else f" {self._more(key, view.next, find=find)}."
            return f"\n[Shown: {view.what}.{more}]"

        return view_within(self.budget, self.count, look, footer)


def _size(result: ToolResult, text: str) -> int:
    """About the bytes that a result takes: its text is kept twice, as blocks and as one."""
    media = sum(len(each.data) for each in result.content if isinstance(each, Image | Audio))
    blobs = sum(len(each.blob or "") for each in result.content if isinstance(each, Resource))
    return 2 * getsizeof(text) + media + blobs


def _place(value: Any) -> int | None:
    """A place in a text, as models write it; `None` where it is none."""
    if value is None:
        return 0
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _refused(call_id: str, text: str) -> ToolResult:
    return ToolResult(call_id, (Text(text),), is_error=True)
