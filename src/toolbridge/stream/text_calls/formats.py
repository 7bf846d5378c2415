"""The formats: what a call begins with, in the models' own words, and the function that reads on from there.

The spellings are those of the models' chat templates, as llama.cpp has them under models/templates, and of vLLM's
parsers for them (both of August 2026). A marker of special tokens or tags makes a call whatever its name is. Fences,
bare objects and a bare `<function=…>` also stand in explanations, and make one only where the tool was offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from toolbridge.stream.text_calls.envelopes import CUT_OFF, read_broken, read_calls, read_name
from toolbridge.stream.text_calls.markup import (
    GLM,
    INVOKE,
    read_arguments_of,
    read_bare_function,
    read_function,
    read_invoke,
)
from toolbridge.stream.text_calls.page import Asked, Limit, Page, Reading, Span

Reader: TypeAlias = Callable[[Page, int, int], Reading]
"""(the page, where the marker begins, where it ends) to what stands there."""

_BETWEEN = re.compile(r"[\s,;]*")
"""What stands between two objects: Llama 3 has semicolons."""

_FENCE_IN_CALL = re.compile(r"```(?:json)?\s*")
_FENCE_CLOSED = re.compile(r"\s*```")


# ── JSON objects between tags ────────────────────────────────────────────────────────────────────────────────────────


def _read_objects(page: Page, start: int, body: int, *, opener: str, closers: tuple[str, ...], ends: bool) -> Reading:
    """One object after the other, or lists of them. `ends` says that the format has a closing tag, always.

    Without its closing tag a call is one only at the end of the text or before the next marker: anything else is
    somebody who tells how it is done.
    """
    at = page.skip(page.skip(body), _FENCE_IN_CALL)
    calls: list[Asked] = []
    end = last = at
    while page.has_json(at):
        decoded = page.decode(at)
        if decoded is None:
            return _broken_object(page, Span(start, end, tuple(calls)), at, opener, closers, ends)
        found = read_calls(decoded[0], page, marked=True)
        if found is None:
            break
        calls += found
        last, end = at, decoded[1]
        at = page.skip(end, _BETWEEN)
    if not calls:
        return _unreadable(page, start, body, opener, closers, ends)
    after = page.skip(page.skip(end, _FENCE_CLOSED))
    closed = page.starts(after, closers)
    if closed > 0:
        return Reading(closed, (Span(start, closed, tuple(calls)),))
    if not ends or page.over(after):
        return Reading(end, (Span(start, end, tuple(calls)),))
    limit = page.limit(end, closers, (opener,))
    if not limit.closed:
        return Reading(end, (Span(start, end),))
    calls[-1] = Asked(calls[-1].name, page.text[last : limit.start].strip(), "there is more text after the call")
    return Reading(limit.end, (Span(start, limit.end, tuple(calls)),))


def _broken_object(page: Page, good: Span, at: int, opener: str, closers: tuple[str, ...], ends: bool) -> Reading:
    """An object that is no JSON, after those that are."""
    limit = page.limit(at, closers, (opener,))
    broken = read_broken(page, at, limit.start)
    if broken is not None:
        return Reading(limit.end, (Span(good.start, limit.end, (*good.calls, broken)),))
    spans = (good,) if good.calls else ()
    if ends and not limit.closed:
        return Reading(at, spans)
    end = _end(page, at, limit)
    return Reading(end, (*spans, Span(good.end if good.calls else good.start, end)))


def _unreadable(page: Page, start: int, body: int, opener: str, closers: tuple[str, ...], ends: bool) -> Reading:
    """What is marked and no call. A tag that is only mentioned, or stands around another format, is not even that."""
    limit = page.limit(body, closers, (opener,))
    if ends and (not limit.closed or page.begins(page.skip(body))):
        return Reading(body)
    end = _end(page, body, limit)
    return Reading(end, (Span(start, end),)) if page.skip(body) < end else Reading(body)


def _end(page: Page, at: int, limit: Limit) -> int:
    """Where something unreadable is over: where nothing closes it, the next marker is no part of it."""
    marker = None if limit.closed else page.marker(at)
    return limit.end if marker is None else min(limit.end, marker.start())


_GLM_NAME = re.compile(r"\s{0,64}(?P<name>[^\s<>{}\[\]\"'`]{1,256})\s{0,64}(?=<)")


def _read_tag(page: Page, start: int, body: int, *, opener: str, closer: str) -> Reading:
    """`<tool_call>`: JSON (Hermes, Qwen), `<function=…>` (Qwen3-Coder, Nemotron, Seed), or a name and tags (GLM)."""
    at = page.skip(body)
    if page.text.startswith("<function=", at):
        return _read_functions(page, start, body, at, opener, closer)
    name = _GLM_NAME.match(page.text, body)
    if name is not None:
        read = read_name(name["name"], page)
        # A word between tags is a call without arguments only where it is the name of a tool.
        named = read is not None and (page.text.startswith("<arg_key>", name.end()) or read in page.names)
        found = read_arguments_of(page, read, name.end(), GLM) if read is not None and named else None
        if found is not None:
            return Reading(found[1], (Span(start, found[1], (found[0],)),))
    return _read_objects(page, start, body, opener=opener, closers=(closer,), ends=True)


def _read_functions(page: Page, start: int, body: int, at: int, opener: str, closer: str) -> Reading:
    calls: list[Asked] = []
    end = at
    while page.text.startswith("<function=", at):
        found = read_function(page, at, marked=True)
        if found is None:
            break
        calls.append(found[0])
        end = found[1]
        at = page.skip(end)
    if not calls:
        limit = page.limit(body, (closer,), (opener,))
        return Reading(limit.end, (Span(start, limit.end),)) if limit.closed else Reading(body)
    closed = page.starts(at, (closer,))
    end = closed if closed > 0 else end
    return Reading(end, (Span(start, end, tuple(calls)),))


# ── a name, and the text of its arguments ────────────────────────────────────────────────────────────────────────────


def _read_text(
    page: Page, name: str, at: int, opener: str, closers: tuple[str, ...], fence: bool = False
) -> tuple[Asked, int]:
    """The argument text from here on: to the end of the object, or to whatever ends the call where that is no JSON."""
    at = page.skip(at)
    if fence:
        at = page.skip(at, _FENCE_IN_CALL)
    decoded = page.decode(at) if page.has_json(at) else None
    if decoded is not None:
        given, end = page.text[at : decoded[1]], decoded[1]
        after = page.skip(page.skip(end, _FENCE_CLOSED) if fence else end)
        closed = page.starts(after, closers)
        if closed > 0 or page.over(after):
            return Asked(name, given), closed if closed > 0 else end
    limit = page.limit(at, closers, (opener,))
    if decoded is not None and not limit.closed:
        return Asked(name, page.text[at : decoded[1]]), decoded[1]
    given = page.text[at : limit.start].strip()
    if fence:
        given = given.removesuffix("```").rstrip()
    return Asked(name, given, None if given or limit.closed else CUT_OFF), limit.end


_MISTRAL = re.compile(
    r"\s{0,8}(?P<name>[^\s\[\]{}<>\"']{1,256})\s{0,8}(?:\[CALL_ID\][^\s\[\]{}]{0,64}\s{0,8})?(?P<args>\[ARGS\])?"
)


def _read_mistral(page: Page, start: int, body: int) -> Reading:
    """`[TOOL_CALLS]` and a list, or a name and its arguments; tokenizers of version 11 leave `[ARGS]` out."""
    if not page.has_json(page.skip(body)):
        header = _MISTRAL.match(page.text, body)
        name = None if header is None else read_name(header["name"], page)
        if header is not None and name is not None and (header["args"] or page.text.startswith("{", header.end())):
            call, end = _read_text(page, name, header.end(), "[TOOL_CALLS]", ())
            return Reading(end, (Span(start, end, (call,)),))
    return _read_objects(page, start, body, opener="[TOOL_CALLS]", closers=(), ends=False)


_KIMI = re.compile(r"\s{0,8}(?P<name>[^\s<>|]{1,256}?)(?::\d{1,9})?\s{0,8}<\|tool_call_argument_begin\|>")


def _read_kimi(page: Page, start: int, body: int) -> Reading:
    """`functions.name:0`, which is the id of the call, and its arguments."""
    header = _KIMI.match(page.text, body)
    name = None if header is None else read_name(header["name"], page)
    closers = ("<|tool_call_end|>", "<|tool_calls_section_end|>")
    if header is None or name is None:
        return _unreadable(page, start, body, "<|tool_call_begin|>", closers, ends=False)
    call, end = _read_text(page, name, header.end(), "<|tool_call_begin|>", closers)
    return Reading(end, (Span(start, end, (call,)),))


_DEEPSEEK = re.compile(r"\s{0,8}(?P<name>[^\s<>｜]{1,256})\s{0,8}<｜tool▁sep｜>")
_DEEPSEEK_NAME = re.compile(r"\s{0,8}(?P<name>[^\s<>{`｜]{1,256})\s{0,8}")


def _read_deepseek(page: Page, start: int, body: int) -> Reading:
    """`function`, the name and a fence (V3, R1), or the name and the arguments (V3.1)."""
    opener, closers = "<｜tool▁call▁begin｜>", ("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>")
    header = _DEEPSEEK.match(page.text, body)
    fence = header is not None and header["name"] == "function" and not page.has_json(page.skip(header.end()))
    if header is not None and fence:
        header = _DEEPSEEK_NAME.match(page.text, header.end())
    name = None if header is None else read_name(header["name"], page)
    if header is None or name is None:
        return _unreadable(page, start, body, opener, closers, ends=False)
    call, end = _read_text(page, name, header.end(), opener, closers, fence)
    return Reading(end, (Span(start, end, (call,)),))


_HARMONY = re.compile(
    r"(?:<\|start\|>assistant)?(?:\s{1,4}to=(?P<role>[^\s<>|]{1,256}))?\s{0,4}<\|channel\|>\s{0,4}[a-z]{1,16}"
    r"(?:\s{1,4}to=(?P<channel>[^\s<>|]{1,256}))?\s{0,4}(?:<\|constrain\|>)?\s{0,4}[\w-]{0,16}\s{0,4}<\|message\|>"
)


def _read_harmony(page: Page, start: int, body: int) -> Reading:
    """gpt-oss: a message to a function. One to nobody, or to somebody who is no tool, is not for us."""
    header = _HARMONY.match(page.text, start)
    recipient = None if header is None else header["channel"] or header["role"]
    if header is None or recipient is None:
        return Reading(body)
    name = read_name(recipient, page)
    if name is None or not (recipient.startswith("functions.") or name in page.names):
        return Reading(body)
    call, end = _read_text(page, name, header.end(), "<|start|>", ("<|call|>", "<|end|>", "<|return|>"))
    return Reading(end, (Span(start, end, (call,)),))


# ── unmarked: fences, and an object that is all there is ─────────────────────────────────────────────────────────────

FENCES: Final = ("json", "tool_call", "tool_calls", "tool_code", "function_call")
"""What a fence says of itself where a call may be in it."""

LONGEST_FENCE: Final = 8
"""Backticks of a fence around a call."""

_INFO = re.compile(r"[ \t]{0,4}(?P<info>\w{0,32})")


def _read_fence(page: Page, start: int, body: int) -> Reading:
    """A fence that is a call, with everything in it; otherwise code, in which nothing is a call.

    Both of its ends begin a line. What stands in the middle of one is shown to somebody, and not called.
    """
    if not _only_blank_before(page.text, start) or _closes_in_line(page, body):
        close = page.find("```", body)
        return Reading(_run(page.text, close) if close < page.size else body)
    info = _INFO.match(page.text, body)
    if info is not None and info["info"].lower() in FENCES and body - start <= LONGEST_FENCE:
        calls, end = read_plain(page, info.end())
        after = page.skip(end)
        closed = _run(page.text, after)
        if calls and closed - after >= body - start and _only_blank_before(page.text, after):
            return Reading(closed, (Span(start, closed, tuple(calls)),))
    at = body
    while (close := page.find("```", at)) < page.size:
        at = _run(page.text, close)
        if at - close >= body - start and _only_blank_before(page.text, close) and _only_blank_after(page.text, at):
            return Reading(at)
    return Reading(page.size)


def read_plain(page: Page, at: int) -> tuple[list[Asked], int]:
    """Calls that nothing marks, one after the other, and the place behind them; none where anything is no call."""
    calls: list[Asked] = []
    end = at
    at = page.skip(at)
    while page.has_json(at):
        decoded = page.decode(at)
        found = None if decoded is None else read_calls(decoded[0], page, marked=False)
        if decoded is None or found is None:
            return [], at
        calls += found
        end = decoded[1]
        at = page.skip(end, _BETWEEN)
    return calls, end


def _run(text: str, at: int) -> int:
    """The place behind the backticks that stand here."""
    while text.startswith("`", at):
        at += 1
    return at


def _closes_in_line(page: Page, at: int) -> bool:
    """Whether a fence ends on the line that it begins on, and is code within that line."""
    close = page.find("```", at)
    return close < page.size and page.find("\n", at) > close


def _only_blank_before(text: str, at: int) -> bool:
    while at > 0 and text[at - 1] in " \t":
        at -= 1
    return at == 0 or text[at - 1] in "\r\n"


def _only_blank_after(text: str, at: int) -> bool:
    while text.startswith((" ", "\t"), at):
        at += 1
    return at == len(text) or text[at] in "\r\n"


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _tag(opener: str, closer: str) -> tuple[str, Reader]:
    return opener, partial(_read_tag, opener=opener, closer=closer)


def _objects(opener: str, *closers: str, ends: bool = False) -> tuple[str, Reader]:
    return opener, partial(_read_objects, opener=opener, closers=closers, ends=ends)


FORMATS: Final[dict[str, Reader]] = dict((
    _tag("<tool_call>", "</tool_call>"),  # Hermes, Qwen, Granite 4, GLM 4.5 and later
    _tag("<seed:tool_call>", "</seed:tool_call>"),  # Seed-OSS
    _objects("<function_call>", "</function_call>", ends=True),  # Granite 20B
    _objects("<tool_calls>", "</tool_calls>", ends=True),  # MiniMax M1, Hunyuan, Jamba
    _objects("<|tool_call|>", "<|/tool_call|>"),  # Phi-4; Granite 3, which does not close it
    _objects("<|python_tag|>", "<|eom_id|>", "<|eot_id|>"),  # Llama 3
    ("[TOOL_CALLS]", _read_mistral),
    ("<|tool_call_begin|>", _read_kimi),  # Kimi K2
    ("<｜tool▁call▁begin｜>", _read_deepseek),  # DeepSeek R1, V3, V3.1
    ("<|channel|>", _read_harmony),  # gpt-oss
    ("<|start|>assistant", _read_harmony),
    *((f"<{space}invoke name=", read_invoke) for space in INVOKE),  # MiniMax M2, DeepSeek V3.2 and V4
    ("<function=", read_bare_function),  # Llama 3.1; Qwen3-Coder, where it forgets <tool_call>
))  # fmt: skip
"""By what a call begins with."""

FENCE: Final = "```"

WRAPPERS: Final = {
    **{f"<{space}{word}>": f"</{space}{word}>" for space in INVOKE for word in ("function_calls", "tool_calls")},
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<｜tool▁calls▁begin｜>": "<｜tool▁calls▁end｜>",
    "<|tool_calls_section_begin|>": "<|tool_calls_section_end|>",
    "<tool_call>": "</tool_call>",
    "<seed:tool_call>": "</seed:tool_call>",
}
"""What may stand around calls and says nothing by itself: it goes with the calls that it touches."""

MARKERS: Final = re.compile(
    "|".join(re.escape(each) for each in sorted({*FORMATS, *WRAPPERS}, key=len, reverse=True)) + "|`{3,}"
)


def read_marker(page: Page, marker: re.Match[str]) -> Reading:
    """What stands at this marker."""
    if marker[0].startswith(FENCE):
        return _read_fence(page, *marker.span())
    reader = FORMATS.get(marker[0])
    return Reading(marker.end()) if reader is None else reader(page, *marker.span())
