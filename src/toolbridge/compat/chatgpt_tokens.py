"""What a conversation costs, as the ChatGPT provider's design counts it: tokens, times a factor for what is not seen.

Counted by tiktoken where it is installed and has its tables, by `toolbridge.tokens.estimate` where not; the answer says
which. The core way is `estimate(text)` and `message_tokens(message)`.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any, TypeVar

from toolbridge.compat.chatgpt_calls import field
from toolbridge.compat.chatgpt_history import content_to_text, has_tool_parts
from toolbridge.model.vendors import window_of
from toolbridge.tokens import estimate

logger = logging.getLogger(__name__)

N = TypeVar("N", int, float)

BUFFER_FACTOR = 1.2
"""Without tools: roles and separators, and what an estimate may be off."""

BUFFER_FACTOR_WITH_TOOLS = 1.5
"""With tools: their definitions are a part of the request that nobody counts here."""

MESSAGE_TOKENS = 3
"""What OpenAI counts around each message."""

FAMILIES: Mapping[str, int] = {
    "gpt-5": 400_000,
    "gpt-4": 8_192,
    "gpt-3.5": 16_385,
    "gemini-1.5-pro": 2_097_152,
    "gemini": 1_048_576,
}
"""Tokens of context where `model.vendors` knows none, by a part of the model's name; the first that is found counts. As
generally known and not checked again in 2026-11: this design wants a number for every model, be it a guess."""

LEAST_CONTEXT = 4_096
"""Of a model that is not known: what all of them have."""

_WORD = re.compile(r"\b\w")
_LENGTH_SETTINGS = (("gemini", "GEMINI_MAX_CONTEXT_LENGTH"), ("gpt", "CHATGPT_MAX_CONTEXT_LENGTH"))


def get_buffer_factor(has_tools: bool = False) -> float:
    """1.5 with tools and 1.2 without, unless TOKEN_ESTIMATION_BUFFER_FACTOR says another."""
    said = _setting("TOKEN_ESTIMATION_BUFFER_FACTOR", float)
    return said if said is not None else BUFFER_FACTOR_WITH_TOOLS if has_tools else BUFFER_FACTOR


def get_max_context_length(model_name: str) -> int:
    """How many tokens fit the model: by the environment, then by the tables, then what every model has."""
    name = model_name.lower()
    settings = [setting for part, setting in _LENGTH_SETTINGS if part in name] + ["DEFAULT_MAX_CONTEXT_LENGTH"]
    for setting in settings:
        said = _setting(setting, int)
        if said is not None:
            return said
    known = (window_of(name[word.start() :]) for word in _WORD.finditer(name))  # a deployment may be "my-gpt-4o"
    families = (length for part, length in FAMILIES.items() if part in name)
    return next(filter(None, chain(known, families)), LEAST_CONTEXT)


def token_info(text: Any, history: Iterable[Any] | None, model: str, has_tools: bool, *, exact: bool) -> dict[str, Any]:
    """`{"input_tokens", "max_tokens", "counted_by"}`. `exact` asks for tiktoken, which knows OpenAI's models only."""
    entries = list(history or ())
    texts = [content_to_text(text), *(content_to_text(field(entry, "content")) for entry in entries)]
    encoding = _encoding(model) if exact else None
    if encoding is None:
        counted_by, count = "estimate", sum(estimate(each) for each in texts)
    else:
        counted_by = f"tiktoken {encoding.name}"
        count = sum(len(encoding.encode(each, disallowed_special=())) + MESSAGE_TOKENS for each in texts)
    factor = get_buffer_factor(has_tools=has_tools or has_tool_parts(entries))
    return {
        "input_tokens": int(count * factor),
        "max_tokens": get_max_context_length(model),
        "counted_by": counted_by,
    }


@cache
def _encoding(model: str) -> Any:
    """tiktoken's encoding of a model, or `None`. Asked once: its tables come from the network the first time."""
    try:
        import tiktoken
    except ImportError:
        return None
    try:
        try:
            return tiktoken.encoding_for_model(model)
        except KeyError:  # a model that is newer than tiktoken
            return tiktoken.get_encoding("o200k_base")
    except Exception as error:
        logger.info("tiktoken has no tables for %s, so tokens are estimated: %s", model, error)
        return None


def _setting(name: str, read: Callable[[str], N]) -> N | None:
    said = os.environ.get(name)
    if not said:
        return None
    try:
        return read(said)
    except ValueError:
        logger.warning("%s is %r, which is no number; the default counts", name, said)
        return None
