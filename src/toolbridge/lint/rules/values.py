"""Rules for the values that a schema allows: enums, defaults, limits, and whether words and schema say the same.

A schema is what checks; words are what a model reads. Where only one of them knows a limit, calls fail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.parameters import said_of, text_of
from toolbridge.lint.rules.shapes import called, types_of
from toolbridge.lint.subject import Node, Subject
from toolbridge.schema.check import fits
from toolbridge.schema.keywords import KINDS, kind_of, same
from toolbridge.schema.phrases import quoted
from toolbridge.schema.refs import Refs
from toolbridge.types import JsonObject

_GUIDE = "Apps SDK tool design guide, checked November 2026"
_MEASURED = "11,549 tools of real servers, measured November 2026"
_SPEC = "JSON Schema 2020-12 (validation), checked November 2026"

MOST_VALUES: Final = 50
"""Of 200 real enums 199 have fewer than 45. A longer one is a search, and is sent with every request."""

MOST_READ: Final = 2_000
"""Characters of a parameter's description that are searched for limits."""

_DEEPEST_DEFAULT: Final = 100
"""Objects and lists in a default that is held against its schema."""

_SIMPLE: Final = frozenset({
    "type", "enum", "description", "title", "default", "examples", "format", "deprecated", "$comment", "nullable",
    "items", "properties", "required", "additionalProperties", "minItems", "maxItems", "uniqueItems",
})  # fmt: skip
"""Keywords beside which a text, a number or a truth value fits if its kind does."""

_BOUNDED: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum", "const", "anyOf",
                   "oneOf", "allOf", "$ref")  # fmt: skip
_CHOSEN: Final = ("enum", "const", "pattern", "anyOf", "oneOf", "allOf", "$ref", "format", "examples")
"""Keywords beside which words are no promise that only they make."""

_QUOTED = r"[\"'`“‘][\w .:/+*-]{1,40}[\"'`”’]"
_TOKEN = r"[\w.+-]{1,30}"
_LEAD = (
    r"\b(?:one of|must be(?: one of)?(?: either)?|either|allowed(?: values)?|valid(?: values| options)?|possible values"
    r"|options|choices|accepted values|supported values|choose from|values)(?: are| is)?"
)
_LEADS: Final = ("one of", "must be", "either", "allowed", "valid", "values", "options", "choices", "choose from")
_CHOICE: Final = re.compile(
    rf"{_LEAD}[ ]?[:=]?[ ]?[(\[]?(?P<quoted>{_QUOTED}(?:[\s,/|]{{1,3}}(?:or |and )?{_QUOTED}){{1,40}})"
    rf"|{_LEAD}[ ]?[:=][ ]?[(\[]?(?P<bare>{_TOKEN}(?:[ ]?[,|/][ ]?(?:or )?{_TOKEN}){{1,40}})(?=[ ]?[.)\];\n]|\Z)"
    rf"|\((?P<paren>{_QUOTED}(?:,[ ]?{_QUOTED}){{0,40}},?[ ]or[ ]{_QUOTED}|{_TOKEN}(?:[ ]?[|][ ]?{_TOKEN}){{1,40}})\)",
    re.IGNORECASE,
)
"""A closed list of values: quoted after a word that closes it, bare after a colon and up to an end, or in brackets."""

_OPEN: Final = re.compile(
    r"etc|\.\.\.|…|and more|or (?:a|an|any|custom|other|another)\b|e\.g|such as|like|example", re.I
)
"""What says that a list is not all."""

_SEVERAL: Final = re.compile(r"comma|separated|multiple|combin", re.IGNORECASE)
_VALUE: Final = re.compile(r"[\w.+-]+")

