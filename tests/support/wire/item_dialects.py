"""Responses as gateways send them, and items that only OpenAI understands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.wire import responses
from tests.support.wire.recording import Recording, call, expected
from tests.support.wire.responses import numbered, response
from tests.support.wire.scenario import TWO_CALLS
from tests.support.wire.sse import named, sse

_BERN = {"city": "Bern"}
_TEXT = '{"city": "Bern"}'
_CREATED = {"type": "response.created", "response": response([], "in_progress")}


def _call(done: bool, id: str = "fc_1", **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "function_call",
        "status": "completed" if done else "in_progress",
        "arguments": _TEXT if done else "",
        "call_id": "call_1",
        "name": "get_weather",
        **more,
    }


def _message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}


def _end(*items: Any, **more: Any) -> dict[str, Any]:
    ending = response(list(items), "completed") | more
    return {"type": f"response.{ending['status']}", "response": ending}


def _added(item: Any, number: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": number, "item": item}


def _done(item: Any, number: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": number, "item": item}


def _arguments(delta: Any, item_id: str = "fc_1", **place: Any) -> dict[str, Any]:
    place = place or {"output_index": 0}
    return {"type": "response.function_call_arguments.delta", "item_id": item_id, **place, "delta": delta}


def _stream(case: str, events: Sequence[dict[str, Any]], told: dict[str, Any]) -> Recording:
    return Recording("openai-responses", case, named(numbered([_CREATED, *events])), told)


_WEATHER = call("get_weather", _BERN, "call_1")
_LIST = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "wiki"}
_LISTED = {
    **_LIST,
    "tools": [
        {"name": "search", "input_schema": {"type": "object"}, "description": None, "annotations": {"read_only": False}}
    ],
    "error": None,
}
_RUN = {"id": "mcp_1", "type": "mcp_call", "server_label": "wiki", "name": "search", "approval_request_id": None}
_RAN = {**_RUN, "arguments": '{"q": "Bern"}', "output": "Bern is a town.", "error": None, "status": "completed"}
_APPROVAL = {
    "id": "mcpr_1",
    "type": "mcp_approval_request",
    "server_label": "wiki",
    "name": "delete",
    "arguments": "{}",
}

RECORDINGS = (
    _stream(  # 1jehuang/jcode#1336
        "new_item_id_in_each_event",
        [
            _added(_call(False, "a")),
            _arguments('{"city": ', "b"),
            _arguments('"Bern"}', "c"),
            {"type": "response.function_call_arguments.done", "item_id": "d", "output_index": 0, "arguments": _TEXT},
            _done(_call(True, "e")),
            _end(_call(True, "f")),
        ],
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "null_delta",
        [
            _added(_call(False)),
            _arguments(None),
            _arguments(_TEXT),
            _arguments(None),
            _done(_call(True)),
            _end(_call(True)),
        ],
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "done_only",
        [_done(_call(True)), _done(_message("Hi"), 1), _end(_call(True), _message("Hi"))],
        expected([_WEATHER], "calls", "Hi"),
    ),
    _stream("completed_only", [_end(_message("Hi"), _call(True))], expected([_WEATHER], "calls", "Hi")),
    _stream(
        "arguments_done_without_deltas",
        [
            _added(_call(False)),
            {"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 0, "arguments": _TEXT},
            {"type": "response.completed", "response": response([], "completed")},
        ],
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "deltas_without_an_end_of_the_item",
        [
            _added(_call(False)),
            _arguments('{"city": '),
            _arguments('"Bern"}'),
            {"type": "response.completed", "response": response([], "completed")},
        ],
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "no_output_index",
        [
            {"type": "response.output_item.added", "item": _call(False)},
            _arguments('{"city": ', "fc_1", sequence=1),
            _arguments('"Bern"}', "fc_1", sequence=2),
            {"type": "response.output_item.done", "item": _call(True)},
            _end(_call(True)),
        ],
        expected([_WEATHER], "calls"),
    ),
    _stream(
        "interleaved",
        [
            _added(_call(False)),
            _added({**_call(False, "fc_2"), "call_id": "call_2", "name": "get_time"}, 1),
            _arguments('{"zone": "UT', "fc_2", output_index=1),
            _arguments('{"city": '),
            _arguments('C"}', "fc_2", output_index=1),
            _arguments('"Bern"}'),
            _done({**_call(True, "fc_2"), "call_id": "call_2", "name": "get_time", "arguments": '{"zone": "UTC"}'}, 1),
            _done(_call(True)),
            {"type": "response.completed", "response": response([], "completed")},
        ],
        expected([_WEATHER, call("get_time", {"zone": "UTC"}, "call_2")], "calls"),
    ),
    _stream(
        "namespace",
        [
            _added(_call(False, namespace="weather")),
            _arguments(_TEXT),
            _done(_call(True, namespace="weather")),
            _end(_call(True, namespace="weather")),
        ],
        expected([call("get_weather", _BERN, "call_1", opaque={"id": "fc_1", "namespace": "weather"})], "calls"),
    ),
    _stream(
        "hosted_mcp_items",
        [
            _added(_LIST),
            {"type": "response.mcp_list_tools.in_progress", "item_id": "mcpl_1", "output_index": 0},
            {"type": "response.mcp_list_tools.completed", "item_id": "mcpl_1", "output_index": 0},
            _done(_LISTED),
            _added({**_RUN, "arguments": "", "output": None, "error": None, "status": "in_progress"}, 1),
            {"type": "response.mcp_call.in_progress", "item_id": "mcp_1", "output_index": 1},
            {
                "type": "response.mcp_call_arguments.delta",
                "item_id": "mcp_1",
                "output_index": 1,
                "delta": '{"q": "Bern"}',
            },
            {
                "type": "response.mcp_call_arguments.done",
                "item_id": "mcp_1",
                "output_index": 1,
                "arguments": '{"q": "Bern"}',
            },
            {"type": "response.mcp_call.completed", "item_id": "mcp_1", "output_index": 1},
            _done(_RAN, 1),
            _added(_APPROVAL, 2),
            _done(_APPROVAL, 2),
            _added(_call(False), 3),
            _arguments(_TEXT, "fc_1", output_index=3),
            _done(_call(True), 3),
            _end(_LISTED, _RAN, _APPROVAL, _call(True)),
        ],
        expected([_WEATHER], "calls", foreign=["mcp_list_tools", "mcp_call", "mcp_approval_request"]),
    ),
    _stream(
        "error_event",
        [
            _added(_call(False)),
            {"type": "error", "code": "server_error", "message": "Something went wrong.", "param": None},
        ],
        expected([call("get_weather", None, "call_1")], "error", error="Something went wrong."),
    ),
    _stream(
        "filtered",
        [
            _done(_message("I")),
            _end(_message("I"), status="incomplete", incomplete_details={"reason": "content_filter"}),
        ],
        expected([], "filtered", "I"),
    ),
    _stream(
        "broken_off_in_a_call",
        [_added(_call(False)), _arguments('{"city": ')],
        expected([call("get_weather", None, "call_1", text='{"city": ')], "broken_off"),
    ),
    Recording(
        "openai-responses",
        "without_names_of_events",
        sse([*responses.events(TWO_CALLS), "[DONE]"]),
        expected([call(ask.name, ask.arguments, responses.call_id(ask)) for ask in TWO_CALLS.calls], "calls"),
    ),
)
