"""Replies of constrained models: calls and answers out of text that arrives in any pieces, and out of any text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbridge import Reply, ReplyReader, get_provider
from toolbridge.stream.events import CallDelta, Event, TextDelta
from toolbridge.types import Reasoning, Text, ToolCall
from toolbridge.wire.constrained.form import write_answer, write_call

PROVIDER = get_provider("json-schema")


def chunk(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}]}


def ending(finish: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}


def streamed(pieces: list[str], finish: str = "stop") -> tuple[Reply, list[Event]]:
    reader = ReplyReader(PROVIDER)
    news = [event for piece in pieces for event in reader.feed(chunk(piece))]
    news += reader.feed(ending(finish))
    return reader.reply(), news


def told(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def cuts(text: str) -> Iterator[list[str]]:
    for size in (1, 2, 3, 5, 11):
        yield [text[start : start + size] for start in range(0, len(text), size)]
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


def whole(text: str, finish: str = "stop") -> Reply:
    return PROVIDER.read_reply({"choices": [{"message": {"content": text}, "finish_reason": finish}]})


def call(name: str, text: str, arguments: Any = None, problem: str | None = None) -> ToolCall:
    return ToolCall("call_0", name, text, arguments, problem)


BERN = call("get_weather", '{"city": "Bern"}', {"city": "Bern"})
COMPACT = call("get_weather", '{"city":"Bern"}', {"city": "Bern"})
LOOK = Text("Let me look.")

CASES: dict[str, tuple[str, str, tuple[Any, ...], str]] = {
    "a call": ('{"tool": "get_weather", "arguments": {"city": "Bern"}}', "stop", (BERN,), "calls"),
    "a call with white space": (
        '\n{\n "tool" : "get_weather" ,\n "arguments" : {"city": "Bern"}\n}\n',
        "stop",
        (BERN,),
        "calls",
    ),
    "an answer": ('{"answer": "It \\"rains\\".\\n\\ud83c\\udf27 \\u00fc"}', "stop", (Text('It "rains".\n🌧 ü'),), "stop"),
    "an answer with braces": ('{"answer": "{\\"tool\\": \\"x\\"}"}', "stop", (Text('{"tool": "x"}'),), "stop"),
    "an empty answer": ('{"answer": ""}', "stop", (), "stop"),
    "nothing": ("{}", "stop", (), "stop"),
    "no text": ("", "stop", (), "stop"),
    "an answer that was cut": ('{"answer": "Once upon\\u00', "length", (Text("Once upon"),), "length"),
    "an answer cut in a pair": ('{"answer": "Hi \\ud83c\\u', "length", (Text("Hi "),), "length"),
    "an answer of half a pair": ('{"answer": "a \\ud83c b"}', "stop", (Text("a \\ud83c b"),), "stop"),
    "an answer with an escape that is none": ('{"answer": "C:\\data \\u12"}', "stop", (Text("C:\\data \\u12"),), "stop"),
    "an answer that is no text": ('{"answer": {"a": [1]}}', "stop", (Text('{"a": [1]}'),), "stop"),
    "a call that was cut": (
        '{"tool": "get_weather", "arguments": {"city": "Be',
        "length",
        (call("get_weather", '{"city": "Be', None, 'the arguments end too early, inside of a string, after "{\\"city\\": \\"Be"'),),
        "length",
    ),
    "a call cut before its arguments": (
        '{"tool": "get_weather", "arg',
        "length",
        (call("get_weather", "{", None, 'the arguments end too early, after "{"'),),
        "length",
    ),
    "a call cut in its name": (
        '{"tool": "get_w',
        "length",
        (call("get_w", "{", None, 'the arguments end too early, after "{"'),),
        "length",
    ),
    "a call that ends where it should not": (
        '{"tool": "get_weather"',
        "stop",
        (call("get_weather", "{", None, 'the arguments end too early, after "{"'),),
        "calls",
    ),
    "the beginning alone": ('{"ans', "length", (), "length"),
    "a call without arguments": ('{"tool": "now"}', "stop", (call("now", "{}", {}),), "calls"),
    "keys in another order": (
        '{"arguments": {"city": "Bern"}, "tool": "get_weather"}',
        "stop",
        (COMPACT,),
        "calls",
    ),
    "other keys": ('{"name": "get_weather", "parameters": {"city": "Bern"}}', "stop", (COMPACT,), "calls"),
    "arguments as text": ('{"tool": "get_weather", "arguments": "{\\"city\\":\\"Bern\\"}"}', "stop", (COMPACT,), "calls"),
    "a fence": ('```json\n{"tool": "get_weather", "arguments": {"city": "Bern"}}\n```\n', "stop", (BERN,), "calls"),
    "a fence around an answer": ('```\n{"answer": "Yes."}\n```', "stop", (Text("Yes."),), "stop"),
    "text before a call": (
        'Let me look.\n\n{"tool": "get_weather", "arguments": {"city": "Bern"}}',
        "stop",
        (LOOK, BERN),
        "calls",
    ),
    "text after an answer": ('{"answer": "Yes."}\n\nIt does.', "stop", (Text("Yes.\n\nIt does."),), "stop"),
    "two answers": ('{"answer": "Yes."}\n{"answer": "It does."}', "stop", (Text("Yes.\nIt does."),), "stop"),
    "plain text": ("It **rains**.\n", "stop", (Text("It **rains**.\n"),), "stop"),
    "plain text with braces": (
        'Use {x} or `{}`:\n```js\nf({"a": 1});\n```\n{"tool": "saw", "price": 3}',
        "stop",
        (Text('Use {x} or `{}`:\n```js\nf({"a": 1});\n```\n{"tool": "saw", "price": 3}'),),
        "stop",
    ),
    "an object of something else": ('{"name": "Ada", "age": 36}', "stop", (Text('{"name": "Ada", "age": 36}'),), "stop"),
    "an object that is none": ('{"tool": get}', "stop", (Text('{"tool": get}'),), "stop"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_text_is_read_alike_whole_and_in_any_pieces(name: str) -> None:
    text, finish, parts, ends = CASES[name]
    one = whole(text, finish)
    assert (one.message.parts, one.finish) == (parts, ends)
    for pieces in cuts(text):
        reply, news = streamed(pieces, finish)
        assert (reply.message.parts, reply.finish) == (parts, ends), pieces
        assert told(news) == reply.text, pieces


def test_what_is_behind_a_call_is_not_said_but_noted() -> None:
    text = '{"tool": "now", "arguments": {}}\nResult of now:\nnoon\n{"answer": "It is noon."}'
    for pieces in ([text], list(text)):
        reply, news = streamed(pieces)
        assert (reply.message.parts, told(news)) == ((call("now", "{}", {}),), "")
        assert [(note.code, note.before) for note in reply.notes] == [
            ("text.after_call", 'Result of now:\nnoon\n{"answer": "It is noon."}')
        ]


def test_the_answer_is_told_as_it_grows_and_a_call_is_shown_as_it_arrives() -> None:
    reader = ReplyReader(PROVIDER)
    assert [told(list(reader.feed(chunk(each)))) for each in ('{"answ', 'er": "It', " rai", "ns\\", 'n!"', "}")] == [
        "", "It", " rai", "ns", "\n!", "",
    ]  # fmt: skip
    reader = ReplyReader(PROVIDER)
    assert reader.feed(chunk('{"tool": "get_')) == ()
    assert reader.feed(chunk('weather", "arguments": {"ci')) == (
        CallDelta("constrained", name="get_weather", opens=True),
        CallDelta("constrained", text='{"ci'),
    )
    reader.feed(chunk('ty": "Be'))
    (arriving,) = reader.partial()
    assert (arriving.name, arriving.arguments) == ("get_weather", {"city": "Be"})


def test_a_stream_that_breaks_off_keeps_what_was_said_and_runs_nothing() -> None:
    for text, said, calls in (
        ('{"answer": "Once up', "Once up", 0),
        ('{"tool": "a", "arguments": {"b": ', "", 1),
        ('{"tool": "a"', "", 1),
    ):
        reader = ReplyReader(PROVIDER)
        reader.feed(chunk(text))
        reply = reader.reply(broken_off=True)
        assert (reply.text, len(reply.calls), reply.finish) == (said, calls, "broken_off")
        assert [each.arguments for each in reply.calls] == [None] * calls
        assert reader.reply(broken_off=True) == reply


@pytest.mark.parametrize(
    ("before", "after"),
    [('{"tool": "delete_', 'user", "arguments": {}}'), ('{"tool": "delete", "argu', 'ments": {"id": 1}}'), ('{"tool": "delete", "arguments": {"id": 1', "}}")],
)  # fmt: skip
def test_a_call_of_which_a_piece_is_lost_is_not_run(before: str, after: str) -> None:
    reader = ReplyReader(PROVIDER)
    reader.feed(f"data: {json.dumps(chunk(before))}\n\n")
    reader.feed('data: {"choices": [{"delta": {"con\n\n')
    reader.feed(f"data: {json.dumps(chunk(after))}\n\ndata: {json.dumps(ending('stop'))}\n\ndata: [DONE]\n\n")
    reply = reader.reply()
    assert all(each.arguments is None for each in reply.calls)
    assert reply.calls or reply.text == before + after


def test_what_the_model_thought_and_what_the_server_says_of_itself_stay() -> None:
    reply = PROVIDER.read_reply(
        {
            "id": "r1",
            "model": "tiny",
            "choices": [{"message": {"reasoning_content": "Hm.", "content": '{"answer": "Yes."}'}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }
    )  # fmt: skip
    assert [type(part) for part in reply.message.parts] == [Reasoning, Text]
    assert (reply.text, reply.message.model, reply.message.origin, reply.id) == ("Yes.", "tiny", "json-schema", "r1")
    assert reply.usage is not None
    assert reply.usage.input == 3


def test_a_server_that_says_all_of_it_again_is_heard_once() -> None:
    reader = ReplyReader(PROVIDER)
    reader.feed(chunk('{"answer": "Ye'))
    reader.feed(chunk('s."}'))
    reader.feed({"choices": [{"message": {"content": '{"answer": "Yes."}'}, "finish_reason": "stop"}]})
    assert reader.reply().text == "Yes."


def test_long_replies_cost_no_more_than_their_length() -> None:
    words = "word \\n" * 10_000
    for text in (f'{{"answer": "{words}"}}', f'{{"tool": "a", "arguments": {{"b": "{words}"}}}}', "{ `" * 15_000):
        started = time.process_time()
        streamed([text[start : start + 4] for start in range(0, len(text), 4)])
        whole(text)
        assert time.process_time() - started < 10


def test_white_space_without_end_costs_no_more_than_its_length() -> None:
    space = [" "] * 40_000
    for pieces, said in (
        ([*space, '{"answer": "Yes."}'], "Yes."),
        (['{"answer": "Yes."}', *space, "`"], "Yes." + " " * 40_000 + "`"),
        (["Yes.", *space, "No."], "Yes." + " " * 40_000 + "No."),
        (['{"tool"' + " " * 40_000 + ": 5"], '{"tool"' + " " * 40_000 + ": 5"),
    ):
        started = time.process_time()
        reply, news = streamed(pieces)
        assert time.process_time() - started < 10
        assert (reply.text, told(news)) == (said, said)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
names = st.from_regex(r"[a-zA-Z0-9_-]{1,20}", fullmatch=True)


def pieces_of(text: str, sizes: list[int]) -> list[str]:
    found: list[str] = []
    for size in sizes:
        found.append(text[:size])
        text = text[size:]
    return [*found, text]


sized = st.lists(st.integers(1, 9), max_size=12)


@settings(max_examples=100, deadline=None)
@given(texts.filter(str.strip), st.booleans(), sized)
def test_any_answer_arrives_as_it_was_written(text: str, plain: bool, sizes: list[int]) -> None:
    written = json.dumps({"answer": text}) if plain else write_answer(text)
    reply, news = streamed(pieces_of(written, sizes))
    assert (reply.text, told(news), reply.calls) == (text, text, ())


@settings(max_examples=100, deadline=None)
@given(names, st.dictionaries(texts, values, max_size=3), sized)
def test_any_call_arrives_as_it_was_written(name: str, arguments: dict[str, Any], sizes: list[int]) -> None:
    reply, news = streamed(pieces_of(write_call(name, arguments), sizes))
    assert [(each.name, each.arguments, each.problem) for each in reply.calls] == [(name, arguments, None)]
    assert (reply.text, told(news)) == ("", "")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(['{"tool": "', '{"answer": "', '"', "{", "}", "```json\n", "`", "\\", "\\ud83d", "a", " ", "\n", '", "arguments": {', ":", "[", "é"]), max_size=14))  # fmt: skip
def test_any_text_at_all_is_read_alike_in_any_pieces(fragments: list[str]) -> None:
    one = whole("".join(fragments))
    for pieces in (fragments, list("".join(fragments))):
        reply, news = streamed(pieces)
        assert (reply.message.parts, told(news)) == (one.message.parts, one.text)
