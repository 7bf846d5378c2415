"""Transcripts of Chat Completions: legal turns to messages. The way back is in `reading`, and stands here as `read`.

The turns are legal already: here it is only spelt out where each thing goes. `Manner` is what vendors do differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn
from toolbridge.types import Foreign, Reasoning, Text, ToolCall
from toolbridge.wire.chat.calls import write_call
from toolbridge.wire.chat.parts import ContentPart, write_part
from toolbridge.wire.chat.reading import read
from toolbridge.wire.chat.reasoning import write_thinking, write_thoughts

__all__ = ["OPENAI", "Manner", "read", "write"]

Wire: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a vendor's messages differ from OpenAI's."""

    reasoning: str = "reasoning_content"
    """The field for reasoning that does not say which one it came in."""
    thinking: bool = False
    """Whether reasoning stands in the content, as `thinking` chunks (Mistral)."""
    reasoning_with_calls: str | None = None
    """What stands for the reasoning of a message with calls that has none, where the vendor insists on some."""
    null_content: bool = True
    """Whether the content of a message with calls alone is null; else it is an empty string."""
    result_names: bool = False
    """Whether a result repeats the name of its tool."""
    part: Callable[[ContentPart], Wire] = write_part


OPENAI = Manner()


def write(turns: Sequence[Turn], rules: Rules, manner: Manner = OPENAI) -> Wire:
    """Legal turns as `{"messages": […]}`."""
    messages: list[Wire] = []
    for turn in turns:
        if turn.role == "assistant":
            messages.append(_write_assistant(turn, manner))
            messages += [_write_answer(answer, manner) for answer in turn.answers]
            continue
        messages.append(_write_plain(turn, manner))
    return {"messages": messages}


def _write_plain(turn: Turn, manner: Manner) -> Wire:
    """A message of the system or of a user: a string where it is all text, else parts."""
    message: Wire = {"role": turn.role, "content": ""}
    parts: list[ContentPart] = []
    for part in turn.parts:
        match part:
            case Foreign("custom_content"):
                message["custom_content"] = dict(part.opaque)
            case ToolCall() | Reasoning():  # never in such a turn
                continue
            case _:
                parts.append(part)
    message["content"] = _content(parts, manner)
    return message


def _content(parts: Sequence[ContentPart], manner: Manner) -> str | list[Wire]:
    if all(isinstance(part, Text) and not part.opaque for part in parts):
        return "\n".join(part.text for part in parts if isinstance(part, Text))
    return [manner.part(part) for part in parts]


def _write_answer(answer: Answer, manner: Manner) -> Wire:
    message: Wire = {"role": "tool", "tool_call_id": answer.call.id, "content": _content(answer.blocks, manner)}
    if manner.result_names:
        message["name"] = answer.call.name
    return message


# ── the assistant ────────────────────────────────────────────────────────────────────────────────────────────────


def _write_assistant(turn: Turn, manner: Manner) -> Wire:
    beside: Wire = {}
    spoken = any(isinstance(part, Foreign) and part.kind == "audio" for part in turn.parts)
    chunks: list[Wire] = []
    thoughts: list[Reasoning] = []
    calls: list[Wire] = []
    for part in turn.parts:
        match part:
            case Text():
                chunks += _write_text(part, beside, spoken)
            case Reasoning():
                thoughts.append(part)
            case ToolCall():
                calls.append(write_call(part))
            case Foreign("audio"):
                beside["audio"] = {"id": part.opaque.get("id", "")}
            case Foreign("custom_content"):
                beside["custom_content"] = dict(part.opaque)
            case _:
                chunks.append(manner.part(part))
    if manner.thinking:
        chunks = [*(write_thinking(thought) for thought in thoughts), *chunks]
        fields: Wire = {}
    else:
        fields = write_thoughts(thoughts, manner.reasoning)
    if calls and not fields and manner.reasoning_with_calls is not None:
        fields = {manner.reasoning: manner.reasoning_with_calls}
    message: Wire = {"role": "assistant"}
    if chunks or not spoken:
        message["content"] = _assistant_content(chunks, bool(calls) and manner.null_content)
    message |= fields | beside
    if calls:
        message["tool_calls"] = calls
    return message


def _assistant_content(chunks: list[Wire], null: bool) -> str | list[Wire] | None:
    if all(chunk.get("type") == "text" and len(chunk) == 2 for chunk in chunks):
        text = "\n".join(chunk["text"] for chunk in chunks)
        return None if null and not text else text
    return chunks


def _write_text(part: Text, beside: Wire, spoken: bool) -> list[Wire]:
    """The chunks of a text (none or one). What belongs to the message and not to the text goes beside it."""
    opaque = dict(part.opaque)
    if "extra_content" in opaque:
        beside["extra_content"] = opaque.pop("extra_content")
    kind = opaque.pop("type", None)
    if kind == "refusal":
        return [{"type": "refusal", "refusal": part.text}]
    if not part.text or (kind == "transcript" and spoken):
        return []
    return [{"type": "text", "text": part.text, **opaque}]
