"""Transcripts of Anthropic Messages: turns as `system` and `messages`, and those as a history.

The results of a turn are the first blocks of the user's message behind it, in one run; what the user says next stands
in the same message, since roles alternate. Thoughts stand where the model had them, byte for byte: moved or changed
ones are refused ("blocks in the latest assistant message cannot be modified"), left out ones are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn, TurnPart
from toolbridge.types import Text
from toolbridge.wire.anthropic.blocks import write_block
from toolbridge.wire.anthropic.history import read
from toolbridge.wire.talk import Wire

__all__ = ["read", "write"]


def write(turns: Sequence[Turn], rules: Rules) -> Wire:
    """Legal turns as `{"system": …, "messages": […]}`, without `system` where there is none."""
    system: list[Wire] = []
    messages: list[Wire] = []
    for turn in turns:
        match turn.role:
            case "system":
                system += _write_blocks(part for part in turn.parts if isinstance(part, Text))
            case "user":
                _add(messages, "user", _write_blocks(turn.parts))
            case "assistant":
                _add(messages, "assistant", _write_blocks(turn.parts))
                _add(messages, "user", [_write_result(answer) for answer in turn.answers])
    if messages and messages[-1]["role"] == "assistant":
        _trim(messages)
    written = [{**message, "content": _shortest(message["content"])} for message in messages]
    return {"system": _shortest(system), "messages": written} if system else {"messages": written}


def _write_blocks(parts: Iterable[TurnPart]) -> list[Wire]:
    return [block for part in parts if (block := write_block(part)) is not None]


def _add(messages: list[Wire], role: str, blocks: list[Wire]) -> None:
    """Blocks as a message of their own, or as the rest of the last one, where that is of the same role."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _trim(messages: list[Wire]) -> None:
    """White space at the end of the last message, if that is the assistant's: "final assistant content cannot end with
    trailing whitespace"."""
    last = messages[-1]["content"][-1]
    if last.get("type") == "text":
        messages[-1]["content"][-1] = {**last, "text": last["text"].rstrip()}


def _shortest(blocks: list[Wire]) -> list[Wire] | str:
    """One plain text is written as a string."""
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0].keys() == {"type", "text"} else blocks


def _write_result(answer: Answer) -> Wire:
    result: Wire = {"type": "tool_result", "tool_use_id": answer.call.id}
    blocks = _write_blocks(answer.blocks)
    if blocks:  # an empty list is refused; no content at all is not
        result["content"] = _shortest(blocks)
    if answer.is_error:
        result["is_error"] = True
    toolset = answer.call.opaque.get("toolset_name")
    if isinstance(toolset, str):
        result["toolset_name"] = toolset
    return result
