"""Rules on results: what tools promise, and what they answered when they were tried."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.subject import ServerFacts, Trial
from toolbridge.tools import read_tools
from toolbridge.types import Image, Text, ToolId, ToolResult, failed

ID = ToolId("", "find_bed")
BED = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}
ARGUMENTS = {"plant": "rose"}
CALLED = 'called with {"plant":"rose"}, '


def told(*trials: Trial, output: Any = None, protocol: str | None = None, **entry: Any) -> list[tuple[str, str, str]]:
    """The rule, the place and the message of each finding, but for the remark on a missing output schema."""
    tools = read_tools([{"name": ID.name, **({} if output is None else {"outputSchema": output}), **entry}])
    facts = ServerFacts(trials={ID: trials} if trials else None, protocol=protocol)
    ignored = () if output is not None else ("result.no-output-schema",)
    report = lint_tools(tools, settings=LintSettings(select=("result",), ignore=ignored), servers={"": facts})
    return [(each.rule, each.path, each.message) for each in report.findings]


def right(*texts: str, structured: Any = None, error: bool = False, **more: Any) -> Trial:
    return Trial(ARGUMENTS, ToolResult("", tuple(Text(each) for each in texts), structured, error, **more))


def wrong(*texts: str, error: bool = False) -> Trial:
    return Trial(ARGUMENTS, ToolResult("", tuple(Text(each) for each in texts), is_error=error), wrong=True)


def test_a_tool_that_promises_a_picture_owes_no_output_schema_until_it_answers_with_something_else() -> None:
    entry = {"name": ID.name, "description": "Draws the bed; it returns a small picture."}
    tools = read_tools([entry])

    def remarks(*trials: Trial) -> list[str]:
        facts = ServerFacts(trials={ID: trials})
        report = lint_tools(tools, settings=LintSettings(select=("result.no-output-schema",)), servers={"": facts})
        return [each.rule for each in report.findings]

    assert remarks() == []
    assert remarks(right("B2 is red")) == ["result.no-output-schema"]


def test_an_output_schema_that_is_no_schema_is_told() -> None:
    message = "the output schema is no object at all: give a JSON Schema, or none"
    assert told(output=True) == [("result.output-schema-not-object", "/outputSchema", message)]


def test_a_tool_that_keeps_its_promise_has_no_finding() -> None:
    good = right('{"bed": "B2"}', structured={"bed": "B2"})
    assert told(good, wrong("plant: a text is required", error=True), output=BED) == []


@pytest.mark.parametrize(
    ("output", "kind", "path"),
    [
        ({"type": "array"}, '"array"', "/outputSchema/type"),
        ({"type": ["object", "null"]}, '["object","null"]', "/outputSchema/type"),
        ({"properties": {}}, "no type", "/outputSchema"),
    ],
)
def test_an_output_schema_describes_an_object_until_the_protocol_allows_any_value(
    output: Any, kind: str, path: str
) -> None:
    message = (
        f'the root of the output schema says {kind}, and hosts refuse all but "object": put the value into a property'
    )
    for protocol in (None, "2025-06-18", "2025-11-25"):
        assert told(output=output, protocol=protocol) == [("result.output-schema-not-object", path, message)]
    assert told(output=output, protocol="2026-07-28") == []


def test_an_output_schema_that_is_not_valid_is_told_with_the_first_place() -> None:
    output = {"type": "object", "properties": {"a": {"type": "text"}, "b": {"type": "string", "minLength": "x"}}}
    assert told(output=output) == [
        (
            "result.unsound-output-schema",
            "/outputSchema/properties/a",
            'type "text" is not valid in an output schema (and 1 more)',
        )
    ]


def test_structured_content_that_does_not_fit_says_where() -> None:
    assert told(right("2", structured={"bed": 2}), output=BED) == [
        (
            "result.mismatch",
            "/outputSchema",
            CALLED + 'its structuredContent does not fit the output schema: bed: 2 is not of type "string"',
        )
    ]


def test_an_error_owes_nobody_the_shape_of_a_success() -> None:
    assert told(right("no such plant", error=True), right("gone", structured={"bed": 2}, error=True), output=BED) == []


def test_a_promise_without_structured_content_is_broken() -> None:
    message = CALLED + "it sent no structuredContent, and has an output schema"
    assert told(right("B2"), output=BED) == [("result.no-structured-content", "/outputSchema", message)]


def test_structured_content_without_text_is_remarked() -> None:
    message = CALLED + "it sent structuredContent and no text: send the same as text beside it"
    assert told(right(structured={"bed": "B2"}), output=BED) == [("result.no-text", "", message)]
    picture = ToolResult("", (Image("aGk=", "image/png"),), {"bed": "B2"})
    assert told(Trial(ARGUMENTS, picture), output=BED) == []


@pytest.mark.parametrize(
    "trial",
    [
        right('{"error": "no such plant"}'),
        right('{"error": {"code": 404}}'),
        right("B2", structured={"result": {"status": "error"}}),
        right("Error: no such plant"),
        right("❌ Error: no such plant"),
        right("Traceback (most recent call last):\n  File"),
        right("An error occurred while looking for it"),
        right("Failed to fetch the plants: 404"),
        wrong("Error executing tool"),
    ],
    ids=lambda trial: trial.result.text[:20],
)
def test_an_error_that_is_not_marked_is_found(trial: Trial) -> None:
    message = CALLED + "it tells of an error and isError is not set"
    assert told(trial) == [("result.error-not-marked", "", message)]


@pytest.mark.parametrize(
    "trial",
    [
        right('{"error": null, "bed": "B2"}'),
        right('{"errors": [], "error_count": 0}'),
        right("Errors are listed in the log of the garden"),
        right("No error: all is well"),
        right("The error margin is 5 %"),
        right('{"error": '),
        right("Error: no such plant", error=True),
        right("failed", structured={"status": "failed"}, error=True),
    ],
    ids=lambda trial: trial.result.text[:20],
)
def test_a_success_that_speaks_of_errors_is_none(trial: Trial) -> None:
    assert told(trial) == []


def test_a_wrong_call_that_succeeds_is_found() -> None:
    message = CALLED + "which its input schema refuses, it answered as if nothing were wrong"
    assert told(right("B2"), wrong("B2")) == [("result.error-not-marked", "", message)]


def test_an_error_without_a_word_is_unclear() -> None:
    message = CALLED + "it failed without a word: say what is wrong, so that a model can do better"
    assert told(right("  ", error=True)) == [("result.error-unclear", "", message)]


def test_wrong_arguments_that_the_protocol_refuses_are_remarked_and_right_ones_are_not() -> None:
    refusal = failed("", "protocol", "Server 'garden' refused the call of 'find_bed': Invalid params")
    message = (
        CALLED
        + "it was refused with an error of the protocol: answer with isError and a text, which models get to read"
    )
    assert told(Trial(ARGUMENTS, refusal, wrong=True)) == [("result.protocol-error", "", message)]
    assert told(Trial(ARGUMENTS, refusal)) == []


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (failed("", "timed_out", "no sign of life"), "gave no answer in time"),
        (failed("", "timed_out", ""), "gave no answer in time"),
        (failed("", "outcome_unknown", "its process exited"), "took its server down"),
    ],
)
def test_a_call_without_an_answer_is_told_and_nothing_else_is_asked_of_it(result: ToolResult, why: str) -> None:
    assert told(Trial(ARGUMENTS, result), output=BED) == [("result.no-answer", "", f"{CALLED}it {why}")]


def test_a_result_that_is_too_large_says_how_large_it_is() -> None:
    (rule, path, message), *rest = told(right("a rose in bed B2 " * 5_000))
    assert (rule, path, rest) == ("result.too-large", "", [])
    assert message.startswith(CALLED + "it sent about 30,8")
    assert message.endswith("tokens, and hosts put aside or refuse more than 10,000: send less, and a way to the rest")


def test_a_widget_that_only_a_result_names_is_remarked() -> None:
    template = {"openai/outputTemplate": "ui://widget/bed.html"}
    message = "the result's _meta holds openai/outputTemplate: hosts look for it in the tool's own"
    assert told(right("B2", meta=template)) == [("result.template-in-result", "/_meta", message)]
    assert told(right("B2", meta=template), _meta=template) == []


def remarks(*trials: Trial) -> list[str]:
    facts = ServerFacts(trials={ID: trials})
    settings = LintSettings(select=("result.no-output-schema",))
    return [
        each.rule
        for each in lint_tools(read_tools([{"name": ID.name}]), settings=settings, servers={"": facts}).findings
    ]


def test_a_tool_that_only_draws_needs_no_output_schema() -> None:
    picture = Image("aGk=", "image/png")
    assert remarks(Trial({}, ToolResult("", (picture,)))) == []
    assert remarks(Trial({}, ToolResult("", (picture, Text("a map"))))) == ["result.no-output-schema"]
    assert remarks(Trial({}, ToolResult("", ()))) == ["result.no-output-schema"]
    assert remarks(Trial({}, ToolResult("", (), {"map": 1}))) == ["result.no-output-schema"]
    assert remarks(Trial({}, ToolResult("", (picture,), is_error=True))) == ["result.no-output-schema"]
