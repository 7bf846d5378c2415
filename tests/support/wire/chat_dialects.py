"""Chat Completions as they are met in the field: servers that leave out, repeat, mix up or break off.

Each is written by hand after a report; where it has one, its source stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.wire.recording import Recording, call, expected
from tests.support.wire.sse import BOM, DONE, many_lines, sse, with_noise

ABSENT: Any = object()
BERN, GENF = {"city": "Bern"}, {"city": "Genève"}
WEATHER, TIME = "get_weather", "get_time"


def said(delta: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    """A chunk with no more of an envelope than a reader needs."""
    choice: dict[str, Any] = {"index": 0, "delta": delta}
    if finish is not ABSENT:
        choice["finish_reason"] = finish
    return {"choices": [choice], **more}


def piece(
    index: Any = ABSENT, id: Any = ABSENT, name: Any = ABSENT, arguments: Any = ABSENT, **more: Any
) -> dict[str, Any]:
    """One entry of `tool_calls`, with just the keys that are given."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not ABSENT}
    entry = {key: value for key, value in (("index", index), ("id", id)) if value is not ABSENT}
    return entry | ({"function": function} if function else {}) | more


def asks(*pieces: dict[str, Any], finish: Any = None) -> dict[str, Any]:
    return said({"tool_calls": list(pieces)}, finish)


END = said({}, "tool_calls")
_BERN = call(WEATHER, BERN, "call_1")
_GENF = call(WEATHER, GENF, "call_2")
_NOON = call(TIME, {"zone": "UTC"}, "call_2")


def _stream(
    case: str, chunks: Sequence[Any], calls: Sequence[Any], finish: str | None = "calls", text: str = "", **more: Any
) -> Recording:
    return Recording("openai-chat", case, sse([*chunks, DONE]), expected(calls, finish, text, **more))


