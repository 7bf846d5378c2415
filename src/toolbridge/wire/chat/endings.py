"""How a reply of Chat Completions ends: the reason, what it cost, or what went wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from toolbridge.stream.events import Event, Failed, Finish, Finished, Spent, Unread, Usage

Wire: TypeAlias = dict[str, Any]

REASONS: Mapping[str, Finish] = {
    "stop": "stop",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "filtered",
    "error": "error",
    # What compatible servers, and what is behind them, say beside OpenAI's words:
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "load": "stop",  # Ollama, of a request without messages
    "unload": "stop",
    "tool_call": "calls",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_length": "length",  # Mistral: the model's own limit
    "model_context_window_exceeded": "length",
    "safety": "filtered",
    "recitation": "filtered",
    "sensitive": "filtered",
    "refusal": "filtered",
    "abort": "error",  # vLLM, SGLang: the request was cancelled
    "network_error": "error",
    "engine_overloaded": "error",  # Moonshot
    "insufficient_system_resource": "error",  # DeepSeek
    "malformed_function_call": "error",  # Gemini
}


def read_reason(reason: Any) -> list[Event]:
    if not isinstance(reason, str):
        return [Unread({"finish_reason": reason}, "finish.unknown")]
    if not reason or reason == "null":
        return []
    known = REASONS.get(reason.lower())
    if known is not None:
        return [Finished(known, reason)]
    return [Finished("stop", reason), Unread({"finish_reason": reason}, "finish.unknown")]


def read_usage(usage: Wire) -> list[Event]:
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = read_count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else None
    for other in ("cached_tokens", "prompt_cache_hit_tokens"):  # Moonshot, DeepSeek
        cached = read_count(usage.get(other)) if cached is None else cached
    reasoning = read_count(completion.get("reasoning_tokens")) if isinstance(completion, dict) else None
    found = Usage(read_count(usage.get("prompt_tokens")), read_count(usage.get("completion_tokens")), cached, reasoning)
    return [Spent(found)] if found != Usage() else []


def read_failure(source: Wire, known: bool) -> Failed | None:
    """An error in the place of a reply, or beside a part of one."""
    error = source.get("error")
    if error:
        return read_error(error)
    beside = source.get("x_groq")
    if isinstance(beside, dict) and beside.get("error"):
        return read_error(beside["error"])
    if source.get("object") == "error":  # vLLM, Mistral
        return read_error(source)
    if not known and source.get("detail"):  # what FastAPI makes of it
        return read_error(source["detail"])
    return None


def read_error(error: Any) -> Failed:
    """What is said about it, with what the model wrote (Groq) or what the vendor behind a router said (OpenRouter)."""
    if not isinstance(error, dict):
        return Failed(_shown(error))
    metadata = error.get("metadata")
    more = error.get("failed_generation") or (metadata.get("raw") if isinstance(metadata, dict) else None)
    code = error.get("code") or error.get("type") or ""
    said = error.get("message") or error.get("detail")
    message = _shown(said if said else {key: value for key, value in error.items() if value is not None})
    return Failed(f"{message}: {_shown(more)}" if more else message, code if isinstance(code, str) else _shown(code))


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return type(value).__name__


def read_count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
