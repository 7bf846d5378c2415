"""Calls that a model wrote into its text: found, taken out, and nothing else taken for one."""

from __future__ import annotations

import json
import string
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbridge.notes import Note
from toolbridge.stream.text_calls import TextCalls, opening, read_text_calls
from toolbridge.stream.text_calls.formats import FORMATS, MARKERS, WRAPPERS
from toolbridge.types import ToolCall

NAMES = ("weather", "time", "write")
ANT = "antml:"
DSML = "｜DSML｜"


def calls_of(*asked: tuple[str, dict[str, Any] | str]) -> tuple[ToolCall, ...]:
    """Calls with these names and arguments; a string is the argument text as it came."""
    calls: list[ToolCall] = []
    for i, (name, given_) in enumerate(asked):
        text = given_ if isinstance(given_, str) else json.dumps(given_, ensure_ascii=False, separators=(",", ":"))
        calls.append(ToolCall(f"call_text_{i}", name, text, json.loads(text) if text else {}))
    return tuple(calls)


def read(text: str, names: Iterable[str] = NAMES) -> TextCalls:
    """What is read, with what always holds: notes say what stood where, and what is left is the rest of the text."""
    found = read_text_calls(text, tuple(names))
    end, left, taken = 0, "", ""
    for note in found.notes:
        start = int(note.path)
        assert text.startswith(note.before, start)
        assert start >= end or note.code == "call.unreadable"
        if note.code == "call.in_text":
            assert note.effect == "changed"
            left += "" if taken and text[end:start].isspace() else text[end:start]
            taken += note.before
            end = start + len(note.before)
        else:
            assert (note.code, note.effect) == ("call.unreadable", "narrowed")
    left += text[end:]
    assert found.text == ("" if found.calls and left.isspace() else left)
    assert bool(found.calls) == bool(taken)
    assert [call.id for call in found.calls] == [f"call_text_{i}" for i in range(len(found.calls))]
    assert all((call.arguments is None) == (call.problem is not None) for call in found.calls)
    return found


def in_text(offset: int, before: str) -> Note:
    return Note("call.in_text", "changed", str(offset), before)


def unreadable(offset: int, before: str) -> Note:
    return Note("call.unreadable", "narrowed", str(offset), before)


PARIS = {"city": "Paris"}
ARGUMENTS = '{"city": "Paris"}'
ENVELOPE = '{"name": "weather", "arguments": {"city": "Paris"}}'
QWEN_XML = "<function=weather>\n<parameter=city>\nParis\n</parameter>\n</function>"
INVOKE = '<invoke name="weather"><parameter name="city">Paris</parameter></invoke>'

ONE_CALL: dict[str, str] = {
    "hermes": f"<tool_call>\n{ENVELOPE}\n</tool_call>",
    "hermes on one line": f"<tool_call>{ENVELOPE}</tool_call>",
    "hermes with a fence inside": f"<tool_call>\n```json\n{ENVELOPE}\n```\n</tool_call>",
    "hermes with a list": f"<tool_call>[{ENVELOPE}]</tool_call>",
    "hermes with argument text": '<tool_call>{"name": "weather", "arguments": "{\\"city\\":\\"Paris\\"}"}</tool_call>',
    "chat completions' own object": (
        '<tool_call>{"id": "1", "type": "function", "function": {"name": "weather", "arguments": {"city": "Paris"}}}'
        "</tool_call>"
    ),
    "parameters": '<tool_call>{"name": "weather", "parameters": {"city": "Paris"}}</tool_call>',
    "args": '<tool_call>{"name": "weather", "args": {"city": "Paris"}}</tool_call>',
    "input": '<tool_call>{"input": {"city": "Paris"}, "name": "weather"}</tool_call>',
    "a namespace": '<tool_call>{"name": "functions.weather", "arguments": {"city": "Paris"}}</tool_call>',
    "function_call": f"<function_call>{ENVELOPE}</function_call>",
    "tool_calls": f"<tool_calls>\n[{ENVELOPE}]\n</tool_calls>",
    "qwen xml": f"<tool_call>\n{QWEN_XML}\n</tool_call>",
    "seed": "<seed:tool_call>\n<function=weather>\n<parameter=city>Paris</parameter>\n</function>\n</seed:tool_call>",
    "qwen xml without its opener": f"{QWEN_XML}\n</tool_call>",
    "bare function with tags": QWEN_XML,
    "python_tag": '<|python_tag|>{"name": "weather", "parameters": {"city": "Paris"}}<|eom_id|>',
    "python_tag with a type": '<|python_tag|>{"type": "function", "name": "weather", "parameters": {"city": "Paris"}}',
    "mistral list": f"[TOOL_CALLS] [{ENVELOPE}]",
    "mistral list with an id": '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Paris"}, "id": "VvvODy9mT"}]',
    "glm 4.5": "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>",
    "glm 4.7": "<tool_call>weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>",
    "invoke": INVOKE,
    "invoke, single quotes": "<invoke name='weather'><parameter name='city'>Paris</parameter></invoke>",
    "invoke in function_calls": f"<function_calls>\n{INVOKE}\n</function_calls>",
    "invoke in a namespace": (
        f'<{ANT}function_calls>\n<{ANT}invoke name="weather">\n<{ANT}parameter name="city">Paris</{ANT}parameter>\n'
        f"</{ANT}invoke>\n</{ANT}function_calls>"
    ),
    "minimax": f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>",
    "invoke in tool_call": f"<tool_call>{INVOKE}</tool_call>",
    "deepseek 3.2": (
        f'<{DSML}function_calls>\n<{DSML}invoke name="weather">\n'
        f'<{DSML}parameter name="city" string="true">Paris</{DSML}parameter>\n</{DSML}invoke>\n</{DSML}function_calls>'
    ),
    "deepseek 4": (
        f'<{DSML}tool_calls>\n<{DSML}invoke name="weather">\n'
        f'<{DSML}parameter name="city" string="false">"Paris"</{DSML}parameter>\n</{DSML}invoke>\n</{DSML}tool_calls>'
    ),
    "granite": f"<|tool_call|>[{ENVELOPE}]",
    "phi": f"<|tool_call|>[{ENVELOPE}]<|/tool_call|>",
    "json fence": f"```json\n{ENVELOPE}\n```",
    "tool_call fence": f"```tool_call\n{ENVELOPE}\n```",
    "tool_code fence": f"```tool_code\n{ENVELOPE}\n```",
    "fence in capitals": f"```JSON {ENVELOPE}\n  ```",
    "long fence": f"````json\n{ENVELOPE}\n````",
}  # fmt: skip
"""One call in each format that has an object or tags: its argument text is ours."""

