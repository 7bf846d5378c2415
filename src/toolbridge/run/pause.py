"""A run that waits for approval, as plain data: to be kept anywhere and continued by another process.

    {"toolbridge": "pause", "version": 1, "id": …, "history": …, "asked": […], …, "signature": "…"}

It is signed, so that what is continued is what was stopped: the calls, their arguments, the history before them. The
key is that of whoever keeps the data: `TOOLBRIDGE_PAUSE_KEY`, or a file of the user's own that is made when it is first
needed. Several machines that continue each other's runs share the first.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from toolbridge.errors import HistoryError, PauseError
from toolbridge.history.document import read_history, write_history
from toolbridge.run.events import Decision
from toolbridge.servers.private import create_private, data_directory, make_private
from toolbridge.types import BoundCall, Message, ToolId

VERSION = 1
KEY_VARIABLE = "TOOLBRIDGE_PAUSE_KEY"
KEY_FILE = "pause_key"
_SIGNATURE = "signature"


@dataclass(frozen=True, slots=True)
class Pause:
    """What has to survive."""

    id: str
    conversation: str
    history: tuple[Message, ...]
    """All of it; the last message is the assistant's, whose calls wait."""
    added: int
    """How many of its messages this run has added."""
    unsaved: tuple[tuple[str, int], ...]
    """What the conversation's store did not have: names under which it is offered, and how many messages each."""
    is_held: bool
    """Whether the store holds the run: then only who takes it from there continues it."""
    turns: int
    milliseconds: int
    """Of the run's own time. Whole numbers: there are stores that write 1.0 as 1."""
    usage: tuple[int, int]
    repeats: dict[str, tuple[str, int]]
    asked: dict[str, str]
    """The calls that need a word: by id, a digest of the tool and the arguments that were shown."""
    words: dict[str, Decision]
    """The words that were given already, by the ids of their calls."""
    joined: tuple[ToolId, ...]
    """The tools that had been found by searching."""


def fresh_id() -> str:
    return secrets.token_urlsafe(12)


def seal(bound: BoundCall) -> str:
    """A digest of what is allowed when a call is: this tool as it describes itself, with these arguments."""
    tool = bound.tool
    shown = [
        tool.id.server,
        tool.id.name,
        tool.title,
        tool.description,
        tool.input_schema,
        bound.arguments,
    ]
    hints = tool.hints
    shown += [
        hints.read_only_hint,
        hints.destructive_hint,
        hints.idempotent_hint,
        hints.open_world_hint,
    ]
    return sha256(_plain(shown)).hexdigest()


def write_pause(pause: Pause, key: bytes | None = None) -> dict[str, Any]:
    """The run as plain JSON data, signed."""
    state: dict[str, Any] = {
        "toolbridge": "pause",
        "version": VERSION,
        "id": pause.id,
        "conversation": pause.conversation,
        "history": write_history(pause.history),
        "added": pause.added,
        "unsaved": [list(each) for each in pause.unsaved],
        "held": pause.is_held,
        "turns": pause.turns,
        "milliseconds": pause.milliseconds,
        "usage": list(pause.usage),
        "repeats": {name: list(each) for name, each in pause.repeats.items()},
        "asked": pause.asked,
        "words": {id: [word.allow, word.reason, word.arguments] for id, word in pause.words.items()},
        "joined": [[each.server, each.name] for each in pause.joined],
    }
    return {**state, _SIGNATURE: _signed(state, key or default_key())}


def read_pause(state: Mapping[str, Any], key: bytes | None = None) -> Pause:
    """The run, if nobody has touched it. Raises `PauseError`."""
    if not isinstance(state, Mapping) or state.get("toolbridge") != "pause":
        raise PauseError("this is no run that waits for approval")
    if state.get("version") != VERSION:
        raise PauseError(f"this run was stopped by another version of toolbridge (form {state.get('version')!r})")
    unsigned = {name: value for name, value in state.items() if name != _SIGNATURE}
    given = state.get(_SIGNATURE)
    if not isinstance(given, str) or not hmac.compare_digest(
        _signed(unsigned, key or default_key()).encode(),
        given.encode("utf-8", "replace"),
    ):
        raise PauseError(
            "the stored run was altered, or was signed with another key; "
            f"processes that continue each other's runs need the same {KEY_VARIABLE}"
        )
    try:
        return Pause(
            id=state["id"],
            conversation=state["conversation"],
            history=read_history(dict(state["history"])).value,
            added=state["added"],
            unsaved=tuple((name, count) for name, count in state["unsaved"]),
            is_held=state["held"],
            turns=state["turns"],
            milliseconds=state["milliseconds"],
            usage=(state["usage"][0], state["usage"][1]),
            repeats={name: (each[0], each[1]) for name, each in state["repeats"].items()},
            asked=dict(state["asked"]),
            words={id: Decision(*word) for id, word in state["words"].items()},
            joined=tuple(ToolId(*each) for each in state["joined"]),
        )
    except (
        KeyError,
        TypeError,
        IndexError,
        HistoryError,
    ) as problem:  # signed, and yet not of this form
        raise PauseError(f"the stored run cannot be read: {problem}") from problem


def default_key() -> bytes:
    """The key of this environment or of this user."""
    said = os.environ.get(KEY_VARIABLE)
    if said:
        return said.encode("utf-8", "surrogateescape")
    path = data_directory(os.environ) / KEY_FILE
    try:
        if not path.exists():
            make_private(path.parent)
            create_private(path, secrets.token_hex(32).encode())
        key = Path(path).read_bytes().strip()
    except OSError as failure:
        why = failure.strerror or failure
        raise PauseError(f"the key {path} cannot be used: {why}; set {KEY_VARIABLE} to a secret text") from failure
    if len(key) < 32:
        raise PauseError(f"the key {path} is cut short; delete it, and runs that it signed cannot be continued")
    return key


def _signed(state: Mapping[str, Any], key: bytes) -> str:
    return hmac.new(key, _plain(state), sha256).hexdigest()


def _plain(value: Any) -> bytes:
    """One spelling for equal values, whatever order a store gives their keys back in."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=dict).encode()
