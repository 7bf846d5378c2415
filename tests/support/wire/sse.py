"""Server-sent events, as bytes: the plain form, and the forms that the standard allows and few expect."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

DONE = "[DONE]"
BOM = b"\xef\xbb\xbf"


def dumps(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(events: Iterable[Any], *, newline: str = "\n", space: str = " ") -> bytes:
    """Each event as one `data:` line; texts (`[DONE]`) as they are."""
    return "".join(f"data:{space}{dumps(event)}{newline}{newline}" for event in events).encode()


def named(events: Iterable[dict[str, Any]], *, newline: str = "\n") -> bytes:
    """Each event under the name of its `type`, as OpenAI's Responses and Anthropic send them."""
    return "".join(
        f"event: {event['type']}{newline}data: {dumps(event)}{newline}{newline}" for event in events
    ).encode()


def many_lines(events: Iterable[Any]) -> bytes:
    """Each event over several `data:` lines, which are joined by new lines again."""
    shown = (
        json.dumps(event, ensure_ascii=False, indent=1) if not isinstance(event, str) else event for event in events
    )
    return "".join("".join(f"data: {line}\n" for line in each.split("\n")) + "\n" for each in shown).encode()


def with_noise(events: Iterable[Any]) -> bytes:
    """Events between comments, pings, ids, retries and fields that nobody knows."""
    noise = (
        ": OPENROUTER PROCESSING\n\n",
        ":\n\n",
        "event: ping\n\n",
        "retry: 3000\n",
        "id: 7\n",
        "colour: red\n",
        "\n\n",
        "data\n\n",
    )
    lines: list[str] = [": hello\n\n"]
    for number, event in enumerate(events):
        lines.append(f"{noise[number % len(noise)]}data: {dumps(event)}\n\n")
    return "".join(lines).encode()
