"""A judge of turns: what a transcript must be like, said a second time and without the code that makes it so."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from toolbridge.history.rules import IMAGES, PDF, Carries, Rules, id_rule
from toolbridge.history.turns import Turn
from toolbridge.names import name_rule
from toolbridge.types import (
    Audio,
    Content,
    Foreign,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)

SEES = Carries(IMAGES, documents=frozenset({PDF}), links=frozenset({"image/*"}))

RULES: dict[str, Rules] = {
    "loose": Rules(),
    "text in results": Rules(in_user=replace(SEES, audio=frozenset({"audio/wav"}))),
    "flags and media": Rules(
        system="first", alternate=True, user_first=True, ids=id_rule("a-zA-Z0-9_-", 64), names=name_rule("a-zA-Z0-9_-", 128),
        in_results=SEES, in_user=SEES, error_flag=True,
    ),
    "structured": Rules(
        system="first", alternate=True, user_first=True, names=name_rule("a-zA-Z0-9_.:-", 128, first="a-zA-Z_"),
        in_user=SEES, in_assistant=Carries(IMAGES), error_flag=True, structured=True,
    ),
    "nine letters": Rules(
        system="first", user_last=True, ids=id_rule("a-zA-Z0-9", 9, exact=True), in_user=Carries(IMAGES), reasoning=False,
    ),
    "one call": Rules(system="anywhere", alternate=True, user_first=True, user_last=True, most_calls=1, in_user=SEES),
    "two calls": Rules(system="first", alternate=True, user_last=True, most_calls=2, in_user=Carries(IMAGES)),
    "texts beside results": Rules(
        system="first", alternate=True, user_first=True, in_results=Carries(IMAGES), in_user=SEES, error_flag=True,
        beside_results=frozenset({Text}),
    ),
    "signed thoughts": Rules(
        system="first", alternate=True, user_first=True, user_last=True, in_user=SEES, error_flag=True,
        replayable=lambda part: isinstance(part, Reasoning) and bool(part.opaque), thoughts_lead=True, longest_result=160,
    ),
    "thoughts together": Rules(
        most_calls=2, replayable=lambda part: bool(part.opaque), thoughts_together=True, thoughts_lead=True,
    ),
}  # fmt: skip
"""Rules of many kinds: between them every field has every value that changes something."""


def illegal(turns: Sequence[Turn], rules: Rules) -> list[str]:
    """What is wrong with the turns, in words; nothing, if they are legal."""
    return [*_wrong_order(turns, rules), *_wrong_calls(turns, rules), *_wrong_parts(turns, rules)]


def _wrong_order(turns: Sequence[Turn], rules: Rules) -> list[str]:
    wrong: list[str] = []
    roles = [turn.role for turn in turns]
    if rules.system == "first" and "system" in roles[1:]:
        wrong.append("system text is not first")
    if rules.alternate:
        for former, latter in pairwise(turns):
            if former.role == latter.role == "user":
                wrong.append("two turns of the user in a row")
            if former.role == latter.role == "assistant" and not former.answers:
                wrong.append("two turns of the assistant in a row")
    if rules.beside_results is not None:
        for former, latter in pairwise(turns):
            if (
                former.answers
                and latter.role == "user"
                and {type(part) for part in latter.parts} - rules.beside_results
            ):
                wrong.append("parts that may not stand beside results")
    spoken = [role for role in roles if role != "system"]
    if rules.user_first and spoken[:1] != ["user"]:
        wrong.append("the user is not first")
    if rules.user_last and not (turns and (turns[-1].role == "user" or turns[-1].answers)):
        wrong.append("the user is not last")
    return wrong


def _wrong_calls(turns: Sequence[Turn], rules: Rules) -> list[str]:
    wrong: list[str] = []
    ids: list[str] = []
    for turn in turns:
        calls = [part for part in turn.parts if isinstance(part, ToolCall)]
        ids += [call.id for call in calls]
        if calls and turn.role != "assistant":
            wrong.append("a call that is not the assistant's")
        if calls != [answer.call for answer in turn.answers]:
            wrong.append("calls without their answers")
        if len(calls) > (rules.most_calls or len(calls)):
            wrong.append("too many calls")
        wrong += [f"name {call.name!r}" for call in calls if not rules.names.allows(call.name)]
        wrong += [f"id {call.id!r}" for call in calls if not rules.ids.allows(call.id)]
        wrong += [f"arguments {call.text!r}" for call in calls if not is_json(call.text, call.arguments)]
        for answer in turn.answers:
            if not answer.blocks:
                wrong.append("an answer without a block")
            if answer.structured is not None and not rules.structured:
                wrong.append("structured content")
            if answer.is_error and not rules.error_flag and not re.search("error|failed", answer.text, re.IGNORECASE):
                wrong.append("a failure that does not say so")
            if rules.longest_result is not None and len(answer.text) > rules.longest_result:
                wrong.append("a result that is too long")
            wrong += [f"{block} in a result" for block in answer.blocks if not holds(rules.in_results, block)]
    if len(ids) != len(set(ids)):
        wrong.append("ids that are not unique")
    return wrong


def _wrong_parts(turns: Sequence[Turn], rules: Rules) -> list[str]:
    wrong: list[str] = []
    places = {"system": Carries(), "user": rules.in_user, "assistant": rules.in_assistant}
    for turn in turns:
        if not turn.parts:
            wrong.append("an empty turn")
        elif rules.thoughts_lead and isinstance(turn.parts[-1], Reasoning):
            wrong.append("reasoning that leads to nothing")
        for part in turn.parts:
            if isinstance(part, Reasoning):
                if turn.role != "assistant" or not rules.reasoning or not (rules.replayable or bool)(part):
                    wrong.append("reasoning")
            elif isinstance(part, Text) and not part.text.strip() and not (rules.replayable or bool)(part):
                wrong.append("a blank text")
            elif isinstance(part, Foreign):
                if turn.role == "system":
                    wrong.append("something foreign in the system's turn")
            elif not isinstance(part, ToolCall) and not holds(places[turn.role], part):
                wrong.append(f"{part} in a turn of the {turn.role}")
    return wrong


def holds(place: Carries, part: Content) -> bool:
    match part:
        case Text():
            return bool(part.text.strip() or part.opaque) and is_whole(part.text)
        case Image():
            return part.mime_type in place.images
        case Audio():
            return part.mime_type in place.audio
        case Resource():
            return part.mime_type in place.documents
        case ResourceLink():
            return part.uri.startswith("https:") and "image/*" in place.links


def is_whole(text: str) -> bool:
    return text == text.encode("utf-8", "replace").decode("utf-8")


def is_json(text: str, arguments: Any) -> bool:
    """Whether the text is the JSON text of these arguments, and can be sent."""
    try:
        value = json.loads(text, parse_constant=lambda constant: NotImplemented)
        written = json.dumps(arguments, allow_nan=False, ensure_ascii=False)
    except ValueError:
        return False
    sendable = isinstance(arguments, dict) and is_whole(text) and is_whole(written)
    return sendable and _tagged(value) == _tagged(json.loads(written))


def _tagged(value: Any) -> Any:
    """A value in which `1` and `true` are two things."""
    if isinstance(value, dict):
        return {key: _tagged(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_tagged(each) for each in value]
    return (isinstance(value, bool), value)


def as_read(turns: Sequence[Turn], rules: Rules) -> tuple[Turn, ...]:
    """The turns as far as a transcript tells: where results have no flag for failure, their text alone says it."""
    if rules.error_flag:
        return tuple(turns)
    return tuple(replace(turn, answers=tuple(replace(each, is_error=False) for each in turn.answers)) for turn in turns)


def as_history(turns: Sequence[Turn], rules: Rules, origin: str) -> list[Message]:
    """The turns as the history that would be read from a transcript of them."""
    messages: list[Message] = []
    for turn in as_read(turns, rules):
        messages.append(Message(turn.role, turn.parts, origin, turn.model))
        if turn.answers:
            results = (ToolResult(each.call.id, each.blocks, each.structured, each.is_error) for each in turn.answers)
            messages.append(Message("tool", tuple(results), origin))
    return messages
