"""Reading tools: every kind of source gives the same tools, junk costs itself, and only a non-list raises."""

from __future__ import annotations

import json
from collections import UserDict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import Icon, ListToolsResult, ToolAnnotations
from mcp_types import Tool as SdkTool
from pydantic import BaseModel, ConfigDict, Field

from toolbridge import SourceError, Tool, ToolHints, ToolId, UnknownToolError, read_tools
from toolbridge.prepare import prepare

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F", None], "default": None}},
    "required": ["city"],
}
WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "title": "Weather",
    "description": "The weather in a city.",
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"degrees": {"type": "number"}}},
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    "_meta": {"ui": {"visibility": ["model"]}},
    "icons": [{"src": "https://example.org/i.png", "mimeType": "image/png"}],
}
PING: dict[str, Any] = {"name": "ping", "inputSchema": {"type": "object"}}

WEATHER_TOOL = Tool(
    id=ToolId("", "get_weather"),
    description="The weather in a city.",
    input_schema=SCHEMA,
    output_schema={"type": "object", "properties": {"degrees": {"type": "number"}}},
    title="Weather",
    hints=ToolHints(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False),
    meta={"ui": {"visibility": ["model"]}},
    icons=({"src": "https://example.org/i.png", "mimeType": "image/png"},),
)
PING_TOOL = Tool(ToolId("", "ping"), "", {"type": "object"})
BOTH = [WEATHER_TOOL, PING_TOOL]

RESULT = {"tools": [WEATHER, PING], "nextCursor": None, "_meta": {}}
MESSAGE = {"jsonrpc": "2.0", "id": 1, "result": RESULT}
PAGES = [{"tools": [WEATHER], "nextCursor": "2"}, {"tools": [PING]}]


class OldTool(BaseModel):
    """A tool as mcp 1.x models it: camel case in Python too, extras allowed, `_meta` by alias."""

    model_config = ConfigDict(extra="allow")
    name: str
    title: str | None = None
    description: str | None = None
    inputSchema: dict[str, Any]
    outputSchema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: dict[str, Any] | None = Field(alias="_meta", default=None)


def new_models() -> list[SdkTool]:
    return [
        SdkTool(
            name="get_weather",
            title="Weather",
            description="The weather in a city.",
            input_schema=SCHEMA,
            output_schema=WEATHER["outputSchema"],
            annotations=ToolAnnotations(
                read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
            ),
            icons=[Icon(src="https://example.org/i.png", mime_type="image/png")],
            _meta=WEATHER["_meta"],
        ),
        SdkTool(name="ping", input_schema={"type": "object"}),
    ]


def plain_objects() -> list[SimpleNamespace]:
    """Tools as some other library's plain objects."""
    fields = {"meta" if key == "_meta" else key: value for key, value in WEATHER.items()}
    return [SimpleNamespace(**fields), SimpleNamespace(**PING)]


SOURCES: dict[str, Any] = {
    "list of dicts": [WEATHER, PING],
    "tuple of dicts": (WEATHER, PING),
    "mappings that are no dicts": [UserDict(WEATHER), UserDict(PING)],
    "tools/list result": RESULT,
    "JSON-RPC message": MESSAGE,
    "pages": PAGES,
    "messages, one a page": [{"jsonrpc": "2.0", "id": i, "result": page} for i, page in enumerate(PAGES)],
    "JSON text of a list": json.dumps([WEATHER, PING]),
    "JSON text of a result": json.dumps(RESULT, indent=2),
    "JSON text of a message": json.dumps(MESSAGE),
    "JSON text of pages": json.dumps(PAGES),
    "JSON text with a byte order mark": "\ufeff" + json.dumps(RESULT),
    "bytes": json.dumps(RESULT).encode(),
    "bytearray": bytearray(json.dumps(RESULT).encode()),
    "bytes in UTF-16": json.dumps(RESULT).encode("utf-16"),
    "bytes with a byte order mark": json.dumps(RESULT).encode("utf-8-sig"),
    "JSON lines": f"{json.dumps(WEATHER)}\n{json.dumps(PING)}\n",
    "JSON lines of bytes with empty lines": f"{json.dumps(WEATHER)}\r\n\r\n{json.dumps(PING)}".encode(),
    "JSON lines of pages": "\n".join(map(json.dumps, PAGES)),
    "models of mcp 2.x": new_models(),
    "result model of mcp 2.x": ListToolsResult(tools=new_models()),
    "page models of mcp 2.x": [ListToolsResult(tools=[each]) for each in new_models()],
    "models of mcp 1.x": [OldTool.model_validate(WEATHER), OldTool.model_validate(PING)],
    "result object": SimpleNamespace(tools=[WEATHER, PING]),
    "plain objects": plain_objects(),
    "our own tools": [WEATHER_TOOL, PING_TOOL],
    "our own beside a dict": [WEATHER_TOOL, PING],
}


