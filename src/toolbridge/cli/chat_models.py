"""Which model is asked: the one that is named, that a setting names, or the best that this machine can reach.

Short names stand for a vendor's model (`@claude`, `@gemini`), so that a person can switch in the middle of a sentence.
Between the command, which has words, and `model.find`, which has the rules; nothing is asked over a network here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolbridge.errors import ModelError
from toolbridge.extras import install

if TYPE_CHECKING:
    from toolbridge.model.model import Model

VARIABLE = "TOOLBRIDGE_MODEL"

DEFAULTS: Mapping[str, str] = {
    "anthropic": "anthropic/claude-sonnet-5",
    "openai-chat": "openai-chat/gpt-5",
    "gemini": "gemini/gemini-2.5-flash",
    "mistral": "mistral/mistral-large-latest",
    "deepseek": "deepseek/deepseek-chat",
    "moonshot": "moonshot/kimi-latest",
    "qwen": "qwen/qwen-plus",
    "groq": "groq/openai/gpt-oss-120b",
    "openrouter": "openrouter/openrouter/auto",
}
"""The model of a vendor that nobody named a model of, in the order in which keys are looked for. --model, or
TOOLBRIDGE_MODEL, names another.

They are a choice of 2026-11, and no claim that they are a vendor's newest or best. Public recordings and issues ask
claude-sonnet-5, gpt-5 and gemini-2.5-flash with tools; the others are names as generally known, of which most stand for
whatever the vendor serves at the time (`latest`, `auto`, `chat`, `plus`). None was asked with a key of ours. Azure,
Bedrock, DIAL and servers of one's own have no model that everybody has."""

SHORT: Mapping[str, str] = {
    "claude": "anthropic",
    "openai": "openai-chat",
    "chatgpt": "openai-chat",
    "gpt": "openai-chat",
    "google": "gemini",
    "kimi": "moonshot",
}
"""What people call a vendor, beside the name that it has here."""

LOCAL = "local"

_NOTHING = (
    "no model: name one with --model, such as --model anthropic/claude-sonnet-5, or set a key, such as "
    "ANTHROPIC_API_KEY or OPENAI_API_KEY; without any key: "
    f"{install('local')} && toolbridge models pull smollm2"
)

_SPELT = (
    (", or give api_key", ""),
    (" or give api_key", ""),
    ("Or give base_url", "Or give --base-url"),
    ("give base_url", "give --base-url"),
    ("limits.turns", "--max-turns"),
    ("limits.seconds", "--timeout"),
    ("limits.tokens", "--max-tokens"),
)
"""What the library's messages tell a developer to set, as a person at a command line sets it."""


def spelt(message: str) -> str:
    """A message of the library in the command's words."""
    for name, option in _SPELT:
        message = message.replace(name, option)
    return message


def default_name() -> str:
    """The model where none is named. Raises `ModelError`, which says what to set."""
    said = os.environ.get(VARIABLE, "").strip()
    if said:
        return said
    from toolbridge.model.vendors import VENDORS

    for provider, model in DEFAULTS.items():
        if any(os.environ.get(each, "").strip() for each in VENDORS[provider].key_variables):
            return model
    local = local_name()
    if local is None:
        raise ModelError("no_key", _NOTHING)
    return local


def local_name() -> str | None:
    """The largest built-in model whose weights are on this machine."""
    from toolbridge.local.weights import WEIGHTS, models_directory, weights_state

    try:
        directory = models_directory()
    except ModelError:
        return None
    here = [each for each in WEIGHTS if weights_state(each, directory)[0] == "here"]
    return f"{LOCAL}/{max(here, key=lambda each: each.bytes).name}" if here else None


def meant(name: str) -> str:
    """The model that a name stands for: a vendor's own default where only the vendor is named."""
    name = name.strip()
    if name == LOCAL:
        found = local_name()
        if found is None:
            raise ModelError("no_weights", "no built-in model is here; run: toolbridge models pull smollm2")
        return found
    return DEFAULTS.get(SHORT.get(name, name), name)


def open_model(name: str, provider: str | None = None, base_url: str | None = None) -> Model:
    """The model of a name as people write it. Raises `ModelError`, or `UnknownProviderError`."""
    from toolbridge.model.find import get_model
    from toolbridge.providers import providers

    full = name if provider is not None or base_url is not None else meant(name)
    if full in providers() and provider is None and base_url is None:
        raise ModelError("unknown_model", f"which model of {full}? Write {full}/NAME")
    return get_model(full, provider=provider, base_url=base_url)


def mentions() -> list[str]:
    """The short names, for completion."""
    return sorted({*DEFAULTS, *SHORT, LOCAL})