_NUMBER = r"-?[0-9][0-9,_]{0,15}(?:\.[0-9]{1,10})?"
_LIMIT: Final = re.compile(
    rf"\bbetween {_NUMBER} and {_NUMBER}"
    rf"|\b(?:range|from|valid|allowed|must be)[: (]{{1,2}}{_NUMBER}[ ]?(?:-|–|to)[ ]?{_NUMBER}"
    rf"|\({_NUMBER}[ ]?(?:-|–|to)[ ]?{_NUMBER}[,;)]"
    r"|\b(?:max(?:imum)?|min(?:imum)?|at most|at least|up to|no more than|cannot exceed)(?: (?:of|is|value))?"
    rf"[ :=]{{1,2}}{_NUMBER}\b(?! ?%)",
    re.IGNORECASE,
)
_LENGTH: Final = re.compile(
    r"\b(?:max(?:imum)?|up to|at most|no more than|limited to)(?: length)?(?: of)?"
    rf"[ :=]{{1,2}}{_NUMBER}[ -](?:char|letter)",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\bYYYY-MM-DD\b(?!\s*(?:or|/|,|T|HH|hh|\())|\bISO[- ]?8601 (?:date|time|datetime|timestamp)\b", re.I
)

_DEFAULT_SAID: Final = re.compile(
    r"default|option|omit|if not|if none|unless|leave|when not|not (?:set|given|provided|specified)|all\b|empty"
    r"|otherwise|absent|only (?:when|if|used|for)",
    re.IGNORECASE,
)
_FORM_SAID: Final = re.compile(
    r"format|pattern|e\.g|example|like|must|match|regex|character|letter|digit|start|form|such as|[`'\"“]|\(|:", re.I
)
_TRIVIAL: Final = frozenset({0, 1, -1})
"""Limits that go without saying."""

_HUGE: Final = 1_000_000
"""Limits from here on are those of a number's type, not of the tool."""


# ── whether a value fits ─────────────────────────────────────────────────────────────────────────────────────────


def _kinds(schema: Mapping[str, Any]) -> int:
    """The kinds of JSON that a node's type admits; none where it names none."""
    kinds = 0
    for name in types_of(schema):
        kinds |= KINDS.get(name, 0)
    return kinds


def _fits(value: Any, schema: Any) -> bool | None:
    """Whether a schema accepts a value, as far as a look at the plain keywords tells; `None` where it does not tell."""
    if not isinstance(schema, Mapping):
        return None
    kinds = _kinds(schema)
    if kinds and not kinds & kind_of(value):
        return False
    if isinstance(value, dict | list):
        return None
    enum = schema.get("enum")
    if isinstance(enum, list) and not any(same(value, each) for each in enum):
        return False
    branches = schema.get("anyOf")
    if isinstance(branches, list) and len(schema.keys() - _SIMPLE) == 1:
        told = [_fits(value, each) for each in branches[:50]]
        return True if True in told else (None if None in told or not told else False)
    return True if schema.keys() <= _SIMPLE else None


def _is_checkable(value: Any) -> bool:
    """Whether a validator can read a value: text that is Unicode, not too deep."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return text.count("[") + text.count("{") < _DEEPEST_DEFAULT


def default(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        if "default" not in node.schema or node.schema["default"] is None:
            continue
        value = node.schema["default"]
        verdict = _fits(value, node.schema)
        if verdict is None and _is_checkable(value):
            verdict = fits(dict(node.schema), Refs(subject.tool.input_schema))(value)
        if verdict is False:
            yield Flaw(
                f"the default {_shown(value)} of {called(node)} does not fit its own schema", f"{node.path}/default"
            )


def null_default(subject: Subject) -> Iterator[Flaw]:
    for node in subject.properties:
        if node.schema.get("default", 0) is None and _fits(None, node.schema) is False:
            yield Flaw(
                f"the default of {called(node)} is null, which its schema does not accept: leave the default out",
                f"{node.path}/default",
            )


def required_default(subject: Subject) -> Iterator[Flaw]:
    for node in subject.properties:
        if node.required and "default" in node.schema and "const" not in node.schema:
            yield Flaw(
                f"{called(node)} is required and has a default, {_shown(node.schema['default'])}, that is never used: "
                "drop one of them",
                node.path,
            )


def default_unsaid(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        schema = node.schema
        if node.required or "default" in schema or "const" in schema:
            continue
        declared = types_of(schema)
        if "enum" not in schema and not {"integer", "number", "boolean"} & set(declared):
            continue
        text = said_of(node, subject)
        if text and text.isascii() and _DEFAULT_SAID.search(text[:MOST_READ]) is None:
            yield Flaw(
                f"{called(node)} may be left out, and nothing says what happens then: add a 'default', or say it",
                node.path,
            )


# ── enums ────────────────────────────────────────────────────────────────────────────────────────────────────────


def enum(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        values = node.schema.get("enum")
        if not isinstance(values, list):
            continue
        path = f"{node.path}/enum"
        if not values:
            yield Flaw(f"the enum of {called(node)} is empty, so no value is right", path)
            continue
        kinds = _kinds(node.schema)
        wrong = [each for each in values if kinds and not kinds & kind_of(each)]
        if wrong:
            declared = " or ".join(types_of(node.schema))
            yield Flaw(f"{_shown(wrong[0])} in the enum of {called(node)} is no {declared[:40]}", path)
        twice = _twice(values)
        if twice is not None:
            yield Flaw(f"{_shown(twice[0])} stands twice in the enum of {called(node)}", path)


def _twice(values: list[Any]) -> tuple[Any] | None:
    seen: set[tuple[type, Any]] = set()
    for each in values:
        if isinstance(each, str | int | float | bool):
            key = (type(each), each)
            if key in seen:
                return (each,)
            seen.add(key)
    return None


def single(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        values = node.schema.get("enum")
        if isinstance(values, list) and len(values) == 1:
            yield Flaw(f"{called(node)} can only be {_shown(values[0])}: leave the parameter out", node.path)


def large(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        values = node.schema.get("enum")
        if isinstance(values, list) and len(values) > MOST_VALUES:
            yield Flaw(
                f"the enum of {called(node)} has {len(values)} values, which every request carries: keep to "
                f"{MOST_VALUES}, or let the model look them up",
                f"{node.path}/enum",
            )


def boolean_text(subject: Subject) -> Iterator[Flaw]:
    for node in subject.nodes:
        values = node.schema.get("enum")
        if not isinstance(values, list) or len(values) != 2 or not all(isinstance(each, str) for each in values):
            continue
        if {each.lower() for each in values} == {"true", "false"}:
            yield Flaw(f"{called(node)} is a truth value in words: make it a boolean", f"{node.path}/enum")


# ── words and schema ─────────────────────────────────────────────────────────────────────────────────────────────


def _may_list(text: str) -> bool:
    """Whether a closer look at a text may find a list of values."""
    return any(lead in text for lead in _LEADS) or ("(" in text and ("|" in text or " or " in text))


def values_in_words(subject: Subject) -> Iterator[Flaw]:
    names = {each.name for each in subject.parameters}
    for node in subject.properties:
        text = text_of(node.schema)[:MOST_READ]
        if not text or types_of(node.schema) != ("string",) or any(keyword in node.schema for keyword in _CHOSEN):
            continue
        found = _CHOICE.search(text) if _may_list(text.lower()) else None
        if found is None or _OPEN.search(text, max(0, found.start() - 20), found.end() + 30):
            continue
        if _SEVERAL.search(text) is not None:
            continue  # a list of several of them in one text is none of them
        start, end = found.span(found.lastgroup or 0)
        if names.isdisjoint(_VALUE.findall(text, start, end)):  # `either 'path' or 'url'` is about parameters
            yield Flaw(
                f"the values of {called(node)} are listed in words only: give them as an 'enum'",
                f"{node.path}/description", text, (start, end),
            )  # fmt: skip


def limits_in_words(subject: Subject) -> Iterator[Flaw]:
    for node in subject.properties:
        schema = node.schema
        text = text_of(schema)[:MOST_READ]
        declared = types_of(schema)
        if not text or len(declared) != 1:
            continue
        found: re.Match[str] | None = None
        wanted = ""
        if declared[0] in ("integer", "number") and not any(keyword in schema for keyword in _BOUNDED):
            found, wanted = _LIMIT.search(text), "'minimum' and 'maximum'"
        elif declared[0] == "string" and not any(keyword in schema for keyword in ("maxLength", "pattern", "enum")):
            found, wanted = _LENGTH.search(text), "'maxLength'"
            if found is None and "format" not in schema and ("YYYY" in text or "ISO" in text):
                found, wanted = _DATE.search(text), "a 'format'"
        if found is not None:
            yield Flaw(
                f"{found[0][:60]!r} limits {called(node)} in words only: say it by {wanted}, too",
                f"{node.path}/description", text, found.span(),
            )  # fmt: skip


def unsaid(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        text = text_of(node.schema)[:MOST_READ]
        if not text:
            continue  # that it is not described is another finding
        missing = [keyword for keyword in _LIMITS if _is_unsaid(node, keyword, text)]
        if missing:
            told = ", ".join(f"{keyword} {_shown(node.schema[keyword])}" for keyword in missing)
            yield Flaw(f"the description of {called(node)} does not say what the schema asks: {told}", node.path)


_LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
                  "maxItems", "pattern")  # fmt: skip
"""Keywords that some providers drop and models do not always heed."""


def _is_unsaid(node: Node, keyword: str, text: str) -> bool:
    limit = node.schema.get(keyword)
    if keyword == "pattern":
        return isinstance(limit, str) and _FORM_SAID.search(text) is None and "examples" not in node.schema
    if not isinstance(limit, int | float) or isinstance(limit, bool) or limit in _TRIVIAL or abs(limit) >= _HUGE:
        return False
    plain = text.replace(",", "").replace("_", "")
    return f"{limit:g}" not in plain and str(limit) not in plain


def _shown(value: Any) -> str:
    """A value in a message, on one line and not too long."""
    text = quoted(value, 60)
    return text if text.isprintable() else ascii(text)


# ── the rows ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _tool(required: tuple[str, ...] = (), **properties: Any) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": "search_products", "inputSchema": schema}


def _sort(**more: Any) -> JsonObject:
    return _tool(sort={"type": "string", **more})


def _limit(**more: Any) -> JsonObject:
    return _tool(limit={"type": "integer", **more})


def _rows() -> Iterable[Rule]:
    yield Rule(
        "parameter.enum", "error",
        "An enum has values, each once, each of the declared type.",
        "An empty enum accepts nothing and is refused by providers; a value of another type is never accepted.",
        _SPEC,
        bad=of(_sort(enum=[]), _sort(enum=["asc", 1]), _sort(enum=["asc", "asc"])),
        good=of(_sort(enum=["asc", "desc"])),
        check=enum,
    )  # fmt: skip
    yield Rule(
        "parameter.enum-single", "info",
        "A parameter leaves a choice.",
        "A parameter of one value costs tokens and can only be got wrong.",
        _MEASURED,
        bad=of(_sort(enum=["asc"])),
        good=of(_sort(enum=["asc", "desc"])),
        check=single,
    )  # fmt: skip
    yield Rule(
        "parameter.enum-large", "info",
        f"An enum has at most {MOST_VALUES} values.",
        "Every request pays for each of them, and OpenAI's strict mode limits their number and length.",
        _MEASURED,
        bad=of(_sort(enum=[f"field_{i}" for i in range(MOST_VALUES + 1)])),
        good=of(_sort(enum=["asc", "desc"])),
        check=large,
    )  # fmt: skip
    yield Rule(
        "parameter.boolean-text", "info",
        "A truth value is a boolean.",
        "Models answer `true` without quotes, which an enum of strings refuses.",
        _MEASURED,
        bad=of(_sort(enum=["true", "false"])),
        good=of(_tool(sorted={"type": "boolean"})),
        check=boolean_text,
    )  # fmt: skip
    yield Rule(
        "parameter.default", "error",
        "A default fits its own schema.",
        "A model that gives the default is refused by the very schema that names it.",
        _SPEC,
        bad=of(_limit(default="ten"), _sort(enum=["asc", "desc"], default="up")),
        good=of(_limit(default=10), _sort(enum=["asc", "desc"], default="asc")),
        check=default,
    )  # fmt: skip
    yield Rule(
        "parameter.default-null", "info",
        "A default of null stands only where null is accepted.",
        "Models send the null that they read, and the server refuses it.",
        _MEASURED,
        bad=of(_limit(default=None)),
        good=of(_tool(limit={"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None})),
        check=null_default,
    )  # fmt: skip
    yield Rule(
        "parameter.required-default", "warning",
        "What is required has no default.",
        "A default that can never apply hides that the parameter might be left out.",
        _SPEC,
        bad=of(_tool(("limit",), limit={"type": "integer", "default": 10})),
        good=of(_tool(limit={"type": "integer", "default": 10})),
        check=required_default,
    )  # fmt: skip
    yield Rule(
        "parameter.default-unsaid", "info",
        "What happens without an optional number, switch or choice is said.",
        "A model gives a value of its own where the tool's would have been better.",
        _GUIDE,
        bad=of(_limit(description="How many products to return")),
        good=of(_limit(description="How many products to return", default=10)),
        check=default_unsaid,
    )  # fmt: skip
    yield Rule(
        "parameter.values-in-words", "warning",
        "Values that a description lists are an `enum`.",
        "Nothing keeps a model from a value that is not in the list, and nothing checks the one it gives.",
        _GUIDE,
        bad=of(_sort(description="Order of the results, one of: price, name, rating")),
        good=of(_sort(description="Order of the results", enum=["price", "name", "rating"])),
        check=values_in_words,
    )  # fmt: skip
    yield Rule(
        "parameter.limits-in-words", "info",
        "Limits that a description names stand in the schema.",
        "A limit in words is forgotten; one in the schema is checked before the call is made.",
        _GUIDE,
        bad=of(_limit(description="How many products to return (1-50)")),
        good=of(_limit(description="How many products to return (1-50)", minimum=1, maximum=50)),
        check=limits_in_words,
    )  # fmt: skip
    yield Rule(
        "parameter.constraint-unsaid", "info",
        "Limits that the schema sets are named in the description.",
        "Several providers drop these keywords from the schema, and the model learns of them by failing.",
        _GUIDE,
        bad=of(_limit(description="How many products to return", maximum=50)),
        good=of(_limit(description="How many products to return, at most 50", maximum=50)),
        check=unsaid,
    )  # fmt: skip


RULES = tuple(_rows())
