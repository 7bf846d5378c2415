"""Reports for programs: valid by the judges of each format, and deaf to what a server's text asks of its readers."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from junitparser import Failure, JUnitXml

from tests.lint.reports import FINDINGS, NASTY, SOURCE, finding, places, report
from tests.lint.sarif_schema import sarif_schema
from tests.lint.test_rules import found, tools_of
from toolbridge import ToolbridgeError, __version__
from toolbridge.lint.finding import Finding, Severity, Waived
from toolbridge.lint.linting import LintReport, lint_tools
from toolbridge.lint.places import NOWHERE, Places, SourceLabel
from toolbridge.lint.report import FORMATS, write_report
from toolbridge.lint.report.markdown import LONGEST, code, plain
from toolbridge.lint.report.sarif import MOST_RESULTS
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.table import rules
from toolbridge.tools import read_tools
from toolbridge.types import Tool


def written(format: str, of: LintReport | None = None, where: Places | None = None) -> str:
    return write_report(of or report(), format, source=SOURCE, places=places() if where is None else where, exit_code=1)


def sarif(of: LintReport | None = None, where: Places | None = None) -> dict[str, Any]:
    log = json.loads(written("sarif", of, where))
    assert [error.message for error in Draft7Validator(sarif_schema()).iter_errors(log)] == []
    (run,) = log["runs"]
    return run


def broken_by_all_rules() -> LintReport:
    """What every rule finds in its bad example."""
    listed: list[Tool] = []
    findings: list[Finding] = []
    for rule in rules().values():
        listed += tools_of(rule.bad)
        findings += found(rule, rule.bad)
    return report(findings, (), listed=listed)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_writes_every_report_and_the_same_twice(format: str) -> None:
    for of in (report(), report([], ()), lint_tools([]), broken_by_all_rules()):
        text = written(format, of)
        assert text.endswith("\n")
        assert text == written(format, of)
        text.encode()  # no lone surrogate
        assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b]", text) is None


def test_an_unknown_format_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(ToolbridgeError, match="unknown report format 'sarf'; did you mean 'sarif'"):
        written("sarf")


def test_the_document_has_the_keys_that_are_promised() -> None:
    document = json.loads(written("json"))
    findings = document.pop("findings")
    assert [each["rule"] for each in findings] == [each.rule for each in FINDINGS]
    assert findings[1] == {
        "rule": "safety.hidden-text",
        "severity": "error",
        "server": "",
        "tool": "find_order",
        "message": "a character that nobody sees stands in the description; remove it",
        "path": "/description",
        "excerpt": {"text": "Finds an order.\nCheap\u200band quick.", "span": [21, 22], "offset": 0},
        "place": {"file": "tools.json", "line": 5, "column": 45, "end_line": 5, "end_column": 46},
    }
    assert findings[0]["tool"] is None
    assert [(each["rule"], each["by"], each["reason"]) for each in document.pop("waived")] == [
        ("name.verb", "tool", "it has | one"),
        ("result.no-output-schema", "settings", ""),
    ]
    assert set(document.pop("rules")) == {each.rule for each in FINDINGS} & set(rules()) | {
        each for each in ("name.verb", "result.no-output-schema") if each in rules()
    }
    assert document == {
        "schema_version": 1,
        "tool": {"name": "toolbridge", "version": __version__},
        "source": {"label": "tools.json", "kind": "file", "path": "tools.json"},
        "exit_code": 1,
        "fail_on": "warning",
        "counts": {"tools": 3, "error": 1, "warning": 5, "info": 2, "waived": 2},
        "servers": [{"name": "", "score": 85, "tools": 3, "error": 1, "warning": 5, "info": 2}],
        "tools": [
            {"server": "", "name": "find_order", "score": 67},
            {"server": "", "name": "drop_v2", "score": 91},
            {"server": "", "name": "list_orders", "score": 100},
        ],
        "failures": [],
        "disabled": [],
    }


def test_a_megabyte_of_text_is_not_told_again_with_each_finding() -> None:
    text = "x" * 1_000_000
    many = [
        finding("safety.x", "error", "find_order", "wrong", "/description", text, (i, i + 9_000)) for i in range(50)
    ]
    many.append(finding("safety.x", "error", "find_order", "wrong", "/description", text))
    for format in FORMATS:
        assert len(written(format, report(many))) < 100_000
    excerpt = json.loads(written("json", report(many)))["findings"][0]["excerpt"]
    assert excerpt == {"text": "x" * 400, "span": [0, 400], "offset": 0}


def test_sarif_is_valid_for_findings_of_every_shape_and_of_every_rule() -> None:
    sarif()
    sarif(report([], ()))
    sarif(lint_tools([]))
    run = sarif(broken_by_all_rules(), NOWHERE)
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == list(rules())
    for each in run["tool"]["driver"]["rules"]:
        assert each["help"]["markdown"]
        assert each["defaultConfiguration"]["level"] in ("error", "warning", "note")
    for each in run["results"]:
        assert run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] == each["ruleId"]


def test_a_result_of_sarif_says_where_it_stands_and_keeps_its_fingerprint_when_lines_move() -> None:
    run = sarif()
    result = run["results"][1]
    marks = result.pop("partialFingerprints")
    assert result == {
        "ruleId": "safety.hidden-text",
        "ruleIndex": run["results"][1]["ruleIndex"],
        "level": "error",
        "message": {"text": "find_order: a character that nobody sees stands in the description; remove it"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "tools.json", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 5, "startColumn": 45, "endLine": 5, "endColumn": 46},
                },
                "logicalLocations": [
                    {"name": "description", "fullyQualifiedName": "find_order/description", "kind": "member"}
                ],
            }
        ],
    }
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["automationDetails"] == {"id": "toolbridge-lint/tools.json/"}
    assert run["invocations"] == [
        {
            "executionSuccessful": True,
            "exitCode": 1,
            "exitCodeDescription": "there are findings that the settings forbid",
        }
    ]
    moved = sarif(where=NOWHERE)["results"]
    assert moved[1]["partialFingerprints"] == marks
    assert moved[1]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "tools.json", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1},
    }
    prints = [each["partialFingerprints"]["primaryLocationLineHash"] for each in moved]
    assert len(set(prints)) == len(prints)
    reworded = replace(FINDINGS[1], flaw=replace(FINDINGS[1].flaw, message="said otherwise"))
    assert sarif(report([reworded]))["results"][0]["partialFingerprints"] == marks
    twice = sarif(report([FINDINGS[1], FINDINGS[1]]))["results"][:2]
    assert twice[0]["partialFingerprints"] == marks != twice[1]["partialFingerprints"]


def test_what_was_waived_is_suppressed_in_sarif_with_its_reason() -> None:
    results = sarif()["results"]
    assert [each.get("suppressions") for each in results[-3:]] == [
        None,
        [{"kind": "inSource", "status": "accepted", "justification": "it has | one"}],
        [{"kind": "external", "status": "accepted"}],
    ]


def test_text_of_a_server_is_neither_a_placeholder_nor_a_link_in_sarif() -> None:
    (message,) = [each["message"]["text"] for each in sarif()["results"] if each["ruleId"] == NASTY.rule]
    assert "{{0}}" in message
    assert "[a] (http://evil.test)" in message
    assert message.endswith("\\x1b[31m\\u202e\\ud800")


def test_sarif_holds_no_more_results_than_github_takes_the_gravest_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_RESULTS == 25_000
    monkeypatch.setattr("toolbridge.lint.report.sarif.MOST_RESULTS", 3)
    remark = finding("name.case", "info", "find_order", "wrong")
    error = finding("safety.x", "error", "find_order", "wrong")
    run = sarif(report([remark, remark, remark, error], (Waived(error, "settings"),)), NOWHERE)
    assert [each["level"] for each in run["results"]] == ["error", "note", "note"]
    assert run["invocations"][0]["toolExecutionNotifications"] == [
        {"level": "warning", "message": {"text": "2 results are left out: no more than 3 are taken"}}
    ]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/tööls#1.json", "a%20b/t%C3%B6%C3%B6ls%231.json"),
        ("./x/../tools.json", "tools.json"),
        ("sub/tools.json", "sub/tools.json"),
    ],
)
def test_files_are_named_from_the_root_of_the_repository(
    file: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")

    def location(path: str) -> dict[str, str]:
        source = SourceLabel("x", "file", path)
        text = write_report(report(FINDINGS[:1]), "sarif", source=source, places=NOWHERE)
        return json.loads(text)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]

    assert location(file) == {"uri": f"deep/{uri}", "uriBaseId": "%SRCROOT%"}
    assert location(str(tmp_path / file)) == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    outside = tmp_path.parent / "tools.json"
    assert location(str(outside)) == {"uri": outside.as_uri()}


def read_commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Lines as the runner of GitHub Actions reads them."""
    commands: list[tuple[str, dict[str, str], str]] = []
    for line in text.splitlines():
        assert "##[" not in line
        if line.lstrip().startswith("::"):
            head, _, data = line.lstrip()[2:].partition("::")
            name, _, properties = head.partition(" ")
            read = dict(each.split("=", 1) for each in properties.split(","))
            commands.append((name, {key: unescaped(value) for key, value in read.items()}, unescaped(data)))
    return commands


