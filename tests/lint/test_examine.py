"""Examining live servers: real ones over stdio, well-behaved and not; and the arguments that they are tried with."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from mcp.server import Server

from toolbridge import connect
from toolbridge.examine import examine
from toolbridge.lint.arguments import sample_arguments, wrong_arguments
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.pattern_text import text_of_pattern
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.subject import ServerFacts
from toolbridge.schema.check import Checker
from toolbridge.types import ToolId

ROOT = Path(__file__).parents[2]
GARDEN = {"command": sys.executable, "args": [str(ROOT / "examples" / "garden_server.py")]}
ODD = {"command": sys.executable, "args": [str(ROOT / "tests" / "lint" / "odd_server.py")]}

LIMIT = 3.0
"""Seconds: one tool here never answers, and no other takes as long."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def examined(
    source: Any, *, call: bool = True, skip: Iterable[str] = (), limit: float = LIMIT
) -> tuple[dict[str, ServerFacts], list[tuple[str, str]]]:
    """The facts, and the findings on results that come of them."""

    async def story() -> tuple[dict[str, ServerFacts], list[tuple[str, str]]]:
        async with asyncio.timeout(90), connect(source) as hub:
            facts = await examine(hub, call=call, skip=skip, limit=limit)
            settings = LintSettings(select=("result",), ignore=("result.no-output-schema",))
            found = lint_tools(hub.all_tools, settings=settings, servers=facts).findings
            return facts, [(str(each.tool), each.rule) for each in found]

    return asyncio.run(story())


def calls(facts: ServerFacts) -> dict[str, list[tuple[dict[str, Any], bool, str | None, bool]]]:
    """Of each tool that was tried: the arguments, whether they were wrong, what failed, and whether it is an error."""
    assert facts.trials is not None
    return {
        id.name: [(dict(each.arguments), each.wrong, each.result.failure, each.result.is_error) for each in trials]
        for id, trials in facts.trials.items()
    }


def test_a_server_says_who_it_is_and_what_it_has_and_nothing_is_called_unasked() -> None:
    facts, found = examined({"mcpServers": {"garden": GARDEN}}, call=False)
    assert facts == {
        "garden": ServerFacts(
            "garden",
            server_name="garden",
            server_version="1.0.0",
            protocol=facts["garden"].protocol,
            instructions="Ask before you water: it is a small garden.",
            resources={"garden://plants": "text/plain"},
        )
    }
    assert facts["garden"].protocol is not None
    assert found == []


def test_servers_are_tried_with_right_and_wrong_calls_and_each_flaw_is_its_own_tools() -> None:
    facts, found = examined({"mcpServers": {"garden": GARDEN, "odd": ODD, "gone": {"command": "/no/such/command"}}})

    assert calls(facts["garden"]) == {
        "find_plants": [({"query": "a"}, False, None, False), ({}, True, None, True)],
        "draw_map": [({}, False, None, False)],
    }
    assert facts["garden"].untried == {ToolId("garden", "water"): "it does not claim to be read-only"}

    assert facts["odd"].resources == {"odd://beds": "text/plain", "odd://beds/{name}": "text/html"}
    assert calls(facts["odd"]) == {
        "find_bed": [({"plant": "aa"}, False, None, False), ({}, True, None, True)],
        "find_gone": [({"plant": "a"}, False, None, False), ({}, True, None, True)],
        "find_mute": [({"plant": "a"}, False, None, True), ({}, True, None, True)],
        "find_wordless": [({}, False, None, False)],
        "find_slowly": [({}, False, "timed_out", True)],
        "find_end": [({}, False, "outcome_unknown", True)],
        "find_last": [({}, False, None, False)],
    }
    assert facts["odd"].untried == {
        ToolId("odd", "find_nothing"): "no arguments could be made that its input schema accepts",
        ToolId("odd", "dig_bed"): "it does not claim to be read-only",
    }

    assert facts["gone"] == ServerFacts("gone", trials={}, untried={})
    assert found == [
        ("odd/find_gone", "result.error-not-marked"),
        ("odd/find_mute", "result.error-unclear"),
        ("odd/find_wordless", "result.no-text"),
        ("odd/find_slowly", "result.no-answer"),
        ("odd/find_end", "result.no-answer"),
    ]


def a_tool(name: str, output: Any = None) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=name,
        input_schema={"type": "object", "properties": {"plant": {"type": "string"}}, "required": ["plant"]},
        output_schema=output,
        annotations=mcp_types.ToolAnnotations(read_only_hint=True),
    )


BED = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}


def liar(called: list[str]) -> Server[Any]:
    """A server that does not check what it sends, nor what it gets."""

    async def listing(context: Any, params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(
            tools=[a_tool("find_bed", BED), a_tool("find_text", BED), a_tool("find_plant"), *map(a_tool, SILENT)]
        )

    async def call(context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        called.append(params.name)
        if params.name in SILENT:
            await asyncio.Event().wait()
        if "plant" not in (params.arguments or {}):
            return mcp_types.CallToolResult(content=[mcp_types.TextContent(text="Here you are.")])
        structured = {"bed": 2} if params.name == "find_bed" else None
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(text="B2")], structured_content=structured)

    return Server("liar", on_list_tools=listing, on_call_tool=call)


SILENT = ("wait_1", "wait_2", "wait_3", "wait_4")


