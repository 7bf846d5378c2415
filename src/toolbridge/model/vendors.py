"""Where the models of a provider are, how a key is sent there, and what a request needs beside messages and tools.

A table of data, one row a provider of `toolbridge.providers`; a provider without a row speaks Chat Completions at an
address that somebody must give. What a provider's wire format takes is not here but in `providers` and `wire`. It sits
between the registry of providers and whoever sends a request: `http`, `clients`, and `find`, which reads the names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from toolbridge.providers import Fact

Wire: TypeAlias = Literal["chat", "responses", "messages", "gemini", "converse"]
"""The wire format, by the last word of its path: what an SDK's client must have a method for."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """One provider, as its servers want to be asked."""

    wire: Wire = "chat"
    base_url: str = ""
    """Without the version; empty where everybody has their own."""
    version: str = "/v1"
    """What stands between the address and the path; `{model}` is the model's name."""
    path: str = "/chat/completions"
    query: str = ""
    base_variables: tuple[str, ...] = ()
    """Environment variables for the address; the first that is set counts."""
    key_variables: tuple[str, ...] = ()
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    key_needed: bool = True
    """Whether its own servers answer nobody without a key. At another address that is for that server to say."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    streams_by_field: bool = True
    """Whether `"stream": true` in the body makes it stream, and `"model"` names the model; else the path does both."""
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields that it wants and no history or tool says."""
    wishes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields that are good to have. A server that refuses one is asked again without it, and not for it again."""
    names: str = ""
    """A regular expression of model names that can only be this provider's."""
    facts: tuple[Fact, ...] = ()


_USAGE: Mapping[str, Any] = {"stream_options": {"include_usage": True}}
"""Without it a stream of Chat Completions says nothing of tokens."""

ANTHROPIC_MAX_TOKENS = 16_000
"""The field is required. Every model since Claude 3.7 writes so much, and nothing is paid for what is not written."""

_OPENAI = Vendor(
    base_url="https://api.openai.com",
    base_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    key_variables=("OPENAI_API_KEY",),
    wishes=_USAGE,
    names=r"(gpt-(?!oss)|chatgpt-|o[1-9](-|$)|codex-)",
    facts=(
        Fact("OPENAI_API_KEY, OPENAI_BASE_URL; Bearer", "openai 3.49 _client.py", "2026-11"),
        Fact("usage in a stream on request", "openai 3.49 chat_completion_stream_options_param.py", "2026-11"),
    ),
)
_COMPATIBLE = Vendor(key_variables=("OPENAI_API_KEY",), base_variables=("OPENAI_BASE_URL",), wishes=_USAGE,
                     key_needed=False)  # fmt: skip
_GEMINI = Vendor(
    wire="gemini",
    base_url="https://generativelanguage.googleapis.com",
    version="/v1beta",
    path="/models/{model}:streamGenerateContent",
    query="alt=sse",
    base_variables=("GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"),
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    key_header="x-goog-api-key",
    key_prefix="",
    streams_by_field=False,
    names=r"gemini-",
    facts=(
        Fact("GOOGLE_API_KEY before GEMINI_API_KEY", "google-genai 3.1 _api_client.py", "2026-11"),
        Fact("GOOGLE_GEMINI_BASE_URL", "google-genai 3.1 _base_url.py", "2026-11"),
    ),
)

