"""What a provider's own search left in a history, where the tools it found are no longer declared.

Anthropic refuses a request that refers to a tool it does not declare (`tool_reference_unresolved`), and Responses takes
a call's namespace only while the function is deferred. A server that is down for a turn would so spoil the conversation
for good: what a search found is left out where a tool of it is gone. The calls themselves stay.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolbridge.types import Foreign, Message, Part, ToolCall

FOUND = {"tool_search_tool_result": "tool_use_id", "tool_search_output": "call_id"}
"""Parts that say what a search found, and the key by which they name the search."""

SEARCHES = {"server_tool_use": "id", "tool_search_call": "call_id"}
"""Parts that ask for one."""


def replayed(messages: Iterable[Message], declared: Container[str], shown: Container[str]) -> tuple[Message, ...]:
    """The messages as a request can hold that declares the tools of these wire names and shows some of them from the
    start, while the others are deferred."""
    return tuple(_message(each, declared, shown) for each in messages)


def _message(message: Message, declared: Container[str], shown: Container[str]) -> Message:
    if message.role != "assistant":
        return message
    lost: set[int] = set()
    changed: dict[int, Part] = {}
    for i, part in enumerate(message.parts):
        if isinstance(part, Foreign) and part.kind in FOUND and not all(each in declared for each in _named(part)):
            lost |= {i, *_search_of(message.parts, i, part)}
        elif isinstance(part, ToolCall) and part.opaque.get("namespace") == part.name:
            if part.name in declared and part.name not in shown:
                continue
            beside = {key: value for key, value in part.opaque.items() if key != "namespace"}
            changed[i] = replace(part, opaque=beside)
    if not lost and not changed:
        return message
    return replace(message, parts=tuple(changed.get(i, part) for i, part in enumerate(message.parts) if i not in lost))


def _search_of(parts: tuple[Part, ...], found: int, part: Foreign) -> list[int]:
    """The search that a part answers: by its id, or the last one before it where there is none."""
    id = part.opaque.get(FOUND[part.kind])
    searches = [
        (i, each.opaque.get(SEARCHES[each.kind]))
        for i, each in enumerate(parts[:found])
        if isinstance(each, Foreign) and each.kind in SEARCHES
    ]
    return [i for i, own in searches if own == id][-1:]


def _named(part: Foreign) -> list[str]:
    """The wire names that a search found."""
    content: Any = part.opaque.get("content")
    listed: Any = content.get("tool_references") if isinstance(content, Mapping) else part.opaque.get("tools")
    names: list[str] = []
    for each in listed if isinstance(listed, list) else ():
        name: Any = each.get("tool_name", each.get("name")) if isinstance(each, Mapping) else None
        if isinstance(name, str):
            names.append(name)
    return names
