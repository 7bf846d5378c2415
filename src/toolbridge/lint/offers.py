"""Offers: what a provider's models would get of a tool, as the rules on portability and cost ask for it.

A tool is compiled once for each provider of the settings, by itself: limits on the number of tools are a matter of the
whole list. What is worked out is kept on the subject (`Subject.offers`), so that the rules share it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from toolbridge.errors import ToolbridgeError
from toolbridge.notes import Note
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import Provider, get_provider, providers
from toolbridge.tokens import Counter, definition_tokens, estimate
from toolbridge.types import Tool

MAIN: Final = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "gemini-openapi",
    "bedrock",
    "mistral",
    "ollama",
)
"""What `main` stands for: the providers with a form of their own. `all` adds the compatible vendors."""

_NAMED: Final = 3
"""Providers that a message names; where there are more, it counts the rest."""


class Offer:
    """A tool as one provider's models would get it."""

    def __init__(self, tool: Tool, provider: Provider) -> None:
        self.tool = tool
        self.provider = provider

    @cached_property
    def _ready(self) -> PreparedTools:
        return prepare((self.tool,), self.provider)

    @property
    def why_left_out(self) -> str | None:
        """Why the provider's models cannot have the tool; `None` where they can."""
        return self._ready.left_out.get(self.tool.id)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What was changed; nothing where the tool is left out."""
        return self._ready.notes.get(self.tool.id, ())

    @cached_property
    def obstacles(self) -> tuple[Note, ...]:
        """What keeps the definition from being strict, where the provider makes strict ones unasked."""
        if not self.provider.strict_by_default or self.why_left_out is not None:
            return ()
        return self._ready.why_not_strict(self.tool.id)

    @cached_property
    def tokens(self) -> int:
        """About what the definition costs in every request."""
        counter = counter_of(self.provider)
        return sum(definition_tokens(each, counter) for each in self._ready.definitions)


def counter_of(provider: Provider) -> Counter:
    """How the tokens of a provider's definitions are counted: the one place where that is decided.

    The estimate does for all of them. A linter's budget needs no exact number, and an encoding costs more time than all
    rules together.
    """
    return estimate


def chosen_providers(names: tuple[str, ...]) -> tuple[Provider, ...]:
    """The providers of the settings, each once. Raises for a name that is none."""
    listed: list[str] = []
    for name in names:
        listed += providers() if name == "all" else MAIN if name == "main" else (name,)
    if not listed:
        raise ToolbridgeError("providers: none is named; give names of providers, 'main' or 'all'")
    return tuple(get_provider(name) for name in dict.fromkeys(listed))


def offers_of(tool: Tool, names: tuple[str, ...]) -> tuple[Offer, ...]:
    """The tool for each provider."""
    return tuple(Offer(tool, provider) for provider in chosen_providers(names))


def named(offers: list[Offer]) -> str:
    """The providers in words: `anthropic, gemini and 4 others`."""
    names = [each.provider.name for each in offers]
    if len(names) > _NAMED + 1:
        names = [*names[:_NAMED], f"{len(names) - _NAMED} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