@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_tools_are_read_from_every_kind_of_source(kind: str) -> None:
    assert read_tools(SOURCES[kind]) == BOTH


def test_a_generator_is_read_once() -> None:
    assert read_tools(each for each in [WEATHER, PING]) == BOTH
    assert read_tools(page for page in PAGES) == BOTH


@pytest.mark.parametrize(
    "text", [json.dumps(RESULT), json.dumps([WEATHER, PING]), f"{json.dumps(WEATHER)}\n{json.dumps(PING)}\n"]
)
def test_a_file_is_read_by_its_path_however_that_is_given(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text, encoding="utf-8-sig")
    assert read_tools(path) == BOTH
    assert read_tools(str(path)) == BOTH


def test_one_tool_alone_is_a_list_of_one() -> None:
    assert read_tools(WEATHER) == [WEATHER_TOOL]
    assert read_tools(json.dumps(WEATHER)) == [WEATHER_TOOL]
    assert read_tools(new_models()[0]) == [WEATHER_TOOL]


def test_the_server_is_part_of_every_identity() -> None:
    assert [each.id for each in read_tools(RESULT, server="met")] == [
        ToolId("met", "get_weather"),
        ToolId("met", "ping"),
    ]
    assert [each.id for each in read_tools([WEATHER, PING], "met")] == [
        ToolId("met", "get_weather"),
        ToolId("met", "ping"),
    ]


def test_tools_in_openais_shape_are_read_too() -> None:
    function = {"name": "get_weather", "description": "The weather in a city.", "parameters": SCHEMA, "strict": False}
    expected = [Tool(ToolId("", "get_weather"), "The weather in a city.", SCHEMA)]
    assert read_tools([{"type": "function", "function": function}]) == expected
    assert read_tools({"tools": [{"type": "function", **function}]}) == expected


def test_a_tool_in_anthropics_shape_is_read_too() -> None:
    entry = {"name": "get_weather", "description": "The weather in a city.", "input_schema": SCHEMA}
    assert read_tools([entry]) == [Tool(ToolId("", "get_weather"), "The weather in a city.", SCHEMA)]


def test_no_tools_are_no_tools() -> None:
    assert read_tools([]) == []
    assert read_tools("[]") == []
    assert read_tools({"tools": []}) == []
    assert read_tools(json.dumps({"result": {"tools": []}})) == []
    assert read_tools(ListToolsResult(tools=[])) == []


def test_the_title_may_stand_among_the_annotations_and_the_tools_own_goes_first() -> None:
    titles = [
        {"title": "Own"},
        {"annotations": {"title": "Noted"}},
        {"title": "Own", "annotations": {"title": "Noted"}},
        {},
    ]
    assert [each.title for each in read_tools([{"name": "t", **each} for each in titles])] == [
        "Own",
        "Noted",
        "Own",
        None,
    ]


def test_the_schema_is_the_servers_own_and_untouched() -> None:
    before = json.dumps(WEATHER)
    (tool,) = read_tools([WEATHER])
    assert tool.input_schema == SCHEMA
    prepare([tool], "openai-chat", strict=True)
    assert json.dumps(WEATHER) == before


def test_what_a_caller_does_to_its_dict_later_is_not_done_to_the_tool() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"]}
    (tool,) = read_tools([{"name": "t", "inputSchema": schema}])
    ready = prepare([tool], "openai-chat", strict=False)
    schema["required"].append("b")
    schema["properties"]["a"]["enum"].append("y")
    assert ready.definitions[0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"a": {"enum": ["x"]}},
        "required": ["a"],
    }


def test_a_claim_that_is_no_boolean_is_no_claim() -> None:
    annotations = {"readOnlyHint": "yes", "destructiveHint": None, "idempotentHint": 1, "openWorldHint": False}
    (tool,) = read_tools([{"name": "t", "annotations": annotations}])
    assert tool.hints == ToolHints(open_world_hint=False)