def unescaped(text: str) -> str:
    for escape, character in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_workflow_commands_stand_at_their_lines_the_gravest_first_and_repetitions_folded() -> None:
    text = written("github")
    assert [(name, of["line"], of["title"]) for name, of, _ in read_commands(text)] == [
        ("error", "5", "safety.hidden-text"),
        ("warning", "9", "parameter.no-description"),
        ("warning", "25", "name.version"),
        ("notice", "1", "cost.list"),
        ("notice", "26", "description.short"),
    ]
    assert text.splitlines()[1] == (
        "::warning file=tools.json,line=9,col=11,endColumn=15,title=parameter.no-description"
        "::find_order: parameter 'id' has no description (and in 3 more places)"
    )
    assert read_commands(text)[-1][2] == (
        "drop_v2: says ::error::x ## [error] %0A {0} | `x` <b>@octocat</b> [a](http://evil.test) $x$ #1 www.evil.test "
        "\\x1b[31m\\u202e\\ud800"
    )
    assert text.splitlines()[-1] == "toolbridge lint: tools.json: 1 error, 5 warnings, 2 remarks in 3 tools, 2 waived"


HOSTILE = "\n::stop-commands::x\r\n##[error]y::warning::%0A::error::"


def test_no_text_of_a_server_becomes_a_command() -> None:
    of = finding("name.case", "error", HOSTILE, HOSTILE, HOSTILE, server=HOSTILE)
    source = SourceLabel(HOSTILE, "file", "a,b:c%\n::error::.json", root=".")
    text = write_report(report([of]), "github", source=source)
    ((name, properties, _),) = read_commands(text)
    assert (name, properties["line"], properties["title"]) == ("error", "1", "name.case")
    assert properties["file"] == "a,b:c%\n::error::.json"
    assert len(text.splitlines()) == 2


