"""Rules for what is said of parameters, and for their names: what a model fills a call by.

The shape of schemas is the subject of `shapes`, the values they allow of `values`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.shapes import types_of
from toolbridge.lint.rules.words import STOP, stem, table, words_in, words_of
from toolbridge.lint.subject import Node, Subject
from toolbridge.schema.refs import Refs
from toolbridge.types import JsonObject

_GUIDE = "Apps SDK tool design guide, checked November 2026"
_MEASURED = "11,549 tools of real servers, measured November 2026"
_PROVIDERS = "Errors of Anthropic and Gemini for names of parameters, checked November 2026"

_FILLER: Final = frozenset(map(stem, table("value parameter param string argument input field option optional")))
"""Words that add nothing to the name of a parameter."""

_VAGUE: Final = table(
    "data input value param params parameter parameters arg args obj object thing stuff item info payload foo bar temp"
)
"""Names that need a description to mean anything."""

_NUMBERED: Final = re.compile(r"(?:param|arg|argument|value|input|field|option|var|data)_?[0-9]{1,3}\Z|\**kwargs\Z")
"""Names that nothing can be made of."""

_FEW_WORDS: Final = 4
"""Words by which a description makes up for a vague name."""

_LONGEST_REPEAT: Final = 60
"""Characters within which a description can only repeat a name."""

_DIGIT: Final = re.compile(r"[0-9]")
_KEY: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")

_SECRETS: Final = frozenset({
    ("api", "key"), ("apikey",), ("access", "key"), ("secret", "key"), ("private", "key"), ("client", "secret"),
    ("access", "token"), ("auth", "token"), ("bearer", "token"), ("refresh", "token"), ("api", "token"),
    ("secret", "access", "key"), ("password",), ("passwd",), ("passphrase",), ("api", "secret"), ("bot", "token"),
    ("mnemonic",), ("seed", "phrase"), ("app", "secret"), ("webhook", "secret"), ("credit", "card", "number"), ("cvv",),
})  # fmt: skip
"""How names of secrets end."""

_SECRET_ENDS: Final = frozenset({*(each[-1] for each in _SECRETS), "token", "secret"})

_NO_SECRET: Final = table("page next previous continuation continue starting start sync cursor pagination symbol coin")
"""Words whose tokens mark a place in a list, or are money."""

_TOKEN_ABOUT: Final = re.compile(r"\b(?:auth\w*|api|bearer|access|credential\w*|oauth|jwt|login)\b", re.IGNORECASE)
"""What a `token` or `secret` is said to be where it is one; others are tokens of pages, texts and coins."""

_JSON_TEXT: Final = re.compile(
    r"\bJSON[- ](?:string|encoded|text|formatted|serialized)\b|\bstringified JSON\b|\bserialized JSON\b",
    re.IGNORECASE,
)


def text_of(schema: Mapping[str, Any]) -> str:
    """What is said of a node by itself."""
    text = schema.get("description")
    return text.strip() if isinstance(text, str) else ""


def said_of(node: Node, subject: Subject) -> str:
    """What is said of a parameter: at its place, in an alternative of it, or where its reference leads."""
    text = text_of(node.schema)
    if text:
        return text
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = node.schema.get(keyword)
        for each in branches[:20] if isinstance(branches, list) else ():
            if isinstance(each, Mapping) and (text := text_of(each) or _referred(each, subject)):
                return text
    return _referred(node.schema, subject)


def _referred(schema: Mapping[str, Any], subject: Subject) -> str:
    ref = schema.get("$ref")
    target = Refs(subject.tool.input_schema).resolve(ref) if isinstance(ref, str) and ref.startswith("#/") else None
    return text_of(target) if isinstance(target, Mapping) else ""


def undescribed(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        if "const" not in node.schema and not said_of(node, subject):
            yield Flaw(f"the parameter {_called(node)} is not described", node.path)


def nested_undescribed(subject: Subject) -> Iterator[Flaw]:
    for node in subject.properties:
        if node.depth > 1 and "const" not in node.schema and not said_of(node, subject):
            yield Flaw(f"the property {_called(node)} is not described", node.path)


def repeats(subject: Subject) -> Iterator[Flaw]:
    for node in subject.properties:
        text = text_of(node.schema)
        if not text or len(text) > _LONGEST_REPEAT or "enum" in node.schema or _DIGIT.search(text) is not None:
            continue
        own = words_of(node.name or "")
        known = {*map(stem, own), stem("".join(own)), "s"}  # the s of `the user's id`
        words = [each for each in words_in(text) if each not in STOP]
        if all(stem(each) in known or stem(each) in _FILLER for each in words):
            yield Flaw(
                f"the description of {_called(node)} only repeats its name: say what it is, in which form",
                f"{node.path}/description", text,
            )  # fmt: skip


def vague(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        name = (node.name or "").lower()
        if (name not in _VAGUE and _NUMBERED.match(name) is None) or (name == "value" and len(subject.parameters) > 1):
            continue  # beside a key, a value is one
        text = said_of(node, subject)
        if len(text.split()) < _FEW_WORDS and (text.isascii() or not text):
            yield Flaw(f"{_called(node)} says nothing of what is meant: name it after its content", node.path)


def mixed_case(subject: Subject) -> Iterator[Flaw]:
    snake = next((each for each in subject.parameters if "_" in (each.name or "").strip("_$")), None)
    camel = next((each for each in subject.parameters if _is_camel(each.name or "")), None)
    if snake is not None and camel is not None:
        yield Flaw(
            f"{_called(snake)} and {_called(camel)} are written in two styles: choose one", "/inputSchema/properties"
        )


def _is_camel(name: str) -> bool:
    return "_" not in name and name[:1].islower() and not name.islower() and name.isalnum()


def characters(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        if node.name is not None and _KEY.match(node.name) is None:
            yield Flaw(
                f"{_called(node)} is refused as a name by Anthropic: use up to 64 letters, digits, '_', '.' and '-'",
                node.path,
            )


def secret(subject: Subject) -> Iterator[Flaw]:
    for node in subject.parameters:
        words = words_of(node.name or "")
        declared = types_of(node.schema)
        if _SECRET_ENDS.isdisjoint(words[-1:]) or (declared and "string" not in declared):
            continue
        known = any(words[-len(each) :] == each for each in _SECRETS)
        if not known and words[-1:] in (("token",), ("secret",)) and _NO_SECRET.isdisjoint(words):
            known = _TOKEN_ABOUT.search(f"{' '.join(words[:-1])} {said_of(node, subject)[:500]}") is not None
        if known:
            yield Flaw(
                f"{_called(node)} asks the model for a secret: have it configured where the server runs", node.path
            )


def json_text(subject: Subject) -> Iterator[Flaw]:
    for node in subject.properties:
        if types_of(node.schema) != ("string",) or "enum" in node.schema:
            continue
        text = text_of(node.schema)
        found = _JSON_TEXT.search(text) if "json" in text.lower() else None
        if found is not None and "yaml" not in text.lower():  # a document in one of several forms is text
            yield Flaw(
                f"{_called(node)} is JSON inside a string: give the object or list its own schema",
                f"{node.path}/description", text, found.span(),
            )  # fmt: skip


def _called(node: Node) -> str:
    return repr((node.name or "")[:64])


def _tool(**properties: Any) -> JsonObject:
    return {"name": "search_products", "inputSchema": {"type": "object", "properties": properties}}


_QUERY: JsonObject = {"type": "string", "description": "Words to look for in names of products"}


def _rows() -> Iterable[Rule]:
    yield Rule(
        "parameter.undescribed", "warning",
        "Every parameter is described.",
        "A model guesses from the name which value, unit or form is meant.",
        _GUIDE,
        bad=of(_tool(query={"type": "string"})),
        good=of(_tool(query=_QUERY)),
        check=undescribed,
    )  # fmt: skip
    yield Rule(
        "parameter.nested-undescribed", "info",
        "Properties of nested objects are described, too.",
        "They are filled by the same guess as parameters are.",
        _GUIDE,
        bad=of(_tool(filter={"type": "object", "properties": {"min": {"type": "number"}}})),
        good=of(_tool(filter={"type": "object", "properties": {"min": {"description": "Lowest price in euro"}}})),
        check=nested_undescribed,
    )  # fmt: skip
    yield Rule(
        "parameter.repeats", "info",
        "The description of a parameter says more than its name.",
        "`The user id` costs tokens and leaves open which id, in which form, from where.",
        _MEASURED,
        bad=of(_tool(order_id={"type": "string", "description": "The order ID"})),
        good=of(_tool(order_id={"type": "string", "description": "Number on the invoice, without dashes"})),
        check=repeats,
    )  # fmt: skip
    yield Rule(
        "parameter.vague", "info",
        "The name of a parameter says what is meant.",
        "`data` and `param1` can be filled with anything, and are.",
        _GUIDE,
        bad=of(_tool(data={"type": "string", "description": "The data"})),
        good=of(_tool(data={"type": "string", "description": "The page's HTML to convert, as UTF-8 text"})),
        check=vague,
    )  # fmt: skip
    yield Rule(
        "parameter.mixed-case", "info",
        "All parameters of a tool are written in one style.",
        "A model that has written `user_id` writes `max_results` where the tool has `maxResults`.",
        _MEASURED,
        bad=of(_tool(user_id={"type": "string"}, maxResults={"type": "integer"})),
        good=of(_tool(user_id={"type": "string"}, max_results={"type": "integer"})),
        check=mixed_case,
    )  # fmt: skip
    yield Rule(
        "parameter.characters", "error",
        "The name of a parameter is of up to 64 letters, digits, `_`, `.` and `-`.",
        "Anthropic refuses the whole request for any other name at the top of a schema.",
        _PROVIDERS,
        bad=of(_tool(**{"price (EUR)": {"type": "number"}})),
        good=of(_tool(price_in_euro={"type": "number"})),
        check=characters,
    )  # fmt: skip
    yield Rule(
        "parameter.secret", "warning",
        "No parameter asks for a secret.",
        "A model has no key but one that a user typed into the chat, where it stays in logs and histories.",
        "MCP specification 2025-11-25 (security best practices), checked November 2026",
        bad=of(_tool(api_key={"type": "string"})),
        good=of(_tool(page_token={"type": "string"}, max_tokens={"type": "integer"})),
        check=secret,
    )  # fmt: skip
    yield Rule(
        "parameter.json-text", "info",
        "An object or a list is one, and not JSON inside a string.",
        "Models escape quotes wrongly, and nothing checks what is inside.",
        _MEASURED,
        bad=of(_tool(filter={"type": "string", "description": "Filter as a JSON string"})),
        good=of(_tool(filter={"type": "object", "description": "Filter by price"})),
        check=json_text,
    )  # fmt: skip


RULES = tuple(_rows())