def test_what_no_field_stands_for_is_kept_apart_so_that_it_can_be_told() -> None:
    entry = {
        "name": "t",
        "parameters": SCHEMA,
        "annotations": {"readOnly": True, "readOnlyHint": "true", "destructiveHint": False, "title": "T"},
        "deprecated": True,
        "execution": {"taskSupport": "forbidden"},
        "description": 7,
        "outputSchema": True,
    }
    (tool,) = read_tools([entry])
    assert tool.unread == {
        "parameters": SCHEMA,
        "deprecated": True,
        "description": 7,
        "outputSchema": True,
        "annotations": {"readOnly": True, "readOnlyHint": "true"},
    }
    assert read_tools([{"name": "t", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}])[0].unread == {}


def test_a_missing_claim_is_read_as_the_protocol_reads_it() -> None:
    (silent, safe) = read_tools([{"name": "a"}, {"name": "b", "annotations": {"readOnlyHint": True}}])
    hints = silent.hints
    assert (hints.read_only, hints.destructive, hints.idempotent, hints.open_world) == (False, True, False, True)
    hints = safe.hints
    assert (hints.read_only, hints.destructive, hints.idempotent, hints.open_world) == (True, False, True, True)


# ── junk ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_junk_among_tools_is_left_out_by_name_with_the_reason_and_costs_the_others_nothing() -> None:
    junk = [
        None,
        7,
        "ping",
        True,
        [],
        {},
        {"name": None},
        {"name": 5},
        {"description": "nameless"},
        {"inputSchema": {}},
    ]
    ready = prepare(read_tools([*junk, PING], server="s"), "anthropic")
    assert [each.id for each in ready.tools] == [ToolId("s", "ping")]
    assert [each["name"] for each in ready.definitions] == ["mcp__s__ping"]
    assert ready.left_out == {
        ToolId("s", "(entry 0)"): "entry 0 is null, not a tool",
        ToolId("s", "(entry 1)"): "entry 1 is a number, not a tool",
        ToolId("s", "(entry 2)"): "entry 2 is a string, not a tool",
        ToolId("s", "(entry 3)"): "entry 3 is a boolean, not a tool",
        ToolId("s", "(entry 4)"): "entry 4 is a list, not a tool",
        **{ToolId("s", f"(entry {i})"): f"entry {i} has no name" for i in range(5, 10)},
    }


@pytest.mark.parametrize(
    "schema", ["text", 5, [1], {"type": "string"}, {"type": "array", "items": {}}, False], ids=repr
)
def test_a_schema_that_describes_no_object_leaves_its_tool_out_with_a_reason(schema: Any) -> None:
    bad = ToolId("", "bad")
    ready = prepare(read_tools([{"name": "bad", "inputSchema": schema}, PING]), "openai-chat")
    assert [each["function"]["name"] for each in ready.definitions] == ["ping"]
    assert ready.left_out.keys() == {bad}
    assert ready.left_out[bad].startswith("its input schema ")
    with pytest.raises(UnknownToolError) as raised:
        ready.wire_name(bad)
    assert str(raised.value) == f"bad was left out: {ready.left_out[bad]}"


ODD_FIELDS: dict[str, Any] = {
    "title": 5, "description": ["a"], "outputSchema": "none", "annotations": [True], "_meta": "x", "icons": {"src": 1},
}  # fmt: skip


def test_fields_of_the_wrong_kind_are_as_if_they_were_not_there() -> None:
    assert read_tools([{**PING, **ODD_FIELDS}]) == [replace(PING_TOOL, unread=ODD_FIELDS)]
    assert read_tools([{**PING, **dict.fromkeys(ODD_FIELDS)}]) == [PING_TOOL]


def test_a_missing_schema_is_noted_and_the_tool_is_kept() -> None:
    ready = prepare(read_tools([{"name": "ping"}]), "anthropic")
    assert ready.definitions == [{"name": "ping", "input_schema": {"type": "object", "properties": {}}}]
    assert [(each.code, each.effect) for each in ready.notes[ToolId("", "ping")]] == [("schema.missing", "changed")]


def test_the_second_of_two_equal_identities_is_noted_and_the_first_one_stands() -> None:
    ready = prepare(read_tools([{"name": "a", "description": "1"}, {"name": "a", "description": "2"}]), "anthropic")
    assert [each["description"] for each in ready.definitions] == ["1"]
    assert "tool.duplicate" in [each.code for each in ready.notes[ToolId("", "a")]]