ONE_CALL_WITH_TEXT: dict[str, str] = {
    "bare function": f"<function=weather>{ARGUMENTS}</function>",
    "mistral": f"[TOOL_CALLS]weather[ARGS]{ARGUMENTS}",
    "mistral with an id": f"[TOOL_CALLS]weather[CALL_ID]VvvODy9mT[ARGS]{ARGUMENTS}",
    "mistral without ARGS": f"[TOOL_CALLS]weather{ARGUMENTS}",
    "deepseek v3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n"
        f"```json\n{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek v3.1": (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "deepseek without a section": f"<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>",
    "kimi": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>"
        f"{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>"
    ),
    "kimi in lines": (
        "<|tool_calls_section_begin|>\n<|tool_call_begin|>functions.weather:12\n<|tool_call_argument_begin|>"
        f"{ARGUMENTS}<|tool_call_end|>\n<|tool_calls_section_end|>"
    ),
    "harmony": f"<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{ARGUMENTS}<|call|>",
    "harmony from the start": (
        f"<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{ARGUMENTS}<|call|>"
    ),
    "harmony with the recipient in the role": (
        f"<|start|>assistant to=functions.weather<|channel|>commentary json<|message|>{ARGUMENTS}<|call|>"
    ),
    "harmony in the analysis": f"<|channel|>analysis to=functions.weather<|message|>{ARGUMENTS}<|call|>",
    "harmony, a tool without its namespace": f"<|channel|>commentary to=weather json<|message|>{ARGUMENTS}<|call|>",
}
"""One call in each format that has argument text: it stays as it came."""

EVERY_FORMAT = [*ONE_CALL.items(), *ONE_CALL_WITH_TEXT.items()]


@pytest.mark.parametrize("text", ONE_CALL.values(), ids=ONE_CALL)
def test_a_call_is_read_in_every_format(text: str) -> None:
    assert read(text) == TextCalls("", calls_of(("weather", PARIS)), (in_text(0, text),))


@pytest.mark.parametrize("text", ONE_CALL_WITH_TEXT.values(), ids=ONE_CALL_WITH_TEXT)
def test_argument_text_stays_as_it_came(text: str) -> None:
    assert read(text) == TextCalls("", calls_of(("weather", ARGUMENTS)), (in_text(0, text),))


@pytest.mark.parametrize(("format", "text"), EVERY_FORMAT, ids=[name for name, _ in EVERY_FORMAT])
def test_the_text_around_a_call_is_kept(format: str, text: str) -> None:
    found = read(f"Let me see.\n\n{text}\nDone; bye.")
    assert found.text == "Let me see.\n\n\nDone; bye."
    assert [(call.name, call.arguments) for call in found.calls] == [("weather", PARIS)]
    assert found.notes == (in_text(13, text),)


@pytest.mark.parametrize(("format", "text"), EVERY_FORMAT, ids=[name for name, _ in EVERY_FORMAT])
def test_calls_in_a_row_are_calls_in_their_order(format: str, text: str) -> None:
    found = read(f"{text}\n{text.replace('Paris', 'Rome')}")
    assert found.text == ""
    assert [call.arguments for call in found.calls] == [PARIS, {"city": "Rome"}]
    assert [call.id for call in found.calls] == ["call_text_0", "call_text_1"]


UNMARKED = ("fence", "bare function", "qwen xml without", "harmony, a tool")
MARKED_FORMATS = [(name, text) for name, text in EVERY_FORMAT if not any(word in name for word in UNMARKED)]


@pytest.mark.parametrize(("format", "text"), MARKED_FORMATS, ids=[name for name, _ in MARKED_FORMATS])
def test_a_marked_call_is_one_whatever_its_name_is(format: str, text: str) -> None:
    found = read(text, names=())
    assert [(call.name, call.arguments) for call in found.calls] == [("weather", PARIS)]


UNMARKED_FORMATS = [
    *((name, text) for name, text in EVERY_FORMAT if any(word in name for word in UNMARKED) and "inside" not in name),
    ("bare", ENVELOPE),
    ("bare list", f"[{ENVELOPE}]"),
]


@pytest.mark.parametrize(("format", "text"), UNMARKED_FORMATS, ids=[name for name, _ in UNMARKED_FORMATS])
def test_what_nothing_marks_is_a_call_only_where_the_tool_was_offered(format: str, text: str) -> None:
    assert [call.name for call in read(text).calls] == ["weather"]
    assert read(text, names=("time",)) == TextCalls(text)


# ── several calls ────────────────────────────────────────────────────────────────────────────────────────────────────

