"""Dialects: what each family of providers does with each keyword, as tables.

A dialect has rules for the keywords that only constrain, and policies for the shapes (objects, maps, optionals,
unions, references). Sources and dates of the facts stand beside the providers that use them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from toolbridge.schema.keywords import COUNTS, NUMBERS
from toolbridge.schema.rules import (
    Rule,
    keep,
    keep_among,
    keep_bound,
    keep_if,
    keep_tighter,
    keep_up_to,
    mention,
    mention_default,
    plain_regex,
    say,
    say_condition,
    whole_bound,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one schema may hold. `None` is no limit."""

    levels: int | None = None
    properties: int | None = None
    enum_values: int | None = None
    characters: int | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider's schemas may say, and what becomes of the rest."""

    name: str
    verbatim: bool = False
    """Every keyword is taken as it is: only what makes a request illegal is changed."""
    rules: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    refs: Literal["keep", "inline"] = "keep"
    recursion: bool = True
    """Whether a kept reference may lead to itself."""
    closed: bool = False
    """Every object lists all that may be in it (`additionalProperties: false`)."""
    optionals: Literal["keep", "nullable"] = "keep"
    free_form: Literal["keep", "text"] = "keep"
    """What becomes of a value without a type and an object without properties."""
    maps: Literal["keep", "pairs"] = "keep"
    type_lists: bool = True
    null: Literal["type", "flag"] = "type"
    """How null is allowed: as a type, or by `nullable: true`."""
    enums: Literal["any", "scalars", "strings and numbers", "strings"] = "any"
    tuples: bool = True
    typed: bool = False
    """Every node must have a type, a union or an enum."""
    required_declared: bool = True
    """Names in `required` are declared in `properties`."""
    array_items: bool = True
    """An array without `items` is refused."""
    root_refused: frozenset[str] = frozenset()
    """Keywords that may not stand at the top level."""
    keys: re.Pattern[str] | None = None
    """What property keys must match, whole."""
    keys_below_root: bool = False
    upper_case_types: bool = False
    limits: Limits = Limits()


_ROOT_UNIONS = frozenset({"oneOf", "anyOf", "allOf"})
_ROOT_REFUSED = frozenset({"oneOf", "anyOf", "allOf", "enum", "const", "not"})

SOURCE = Dialect("2020-12", verbatim=True, required_declared=False, array_items=False)
"""The server's own schema, sound and self-contained: what `check` asks."""

JSON_SCHEMA = Dialect("json-schema", verbatim=True, root_refused=_ROOT_REFUSED)
"""Any JSON Schema below a plain object root: OpenAI and its like outside strict mode, Mistral."""

ANTHROPIC = replace(JSON_SCHEMA, name="anthropic", keys=re.compile(r"[a-zA-Z0-9_.-]{1,64}"))

_ANNOTATIONS: dict[str, Rule] = {"default": mention_default, "examples": mention, "deprecated": mention}
_SAID: dict[str, Rule] = dict.fromkeys(
    (*COUNTS, *NUMBERS, "pattern", "format", "uniqueItems", "contains", "not", "dependentRequired",
     "dependentSchemas", "patternProperties", "propertyNames", "contentEncoding", "contentMediaType",
     "unevaluatedItems", "unevaluatedProperties"),
    say,
)  # fmt: skip
_SAID["if"] = say_condition

_STRICT_FORMATS = frozenset({
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
})  # fmt: skip

OPENAI_STRICT = Dialect(
    "openai-strict",
    rules={
        **_ANNOTATIONS,
        **_SAID,
        "title": keep,
        "pattern": keep_if(plain_regex),
        "format": keep_among(_STRICT_FORMATS),
        **dict.fromkeys(NUMBERS, keep_bound),
        "multipleOf": keep_if(lambda value: isinstance(value, int) and value <= 1_000_000),
        "minItems": keep_up_to(500),
        "maxItems": keep_up_to(500),
    },
    closed=True,
    optionals="nullable",
    free_form="text",
    maps="pairs",
    enums="scalars",
    tuples=False,
    typed=True,
    root_refused=_ROOT_REFUSED,
    limits=Limits(levels=10, properties=5000, enum_values=1000, characters=120_000),
)

ANTHROPIC_STRICT = replace(
    OPENAI_STRICT,
    name="anthropic-strict",
    rules={
        **_ANNOTATIONS,
        **_SAID,
        "title": keep,
        "format": keep_among(_STRICT_FORMATS | {"uri"}),
        "minItems": keep_up_to(1),
    },
    refs="keep",
    recursion=False,
    optionals="keep",
    type_lists=False,
    keys=ANTHROPIC.keys,
    limits=Limits(),
)

BEDROCK = replace(JSON_SCHEMA, name="bedrock", refs="inline", root_refused=_ROOT_UNIONS)
BEDROCK_STRICT = replace(ANTHROPIC_STRICT, name="bedrock-strict", refs="inline", keys=None)

GEMINI = Dialect(
    "gemini",
    rules={
        **_ANNOTATIONS,
        **_SAID,
        **dict.fromkeys(("minItems", "maxItems", "format"), keep),
        **dict.fromkeys(("minimum", "maximum"), keep_tighter),
        "exclusiveMinimum": whole_bound,
        "exclusiveMaximum": whole_bound,
    },
    enums="strings and numbers",
    root_refused=_ROOT_REFUSED,
)

GEMINI_OPENAPI = Dialect(
    "gemini-openapi",
    rules={
        **_ANNOTATIONS,
        **_SAID,
        **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "pattern", "format"), keep),
        **dict.fromkeys(("minimum", "maximum"), keep_tighter),
        "exclusiveMinimum": whole_bound,
        "exclusiveMaximum": whole_bound,
    },
    refs="inline",
    free_form="text",
    maps="pairs",
    type_lists=False,
    null="flag",
    enums="strings",
    tuples=False,
    typed=True,
    root_refused=_ROOT_REFUSED,
    keys=re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"),
    keys_below_root=True,
    upper_case_types=True,
)

OLLAMA = Dialect(
    "ollama",
    rules={**_ANNOTATIONS, **_SAID, "additionalProperties": say},
    refs="inline",
    tuples=False,
    root_refused=_ROOT_REFUSED,
)

LLAMA_CPP = Dialect(
    "llama.cpp",
    rules={
        **_ANNOTATIONS,
        **_SAID,
        "pattern": keep_if(lambda value: plain_regex(value) and value.startswith("^") and value.endswith("$")),
        "format": keep_among({"date", "time", "date-time", "uuid"}),
        "minLength": keep_up_to(500),
        "maxLength": keep_up_to(500),
        "minItems": keep_up_to(100),
        "maxItems": keep_up_to(100),
        "additionalProperties": keep,
    },
    root_refused=_ROOT_REFUSED,
)

MOONSHOT = replace(JSON_SCHEMA, name="moonshot", verbatim=False, refs="inline", rules={
    **_SAID,
    **dict.fromkeys(("default", "examples", "title", "deprecated", *NUMBERS, *COUNTS, "pattern", "format"), keep),
    "additionalProperties": keep,
})  # fmt: skip

FIREWORKS = replace(MOONSHOT, name="fireworks", refs="keep", typed=True, free_form="text")
