"""Vendors that speak Chat Completions, each in the way that it is known for."""

from __future__ import annotations

from typing import Any

from tests.support.wire.chat_dialects import BERN, GENF, TIME, WEATHER, asks, piece, said
from tests.support.wire.recording import Recording, call, expected
from tests.support.wire.sse import DONE, dumps, sse

_BERN = call(WEATHER, BERN, "call_1")
_NOON = call(TIME, {"zone": "UTC"}, "call_2")
_FILTER = {"hate": {"filtered": False, "severity": "safe"}}
_EMPTY: dict[str, Any] = {"choices": [], "model": "", "object": "", "created": 0, "id": ""}

AZURE = (
    Recording(  # provider-rules: prompt filter chunk first, content filter chunks with no delta
        "azure",
        "empty_choices_and_null_delta",
        sse(
            [
                {**_EMPTY, "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": _FILTER}]},
                said({"role": "assistant", "content": "Zü"}),
                said(None, None, content_filter_results=_FILTER),
                said({"content": "rich"}),
                asks(piece(0, "call_1", WEATHER, "", type="function")),
                said(None),
                asks(piece(0, arguments='{"city": "Bern"}')),
                said({}, "tool_calls"),
                {**_EMPTY, "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}},
                DONE,
            ]
        ),
        expected([_BERN], "calls", "Zürich"),
    ),
    Recording(
        "azure",
        "choices_null_and_missing",
        sse([{"choices": None}, {"id": "x"}, said({"content": "Hi"}), said({}, "stop"), DONE]),
        expected([], "stop", "Hi"),
    ),
    Recording(
        "azure",
        "filtered",
        sse([said({"content": "I"}), said({}, "content_filter", usage=None), DONE]),
        expected([], "filtered", "I"),
    ),
)

GROQ = (
    Recording(
        "groq",
        "whole_calls",
        sse(
            [
                said({"role": "assistant", "content": None}, x_groq={"id": "req_1"}),
                said({"reasoning": "The weather, "}),
                said({"reasoning": "then the time."}),
                asks(piece(0, "call_1", WEATHER, '{"city":"Bern"}', type="function")),
                asks(piece(1, "call_2", TIME, '{"zone":"UTC"}', type="function")),
                said({}, "tool_calls", x_groq={"id": "req_1", "usage": {"prompt_tokens": 3, "completion_tokens": 5}}),
                DONE,
            ]
        ),
        expected([_BERN, _NOON], "calls", reasoning="The weather, then the time."),
    ),
    Recording(
        "groq",
        "tool_use_failed",
        sse(
            [
                said({"content": "Let me "}),
                {
                    "error": {
                        "message": "Tool call validation failed: parameters for tool get_weather did not match schema",
                        "type": "invalid_request_error",
                        "code": "tool_use_failed",
                        "failed_generation": '{"name": "get_weather", "arguments": {"town": "Bern"}}',
                        "status_code": 400,
                    }
                },
                DONE,
            ]
        ),
        expected([], "error", "Let me ", error="did not match schema"),
    ),
    Recording(
        "groq",
        "error_as_a_named_event",
        b'event: error\ndata: {"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}\n\n',
        expected([], "error", error="Rate limit reached"),
    ),
)

