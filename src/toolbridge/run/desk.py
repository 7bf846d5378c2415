"""The desk: the calls of one reply that need somebody's word, and the words on them.

A word that was given counts, whatever the policy says by now. Nothing has run when the desk is left.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from toolbridge.run.events import Decision
from toolbridge.run.pause import seal
from toolbridge.run.planning import Ask, Planned, ask_about, decided
from toolbridge.run.progress import Progress


class Desk:
    """One reply's calls. `words` were given beforehand, by the calls' ids; `asked` are ids that need one anyway."""

    def __init__(self, batch: Sequence[Planned], words: Mapping[str, Decision | bool], asked: Container[str]) -> None:
        self.batch = list(batch)
        self.words = {id: word if isinstance(word, Decision) else Decision(word) for id, word in words.items()}
        self.waiting: list[Planned] = []
        """The calls that nobody has said anything about."""
        self.shown: dict[str, str] = {}
        """What was shown of the calls that need a word: by their ids, a digest of the tool and the arguments."""
        self._needed = [
            i
            for i, each in enumerate(batch)
            if each.bound is not None and (each.why is not None or each.call.id in asked or each.call.id in self.words)
        ]
        for i in self._needed:
            bound = self.batch[i].bound
            if bound is not None:
                self.shown[bound.call.id] = seal(bound)

    async def settle(self, ask: Ask | None, progress: Progress) -> None:
        """Get the word on every call that needs one, one after the other."""
        for i in self._needed:
            planned = self.batch[i]
            word = self.words.get(planned.call.id)
            if word is None and ask is not None:
                with progress.waiting():
                    said = await ask_about(planned, ask)
                word = Decision(said) if isinstance(said, bool) else said
            if word is None:
                self.waiting.append(planned)
                continue
            self.batch[i] = decided(planned, word)
            self.words[planned.call.id] = word
