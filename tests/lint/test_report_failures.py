"""Reports on a configuration of which a server is not there: every format says so, in its own way."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from jsonschema import Draft7Validator

from tests.lint.reports import SOURCE, places, report
from tests.lint.sarif_schema import sarif_schema
from toolbridge.failure import Failure
from toolbridge.lint.report import write_report

FAILED = Failure("bad|\x1b", "exited", "its process exited with code 3", command="bad --key", exit_code=3)


def partly(format: str) -> str:
    """The report on what of a configuration is there: one server is not, and one is disabled."""
    return write_report(
        report([], ()), format, source=SOURCE, places=places(), exit_code=1, failures=(FAILED,), disabled=("off",)
    )


def test_the_document_names_servers_that_are_not_there() -> None:
    document = json.loads(partly("json"))
    assert document["failures"] == [
        {
            "server": "bad|\x1b",
            "cause": "exited",
            "message": "its process exited with code 3",
            "fix": FAILED.fix,
        }
    ]
    assert document["disabled"] == ["off"]


def test_sarif_says_that_the_run_was_not_whole() -> None:
    document = json.loads(partly("sarif"))
    assert [error.message for error in Draft7Validator(sarif_schema()).iter_errors(document)] == []
    assert document["runs"][0]["invocations"] == [
        {
            "executionSuccessful": False,
            "exitCode": 1,
            "exitCodeDescription": "not every server is there",
            "toolExecutionNotifications": [
                {"level": "error", "message": {"text": "bad|\\x1b: its process exited with code 3"}},
                {"level": "note", "message": {"text": "off: disabled, and not asked"}},
            ],
        }
    ]
    both = write_report(report(), "sarif", source=SOURCE, exit_code=1, failures=(FAILED,))
    assert json.loads(both)["runs"][0]["invocations"][0]["exitCodeDescription"] == (
        "there are findings that the settings forbid, and not every server is there"
    )


def test_a_server_that_is_not_there_is_an_error_of_junit_and_a_disabled_one_is_skipped() -> None:
    root = ElementTree.fromstring(partly("junit"))
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "5",
        "failures": "0",
        "errors": "1",
    }
    bad, off = root.findall("testsuite")[1:]
    assert (bad.get("name"), bad.get("tests"), bad.get("errors")) == ("bad|\\x1b", "1", "1")
    error = bad.find("testcase/error")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("exited", "its process exited with code 3")
    assert (off.get("name"), off.get("skipped"), off.get("errors")) == ("off", "1", "0")
    skipped = off.find("testcase/skipped")
    assert skipped is not None
    assert skipped.get("message") == "disabled, and not asked"


def test_reports_for_people_name_servers_that_are_not_there() -> None:
    assert partly("github").splitlines() == [
        "::error file=tools.json,line=1,title=server not there::bad|\\x1b: its process exited with code 3",
        "toolbridge lint: tools.json: nothing to find fault with in 3 tools, not there: bad|\\x1b, disabled: off",
    ]
    assert partly("text").splitlines() == [
        "tools.json: 3 tools, nothing to find fault with",
        "not there: bad|\\x1b (its process exited with code 3)",
        "disabled, and not asked: off",
    ]
    assert partly("markdown").splitlines()[2:] == [
        "3 tools, nothing to find fault with.",
        "",
        "- **Not there:** <code>bad&#124;\\\\x1b</code>: its process exited with code 3",
        "- Disabled, and not asked: `off`",
    ]
