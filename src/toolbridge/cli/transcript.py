"""A conversation for people: who said what, in short, and every call with its arguments and what became of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolbridge.cli.media import sized
from toolbridge.cli.paragraph import folded, harmless, one_line
from toolbridge.cli.terminal import Paint, shown
from toolbridge.cli.words import before, counted
from toolbridge.meanings import meaning
from toolbridge.notes import Note
from toolbridge.recorded import Recording
from toolbridge.schema.phrases import quoted
from toolbridge.stream.events import Reply, Usage
from toolbridge.types import (
    Audio,
    BoundCall,
    Content,
    Foreign,
    Image,
    Message,
    Part,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)

MOST_TEXT_LINES = 6
"""Lines of a text that are shown."""

MOST_ARGUMENT_LINES = 40
"""Lines of a call's arguments that are shown; `--json` has them all."""

MOST_MESSAGES = 200
"""Messages that are shown, from the end: what went wrong last is what is looked for."""

MOST_PLACES = 20
"""Places of one kind of note that are shown; `--json` has them all."""

LONGEST_LINE = 2000
"""Characters of a line that may have any length."""

LABEL = 11
"""Columns of the names of roles."""


class Transcript:
    """The lines of one recording."""

    def __init__(
        self,
        provider: str,
        recording: Recording,
        resolved: Mapping[tuple[int, int], BoundCall | ToolResult],
        width: int,
        paint: Paint,
    ) -> None:
        self._provider = provider
        self._recording = recording
        self._resolved = resolved
        self._width = width
        self._paint = paint

    def lines(self, briefly: bool) -> list[str]:
        recording = self._recording
        lines = [self._head(), ""]
        said = self._calls() if briefly else self._messages()
        if said:
            lines += [*said, ""]
        if recording.reply is not None:
            lines += [*self._end(recording.reply), ""]
        lines += note_lines(recording.notes, "notes", self._paint)
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _head(self) -> str:
        recording = self._recording
        what = self._paint(f"{recording.kind} of {self._provider}", "bold")
        if recording.reply is not None:
            model = recording.reply.message.model
            return what + (f", model {shown(model)}" if model else "")
        calls = sum(len(each.calls) for each in recording.messages)
        return f"{what}: {counted(len(recording.messages), 'message')}, {counted(calls, 'call')}"

    def _messages(self) -> list[str]:
        messages = self._recording.messages
        start = max(0, len(messages) - MOST_MESSAGES)
        lines = [self._paint(f"… {counted(start, 'message')} before", "dim")] if start else []
        for i in range(start, len(messages)):
            lines += self._message(i, messages[i])
        return lines

    def _message(self, i: int, message: Message) -> list[str]:
        parts = [line for j, part in enumerate(message.parts) for line in self._part(i, j, part)] or ["(empty)"]
        label = self._paint(f"{message.role:<{LABEL}}", "cyan")
        return [label + parts[0], *(" " * LABEL + each if each else "" for each in parts[1:])]

    def _part(self, i: int, j: int, part: Part) -> list[str]:
        match part:
            case ToolCall():
                return self._call(part, self._resolved.get((i, j)))
            case ToolResult():
                return self._result(part)
            case Reasoning():
                text = f"thought: {one_line(part.text) or '(not shown)'}"
                return [self._paint(each, "dim") for each in folded(text, self._width - LABEL, 2)]
            case Foreign():
                return [self._paint(f"[{shown(part.kind)}]", "dim")]
            case _:
                return self._content(part, self._width - LABEL)

    def _content(self, content: Content, width: int) -> list[str]:
        match content:
            case Text():
                return folded(one_line(content.text), width, MOST_TEXT_LINES)
            case Image() | Audio():
                return [f"[{one_line(content.mime_type)}, {sized(len(content.data) * 3 // 4)}]"]
            case Resource():
                size = len(content.text) if content.text is not None else len(content.blob or "") * 3 // 4
                kind = one_line(content.mime_type or "resource")
                return [f"[{kind} {one_line(content.uri)}, {sized(size)}]"]
            case ResourceLink():
                return [f"[{one_line(content.mime_type or 'link')} {one_line(content.uri)}]"]

    def _result(self, result: ToolResult) -> list[str]:
        mark = self._paint("✗ ", "red") if result.is_error else ""
        width = self._width - LABEL - 2
        lines = [line for each in result.content for line in self._content(each, width)]
        if not lines and result.structured is not None:
            lines = folded(one_line(quoted(result.structured, LONGEST_LINE)), width, MOST_TEXT_LINES)
        head = f"← {mark}{self._paint(shown(result.call_id), 'dim')}"
        return [head, *(f"  {each}" for each in lines or ["(no content)"])]

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _calls(self) -> list[str]:
        return [
            line
            for i, message in enumerate(self._recording.messages)
            for j, part in enumerate(message.parts)
            if isinstance(part, ToolCall)
            for line in self._call(part, self._resolved.get((i, j)))
        ]

    def _call(self, call: ToolCall, resolved: BoundCall | ToolResult | None) -> list[str]:
        name = self._paint(shown(call.name) or "(no name)", "bold")
        lines = [f"→ {name}  {self._paint(shown(call.id), 'dim')}"]
        if call.arguments is None:
            lines += self._refusal(call.problem or "the arguments are no JSON object")
            lines += _bounded(call.text) if call.text else []
        else:
            lines += _indented(call.arguments)
        match resolved:
            case None:
                return lines
            case BoundCall():
                return lines + self._bound(call, resolved)
            case ToolResult():
                return lines if call.arguments is None else lines + self._refusal(resolved.text)

    def _bound(self, call: ToolCall, bound: BoundCall) -> list[str]:
        lines = [f"  {self._paint('✓', 'green')} {shown(str(bound.tool.id))}"]
        if bound.arguments != call.arguments:
            lines[0] += ", which gets"
            lines += _indented(bound.arguments)
        for note in bound.notes:
            was = before(note)
            told = f"{note.code} ({note.effect}): {meaning(note.code)}"
            lines.append(f"    {shown(note.path or '/')}  {shown(told)}" + (f", was {shown(was)}" if was else ""))
        return lines

    def _refusal(self, text: str) -> list[str]:
        first, *more = harmless(text).split("\n")
        return [f"  {self._paint('✗', 'red')} {first}", *(f"    {each}" for each in more)]

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _end(self, reply: Reply) -> list[str]:
        raw = f" ({shown(reply.raw_finish)})" if reply.raw_finish and reply.raw_finish != reply.finish else ""
        lines = [f"finish     {reply.finish}{raw}"]
        if reply.error is not None:
            lines.append(f"error      {self._paint(one_line(reply.error)[:LONGEST_LINE], 'red')}")
        if reply.usage is not None:
            lines.append(f"usage      {_spent(reply.usage)}")
        return lines


