"""`toolbridge providers`: the tables that the conversion uses, for eyes and for programs."""

from __future__ import annotations

import pytest

from tests.cli.process import toolbridge
from toolbridge.providers import providers


def test_the_table_has_a_row_for_every_provider_and_fits_into_eighty_columns() -> None:
    answer = toolbridge("providers", COLUMNS="80")
    lines = answer.out.splitlines()
    assert (answer.code, answer.err) == (0, "")
    assert lines[0] == "provider          names  tools  description  strict      hosted  schemas"
    assert lines[1] == "openai-chat          64    128            –  by default  –       json-schema"
    assert [line.split()[0] for line in lines[1 : len(providers()) + 1]] == list(providers())
    assert [line for line in lines if len(line) > 80] == []


@pytest.mark.parametrize("name", providers())
def test_the_details_have_every_fact_with_its_source_and_its_month(name: str) -> None:
    provider = providers()[name]
    answer = toolbridge("providers", name, COLUMNS="400")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == f"{name}: {provider.title}"
    assert f"  names           up to {provider.names.length} characters, {provider.names.pattern.pattern}" in lines
    for fact in provider.facts:
        at = lines.index(f"  {fact.what}")
        assert lines[at + 1] == f"      {fact.source}, {fact.checked}"


def test_the_details_of_a_strict_provider_say_both_dialects() -> None:
    lines = toolbridge("providers", "anthropic", COLUMNS="120").out.splitlines()
    assert "Definitions (anthropic)" in lines
    assert "Strict definitions (anthropic-strict)" in lines
    assert (
        "  strict          on request (--strict); in one request at most 20 tools, 24 optional properties, 16 unions"
        in lines
    )
    assert [
        line for line in toolbridge("providers", "anthropic", COLUMNS="80").out.splitlines() if len(line) > 80
    ] == []


def test_json_lists_every_provider_and_with_a_name_only_that_one() -> None:
    every = toolbridge("providers", "--json")
    assert (every.code, every.err) == (0, "")
    assert [each["name"] for each in every.json] == list(providers())
    for name in ("anthropic", "gemini-openapi", "azure"):
        one = toolbridge("providers", name, "--json")
        assert [one.json] == [each for each in every.json if each["name"] == name]


def test_json_says_what_the_tables_say() -> None:
    provider = providers()["anthropic"]
    answer = toolbridge("providers", "anthropic", "--json").json
    dialect, strict = answer.pop("dialect"), answer["strict"].pop("dialect")
    assert answer == {
        "name": "anthropic",
        "title": provider.title,
        "names": {"pattern": provider.names.pattern.pattern, "length": 128},
        "most_tools": None,
        "longest_description": None,
        "strict": {"by_default": False, "budget": {"tools": 20, "optionals": 24, "unions": 16}},
        "hosted_mcp": True,
        "facts": [{"what": each.what, "source": each.source, "checked": each.checked} for each in provider.facts],
    }
    assert dialect["verbatim"] is True
    assert dialect["keys"] == "[a-zA-Z0-9_.-]{1,64}"
    assert strict["closed"] is True
    assert {keyword: strict["rules"][keyword] for keyword in ("title", "format", "pattern", "default")} == {
        "title": "kept",
        "format": "partly",
        "pattern": "said",
        "default": "mentioned",
    }
