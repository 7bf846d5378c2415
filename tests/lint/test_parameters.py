"""Rules for parameters, at their edges: what is said, which shapes and values schemas allow, and hostile schemas."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.lint.examining import findings, flaws, shown, tool
from toolbridge.schema.metaschema import breach

STRING: dict[str, Any] = {"type": "string"}


def paths(rule: str, *entries: Any) -> list[str]:
    return [each.path for each in flaws(rule, *entries)]


def with_schema(schema: Any) -> dict[str, Any]:
    return {"name": "search_products", "inputSchema": schema}


# ── what is said ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_parameter_is_described_at_its_place_in_an_alternative_or_where_its_reference_leads() -> None:
    schema = {
        "type": "object",
        "properties": {
            "bare": STRING,
            "blank": {"type": "string", "description": " "},
            "number": {"description": 5},
            "plain": {"description": "Words to look for"},
            "either": {"anyOf": [{"type": "string", "description": "A name"}, {"type": "null"}]},
            "referred": {"$ref": "#/$defs/City"},
            "either_referred": {"anyOf": [{"$ref": "#/$defs/City"}, {"type": "null"}]},
            "fixed": {"const": "x"},
            "a/b~c": STRING,
        },
        "$defs": {"City": {"type": "string", "description": "A city"}},
    }
    assert paths("parameter.undescribed", with_schema(schema)) == [
        "/inputSchema/properties/bare",
        "/inputSchema/properties/blank",
        "/inputSchema/properties/number",
        "/inputSchema/properties/a~1b~0c",
    ]


def test_nested_properties_are_a_remark_and_not_a_warning() -> None:
    entry = tool(filter={"type": "object", "description": "Filter by price", "properties": {"min": {"type": "number"}}})
    found = findings("parameter", entry)
    assert [(each.rule, each.severity) for each in found if "undescribed" in each.rule] == [
        ("parameter.nested-undescribed", "info")
    ]


@pytest.mark.parametrize(
    "text", ["User ID", "The user's id", "userId", "ID of the user", "The value of the user id parameter"]
)
def test_a_description_that_repeats_the_name_is_found(text: str) -> None:
    assert len(flaws("parameter.repeats", tool(userId={"type": "string", "description": text}))) == 1


@pytest.mark.parametrize(
    "text", ["Numeric user id", "User ID, e.g. 42", "Number of users", "ID of the user who asks", "用户"]
)
def test_a_description_that_adds_a_word_is_not(text: str) -> None:
    assert flaws("parameter.repeats", tool(userId={"type": "string", "description": text})) == []


def test_a_vague_name_is_made_up_for_by_a_description() -> None:
    assert paths("parameter.vague", tool(data=STRING, param1=STRING, kwargs=STRING, value=STRING, key=STRING)) == [
        "/inputSchema/properties/data",
        "/inputSchema/properties/param1",
        "/inputSchema/properties/kwargs",
    ]
    assert len(flaws("parameter.vague", tool(value=STRING))) == 1
    assert (
        flaws(
            "parameter.vague", tool(data={"description": "The page's HTML to convert"}, input={"description": "输入"})
        )
        == []
    )


def test_two_styles_of_names_are_found_and_single_words_prove_nothing() -> None:
    (found,) = flaws("parameter.mixed-case", tool(user_id=STRING, query=STRING, maxResults=STRING))
    assert found.message == "'user_id' and 'maxResults' are written in two styles: choose one"
    assert (
        flaws("parameter.mixed-case", tool(userId=STRING, query=STRING, _meta=STRING, URL=STRING, PageSize=STRING))
        == []
    )


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apiKey",
        "X-Api-Key",
        "password",
        "new_password",
        "clientSecret",
        "accessToken",
        "appSecret",
        "webhook_secret",
        "seedPhrase",
        "cvv",
    ],
)
def test_secrets_are_found_by_name(name: str) -> None:
    assert len(flaws("parameter.secret", tool(**{name: STRING}))) == 1


@pytest.mark.parametrize(
    "name", ["page_token", "next_token", "max_tokens", "token_id", "secret_name", "password_policy", "key", "token"]
)
def test_what_only_sounds_like_a_secret_is_none(name: str) -> None:
    entry = tool(
        **{
            name: {
                "type": "string",
                "description": "Use the API to learn it" if name != "token" else "Symbol of a coin",
            }
        }
    )
    assert flaws("parameter.secret", entry) == []


def test_a_token_is_a_secret_where_it_is_said_to_be_one() -> None:
    assert len(flaws("parameter.secret", tool(token={"type": "string", "description": "OAuth token of the user"}))) == 1
    assert flaws("parameter.secret", tool(password={"type": "boolean"})) == []


def test_names_that_anthropic_refuses_are_found_at_the_top_only() -> None:
    nested = {"type": "object", "properties": {"DateSent<": STRING}}
    assert paths(
        "parameter.characters", tool(**{"DateSent<": STRING, "a.b-c_1": STRING, "x" * 65: STRING, "ok": nested})
    ) == [
        "/inputSchema/properties/DateSent<",
        f"/inputSchema/properties/{'x' * 65}",
    ]


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tool_without_parameters_is_sound_either_way() -> None:
    entries = (
        with_schema({"type": "object"}),
        with_schema({"type": "object", "properties": {}, "additionalProperties": False}),
    )
    assert findings("parameter", *entries) == []


def test_a_schema_under_another_key_is_named() -> None:
    (found,) = flaws("parameter.schema-missing", {"name": "a", "parameters": {"type": "object"}})
    assert (found.path, "'parameters'" in found.message) == ("/parameters", True)
    assert [each.path for each in flaws("parameter.schema-missing", {"name": "a"})] == [""]


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({}, "/inputSchema"),
        ([], "/inputSchema"),
        ("object", "/inputSchema"),
        (True, "/inputSchema"),
        ({"type": "string"}, "/inputSchema/type"),
        ({"type": ["object", "null"]}, "/inputSchema/type"),
        ({"type": "object", "properties": {"type": "object"}}, "/inputSchema/properties/type"),
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "/inputSchema/properties/a/type"),
        ({"type": "object", "properties": {"a": {"required": True}}}, "/inputSchema/properties/a/required"),
        ({"type": "object", "properties": {"a/b": {"minimum": "1"}}}, "/inputSchema/properties/a~1b/minimum"),
    ],
)
def test_what_is_no_schema_of_an_object_is_found_where_it_breaks(schema: Any, path: str) -> None:
    assert paths("parameter.schema-invalid", with_schema(schema)) == [path]


def test_a_schema_is_held_against_the_draft_that_it_names() -> None:
    old = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "exclusiveMinimum": True}}}
    assert paths("parameter.schema-invalid", with_schema(old)) == ["/inputSchema/properties/a/exclusiveMinimum"]
    named = {**old, "$schema": "http://json-schema.org/draft-04/schema#"}
    assert paths("parameter.schema-invalid", with_schema(named)) == []


def test_a_metaschema_is_never_fetched() -> None:
    begin = time.process_time()
    assert breach({"$schema": "http://203.0.113.1:9/any", "type": "object"}) is None
    assert breach({"$schema": "http://203.0.113.1:9/any", "type": "strin"}) == (
        ("type",),
        "\"strin\" is not valid under any of the schemas listed in the 'anyOf' keyword",
    )
    assert time.process_time() - begin < 10


def test_what_is_required_may_be_described_elsewhere() -> None:
    base = {"type": "object", "properties": {"a": STRING}, "required": ["a", "b"]}
    assert paths("parameter.required-unknown", with_schema(base)) == ["/inputSchema/required"]
    for more in (
        {"allOf": [{"properties": {"b": STRING}}]},
        {"patternProperties": {"^b": STRING}},
        {"$ref": "#/$defs/B"},
    ):
        assert paths("parameter.required-unknown", with_schema({**base, **more})) == []
    branches = {
        "type": "object",
        "properties": {"a": STRING, "b": STRING},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert paths("parameter.required-unknown", with_schema(branches)) == []


def test_references_that_lead_nowhere_are_found_and_addresses_left_to_safety() -> None:
    schema = {
        "type": "object",
        "properties": {
            "lost": {"$ref": "#/definitions/Lost"},
            "found": {"$ref": "#/definitions/Found"},
            "self": {"$ref": "#"},
            "remote": {"$ref": "https://example.org/schema.json"},
        },
        "definitions": {"Found": STRING},
    }
    assert paths("parameter.reference", with_schema(schema)) == ["/inputSchema/properties/lost/$ref"]


def test_lists_and_types_are_asked_for_at_any_depth() -> None:
    entry = tool(
        tags={"type": ["array", "null"]},
        pairs={"type": "array", "prefixItems": [STRING]},
        rows={"type": "array", "items": {"type": "array"}},
        loose={"type": "array", "items": {}},
        any={"description": "Anything"},
        chosen={"enum": ["a", "b"]},
    )
    assert paths("parameter.items", entry) == ["/inputSchema/properties/tags", "/inputSchema/properties/rows/items"]
    assert paths("parameter.untyped", entry) == ["/inputSchema/properties/any", "/inputSchema/properties/loose/items"]


def test_an_object_of_any_keys_is_free_unless_something_says_which() -> None:
    entry = tool(
        free={"type": "object"},
        open={"type": "object", "additionalProperties": True},
        optional={"anyOf": [{"type": "object"}, {"type": "null"}], "description": "Filter"},
        map={"type": "object", "additionalProperties": STRING},
        closed={"type": "object", "additionalProperties": False},
        shown={"type": "object", "description": 'As in {"min": 5}'},
        shown_above={"anyOf": [{"type": "object"}, {"type": "null"}], "description": 'As in {"min": 5}'},
    )
    found = flaws("parameter.free-form", entry)
    assert [each.path.removeprefix("/inputSchema/properties/") for each in found] == [
        "free",
        "open",
        "optional/anyOf/0",
    ]
    assert found[2].message.startswith("'optional' is an object of any keys")
    (named,) = flaws("parameter.free-form", tool(properties={"anyOf": [{"type": "object"}, {"type": "null"}]}))
    assert named.message.startswith("'properties' is an object of any keys")
    (item,) = flaws("parameter.free-form", tool(rows={"type": "array", "items": {"type": "object"}}))
    assert item.message.startswith("an item of 'rows' is an object of any keys")


def test_fifteen_parameters_are_not_too_many_and_five_levels_not_too_deep() -> None:
    assert flaws("parameter.too-many", tool(**{f"p{i}": STRING for i in range(15)})) == []
    assert len(flaws("parameter.too-many", tool(**{f"p{i}": STRING for i in range(16)}))) == 1
    node: dict[str, Any] = STRING
    for _ in range(5):
        node = {"type": "object", "properties": {"a": node}}
    assert flaws("parameter.too-deep", with_schema(node)) == []
    (found,) = flaws("parameter.too-deep", tool(b=node))
    assert found.message == "'a' is 6 levels down, deeper than 5: flatten the schema"


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "default": "10"},
        {"type": "string", "default": False},
        {"type": "integer", "default": True},
        {"enum": ["a", "b"], "default": "c"},
        {"type": "integer", "maximum": 5, "default": 6},
        {"type": "string", "pattern": "^a+$", "default": "b"},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": 1},
        {"type": "array", "items": STRING, "default": [1]},
        {"$ref": "#/properties/other", "default": 1},
    ],
)
def test_a_default_that_does_not_fit_its_schema_is_found(schema: dict[str, Any]) -> None:
    assert paths("parameter.default", tool(a=schema, other=STRING)) == ["/inputSchema/properties/a/default"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "default": 10.0},
        {"type": "number", "default": 1},
        {"type": ["integer", "number"], "default": 1},
        {"default": "anything"},
        {"type": "string", "default": None},
        {"type": "array", "items": STRING, "default": []},
        {"type": "object", "default": {"a": {"b": 1}}},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"$ref": "#/properties/other", "default": "x"},
        {"type": "string", "pattern": "(", "default": "x"},
        {"type": "string", "minLength": 1, "default": "\ud800"},
    ],
)
def test_a_default_that_fits_or_cannot_be_judged_is_not(schema: dict[str, Any]) -> None:
    assert flaws("parameter.default", tool(a=schema, other=STRING)) == []


def test_a_default_of_null_is_a_remark_where_null_is_refused() -> None:
    entry = tool(
        a={"type": "string", "default": None}, b={"type": ["string", "null"], "default": None}, c={"default": None}
    )
    assert [(each.rule, each.path) for each in findings("parameter.default-null", entry)] == [
        ("parameter.default-null", "/inputSchema/properties/a/default")
    ]


def test_an_enum_is_held_against_its_type_and_itself() -> None:
    entry = tool(
        empty={"enum": []},
        wrong={"type": "string", "enum": ["a", None]},
        twice={"enum": ["a", "b", "a"]},
        number={"type": ["integer", "number"], "enum": [1, 2.5]},
        mixed={"enum": [1, True, "1", 1.0]},
    )
    assert [each.message for each in flaws("parameter.enum", entry)] == [
        "the enum of 'empty' is empty, so no value is right",
        "null in the enum of 'wrong' is no string",
        "\"a\" stands twice in the enum of 'twice'",
    ]


def test_fifty_values_are_not_too_many() -> None:
    assert flaws("parameter.enum-large", tool(a={"enum": list(range(50))})) == []
    assert len(flaws("parameter.enum-large", tool(a={"enum": list(range(51))}))) == 1


def test_only_what_is_required_contradicts_its_default() -> None:
    number = {"type": "integer", "default": 10}
    assert paths("parameter.required-default", tool("a", a=number, b=number)) == ["/inputSchema/properties/a"]


@pytest.mark.parametrize("text", ["How many", "Whether to sort", "Page of the results"])
def test_an_optional_number_or_switch_says_what_happens_without_it(text: str) -> None:
    assert len(flaws("parameter.default-unsaid", tool(a={"type": "integer", "description": text}))) == 1
    assert flaws("parameter.default-unsaid", tool("a", a={"type": "integer", "description": text})) == []
    assert (
        flaws("parameter.default-unsaid", tool(a={"type": "integer", "description": f"{text} (defaults to 1)"})) == []
    )
    assert flaws("parameter.default-unsaid", tool(a={"type": "string", "description": text})) == []


# ── words and schema ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("Order, one of: asc, desc", "asc, desc"),
        ("Must be 'asc' or 'desc'", "'asc' or 'desc'"),
        ("Order. Allowed values: `asc`, `desc`.", "`asc`, `desc`"),
        ('Order ("asc" or "desc")', '"asc" or "desc"'),
        ("Order (asc|desc|none)", "asc|desc|none"),
        ("Options: price | name.", "price | name."),
    ],
)
def test_values_that_are_listed_in_words_are_found(text: str, span: str) -> None:
    assert [
        shown(each) for each in flaws("parameter.values-in-words", tool(sort={"type": "string", "description": text}))
    ] == [span]


@pytest.mark.parametrize(
    "text",
    [
        "Order, e.g. one of: asc, desc",
        "One of the orders of the user",
        "Must be 'asc' or 'desc' or a custom order",
        "Options: asc, desc, etc.",
        "Comma-separated, one of: asc, desc",
        "Either 'query' or 'sort' is needed",
        "City, such as 'Paris' or 'Rome'",
        "Options: a path to a file, or more",
    ],
)
def test_examples_and_open_lists_are_no_enums(text: str) -> None:
    assert flaws("parameter.values-in-words", tool(query=STRING, sort={"type": "string", "description": text})) == []


def test_values_in_words_beside_a_schema_that_says_them_are_fine() -> None:
    text = "One of: asc, desc"
    for more in ({"enum": ["asc", "desc"]}, {"pattern": "^(asc|desc)$"}, {"type": "integer"}):
        assert flaws("parameter.values-in-words", tool(sort={"type": "string", "description": text, **more})) == []


@pytest.mark.parametrize(
    ("kind", "text", "span"),
    [
        ("integer", "How many, between 1 and 50", "between 1 and 50"),
        ("integer", "How many (1-50)", "(1-50)"),
        ("number", "How many, max 1,000", "max 1,000"),
        ("integer", "How many, up to 100 of them", "up to 100"),
        ("string", "Name, max 64 characters", "max 64 char"),
        ("string", "Day as YYYY-MM-DD", "YYYY-MM-DD"),
    ],
)
def test_limits_that_are_named_in_words_only_are_found(kind: str, text: str, span: str) -> None:
    assert [
        shown(each) for each in flaws("parameter.limits-in-words", tool(a={"type": kind, "description": text}))
    ] == [span]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "description": "How many (1-50)", "maximum": 50},
        {"type": "string", "description": "Day as YYYY-MM-DD", "format": "date"},
        {"type": "string", "description": "YYYY-MM-DD or 'today'"},
        {"type": "integer", "description": "HTTP status as of RFC 9110-1"},
        {"type": "integer", "description": "Maximum number of results"},
        {"type": "string", "description": "Up to 50 results are returned"},
    ],
)
def test_other_numbers_are_no_limits(schema: dict[str, Any]) -> None:
    assert flaws("parameter.limits-in-words", tool(a=schema)) == []


def test_limits_of_the_schema_are_asked_for_in_words_where_they_matter() -> None:
    def said(text: str, **schema: Any) -> list[str]:
        return [each.message for each in flaws("parameter.constraint-unsaid", tool(a={"description": text, **schema}))]

    assert said("How many", minimum=5, maximum=50) == [
        "the description of 'a' does not say what the schema asks: minimum 5, maximum 50"
    ]
    assert said("How many, 5 to 50", minimum=5, maximum=50) == []
    assert said("How many, at most 1,000", maximum=1000) == []
    assert said("How many", minimum=1, maximum=9007199254740991) == []
    assert said("How many", maximum=True) == []
    assert said("Code of the country", pattern="^[A-Z]{2}$") != []
    assert said("Code of the country: two letters", pattern="^[A-Z]{2}$") == []


# ── hostile schemas ──────────────────────────────────────────────────────────────────────────────────────────────


def deep(levels: int, value: Any = None) -> Any:
    node = value
    for _ in range(levels):
        node = {"type": "object", "properties": {"a": node}, "default": {}, "enum": [{}]}
    return node


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {f"p{i}": {"type": "object", "$ref": "#x", "default": i} for i in range(3_000)}},
        {"type": "object", "properties": {f"p{i}": {"anyOf": [{"type": "object"}] * 20} for i in range(250)}},
        {"type": "object", "properties": {"a": {"enum": list(range(100_000)), "default": -1}}},
        {"type": "object", "properties": {"a": {"type": "string", "description": "one of: " + "a, " * 200_000}}},
        {"type": "object", "properties": {"a": {"type": "integer", "description": "max " * 200_000}}},
        {"type": "object", "properties": {"a": {"default": "\ud800", "description": "\x00\u202e\ud800", "minLength": 3}}},
        {"type": "object", "properties": {"a": {"pattern": "(a+)+$", "default": "a" * 50 + "b"}}},
        {"type": "object", "properties": 5, "required": {"a": 1}, "anyOf": "x", "enum": 3, "$ref": 7, "description": []},
        {"type": "object", "properties": {"a": {"type": [[], 5], "enum": [[], {}], "minimum": [], "items": 3, "default": {}}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a", "default": 1}}},
        deep(150),
    ],
    ids=range(11),
)  # fmt: skip
def test_hostile_schemas_are_examined_in_bounded_time(schema: Any) -> None:
    begin = time.process_time()
    for each in findings("parameter", with_schema(schema)):
        assert each.message.isprintable()
    assert time.process_time() - begin < 10


def test_an_abyss_is_no_reason_to_fail() -> None:
    node: Any = {}
    for _ in range(20_000):
        node = {"type": "object", "properties": {"a": node}}
    assert findings("parameter.schema-invalid", with_schema(node)) == []
    findings("parameter", with_schema(node))
    abyss: Any = []
    for _ in range(20_000):
        abyss = [abyss]
    findings("parameter", tool(a={"type": "array", "default": abyss, "enum": [abyss]}))
