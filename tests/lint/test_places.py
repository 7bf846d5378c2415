"""A finding is found again in the file: its line and column, whatever shape the file has."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from toolbridge.lint.finding import Finding, Flaw
from toolbridge.lint.places import NOWHERE, ConfigPlaces, DocumentPlaces, Place, ScriptPlaces
from toolbridge.tools import read_tools
from toolbridge.types import ToolId

ONE: dict[str, Any] = {"name": "one", "inputSchema": {"type": "object", "properties": {"a/b~c": {"type": "string"}}}}
TWO: dict[str, Any] = {"name": "two", "description": "second", "inputSchema": {"type": "object"}}


def asked(tool: str | None, path: str = "", text: str = "", span: tuple[int, int] | None = None) -> Finding:
    of = None if tool is None else ToolId("", tool)
    return Finding("name.case", "info", "", of, Flaw("wrong", path, text, span))


def marked(text: str, place: Place | None) -> str:
    """The characters that a place means."""
    assert place is not None
    lines = text.removeprefix("\ufeff").split("\n")
    if place.line == place.end_line:
        return lines[place.line - 1][place.column - 1 : place.end_column - 1]
    middle = lines[place.line : place.end_line - 1]
    return "\n".join(
        [lines[place.line - 1][place.column - 1 :], *middle, lines[place.end_line - 1][: place.end_column - 1]]
    )


def found(text: str, *asking: Finding) -> list[str]:
    places = DocumentPlaces(text, "tools.json", read_tools(text))
    return [marked(text, places.place(each)) for each in asking]


@pytest.mark.parametrize(
    "document",
    [
        [ONE, TWO],
        {"tools": [ONE, TWO], "nextCursor": "tools"},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [ONE, TWO]}},
        [{"tools": [ONE]}, {"result": {"tools": [TWO]}}],
        [{"type": "function", "function": ONE}, TWO],
    ],
    ids=["a list", "a result", "a message", "pages", "functions"],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_value_is_found_in_every_shape_of_a_tool_list(document: Any, indent: int | None) -> None:
    text = json.dumps(document, indent=indent)
    asking = (
        asked("one"), asked("two", "/description"), asked("one", "/inputSchema/properties/a~1b~0c"),
        asked("one", "/inputSchema/properties/a~1b~0c/type"), asked("two", "/inputSchema/properties/none"),
        asked("two", "/outputSchema"), asked(None), asked("nobody"),
    )  # fmt: skip
    assert found(text, *asking) == ['"one"', '"second"', '"a/b~c"', '"string"', '"inputSchema"', '"two"', "", ""]


def test_a_single_tool_and_one_tool_a_line_are_found_too() -> None:
    assert found(json.dumps(TWO), asked("two")) == ['"two"']
    lines = f"{json.dumps(ONE)}\r\n\r\n{json.dumps(TWO)}\r\n"
    assert found(lines, asked("one"), asked("two", "/description")) == ['"one"', '"second"']
    place = DocumentPlaces(lines, "tools.jsonl", read_tools(lines)).place(asked("two"))
    assert place == Place("tools.jsonl", 3, 10, 3, 15)


@pytest.mark.parametrize("key", ["inputSchema", "input_schema", "parameters", "inputJsonSchema", "schema"])
def test_a_schema_under_another_key_is_found_there(key: str) -> None:
    text = json.dumps([{"name": "t", key: {"properties": {"city": {"type": "string"}}}}])
    assert found(text, asked("t", "/inputSchema/properties/city/type"), asked("t", "/inputSchema")) == [
        '"string"',
        f'"{key}"',
    ]


def test_the_span_of_a_flaw_is_found_between_escapes_and_wide_characters() -> None:
    said = 'a "quoted" \U0001f600 文\u200bend'
    span = (said.index("\u200b"), said.index("\u200b") + 1)
    for ascii_only, raw in ((True, "\\u200b"), (False, "\u200b")):
        text = json.dumps([{"name": "t", "description": said}], ensure_ascii=ascii_only)
        assert found(text, asked("t", "/description", said, span)) == [raw]
    text = json.dumps([{"name": "t", "inputSchema": {"properties": {"café_v2": {}}}}])
    assert found(text, asked("t", "/inputSchema/properties/café_v2", "café_v2", (5, 7))) == ["v2"]
    assert found(text, asked("t", "/inputSchema/properties/café_v2", "something else", (5, 7))) == ['"caf\\u00e9_v2"']


def test_lines_and_columns_count_from_one_in_code_points_and_a_byte_order_mark_takes_none() -> None:
    text = '\ufeff[{"description": "\U0001f600文", "name": "t"},\r\n  {"name": "u"}]'
    places = DocumentPlaces(text, "tools.json", read_tools(text))
    assert places.place(asked("t")) == Place("tools.json", 1, 32, 1, 35)
    assert places.place(asked("u")) == Place("tools.json", 2, 12, 2, 15)
    assert places.place(asked(None)) == Place("tools.json", 1, 1, 1, 1)


def test_of_two_tools_or_keys_of_one_name_the_one_that_was_read_is_meant() -> None:
    text = '[{"name": "t", "description": "a"}, {"name": "t", "description": "b", "name": "t"}]'
    assert found(text, asked("t", "/description")) == ['"a"']
    assert found('[{"name": "t", "description": "a", "description": "b"}]', asked("t", "/description")) == ['"b"']
    assert found('[{"name": "u", "name": "t", "title": 1, "annotations": {"title": "T"}}]', asked("t", "/title")) == [
        "1"
    ]
    assert found('[{"name": "t", "annotations": {"title": "T"}}]', asked("t", "/title")) == ['"T"']


def test_a_place_inside_ten_thousand_levels_and_a_megabyte_is_found_without_recursion_in_linear_time() -> None:
    deep = '{"items":' * 10_000 + "{}" + "}" * 10_000
    text = f'[{{"name": "t", "description": {json.dumps("x" * 1_000_000)}, "inputSchema": {deep}}}, {{"name": "u"}}]'
    tools = read_tools([{"name": "t"}, {"name": "u"}])
    started = time.process_time()
    places = DocumentPlaces(text, "tools.json", tools)
    assert marked(text, places.place(asked("u"))) == '"u"'
    assert marked(text, places.place(asked("t", "/inputSchema" + "/items" * 9_999))) == '"items"'
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "text", ["", "[", '[{"name": "t', '{"a" "b": }', "]]]}}}", '[{"name": ,,}', "\\", '"\\', "/*", "[[[["]
)
def test_a_text_that_is_no_json_has_places_all_the_same(text: str) -> None:
    places = DocumentPlaces(text, "tools.json", read_tools([{"name": "t"}]))
    place = places.place(asked("t", "/description"))
    assert place is not None
    assert place.line == 1


def test_a_server_of_a_configuration_stands_where_its_name_is_a_key() -> None:
    text = '// servers\n{\n  "inputs": [{"id": "docs"}],\n  /* "docs": */\n  "mcpServers": {\n    "docs": {"command": "x"},\n  }\n}\n'
    places = ConfigPlaces(text, "mcp.json")
    here = Finding("name.case", "info", "docs", ToolId("docs", "t"), Flaw("wrong"))
    assert places.place(here) == Place("mcp.json", 6, 5, 6, 11)
    toml = ConfigPlaces('model = "x"\n[mcp_servers.docs]\ncommand = "x"\n', "config.toml")
    assert toml.place(here) == Place("config.toml", 2, 14, 2, 18)
    other = Finding("name.case", "info", "gone", None, Flaw("wrong"))
    assert places.place(other) == Place("mcp.json", 1, 1, 1, 1)


@pytest.mark.parametrize(
    "line",
    [
        "    def water(self): ...",
        "async def water(bed): ...",
        "export function water(bed) {",
        'server.tool("water", run)',
        "    name: 'water',",
        "tools = [`water`]",
    ],
)
def test_a_tool_of_a_command_stands_where_the_script_defines_or_quotes_it(tmp_path: Path, line: str) -> None:
    script = tmp_path / "server.py"
    script.write_text(f'"""Ask before you water: it is a small garden."""\n# water it\n{line}\nwater = 1\n')
    place = ScriptPlaces([str(script)]).place(asked("water"))
    assert place is not None
    assert (place.line, line[place.column - 1 : place.end_column - 1]) == (3, "water")


def test_a_definition_goes_before_a_quotation_wherever_it_stands(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text('ORDER = ["water"]\nundef water\n\ndef water(): ...\n')
    place = ScriptPlaces([str(script)]).place(asked("water"))
    assert place == Place(str(script), 4, 5, 4, 10)


def test_a_tool_of_a_command_stands_where_the_script_mentions_it_first(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("import x\nforget_order = 1\ndef get_order_item(): ...\n\ndef get_order(): ...\n")
    places = ScriptPlaces(["python", "-u", "no\0file.py", str(script)])
    assert places.place(asked("get_order")) == Place(str(script), 5, 5, 5, 14)
    assert places.place(asked("renamed")) == Place(str(script), 1, 1, 1, 1)
    assert places.place(asked(None)) == Place(str(script), 1, 1, 1, 1)
    assert ScriptPlaces(["npx", "-y", "some-server", str(tmp_path)]).place(asked("get_order")) is None
    assert NOWHERE.place(asked("get_order")) is None