TIME = '{"name": "time", "arguments": {}}'
BOTH = calls_of(("weather", PARIS), ("time", {}))


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{ENVELOPE}{TIME}</tool_call>",
        f"<tool_call>{ENVELOPE}\n{TIME}</tool_call>",
        f"<tool_call>[{ENVELOPE}, {TIME}]</tool_call>",
        f"<tool_call>{ENVELOPE}<tool_call>{TIME}</tool_call>",
        f"<tool_calls>\n{ENVELOPE}\n{TIME}\n</tool_calls>",
        f"<function_call> {ENVELOPE} <function_call> {TIME}",
        f"<tool_call>{QWEN_XML}\n<function=time>\n</function></tool_call>",
        f"<tool_call>{QWEN_XML}</tool_call>\n<tool_call>{TIME}</tool_call>",
        f"<|python_tag|>{ENVELOPE}; {TIME}",
        f"{ENVELOPE}; {TIME}",
        f"\n{ENVELOPE}\n{TIME}\n",
        f"[{ENVELOPE},{TIME}]",
        f"functools[{ENVELOPE}, {TIME}]",
        f"```json\n[{ENVELOPE}, {TIME}]\n```",
        f"```json\n{ENVELOPE}\n{TIME}\n```",
        f"[TOOL_CALLS][{ENVELOPE}, {TIME}]",
        f"<|tool_call|>[{ENVELOPE}, {TIME}]",
        f'<function_calls>{INVOKE}\n<invoke name="time"></invoke></function_calls>',
        f"<tool_call>{ENVELOPE}</tool_call><tool_call>time</tool_call>",
    ],
)
def test_several_calls_are_several_calls(text: str) -> None:
    found = read(text)
    assert (found.text, found.calls) == ("", BOTH)


def test_a_section_of_calls_goes_with_them() -> None:
    text = (
        "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{}\n```<｜tool▁call▁end｜>\n"
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>time\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )
    found = read(text)
    assert (found.text, found.calls) == ("Hm.", calls_of(("weather", "{}"), ("time", "{}")))


def test_what_stands_between_two_calls_is_kept_unless_it_is_blank() -> None:
    call = f"<tool_call>{TIME}</tool_call>"
    assert read(f"a {call} \n {call} b {call} c").text == "a  b  c"


# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_values_in_tags_are_strings_whatever_they_look_like() -> None:
    expected = {"n": "5", "o": '{"a": [1]}', "l": "[1, 2]", "b": "true", "e": "", "t": ' <b>"x"</b> & \n'}
    tags = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in expected.items())
    assert read(f'<invoke name="write">\n{tags}</invoke>').calls == calls_of(("write", expected))
    tags = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in expected.items())
    assert read(f"<tool_call>\n<function=write>\n{tags}</function>\n</tool_call>").calls == calls_of(
        ("write", expected)
    )
    tags = "".join(f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in expected.items())
    assert read(f"<tool_call>write\n{tags}</tool_call>").calls == calls_of(("write", expected))


def test_deepseek_says_by_itself_which_values_are_json() -> None:
    tags = "".join(
        f'<{DSML}parameter name="{key}" string="{string}">{value}</{DSML}parameter>'
        for key, string, value in (("a", "true", "5"), ("b", "false", "5"), ("c", "false", '{"d": [null]}'))
    )
    found = read(f'<{DSML}invoke name="write">{tags}</{DSML}invoke>')
    assert found.calls == calls_of(("write", {"a": "5", "b": 5, "c": {"d": [None]}}))


def test_a_value_may_have_tags_in_it() -> None:
    value = "a</parameter>b <parameters/> </function >"
    found = read(f"<tool_call><function=write><parameter=text>{value}</parameter></function></tool_call>")
    assert found.calls == calls_of(("write", {"text": value}))


def test_an_argument_may_have_markers_in_it() -> None:
    envelope = {"name": "write", "arguments": {"text": "</tool_call> <tool_call> ```\n```json\n [TOOL_CALLS] `"}}
    for text in (
        f"<tool_call>{json.dumps(envelope)}</tool_call>",
        json.dumps(envelope),
        f"```json\n{json.dumps(envelope)}\n```",
    ):
        assert read(text).calls == calls_of(("write", envelope["arguments"])), text  # pyright: ignore[reportArgumentType]


def test_non_ascii_stays_as_it_is() -> None:
    assert read('<tool_call>{"name": "write", "arguments": {"text": "漢\\u00e9🙂"}}</tool_call>').calls == calls_of(
        ("write", '{"text":"漢é🙂"}')
    )


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "time"}</tool_call>',
        '<tool_call>{"name": "time", "arguments": null}</tool_call>',
        '<tool_call>{"name": "time", "arguments": ""}</tool_call>',
        "<|channel|>commentary to=functions.time<|message|><|call|>",
        "<｜tool▁call▁begin｜>time<｜tool▁sep｜><｜tool▁call▁end｜>",
        "<|tool_call_begin|>functions.time:0<|tool_call_argument_begin|> <|tool_call_end|>",
    ],
)
def test_a_marked_call_needs_no_arguments(text: str) -> None:
    assert read(text) == TextCalls("", calls_of(("time", "")), (in_text(0, text),))


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call><function=time></function></tool_call>",
        "<function=time>\n</function>",
        '<invoke name="time"></invoke>',
        '<invoke name="time">\n</invoke>',
        "<tool_call>time</tool_call>",
        "<tool_call>\ntime\n</tool_call>",
    ],
)
def test_markup_without_arguments_is_an_empty_object(text: str) -> None:
    assert read(text) == TextCalls("", calls_of(("time", {})), (in_text(0, text),))


def test_a_tool_may_be_called_function() -> None:
    text = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
    assert read(text).calls == calls_of(("function", "{}"))


