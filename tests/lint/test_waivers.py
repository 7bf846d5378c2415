"""Waivers that waive nothing: a tool's author is told of a rule that does not exist and of a shape that nobody reads."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.tools import read_tools

PATH = "/_meta/toolbridge~1lint"


def told(said: Any) -> list[tuple[str, str]]:
    tools = read_tools([{"name": "show_map", "_meta": {"toolbridge/lint": said}}])
    found = lint_tools(tools, settings=LintSettings(select=("app",))).findings
    assert {(each.rule, each.severity) for each in found} <= {("app.unknown-waiver", "info")}
    return [(each.path, each.message) for each in found]


@pytest.mark.parametrize(
    ("ignore", "messages"),
    [
        ({"name.version": "a format", "safety": "", "desc*": "", "name": ""}, []),
        (["name.version"], []),
        ({"name.versoin": ""}, ["it waives 'name.versoin', which is no rule; did you mean 'name.version'?"]),
        (["nam", "zzzzz"], [
            "it waives 'nam', which is no rule; did you mean 'name'?",
            "it waives 'zzzzz', which is no rule; 'toolbridge lint --rules' lists them",
        ]),
    ],
)  # fmt: skip
def test_a_waiver_of_no_rule_is_told(ignore: Any, messages: list[str]) -> None:
    assert told({"ignore": ignore}) == [(f"{PATH}/ignore", each) for each in messages]


@pytest.mark.parametrize("said", [3, "name", ["name"], {}, {"ignores": ["name"]}, {"ignore": "name"}, {"ignore": None}])
def test_a_waiver_that_nobody_reads_is_told(said: Any) -> None:
    assert told(said) == [(PATH, 'it waives nothing; expected {"ignore": {"rule": "reason"}}')]


@pytest.mark.parametrize(("length", "told_of"), [(60, 5), (10_000, 1)])
def test_a_flood_of_waivers_is_told_in_a_few_lines_and_at_once(length: int, told_of: int) -> None:
    flood = [f"{'*x' * (length // 2)}{i}" for i in range(2_000)]
    started = time.process_time()
    assert len(told({"ignore": flood})) == told_of
    assert time.process_time() - started < 10
