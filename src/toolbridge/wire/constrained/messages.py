"""Transcripts of models without tool calling: calls are what the assistant wrote, results what the user says next.

Only text, and only the roles that every chat template has. A call stands there in just the form in which the model is
to write the next one: its own past is the best of examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn
from toolbridge.notes import Converted
from toolbridge.stream.arguments import INVALID_JSON, read_call
from toolbridge.stream.assemble import Assembler
from toolbridge.stream.events import TextDelta
from toolbridge.types import Message, Part, Text, ToolCall, ToolResult
from toolbridge.wire.constrained.form import write_answer, write_call
from toolbridge.wire.constrained.sifting import CONTENT, TextSifter

Wire: TypeAlias = dict[str, Any]

RESULT = "Result of {name}:\n{text}"
"""A result, as the user's words."""

_RESULT = re.compile(r"Result of (?P<name>\S+):\n(?P<text>.*)", re.DOTALL)


def write(turns: Sequence[Turn], rules: Rules) -> Wire:
    """Legal turns as `{"messages": […]}`."""
    messages: list[Wire] = []
    for turn in turns:
        if turn.role == "assistant":
            messages.append({"role": "assistant", "content": _write_assistant(turn)})
            messages += [{"role": "user", "content": _write_result(answer)} for answer in turn.answers]
        else:
            messages.append({"role": turn.role, "content": _write_text(turn)})
    return {"messages": messages}


def _write_text(turn: Turn) -> str:
    return "\n".join(part.text for part in turn.parts if isinstance(part, Text) and part.text)


def _write_assistant(turn: Turn) -> str:
    """The object; before that of a call, where another model said something beside its call, these words."""
    text = _write_text(turn)
    call = next((part for part in turn.parts if isinstance(part, ToolCall)), None)
    if call is None:
        return write_answer(text)
    arguments = {INVALID_JSON: call.text} if call.arguments is None else call.arguments
    written = write_call(call.name, arguments)
    return f"{text}\n{written}" if text else written


def _write_result(answer: Answer) -> str:
    return RESULT.format(name=answer.call.name, text=answer.text)


def read(
    source: Any, origin: str, *, beneath: Callable[[Any, str], Converted[tuple[Message, ...]]]
) -> Converted[tuple[Message, ...]]:
    """The way back, over how the server's own transcripts are read. Ids are made: the transcript has none."""
    plain = beneath(source, origin)
    messages: list[Message] = []
    for number, message in enumerate(plain.value):
        asked = messages[-1].calls if messages else ()
        if message.role == "assistant":
            messages.append(_read_assistant(message, number))
        elif message.role == "user" and (result := _read_result(message, asked)) is not None:
            messages.append(result)
        else:
            messages.append(message)
    return Converted(tuple(messages), plain.notes)


def _read_assistant(message: Message, number: int) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if not isinstance(part, Text) or part.opaque:
            parts.append(part)
            continue
        sifter, assembler = TextSifter(), Assembler()
        for event in (*sifter.feed([TextDelta(part.text, CONTENT)]), *sifter.close()):
            assembler.feed(event)
        for each in assembler.reply().message.parts:
            parts.append(read_call(f"call_{number}", each.name, each.text) if isinstance(each, ToolCall) else each)
    return replace(message, parts=tuple(parts))


def _read_result(message: Message, asked: Sequence[ToolCall]) -> Message | None:
    found = _RESULT.fullmatch(message.text)
    call = next((each for each in asked if found is not None and each.name == found["name"]), None)
    if found is None or call is None:
        return None
    return Message.results(ToolResult(call.id, (Text(found["text"]),)))
