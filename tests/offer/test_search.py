"""A search finds what is asked for, always in the same order, whatever is asked."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.offer.catalogues import random_tools, tool
from tests.support.shared import corpus, needs_corpus
from toolbridge import search as searching
from toolbridge.search import ToolIndex, question_words, words
from toolbridge.tools import read_tools
from toolbridge.types import Tool, ToolId

TOOLS = [
    tool("github", "create_issue", "Opens a ticket.", title={}, labels={"enum": ["bug", "wontfix"]}),
    tool("github", "mergePullRequest", "Joins two branches.", number={}),
    tool("files", "read_file", "Reads a file.", path={"description": "Where it lies on disk"}),
    replace(tool("weather", "forecast", "Tells the temperature of the coming days."), title="Weather outlook"),
    tool("maps", "suche", "在地图上搜索餐厅 und Straßen"),
    tool("notes", "delete_notes", "Deletes notes and repositories of them."),
]
INDEX = ToolIndex(TOOLS)


@pytest.fixture(params=["with FTS5", "without it"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ToolIndex:
    if request.param == "without it":

        def missing(rows: Any) -> Any:
            raise sqlite3.OperationalError("no such module: fts5")

        monkeypatch.setattr(searching, "_indexed", missing)
    return ToolIndex(TOOLS)


def first(index: ToolIndex, query: str) -> str:
    found = index.search(query)
    return found[0].id.name if found else ""


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("create issue", "create_issue"),
        ("createIssue", "create_issue"),
        ("creating issues", "create_issue"),
        ("maps", "suche"),
        ("What is the pull request that I should merge?", "mergePullRequest"),
        ("merge_pull_request", "mergePullRequest"),
        ("wontfix", "create_issue"),
        ("on which disk", "read_file"),
        ("outlook", "forecast"),
        ("temperature tomorrow", "forecast"),
        ("餐厅", "suche"),
        ("delete my note", "delete_notes"),
    ],
)
def test_a_tool_is_found_by_its_name_title_description_parameters_values_and_server(
    index: ToolIndex, query: str, name: str
) -> None:
    assert first(index, query) == name


def test_the_start_of_a_word_finds_it() -> None:
    assert first(INDEX, "repo") == "delete_notes"
    assert first(INDEX, "STRASSE Straß") == "suche"


def test_a_name_counts_more_than_a_description() -> None:
    tools = [tool("a", "x", "backup backup of everything"), tool("a", "backup", "Saves.")]
    assert [each.id.name for each in ToolIndex(tools).search("backup")] == ["backup", "x"]


def test_equals_come_in_the_order_of_the_catalogue(index: ToolIndex) -> None:
    same = [tool(f"s{i}", "ping", "Pings.") for i in range(9)]
    assert ToolIndex(same).search("ping", 9) == same
    assert ToolIndex(same[::-1]).search("ping", 4) == same[:4:-1]


@pytest.mark.parametrize("query", ["", "   ", "?!", '"', "''", "\x00", "*", "()", "zzzz", "²", "\ud800", "_", "🦊"])
def test_a_question_of_nothing_finds_nothing(index: ToolIndex, query: str) -> None:
    assert index.search(query) == []


@pytest.mark.parametrize(
    "query",
    [
        'issue" OR "zzz',
        "issue AND NOT issue",
        "name:issue",
        "NEAR(issue zzz, 2)",
        "issue*^+-{}():",
        "'; DROP TABLE tools; -- issue",
        "issue\x00\ud800" + "\U0001f98a" * 10,
        "issue " + "x " * 500_000,
    ],
)
def test_hostile_questions_are_only_words(index: ToolIndex, query: str) -> None:
    assert first(index, query) == "create_issue"
    assert first(index, "read file") == "read_file"


def test_a_document_of_a_megabyte_is_searched_by_its_start() -> None:
    started = time.process_time()
    assert first(INDEX, "create issue " + "".join(f"word{i} " for i in range(120_000))) == "create_issue"
    assert time.process_time() - started < 10


def test_words_of_questions_count_where_there_is_no_other() -> None:
    assert question_words("what is the weather") == ["weather"]
    assert question_words("what is this") == ["what", "is", "this"]
    assert words("getHTTPResponse_v2-final") == ["get", "http", "response", "v2", "final"]


def test_a_tool_that_cannot_be_called_is_not_found() -> None:
    broken = replace(TOOLS[0], problem="it has no name")
    assert ToolIndex([broken, TOOLS[1]]).search("create issue") == []


@settings(max_examples=60, deadline=None)
@given(random_tools, st.text(max_size=60), st.integers(-1, 5))
def test_any_catalogue_can_be_asked_anything(tools: list[Tool], query: str, limit: int) -> None:
    index = ToolIndex(tools)
    found = index.search(query, limit)
    assert len(found) <= max(0, limit)
    assert [each for each in found if each not in tools] == []
    assert ToolIndex(tools).search(query, limit) == found


@pytest.mark.parametrize(
    "schema", [None, [], {"properties": 5}, {"properties": {"a": None, "b": {"enum": [1, "\ud800"]}}}]
)
def test_any_schema_is_indexed(schema: Any) -> None:
    odd = Tool(ToolId("s", "odd_\ud800"), "\ud800 odd", schema)
    assert ToolIndex([odd]).search("odd") == [odd]


def test_a_schema_that_holds_itself_is_indexed() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"].update(a=schema, b=schema)
    circular = Tool(ToolId("s", "circle"), "", schema)
    assert ToolIndex([circular]).search("circle") == [circular]


def test_several_threads_may_ask_one_index() -> None:
    index = ToolIndex(TOOLS)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda query: first(index, query), ["create issue", "read file"] * 50))
    assert found == ["create_issue", "read_file"] * 50


@needs_corpus
def test_real_tools_are_found_by_their_names_among_two_thousand() -> None:
    by_server: dict[str, list[Any]] = {}
    for record in corpus("tools")[:2_000]:
        by_server.setdefault(record["server"], []).append(record["tool"])
    tools = [each for server, listed in by_server.items() for each in read_tools(listed, server=server)]
    index = ToolIndex(tools)
    asked = [each for each in tools[::8] if each.problem is None]
    hits = 0
    for each in asked:
        found = index.search(f"how do I {' '.join(words(each.id.name))} with {each.id.server}?")
        hits += any((one.id.name, one.description) == (each.id.name, each.description) for one in found)
    assert hits / len(asked) > 0.95