INDEXES = (
    _stream(  # Gemini's compatible endpoint: googleapis/python-genai#2868
        "no_index",
        [
            asks(piece(id="call_1", name=WEATHER, arguments='{"city": "Bern"}', type="function")),
            asks(piece(id="call_2", name=TIME, arguments='{"zone": "UTC"}', type="function")),
            said({"role": "assistant"}, "stop"),
        ],
        [_BERN, _NOON],
    ),
    _stream(
        "no_index_in_fragments",
        [
            asks(piece(id="call_1", name=WEATHER, arguments="")),
            asks(piece(arguments='{"city": ')),
            asks(piece(arguments='"Bern"}')),
            asks(piece(id="call_2", name=TIME)),
            asks(piece(arguments='{"zone": "U')),
            asks(piece(arguments='TC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(
        "no_index_and_no_id",
        [
            asks(
                piece(name=WEATHER, arguments='{"city": "Bern"}'),
                piece(name=WEATHER, arguments='{"city": "Genève"}'),
            ),
            asks(piece(name="list_rooms", arguments="{}")),
            END,
        ],
        [call(WEATHER, BERN), call(WEATHER, GENF), call("list_rooms", {})],
    ),
    _stream(
        "index_null",
        [
            asks(piece(None, "call_1", WEATHER, '{"city": ')),
            asks(piece(None, None, None, '"Bern"}')),
            asks(piece(None, "call_2", TIME, "")),
            asks(piece(None, None, None, '{"zone": "UTC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # ollama/ollama#15457, ai-dynamo/dynamo#4723
        "index_always_0",
        [
            asks(piece(0, "call_1", WEATHER, '{"city": "Be')),
            asks(piece(0, arguments='rn"}')),
            asks(piece(0, "call_2", TIME, '{"zone": ')),
            asks(piece(0, arguments='"UTC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # the ids are empty as well: open-webui/computer#224
        "index_always_0_and_no_id",
        [
            asks(piece(0, "", WEATHER, '{"city": "Bern"}')),
            asks(piece(0, "", WEATHER, '{"city": "Genève"}')),
            asks(piece(0, "", TIME, '{"zone": "UTC"}')),
            END,
        ],
        [call(WEATHER, BERN), call(WEATHER, GENF), call(TIME, {"zone": "UTC"})],
    ),
    _stream(  # litellm#32759, agentgateway#2965
        "indexes_from_1",
        [
            asks(piece(1, "call_1", WEATHER, "")),
            asks(piece(1, arguments='{"city": "Bern"}')),
            asks(piece(2, "call_2", TIME, "")),
            asks(piece(2, arguments='{"zone": "UTC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # zai-org/GLM-4.5#17
        "index_minus_1_and_an_object",
        [asks(piece(-1, "call_1", WEATHER, BERN, type="function"), finish="tool_calls")],
        [_BERN],
    ),
    _stream(
        "interleaved",
        [
            asks(piece(0, "call_1", WEATHER, "")),
            asks(piece(1, "call_2", TIME, "")),
            asks(piece(0, arguments='{"ci')),
            asks(piece(1, arguments='{"zone": '), piece(0, arguments='ty": "Be')),
            asks(piece(0, arguments='rn"}')),
            asks(piece(1, arguments='"UTC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # 6Kmfi6HP/opencode2api#17
        "name_and_arguments_on_different_indexes",
        [
            asks(piece(0, "call_1", WEATHER, "", type="function")),
            asks(piece(1, None, "", '{"city": "Bern"}', type="function")),
            END,
        ],
        [_BERN],
    ),
    _stream(  # the same, twice
        "names_and_arguments_on_different_indexes",
        [
            asks(piece(0, "call_1", WEATHER, "")),
            asks(piece(1, None, "", '{"city": ')),
            asks(piece(1, None, "", '"Bern"}')),
            asks(piece(2, "call_2", TIME, "")),
            asks(piece(3, None, "", '{"zone": "UTC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # danny-avila/LibreChat#14416
        "id_and_arguments_on_different_indexes",
        [
            said({"content": "Let me look."}),
            asks(piece(2, "call_1", WEATHER, "", type="function")),
            asks(piece(1, arguments='{"city": ')),
            asks(piece(1, arguments='"Bern"}')),
            END,
        ],
        [_BERN],
        text="Let me look.",
    ),
)

IDS = (
    _stream(
        "no_id",
        [
            asks(piece(0, name=WEATHER, arguments="")),
            asks(piece(0, arguments='{"city": "Bern"}')),
            asks(piece(1, name=TIME, arguments='{"zone": "UTC"}')),
            END,
        ],
        [call(WEATHER, BERN), call(TIME, {"zone": "UTC"})],
    ),
    _stream(
        "late_id",
        [
            asks(piece(0, name=WEATHER, arguments='{"city"')),
            asks(piece(0, "call_1", arguments=': "Bern"}')),
            asks(piece(1, name=TIME)),
            asks(piece(1, arguments='{"zone": "UTC"}')),
            asks(piece(1, "call_2")),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # agentgateway
        "id_only_first_then_null",
        [
            asks(piece(0, "call_1", WEATHER, type="function")),
            asks(piece(0, None, arguments='{"city": ', type=None)),
            asks(piece(0, None, None, '"Bern"}', type=None)),
            END,
        ],
        [_BERN],
    ),
    _stream(  # DashScope
        "id_only_first_then_empty",
        [
            asks(piece(0, "call_1", WEATHER, "", type="function")),
            asks(piece(0, "", "", '{"city": ', type="function")),
            asks(piece(0, "", "", '"Bern"}', type="function")),
            END,
        ],
        [_BERN],
    ),
    _stream(
        "id_and_name_repeated",
        [
            asks(piece(0, "call_1", WEATHER, '{"ci', type="function")),
            asks(piece(0, "call_1", WEATHER, 'ty": "Be', type="function")),
            asks(piece(0, "call_1", WEATHER, 'rn"}', type="function")),
            asks(piece(1, "call_2", TIME, '{"zone": ', type="function")),
            asks(piece(1, "call_2", TIME, '"UTC"}', type="function")),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(
        "id_and_name_repeated_without_index",
        [
            asks(piece(id="call_1", name=WEATHER, arguments='{"ci')),
            asks(piece(id="call_2", name=TIME, arguments='{"zone": ')),
            asks(piece(id="call_1", name=WEATHER, arguments='ty": "Bern"}')),
            asks(piece(id="call_2", name=TIME, arguments='"UTC"}')),
            END,
        ],
        [_BERN, _NOON],
    ),
    _stream(  # a new id with every fragment, of which the first counts
        "changing_ids",
        [
            asks(piece(0, "call_1", WEATHER, "")),
            asks(piece(0, "call_91", None, '{"city": ')),
            asks(piece(0, "call_92", None, '"Bern"}')),
            END,
        ],
        [_BERN],
    ),
    _stream(
        "name_that_grows",
        [
            asks(piece(0, "call_1", "get", "")),
            asks(piece(0, None, "get_weather", '{"city": "Bern"}')),
            END,
        ],
        [_BERN],
    ),
    _stream(  # vercel/ai#15879
        "arguments_before_the_name",
        [
            asks(piece(0, arguments='{"city": ')),
            asks(piece(0, "call_1", WEATHER)),
            asks(piece(0, arguments='"Bern"}')),
            END,
        ],
        [_BERN],
    ),
    _stream(
        "arguments_before_the_name_without_index",
        [
            asks(piece(arguments='{"city": "Bern"')),
            asks(piece(id="call_1", name=WEATHER, arguments="}")),
            END,
        ],
        [_BERN],
    ),
)

ARGUMENTS = (
    _stream(
        "arguments_as_an_object",
        [asks(piece(0, "call_1", WEATHER, BERN), piece(1, "call_2", TIME, {"zone": "UTC"})), END],
        [_BERN, _NOON],
    ),
    _stream(
        "arguments_null_empty_or_missing",
        [
            asks(piece(0, "call_1", "list_rooms", None)),
            asks(piece(1, "call_2", "list_rooms", "")),
            asks(piece(2, "call_3", "list_rooms")),
            asks(piece(3, "call_4", "list_rooms", " \n")),
            asks(piece(4, "call_5", "list_rooms", "null")),
            END,
        ],
        [call("list_rooms", {}, f"call_{number}") for number in range(1, 6)],
    ),
    _stream(
        "two_values_at_one_index",
        [
            asks(piece(0, "call_1", WEATHER, "")),
            asks(piece(0, arguments='{"city": "Bern"}')),
            asks(piece(0, arguments='{"city": "Genève"}')),
            END,
        ],
        [_BERN, call(WEATHER, GENF)],
    ),
    _stream(
        "two_values_in_one_fragment",
        [asks(piece(0, "call_1", WEATHER, '{"city": "Bern"}\n{"city": ')), asks(piece(0, arguments='"Genève"}')), END],
        [_BERN, call(WEATHER, GENF)],
    ),
    _stream(
        "braces_in_strings_are_no_end",
        [asks(piece(0, "call_1", "run", '{"code": "a = {}}{ \\"')), asks(piece(0, arguments='}{\\\\"}')), END],
        [call("run", {"code": 'a = {}}{ "}{\\'}, "call_1")],
    ),
    _stream(
        "whole_call_in_one_chunk", [asks(piece(0, "call_1", WEATHER, '{"city": "Bern"}'), finish="tool_calls")], [_BERN]
    ),
    _stream(
        "two_whole_calls_in_one_chunk",
        [
            asks(
                piece(0, "call_1", WEATHER, '{"city": "Bern"}'),
                piece(1, "call_2", WEATHER, '{"city": "Genève"}'),
                finish="tool_calls",
            )
        ],
        [_BERN, _GENF],
    ),
    _stream(
        "broken_arguments",
        [
            asks(piece(0, "call_1", WEATHER, '{"city": Bern}')),
            asks(piece(1, "call_2", WEATHER, '["Bern"]')),
            asks(piece(2, "call_3", WEATHER, "{'city': 'Bern'}")),
            asks(piece(3, "call_4", TIME, '{"zone": "UTC"}')),
            asks(piece(4, "call_5", WEATHER, '{"days": NaN}')),
            asks(piece(5, "call_6", WEATHER, '{"city": "Bern"} or so')),
            END,
        ],
        [
            call(WEATHER, None, "call_1", text='{"city": Bern}'),
            call(WEATHER, None, "call_2", text='["Bern"]'),
            call(WEATHER, None, "call_3", text="{'city': 'Bern'}"),
            call(TIME, {"zone": "UTC"}, "call_4"),
            call(WEATHER, None, "call_5", text='{"days": NaN}'),
            call(WEATHER, None, "call_6", text='{"city": "Bern"} or so'),
        ],
    ),
    _stream(
        "thought_signature_alone",  # openai-python#3246, earendil-works/pi#7745
        [
            asks(piece(0, "call_1", WEATHER, '{"city": "Bern"}')),
            asks(piece(0, extra_content={"google": {"thought_signature": "c2ln"}})),
            said({"role": "assistant"}, "stop"),
        ],
        [call(WEATHER, BERN, "call_1", opaque={"extra_content": {"google": {"thought_signature": "c2ln"}}})],
    ),
    _stream(
        "thought_signature_beside",
        [
            asks(
                piece(0, "call_1", WEATHER, '{"city": "Bern"}', extra_content={"google": {"thought_signature": "c2ln"}})
            ),
            asks(piece(1, "call_2", TIME, '{"zone": "UTC"}')),
            said({"role": "assistant"}, "stop"),
        ],
        [call(WEATHER, BERN, "call_1", opaque={"extra_content": {"google": {"thought_signature": "c2ln"}}}), _NOON],
    ),
)

_CALL = asks(piece(0, "call_1", WEATHER, '{"city": "Bern"}'))
_HALF = asks(piece(0, "call_1", WEATHER, '{"city": "Be'))

ENDS = (
    _stream("finish_stop", [_CALL, said({}, "stop")], [_BERN]),
    _stream("finish_null", [_CALL, said({}, None)], [_BERN]),
    _stream("finish_missing", [_CALL, said({}, ABSENT)], [_BERN]),
    _stream(
        "finish_in_every_chunk",
        [said({"content": "Hi"}, ""), said({"content": "!"}, ""), said({}, "stop")],
        [],
        "stop",
        "Hi!",
    ),
    _stream("finish_unknown", [said({"content": "Hi"}), said({}, "eos")], [], "stop", "Hi"),
    # vllm and others: the limit came in the middle of a call, and the reason says otherwise
    _stream(
        "cut_at_the_limit_and_finish_calls", [_HALF, END], [call(WEATHER, None, "call_1", text='{"city": "Be')], None
    ),
    _stream("filtered", [said({"content": "I"}), said({}, "content_filter")], [], "filtered", "I"),
    _stream(
        "cut_at_the_limit_after_a_name",
        [asks(piece(0, "call_1", WEATHER, "")), said({}, "length")],
        [call(WEATHER, None, "call_1", text="")],
        "length",
    ),
    Recording("openai-chat", "no_done", sse([said({"content": "Hi"}), _CALL, END]), expected([_BERN], "calls", "Hi")),
    Recording("openai-chat", "broken_off_in_text", sse([said({"content": "Hel"})]), expected([], "broken_off", "Hel")),
    Recording(
        "openai-chat",
        "broken_off_in_a_call",
        sse([_HALF]),
        expected([call(WEATHER, None, "call_1", text='{"city": "Be')], "broken_off"),
    ),
    Recording(  # of neither can be said that it has no arguments
        "openai-chat",
        "broken_off_after_two_names",
        sse([asks(piece(0, "call_1", WEATHER, ""), piece(1, "call_2", TIME, ""))]),
        expected([call(WEATHER, None, "call_1", text=""), call(TIME, None, "call_2", text="")], "broken_off"),
    ),
    Recording(
        "openai-chat",
        "broken_off_in_a_line",
        sse([said({"content": "Hel"}), said({"content": "lo"})])[:-25],
        expected([], "broken_off", "Hel"),
    ),
    _stream(
        "second_choice",
        [
            {"choices": [{"index": 0, "delta": {"content": "one"}}, {"index": 1, "delta": {"content": "two"}}]},
            {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ],
        [],
        "stop",
        "one",
    ),
    _stream(
        "calls_told_in_text",  # vllm-project/vllm#22975
        [
            said({"content": "<tool_"}),
            said({"content": 'call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool'}),
            said({"content": "_call>"}),
            said({}, "stop"),
        ],
        [],
        "stop",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bern"}}\n</tool_call>',
        offered={"names": [WEATHER], "text": "", "calls": [call(WEATHER, BERN)], "finish": "calls"},
    ),
    _stream("nothing", [said({"role": "assistant", "content": ""}), said({}, "stop")], [], "stop"),
    _stream(
        "escapes",
        ['{"choices":[{"delta":{"content":"\\ud83c\\udf27 Z\\u00fcrich \\u2028 \\"\\/\\""}}]}', said({}, "stop")],
        [],
        "stop",
        '\U0001f327 Zürich \u2028 "/"',
    ),
)

_PLAIN = [
    said({"role": "assistant", "content": ""}),
    said({"content": "Zü"}),
    said({"content": "rich"}),
    _CALL,
    END,
    DONE,
]
_TOLD = expected([_BERN], "calls", "Zürich")


def _framed(case: str, body: bytes) -> Recording:
    return Recording("openai-chat", case, body, _TOLD)


FRAMES = (
    _framed("sse_crlf", sse(_PLAIN, newline="\r\n")),
    _framed("sse_cr", sse(_PLAIN, newline="\r")),
    _framed("sse_no_space", sse(_PLAIN, space="")),
    _framed("sse_byte_order_mark", BOM + sse(_PLAIN)),
    _framed("sse_many_lines", many_lines(_PLAIN)),
    _framed("sse_many_lines_and_crlf", many_lines(_PLAIN).replace(b"\n", b"\r\n")),
    _framed("sse_noise", with_noise(_PLAIN)),
    _framed("sse_no_last_new_line", sse(_PLAIN).rstrip(b"\n")),
    _framed("sse_no_done_and_no_last_new_line", sse(_PLAIN[:-1]).rstrip(b"\n")),
    _framed(
        "sse_mixed_endings", b"".join(sse([each], newline=("\n", "\r\n", "\r")[i % 3]) for i, each in enumerate(_PLAIN))
    ),
)

RECORDINGS = (*INDEXES, *IDS, *ARGUMENTS, *ENDS, *FRAMES)
