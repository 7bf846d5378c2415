"""Rules for results: what a tool promises to answer, and what it answered where it was tried.

The promise is the output schema, which stands in the tool's entry. Answers are there only where somebody had the tools
called (`toolbridge.examine`); a rule on them says nothing without. A call that never reached the tool says nothing of
its answers either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolbridge.apps import OUTPUT_TEMPLATE
from toolbridge.display import shown
from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.subject import ServerFacts, Subject, Trial
from toolbridge.notes import Note
from toolbridge.schema.phrases import quoted
from toolbridge.tokens import part_tokens
from toolbridge.types import JsonObject, Text, ToolId, ToolResult, failed

_SPECIFICATION = "MCP specification 2025-11-25 (tools), checked November 2026"
_GUIDE = "Apps SDK tool design guide, checked November 2026"

ANY_OUTPUT: Final = "2026-07-28"
"""The revision of MCP since which an output schema may describe any value."""

MOST_TOKENS: Final = 10_000
"""Tokens of a result that every host hands on whole. Claude Code puts more than 50,000 characters, about as much, aside
into a file, and refuses more than 25,000 tokens."""

_MOST_QUOTED: Final = 80

_SAYS_ERROR = re.compile(
    r"\s{0,20}(?:\W{0,4}(?:error|exception|fatal)\s{0,4}[:!-]"
    r"|traceback \(most recent call last\)"
    r"|(?:an )?(?:unexpected |internal |unknown )?error (?:occurred|while|when|in|executing|calling|fetching|getting)\b"
    r"|failed to [a-z]+\b|internal server error\b)",
    re.IGNORECASE,
)
"""How texts begin that tell of an error."""


def _answers(subject: Subject) -> Iterator[Trial]:
    """The trials that the tool itself answered."""
    for trial in _trials(subject):
        if trial.result.failure is None:
            yield trial


def _trials(subject: Subject) -> tuple[Trial, ...]:
    trials = subject.facts.trials
    return () if trials is None else trials.get(subject.tool.id, ())


def _given(trial: Trial) -> str:
    return f"called with {shown(quoted(dict(trial.arguments), _MOST_QUOTED))}"


# ── the promise ──────────────────────────────────────────────────────────────────────────────────────────────────


_PROMISES_MEDIA = re.compile(
    r"\breturns? (?:(?:an?|the) )?(?:\w+ )?(?:picture|image|screenshot|photo|audio|sound|recording)\b", re.IGNORECASE
)
"""A description that promises what no schema describes."""


def no_output_schema(subject: Subject) -> Iterator[Flaw]:
    if subject.tool.output_schema is not None or subject.tool.problem is not None:
        return
    if "outputSchema" in subject.tool.unread:
        return  # there is one, and another rule says what is wrong with it
    answers = [each.result for each in _answers(subject) if not each.result.is_error]
    if not answers and _PROMISES_MEDIA.search(subject.description):
        return
    if answers and all(_is_only_media(each) for each in answers):
        return
    yield Flaw("nothing says what the tool returns: give it an outputSchema, and send structuredContent that fits it")


def _is_only_media(result: ToolResult) -> bool:
    """Whether there are only pictures, sounds and files, which no schema describes."""
    return (
        bool(result.content)
        and result.structured is None
        and not any(isinstance(each, Text) for each in result.content)
    )


def output_schema_not_object(subject: Subject) -> Iterator[Flaw]:
    schema = subject.tool.output_schema
    protocol = subject.facts.protocol
    if "outputSchema" in subject.tool.unread:
        yield Flaw("the output schema is no object at all: give a JSON Schema, or none", "/outputSchema")
    if schema is None or schema.get("type") == "object" or (protocol is not None and protocol >= ANY_OUTPUT):
        return
    kind = shown(quoted(schema["type"], _MOST_QUOTED)) if "type" in schema else "no type"
    yield Flaw(
        f'the root of the output schema says {kind}, and hosts refuse all but "object": put the value into a property',
        "/outputSchema/type" if "type" in schema else "/outputSchema",
    )


def unsound_output_schema(subject: Subject) -> Iterator[Flaw]:
    schema = subject.tool.output_schema
    if schema is None:
        return
    from toolbridge.schema.convert import TooLarge, convert  # few tools have an output schema
    from toolbridge.schema.dialects import SOURCE
    from toolbridge.schema.root import NotAnObject

    try:
        notes = convert(schema, SOURCE).notes
    except NotAnObject:
        return  # the rule on the root tells it
    except (TooLarge, RecursionError) as failure:
        yield Flaw(f"no result can be checked against the output schema: {shown(str(failure))}", "/outputSchema")
        return
    for note in notes[:1]:
        keyword = shown(note.code.rpartition(".")[0])
        stood = "" if note.before is None else f" {shown(quoted(note.before, _MOST_QUOTED))}"
        more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
        yield Flaw(f"{keyword}{stood} is not valid in an output schema{more}", f"/outputSchema{note.path}")


# ── the answers ──────────────────────────────────────────────────────────────────────────────────────────────────


def mismatch(subject: Subject) -> Iterator[Flaw]:
    schema = subject.tool.output_schema
    if schema is None:
        return
    from toolbridge.schema.check import Checker, pointed  # the validator is loaded for the first answer

    checker = Checker(schema)
    for trial in _answers(subject):
        structured = trial.result.structured
        if trial.result.is_error or structured is None or checker.accepts(structured):
            continue
        problems = checker.problems(structured)
        first = problems[0] if problems else None
        where = f"{pointed(first.path)}: " if first is not None and first.path else ""
        why = f"{where}{first.why}" if first is not None else "it does not match"
        yield Flaw(
            f"{_given(trial)}, its structuredContent does not fit the output schema: {shown(why).rstrip('.')}",
            "/outputSchema",
        )
        return


def no_structured_content(subject: Subject) -> Iterator[Flaw]:
    if subject.tool.output_schema is None:
        return
    for trial in _answers(subject):
        if not trial.result.is_error and trial.result.structured is None:
            yield Flaw(f"{_given(trial)}, it sent no structuredContent, and has an output schema", "/outputSchema")
            return


def no_text(subject: Subject) -> Iterator[Flaw]:
    for trial in _answers(subject):
        media = any(not isinstance(each, Text) for each in trial.result.content)
        if trial.result.structured is not None and not media and not trial.result.text.strip():
            yield Flaw(f"{_given(trial)}, it sent structuredContent and no text: send the same as text beside it")
            return


def error_not_marked(subject: Subject) -> Iterator[Flaw]:
    for trial in _answers(subject):
        if trial.result.is_error:
            continue
        said = _error_in(trial.result)
        if said is not None:
            yield Flaw(f"{_given(trial)}, it tells of an error and isError is not set", text=said)
            return
        if trial.wrong:
            yield Flaw(f"{_given(trial)}, which its input schema refuses, it answered as if nothing were wrong")
            return


def _error_in(result: ToolResult) -> str | None:
    """The words that tell of an error in a result that is not marked as one."""
    text = result.text
    for value in (result.structured, _parsed(text)):
        if isinstance(value, Mapping):
            inner = value.get("result")
            for each in (value, inner if len(value) == 1 and isinstance(inner, Mapping) else {}):
                error = each.get("error")
                if (isinstance(error, str | Mapping) and error) or each.get("status") == "error":
                    return shown(quoted(dict(each), _MOST_QUOTED))
    return shown(text[:_MOST_QUOTED]) if _SAYS_ERROR.match(text) else None


def _parsed(text: str) -> Any:
    if text.lstrip()[:1] != "{" or len(text) > 100_000:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def error_unclear(subject: Subject) -> Iterator[Flaw]:
    for trial in _answers(subject):
        if trial.result.is_error and not trial.result.text.strip():
            yield Flaw(f"{_given(trial)}, it failed without a word: say what is wrong, so that a model can do better")
            return


def protocol_error(subject: Subject) -> Iterator[Flaw]:
    for trial in _trials(subject):
        if trial.wrong and trial.result.failure == "protocol":
            yield Flaw(
                f"{_given(trial)}, it was refused with an error of the protocol: answer with isError and a text, which "
                "models get to read",
                text=shown(trial.result.text[:200]),
            )
            return


def no_answer(subject: Subject) -> Iterator[Flaw]:
    for trial in _trials(subject):
        if trial.result.failure in ("timed_out", "outcome_unknown"):
            why = "gave no answer in time" if trial.result.failure == "timed_out" else "took its server down"
            yield Flaw(f"{_given(trial)}, it {why}", text=shown(trial.result.text[:200]))
            return


def too_large(subject: Subject) -> Iterator[Flaw]:
    for trial in _answers(subject):
        tokens = part_tokens(trial.result)
        if tokens > MOST_TOKENS:
            yield Flaw(
                f"{_given(trial)}, it sent about {tokens:,} tokens, and hosts put aside or refuse more than "
                f"{MOST_TOKENS:,}: send less, and a way to the rest"
            )
            return


def meta_among_content(subject: Subject) -> Iterator[Flaw]:
    for trial in _answers(subject):
        if any(each.code == "output.meta" for each in trial.result.notes):
            yield Flaw(
                f"{_given(trial)}, it sent a _meta inside its content, which hosts show to models: put it beside "
                "content and structuredContent (in Python, return a CallToolResult and no dict)"
            )
            return


def template_in_result(subject: Subject) -> Iterator[Flaw]:
    if OUTPUT_TEMPLATE in subject.tool.meta:
        return
    for trial in _answers(subject):
        if OUTPUT_TEMPLATE in trial.result.meta:
            yield Flaw(f"the result's _meta holds {OUTPUT_TEMPLATE}: hosts look for it in the tool's own", "/_meta")
            return


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────

_BEDS: JsonObject = {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]}
_FIND: JsonObject = {"name": "find_bed", "inputSchema": {"type": "object", "properties": {"plant": {"type": "string"}}}}
_FIND_BED: JsonObject = {**_FIND, "outputSchema": _BEDS}
_FOUND = ToolResult("", (Text('{"bed": "B2"}'),), {"bed": "B2"})


def _tried(result: ToolResult, wrong: bool = False) -> ServerFacts:
    return ServerFacts(trials={ToolId("", "find_bed"): (Trial({"plant": "rose"}, result, wrong),)})


RULES = (
    Rule(
        "result.no-output-schema",
        "info",
        "The tool has an output schema.",
        "Without one, neither a model nor a program knows what comes back before it has come. Of 11,549 tools of real "
        "servers, 18 in 100 had one in November 2026.",
        f"{_GUIDE}; {_SPECIFICATION}",
        bad=of(_FIND),
        good=of(_FIND_BED),
        check=no_output_schema,
    ),
    Rule(
        "result.output-schema-not-object",
        "error",
        "The root of the output schema is an object.",
        "Until the revision of 2026-07-28, structuredContent is an object. Hosts that check listings "
        "refuse the whole listing over it.",
        _SPECIFICATION,
        bad=of({**_FIND, "outputSchema": {"type": "array", "items": {"type": "string"}}}),
        good=of(_FIND_BED),
        check=output_schema_not_object,
    ),
    Rule(
        "result.unsound-output-schema",
        "error",
        "The output schema is valid JSON Schema.",
        "Hosts compile it when they list the tools, and some fail there; no result can be held against it.",
        f"JSON Schema 2020-12; {_SPECIFICATION}",
        bad=of({**_FIND, "outputSchema": {"type": "object", "properties": {"bed": {"type": "text", "enum": []}}}}),
        good=of(_FIND_BED),
        check=unsound_output_schema,
    ),
    Rule(
        "result.mismatch",
        "error",
        "What the tool sends fits its output schema.",
        "Hosts check it, and give the model an error in place of the result.",
        _SPECIFICATION,
        bad=of(_FIND_BED, facts=_tried(ToolResult("", (Text("B2"),), {"bed": 2}))),
        good=of(_FIND_BED, facts=_tried(_FOUND)),
        check=mismatch,
    ),
    Rule(
        "result.no-structured-content",
        "error",
        "A tool with an output schema sends structured content.",
        "The specification asks for it; hosts that check take the result for broken.",
        _SPECIFICATION,
        bad=of(_FIND_BED, facts=_tried(ToolResult("", (Text("B2"),)))),
        good=of(_FIND_BED, facts=_tried(_FOUND)),
        check=no_structured_content,
    ),
    Rule(
        "result.no-text",
        "info",
        "Structured content comes with the same as text.",
        "Hosts that do not know structured content, or do not show it to models, have nothing to show otherwise.",
        _SPECIFICATION,
        bad=of(_FIND_BED, facts=_tried(ToolResult("", (), {"bed": "B2"}))),
        good=of(_FIND_BED, facts=_tried(_FOUND)),
        check=no_text,
    ),
    Rule(
        "result.error-not-marked",
        "warning",
        "A result that tells of an error is marked as one (`isError`).",
        "A model, a host and a log all take it for a success: it is not tried again, and not counted.",
        f"{_GUIDE}; {_SPECIFICATION}",
        bad=of(_FIND, facts=_tried(ToolResult("", (Text('{"error": "no such plant"}'),)))),
        good=of(
            _FIND,
            facts=_tried(ToolResult("", (Text("There is no such plant: list_plants has them all."),), is_error=True)),
        ),
        check=error_not_marked,
    ),
    Rule(
        "result.error-unclear",
        "warning",
        "An error says what is wrong.",
        "A model that does not learn why a call failed makes the same call again.",
        _GUIDE,
        bad=of(_FIND, facts=_tried(ToolResult("", (), is_error=True))),
        good=of(_FIND, facts=_tried(ToolResult("", (Text("There is no such plant."),), is_error=True))),
        check=error_unclear,
    ),
    Rule(
        "result.protocol-error",
        "info",
        "Wrong arguments are answered by a result with `isError`, not by an error of the protocol.",
        "Hosts need not show errors of the protocol to models, which then cannot do better.",
        "MCP specification 2025-11-25 (tools) and SEP-1303, checked November 2026",
        bad=of(_FIND, facts=_tried(failed("", "protocol", "Server refused the call: Invalid params"), wrong=True)),
        good=of(_FIND, facts=_tried(ToolResult("", (Text("plant: a text is required"),), is_error=True), wrong=True)),
        check=protocol_error,
    ),
    Rule(
        "result.no-answer",
        "warning",
        "Every call is answered in time, also a wrong one.",
        "A model waits for a tool that hangs, and loses all tools of a server that ends.",
        _SPECIFICATION,
        bad=of(_FIND, facts=_tried(failed("", "timed_out", "The tool gave no sign of life for 10 s."))),
        good=of(_FIND, facts=_tried(ToolResult("", (Text("B2"),)))),
        check=no_answer,
    ),
    Rule(
        "result.too-large",
        "warning",
        "A result has no more than 10,000 tokens.",
        "Hosts put longer ones aside, cut or refuse them; what is sent takes the place of the conversation.",
        "Claude Code's limits on the output of MCP tools (50,000 characters, 25,000 tokens), reported October 2026",
        bad=of(_FIND, facts=_tried(ToolResult("", (Text("A rose grows in bed B2. " * 3_000),)))),
        good=of(_FIND, facts=_tried(ToolResult("", (Text("A rose grows in bed B2."),)))),
        check=too_large,
    ),
    Rule(
        "result.meta-in-content",
        "warning",
        "The `_meta` of a result stands beside its content.",
        "What stands there is for hosts and widgets alone. Where a function returns a whole result as a dict, SDKs "
        "take the dict for the structured content, and models read all of it.",
        "Apps SDK reference, checked November 2026; the Python SDK (mcp 2.3), tried November 2026",
        bad=of(_FIND, facts=_tried(ToolResult("", notes=(Note("output.meta", "changed", "/_meta"),)))),
        good=of(_FIND, facts=_tried(ToolResult("", (Text("B2"),), meta={"beds": ["A1", "B2"]}))),
        check=meta_among_content,
    ),
    Rule(
        "result.template-in-result",
        "info",
        "A widget is named in the tool's `_meta`, not in that of its results.",
        "Hosts load the widget before the call. What a result's `_meta` holds is for the widget itself.",
        "Apps SDK reference, checked November 2026",
        bad=of(_FIND, facts=_tried(ToolResult("", (Text("B2"),), meta={OUTPUT_TEMPLATE: "ui://widget/bed.html"}))),
        good=of(
            {**_FIND, "_meta": {OUTPUT_TEMPLATE: "ui://widget/bed.html"}},
            facts=_tried(ToolResult("", (Text("B2"),), meta={"beds": ["A1", "B2"]})),
        ),
        check=template_in_result,
    ),
)
