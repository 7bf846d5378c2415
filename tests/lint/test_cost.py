"""Rules on cost: tools and lists against their budgets, and what could be saved."""

from __future__ import annotations

from typing import Any

from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.prepare import prepare
from toolbridge.tokens import definition_tokens, estimate
from toolbridge.tools import read_tools
from toolbridge.types import Tool

PROVIDERS = ("openai-chat", "anthropic", "gemini")


def told(tools: list[Tool], rule: str, **settings: Any) -> list[tuple[str, str, str]]:
    """Whose it is, the place and the message of each finding."""
    report = lint_tools(tools, settings=LintSettings(select=(rule,), **settings))
    return [(each.server if each.tool is None else str(each.tool), each.path, each.message) for each in report.findings]


def tool(name: str = "find_plants", server: str = "", description: str = "Find plants.", **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return read_tools([{"name": name, "description": description, "inputSchema": schema}], server)[0]


def costs(tools: list[Tool], provider: str) -> int:
    return sum(definition_tokens(each) for each in prepare(tools, provider).definitions)


def test_a_dear_tool_says_what_it_costs_where_it_is_dearest_and_which_part_is_dear() -> None:
    dear = tool(description="Find plants by name. " * 50, query={"type": "string"})
    most = max(PROVIDERS, key=lambda each: costs([dear], each))
    assert told([dear], "cost.tool", tool_budget=200) == [
        (
            "find_plants",
            "/description",
            f"costs about {costs([dear], most):,} tokens in every request with {most}, and the budget is 200: the dearest "
            f"part is its description, about {estimate(dear.description)}",
        )
    ]


def test_a_tool_within_its_budget_to_the_token_passes() -> None:
    cheap = tool(query={"type": "string"})
    most = max(costs([cheap], each) for each in PROVIDERS)
    assert told([cheap], "cost.tool", tool_budget=most) == []
    assert len(told([cheap], "cost.tool", tool_budget=most - 1)) == 1


def test_a_dear_parameter_is_named_and_definitions_count_as_a_part() -> None:
    words = "The bed that it grows in, as the plan of the garden has it. "
    assert told([tool(bed={"type": "string", "description": words * 20})], "cost.tool", tool_budget=200)[0][1:2] == (
        "/inputSchema/properties/bed",
    )
    schema = {
        "type": "object",
        "properties": {"bed": {"$ref": "#/$defs/bed"}},
        "$defs": {"bed": {"type": "string", "description": words * 20}},
    }
    tools = read_tools([{"name": "find_bed", "inputSchema": schema}])
    assert told(tools, "cost.tool", tool_budget=200)[0][1] == "/inputSchema/$defs"


def test_a_tool_of_many_parameters_is_told_so_where_no_part_is_dear() -> None:
    many: dict[str, Any] = {f"plant_{i}": {"type": "string", "description": "A plant."} for i in range(40)}
    (_, path, message), *rest = told([tool(**many)], "cost.tool", tool_budget=500)
    assert rest == []
    assert path == "/inputSchema/properties"
    assert message.endswith("and the budget is 500: no part is dear, but it has 40 parameters")


def test_a_list_is_counted_with_the_dearest_provider_and_only_against_a_budget() -> None:
    tools = [tool(f"find_{i}", "garden", query={"type": "string"}) for i in range(5)]
    most = max(PROVIDERS, key=lambda each: costs(tools, each))
    total = costs(tools, most)
    assert told(tools, "cost.list") == []
    assert told(tools, "cost.list", budget=total) == []
    assert told(tools, "cost.list", budget=total - 1) == [
        (
            "garden",
            "",
            f"the tools cost about {total} tokens in every request with {most}, and the budget is {total - 1}: offer "
            "fewer of them, or shorten the dearest",
        )
    ]


def test_a_list_of_several_servers_is_told_of_the_dearest() -> None:
    shed = [tool("find_tool", "shed")]
    garden = [tool(f"find_{i}", "garden") for i in range(3)]
    assert told([*shed, *garden], "cost.list", budget=10, providers=("anthropic",)) == [
        (
            "garden",
            "",
            f"the tools of 2 servers cost about {costs([*shed, *garden], 'anthropic')} tokens in every request with "
            f"anthropic, and the budget is 10: most are this server's, {costs(garden, 'anthropic')}",
        )
    ]


def test_a_text_that_stands_in_many_tools_of_a_server_is_told_with_what_its_copies_cost() -> None:
    text = "The kind of soil, as the catalogue of the garden names it: sand, silt, clay, loam, peat or chalk, or mixed."
    soil = {"type": "string", "description": text}
    tools = [tool(f"plan_{i}", "garden", soil=soil) for i in range(5)] + [tool("plan", "shed", soil=soil)]
    found = lint_tools(tools, settings=LintSettings(select=("cost.repetition",))).findings
    assert [(each.server, each.tool, each.flaw.text, each.message) for each in found] == [
        (
            "garden",
            None,
            text,
            f"one text stands in 5 places, and its copies cost about {4 * estimate(text)} tokens: say it once, in the "
            "server's instructions or in shorter words",
        )
    ]


def test_a_long_list_of_values_is_told_with_its_number_and_its_cost() -> None:
    values = [f"plant of the kind {i}" for i in range(60)]
    assert told([tool(kind={"type": "string", "enum": values}, bed={"enum": ["A", "B"]})], "cost.long-enum") == [
        (
            "find_plants",
            "/inputSchema/properties/kind/enum",
            "60 values cost about 423 tokens in every request: take a text, and let another tool find the values",
        )
    ]


def test_titles_that_repeat_names_are_told_and_others_are_not() -> None:
    names = [f"page_size_{each}" for each in "abcdef"]
    repeated: dict[str, Any] = {name: {"type": "string", "title": name.replace("_", " ").title()} for name in names}
    others: dict[str, Any] = {name: {"type": "string", "title": "How many"} for name in names}
    assert told([tool(**repeated)], "cost.noise") == [
        (
            "find_plants",
            "/inputSchema/properties/page_size_a/title",
            "6 titles only repeat the names of their properties, and cost about 42 tokens in every request: leave them out",
        )
    ]
    assert told([tool(**others)], "cost.noise") == []
