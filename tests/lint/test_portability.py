"""Rules on portability: what the compiler changed is told once, with its providers, its place and what it means."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge.cli import matrix
from toolbridge.errors import ToolbridgeError, UnknownProviderError
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.offers import MAIN, chosen_providers
from toolbridge.lint.rules.portability import SILENT
from toolbridge.lint.settings import LintSettings
from toolbridge.providers import providers
from toolbridge.tools import read_tools

THREE = ("openai-chat", "anthropic", "gemini")


def told(
    schema: Any, *names: str, name: str = "find_plants", server: str = "", rules: str = "portability"
) -> list[tuple[str, str, str]]:
    """The rule, the place and the message of each finding on one tool."""
    tools = read_tools([{"name": name, "inputSchema": schema}], server)
    report = lint_tools(tools, settings=LintSettings(select=(rules,), providers=names or THREE))
    return [(each.rule, each.path, each.message) for each in report.findings]


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def test_a_tool_that_every_provider_takes_as_it_is_has_no_finding() -> None:
    schema = an_object(query={"type": "string", "description": "Part of a name."}, limit={"type": "integer"})
    assert told(schema, "main") == []


def test_a_constraint_that_a_provider_does_not_enforce_is_told_once_with_the_number_of_its_places() -> None:
    text = {"type": "string", "pattern": "^[a-z]$"}
    assert told(an_object(bed=text, plant=text, soil=text), "anthropic", "gemini", "ollama") == [
        (
            "portability.widened",
            "/inputSchema/properties/bed",
            "for gemini and ollama, pattern: not enforced here; the description says it (3 places)",
        )
    ]


def test_each_code_has_a_finding_of_its_own() -> None:
    schema = an_object(bed={"type": "string", "pattern": "^[a-z]$", "minLength": 1})
    assert [message for _, _, message in told(schema, "gemini")] == [
        "for gemini, pattern: not enforced here; the description says it",
        "for gemini, minLength: not enforced here; the description says it",
    ]


def test_many_providers_are_counted_and_not_named() -> None:
    assert [message for _, _, message in told({"type": "array"}, "all")] == [
        f"openai-chat, openai-responses, anthropic and {len(providers()) - 3} others cannot be given the tool: its input "
        'schema describes "array", and MCP arguments are always an object'
    ]


def test_a_shape_that_is_written_in_another_way_is_told_in_words() -> None:
    schema = an_object(beds={"type": "object", "additionalProperties": {"type": "string"}})
    assert told(schema, "gemini-openapi") == [
        (
            "portability.rewritten",
            "/inputSchema/properties/beds",
            "for gemini-openapi: a map is sent as a list of keys and values",
        )
    ]


def test_what_keeps_a_definition_from_being_strict_is_told_with_what_to_do() -> None:
    schema = {"type": "object", "properties": {"bed": {"type": ["string", "null"]}, "crop": {"type": "object"}}}
    assert told(schema, "openai-chat") == [
        (
            "portability.not-strict",
            "/inputSchema/properties/bed",
            "not strict with openai-chat: a parameter is both optional and nullable: let it be left out or be null, not both",
        ),
        (
            "portability.not-strict",
            "/inputSchema/properties/crop",
            "not strict with openai-chat: an object takes any properties: list the ones that it knows",
        ),
    ]


def test_what_is_not_valid_is_told_once_and_not_by_each_provider() -> None:
    assert told(an_object(limit={"type": "int"}, bed={"type": "string", "enum": []}), "main") == [
        (
            "portability.unsound",
            "/inputSchema/properties/limit",
            'type "int" is not valid as written; it is set right here, and other hosts may refuse it',
        ),
        (
            "portability.unsound",
            "/inputSchema/properties/bed",
            "enum [] is not valid as written; it is left out here, and other hosts may refuse it",
        ),
    ]


def test_a_reference_that_leads_nowhere_is_unsound() -> None:
    assert told(an_object(bed={"$ref": "https://example.com/bed.json"}), rules="portability.unsound") == [
        (
            "portability.unsound",
            "/inputSchema/properties/bed",
            "the reference leads nowhere: any value is allowed",
        )
    ]


def test_a_tool_that_cannot_be_expressed_is_told_with_the_reason_and_nothing_else() -> None:
    assert told({"type": "array", "items": {"type": "string"}}) == [
        (
            "portability.left-out",
            "",
            "openai-chat, anthropic and gemini cannot be given the tool: its input schema describes "
            '"array", and MCP arguments are always an object',
        )
    ]


def test_an_entry_that_is_no_tool_is_the_affair_of_a_rule_on_names() -> None:
    tools = read_tools([{"description": "nameless"}])
    assert lint_tools(tools, settings=LintSettings(select=("portability",))).findings == ()


def test_a_name_that_is_too_long_with_its_servers_is_told_once() -> None:
    found = told(an_object(), name="find_" + "plants" * 8, server="garden")
    assert [(rule, path) for rule, path, _ in found] == [("portability.long-name", "/name")]
    assert found[0][2].startswith(
        "with its server's name it has 66 characters, and 64 are allowed by openai-chat and gemini: models see "
        "mcp__garden__find_plants"
    )


def test_a_name_that_is_not_allowed_anyway_is_told_by_rules_on_names_only() -> None:
    assert told(an_object(), "openai-chat", name="find " + "plants" * 8, server="garden") == []


def listed(**counts: int) -> list[tuple[str, str]]:
    tools = [
        tool
        for server, count in counts.items()
        for tool in read_tools([{"name": f"find_{i}"} for i in range(count)], server)
    ]
    settings = LintSettings(select=("portability.too-many-tools",), providers=THREE)
    return [(each.server, each.message) for each in lint_tools(tools, settings=settings).findings]


def test_a_server_with_more_tools_than_a_request_holds_is_told_for_each_limit() -> None:
    assert listed(garden=513, shed=3) == [
        ("garden", "the server lists 513 tools, and 128 in a request are allowed by openai-chat: 385 are left out"),
        ("garden", "the server lists 513 tools, and 512 in a request are allowed by gemini: 1 are left out"),
    ]


def test_as_many_tools_as_a_request_holds_are_not_too_many() -> None:
    assert listed(garden=128) == []
    assert listed(garden=100, shed=28) == []


def test_servers_that_together_have_too_many_tools_are_told_of_the_largest() -> None:
    assert listed(garden=100, shed=40) == [
        (
            "garden",
            "2 servers list 140 tools together, and 128 in a request are allowed by openai-chat: 12 are left out; "
            "this server lists most of them, 100",
        )
    ]


def test_tools_that_are_kept_from_models_are_no_affair_of_providers() -> None:
    private = {"_meta": {"openai/visibility": "private"}}
    tools = read_tools([{"name": f"find.{i}", "inputSchema": {"type": "array"}, **private} for i in range(130)])
    assert lint_tools(tools, settings=LintSettings(select=("portability", "cost"), budget=1)).findings == ()


def test_main_and_all_stand_for_providers_and_another_name_is_refused() -> None:
    assert [each.name for each in chosen_providers(("gemini", "main"))] == [
        "gemini",
        *(each for each in MAIN if each != "gemini"),
    ]
    assert [each.name for each in chosen_providers(("all",))] == list(providers())
    assert ",".join(MAIN) == matrix.MAIN
    with pytest.raises(UnknownProviderError, match="did you mean 'gemini'"):
        lint_tools([], settings=LintSettings(select=("portability",), providers=("gemni",)))
    with pytest.raises(ToolbridgeError, match="none is named"):
        lint_tools([], settings=LintSettings(select=("portability",), providers=()))


def test_notes_that_are_no_flaw_have_a_reason() -> None:
    assert all(len(reason) > 20 for reason in SILENT.values())


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        7,
        "x",
        [],
        {},
        {"properties": []},
        {"type": "object", "properties": {"\ud800\u202e": {"type": "\x1b[31m", "pattern": "(a+)+$"}}},
        {"type": "object", "properties": {f"p{i}": {"type": ["string", "null"], "minLength": 1} for i in range(730)}},
        deep(900),
        {"$ref": "#"},
        {"type": "object", "properties": {"a": {"minLength": "\u202e\n"}}, "\u202e": 1},
        {"type": "object", "properties": {"n": {"type": "number", "minimum": float("inf"), "multipleOf": 0}}},
    ],
    ids=range(13),
)
def test_whatever_a_schema_is_it_is_told_in_lines_that_can_be_shown(schema: Any) -> None:
    tools = read_tools(
        [{"name": "odd\n\u202e", "description": "\ud800", "inputSchema": schema, "outputSchema": schema}]
    )
    settings = LintSettings(select=("portability", "cost", "result"), providers=("all",), tool_budget=1, budget=1)
    report = lint_tools(tools, settings=settings)
    assert report.findings
    assert [each.message for each in report.findings if not each.message.isprintable()] == []
