"""The conversation as it is said: in memory, and in a store where there is one.

A store that fails does not stop a conversation: what it could not take is kept here and offered again with the next
message, and whoever watches is told.
"""

from __future__ import annotations

from collections.abc import Iterable

from toolbridge.errors import StoreError
from toolbridge.run.events import Told
from toolbridge.run.pause import fresh_id
from toolbridge.store.store import Store
from toolbridge.types import Message


class Record:
    """A history that grows."""

    def __init__(self, history: Iterable[Message], store: Store | None, conversation: str) -> None:
        self.history = tuple(history)
        self.store = store
        self.conversation = conversation or (fresh_id() if store is not None else "")
        self._unsaved: list[Message] = []

    @property
    def is_kept(self) -> bool:
        """Whether the store has all of it."""
        return self.store is not None and not self._unsaved

    async def load(self) -> list[Told]:
        """Take over what others have added to the conversation since."""
        if self.store is None:
            return []
        if self._unsaved and (problem := await self._save()) is not None:
            return [problem]  # what is here is more than what is kept
        try:
            kept = await self.store.load(self.conversation)
        except StoreError as failure:
            return [Told("store.failed", f"what others have added to the conversation is not known: {failure}")]
        if not kept.messages and self.history:
            self._unsaved = list(self.history)
        else:
            self.history = kept.messages
        return []

    async def add(self, *messages: Message) -> list[Told]:
        """Say something. What is returned went wrong with keeping it."""
        self.history += messages
        if self.store is None or not messages:
            return []
        self._unsaved += messages
        problem = await self._save()
        return [problem] if problem is not None else []

    def replace(self, history: tuple[Message, ...], conversation: str, unsaved: Iterable[Message]) -> None:
        """Go on with another history: that of a run that was paused."""
        self.history = history
        self.conversation = conversation or self.conversation
        self._unsaved = list(unsaved)

    async def _save(self) -> Told | None:
        assert self.store is not None
        try:
            await self.store.append(self.conversation, self._unsaved)
        except StoreError as failure:
            count = len(self._unsaved)
            return Told("store.failed", f"{count} {'message is' if count == 1 else 'messages are'} not kept: {failure}")
        self._unsaved = []
        return None
