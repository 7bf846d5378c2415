"""What tools spend, and cuts: what is measured is what would be sent, and a cut that loses nothing loses nothing."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from tests.support.shared import corpus, needs_corpus
from toolbridge.encodings import Counting, counter_for
from toolbridge.history.said import json_text
from toolbridge.prepare import prepare
from toolbridge.providers import providers
from toolbridge.spending import Parts, measure, propose, rewrites
from toolbridge.spending.cuts import KINDS, _Measured
from toolbridge.spending.parts import parts_of
from toolbridge.tools import read_tools
from toolbridge.types import Tool, ToolId

# Breakages that these tests caught: texts counted as they are and not as JSON has them; the words around the tools counted
# with each of them; tools past the provider's number said to be sent; a saving by a tool that can no longer be sent;
# properties without their names; an `anyOf` with an enum shortened (null was no longer allowed); the argument list
# dropped where the schema says less; cuts that lose something before those that lose nothing.

LETTERS = Counting(len, None, True, "a token is a letter, so that sums can be done by hand")


def tool(name: str = "water", description: str = "Waters.", schema: Any = None, server: str = "") -> Tool:
    return read_tools(
        [{"name": name, "description": description, "inputSchema": schema or {"type": "object"}}], server
    )[0]


def parameters(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


# ── what is spent ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("provider", list(providers()))
def test_a_tool_costs_what_its_definition_costs_and_its_parts_add_up(provider: str) -> None:
    listed = [
        tool("water", "Waters a bed.", parameters(bed={"type": "string", "description": "Which.", "enum": ["A", "B"]})),
        tool("rest", "Does nothing."),
    ]
    spent = measure(listed, provider, counting=LETTERS)
    prepared = prepare(listed, provider)
    sent = prepared.instructions or "".join(json_text(each, compact=True) for each in prepared.definitions)
    assert spent.total == spent.sent == len(sent)
    assert [each.total for each in spent.tools] == [each.parts.total for each in spent.tools]
    assert spent.around + spent.parts.total == spent.total
    assert spent.tools[0].parts.description == len("Waters a bed.")
    assert spent.tools[0].parts.name == len(spent.tools[0].name)
    assert spent.tools[0].parts.parameters >= len("Which.")


def test_the_parts_of_a_definition_are_told_apart() -> None:
    definition = {
        "name": "water",
        "description": "Waters.",
        "input_schema": parameters(
            description={"type": "string", "description": 'A "text".'},
            enum={"type": "array", "items": {"enum": ["one", "two"], "description": "Deep."}},
        ),
    }
    whole = len(json_text(definition, compact=True))
    said = len(r"A \"text\".") + len("Deep.")
    listed = len('["one","two"]')
    assert parts_of(definition, len) == Parts(5, 7, said, listed, whole - 5 - 7 - said - listed)


def test_tools_past_the_number_that_a_provider_takes_have_a_price_and_are_not_sent() -> None:
    listed = [tool(f"tool{i:03}") for i in range(300)]
    spent = measure(listed, "openai-chat", counting=LETTERS)
    assert [each.tool.id.name for each in spent.tools] == [each.id.name for each in listed]
    assert [each.sent for each in spent.tools] == [True] * 128 + [False] * 172
    assert spent.total == spent.tools[0].total * 300
    assert spent.sent == spent.tools[0].total * 128
    assert spent.left_out == {}


def test_what_cannot_be_sent_has_no_price_and_a_reason() -> None:
    spent = measure(read_tools([{"name": "water"}, None]), counting=LETTERS)
    assert [each.name for each in spent.tools] == ["water"]
    assert spent.left_out == {ToolId("", "(entry 1)"): "entry 1 is null, not a tool"}


def test_a_tool_that_is_hidden_from_models_costs_nothing() -> None:
    listed = read_tools([{"name": "private", "_meta": {"openai/visibility": "private"}}])
    spent = measure(listed)
    assert (spent.tools, [*spent.left_out]) == ((), [ToolId("", "private")])
    assert (spent.private, spent.deferred) == ((ToolId("", "private"),), 0)
    beside = [*listed, *read_tools([{"name": "public"}, None])]
    assert measure(beside).private == (ToolId("", "private"),)
    assert measure(beside).deferred == measure(beside[1:]).deferred


def test_servers_are_summed_the_dearest_first() -> None:
    listed = [tool("a", server="small"), tool("b", "Much longer than that.", server="large"), tool("c", server="large")]
    spent = measure(listed, counting=LETTERS)
    assert list(spent.servers) == ["large", "small"]
    assert sum(spent.servers.values()) == spent.total


def test_nothing_costs_nothing() -> None:
    for provider in ("openai-chat", "json-schema"):
        spent = measure([], provider)
        assert (spent.total, spent.deferred, spent.servers, propose(spent).cuts) == (0, 0, {}, ())


def test_openai_is_counted_and_anthropic_is_estimated() -> None:
    assert measure([tool()]).counting is counter_for("openai-chat")
    assert measure([tool()], "anthropic").counting.exact is False


def test_a_search_tool_costs_the_same_for_a_thousand_tools() -> None:
    few, many = ([tool(f"t{i}", "Says a lot about itself. " * 5) for i in range(count)] for count in (10, 1000))
    assert abs(measure(few).deferred - measure(many).deferred) < 10
    assert measure(many).deferred < measure(many).total / 100


# ── cuts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_cut_saves_what_is_gone_when_it_is_made() -> None:
    indented = tool("water", "Waters.\n\n\n        Then rests.   \n    ")
    spent = measure([indented, tool("rest")], counting=LETTERS)
    savings = propose(spent)
    assert [(each.kind, each.loss, each.tools) for each in savings.cuts] == [
        ("white-space", "nothing", {ToolId("", "water"): savings.free})
    ]
    made = rewrites.without_white_space(indented)
    assert made is not None
    assert made.description == "Waters.\n\nThen rests."
    assert spent.total - measure([made, tool("rest")], counting=LETTERS).total == savings.free > 0


def test_tabs_are_not_made_spaces() -> None:
    made = rewrites.without_white_space(
        tool("water", "\n\tWaters:\n\t\t- a bed \n\t\t\t- slowly\n\n\n\t\tThen rests.\n\t")
    )
    assert made is not None
    assert made.description == "Waters:\n- a bed\n\t- slowly\n\nThen rests."


def test_a_tool_that_could_no_longer_be_sent_is_no_saving() -> None:
    spent = measure([tool()])
    broken = replace(tool(), input_schema=cast("Any", [1]))
    assert _Measured(spent, None).saved(spent.tools[0].tool, broken) == 0


@pytest.mark.parametrize("strict", [None, True, False])
def test_a_cut_saves_the_same_in_the_list_where_strict_definitions_share_a_budget(strict: bool | None) -> None:
    titled = {"type": "string", "title": "Bed", "description": "Which bed."}
    schema = {**parameters(bed=titled, litres={"type": "integer", "title": "Litres"}), "required": ["bed"]}
    listed = [tool(f"tool{i}", "Waters.", schema) for i in range(60)]
    spent = measure(listed, "anthropic", strict, counting=LETTERS)
    if strict:
        assert {each.strict for each in spent.tools} == {True, False}
    (cut,) = [each for each in propose(spent, strict).cuts if each.kind == "echoes"]
    made = [rewrites.without_echoes(each) or each for each in listed]
    assert cut.saved == spent.total - measure(made, "anthropic", strict, counting=LETTERS).total


def test_what_loses_less_comes_first_and_then_what_saves_more() -> None:
    listed = [
        tool("a", ("Waters. " * 40).strip(), parameters(bed={"enum": [f"bed {i}" for i in range(500)]})),
        tool("b", ("Rests. " * 60).strip(), parameters(bed={"type": "string", "title": "Bed"})),
    ]
    cuts = propose(measure(listed)).cuts
    assert [(each.kind, [id.name for id in each.tools]) for each in cuts] == [
        ("echoes", ["b"]),
        ("description", ["b"]),
        ("description", ["a"]),
        ("values", ["a"]),
    ]


def test_titles_that_say_something_stay() -> None:
    schema = {
        **parameters(
            bed_id={"title": "Bed Id", "type": "string", "description": "Bed ID"},
            at={"title": "When to water", "type": "string", "description": "Waters a bed."},
            title={"type": "string", "description": "What it is called."},
        ),
        "title": "waterArguments",
    }
    made = rewrites.without_echoes(tool("water", "Waters a bed.", schema))
    assert made is not None
    assert made.input_schema == parameters(
        bed_id={"type": "string"},
        at={"title": "When to water", "type": "string"},
        title={"type": "string", "description": "What it is called."},
    )


def test_an_argument_list_goes_only_where_the_schema_says_as_much() -> None:
    text = "Waters a bed.\n\nArgs:\n    bed: Which bed.\n    litres (int): How much\n        of it.\n\nReturns:\n    What is left."
    full = parameters(
        bed={"description": "Which bed."}, litres={"type": "integer", "description": "How much of it, at most 10."}
    )
    made = rewrites.without_retold_arguments(tool("water", text, full))
    assert made is not None
    assert made.description == "Waters a bed.\n\nReturns:\n    What is left."
    less = parameters(bed={"description": "A bed."}, litres={"description": "Litres."})
    assert rewrites.without_retold_arguments(tool("water", text, less)) is None
    assert rewrites.without_arguments(tool("water", text, less)) is not None
    none = parameters(bed={"description": "Which bed."}, litres={"type": "integer"})
    assert rewrites.without_arguments(tool("water", text, none)) is None


@pytest.mark.parametrize(
    ("bracketed", "litres", "is_known"),
    [
        ("int", {"type": "integer"}, True),
        ("int", {}, False),
        ("int, optional", {"type": "integer"}, True),
        ("int, required", {"type": "integer"}, False),
        ("int, 1-50, default 10", {"type": "integer"}, False),
        ("int, 1-50, default 10", {"type": "integer", "minimum": 1, "maximum": 50}, False),
        ("int, 1-50, default 10", {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}, True),
        ("int, 1-50", {"type": "integer", "minimum": 1, "maximum": 60}, False),
        ("default: None", {"type": ["string", "null"], "default": None}, True),
        ("default: None", {"type": ["string", "null"]}, False),
        ("default=true", {"type": "boolean", "default": True}, True),
        ("default=1", {"type": "boolean", "default": True}, False),
        ('str; default "warm"', {"type": "string", "default": "warm"}, True),
        ("ISO 8601 date, UTC", {"type": "string"}, False),
        ("date", {"type": "string", "format": "date"}, True),
        ("in litres", {"type": "number", "description": "How much, in litres."}, True),
        ("list[str]", {"type": "array", "items": {"type": "string"}}, True),
        ("list[str]", {"type": "array", "items": {"type": "integer"}}, False),
        ("str, optional", {"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        ("max 9", {"type": "integer", "maximum": 9}, True),
        ("", {}, True),
    ],
)
def test_what_stands_in_brackets_behind_a_name_is_lost_unless_the_schema_says_it(
    bracketed: str, litres: dict[str, Any], is_known: bool
) -> None:
    text = f"Waters.\n\nArgs:\n    litres ({bracketed}): How much."
    made = rewrites.without_retold_arguments(
        tool("water", text, parameters(litres={"description": "How much.", **litres}))
    )
    assert (made is not None) == is_known
    if made is not None:
        assert made.description == "Waters."


def test_nulls_are_shortened_only_where_the_same_is_accepted() -> None:
    null = {"type": "null"}
    schema = parameters(
        a={"anyOf": [{"type": "string", "maxLength": 3}, null], "default": None, "description": "A."},
        b={"anyOf": [{"type": "string", "enum": ["x"]}, null]},
        c={"anyOf": [{"type": "string"}, {"type": "integer"}, null]},
        d={"anyOf": [{"type": "string", "description": "Of the branch."}, null], "description": "Of both."},
    )
    made = rewrites.with_short_nulls(tool(schema=schema))
    assert made is not None
    assert made.input_schema["properties"] == {
        **schema["properties"],
        "a": {"type": ["string", "null"], "maxLength": 3, "description": "A."},
    }


def test_examples_that_are_seen_elsewhere_lose_nothing() -> None:
    schema = parameters(
        a={"type": "string", "examples": ["B2"], "description": "A bed such as B2."},
        b={"type": "string", "examples": ["B2", "C1"], "description": "A bed such as B2."},
        c={"enum": ["x", "y"], "examples": ["y"]},
        d={"type": ["string", "null"], "examples": [None]},
        e={"type": ["string", "null"], "examples": [None], "default": None},
        f={"type": "boolean", "examples": [True], "default": 1},
        g={"enum": [0], "examples": [False]},
        h={"const": 1, "examples": [1]},
        i={"type": "object", "examples": [{"a": 1}], "default": {"a": True}},
    )
    made = rewrites.without_repeated_examples(tool(schema=schema))
    assert made is not None
    kept = [name for name, each in made.input_schema["properties"].items() if "examples" in each]
    assert kept == ["b", "d", "f", "g", "i"]


def test_a_description_keeps_its_first_sentences() -> None:
    text = "Waters one bed of the garden. " * 20
    assert rewrites.first_sentences(text) == ("Waters one bed of the garden. " * 6).rstrip()
    assert rewrites.first_sentences("Short. Indeed.") is None
    assert rewrites.first_sentences("never a full stop " * 100) is None


def test_a_text_that_parameters_share_is_said_once() -> None:
    text = "The day on which the bed was watered, as a date of the calendar that the garden goes by. Never in future."
    made = rewrites.without_same_texts(tool(schema=parameters(first={"description": text}, last={"description": text})))
    assert made is not None
    assert made.input_schema == parameters(first={"description": text}, last={"description": "As first."})


def test_big_enumerations_become_words() -> None:
    values = [f"v{i}" for i in range(30)]
    made = rewrites.with_values_in_words(
        tool(schema=parameters(a={"type": "string", "enum": values, "description": "It."}))
    )
    assert made is not None
    assert made.input_schema == parameters(
        a={"type": "string", "description": 'It. One of 30 values, such as "v0", "v1", "v2", "v3", "v4".'}
    )
    assert rewrites.with_values_in_words(tool(schema=parameters(a={"enum": values[:19]}))) is None


def test_a_copy_of_a_tool_is_proposed_whole() -> None:
    schema = parameters(bed={"type": "string"})
    spent = measure([tool("water", "Waters.", schema), tool("pour", "Waters.", schema)])
    cut = propose(spent).cuts[-1]
    assert (cut.kind, cut.loss, cut.saved) == ("copy", "something", spent.tools[1].total)
    assert cut.tools == {ToolId("", "pour"): spent.tools[1].total}


def test_schemas_of_any_shape_are_measured_and_cut() -> None:
    deep: dict[str, Any] = {}
    place = deep
    for _ in range(10_000):
        place["properties"] = {"a": {}}
        place = place["properties"]["a"]
    odd = [
        {"name": "deep", "inputSchema": deep},
        {"name": "surrogate", "description": "\ud800 " * 100, "inputSchema": {"properties": [1]}},
        {"name": "list", "inputSchema": [1]},
        {
            "name": "numbers",
            "inputSchema": parameters(a=5, b={"description": 7, "examples": "x", "enum": "y", "title": 1}),
        },
        {"name": "branches", "inputSchema": parameters(a={"anyOf": [{"type": "null"}, 5], "oneOf": 3, "items": [1]})},
        {"name": "args", "description": "Args:\n  a: b", "inputSchema": {"properties": {"a": 1}}},
        {"name": "long", "description": "x" * 300_000},
    ]
    for provider in ("openai-chat", "anthropic", "json-schema"):
        spent = measure(read_tools(odd), provider)
        assert propose(spent).free >= 0
        assert [each.tool.id.name for each in spent.tools] == [each["name"] for each in odd if each["name"] != "list"]


LOSSLESS = [kind for kind in KINDS if kind.loss == "nothing"]


@needs_corpus
@pytest.mark.parametrize("kind", LOSSLESS, ids=lambda kind: kind.id)
def test_a_cut_that_loses_nothing_leaves_the_server_s_tool_and_what_is_valid_alone(kind: Any) -> None:
    values: list[Any] = [None, "", "x", 0, 1.5, True, [], ["x"], {}, {"a": 1}]
    made = 0
    for each in corpus("tools")[::60] + corpus("nasty"):
        before = read_tools([each["tool"]])[0]
        kept = copy.deepcopy(before.input_schema)
        after = kind.rewrite(before)
        assert before.input_schema == kept
        if after is None:
            continue
        made += 1
        assert len(json_text(after.input_schema)) + len(after.description) <= len(json_text(kept)) + len(
            before.description
        )
        if after.input_schema == kept:
            continue
        for name, schema in after.input_schema.get("properties", {}).items():
            old = kept["properties"][name]
            if isinstance(schema, dict) and schema != old and "$ref" not in json_text(schema):
                for value in values:
                    assert Draft202012Validator(schema).is_valid(value) == Draft202012Validator(old).is_valid(value), (
                        name
                    )
    assert made or kind.id in ("retold", "seen-examples")