def test_what_a_tool_sends_is_held_against_its_promise_and_a_silent_server_is_left_in_peace() -> None:
    called: list[str] = []
    facts, found = examined({"liar": liar(called)}, skip=["find_plants", "liar/find_t*"], limit=0.5)
    assert called == ["find_bed", "find_bed", "find_plant", "find_plant", "wait_1", "wait_2", "wait_3"]
    assert facts["liar"].untried == {
        ToolId("liar", "find_text"): "it is excepted",
        ToolId("liar", "wait_4"): "the server gave no answer to 3 other calls",
    }
    assert found == [
        ("liar/find_bed", "result.mismatch"),
        ("liar/find_bed", "result.no-structured-content"),
        ("liar/find_bed", "result.error-not-marked"),
        ("liar/find_plant", "result.error-not-marked"),
        ("liar/wait_1", "result.no-answer"),
        ("liar/wait_2", "result.no-answer"),
        ("liar/wait_3", "result.no-answer"),
    ]


def test_a_tool_whose_claim_to_read_is_contradicted_is_not_called() -> None:
    called: list[str] = []
    destroys = mcp_types.ToolAnnotations(read_only_hint=True, destructive_hint=True)
    wipes = a_tool("tidy").model_copy(update={"description": "Permanently deletes all beds."})
    listed = [
        a_tool("delete_bed"),
        a_tool("find_bed"),
        a_tool("survey").model_copy(update={"annotations": destroys}),
        wipes,
    ]

    async def listing(context: Any, params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=listed)

    async def call(context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        called.append(params.name)
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(text="Done.")])

    facts, _ = examined({"sly": Server("sly", on_list_tools=listing, on_call_tool=call)})
    assert set(called) == {"find_bed"}
    untried = {id.name: why for id, why in (facts["sly"].untried or {}).items()}
    told = untried.pop("tidy")
    assert told.startswith('it claims "readOnlyHint": true, and its description says "')
    assert ";" not in told
    assert untried == {
        "delete_bed": 'it claims "readOnlyHint": true, and its name says "delete"',
        "survey": "it claims to only read and to destroy",
    }


# -- arguments -------------------------------------------------------------------------------------------------------


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"const": 3}, 3),
        ({"const": None}, None),
        ({"type": "integer", "default": 7}, 7),
        ({"type": "string", "examples": ["rose", "fern"]}, "rose"),
        ({"enum": ["A1", "B2"]}, "A1"),
        ({"type": "string"}, "a"),
        ({"type": "string", "minLength": 3}, "aaa"),
        ({"type": "string", "format": "date"}, "2025-06-01"),
        ({"type": "string", "pattern": "^[A-C][1-4]$"}, "A1"),
        ({"type": "string", "pattern": r"^https?://\S+$"}, "http://a"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "maximum": -2}, -2),
        ({"type": "integer", "exclusiveMinimum": 10}, 11),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.001),
        ({"type": "integer", "multipleOf": 4, "minimum": 5}, 8),
        ({"type": "boolean"}, False),
        ({"type": ["null", "boolean"]}, False),
        ({"type": "null"}, None),
        ({"type": "array", "items": {"type": "string"}}, ["a"]),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, ["a", "a"]),
        ({"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 2, "uniqueItems": True}, [1, 2]),
        ({"type": "array", "maxItems": 0, "items": {"type": "string"}}, []),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}]}, [1, False]),
        ({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}, {"a": "a"}),
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1}, {"a": 1}),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"allOf": [an_object(a={"type": "integer"}), an_object(b={"type": "boolean"})]}, {"a": 1, "b": False}),
        ({"$ref": "#/$defs/bed"}, "B2"),
    ],
)
def test_arguments_are_made_from_what_the_schema_offers_and_then_from_the_least_that_fits(
    node: Any, value: Any
) -> None:
    schema = {**an_object(it=node), "$defs": {"bed": {"const": "B2"}}}
    assert sample_arguments(schema) == {"it": value}


@pytest.mark.parametrize(
    "node",
    [
        False,
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "string", "pattern": "^(?=b)a$"},
        {"type": "string", "minLength": 100_000},
        {"not": {}},
        {"$ref": "#"},
        {"type": "string", "pattern": "^(a+)+b(?!c)$", "minLength": 40},
    ],
)
def test_where_nothing_fits_nothing_is_made(node: Any) -> None:
    assert sample_arguments(an_object(it=node)) is None


@pytest.mark.parametrize("schema", [None, True, 3, "x", [], {"type": "array"}, {"properties": 5}, {"required": [1]}])
def test_a_schema_that_is_none_makes_no_arguments_or_those_that_it_accepts(schema: Any) -> None:
    made = sample_arguments(schema)
    assert made is None or Checker(schema).accepts(made)


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        (an_object(a={"type": "string"}, b={"type": "integer"}), {"b": 1}),
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": ["not", "this"]}),
        ({"type": "object", "properties": {"a": {"type": "array"}}}, {"a": {"not": "this"}}),
        ({"type": "object", "properties": {"a": {}}}, None),
        ({"type": "object"}, None),
        ({}, None),
    ],
)
def test_wrong_arguments_lack_one_that_is_required_or_have_one_of_the_wrong_type(schema: Any, wrong: Any) -> None:
    arguments = sample_arguments(schema)
    assert arguments is not None
    assert wrong_arguments(schema, arguments) == wrong


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^\d{4}-\d{2}$", "1111-11"),
        ("(abc|d)+x?", "abc"),
        ("(?:ab){2,}", "abab"),
        ("[^aA]", "1"),
        (r"^[\w.-]+@x\.y$", "a@x.y"),
        ("^$", ""),
        ("(?<=a)b", None),
        (r"(a)\1", None),
        ("a{3", None),
        ("((((", None),
        ("a)", None),
        ("[a", None),
        ("[^aA1\\-_ ~]", None),
        ("a{201}", None),
        ("(" * 30 + ")" * 30, None),
        ("x" * 501, None),
    ],
)
def test_a_plain_pattern_has_a_text_and_any_other_has_none(pattern: str, text: str | None) -> None:
    assert text_of_pattern(pattern) == text
