"""What somebody's `call_tool` answered, as a `ToolResult`: text, a result of any MCP SDK, a plain value, an exception.

Between the clients of this package and functions that they do not know. `hub.run`, the core way, answers with
`ToolResult`s by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolbridge.compat.orbiter import read_result
from toolbridge.errors import ToolbridgeError
from toolbridge.history.said import json_text
from toolbridge.types import Text, ToolResult


def read_answer(call_id: str, answer: Any) -> ToolResult:
    """The answer of a call; what is neither text nor a result of MCP is said as JSON."""
    if isinstance(answer, str):
        return ToolResult(call_id, (Text(answer),))
    result = read_result(answer)
    if result is None:
        return ToolResult(call_id, () if answer is None else (Text(json_text(answer)),))
    return replace(result, call_id=call_id)


def read_failure(call_id: str, name: str, error: BaseException) -> ToolResult:
    """An exception, for the model: one tool that fails is no reason to stop."""
    words = str(error) if isinstance(error, ToolbridgeError) else f"{type(error).__name__}: {error}".rstrip(": ")
    return ToolResult(call_id, (Text(f"The call of {name} failed: {words}"),), is_error=True)