def test_a_name_that_was_offered_keeps_its_namespace() -> None:
    text = '<tool_call>{"name": "functions.time"}</tool_call>'
    assert [call.name for call in read(text, names=("functions.time",)).calls] == ["functions.time"]
    assert [call.name for call in read(text).calls] == ["time"]


@pytest.mark.parametrize(
    "marker", ["<tool_call>", "<|tool_call|>", "<|python_tag|>", "<function_call>", "[TOOL_CALLS]"]
)
def test_the_end_of_the_text_closes_a_call(marker: str) -> None:
    assert read(f"{marker}{ENVELOPE}\n").calls == calls_of(("weather", PARIS))


# ── what is no call ──────────────────────────────────────────────────────────────────────────────────────────────────

DEFINITION = '{"name": "weather", "description": "The weather.", "parameters": {"type": "object", "properties": {}}}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Hello.",
        "a < b and [TOOL] and `code` {}",
        "Models write <tool_call> before a call, or <function_call>; and </tool> after it.",
        f"Use `<tool_call>{ENVELOPE}</tool_call>` for that.",
        "Use `<tool_call><function=time></function></tool_call>` for that.",
        f"For example:\n```\n<tool_call>{ENVELOPE}</tool_call>\n```\n",
        f"For example:\n```xml\n<tool_call>\n{ENVELOPE}\n</tool_call>\n```\nSo.",
        f"  ```xml\n  <tool_call>{ENVELOPE}</tool_call>\n  ```",
        f"````md\n```json\n{ENVELOPE}\n```\n````",
        f"````md\n```\n<tool_call>{ENVELOPE}</tool_call>\n````",
        f"```md\n```x\n<tool_call>{ENVELOPE}</tool_call>\n```",
        f"For example ```<tool_call>{ENVELOPE}</tool_call>``` or so.",
        f"```python\n[TOOL_CALLS][{ENVELOPE}]",
        f"```json\n<tool_call>{ENVELOPE}</tool_call>\n```",
        f"```json\n{ENVELOPE}",
        f"```json\n{ENVELOPE}\nand more\n```",
        f"```python\n{ENVELOPE}\n```",
        f"```\n{ENVELOPE}\n```",
        '```json\n{"name": "weather"}\n```',
        '```json\n{"name": "weather", "arguments": null}\n```',
        '```json\n{"name": "weather", "arguments": "Paris"}\n```',
        '```json\n{"name": "weather", "arguments": ""}\n```',
        '```json\n{"name": "weather", "arguments": [1]}\n```',
        '```json\n{"name": "weather", "arguments": {}, "args": {}}\n```',
        '```json\n{"name": "weather", "arguments": {"a": 1,}}\n```',
        f'```json\n[{ENVELOPE}, {{"name": "other", "arguments": {{}}}}]\n```',
        f"```json\n[{ENVELOPE}, 5]\n```",
        f"```json\n{DEFINITION}\n```",
        DEFINITION,
        '{"name": "weather", "parameters": {"type": "object", "properties": {}}}',
        '{"type": "function", "function": ' + DEFINITION + "}",
        '{"type": "function", "strict": true, "function": {"name": "weather", "arguments": {}}}',
        f"Well: {ENVELOPE}",
        f"{ENVELOPE} is it.",
        f"{ENVELOPE} {{}}",
        '{"name": "weather"}',
        '{"name": "Anna", "arguments": {}}',
        '{"name": "weather", "arguments": {"city": "Par',
        "[]",
        "{}",
        "null",
        "functools[1]",
        "functools",
        f"As the docs say, write ```json {ENVELOPE}``` to call.",
        f"```json {ENVELOPE}```",
        f"```json {ENVELOPE}``` is how it is done.",
        f"Like this: ```json\n{ENVELOPE}\n```",
        f"```json\n{ENVELOPE}```",
        f"```json\n{ENVELOPE} ```\n",
        f"1. ```json\n   {ENVELOPE}\n   ```",
        "<function=other><parameter=a>b</parameter></function>",
        "<function=weather> is how it begins",
        "<function=weather>{city} is how it begins",
        '<function=weather>{"a": 1} is how it begins',
        '<invoke name="weather"> is how it begins',
        "<invoke name=weather></invoke>",
        '<invoke name=""></invoke>',
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
        "<|channel|>commentary to=assistant<|message|>{}<|call|>",
        "<|channel|>commentary to=browser.search <|constrain|>json<|message|>{}<|call|>",
        "<tool_calls></tool_call><function_calls></invoke>",
        "[TOOL_CALLS]",
        "<|tool_call|> ",
    ],
)
def test_nothing_is_guessed_into_a_call(text: str) -> None:
    assert read(text) == TextCalls(text)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("a <tool_call>none of it</tool_call> b", "<tool_call>none of it</tool_call>"),
        ("a <tool_call>other</tool_call> b", "<tool_call>other</tool_call>"),
        ('a <tool_call>{"a": 1}</tool_call> b', '<tool_call>{"a": 1}</tool_call>'),
        ('a <tool_call>{"name": ""}</tool_call> b', '<tool_call>{"name": ""}</tool_call>'),
        ('a <tool_call>{"name": 5}</tool_call> b', '<tool_call>{"name": 5}</tool_call>'),
        ('a <tool_call>{"name": "\\ud800"}</tool_call> b', '<tool_call>{"name": "\\ud800"}</tool_call>'),
        ("a <tool_call>[]</tool_call> b", "<tool_call>[]</tool_call>"),
        (f"a <tool_call>[]{TIME}</tool_call> b", f"<tool_call>[]{TIME}</tool_call>"),
        (f"a <tool_call>[{ENVELOPE}, 5]</tool_call> b", f"<tool_call>[{ENVELOPE}, 5]</tool_call>"),
        ("a <tool_call>{'a': 1}</tool_call> b", "<tool_call>{'a': 1}</tool_call>"),
        ("a <|tool_call|>[{'a': 1}]", "<|tool_call|>[{'a': 1}]"),
        (f"a <tool_call>{TIME} b", f"<tool_call>{TIME}"),
        ("a <tool_call><function=></function></tool_call> b", "<tool_call><function=></function></tool_call>"),
        ("a <|python_tag|>print(1)", "<|python_tag|>print(1)"),
        ("a <|tool_call|>none<|/tool_call|> b", "<|tool_call|>none<|/tool_call|>"),
        ("a [TOOL_CALLS] not json at all", "[TOOL_CALLS] not json at all"),
        ("a <|tool_call_begin|>hm<|tool_call_end|> b", "<|tool_call_begin|>hm<|tool_call_end|>"),
        ("a <｜tool▁call▁begin｜>hm<｜tool▁call▁end｜> b", "<｜tool▁call▁begin｜>hm<｜tool▁call▁end｜>"),
    ],
)
def test_what_is_marked_and_cannot_be_read_stays_and_is_noted(text: str, before: str) -> None:
    assert read(text) == TextCalls(text, (), (unreadable(2, before),))


