"""Every rule finds its bad example and passes its good one, and says why it is there."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from toolbridge.lint.finding import Finding
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.rule import Rule, Sample
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.table import rules
from toolbridge.tools import read_tools
from toolbridge.types import Tool


def tools_of(sample: Sample) -> list[Tool]:
    servers = sample.servers or ("",) * len(sample.tools)
    return [tool for entry, server in zip(sample.tools, servers, strict=True) for tool in read_tools([entry], server)]


def found(rule: Rule, sample: Sample) -> list[Finding]:
    settings = replace(LintSettings(select=(rule.id,)), **sample.settings)
    tools = tools_of(sample)
    facts = {} if sample.facts is None else {tool.id.server: sample.facts for tool in tools}
    return list(lint_tools(tools, settings=settings, servers=facts).findings)


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.id)
def test_a_rule_finds_its_bad_example_and_passes_its_good_one(rule: Rule) -> None:
    assert [each.rule for each in found(rule, rule.bad)][:1] == [rule.id]
    assert found(rule, rule.good) == []


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.id)
def test_a_rule_says_what_it_asks_for_why_and_where_that_comes_from(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z0-9-]+", rule.id)
    assert rule.summary.endswith(".")
    assert rule.why.endswith(".")
    assert len(rule.source) > 10
    assert (rule.check is None) != (rule.check_all is None)


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.id)
def test_a_finding_says_what_is_wrong_in_one_line_and_its_span_lies_in_its_text(rule: Rule) -> None:
    for finding in found(rule, rule.bad):
        flaw = finding.flaw
        assert flaw.message.isprintable()
        assert not flaw.message.endswith(".")
        assert flaw.path == "" or flaw.path.startswith("/")
        if flaw.span is not None:
            start, end = flaw.span
            assert 0 <= start < end <= len(flaw.text)
