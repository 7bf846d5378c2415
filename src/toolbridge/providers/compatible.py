"""Vendors that speak Chat Completions, as rows of data. What a row does not say is as OpenAI has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from toolbridge.names import name_rule
from toolbridge.providers.openai_chat import PROVIDER as OPENAI_CHAT
from toolbridge.providers.provider import Fact, Provider
from toolbridge.schema.dialects import FIREWORKS, LLAMA_CPP, MOONSHOT, OPENAI_STRICT, Limits

if TYPE_CHECKING:
    from toolbridge.wire.talk import Talk

_LETTER_FIRST = name_rule("a-zA-Z0-9_-", 64, first="a-zA-Z_")
_AZURE_STRICT = replace(
    OPENAI_STRICT,
    name="azure-strict",
    limits=Limits(levels=5, properties=100, enum_values=500, characters=15_000),
)
_PLAIN = replace(OPENAI_CHAT, strict=None, strict_by_default=False, most_tools=None, facts=())


def _talk(name: str) -> Callable[[], Talk]:
    def talk() -> Talk:
        from toolbridge.wire.chat.vendors import TALKS

        return TALKS[name]

    return talk


PROVIDERS: tuple[Provider, ...] = (
    replace(
        OPENAI_CHAT,
        name="azure",
        title="Azure OpenAI",
        talk=_talk("azure"),
        strict=_AZURE_STRICT,
        strict_by_default=False,
        longest_description=1024,
        facts=(
            Fact("strict: 5 levels, 100 properties, 500 enum values, 15,000 characters", "github.com/tidyverse/ellmer/issues/671", "2026-11"),
            Fact("descriptions: 1,024 characters are safe", "github.com/getsentry/sentry-mcp/issues/106", "2025-04"),
        ),
    ),
    replace(
        OPENAI_CHAT,
        name="vllm",
        title="vLLM",
        talk=_talk("vllm"),
        strict_by_default=False,
        most_tools=None,
        facts=(Fact("a strict tool is enforced by its grammar", "vllm a014e35 docs/features/tool_calling.md", "2026-08"),),
    ),
    replace(
        _PLAIN,
        name="llama.cpp",
        title="llama.cpp server",
        talk=_talk("llama.cpp"),
        dialect=LLAMA_CPP,
        facts=(
            Fact("schemas become one grammar: patterns are anchored and plain, lengths small",
                 "github.com/containers/kubernetes-mcp-server/issues/758", "2026-11"),
        ),
    ),
    replace(
        _PLAIN,
        name="dial",
        title="DIAL",
        talk=_talk("dial"),
        facts=(Fact("strict is a boolean or absent, never null", "aidial-sdk 0.46", "2026-11"),),
    ),
    replace(
        _PLAIN,
        name="groq",
        title="Groq",
        talk=_talk("groq"),
        most_tools=128,
        facts=(Fact("arguments are checked by the server", "pydantic-ai 4fda389 test_groq cassettes", "2026-08"),),
    ),
    replace(
        _PLAIN,
        name="deepseek",
        title="DeepSeek",
        talk=_talk("deepseek"),
        most_tools=128,
        facts=(Fact("names of up to 64", "github.com/mrexodia/ida-pro-mcp/issues/129", "2026-11"),),
    ),
    replace(
        _PLAIN,
        name="moonshot",
        title="Moonshot (Kimi)",
        talk=_talk("moonshot"),
        dialect=MOONSHOT,
        names=_LETTER_FIRST,
        facts=(
            Fact("no $ref, no type beside anyOf", "github.com/MoonshotAI/kimi-cli/issues/1595", "2026-11"),
            Fact("names do not start with a digit", "github.com/MoonshotAI/kimi-cli/issues/2531", "2026-11"),
        ),
    ),
    replace(_PLAIN, name="qwen", title="Qwen (DashScope)", talk=_talk("qwen"),
            facts=(Fact("names of up to 64", "github.com/QwenLM/Qwen3-VL/issues/2069", "2026-11"),)),
    replace(_PLAIN, name="openrouter", title="OpenRouter", talk=_talk("openrouter"), names=_LETTER_FIRST, most_tools=128,
            facts=(Fact("hands on to many vendors: the narrowest of the rules in this table", "derived", "2026-11"),)),
    replace(_PLAIN, name="fireworks", title="Fireworks AI", talk=_talk("fireworks"), dialect=FIREWORKS,
            facts=(Fact("every property needs a type", "github.com/docker/mcp-gateway/issues/234", "2026-11"),)),
)  # fmt: skip
