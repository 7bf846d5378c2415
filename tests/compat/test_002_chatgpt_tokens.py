"""Contract: what the ChatGPT provider's design promises of tokens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from toolbridge.compat import chatgpt_tokens
from toolbridge.compat.chatgpt import ChatGPTProvider, GeminiProvider, get_buffer_factor, get_max_context_length
from toolbridge.tokens import estimate

CALL = {"type": "tool_call", "name": "get_weather", "arguments": {"location": "Tokyo"}, "tool_call_id": "c"}


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No tiktoken and no settings, unless the test brings them."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    for name in ("TOKEN_ESTIMATION_BUFFER_FACTOR", "CHATGPT_MODEL", "GEMINI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    chatgpt_tokens._encoding.cache_clear()
    yield
    chatgpt_tokens._encoding.cache_clear()


def test_the_buffer_factor_is_larger_with_tools_and_the_environment_has_the_last_word(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert (get_buffer_factor(), get_buffer_factor(has_tools=False), get_buffer_factor(has_tools=True)) == (
        1.2,
        1.2,
        1.5,
    )
    monkeypatch.setenv("TOKEN_ESTIMATION_BUFFER_FACTOR", "2.5")
    assert (get_buffer_factor(), get_buffer_factor(has_tools=True)) == (2.5, 2.5)
    monkeypatch.setenv("TOKEN_ESTIMATION_BUFFER_FACTOR", "much")
    assert get_buffer_factor(has_tools=True) == 1.5
    assert caplog.messages == ["TOKEN_ESTIMATION_BUFFER_FACTOR is 'much', which is no number; the default counts"]


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("gpt-4o-mini", 128_000),
        ("GPT-4", 8_192),
        ("gpt-3.5-turbo", 16_385),
        ("gpt-5-mini", 400_000),
        ("gpt-5.1", 400_000),
        ("o1", 200_000),
        ("our-gpt-4.1-east", 1_047_576),
        ("anthropic/claude-3-5-haiku-latest", 200_000),
        ("models/gemini-pro-latest", 1_048_576),
        ("somebody's-own", 4_096),
    ],
)
def test_the_context_of_a_model_is_found_by_its_name(name: str, length: int) -> None:
    assert get_max_context_length(name) == length


def test_the_context_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEFAULT_MAX_CONTEXT_LENGTH", "1000")
    monkeypatch.setenv("CHATGPT_MAX_CONTEXT_LENGTH", "2000")
    assert [get_max_context_length(each) for each in ("gpt-4", "gemini-3", "other")] == [2000, 1000, 1000]


def test_without_tiktoken_tokens_are_estimated_and_the_answer_says_so() -> None:
    text = "Explain the weather in Tokyo."
    expected = {"input_tokens": int(estimate(text) * 1.2), "max_tokens": 16_385, "counted_by": "estimate"}
    assert ChatGPTProvider().get_token_info(text) == expected
    assert GeminiProvider().get_token_info(text) == {**expected, "max_tokens": 1_048_576}
    assert ChatGPTProvider().get_token_info(text, has_tools=True)["input_tokens"] == int(estimate(text) * 1.5)
    assert ChatGPTProvider().get_token_info(text, model_name="gpt-4")["max_tokens"] == 8_192


def test_a_history_counts_and_one_with_calls_has_the_factor_of_tools() -> None:
    history: list[dict[str, Any]] = [{"role": "user", "content": "Hello there"}, {"role": "gemini", "content": "Hi"}]
    texts = ("Go on.", "Hello there", "Hi")
    plain = ChatGPTProvider().get_token_info("Go on.", history)["input_tokens"]
    assert plain == int(sum(estimate(each) for each in texts) * 1.2)
    called = GeminiProvider().get_token_info("Go on.", [*history, {"role": "chatgpt", "content": [CALL]}])
    words = '[called get_weather with {"location": "Tokyo"}]'
    assert called["input_tokens"] == int(sum(estimate(each) for each in (*texts, words)) * 1.5)


def test_with_tiktoken_its_own_count_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tiktoken")
    tiktoken = pytest.importorskip("tiktoken")
    letters = tiktoken.Encoding(
        name="letters",
        pat_str=r".",
        mergeable_ranks={bytes([each]): each for each in range(256)},
        special_tokens={"<|endoftext|>": 256},
    )
    monkeypatch.setattr(tiktoken, "encoding_for_model", lambda name: letters)
    found = ChatGPTProvider().get_token_info("four", [{"role": "user", "content": "<|endoftext|>"}])
    assert found == {
        "input_tokens": int((4 + 3 + 13 + 3) * 1.2),
        "max_tokens": 16_385,
        "counted_by": "tiktoken letters",
    }


def test_where_tiktoken_has_no_tables_tokens_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tiktoken")
    tiktoken = pytest.importorskip("tiktoken")
    asked: list[str] = []

    def no_network(name: str) -> Any:
        asked.append(name)
        raise OSError("no network")

    monkeypatch.setattr(tiktoken, "encoding_for_model", no_network)
    for _ in range(2):
        assert ChatGPTProvider(model="gpt-4o").get_token_info("four")["counted_by"] == "estimate"
    assert asked == ["gpt-4o"]