def test_a_good_call_beside_an_unreadable_one_is_still_a_call() -> None:
    text = f"<tool_call>{TIME}{{'name'}}</tool_call>"
    assert read(text) == TextCalls(
        "{'name'}</tool_call>",
        calls_of(("time", {})),
        (in_text(0, f"<tool_call>{TIME}"), unreadable(len(f"<tool_call>{TIME}"), "{'name'}</tool_call>")),
    )


def test_something_unreadable_does_not_hide_a_call() -> None:
    code, call = "<|python_tag|>print(1)", f"<tool_call>{TIME}</tool_call>"
    assert read(code + call) == TextCalls(code, calls_of(("time", {})), (unreadable(0, code), in_text(len(code), call)))


def test_a_marker_that_is_only_mentioned_does_not_hide_a_call() -> None:
    call = f"<tool_call>{TIME}</tool_call>"
    text = f"I write <tool_call> and {{ now: <tool_call>{{ {call}"
    assert read(text) == TextCalls(
        text.removesuffix(call), calls_of(("time", {})), (in_text(len(text) - len(call), call),)
    )


def test_a_call_after_code_is_a_call() -> None:
    call = f"<tool_call>{TIME}</tool_call>"
    for code in (
        "```py\nx = 1\n```\n",
        "```x```\n",
        "```json {} ``` is an object.\n",
        "`<think>` opens it: ",
        "Use `x`",
        "Use `x` ",
        "```\n<tool_call>\n``` \n",
        "a ```b``` c",
        "~ `` ~\n",
    ):
        assert read(code + call) == TextCalls(code, calls_of(("time", {})), (in_text(len(code), call),))


@pytest.mark.parametrize(("format", "text"), EVERY_FORMAT, ids=[name for name, _ in EVERY_FORMAT])
@pytest.mark.parametrize("tag", ["think", "thinking"])
def test_a_call_that_is_only_thought_about_is_none(format: str, text: str, tag: str) -> None:
    call = f"<tool_call>{TIME}</tool_call>"
    for thought in (f"<{tag}>I could\n{text}\nHm.</{tag}>", f"<{tag}>\n{text}\n{text}\n</{tag}> <{tag}></{tag}>\n"):
        assert read(thought) == TextCalls(thought)
        assert read(f"a {thought}{call} b") == TextCalls(
            f"a {thought} b", calls_of(("time", {})), (in_text(len(thought) + 2, call),)
        )
    unclosed = f"{call}<{tag}>I could\n{text}\n"
    assert read(unclosed) == TextCalls(unclosed.removeprefix(call), calls_of(("time", {})), (in_text(0, call),))


def test_a_thought_inside_of_a_call_is_an_argument() -> None:
    arguments = {"text": "<think>Hm.</think> <thinking>"}
    text = f"<tool_call>{json.dumps({'name': 'write', 'arguments': arguments})}</tool_call>"
    assert read(f"{text}\n{text}").calls == calls_of(("write", arguments), ("write", arguments))


# ── broken calls ─────────────────────────────────────────────────────────────────────────────────────────────────────

EARLY = "the arguments end too early"
CUT = "the call ends before its arguments do"
NOT_JSON = "the call around the arguments is not valid JSON"


