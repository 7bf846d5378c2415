"""What a model is to the loop: something that takes a request's fields and streams what a provider's wire says.

A protocol, so that an HTTP endpoint, a vendor's own SDK client, the built-in engine and a test's script are used alike.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Protocol

from toolbridge.providers import Provider


class Model(Protocol):
    """One model of one provider."""

    @property
    def provider(self) -> Provider:
        """Whose wire format it speaks."""
        ...

    @property
    def name(self) -> str:
        """The model's name, as its provider spells it."""
        ...

    @property
    def most_tools(self) -> int | None:
        """How many tools it can choose among; `None` where it is as good as any. Tiny models lose their way."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """How much fits its window, definitions and answer included; `None` where that is not known."""
        ...

    def stream(self, fields: Mapping[str, Any]) -> AsyncGenerator[Any]:
        """Ask it. `fields` are those of `write_messages`, of the prepared tools, and any other of the request body; the
        model's own name and what makes it stream are added here.

        Yields what `ReplyReader.feed` takes: bytes, events as dicts, or SDK objects. Raises `ModelError`, as a rule
        before the first piece; a stream that breaks off raises it in the middle. Closing the generator, or cancelling
        the task that reads it, ends the request.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. A model may be used again afterwards."""
        ...