VENDORS: Mapping[str, Vendor] = {
    "openai-chat": _OPENAI,
    "openai-responses": replace(
        _OPENAI,
        wire="responses",
        path="/responses",
        fields={"store": False},  # the history is ours; what is kept there must not be needed here
        wishes={},
        names="",
    ),
    "anthropic": Vendor(
        wire="messages",
        base_url="https://api.anthropic.com",
        path="/messages",
        base_variables=("ANTHROPIC_BASE_URL",),
        key_variables=("ANTHROPIC_API_KEY",),
        key_header="x-api-key",
        key_prefix="",
        headers={"anthropic-version": "2026-10-21"},
        fields={"max_tokens": ANTHROPIC_MAX_TOKENS},
        names=r"claude-",
        facts=(Fact("ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL; x-api-key, anthropic-version 2026-10-21",
                    "anthropic 2.8 _client.py, _constants.py", "2026-11"),),
    ),
    "gemini": _GEMINI,
    "gemini-openapi": replace(_GEMINI, names=""),
    "bedrock": Vendor(
        wire="converse",
        version="",
        path="/model/{model}/converse-stream",
        base_variables=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME",),
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        streams_by_field=False,
        facts=(Fact("AWS_BEARER_TOKEN_BEDROCK, sent as Bearer",
                    "docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html", "2026-11"),),
    ),
    "mistral": Vendor(
        base_url="https://api.mistral.ai",
        base_variables=("MISTRAL_BASE_URL",),
        key_variables=("MISTRAL_API_KEY",),
        names=r"(open-)?(mistral|ministral|magistral|mixtral|codestral|devstral|pixtral|voxtral)-",
        facts=(Fact("usage comes unasked, and fields that it does not know are refused",
                    "not checked: a field is left out, nothing is lost",
                    "2026-11"),),
    ),
    "ollama": Vendor(
        base_url="http://localhost:11434",
        base_variables=("OLLAMA_HOST",),
        key_variables=("OLLAMA_API_KEY",),
        key_needed=False,
        wishes=_USAGE,
        facts=(Fact("OLLAMA_HOST; a host alone is enough", "ollama 000ce02 envconfig/config.go", "2026-11"),
               Fact("stream_options", "ollama fb30760 openai/openai.go", "2026-08")),
    ),
    "azure": Vendor(
        version="/openai/v1",
        base_variables=("AZURE_OPENAI_ENDPOINT",),
        key_variables=("AZURE_OPENAI_API_KEY",),
        key_header="api-key",
        key_prefix="",
        wishes=_USAGE,
        facts=(
            Fact("AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY", "openai 3.49 lib/azure.py", "2026-11"),
            Fact("/openai/v1 needs no api-version",
                 "learn.microsoft.com/azure/foundry/openai/api-version-lifecycle", "2026-11"),
        ),
    ),
    "vllm": replace(
        _COMPATIBLE, base_url="http://localhost:8000", base_variables=("VLLM_BASE_URL",),
        key_variables=("VLLM_API_KEY",),
        facts=(Fact("port 8000, VLLM_API_KEY",
                    "vllm envs.py; the port not checked", "2026-11"),)),
    "llama.cpp": replace(
        _COMPATIBLE, base_url="http://localhost:8080", base_variables=("LLAMA_BASE_URL",),
        key_variables=("LLAMA_API_KEY",),
        facts=(Fact("port 8080, LLAMA_API_KEY", "llama.cpp tools/server/README.md; the port not checked", "2026-11"),)),
    "json-schema": _COMPATIBLE,  # models without tool calling, on anybody's server
    "dial": Vendor(
        version="/openai/deployments/{model}",
        base_variables=("DIAL_URL", "DIAL_BASE_URL"),
        key_variables=("DIAL_API_KEY",),
        key_header="Api-Key",
        key_prefix="",
        facts=(Fact("/openai/deployments/…; Api-Key",
                    "pypi.org/project/aidial-client; path and header not checked", "2026-11"),),
    ),
    "groq": Vendor(
        base_url="https://api.groq.com/openai", base_variables=("GROQ_BASE_URL",), key_variables=("GROQ_API_KEY",),
        wishes=_USAGE,
        facts=(Fact("GROQ_API_KEY, GROQ_BASE_URL",
                    "common use in public code; stream_options not checked", "2026-11"),)),
    "deepseek": Vendor(
        base_url="https://api.deepseek.com", base_variables=("DEEPSEEK_BASE_URL",), key_variables=("DEEPSEEK_API_KEY",),
        wishes=_USAGE, names=r"deepseek-(chat|reasoner|v\d)",
        facts=(Fact("both with and without /v1; stream_options",
                    "base URL from common use; the rest not checked", "2026-11"),)),
    "moonshot": Vendor(
        base_url="https://api.moonshot.ai", base_variables=("MOONSHOT_BASE_URL",), key_variables=("MOONSHOT_API_KEY",),
        wishes=_USAGE, names=r"(kimi|moonshot)-",
        facts=(Fact("api.moonshot.ai/v1, MOONSHOT_API_KEY", "docs.rs/rig-core/0.43.0 providers/moonshot.rs",
                    "2026-11"),)),
    "qwen": Vendor(
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode", base_variables=("DASHSCOPE_BASE_URL",),
        key_variables=("DASHSCOPE_API_KEY",), wishes=_USAGE,
        names=r"(qwen[\w.]*-(coder-)?(max|plus|turbo|flash)|qwq-plus)",
        facts=(Fact("DASHSCOPE_API_KEY; /compatible-mode/v1; stream_options",
                    "common use in public code; stream_options not checked", "2026-11"),)),
    "openrouter": Vendor(
        base_url="https://openrouter.ai/api", base_variables=("OPENROUTER_BASE_URL",),
        key_variables=("OPENROUTER_API_KEY",), wishes=_USAGE,
        facts=(Fact("openrouter.ai/api/v1, OPENROUTER_API_KEY", "common use in public code", "2026-11"),)),
    "fireworks": Vendor(
        base_url="https://api.fireworks.ai/inference", base_variables=("FIREWORKS_BASE_URL",),
        key_variables=("FIREWORKS_API_KEY",), wishes=_USAGE,
        facts=(Fact("api.fireworks.ai/inference/v1, FIREWORKS_API_KEY",
                    "common use in public code",
                    "2026-11"),)),
}  # fmt: skip