@pytest.mark.parametrize(
    ("text", "given_", "problem"),
    [
        ('<tool_call>{"name": "time", "arguments": {"a": 1,}}</tool_call>', '{"a": 1,}}', "the arguments are not valid JSON"),
        ('<tool_call>{"name": "time", "arguments": {"a": "x\ny"}}</tool_call>', '{"a": "x\ny"}}', "the arguments are not valid JSON"),
        ('<tool_call>{"name": "time", "arguments": {"a": NaN}}</tool_call>', '{"a": NaN}}', "the arguments are not JSON: NaN"),
        ('<tool_call>{"name": "time", "arguments": {"a": [1', '{"a": [1', EARLY),
        ('<tool_call>{"name": "time", "arguments": {"a": "</tool_call>', '{"a": "', EARLY),
        ('<tool_call>[{"name": "time", "arguments": {"a": </tool_call>', '{"a":', EARLY),
        ('<tool_call>{"name": "time", "arguments": ', "", CUT),
        ('<tool_call>{"name": "time"</tool_call>', "", CUT),
        ('<tool_call>{"name": "time", "argum</tool_call>', ', "argum', NOT_JSON),
        ('<tool_call>{"name": "time", "arguments": {"a": 1}</tool_call>', '{"a": 1}', NOT_JSON),
        ("<tool_call>{'name': 'time', 'arguments': {}}</tool_call>", "{}", NOT_JSON),
        ("<tool_call>{'name': 'time', 'arguments': {'a': 1}}</tool_call>", "{'a': 1}}", "the arguments are not valid JSON"),
        ("<tool_call>{'name': 'time'}</tool_call>", "}", NOT_JSON),
        ('<tool_call>{"type": "function", "function": {"name": "time", "arguments": {1}}}</tool_call>', "{1}}}", "the arguments are not valid JSON"),
        (f"<tool_call>{TIME}}}</tool_call>", TIME + "}", "there is more text after the call"),
        (f"<tool_call>{TIME} and so on</tool_call>", TIME + " and so on", "there is more text after the call"),
        ('<tool_call>{"name": "time", "arguments": 5}</tool_call>', "5", "the arguments are a number, not a JSON object"),
        ('<tool_call>{"name": "time", "arguments": "five"}</tool_call>', "five", "the arguments are not valid JSON"),
        ('<tool_call>{"name": "time", "arguments": {"a": "\\ud800"}}</tool_call>', '{"a":"\ud800"}', "the arguments hold half of a surrogate pair"),
        ('<tool_call>{"name": "time", "arguments": {}, "input": {}}</tool_call>', "", "the call has its arguments twice, as 'arguments' and as 'input'"),
        ("<tool_call><function=time>{1}</function></tool_call>", "{1}", "the arguments are not valid JSON"),
        ("<function=time>{1}</function>", "{1}", "the arguments are not valid JSON"),
        ('<tool_call><function=time>{"a": 1', '{"a": 1', EARLY),
        ('<function=time>{"a": 1}}</function>', '{"a": 1}}', "the arguments are not valid JSON"),
        ("<tool_call><function=time><parameter=a>b</parameter></tool_call>", "<parameter=a>b</parameter></tool_call>", "the arguments cannot be read: the value of 'a' has no clear end"),
        ("<tool_call><function=time><parameter=a>b</parameter>", "<parameter=a>b</parameter>", f"the arguments cannot be read: {CUT}"),
        ("<tool_call><function=time><parameter=a>b", "<parameter=a>b", "the arguments cannot be read: the value of 'a' has no clear end"),
        ("<function=time><parameter=a>1<parameter=b>2</parameter></function>", "<parameter=a>1<parameter=b>2</parameter>", "the arguments cannot be read: the value of 'a' has no clear end"),
        ("<function=time><parameter=a>1</parameter><parameter=a>2</parameter></function>", "<parameter=a>1</parameter><parameter=a>2</parameter>", "the arguments cannot be read: the argument 'a' is given twice"),
        ("<function=time><parameter=a>1</parameter><parameter=></function>", "<parameter=a>1</parameter><parameter=>", "the arguments cannot be read: something else stands after the argument 'a'"),
        ("<function=time><parameter=></function>", "<parameter=>", "the arguments cannot be read: something else stands after the name"),
        ('<invoke name="time">', "", f"the arguments cannot be read: {CUT}"),
        (f'<{DSML}invoke name="time"><{DSML}parameter name="a" string="false">{{</{DSML}parameter></{DSML}invoke>', f'<{DSML}parameter name="a" string="false">{{</{DSML}parameter>', "the arguments cannot be read: the value of 'a' is not valid JSON"),
        ("<tool_call>time<arg_key>a</arg_key><arg_value>b</tool_call>", "<arg_key>a</arg_key><arg_value>b", "the arguments cannot be read: the value of 'a' has no clear end"),
        ("[TOOL_CALLS]time[ARGS]", "", CUT),
        ('[TOOL_CALLS]time[ARGS]{"a": ', '{"a":', EARLY),
        ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>time\n```json\n{1}\n```<｜tool▁call▁end｜>", "{1}", "the arguments are not valid JSON"),
        ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>time\n```json\n{}}\n```<｜tool▁call▁end｜>", "{}}", "the arguments are not valid JSON"),
        ("<｜tool▁call▁begin｜>time<｜tool▁sep｜>", "", CUT),
        ("<|tool_call_begin|>functions.time:0<|tool_call_argument_begin|>{'a'}<|tool_call_end|>", "{'a'}", "the arguments are not valid JSON"),
        ("<|channel|>commentary to=functions.time<|message|>now<|call|>", "now", "the arguments are not valid JSON"),
        ('<|channel|>commentary to=functions.time<|message|>{"a": ', '{"a":', EARLY),
    ],
)  # fmt: skip
def test_a_broken_call_is_told_and_never_mended(text: str, given_: str, problem: str) -> None:
    found = read(text)
    assert (found.text, found.notes) == ("", (in_text(0, text),))
    [call] = found.calls
    assert call == ToolCall("call_text_0", "time", given_, None, call.problem)
    assert call.problem is not None
    assert call.problem.startswith(problem)


def test_a_broken_call_ends_where_the_next_one_begins() -> None:
    text = f'<tool_call>{{"name": "weather", "arguments": {{"city": "<tool_call>{TIME}</tool_call>'
    found = read(text)
    assert [(call.name, call.text, call.arguments) for call in found.calls] == [
        ("weather", '{"city": "', None),
        ("time", "{}", {}),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<|tool_call_begin|>functions.time:0<|tool_call_argument_begin|>{1}<|tool_calls_section_end|>",
        "<｜tool▁call▁begin｜>time<｜tool▁sep｜>{1}<｜tool▁calls▁end｜>",
    ],
)
def test_the_end_of_a_section_ends_the_call_in_it(text: str) -> None:
    found = read(text + " So.")
    assert (found.text, found.notes) == (" So.", (in_text(0, text),))
    assert [(call.name, call.text, call.arguments) for call in found.calls] == [("time", "{1}", None)]


