"""The estimate of tokens is near what tokenizers say, rarely below it, and quick."""

from __future__ import annotations

import json
import random
import time
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_histories import histories
from toolbridge.tokens import (
    CALL_TOKENS,
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    content_tokens,
    estimate,
    message_tokens,
    part_tokens,
)
from toolbridge.types import (
    Audio,
    Foreign,
    Image,
    Message,
    Reasoning,
    Resource,
    ResourceLink,
    Text,
    ToolCall,
    ToolResult,
)

NOISE = random.Random(3)
SAMPLES: dict[str, tuple[str, int]] = {
    "prose": ("The quick brown fox jumps over the lazy dog, and then it goes home to sleep. " * 10, 181),
    "code": ("def add(left: int, right: int) -> int:\n    return left + right\n\n\n" * 10, 190),
    "JSON": (json.dumps([{"id": i, "name": f"user {i}", "active": True} for i in range(50)]), 951),
    "compact JSON": (json.dumps([{"id": i, "name": "user"} for i in range(50)], separators=(",", ":")), 403),
    "Chinese": ("人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。" * 10, 240),
    "Japanese": ("すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。" * 10, 350),
    "Korean": ("모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. " * 10, 232),
    "Russian": ("Все люди рождаются свободными и равными в своем достоинстве и правах. " * 10, 171),
    "German": ("Alle Menschen sind frei und gleich an Würde und Rechten geboren. " * 10, 141),
    "emoji": ("🎉🔥🚀🙈" * 50, 350),
    "digits": ("".join(NOISE.choice("0123456789") for _ in range(900)), 300),
    "spaces": (" " * 1000, 9),
}
"""Texts, and how many tokens o200k_base has for them."""


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_near_what_a_tokenizer_says_and_not_far_below(name: str) -> None:
    text, tokens = SAMPLES[name]
    assert 0.9 * tokens <= estimate(text) <= 2.2 * tokens


def test_what_is_no_language_costs_nearly_as_much_as_it_has_characters() -> None:
    secret = b64encode(NOISE.randbytes(3000)).decode()
    assert 0.6 * len(secret) < estimate(secret) < len(secret)
    assert 0.5 * 6000 < estimate(NOISE.randbytes(3000).hex()) < 6000


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert estimate("") == 0
    assert {estimate(each) for each in ("a", " ", "\n", "-" * 4, "=" * 4, "\u2014")} == {1}


@given(st.text())
def test_a_text_costs_no_more_than_its_bytes_and_a_longer_one_no_less_but_for_a_little(text: str) -> None:
    tokens = estimate(text)
    assert bool(text) <= tokens <= 3 * len(text.encode("utf-8", "surrogatepass")) + 1
    assert estimate(text + text) <= 2 * tokens + 4
    assert estimate(text + " and more") >= tokens - 1


def test_a_megabyte_is_counted_in_a_fraction_of_a_second() -> None:
    for text in ("word " * 200_000, "日本" * 200_000, "\u0e01" * 300_000, '{"key":"value"},' * 60_000):
        begin = time.process_time()
        estimate(text)
        assert time.process_time() - begin < 0.3  # 0.04 where nothing else runs


def test_every_part_of_a_message_counts() -> None:
    call = ToolCall("1", "search", '{"q":"x"}', {"q": "x"})
    result = ToolResult("1", (Text("abc"), Image("aGk=", "image/png")), {"n": 1})
    parts = (Text("ab"), Reasoning("abcd"), Reasoning("", {"a": "x" * 84}), Foreign("search", {"a": 1}), call)
    assert [part_tokens(each, len) for each in parts] == [2, 4, 23, 8, CALL_TOKENS + 6 + 9]
    assert part_tokens(result, len) == CALL_TOKENS + len('abc\n{"n": 1}') + IMAGE_TOKENS
    assert message_tokens(Message("assistant", parts), len) == MESSAGE_TOKENS + 2 + 4 + 23 + 8 + CALL_TOKENS + 15
    assert message_tokens(Message("tool", ())) == MESSAGE_TOKENS


def test_structured_content_counts_once() -> None:
    said = ToolResult("1", (Text('{"n": 1}'),), {"n": 1})
    assert part_tokens(said, len) == CALL_TOKENS + 8
    assert part_tokens(ToolResult("1", (), {"n": 1}), len) == CALL_TOKENS + 8


def test_media_cost_by_their_kind_and_not_by_the_letters_of_their_data() -> None:
    data = b64encode(bytes(100_000)).decode()
    blocks = [
        Image(data, "image/png"),
        Audio(data, "audio/mpeg"),
        Resource("a", "image/png", blob=data),
        Resource("a", "audio/wav", blob=data),
        Resource("a", "application/pdf", blob=data),
    ]
    assert [content_tokens(each) for each in blocks] == [1600, 201, 1600, 201, 5001]
    assert content_tokens(Resource("a", None, text="abc"), len) == len("[resource: a]\nabc")
    assert content_tokens(ResourceLink("a", "b"), len) == len("[link: b, a]")


@given(histories())
def test_any_message_can_be_counted(messages: list[Message]) -> None:
    assert all(message_tokens(each) >= MESSAGE_TOKENS for each in messages)
