"""The conversation as it is said: in memory, and in a store where there is one.

A store that fails does not stop a conversation: what it could not take is kept here and offered again with the next
message, and whoever watches is told. What is offered again has the name it had the first time, so that a store that had
taken it after all, and only could not say so, keeps it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbridge.errors import HistoryError, PauseError, StoreError
from toolbridge.history.document import write_history
from toolbridge.run.events import Told
from toolbridge.run.pause import Pause, fresh_id
from toolbridge.store.store import Store
from toolbridge.types import Message, Part, Text, ToolResult

_NOT_KEPT = "(This could not be kept.)"


class Record:
    """A history that grows."""

    def __init__(self, history: Iterable[Message], store: Store | None, conversation: str) -> None:
        self.history = tuple(history)
        self.store = store
        self._named = conversation
        self.conversation = conversation or (fresh_id() if store is not None else "")
        self._unsaved: dict[str, Sequence[Message]] = {}
        """What the store does not have yet, for all we know, by the names under which it is offered: the end of the
        history, in its order."""

    @property
    def unsaved(self) -> tuple[tuple[str, int], ...]:
        """The names of what the store does not have yet, and how many messages each stands for."""
        return tuple((name, len(messages)) for name, messages in self._unsaved.items())

    async def load(self) -> list[Told]:
        """Take over what others have added to the conversation since. What a store cannot give is told."""
        if self.store is None:
            return []
        try:
            return await self._load(self.store)
        except StoreError as failure:
            return [Told("store.failed", f"the conversation goes on with what is known here: {failure}")]

    async def _load(self, store: Store) -> list[Told]:
        if self._unsaved and (problems := await self._save()):
            return problems  # what is here is more than what is kept
        kept = await store.load(self.conversation)
        if kept.version == 0 and self.history:
            self._unsaved[fresh_id()] = self.history
            return []
        told: list[Told] = []
        if kept.notes:
            told.append(Told("store.damaged", f"{len(kept.notes)} of {kept.version} messages could not be read"))
        elif kept.messages[: len(self.history)] != self.history:
            told.append(Told("store.other", f"{self.conversation!r} holds another conversation: that one goes on"))
        self.history = kept.messages
        return told

    async def add(self, *messages: Message) -> list[Told]:
        """Say something. What is returned went wrong with keeping it."""
        self.history += messages
        if self.store is None or not messages:
            return []
        self._unsaved[fresh_id()] = messages
        return await self._save()

    async def take_up(self, pause: Pause) -> list[Told]:
        """Go on with the history of a run that was paused, and with what was said since.

        Raises `PauseError` where this is another conversation.
        """
        if self._named and pause.conversation and pause.conversation != self._named:
            raise PauseError(f"the run belongs to the conversation {pause.conversation!r}, not to {self._named!r}")
        here = len(self.history)
        if self.history[: len(pause.history)] != pause.history[:here]:
            raise PauseError("this chat has another history; continue the run in a chat of its own")
        self.history = max(self.history, pause.history, key=len)
        self.conversation = pause.conversation or self.conversation
        if self.store is None:
            return []
        if not self._unsaved:
            end = len(pause.history)
            for name, count in reversed(pause.unsaved):
                self._unsaved = {name: pause.history[end - count : end], **self._unsaved}
                end -= count
        return await self.load()

    async def keep_pause(self, state: Mapping[str, Any]) -> list[Told]:
        """Keep a run that waits. What is returned went wrong with it; whoever runs it has the state too."""
        assert self.store is not None
        try:
            await self.store.keep_pause(state["id"], state, conversation=self.conversation)
        except StoreError as failure:
            return [Told("store.failed", f"the run that waits is not kept: {failure}")]
        return []

    async def _save(self) -> list[Told]:
        assert self.store is not None
        for name, messages in tuple(self._unsaved.items()):
            try:
                await self.store.append(self.conversation, _writable(messages), once=name)
            except StoreError as failure:
                count = sum(map(len, self._unsaved.values()))
                what = "1 message is" if count == 1 else f"{count} messages are"
                return [Told("store.failed", f"{what} not kept yet: {failure}")]
            del self._unsaved[name]
        return []


def _writable(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages, each in a form that can be kept: one that cannot must not keep the others from being."""
    try:
        write_history(messages)
    except HistoryError:
        return [_stand_in(each) for each in messages]
    return messages


def _stand_in(message: Message) -> Message:
    try:
        write_history([message])
    except HistoryError:
        parts: tuple[Part, ...] = (Text(message.text or _NOT_KEPT),)
        if message.role == "tool":
            results = (each for each in message.parts if isinstance(each, ToolResult))
            parts = tuple(replace(each, content=(Text(_NOT_KEPT),), structured=None, meta={}) for each in results)
        return replace(message, parts=parts)
    return message
