"""Ids of calls that are unique in a conversation: words about a call, and its result, are found by them.

Providers that number their calls anew in each reply, or give no ids at all, would otherwise have one word count for
several calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolbridge.stream.events import Reply
from toolbridge.types import Message, Part, ToolCall


def with_fresh_ids(reply: Reply, history: Iterable[Message]) -> Reply:
    """The reply, with another id for every call whose own is taken."""
    if not reply.calls:
        return reply
    taken = {call.id for message in history for call in message.calls}
    parts: list[Part] = []
    for part in reply.message.parts:
        if isinstance(part, ToolCall):
            id, number = part.id or "call", 1
            while id in taken:
                number += 1
                id = f"{part.id or 'call'}_{number}"
            taken.add(id)
            part = part if id == part.id else replace(part, id=id)
        parts.append(part)
    if tuple(parts) == reply.message.parts:
        return reply
    return replace(reply, message=replace(reply.message, parts=tuple(parts)))
