"""The events of a run for programs: one JSON object on one line each, with keys that stay.

    {"event": "text_delta", "text": …}
    {"event": "call_started", "id": …, "server": …, "tool": …, "arguments": {…}}
    {"event": "call_ended", "id": …, "server": …, "tool": …, "result": {…}, "seconds": …, "tokens": …}
    {"event": "paused", "asked": [{"id": …, "server": …, "tool": …, "arguments": {…}, "why": …}], "state": {…}}
    {"event": "done", "text": …, "turns": …, "usage": {…}, "stopped": …, "why": …}

Every name of an event is that of its class in `run.events` in lower case; `error` is ours, in place of an exception.
The last line is `done`, `paused` or `error`.
"""

from __future__ import annotations

from typing import Any

from toolbridge.cli.blocks import result_fields
from toolbridge.cli.chat_models import spelt
from toolbridge.errors import ToolbridgeError
from toolbridge.run.events import (
    Asked,
    CallEnded,
    CallProgress,
    CallStarted,
    Done,
    Paused,
    Replied,
    RunEvent,
    Told,
)
from toolbridge.stream.events import ReasoningDelta, TextDelta, Usage
from toolbridge.types import ToolId


def event_fields(event: RunEvent) -> dict[str, Any]:
    """An event as an object."""
    match event:
        case TextDelta() | ReasoningDelta():
            kind = "text_delta" if isinstance(event, TextDelta) else "reasoning_delta"
            return {"event": kind, "text": event.text}
        case CallStarted():
            return {
                "event": "call_started",
                "id": event.call.id,
                **_tool(event.tool),
                "arguments": event.arguments,
            }
        case CallProgress():
            return {
                "event": "call_progress",
                "id": event.call.id,
                **_tool(event.tool),
                "progress": event.progress,
                "total": event.total,
                "message": event.message,
            }
        case CallEnded():
            return {
                "event": "call_ended",
                "id": event.call.id,
                **(_tool(event.tool) if event.tool is not None else {"server": None, "tool": event.call.name}),
                "result": result_fields(event.result, None),
                "seconds": round(event.seconds, 3),
                "tokens": event.tokens,
            }
        case Replied():
            return {
                "event": "replied",
                "turn": event.turn,
                "model": event.reply.message.model,
                "finish": event.reply.finish,
                "calls": len(event.reply.calls),
                "usage": _usage(event.reply.usage or Usage()),
            }
        case Told():
            return {"event": "told", "code": event.code, "text": spelt(event.text)}
        case Paused():
            return {"event": "paused", "asked": [asked_fields(each) for each in event.asked], "state": event.state}
        case Done():
            return {
                "event": "done",
                "text": event.text,
                "turns": event.turns,
                "usage": _usage(event.usage),
                "stopped": event.stopped,
                "why": spelt(event.why),
            }


def asked_fields(asked: Asked) -> dict[str, Any]:
    """A call that waits for somebody's word."""
    return {"id": asked.call.id, **_tool(asked.tool), "arguments": asked.arguments, "why": asked.why}


def error_fields(failure: ToolbridgeError) -> dict[str, Any]:
    """What went wrong in place of an end."""
    return {"event": "error", "kind": getattr(failure, "kind", "failed"), "message": spelt(str(failure))}


def _tool(id: ToolId) -> dict[str, Any]:
    return {"server": id.server, "tool": id.name}


def _usage(usage: Usage) -> dict[str, Any]:
    return {"input": usage.input, "output": usage.output}