def note_lines(notes: Iterable[Note], head: str, paint: Paint) -> list[str]:
    """Notes by their code, in words."""
    grouped: dict[tuple[str, str], list[Note]] = {}
    for each in notes:
        grouped.setdefault((each.code, each.effect), []).append(each)
    if not grouped:
        return []
    lines = [head]
    for (code, effect), same in grouped.items():
        lines.append(f"  {paint(shown(code), 'cyan')} ({effect}): {shown(meaning(code))}")
        for each in same[:MOST_PLACES]:
            was = before(each)
            if each.path or was:
                lines.append(f"    {shown(each.path or '/')}" + (paint(shown(f"  was {was}"), "dim") if was else ""))
        if len(same) > MOST_PLACES:
            lines.append(f"    … {counted(len(same) - MOST_PLACES, 'place')} more")
    return lines


def _indented(arguments: Mapping[str, Any]) -> list[str]:
    try:
        text = json.dumps(arguments, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        text = quoted(arguments, LONGEST_LINE)
    return _bounded(text)


def _bounded(text: str) -> list[str]:
    """Arguments, line by line, as far as they are shown."""
    lines = [each if len(each) <= LONGEST_LINE else f"{each[:LONGEST_LINE]}…" for each in harmless(text).split("\n")]
    if len(lines) > MOST_ARGUMENT_LINES:
        left = len(lines) - MOST_ARGUMENT_LINES
        lines = [*lines[:MOST_ARGUMENT_LINES], f"… {counted(left, 'line')} more; --json has them all"]
    return [f"    {each}" for each in lines]


def _spent(usage: Usage) -> str:
    """`31 tokens in (8 cached), 17 out (5 for reasoning)`; what is not told is left out."""
    told: list[str] = []
    for number, what, inside, kind in (
        (usage.input, "in", usage.cached, "cached"),
        (usage.output, "out", usage.reasoning, "for reasoning"),
    ):
        part = f" ({inside:,} {kind})" if inside is not None else ""
        if number is not None or part:
            told.append(f"{'?' if number is None else f'{number:,}'}{'' if told else ' tokens'} {what}{part}")
    return ", ".join(told)
