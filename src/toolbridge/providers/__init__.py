"""The right bank: one module a provider, and this registry. Nothing here knows MCP or does any I/O."""

from __future__ import annotations

from functools import cache

from toolbridge.errors import UnknownProviderError, nearest
from toolbridge.providers import (
    anthropic,
    bedrock,
    compatible,
    gemini,
    json_schema,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)
from toolbridge.providers.provider import Fact, Provider, StrictBudget

__all__ = ["Fact", "Provider", "StrictBudget", "get_provider", "providers"]


@cache
def providers() -> dict[str, Provider]:
    """Every provider by its name."""
    listed = (
        openai_chat.PROVIDER,
        openai_responses.PROVIDER,
        anthropic.PROVIDER,
        gemini.PROVIDER,
        gemini.OPENAPI,
        bedrock.PROVIDER,
        mistral.PROVIDER,
        ollama.PROVIDER,
        *compatible.PROVIDERS,
        json_schema.PROVIDER,
    )
    return {each.name: each for each in listed}


def get_provider(name: str) -> Provider:
    """The provider of that name."""
    found = providers().get(name)
    if found is None:
        meant = nearest(str(name), providers())
        hint = f"did you mean {meant!r}?" if meant else f"known: {', '.join(providers())}"
        raise UnknownProviderError(f"unknown provider {name!r}; {hint}")
    return found