def test_junit_has_a_suite_for_each_server_and_a_case_for_each_tool() -> None:
    other = read_tools([{"name": "ping"}], "other")
    read = JUnitXml.fromstring(written("junit", report(listed=[*report().tools, *other])).encode())
    assert [
        (suite.name, suite.tests, suite.failures, [(case.name, [type(each) for each in case.result]) for case in suite])
        for suite in read
    ] == [
        (
            "tools.json",
            4,
            2,
            [("(all tools together)", []), ("find_order", [Failure]), ("drop_v2", [Failure]), ("list_orders", [])],
        ),
        ("other", 1, 0, [("ping", [])]),
    ]
    failure = list(next(iter(read)))[2].result[0]
    assert (failure.type, failure.message) == ("warning", "name.version: the name carries a version: 'drop' would do")
    assert failure.text == (
        "tools.json:25:21: warning: name.version: the name carries a version: 'drop' would do [/name]"
    )


def test_a_case_of_junit_fails_where_the_command_does() -> None:
    cases: list[tuple[Severity | None, int]] = [("error", 1), ("warning", 2), ("info", 3), (None, 0)]
    for fail_on, failures in cases:
        of = report(settings=LintSettings(fail_on=fail_on))
        read = JUnitXml.fromstring(written("junit", of).encode())
        assert (read.tests, read.failures, read.errors) == (4, failures, 0)


