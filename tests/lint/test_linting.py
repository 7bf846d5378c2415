"""Linting: which rules are on, how grave they are here, who may waive them, in which order findings come, and scores.

With rules of its own: what real rules find is tested with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pytest

from toolbridge.errors import ToolbridgeError
from toolbridge.lint import linting, table
from toolbridge.lint.finding import Flaw, Severity, Waived
from toolbridge.lint.linting import LintReport, lint_tools
from toolbridge.lint.rule import CheckAll, Rule, of
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.subject import ServerFacts, Subject, Surface
from toolbridge.lint.waivers import NOT_WAIVED
from toolbridge.tools import read_tools
from toolbridge.types import Tool, ToolId


def rule(id: str, severity: Severity, letter: str, check_all: CheckAll | None = None) -> Rule:
    """Finds each time that the letter stands in a tool's description."""

    def check(subject: Subject) -> Iterator[Flaw]:
        for i, each in enumerate(subject.description):
            if each == letter:
                yield Flaw(f"has {letter} at {i}", "/description", subject.description, (i, i + 1))

    sample = of({"name": "a"})
    return Rule(id, severity, "", "", "", sample, sample, None if check_all else check, check_all)


def _about_servers(surface: Surface) -> Iterator[tuple[ToolId | str, Flaw]]:
    for name, facts in surface.servers.items():
        if facts.instructions == "loud":
            yield name, Flaw("is loud")
    for subject in surface.subjects:
        if "s" in subject.description:
            yield subject.tool.id, Flaw("is seen beside others")


ROWS = (
    rule("name.info", "info", "i"),
    rule("annotation.contradictory", "error", "c"),
    rule("name.error", "error", "e"),
    rule("safety.warning", "warning", "w"),
    rule("safety.servers", "warning", "", _about_servers),
)


@pytest.fixture(autouse=True)
def _own_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Mapping[str, Rule] = MappingProxyType({each.id: each for each in ROWS})
    for module in (table, linting):
        monkeypatch.setattr(module, "rules", lambda: rows)


def tools(server: str = "", /, **described: str) -> list[Tool]:
    return read_tools([{"name": name, "description": text} for name, text in described.items()], server)


def told(report: LintReport) -> list[tuple[str, str, str]]:
    return [(each.tool.name if each.tool else each.server, each.rule, each.severity) for each in report.findings]


def waiving(ignore: Any) -> list[Tool]:
    return read_tools([{"name": "a", "description": "iew", "_meta": {"toolbridge/lint": {"ignore": ignore}}}])


def test_findings_come_in_the_order_of_the_tools_the_gravest_first() -> None:
    report = lint_tools(tools(z="iew", a="e"))
    assert told(report) == [
        ("z", "name.error", "error"),
        ("z", "safety.warning", "warning"),
        ("z", "name.info", "info"),
        ("a", "name.error", "error"),
    ]
    assert (report.count("error"), report.count("warning"), report.count("info")) == (2, 1, 1)
    assert report.tools == tuple(tools(z="iew", a="e"))


def test_what_is_about_a_server_comes_first() -> None:
    facts = {"one": ServerFacts("one", instructions="loud")}
    report = lint_tools(tools("one", a="es"), servers=facts)
    assert told(report) == [
        ("one", "safety.servers", "warning"),
        ("a", "name.error", "error"),
        ("a", "safety.servers", "warning"),
    ]
    assert report.findings[0].tool is None
    assert report.findings[0].message == "is loud"


def test_a_rule_that_is_broken_twice_is_found_twice_in_order() -> None:
    report = lint_tools(tools(a="e e"))
    assert [(each.message, each.path, each.flaw.span) for each in report.findings] == [
        ("has e at 0", "/description", (0, 1)),
        ("has e at 2", "/description", (2, 3)),
    ]


