"""The DIAL agent's message: what stands in its conversations, and how it is told from a dict or another model's object.

Plain data beside the core's `Message`, which keeps every part and its origin: `get_provider("dial").read_messages`
makes those of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from toolbridge.errors import HistoryError


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(slots=True)
class Message:
    """One message in OpenAI's form. It can be changed, as the agent's own can. The core way: `toolbridge.Message`."""

    role: Role
    content: Any = None
    tool_call_id: str | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.role = Role(self.role)

    def to_dict(self) -> dict[str, Any]:
        """For a request: without what is not there."""
        return {key: value for key, value in self.model_dump().items() if value is not None and value != []}

    def model_dump(self) -> dict[str, Any]:
        """For the store: every field."""
        return {**asdict(self), "role": self.role.value}


_FIELDS = frozenset(field.name for field in fields(Message))


def as_message(given: Any) -> Message:
    """A message from a question as text, a dict, a message of this module, or one of the agent's own (pydantic)."""
    if isinstance(given, Message):
        return given
    if isinstance(given, str):
        return Message(Role.USER, given)
    for way in ("model_dump", "to_dict"):
        write = getattr(given, way, None)
        if callable(write):
            given = write()
            break
    if not isinstance(given, Mapping):
        raise HistoryError(f"expected a message as text, a dict or a Message, not {type(given).__name__}")
    try:
        return Message(**{key: value for key, value in given.items() if key in _FIELDS})
    except (TypeError, ValueError) as error:
        raise HistoryError(f"this is no message of a conversation: {error}") from None
