"""The request of one turn: the history in the form that the model's provider takes, with what it has to know first.

Calls that another provider's model made are put in the words of this one; a history that is too long for the model's
window is trimmed. Nothing here changes the history itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolbridge.errors import UnknownProviderError
from toolbridge.history.trim import trim_history
from toolbridge.model.model import Model
from toolbridge.moving import move_calls
from toolbridge.notes import Note
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import Provider, get_provider
from toolbridge.tokens import estimate
from toolbridge.types import Message, Text, Tool

ANSWER_SHARE = 4
"""A quarter of the window is left for the answer, as long as that is not more than …"""

ANSWER_TOKENS = 8_000
"""… this many tokens."""


class Spellings:
    """How the tools of a catalogue are spelt for providers other than the one in use: made when a history needs it."""

    def __init__(self, tools: Sequence[Tool], strict: bool | None) -> None:
        self._tools = tools
        self._strict = strict
        self._prepared: dict[str, PreparedTools] = {}

    def of(self, provider: Provider) -> PreparedTools:
        found = self._prepared.get(provider.name)
        if found is None:
            found = self._prepared[provider.name] = prepare(self._tools, provider, self._strict)
        return found


def moved(history: Sequence[Message], provider: Provider, spellings: Spellings) -> tuple[Message, ...]:
    """The history with the calls of other providers' models as this one's would have made them."""
    own = provider.origin or provider.name
    out: list[Message] = []
    for message in history:
        if message.role == "assistant" and message.origin not in ("", own) and message.calls:
            source = _known(message.origin)
            if source is not None:
                message = move_calls((message,), spellings.of(source), spellings.of(provider)).value[0]
        out.append(message)
    return tuple(out)


def _known(origin: str) -> Provider | None:
    try:
        return get_provider(origin)
    except UnknownProviderError:  # a history from elsewhere
        return None


def write_request(
    history: Sequence[Message],
    first: str,
    model: Model,
    tool_fields: Mapping[str, Any],
    tool_tokens: int,
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """The request's fields, and what had to be left out of the history. `first` is what the model is told first."""
    messages = tuple(history)
    notes: tuple[Note, ...] = ()
    if model.context_tokens is not None:
        answer = min(model.context_tokens // ANSWER_SHARE, ANSWER_TOKENS)
        room = model.context_tokens - answer - tool_tokens - estimate(first)
        trimmed = trim_history(messages, max(room, 1))
        messages, notes = trimmed.value, trimmed.notes
    if first:
        messages = (Message("system", (Text(first),)), *messages)
    written = model.provider.write_messages(messages, model=model.name)
    return {**written.value, **tool_fields, **options}, notes