@pytest.mark.parametrize(
    ("select", "ignore", "found"),
    [
        ((), (), ["name.error", "safety.warning", "name.info"]),
        (("name",), (), ["name.error", "name.info"]),
        (("name.info",), (), ["name.info"]),
        (("*.warning", "name.error"), (), ["name.error", "safety.warning"]),
        ((), ("name",), ["safety.warning"]),
        (("name",), ("*.error",), ["name.info"]),
        (("name",), ("name",), []),
    ],
)
def test_rules_are_chosen_by_id_group_or_glob(
    select: tuple[str, ...], ignore: tuple[str, ...], found: list[str]
) -> None:
    report = lint_tools(tools(a="iew"), settings=LintSettings(select=select, ignore=ignore))
    assert [each.rule for each in report.findings] == found
    assert report.waived == ()


def test_a_rule_is_as_grave_as_the_last_pattern_says() -> None:
    settings = LintSettings(severity={"name": "warning", "name.info": "error", "safety": "info"})
    assert told(lint_tools(tools(a="iew"), settings=settings)) == [
        ("a", "name.info", "error"),
        ("a", "name.error", "warning"),
        ("a", "safety.warning", "info"),
    ]


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        (LintSettings(select=("nam",)), "select: unknown rule 'nam'; did you mean 'name'?"),
        (LintSettings(ignore=("name.eror",)), "ignore: unknown rule 'name.eror'; did you mean 'name.error'?"),
        (LintSettings(severity={"xyz": "info"}), "severity: unknown rule 'xyz'; 'toolbridge lint --rules' lists them"),
        (LintSettings(tools={"a": ("nam",)}), "tools.a: unknown rule 'nam'; did you mean 'name'?"),
    ],
)
def test_a_pattern_that_means_no_rule_is_refused(settings: LintSettings, where: str) -> None:
    with pytest.raises(ToolbridgeError) as raised:
        lint_tools([], settings=settings)
    assert str(raised.value) == where


@pytest.mark.parametrize("name", ["a", "on*/a", "one/a", "[ab]"])
def test_settings_except_a_tool_by_name_server_or_glob(name: str) -> None:
    report = lint_tools(tools("one", a="ie", c="e"), settings=LintSettings(tools={name: ("name.error",)}))
    assert told(report) == [("a", "name.info", "info"), ("c", "name.error", "error")]
    assert [(each.finding.rule, each.by, each.reason) for each in report.waived] == [("name.error", "settings", "")]
    assert report.scores == {ToolId("one", "a"): 99, ToolId("one", "c"): 75}


@pytest.mark.parametrize(("name", "is_meant"), [("A", False), ("two/a", False), ("one/*", True), ("*", True)])
def test_a_name_means_exactly_what_it_says(name: str, is_meant: bool) -> None:
    report = lint_tools(tools("one", a="e"), settings=LintSettings(tools={name: ("name",)}))
    assert bool(report.waived) == is_meant


def test_a_tool_waives_rules_with_a_reason_but_never_those_of_safety() -> None:
    report = lint_tools(waiving({"name.error": "it is a format", "safety": "trust me", "*": 3}))
    assert told(report) == [("a", "safety.warning", "warning")]
    assert [(each.finding.rule, each.by, each.reason) for each in report.waived] == [
        ("name.info", "tool", ""),
        ("name.error", "tool", "it is a format"),
    ]


def test_a_list_of_waivers_needs_no_reasons() -> None:
    report = lint_tools(waiving(["name.error", 4]))
    assert told(report) == [("a", "safety.warning", "warning"), ("a", "name.info", "info")]
    assert [each.reason for each in report.waived] == [""]


@pytest.mark.parametrize("ignore", [None, "name", 3, [["name"]], {}, []])
def test_a_waiver_of_another_shape_waives_nothing(ignore: Any) -> None:
    report = lint_tools(waiving(ignore))
    assert (len(report.findings), report.waived) == (3, ())


def test_waivers_of_tools_can_be_switched_off_and_those_of_settings_stay() -> None:
    settings = LintSettings(waivers=False, tools={"a": ("safety",)})
    report = lint_tools(waiving(["name"]), settings=settings)
    assert told(report) == [("a", "name.error", "error"), ("a", "name.info", "info")]
    assert [(each.finding.rule, each.by) for each in report.waived] == [("safety.warning", "settings")]
    assert all(isinstance(each, Waived) for each in report.waived)


