"""Calls that a model wrote into its text, where its server does not read them: found, and taken out of the text.

Nothing is guessed into a call. What is marked as one and cannot be read is a call with a `problem`, so that the model
is told, or, where not even its name is clear, a note; it is never mended. Cost is linear, whatever is in the text.

    text  ──MARKERS──▶  one reader of `formats.FORMATS`  ──▶  spans with calls  ──▶  TextCalls

It is an option of the reader of replies, and knows no provider: `formats` has the words that models use.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from toolbridge.notes import Note
from toolbridge.stream.arguments import read_call
from toolbridge.stream.text_calls.envelopes import ENVELOPE_KEYS
from toolbridge.stream.text_calls.formats import (
    FENCE,
    FENCES,
    FORMATS,
    LONGEST_FENCE,
    MARKERS,
    WRAPPERS,
    read_marker,
    read_plain,
)
from toolbridge.stream.text_calls.page import Asked, Page, Span
from toolbridge.types import EMPTY, ToolCall

__all__ = ["TextCalls", "opening", "read_text_calls"]


@dataclass(frozen=True, slots=True)
class TextCalls:
    """A text without the calls that were in it."""

    text: str
    """Everything else, as it was; empty where nothing but white space is left."""
    calls: tuple[ToolCall, ...] = ()
    """In their order, with the ids `call_text_0`, `call_text_1`, …"""
    notes: tuple[Note, ...] = ()
    """`call.in_text` for what was taken out, `call.unreadable` for what was marked and stays; the path is the offset in
    the text, `before` the stretch from there."""


def read_text_calls(text: str, names: Collection[str]) -> TextCalls:
    """The calls in a text. `names` are the wire names of the tools that were offered.

    Formats that no special token marks (JSON in a fence, or as all of the text) count only for those names.
    """
    page = Page(text, names, MARKERS)
    spans = _whole(page) or _marked(page)
    calls: list[ToolCall] = []
    notes: list[Note] = []
    pieces: list[str] = []
    end = 0
    for span in spans:
        before = text[span.start : span.end]
        if not span.calls:
            notes.append(Note("call.unreadable", "narrowed", str(span.start), before))
            continue
        notes.append(Note("call.in_text", "changed", str(span.start), before))
        between = text[end : span.start]
        if not calls or not between.isspace():
            pieces.append(between)
        for asked in span.calls:
            calls.append(_called(f"call_text_{len(calls)}", asked))
        end = span.end
    if not calls:
        return TextCalls(text, (), tuple(notes))
    pieces.append(text[end:])
    rest = "".join(pieces)
    return TextCalls("" if rest.isspace() else rest, tuple(calls), tuple(notes))


def _called(id: str, asked: Asked) -> ToolCall:
    if asked.problem is not None:
        return ToolCall(id, asked.name, asked.given, None, asked.problem, EMPTY)
    return read_call(id, asked.name, asked.given)


def _whole(page: Page) -> list[Span]:
    """The text as one call, or several, and nothing else: Llama 3, and models behind servers that eat the markers."""
    start = page.skip(0)
    calls, end = read_plain(page, max(page.starts(start, (_FUNCTOOLS,)) - 1, start))
    return [Span(start, end, tuple(calls))] if calls and page.skip(end, _TRAILING) == page.size else []


_FUNCTOOLS: Final = "functools["
"""What Phi-4-mini puts in front of the list, with the templates that vLLM has for it."""

_TRAILING = re.compile(r"[\s;]*")


def _marked(page: Page) -> list[Span]:
    spans: list[Span] = []
    at = floor = 0
    while (marker := page.marker(at)) is not None:
        thought = _thought(page, at, marker.start())
        if thought > 0:
            at = floor = thought
            continue
        quoted = -1 if marker[0].startswith(FENCE) else _quoted(page, *marker.span())
        if quoted > 0:
            at = quoted
            continue
        reading = read_marker(page, marker)
        at = max(reading.end, marker.end())
        for span in reading.spans:
            whole = _with_wrappers(page, span, floor) if span.calls else span
            spans.append(whole)
            floor = at = max(at, whole.end)
    return spans


_THOUGHTS: Final = {"<think>": "</think>", "<thinking>": "</thinking>"}
"""What models put around thoughts: a call in there is only thought about. Without its end, it is all of the rest."""


def _thought(page: Page, at: int, before: int) -> int:
    """Whether a thought begins between two places: the place behind it, or behind `code` that names it; -1 if none."""
    start, opener = min((page.find(each, at), each) for each in _THOUGHTS)
    if start >= before:
        return -1
    end = start + len(opener)
    quoted = _quoted(page, start, end)
    if quoted > 0:
        return quoted
    closer = _THOUGHTS[opener]
    return min(page.find(closer, end) + len(closer), page.size)


def _quoted(page: Page, start: int, end: int) -> int:
    """Whether a marker stands in `code` within a line: the place behind that code; -1 where it does not."""
    if start == 0 or page.text[start - 1] != "`":
        return -1
    close = page.find("`", end)
    return close + 1 if close < page.find("\n", end) else -1


def _with_wrappers(page: Page, span: Span, floor: int) -> Span:
    """The calls, together with what is wrapped around them and says nothing by itself."""
    text, start, end = page.text, span.start, span.end
    while (opened := _before(text, start, floor)) >= 0:
        start = opened
    while (closed := page.starts(page.skip(end), WRAPPERS.values())) > 0:
        end = closed
    return Span(start, end, span.calls)


def _before(text: str, at: int, floor: int) -> int:
    """Where the wrapper begins that stands in front of this place; -1 where there is none."""
    while at > floor and text[at - 1].isspace():
        at -= 1
    return next((at - len(each) for each in WRAPPERS if text.endswith(each, floor, at)), -1)


# ── while the text is still arriving ─────────────────────────────────────────────────────────────────────────────────

_OPENINGS: Final = re.compile(
    "|".join(re.escape(each) for each in sorted({*FORMATS, *WRAPPERS}, key=len, reverse=True))
    + rf"|(?<!`)`{{3,{LONGEST_FENCE}}}[ \t]{{0,4}}(?i:{'|'.join(FENCES)})"
)
_BEGINNINGS: Final = frozenset(each[:i] for each in (*FORMATS, *WRAPPERS) for i in range(1, len(each)))
_LONGEST: Final = max(len(each) for each in _BEGINNINGS)
_FENCE_BEGUN = re.compile(rf"(?<!`)`{{1,{LONGEST_FENCE}}}(?:(?<=```)[ \t]{{0,4}}(?P<info>\w{{0,16}}))?\Z")
_BARE = re.compile(r'(?:\[\s*)?\{\s*(?:"(?P<key>\w*)(?P<quote>"?)|\Z)|\[\s*\Z')


def opening(text: str, start: int = 0) -> int | None:
    """The offset from which the text so far may belong to a call, so that it is not shown before that is clear.

    `text` is all that has arrived; what is before `start` was shown already and is not searched again. It is careful
    and not clever: a marker that is only talked about is held back as well, until the text is over and was read.
    """
    bare = _bare_opening(text)
    if bare is not None:
        return bare
    found = _OPENINGS.search(text, start)
    if found is not None:
        return found.start()
    near = max(start, len(text) - _LONGEST)
    begun = next((at for at in range(near, len(text)) if text[at:] in _BEGINNINGS), None)
    fence = _FENCE_BEGUN.search(text, near)
    if fence is None or not (fence["info"] is None or _begins(fence["info"].lower(), FENCES)):
        return begun
    return fence.start() if begun is None else min(begun, fence.start())


def _bare_opening(text: str) -> int | None:
    """The text so far may be the beginning of calls that are all of it."""
    found = _FIRST.match(text)
    start = 0 if found is None else found.end()
    if text.startswith("f", start) and text[start : start + len(_FUNCTOOLS)] in _FUNCTOOLS:
        return start
    found = _BARE.match(text, start)
    if found is None:
        return None
    key = found["key"]
    if key is None:
        return start
    if found["quote"]:
        return start if key in ENVELOPE_KEYS else None
    return start if found.end() == len(text) and _begins(key, ENVELOPE_KEYS) else None


_FIRST = re.compile(r"\s*")


def _begins(part: str, words: Collection[str]) -> bool:
    return any(word.startswith(part) for word in words)