OLLAMA = (
    Recording(  # ollama/ollama#7881
        "ollama",
        "old_without_index",
        sse(
            [
                said(
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [piece(id="call_1", name=WEATHER, arguments='{"city":"Bern"}', type="function")],
                    }
                ),
                said(
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [piece(id="call_2", name=TIME, arguments='{"zone":"UTC"}', type="function")],
                    }
                ),
                said({"role": "assistant", "content": ""}, "stop"),
                DONE,
            ]
        ),
        expected([_BERN, _NOON], "calls"),
    ),
    Recording(
        "ollama",
        "parallel_calls_all_at_index_0",
        sse(
            [
                said({"role": "assistant", "content": "", "reasoning": "Both at once."}),
                asks(
                    piece(0, "call_1", WEATHER, '{"city":"Bern"}', type="function"),
                    piece(0, "call_2", WEATHER, '{"city":"Genève"}', type="function"),
                ),
                said({"role": "assistant", "content": ""}, "tool_calls"),
                DONE,
            ]
        ),
        expected([_BERN, call(WEATHER, GENF, "call_2")], "calls", reasoning="Both at once."),
    ),
    Recording(
        "ollama",
        "no_arguments",
        sse([asks(piece(0, "call_1", "list_rooms", "{}", type="function")), said({"content": ""}, None), DONE]),
        expected([call("list_rooms", {}, "call_1")], "calls"),
    ),
    Recording(
        "ollama",
        "text",
        sse([said({"role": "assistant", "content": "Grüezi"}), said({"content": ""}, "stop"), DONE]),
        expected([], "stop", "Grüezi"),
    ),
    Recording(
        "ollama",
        "lines_of_json",  # without the framing of events
        b"".join(
            dumps(each).encode() + b"\n"
            for each in (said({"content": "Zü"}), said({"content": "rich"}), said({}, "stop"))
        ),
        expected([], "stop", "Zürich"),
    ),
)

OTHERS = (
    Recording(
        "deepseek",
        "reasoning_and_call",
        sse(
            [
                said({"role": "assistant", "content": None, "reasoning_content": ""}),
                said({"content": None, "reasoning_content": "Où? "}),
                said({"content": None, "reasoning_content": "In Bern."}),
                said({"content": "", "reasoning_content": None}),
                asks(piece(0, "call_1", WEATHER, "", type="function")),
                asks(piece(0, arguments='{"city": "Bern"}')),
                said(
                    {"content": "", "reasoning_content": None},
                    "tool_calls",
                    usage={"prompt_tokens": 3, "completion_tokens": 5},
                ),
                DONE,
            ]
        ),
        expected([_BERN], "calls", reasoning="Où? In Bern."),
    ),
    Recording(
        "openrouter",
        "reasoning_details_and_comments",
        b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n"
        + sse(
            [
                said(
                    {
                        "role": "assistant",
                        "content": "",
                        "reasoning": "In ",
                        "reasoning_details": [
                            {"type": "reasoning.text", "text": "In ", "format": "anthropic-claude-v1", "index": 0}
                        ],
                    }
                ),
                said(
                    {
                        "content": "",
                        "reasoning": "Bern.",
                        "reasoning_details": [
                            {"type": "reasoning.text", "text": "Bern.", "signature": "c2ln", "index": 0}
                        ],
                    }
                ),
                asks(piece(0, "call_1", WEATHER, '{"city": "Bern"}', type="function")),
                said({"content": ""}, "tool_calls", native_finish_reason="completed"),
                DONE,
            ]
        ),
        expected([_BERN], "calls", reasoning="In Bern."),
    ),
    Recording(
        "openrouter",
        "error_in_the_middle",
        sse(
            [
                said({"content": "It is "}),
                {
                    "error": {"code": 502, "message": "Provider returned error", "metadata": {}},
                    "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
                },
                DONE,
            ]
        ),
        expected([], "error", "It is ", error="Provider returned error"),
    ),
    Recording(
        "moonshot",
        "ids_with_names",
        sse(
            [
                asks(piece(0, "functions.get_weather:0", WEATHER, "", type="function")),
                asks(piece(0, arguments='{"city": "Bern"}')),
                asks(piece(1, "functions.get_weather:1", WEATHER, "", type="function")),
                asks(piece(1, arguments='{"city": "Genève"}')),
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls", "usage": {"prompt_tokens": 3}}]},
                DONE,
            ]
        ),
        expected(
            [call(WEATHER, BERN, "functions.get_weather:0"), call(WEATHER, GENF, "functions.get_weather:1")], "calls"
        ),
    ),
    Recording(
        "vllm",
        "named_choice_ends_with_stop",
        sse(
            [
                asks(piece(0, "chatcmpl-tool-1", WEATHER, "", type="function")),
                asks(piece(0, arguments='{"city": ')),
                asks(piece(0, arguments='"Bern"}')),
                said({"content": ""}, "stop", stop_reason=None),
                DONE,
            ]
        ),
        expected([call(WEATHER, BERN, "chatcmpl-tool-1")], "calls"),
    ),
    Recording(
        "llama.cpp",
        "name_once_then_fragments",
        sse(
            [
                said({"role": "assistant", "content": None}),
                said({"reasoning_content": "Bern."}),
                asks(piece(0, "call_1", WEATHER, "{", type="function")),
                asks(piece(0, arguments='"city":"')),
                asks(piece(0, arguments='Bern"}')),
                said({}, "tool_calls", timings={"predicted_n": 9}),
                DONE,
            ]
        ),
        expected([_BERN], "calls", reasoning="Bern."),
    ),
    Recording(
        "dial",
        "custom_content",
        sse(
            [
                said({"role": "assistant"}),
                said({"custom_content": {"stages": [{"index": 0, "name": "Looking"}]}}),
                asks(piece(0, "call_1", WEATHER, '{"city": "Bern"}', type="function")),
                said({}, "tool_calls", usage={"prompt_tokens": 3, "completion_tokens": 5}, statistics={}),
                DONE,
            ]
        ),
        expected([_BERN], "calls"),
    ),
)


