"""Gemini's parts past the plain cases, and Mistral's habits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.wire.chat import mistral_chunk
from tests.support.wire.gemini import array, chunk
from tests.support.wire.recording import Recording, call, expected
from tests.support.wire.sse import DONE, sse

_BERN = {"city": "Bern"}
_SIGNED = {"thoughtSignature": "c2lnbmVk"}


def _part(name: str, **call: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **call}}


def _stream(case: str, chunks: Sequence[dict[str, Any]], told: dict[str, Any]) -> Recording:
    return Recording("gemini", case, sse(chunks, newline="\r\n"), told)


def _pieces(
    *pieces: tuple[str, str, Any] | tuple[str, str, Any, bool], more: bool = True, **call: Any
) -> dict[str, Any]:
    """A part of a call whose arguments come piece by piece: (path, kind of the value, value, whether it goes on)."""
    told = [
        {"jsonPath": each[0], each[1]: each[2]} | ({"willContinue": each[3]} if len(each) == 4 else {})
        for each in pieces
    ]
    inner = call | ({"partialArgs": told} if told else {}) | ({"willContinue": True} if more else {})
    return {"functionCall": inner}


_WHOLE = {
    "city": "Zürich",
    "days": [1, 2.5],
    "options": {"wind": True, "rain": None, "odd key": "é"},
    "note": "",
}
_PIECES = [
    _pieces(name="get_weather", id="c1") | _SIGNED,
    _pieces(("$.city", "stringValue", "Zü", True)),
    _pieces(("$.city", "stringValue", "ri", True)),
    _pieces(("$.city", "stringValue", "ch")),
    _pieces(("$.days[0]", "numberValue", 1), ("$.days[1]", "numberValue", 2.5)),
    _pieces(("$.options.wind", "boolValue", True), ("$.options.rain", "nullValue", "NULL_VALUE")),
    _pieces(("$.options['odd key']", "stringValue", "é", True)),
    _pieces(("$.options['odd key']", "stringValue", "", False), ("$.note", "stringValue", "")),
    _pieces(more=False),
]

GEMINI = (
    _stream(
        "two_calls_in_one_chunk",
        [chunk([_part("get_weather", args=_BERN) | _SIGNED, _part("get_time", args={"zone": "UTC"})], "STOP")],
        expected([call("get_weather", _BERN, opaque=_SIGNED), call("get_time", {"zone": "UTC"})], "calls"),
    ),
    _stream(
        "the_same_call_twice_without_ids",
        [
            chunk([_part("get_weather", args=_BERN)]),
            chunk([_part("get_weather", args=_BERN)]),
            chunk([{"text": ""}], "STOP"),
        ],
        expected([call("get_weather", _BERN), call("get_weather", _BERN)], "calls"),
    ),
    _stream(
        "arguments_null_empty_or_missing",
        [chunk([_part("a", args=None), _part("b", args={}), _part("c")], "STOP")],
        expected([call("a", {}), call("b", {}), call("c", {})], "calls"),
    ),
    _stream(
        "partial_arguments",  # Vertex, streamFunctionCallArguments
        [*(chunk([each]) for each in _PIECES), chunk([{"text": ""}], "STOP")],
        expected([call("get_weather", _WHOLE, "c1", opaque=_SIGNED)], "calls"),
    ),
    _stream(
        "partial_arguments_of_two_calls",
        [
            chunk([_pieces(name="get_weather"), _pieces(("$.city", "stringValue", "Be", True))]),
            chunk([_pieces(("$.city", "stringValue", "rn", False))]),
            chunk([_pieces(more=False)]),
            chunk([_pieces(name="get_time")]),
            chunk([_pieces(("$.zone", "stringValue", "UTC", False))]),
            chunk([_pieces(more=False)]),
            chunk([{"text": ""}], "STOP"),
        ],
        expected([call("get_weather", _BERN), call("get_time", {"zone": "UTC"})], "calls"),
    ),
    _stream(
        "signature_on_an_empty_text",
        [
            chunk([{"text": "Zü"}]),
            chunk([{"text": "rich"}]),
            chunk([{"text": "", "thoughtSignature": "c2lnbmVk"}], "STOP"),
        ],
        expected([], "stop", "Zürich"),
    ),
    _stream(
        "thoughts",
        [
            chunk([{"text": "Où", "thought": True}]),
            chunk([{"text": "?", "thought": True}, {"text": "Là."}]),
            chunk([], "STOP"),
        ],
        expected([], "stop", "Là.", reasoning="Où?"),
    ),
    Recording(
        "gemini",
        "json_list",
        array(
            [chunk([{"text": "Zü]["}]), chunk([{"text": 'rich "{'}]), chunk([_part("get_weather", args=_BERN)], "STOP")]
        ),
        expected([call("get_weather", _BERN)], "calls", 'Zü][rich "{'),
        ".json",
    ),
    _stream(
        "malformed_function_call",
        [
            {
                "candidates": [
                    {
                        "content": {},
                        "finishReason": "MALFORMED_FUNCTION_CALL",
                        "index": 0,
                        "finishMessage": "Malformed function call: print(default_api.get_weather(",
                    }
                ],
                "usageMetadata": {"promptTokenCount": 3},
            },
        ],
        expected([], "error"),
    ),
    _stream(
        "filtered",
        [chunk([{"text": "I"}]), {"candidates": [{"finishReason": "SAFETY", "index": 0}]}],
        expected([], "filtered", "I"),
    ),
    _stream(
        "prompt_blocked",
        [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}}],
        expected([], "filtered"),
    ),
    _stream(
        "code_of_its_own",
        [
            chunk([{"executableCode": {"language": "PYTHON", "code": "print(1)"}}]),
            chunk([{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}]),
            chunk([{"text": "One."}], "STOP"),
        ],
        expected([], "stop", "One.", foreign=["executableCode", "codeExecutionResult"]),
    ),
    _stream("broken_off_in_text", [chunk([{"text": "Hel"}])], expected([], "broken_off", "Hel")),
)


def _mistral(case: str, chunks: Sequence[Any], told: dict[str, Any]) -> Recording:
    return Recording("mistral", case, sse([*chunks, DONE]), told)


def _ask(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


MISTRAL = (
    _mistral(  # the SDK's own default for an id is the word
        "null_ids_and_objects",
        [
            mistral_chunk(
                {
                    "tool_calls": [
                        _ask("get_weather", _BERN, id="null", index=0),
                        _ask("get_time", {"zone": "UTC"}, id="null", index=0),
                    ]
                },
                "tool_calls",
            ),
        ],
        expected([call("get_weather", _BERN), call("get_time", {"zone": "UTC"})], "calls"),
    ),
    _mistral(
        "every_index_0",
        [
            mistral_chunk({"tool_calls": [_ask("get_weather", '{"city": "Bern"}', id="a1B2c3D4e", index=0)]}),
            mistral_chunk(
                {"tool_calls": [_ask("get_weather", '{"city": "Genf"}', id="f5G6h7I8j", index=0)]}, "tool_calls"
            ),
        ],
        expected(
            [call("get_weather", _BERN, "a1B2c3D4e"), call("get_weather", {"city": "Genf"}, "f5G6h7I8j")], "calls"
        ),
    ),
    _mistral(
        "content_in_chunks",
        [
            mistral_chunk({"role": "assistant", "content": [{"type": "text", "text": "Zü"}]}),
            mistral_chunk({"content": [{"type": "text", "text": "rich"}, {"type": "reference", "reference_ids": [1]}]}),
            mistral_chunk({"content": ""}, "stop"),
        ],
        expected([], "stop", "Zürich"),
    ),
    _mistral(
        "model_length",
        [mistral_chunk({"content": "Hel"}), mistral_chunk({"content": ""}, "model_length")],
        expected([], "length", "Hel"),
    ),
    _mistral(
        "error",
        [mistral_chunk({"content": "Hel"}), mistral_chunk({"content": ""}, "error")],
        expected([], "error", "Hel"),
    ),
)

RECORDINGS = (*GEMINI, *MISTRAL)