def test_a_good_call_before_a_broken_one_is_not_broken() -> None:
    found = read(f'<tool_call>{TIME}\n{{"name": "weather", "arguments": {{1}}}}</tool_call>')
    assert [(call.name, call.arguments) for call in found.calls] == [("time", {}), ("weather", None)]


# ── any text ─────────────────────────────────────────────────────────────────────────────────────────────────────────

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=4).filter(lambda each: "INVALID_JSON" not in each)
TOOL_NAMES = st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=20).filter(
    lambda name: name != "function"  # DeepSeek's word for what kind of call it is
)
STRINGS = st.dictionaries(
    st.text(string.ascii_letters + "_", min_size=1, max_size=8),
    st.text(max_size=20).filter(lambda text: "<" not in text)
    | st.sampled_from(["<b>", "a</p>", "```", "{", "\n\n", " "]),
    max_size=4,
)


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


JSON_WRITERS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "hermes": lambda name, given: f"<tool_call>\n{dumped({'name': name, 'arguments': given})}\n</tool_call>",
    "python_tag": lambda name, given: f"<|python_tag|>{dumped({'name': name, 'parameters': given})}<|eom_id|>",
    "phi": lambda name, given: f"<|tool_call|>[{dumped({'name': name, 'arguments': given})}]<|/tool_call|>",
    "granite": lambda name, given: f"<|tool_call|>[{dumped({'name': name, 'arguments': given})}]",
    "mistral list": lambda name, given: f"[TOOL_CALLS][{dumped({'name': name, 'arguments': given})}]",
    "mistral": lambda name, given: f"[TOOL_CALLS]{name}[ARGS]{dumped(given)}",
    "kimi": lambda name, given: (
        f"<|tool_call_begin|>functions.{name}:3<|tool_call_argument_begin|>{dumped(given)}<|tool_call_end|>"
    ),
    "deepseek v3": lambda name, given: (
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{dumped(given)}\n```<｜tool▁call▁end｜>"
    ),
    "deepseek v3.1": lambda name, given: f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{dumped(given)}<｜tool▁call▁end｜>",
    "harmony": lambda name, given: (
        f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{dumped(given)}<|call|>"
    ),
    "fence": lambda name, given: f"\n```json\n{dumped({'name': name, 'arguments': given})}\n```\n",
    "function": lambda name, given: f"<function={name}>{dumped(given)}</function>",
}
TAG_WRITERS: dict[str, Callable[[str, dict[str, str]], str]] = {
    "qwen": lambda name, given: (
        f"<tool_call>\n<function={name}>\n"
        + "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in given.items())
        + "</function>\n</tool_call>"
    ),
    "invoke": lambda name, given: (
        f'<invoke name="{name}">\n'
        + "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in given.items())
        + "</invoke>"
    ),
    "glm": lambda name, given: (
        f"<tool_call>{name}\n"
        + "".join(f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in given.items())
        + "</tool_call>"
    ),
}

WRITTEN = st.one_of(
    st.tuples(st.sampled_from(sorted(JSON_WRITERS)), TOOL_NAMES, OBJECTS),
    st.tuples(st.sampled_from(sorted(TAG_WRITERS)), TOOL_NAMES, STRINGS),
)
PROSE = st.text(st.sampled_from('ab .,;{}[]<>|"/=\n\t\\漢_:')).filter(lambda text: MARKERS.search(text) is None)


def written(format: str, name: str, given: dict[str, Any]) -> str:
    return JSON_WRITERS[format](name, given) if format in JSON_WRITERS else TAG_WRITERS[format](name, given)


@settings(deadline=None, derandomize=True, database=None)
@given(st.text())
def test_a_text_without_a_marker_comes_back_as_it_is(text: str) -> None:
    if MARKERS.search(text) is None:
        assert read(text, names=("a", "b")) == TextCalls(text)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(st.lists(st.tuples(PROSE, WRITTEN), min_size=1, max_size=4), PROSE)
def test_calls_between_any_texts_are_found_and_the_rest_is_kept(
    parts: list[tuple[str, tuple[str, str, dict[str, Any]]]], last: str
) -> None:
    text = "".join(prose + written(*call) for prose, call in parts) + last
    found = read(text, names={call[1] for _, call in parts})
    assert [(call.name, call.arguments) for call in found.calls] == [(name, given) for _, (_, name, given) in parts]
    fences = {call[0] == "fence" for _, call in parts}
    if fences == {False}:  # the lines around a fence are text
        blank = [prose if i == 0 or not prose.isspace() else "" for i, (prose, _) in enumerate(parts)]
        rest = "".join(blank) + last
        assert found.text == ("" if rest.isspace() else rest)


FRAGMENTS = st.sampled_from([
    *FORMATS, *WRAPPERS, *WRAPPERS.values(), *(text for _, text in EVERY_FORMAT), ENVELOPE, TIME, "`", "```", "```json",
    "\n", " ", "{", "}", "[", "]", '"', "\\", ",", ";", "weather", "time", '{"name": "time", "arguments": {', "functools",
    "<function=time>", "</function>", "<parameter=a>", "</parameter>", '<parameter name="a">', "</invoke>", "[ARGS]",
    "<arg_key>a</arg_key>", "<arg_value>", "</arg_value>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<|message|>", "<|call|>",
    "<|tool_call_argument_begin|>", "<|tool_call_end|>", "</function_call>", "x", "\ud800", "\x00", "NaN", "1e999", "to=",
    "<think>", "</think>", "<thinking>", "</thinking>",
])  # fmt: skip