def _written(*fragments: str, finish: str = "stop") -> bytes:
    return sse([*(said({"content": each}) for each in fragments), said({}, finish), DONE])


CONSTRAINED = (
    Recording(
        "json-schema",
        "call_in_fragments",
        _written('{"', "tool", '": "', "get_", 'weather", "arguments', '": {"', "city", '": "Be', 'rn"}', "}"),
        expected([call(WEATHER, BERN, "call_0")], "calls"),
    ),
    Recording(
        "json-schema",
        "answer_in_fragments",
        _written('{ "answer"', ':\n"Z', "\\", 'u00fcrich: \\"', "\\ud83d\\u", 'de00\\"', ' \\n{}"', " }"),
        expected([], "stop", 'Zürich: "😀" \n{}'),
    ),
    Recording(
        "json-schema",
        "answer_cut_at_the_limit",
        _written('{"answer": "Once upon', " a time\\", finish="length"),
        expected([], "length", "Once upon a time"),
    ),
    Recording(
        "json-schema",
        "call_cut_at_the_limit",
        _written('{"tool": "get_weather", "arguments": {"city": "Be', finish="length"),
        expected([call(WEATHER, None, "call_0", text='{"city": "Be')], "length"),
    ),
    Recording(
        "json-schema",
        "call_cut_before_its_arguments",
        _written('{"tool": "get_weather", "argum', finish="length"),
        expected([call(WEATHER, None, "call_0")], "length"),
    ),
    Recording(
        "json-schema",
        "text_and_a_fence_around_the_call",
        _written("Let me look.\n\n``", '`json\n{"tool": "get_weather"', ', "arguments": {"city": "Bern"}}\n`', "``"),
        expected([call(WEATHER, BERN, "call_0")], "calls", "Let me look."),
    ),
    Recording(
        "json-schema",
        "not_constrained",
        _written("It has ", "sets {", "1, 2} and `{}`", "."),
        expected([], "stop", "It has sets {1, 2} and `{}`."),
    ),
    Recording(
        "json-schema",
        "tool_calls_after_all",
        sse(
            [
                asks(piece(0, "call_1", WEATHER, '{"city": "Be', type="function")),
                asks(piece(0, arguments='rn"}')),
                said({}, "tool_calls"),
                DONE,
            ]
        ),
        expected([_BERN], "calls"),
    ),
)

RECORDINGS = (*AZURE, *GROQ, *OLLAMA, *OTHERS, *CONSTRAINED)
