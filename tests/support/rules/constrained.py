"""Transcripts for any chat template: text alone, roles in turns, and the assistant's words in the form of its object."""

from __future__ import annotations

import json

from tests.support.rules.chat import chat
from tests.support.rules.shared import NAME, Problems, Wire


def constrained(fields: Wire) -> Problems:
    yield from chat(fields, counts=False, echoed=())
    messages = fields.get("messages") or ()
    roles = [message.get("role") for message in messages]
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    # "Conversation roles must alternate user/assistant/user/assistant/...": the templates of Gemma, Mistral and others
    if spoken != ["user", "assistant"] * (len(spoken) // 2) + ["user"]:
        yield f"the roles do not take turns from a user to a user: {roles}"
    for number, message in enumerate(messages):
        if set(message) != {"role", "content"} or not isinstance(message["content"], str):
            yield f"messages[{number}]: not a role and a text alone"
        elif message["role"] == "assistant":
            yield from (f"messages[{number}]: {each}" for each in _object(message["content"]))
        elif not message["content"].strip():
            yield f"messages[{number}]: blank"


def _object(content: str) -> Problems:
    """The object, perhaps behind lines of text."""
    try:
        value = json.loads(content.rpartition("\n")[2])
    except ValueError:
        yield f"no object at its end: {content!r}"
        return
    match value:
        case {"answer": str(answer), **rest} if not rest:
            if not answer.strip() or content.count("\n"):
                yield f"no answer alone: {content!r}"
        case {"tool": str(name), "arguments": dict(), **rest} if not rest:
            if not NAME.fullmatch(name):
                yield f"no name of a tool: {name!r}"
        case _:
            yield f"neither a call nor an answer: {content!r}"
