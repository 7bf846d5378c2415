"""The conversation as it is said: in memory, and in a store where there is one.

A store that fails does not stop a conversation: what it could not take is kept here and offered again with the next
message, and whoever watches is told. What is offered again has the name it had the first time, so that a store that had
taken it after all, and only could not say so, keeps it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
        self._unsaved: dict[str, Sequence[Message]] = {}
        """What the store does not have yet, for all we know, by the names under which it is offered."""

    @property
    def is_kept(self) -> bool:
        """Whether the store has all of it."""
        return self.store is not None and not self._unsaved

    async def load(self) -> list[Told]:
        """Take over what others have added to the conversation since."""
        if self.store is None:
            return []
        if self._unsaved and (problems := await self._save()):
            return problems  # what is here is more than what is kept
        kept = await self.store.load(self.conversation)
        if kept.version == 0 and self.history:
            self._unsaved[fresh_id()] = self.history
        else:
            self.history = kept.messages
        lost = len(kept.notes)
        return [Told("store.damaged", f"{lost} of {kept.version} messages could not be read")] if lost else []

    async def add(self, *messages: Message) -> list[Told]:
        """Say something. What is returned went wrong with keeping it."""
        self.history += messages
        if self.store is None or not messages:
            return []
        self._unsaved[fresh_id()] = messages
        return await self._save()

    async def keep_pause(self, state: Mapping[str, Any]) -> list[Told]:
        """Keep a run that waits, where there is a store. Whoever runs it has the state too."""
        if self.store is None:
            return []
        try:
            await self.store.keep_pause(state["id"], state, conversation=self.conversation)
        except StoreError as failure:
            return [Told("store.failed", f"the run that waits is not kept: {failure}")]
        return []

    def replace(self, history: tuple[Message, ...], conversation: str, unsaved: Sequence[Message]) -> None:
        """Go on with another history: that of a run that was paused."""
        self.history = history
        self.conversation = conversation or self.conversation
        self._unsaved = {fresh_id(): unsaved} if unsaved else {}

    async def _save(self) -> list[Told]:
        assert self.store is not None
        for name, messages in tuple(self._unsaved.items()):
            try:
                await self.store.append(self.conversation, messages, once=name)
            except StoreError as failure:
                count = sum(map(len, self._unsaved.values()))
                what = "1 message is" if count == 1 else f"{count} messages are"
                return [Told("store.failed", f"{what} not kept yet: {failure}")]
            del self._unsaved[name]
        return []
