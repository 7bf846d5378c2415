"""Anthropic's Messages and Bedrock's Converse past the plain cases: server tools, hidden thoughts, early ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.wire.converse import lines
from tests.support.wire.messages import delta, message
from tests.support.wire.recording import Recording, call, expected
from tests.support.wire.sse import dumps, named

_BERN = {"city": "Bern"}
_WEATHER = call("get_weather", _BERN, "toolu_1")
_USE = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
_START = {"type": "message_start", "message": message([], None, 1)}


def _opened(number: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": number, "content_block": block}


def _block(number: int, block: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [_opened(number, block), *deltas, {"type": "content_block_stop", "index": number}]


def _json(number: int, text: str) -> dict[str, Any]:
    return delta(number, "input_json_delta", "partial_json", text)


def _ends(reason: str | None) -> list[dict[str, Any]]:
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 17},
        },
        {"type": "message_stop"},
    ]


def _stream(case: str, events: Sequence[dict[str, Any]], told: dict[str, Any]) -> Recording:
    return Recording("anthropic", case, named([_START, *events]), told)


_HITS = [
    {
        "type": "web_search_result",
        "url": "https://example.org",
        "title": "Bern",
        "encrypted_content": "ZW5j",
        "page_age": None,
    }
]
_REDACTED = {"type": "redacted_thinking", "data": "aGlkZGVu"}
_CITED = {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {"type": "web_search_result_location", "url": "https://example.org", "title": "Bern", "encrypted_index": "RQ==", "cited_text": "rain"}}}  # fmt: skip

ANTHROPIC = (
    _stream(
        "server_tools",
        [
            *_block(
                0,
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                _json(0, ""),
                _json(0, '{"query": '),
                _json(0, '"Bern"}'),
            ),
            *_block(1, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": _HITS}),
            *_block(2, {"type": "text", "text": "", "citations": []}, _CITED, delta(2, "text_delta", "text", "Rain.")),
            *_block(3, _USE, _json(3, ""), _json(3, dumps(_BERN))),
            *_ends("tool_use"),
        ],
        expected([_WEATHER], "calls", "Rain.", foreign=["server_tool_use", "web_search_tool_result"]),
    ),
    _stream(
        "hosted_mcp",
        [
            *_block(
                0,
                {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "search", "server_name": "wiki", "input": {}},
                _json(0, '{"q": "Bern"}'),
            ),
            *_block(
                1,
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "mcptoolu_1",
                    "is_error": False,
                    "content": [{"type": "text", "text": "A town."}],
                },
            ),
            *_block(2, {"type": "text", "text": ""}, delta(2, "text_delta", "text", "It is a town.")),
            *_ends("end_turn"),
        ],
        expected([], "stop", "It is a town.", foreign=["mcp_tool_use", "mcp_tool_result"]),
    ),
    _stream(
        "hidden_and_interleaved_thoughts",
        [
            *_block(0, _REDACTED),
            *_block(
                1,
                {"type": "thinking", "thinking": "", "signature": ""},
                delta(1, "thinking_delta", "thinking", "Bern "),
                delta(1, "thinking_delta", "thinking", "then."),
                delta(1, "signature_delta", "signature", "c2ln"),
            ),
            *_block(2, _USE, _json(2, dumps(_BERN))),
            *_ends("tool_use"),
        ],
        expected([_WEATHER], "calls", reasoning="Bern then."),
    ),
    _stream(
        "interleaved_blocks",
        [
            _opened(0, _USE),
            _opened(1, {**_USE, "id": "toolu_2", "name": "get_time"}),
            _json(1, '{"zone": '),
            _json(0, '{"city": "Be'),
            _json(1, '"UTC"}'),
            _json(0, 'rn"}'),
            {"type": "content_block_stop", "index": 1},
            {"type": "content_block_stop", "index": 0},
            *_ends("tool_use"),
        ],
        expected([_WEATHER, call("get_time", {"zone": "UTC"}, "toolu_2")], "calls"),
    ),
    _stream(  # proxies that hand on a whole block at once
        "input_in_the_first_event",
        [*_block(0, {**_USE, "input": _BERN}), *_ends("tool_use")],
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "no_end_of_blocks",
        [_opened(0, _USE), _json(0, dumps(_BERN)), *_ends("tool_use")],
        expected([_WEATHER], "calls"),
    ),
    _stream(  # eager_input_streaming: alphaXiv/agents#51
        "broken_arguments",
        [*_block(0, _USE, _json(0, '{"city": "Bern"'), _json(0, ', "days": }')), *_ends("tool_use")],
        expected([call("get_weather", None, "toolu_1", text='{"city": "Bern", "days": }')], "calls"),
    ),
    Recording(  # white space after the data, as Anthropic sends it
        "anthropic",
        "white_space_and_unknown_events",
        b"".join(
            f"event: {each['type']}\ndata: {dumps(each)}{' ' * (number % 5)}\n\n".encode()
            for number, each in enumerate(
                [
                    _START,
                    {"type": "ping"},
                    {"type": "something_new", "value": 1},
                    _opened(0, _USE),
                    {"type": "content_block_delta", "index": 0, "delta": {"type": "new_delta", "x": 1}},
                    _json(0, dumps(_BERN)),
                    {"type": "ping"},
                    {"type": "content_block_stop", "index": 0},
                    *_ends("tool_use"),
                ]
            )
        ),
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "refusal",
        [*_block(0, {"type": "text", "text": ""}, delta(0, "text_delta", "text", "I")), *_ends("refusal")],
        expected([], "filtered", "I"),
    ),
    _stream(
        "broken_off_in_a_call",
        [_opened(0, _USE), _json(0, ""), _json(0, '{"city": ')],
        expected([call("get_weather", None, "toolu_1", text='{"city": ')], "broken_off"),
    ),
    _stream(
        "error_after_an_opened_call",
        [
            _opened(0, _USE),
            _json(0, ""),
            {"type": "error", "error": {"type": "api_error", "message": "Internal error"}},
        ],
        expected([call("get_weather", None, "toolu_1")], "error", error="Internal error"),
    ),
)


def _delta(number: int, **what: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": what, "contentBlockIndex": number}}


def _use(number: int, id: str, name: str) -> dict[str, Any]:
    return {"contentBlockStart": {"start": {"toolUse": {"toolUseId": id, "name": name}}, "contentBlockIndex": number}}


def _converse(case: str, events: Sequence[dict[str, Any]], told: dict[str, Any]) -> Recording:
    return Recording("bedrock", case, lines([{"messageStart": {"role": "assistant"}}, *events]), told, ".jsonl")


def _stopped(reason: str) -> dict[str, Any]:
    return {"messageStop": {"stopReason": reason}}


BEDROCK = (
    _converse(
        "interleaved_blocks",
        [
            _use(0, "toolu_1", "get_weather"),
            _use(1, "toolu_2", "get_time"),
            _delta(1, toolUse={"input": '{"zone": '}),
            _delta(0, toolUse={"input": dumps(_BERN)}),
            _delta(1, toolUse={"input": '"UTC"}'}),
            {"contentBlockStop": {"contentBlockIndex": 0}},
            {"contentBlockStop": {"contentBlockIndex": 1}},
            _stopped("tool_use"),
        ],
        expected([_WEATHER, call("get_time", {"zone": "UTC"}, "toolu_2")], "calls"),
    ),
    _converse(
        "no_delta_at_all",
        [_use(0, "toolu_1", "list_rooms"), {"contentBlockStop": {"contentBlockIndex": 0}}, _stopped("tool_use")],
        expected([call("list_rooms", {}, "toolu_1")], "calls"),
    ),
    _converse(
        "hidden_thoughts",
        [
            _delta(0, reasoningContent={"redactedContent": "aGlkZGVu"}),
            {"contentBlockStop": {"contentBlockIndex": 0}},
            _delta(1, text="Rain."),
            {"contentBlockStop": {"contentBlockIndex": 1}},
            _stopped("end_turn"),
        ],
        expected([], "stop", "Rain."),
    ),
    _converse("guardrail", [_delta(0, text="I"), _stopped("guardrail_intervened")], expected([], "filtered", "I")),
    _converse(
        "malformed_tool_use",
        [_use(0, "toolu_1", "get_weather"), _delta(0, toolUse={"input": '{"city": B'}), _stopped("malformed_tool_use")],
        expected([call("get_weather", None, "toolu_1", text='{"city": B')]),
    ),
)

RECORDINGS = (*ANTHROPIC, *BEDROCK)