OTHER_NAMES: Mapping[str, str] = {
    "openai": "openai-chat",
    "responses": "openai-responses",
    "claude": "anthropic",
    "google": "gemini",
    "aws": "bedrock",
    "azure-openai": "azure",
    "mistralai": "mistral",
    "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp",
    "kimi": "moonshot",
    "moonshotai": "moonshot",
    "dashscope": "qwen",
    "alibaba": "qwen",
}
"""What people write before the slash in place of a provider's name."""

_WINDOWS: tuple[tuple[str, int], ...] = (
    (r"gpt-4\.1", 1_047_576),  # platform.openai.com/docs/models/gpt-4.1
    (r"(gpt|chatgpt)-4o", 128_000),  # …/gpt-4o
    (r"gpt-4-turbo", 128_000),
    (r"gpt-5(-mini|-nano|-codex)?(-\d{4}|$)", 400_000),  # …/gpt-5
    (r"(o1|o3|o4)(-|$)", 200_000),  # …/o3; o1-mini and o1-preview are gone
    (r"claude-(3|opus-4|sonnet-4|haiku-4)", 200_000),  # docs.claude.com/en/docs/about-claude/models/overview
    (r"gemini-2\.(0|5)-(flash|pro)", 1_048_576),  # ai.google.dev/gemini-api/docs/models
)
"""Windows of long-known models, from the vendors' pages of models as they are generally known; not checked again in
2026-11, so newer models have none here: a wrong number is worse than none."""

_MOST_WRITTEN: tuple[tuple[str, int], ...] = (
    (r"claude-3-(opus|sonnet|haiku)", 4_096),
    (r"claude-3-5", 8_192),
)
"""Older models refuse a larger `max_tokens`. As generally known; not checked again."""

_DOES_NOT_REASON = re.compile(r"(gpt-3|gpt-4|chatgpt-4)")


def vendor_of(provider: str) -> Vendor:
    """The row of a provider; that of any Chat Completions server where there is none."""
    return VENDORS.get(provider, _COMPATIBLE)


def known_by_name(model: str) -> str | None:
    """The provider whose models alone have such names."""
    return next((name for name, row in VENDORS.items() if row.names and re.match(row.names, model)), None)


def window_of(model: str) -> int | None:
    """How many tokens fit the model's window, where its vendor says so."""
    name = model.rpartition("/")[2]
    return next((tokens for pattern, tokens in _WINDOWS if re.match(pattern, name)), None)


def fields_for(vendor: Vendor, model: str) -> dict[str, Any]:
    """The fields that this model wants beside messages and tools."""
    fields = dict(vendor.fields)
    if "max_tokens" in fields:
        fields["max_tokens"] = next(
            (most for pattern, most in _MOST_WRITTEN if re.search(pattern, model)), fields["max_tokens"]
        )
    return fields


def wishes_for(vendor: Vendor, model: str) -> dict[str, Any]:
    """The fields that are good to have for this model.

    Without `store`, reasoning that is to be sent back must come sealed (openai 3.49 response_create_params.py). Models
    that do not reason are said to refuse that (not checked); it is a wish, so a refusal costs one request.
    """
    wishes = dict(vendor.wishes)
    if vendor.wire == "responses" and not _DOES_NOT_REASON.match(model):
        wishes["include"] = ["reasoning.encrypted_content"]
    return wishes