ALLOWED = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "properties": set[str](),
    "property": {"name", "value"},
    "testcase": {"classname", "name", "time"},
    "failure": {"type", "message"},
    "system-out": set[str](),
}
"""Elements and attributes of Jenkins' schema that we use; the whole was held against it by hand."""


def test_junit_keeps_to_what_jenkins_schema_allows_whatever_characters_come() -> None:
    from xml.etree import ElementTree

    every = "".join(map(chr, (*range(0x20), 0x7F, 0x85, 0x2028, 0xD800, 0xFFFE, 0xFFFF, 0x1F600))) + "]]>&<\"'"
    of = finding("name.case", "error", every, every, every, server=every)
    text = written("junit", report([*FINDINGS, of], (Waived(of, "tool", every),)))
    for _, element in ElementTree.iterparse(StringIO(text)):
        assert set(element.attrib) <= ALLOWED[element.tag]


def rendered(markdown: str) -> str:
    options = cmarkgfm.Options.CMARK_OPT_UNSAFE  # raw HTML is ours, and shown
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options)


def read_text(markup: str) -> str:
    return html.unescape(re.sub(r"<!-- -->|</?(?:span|p|code|td)>", "", markup)).strip()


MARKUP = st.text(st.sampled_from("`|\\*_[]()<>!#@$&~-+=:/. \naw1http") | st.characters(), max_size=40)


@given(MARKUP, st.sampled_from([plain, code]))
@example("@octocat #1 GH-1 o/r#2 http://a.b www.a.b a@b.c $x$ ![a](b) <b> &amp; *x* _y_ ~~z~~ \\| \\", plain)
@example("@octocat #1 http://a.b `` | ` \\| <b> &amp; $x$ \\", code)
def test_text_of_a_server_is_nothing_but_text_in_markdown(text: str, spelt: Any) -> None:
    page = rendered(f"| a | b |\n|---|---|\n| x{spelt(text)}x | y |\n")
    (cell, last) = re.findall(r"<td>.*?</td>", page)
    assert last == "<td>y</td>"
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    assert read_text(cell) == f"x{shown or ('' if spelt is plain else ' ')}x"
    assert set(re.findall(r"<[^>]*>", cell)) <= {"<td>", "</td>", "<span>", "</span>", "<!-- -->", "<code>", "</code>"}
    outside = re.sub(r"<code>.*?</code>", "", cell)
    assert re.search(r"@\w|#\d|https?://|www\.", outside) is None


def test_the_page_has_a_table_of_what_is_grave_and_folds_away_remarks_and_waivers() -> None:
    page = rendered(written("markdown"))
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL) for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)]
    assert [row[:3] for row in rows if row] == [
        ["error", "<code>find_order</code>", "safety.hidden-text"],
        ["warning", "<code>find_order</code>", "parameter.no-description"],
        ["warning", "<code>drop_v2</code>", "name.version"],
        ["info", "all tools", "cost.list"],
        ["info", "<code>drop_v2</code>", "description.short"],
        ["info", "<code>list_orders</code>", "name.verb"],
        ["info", "<code>list_orders</code>", "result.no-output-schema"],
    ]
    assert page.count("<details>") == page.count("</details>") == 2
    assert "<a" not in page
    assert page.startswith("<h2>Tools of <code>tools.json</code></h2>")


def test_a_comment_is_never_longer_than_github_takes() -> None:
    many: list[Finding] = []
    for severity in ("error", "warning", "info"):
        many += [finding(f"x.{severity}{i}", severity, "drop_v2", "|@<" * 200) for i in range(300)]
    text = written("markdown", report(many, tuple(Waived(each, "settings") for each in many)))
    assert len(text) <= LONGEST
    assert text.count(" more | | | |") == 3
