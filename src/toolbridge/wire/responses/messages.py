"""Transcripts of the Responses format: turns as input items, and input or output items as a history.

Item ids (`msg_…`, `fc_…`) are written back only beside the reasoning item that they belong to. OpenAI remembers which
call came of which reasoning, and refuses the one without the other ("Item 'fc_…' of type 'function_call' was provided
without its required 'reasoning' item", and the reverse). Without its id a call is a new item, which nothing is asked
of. So, for each turn of the assistant:

- With sealed reasoning (OpenAI's own) the items stand in the order in which the model made them, with their ids.
- Without, no ids are written: whether there never was reasoning or somebody dropped it cannot be seen, and an id is
  good for nothing else. Calls stand together behind everything else, since servers that fold items into chat messages
  (DeepSeek) refuse whatever stands between a call and its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeGuard

from toolbridge.history.rules import Rules
from toolbridge.history.turns import Answer, Turn, TurnPart
from toolbridge.stream.arguments import INVALID_JSON
from toolbridge.types import Foreign, Reasoning, Text, ToolCall
from toolbridge.wire.responses.content import KINDS, write_part
from toolbridge.wire.responses.history import read
from toolbridge.wire.talk import Wire

__all__ = ["read", "write"]


def write(turns: Sequence[Turn], rules: Rules) -> Wire:
    """Legal turns as `{"input": […]}`."""
    items: list[Wire] = []
    for turn in turns:
        match turn.role:
            case "system" | "user":
                items += _write_message(turn)
            case "assistant":
                items += _write_assistant(turn)
                items += [_write_output(answer) for answer in turn.answers]
    return {"input": items}


# ── system and user ──────────────────────────────────────────────────────────────────────────────────────────────────


def _write_message(turn: Turn) -> list[Wire]:
    """One message, unless items of the provider's own (an approval, a screenshot) stand among its parts."""
    items: list[Wire] = []
    for foreign, parts in groupby(turn.parts, _is_item):
        if foreign:
            items += [dict(part.opaque) for part in parts if isinstance(part, Foreign)]
            continue
        content = [written for part in parts if (written := write_part(part)) is not None]
        if len(content) == 1 and content[0]["type"] == "input_text":
            items.append({"role": turn.role, "content": content[0]["text"]})
        elif content:
            items.append({"role": turn.role, "content": content})
    return items


def _is_item(part: TurnPart) -> TypeGuard[Foreign]:
    return isinstance(part, Foreign) and part.kind not in KINDS


# ── the assistant ────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_assistant(turn: Turn) -> list[Wire]:
    parts = list(turn.parts)
    sealed = any(isinstance(part, Reasoning) and _is_sealed(part) for part in parts)
    if not sealed and not any(isinstance(part, Foreign) for part in parts):
        parts.sort(key=lambda part: isinstance(part, ToolCall))
    items: list[Wire] = []
    for is_text, run in groupby(parts, lambda part: isinstance(part, Text)):
        if is_text:
            items += _write_texts([part for part in run if isinstance(part, Text)], sealed)
            continue
        for part in run:
            match part:
                case ToolCall():
                    items.append(_write_call(part, sealed))
                case Reasoning():
                    # A null says nothing, and not every field takes one in a request.
                    items.append({key: value for key, value in part.opaque.items() if value is not None})
                case Foreign():
                    items.append(dict(part.opaque))
                case _:
                    pass
    return items


def _is_sealed(part: Reasoning) -> bool:
    """Whether the provider keeps what was thought to itself. Servers of open models send it as `content`, and know
    nothing of pairs of items."""
    return not part.opaque.get("content")


def _write_texts(texts: Iterable[Text], with_ids: bool) -> list[Wire]:
    """Texts of one message together: by the message's id, or, without ids, as one text."""
    items: list[Wire] = []
    for (id, phase), run in groupby(texts, lambda text: _message_of(text, with_ids)):
        if id:
            items.append(
                {
                    "type": "message",
                    "id": id,
                    "role": "assistant",
                    "status": "completed",
                    **_phase(phase),
                    "content": [_write_text(text) for text in run],
                }
            )
        elif text := "".join(text.text for text in run):
            items.append({"role": "assistant", "content": text, **_phase(phase)})
    return items


def _message_of(text: Text, with_ids: bool) -> tuple[str, str]:
    id, phase = text.opaque.get("id"), text.opaque.get("phase")
    return (id if with_ids and isinstance(id, str) else "", phase if isinstance(phase, str) else "")


def _phase(phase: str) -> Wire:
    """Models from gpt-5.3-codex on want it back (openai 3.49 `EasyInputMessageParam.phase`)."""
    return {"phase": phase} if phase else {}


def _write_text(text: Text) -> Wire:
    if text.opaque.get("type") == "refusal":
        return {"type": "refusal", "refusal": text.text}
    annotations = text.opaque.get("annotations")
    return {
        "type": "output_text",
        "text": text.text,
        "annotations": list(annotations) if isinstance(annotations, list) else [],
    }


def _write_call(call: ToolCall, with_id: bool) -> Wire:
    item: Wire = {"type": "function_call", "call_id": call.id, "name": call.name}
    if _is_custom(call):
        item |= {"type": "custom_tool_call", "input": _free_text(call)}
    else:
        item["arguments"] = call.text
    beside = {key: value for key, value in call.opaque.items() if key not in item and (with_id or key != "id")}
    return {**item, **beside}


def _is_custom(call: ToolCall) -> bool:
    return call.opaque.get("type") == "custom_tool_call"


def _free_text(call: ToolCall) -> str:
    """What a custom tool was called with: any text, and seldom JSON."""
    arguments = call.arguments or {}
    wrapped = arguments.get(INVALID_JSON) if len(arguments) == 1 else None
    return wrapped if isinstance(wrapped, str) else call.text


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _write_output(answer: Answer) -> Wire:
    item: Wire = {
        "type": "custom_tool_call_output" if _is_custom(answer.call) else "function_call_output",
        "call_id": answer.call.id,
    }
    if all(isinstance(block, Text) for block in answer.blocks):
        item["output"] = answer.text
    else:
        item["output"] = [written for block in answer.blocks if (written := write_part(block)) is not None]
    caller = answer.call.opaque.get("caller")
    if isinstance(caller, Mapping) and caller.get("type") == "program":
        item["caller"] = dict(caller)
    return item
