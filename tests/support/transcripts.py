"""A judge of transcripts: whether a provider takes these request fields, by its own types and by its rules of order.

It is written from what is known of the providers alone and knows nothing of the code under test. A source stands
beside each rule that the vendors' types do not tell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.rules.blocks import anthropic, bedrock
from tests.support.rules.chat import chat, dial, mistral, ollama, uncounted
from tests.support.rules.constrained import constrained
from tests.support.rules.items import responses
from tests.support.rules.parts import gemini
from tests.support.rules.shared import Problems, Wire


def problems(provider: str, fields: Wire) -> list[str]:
    """Everything that the provider would refuse. Providers that are rows of Chat Completions are judged as such."""
    try:
        json.dumps(fields, ensure_ascii=False, default=_as_text).encode()
    except (TypeError, ValueError) as failure:
        return [f"not JSON in UTF-8: {failure}"]
    return list(_JUDGES.get(provider, chat)(fields))


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):  # what boto3 encodes by itself
        return "bytes"
    raise TypeError(f"a value of the type {type(value).__name__}")


_JUDGES: Mapping[str, Callable[[Wire], Problems]] = {
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "gemini-openapi": gemini,
    "bedrock": bedrock,
    "mistral": mistral,
    "ollama": ollama,
    "dial": dial,
    "moonshot": uncounted,
    "vllm": uncounted,
    "llama.cpp": uncounted,
    "json-schema": constrained,
}
