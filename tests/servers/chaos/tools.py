"""What the misbehaving servers have in common: their tools, the results of those, and the ledger.

Standard library only, so that a server starts in a few hundredths of a second. It knows no transport: `stdio_server` and
`http_server` put these values on the wire.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROTOCOLS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The handshake protocols."""

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel."""
AUDIO = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
"""A WAV without a sound."""

CONTENT: dict[str, dict[str, Any]] = {
    "text": {"content": [{"type": "text", "text": "plain"}]},
    "empty": {"content": []},
    "image": {"content": [{"type": "image", "data": IMAGE, "mimeType": "image/png"}]},
    "audio": {"content": [{"type": "audio", "data": AUDIO, "mimeType": "audio/wav"}]},
    "resource": {
        "content": [{"type": "resource", "resource": {"uri": "memo://1", "mimeType": "text/plain", "text": "a memo"}}]
    },
    "blob": {
        "content": [
            {"type": "resource", "resource": {"uri": "memo://2", "mimeType": "image/png", "blob": IMAGE}},
        ]
    },
    "resource_link": {
        "content": [
            {
                "type": "resource_link",
                "uri": "memo://3",
                "name": "third",
                "mimeType": "text/plain",
                "description": "The third memo",
            }
        ]
    },
    "structured": {
        "content": [{"type": "text", "text": '{"degrees": 21.5}'}],
        "structuredContent": {"degrees": 21.5},
    },
    "structured_only": {"content": [], "structuredContent": {"degrees": 21.5}},
    "meta": {"content": [{"type": "text", "text": "seen"}], "_meta": {"example.com/secret": "unseen"}},
    "error": {"content": [{"type": "text", "text": "the disk is full"}], "isError": True},
}
"""The results of `content`, by their kind."""

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
KEY = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
KIND = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
NUMBER = {"type": "object", "properties": {"number": {"type": "number"}}, "required": ["number"]}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
READ_ONLY = {"readOnlyHint": True}
IDEMPOTENT = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}


def tool(
    name: str, schema: dict[str, Any], description: str, annotations: dict[str, Any] | None = None
) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "description": description, "inputSchema": schema}
    return entry if annotations is None else {**entry, "annotations": annotations}


TOOLS: list[dict[str, Any]] = [
    tool("echo", TEXT, "Says it again.", READ_ONLY),
    tool("content", KIND, "A result of that kind.", READ_ONLY),
    tool("count", KEY, "Writes the key into the ledger."),
    tool("count_and_die", KEY, "Writes the key and dies before it answers: the first time, or `always`."),
    tool("count_and_die_read_only", KEY, "The same; says that it is read-only.", READ_ONLY),
    tool("count_and_die_idempotent", KEY, "The same; says that it is idempotent.", IDEMPOTENT),
    tool("die", NUMBER, "Exits with that code."),
    tool("hang", NOTHING, "Never answers."),
    tool("hang_hard", NOTHING, "Never answers, and reads nothing any more."),
    tool("wait", PATH, "Answers as soon as there is a file of that path."),
    tool("work", NUMBER, "Reports progress that many times, then answers."),
    tool("work_and_hang", NUMBER, "Reports progress that many times, then never answers."),
    tool("large", NUMBER, "Text of that many bytes."),
    tool("change", TEXT, "Offers a tool of that name from now on."),
    tool("ask", KIND, "Asks the client: roots, elicitation or sampling."),
    tool("garble", KIND, "Breaks the protocol in that way."),
    tool("mute", NOTHING, "Closes its output and lives on."),
    tool("plug", NOTHING, "Closes its input and lives on."),
    tool("flood", NUMBER, "Sends that many log messages and news of its tools, then answers."),
    tool("refuse", NOTHING, "Answers with an error of the protocol."),
    tool("shout", NUMBER, "Writes that many bytes to stderr, then answers."),
    tool("environment", KEY, "The environment variable of that name.", READ_ONLY),
    tool("identity", NOTHING, "The process id.", READ_ONLY),
]

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "roots": ("roots/list", {}),
    "elicitation": (
        "elicitation/create",
        {
            "message": "Which colour?",
            "requestedSchema": {
                "type": "object",
                "properties": {"colour": {"type": "string"}},
                "required": ["colour"],
            },
        },
    ),
    "sampling": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello."}}], "maxTokens": 16},
    ),
}
"""What `ask` asks, by its kind."""


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


class Ledger:
    """What really happened, one JSON object a line, in a file that outlives the process. Its order is the order of
    events: a line is appended by one write."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.lock = threading.Lock()

    def write(self, event: str, **values: Any) -> None:
        if self.path is None:
            return
        line = json.dumps({"event": event, **values}).encode() + b"\n"
        with self.lock:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(file, line)
            finally:
                os.close(file)


def read_ledger(path: str | Path) -> Iterator[dict[str, Any]]:
    """The events of a ledger, for the tests that judge by it."""
    if Path(path).exists():
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def first_time(ledger: Ledger, key: str) -> bool:
    """Whether nobody asked this for the key before, in this process or in an earlier one."""
    if ledger.path is None:
        return True
    mark = f"{ledger.path}.{key}"
    if os.path.exists(mark):
        return False
    os.close(os.open(mark, os.O_CREAT | os.O_WRONLY, 0o600))
    return True


def more_tools(number: int) -> list[dict[str, Any]]:
    """Tools in number, each with a schema of some size."""
    properties = {f"field_{index}": {"type": "string", "description": "Some words. " * 4} for index in range(5)}
    return [
        tool(f"tool_{index:05}", {"type": "object", "properties": properties}, f"The tool number {index}.")
        for index in range(number)
    ]