@settings(max_examples=500, deadline=None, derandomize=True, database=None)
@given(st.lists(FRAGMENTS, max_size=30).map("".join), st.booleans())
def test_whatever_is_thrown_together_is_read_and_accounted_for(text: str, offered: bool) -> None:
    read(text, NAMES if offered else ())


# ── while it arrives ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", None),
        ("Hello", None),
        ("Hello <", 6),
        ("Hello <tool_", 6),
        ("Hello <tool_call>", 6),
        ("Hello <tool_call>{", 6),
        ("Hello <tool_box", None),
        ("Hello < x", None),
        ("<b>", None),
        ("a [TOOL", 2),
        ("a [1", None),
        ("a <｜tool▁", 2),
        ("a <minimax:tool_call>", 2),
        ("a `", 2),
        ("a ``", 2),
        ("a ```", 2),
        ("a ```js", 2),
        ("a ``` tool_c", 2),
        ("a ```json\n{", 2),
        ("a ```py", None),
        ("a ```py\nx\n", None),
        ("a `x", None),
        ("a ``js", None),
        ("a ```````````json", None),
        (" {", 1),
        ("[", 0),
        ("[ {", 0),
        ('{"na', 0),
        ('{"name": "x", "argu', 0),
        ('[{"type"', 0),
        ('{"nam": ', None),
        ('{"answer": 5', None),
        ('{"na me', None),
        ("{x", None),
        ("[1", None),
        ("[[", 1),
        ("func", 0),
        ('functools[{"', 0),
        ("functional", None),
        ("f(x)", None),
    ],
)
def test_text_is_held_back_from_where_it_may_be_a_call(text: str, offset: int | None) -> None:
    assert opening(text) == offset


def test_what_was_shown_is_not_searched_again() -> None:
    text = "a <tool_call> b <tool_"
    assert (opening(text), opening(text, 3), opening(text, 17)) == (2, 16, None)


STREAMED = st.one_of(
    st.tuples(PROSE, WRITTEN, PROSE).map(lambda parts: (parts[0] + written(*parts[1]) + parts[2], (parts[1][1],))),
    st.lists(FRAGMENTS, max_size=12).map(lambda parts: ("".join(parts), NAMES)),
    st.tuples(st.text(" \n", max_size=3), OBJECTS).map(
        lambda parts: (parts[0] + dumped({"name": "time", "arguments": parts[1]}), NAMES)
    ),
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(STREAMED)
def test_no_part_of_a_call_is_ever_shown(streamed: tuple[str, tuple[str, ...]]) -> None:
    text, names = streamed
    starts = [int(note.path) for note in read(text, names).notes if note.code == "call.in_text"]
    shown = 0
    for length in range(len(text) + 1):
        held = opening(text[:length], shown)
        assert held == opening(text[:length])
        shown = length if held is None else held
        assert all(start >= shown for start in starts if start < length), (text[:length], held)


# ── cost ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "<tool_call>",
    "[TOOL_CALLS]",
    "<|tool_call|>",
    "`",
    "```json\n",
    " ```",
    "x```",
    "`<tool_call>",
    "<tool_call>{",
    '<tool_call>["',
    '<tool_call>{"name":"time","arguments":{"a":"',
    "<function=time><parameter=a>",
    "<tool_call>time<arg_key>a</arg_key><arg_value>",
    "<|channel|>commentary to=functions.time<|message|>{",
    '{"a":',
    " ",
    "<think>",
    "<think>```<tool_call></think>",
    "`<think>`<tool_call>",
    "<thinking></thinking>[TOOL_CALLS]",
    "\n```json {}```",
    "\n```json\n",
]


def spent(text: str) -> float:
    text = "🙂" + text  # four bytes for every character: copies are seen
    start = time.process_time()
    read_text_calls(text, NAMES)
    opening(text)
    return time.process_time() - start


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_openers_costs_no_more_than_any_megabyte(unit: str) -> None:
    # It takes half a second where nothing else runs, and many times the limit where the cost is quadratic.
    assert spent(unit * (1_000_000 // len(unit))) < 3


@pytest.mark.parametrize(
    ("opener", "end"),
    [
        ("<function=time><parameter=a>", "</parameter>x"),
        ('<invoke name="time"><parameter name="a">', "</parameter> "),
        ("<tool_call>", "</tool_call"),
        ("<tool_call>x", "`"),
        ("`<tool_call>", "x "),
        ('<tool_call>{"', "x"),
        ("x```json{", "{"),
    ],
)
def test_many_openers_before_many_ends_cost_no_more(opener: str, end: str) -> None:
    half = 300_000
    assert spent(opener * (half // len(opener)) + end * (half // len(end))) < 3


def test_a_long_argument_is_read_in_linear_time() -> None:
    long = {"text": "x" * 1_000_000 + '"</tool_call>', "list": list(range(100_000))}
    text = f"<tool_call>{json.dumps({'name': 'write', 'arguments': long})}</tool_call>"
    start = time.process_time()
    found = read_text_calls(text, NAMES)
    assert time.process_time() - start < 3
    assert [call.arguments for call in found.calls] == [long]


def test_a_value_may_end_and_go_on_anywhere() -> None:
    values = [True, False, None, -1.5e-10, 12345, "\\", '"', "漢", [], {}, {"a": [1]}]
    for pad in range(40):
        arguments = {"pad": "x" * pad, "values": values * 400}
        for text in (json.dumps({"name": "time", "arguments": arguments}), f"[TOOL_CALLS]time{json.dumps(arguments)}"):
            assert [call.arguments for call in read(text).calls] == [arguments]


def test_depth_is_no_danger() -> None:
    for deep in ("[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000):
        text = f'<tool_call>{{"name": "time", "arguments": {deep}</tool_call>'
        assert [(call.name, call.arguments) for call in read(text).calls] == [("time", None)]