def test_a_lone_surrogate_anywhere_in_a_tool_does_not_spoil_the_request() -> None:
    schema = {
        "type": "object",
        "properties": {"k\ud800": {"type": "string", "enum": ["\udfff"], "description": "\ud83d"}},
    }
    tools = read_tools([{"name": "odd\ud800", "description": "x\ud800", "inputSchema": schema}, PING])
    for provider in ("openai-chat", "anthropic", "gemini", "gemini-openapi", "bedrock"):
        ready = prepare(tools, provider)
        assert json.dumps(ready.fields, ensure_ascii=False).encode()


# ── what is no tool list ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('{"tools": [\n  {"name": }]}', "the text: not JSON: expecting value at line 2, column 12"),
        ('[{"name": "a"}, oops]', "the text: not JSON: expecting value at line 1, column 17"),
        (b'{"tools": [', "the bytes: not JSON: expecting value at line 1, column 12"),
        ("", "the text: not JSON: expecting value at line 1, column 1"),
        ("plain\nprose", "the text: not JSON: expecting value at line 1, column 1"),
    ],
)
def test_text_that_is_not_json_is_refused_with_its_place(source: Any, message: str) -> None:
    with pytest.raises(SourceError) as raised:
        read_tools(source)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (5, "a number"),
        (1.5, "a number"),
        (None, "null"),
        (True, "a boolean"),
        ([1, 2], "a number"),
        ("[1, 2]", "a number"),
        ([[]], "a list"),
        (["get_weather"], "a string"),
        ('"get_weather"', "a string"),
        ({"servers": {}, "x": 1}, "servers, x"),
        ('{"servers": {}}', "servers"),
        ({"tools": {"a": {}}}, '"tools" is an object'),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}}, "no such method"),
        (object(), "a object"),
    ],
)
def test_what_is_no_tool_list_is_refused_by_what_it_is(source: Any, said: str) -> None:
    with pytest.raises(SourceError) as raised:
        read_tools(source)
    assert said in str(raised.value)


def test_a_file_that_cannot_be_read_is_refused_by_its_path(tmp_path: Path) -> None:
    binary = tmp_path / "image.png"
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe")
    broken = tmp_path / "broken.json"
    broken.write_text('{\n "tools": nope}')
    missing = tmp_path / "missing.json"
    for path, why in (
        (missing, "no such file or directory"),
        (tmp_path, "is a directory"),
        (binary, "not UTF-8 text"),
        (broken, "not JSON: expecting value at line 2, column 11"),
    ):
        for source in (path, str(path)):
            with pytest.raises(SourceError) as raised:
                read_tools(source)
            assert str(raised.value) == f"{path}: {why}"


@pytest.mark.parametrize("name", ["a\x00b", "x" * 5000, "~/none.json", "get_weather"])
def test_a_text_that_can_be_no_path_is_a_source_error_and_nothing_else(name: str) -> None:
    with pytest.raises(SourceError):
        read_tools(name)


@pytest.mark.parametrize("source", [b"hello", b"\x89PNG\x00\xff", b"5"])
def test_bytes_are_a_document_and_never_a_path(source: bytes) -> None:
    with pytest.raises(SourceError) as raised:
        read_tools(source)
    assert "no such file" not in str(raised.value)
    assert "null byte" not in str(raised.value)


DEEP = '{"properties":{"a":' * 100_000 + "{}" + "}}" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '[{"name": "a", "inputSchema": ' + DEEP + "}]",
        '{"name": "b"}\n' + "[" * 100_000 + "]" * 100_000,
    ],
    ids=["open lists", "lists", "a tool's schema", "the second line"],
)
def test_json_nested_a_hundred_thousand_deep_is_refused_and_does_no_harm(text: str) -> None:
    with pytest.raises(SourceError) as raised:
        read_tools(text)
    assert "nested too deeply" in str(raised.value)


def test_an_integer_of_too_many_digits_is_refused_and_does_no_harm() -> None:
    with pytest.raises(SourceError) as raised:
        read_tools('[{"name": "a", "inputSchema": {"maximum": ' + "9" * 10_000 + "}}]")
    assert str(raised.value).startswith("the text: not readable JSON: ")