def test_a_tool_loses_points_once_for_each_rule_and_a_server_has_the_mean_of_its_tools() -> None:
    facts = {"one": ServerFacts("one", instructions="loud")}
    listed = [*tools("one", a="eee", b="", c="ws"), *tools("two", a="i")]
    report = lint_tools(listed, servers=facts)
    assert report.scores == {
        ToolId("one", "a"): 75,
        ToolId("one", "b"): 100,
        ToolId("one", "c"): 84,
        ToolId("two", "a"): 99,
    }
    assert report.server_scores == {"one": (75 + 100 + 84) // 3 - 8, "two": 99}


def test_no_score_is_below_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {f"name.{i}": rule(f"name.{i}", "error", "e") for i in range(5)}
    for module in (table, linting):
        monkeypatch.setattr(module, "rules", lambda: rows)
    report = lint_tools(tools("one", a="e"))
    assert (report.scores, report.server_scores) == ({ToolId("one", "a"): 0}, {"one": 0})


@pytest.mark.parametrize(
    ("described", "fail_on", "failed"),
    [
        ("e", "error", True), ("w", "error", False), ("w", "warning", True), ("i", "warning", False),
        ("i", "info", True), ("", "info", False), ("e", "info", True), ("e", None, False),
    ],
)  # fmt: skip
def test_a_report_fails_from_the_chosen_severity_on(described: str, fail_on: Severity | None, failed: bool) -> None:
    assert lint_tools(tools(a=described), settings=LintSettings(fail_on=fail_on)).failed is failed


def test_nothing_to_lint_is_no_failure() -> None:
    report = lint_tools([])
    assert (report.tools, report.findings, report.waived, report.scores, report.failed) == ((), (), (), {}, False)


def test_two_tools_of_one_name_are_both_looked_at() -> None:
    report = lint_tools([*tools(a="e"), *tools(a="w")])
    assert sorted(told(report)) == [("a", "name.error", "error"), ("a", "safety.warning", "warning")]


def test_a_tool_cannot_waive_what_protects_from_it() -> None:
    real = import_module("toolbridge.lint.rules.annotations").RULES + import_module("toolbridge.lint.rules.apps").RULES
    real += import_module("toolbridge.lint.rules.names").RULES + import_module("toolbridge.lint.rules.parameters").RULES
    known = {each.id for each in real}
    assert {each for each in NOT_WAIVED if "." in each} <= known
    assert set(NOT_WAIVED) == {
        "safety",
        "annotation.read-only-contradicted",
        "annotation.destructive-denied",
        "annotation.contradictory",
        "app.visibility",
        "parameter.secret",
        "name.duplicate",
    }
    listed = [{"name": "a", "description": "c", "_meta": {"toolbridge/lint": {"ignore": ["*", "annotation"]}}}]
    report = lint_tools(read_tools(listed))
    assert (told(report), report.waived) == ([("a", "annotation.contradictory", "error")], ())
    excepted = lint_tools(read_tools(listed), settings=LintSettings(tools={"a": ("annotation",)}))
    assert [(each.finding.rule, each.by) for each in excepted.waived] == [("annotation.contradictory", "settings")]


@pytest.mark.parametrize("waiving_first", [True, False])
def test_a_tool_waives_nothing_for_another_of_its_name(waiving_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen(surface: Surface) -> Iterator[tuple[ToolId | str, Flaw]]:
        yield surface.subjects[0].tool.id, Flaw("is seen beside others")

    rows = {each.id: each for each in (*ROWS, rule("name.seen", "info", "", seen))}
    for module in (table, linting):
        monkeypatch.setattr(module, "rules", lambda: rows)
    meta = {"toolbridge/lint": {"ignore": ["name"]}}
    pair: list[dict[str, Any]] = [{"name": "a", "description": "i", "_meta": meta}, {"name": "a", "description": "e"}]
    report = lint_tools(read_tools(pair if waiving_first else pair[::-1]))
    assert told(report) == [("a", "name.error", "error"), ("a", "name.seen", "info")]
    assert [each.finding.rule for each in report.waived] == ["name.info"]
    pair[1]["_meta"] = meta
    assert lint_tools(read_tools(pair)).findings == ()
