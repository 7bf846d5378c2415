"""Thousands of real tools: every definition is legal, none is left out, and arguments go there and back."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.support.shared import JUDGED_AS, corpus, judge, needs_corpus, needs_judge
from tests.support.trips import broken_trips
from toolbridge import Tool, prepare, read_tools
from toolbridge.providers import providers
from toolbridge.schema.check import Checker

pytestmark = needs_corpus

TARGETS = [
    (name, strict)
    for name, provider in providers().items()
    for strict in ((False, True) if provider.strict is not None else (False,))
    if name
    in ("openai-chat", "openai-responses", "anthropic", "gemini", "gemini-openapi", "bedrock", "mistral", "ollama")
    or name in ("llama.cpp", "moonshot", "azure")
]
WHOLE = bool(os.environ.get("TOOLBRIDGE_WHOLE_CORPUS"))
STRICT_TRIPS = [
    ("openai-chat", True),
    ("anthropic", True),
    ("gemini-openapi", False),
    ("ollama", False),
    ("anthropic", False),
]


def real_tools(every: int = 1) -> list[Tool]:
    return [read_tools([record["tool"]], record["server"])[0] for record in corpus("tools")[::every]]


@needs_judge
@pytest.mark.parametrize(("provider", "strict"), TARGETS)
def test_no_definition_of_a_real_tool_is_refused(provider: str, strict: bool) -> None:
    # A quarter of the tools for each target, another quarter for the next; all for all takes a quarter of an hour.
    tools = real_tools() if WHOLE else real_tools()[TARGETS.index((provider, strict)) % 4 :: 4]
    refused: list[tuple[str, list[str]]] = []
    left_out: dict[Any, str] = {}
    loose: list[str] = []
    for tool in tools:
        ready = prepare([tool], provider, strict)
        left_out.update({id: why for id, why in ready.left_out.items() if id not in ready.private})
        for definition in ready.definitions:
            found = judge().violations(JUDGED_AS.get(provider, provider), definition)
            if found:
                refused.append((str(tool.id), found))
            if strict and not ready.is_strict(tool.id):
                loose.append(str(tool.id))
    assert refused == []
    assert left_out == {}
    # Anthropic's budget of 24 optionals may be too small for one tool; elsewhere strict is strict.
    assert len(loose) <= (0.02 if provider == "anthropic" else 0.005) * len(tools)


@needs_judge
@pytest.mark.parametrize(("provider", "strict"), TARGETS)
def test_no_definition_of_the_worst_tools_is_refused(provider: str, strict: bool) -> None:
    for record in corpus("nasty"):
        tool = read_tools([record["tool"]], record["server"])[0]
        ready = prepare([tool], provider, strict)
        assert ready.left_out == {}
        assert judge().violations(JUDGED_AS.get(provider, provider), ready.definitions[0]) == []


@pytest.mark.parametrize(("provider", "strict"), STRICT_TRIPS)
def test_arguments_of_real_tools_go_there_and_back(provider: str, strict: bool) -> None:
    broken: list[str] = []
    for i, tool in enumerate(real_tools(every=7)):
        broken += [f"{tool.id}: {each}" for each in broken_trips(tool, prepare([tool], provider, strict), i, 4)]
    assert broken == []


def test_the_check_agrees_with_the_verdicts_of_a_schema_suite() -> None:
    known = {(37, True), (147, True)}  # siblings of a draft-07 reference, which count here and did not count then
    formats = 0
    for i, record in enumerate(corpus("hard_schemas")):
        schema = record.get("schema") or record["json_schema"]
        checker = Checker(schema)
        for case in record["tests"]:
            accepted = checker.accepts(case["data"])
            if accepted and not case["valid"]:
                formats += 1  # a format is not asserted here
                assert "format" in json.dumps(schema)
            elif accepted != case["valid"]:
                assert (i, case["valid"]) in known
    assert formats < 60


@needs_judge
@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "gemini-openapi", "ollama", "bedrock"])
def test_schemas_harder_than_any_tool_are_legal_too(provider: str) -> None:
    strict = providers()[provider].strict is not None
    for i, record in enumerate(corpus("hard_schemas")[::3]):
        tool = read_tools([{"name": f"t{i}", "inputSchema": record.get("schema") or record["json_schema"]}])[0]
        ready = prepare([tool], provider, strict)
        assert all("always an object" in why or "no object" in why for why in ready.left_out.values()), ready.left_out
        for definition in ready.definitions:
            assert judge().violations(JUDGED_AS.get(provider, provider), definition) == []
