"""Names: every identity has one legal spelling per provider, nobody else's, whatever stands beside it."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolbridge import MCPToolError, Note, Tool, ToolId, namespace_tool_name, parse_namespaced_name
from toolbridge.names import wire_name
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import get_provider, providers

EVERY_PROVIDER = list(providers())

LEGAL: dict[str, re.Pattern[str]] = {
    **dict.fromkeys(EVERY_PROVIDER, re.compile(r"[a-zA-Z0-9_-]{1,64}")),
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    **dict.fromkeys(("gemini", "gemini-openapi"), re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")),
    **dict.fromkeys(("moonshot", "openrouter"), re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")),
}
"""What each provider documents, written down again so that a rule cannot vouch for itself."""

AWKWARD = [
    "", " ", "_", "__", "___", "-", ".", "a", "a.b", "a/b", "a b", "a_b", "a__b", "21st_x", "日本語", "日本", "🙂", "🙂🙂", "é",
    "\ud800", "\udfff", "\x00", "a\x00", "\n", "a\n", "x" * 64, "x" * 65, "x" * 128, "x" * 129, "x" * 200, "x" * 199 + "y",
    "mcp__s__a", "t", "_t", "ａ", "A", "a:b", "a" * 64 + "\n", "drop table;--", "../../etc", "%s%n", "$ref",
]  # fmt: skip


def tool(server: str, name: str, schema: dict[str, Any] | None = None) -> Tool:
    return Tool(ToolId(server, name), "", schema or {"type": "object", "properties": {}})


def spellings(tools: list[Tool], provider: str) -> dict[ToolId, str]:
    ready = prepare(tools, provider)
    return {each.id: ready.wire_name(each.id) for each in ready.tools}


def names_in(ready: PreparedTools) -> list[str]:
    """The names as they stand in the definitions, wherever the provider puts them."""
    found: list[str] = []
    for definition in ready.definitions:
        holders = [definition, *(each for each in definition.values() if isinstance(each, dict))]
        found += [next(each["name"] for each in holders if isinstance(each.get("name"), str))]
    return found


# ── names for people ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_namespaced_name_is_namespace_server_and_tool() -> None:
    assert namespace_tool_name("search", "my-server") == "mcp__my_server__search"
    assert namespace_tool_name("search", "my-server", namespace="acme") == "acme__my_server__search"


@pytest.mark.parametrize(
    ("name", "server", "namespaced"),
    [
        ("read.file", "fs", "mcp__fs__read_file"),
        ("a/b c", "x@1.2", "mcp__x_1_2__a_b_c"),
        ("snake_case", "server", "mcp__server__snake_case"),
        ("日本", "é", "mcp_______"),
    ],
)
def test_everything_but_letters_and_digits_becomes_an_underscore(name: str, server: str, namespaced: str) -> None:
    assert namespace_tool_name(name, server) == namespaced


def test_a_namespaced_name_is_parsed_back_into_its_parts() -> None:
    assert parse_namespaced_name("mcp__my_server__search") == ("mcp", "my_server", "search")
    assert parse_namespaced_name(namespace_tool_name("search", "my-server")) == ("mcp", "my_server", "search")
    assert parse_namespaced_name("mcp__fs__read__all") == ("mcp", "fs", "read__all")


@pytest.mark.parametrize(
    "text", ["", "search", "mcp__search", "mcp_server_search", "__server__tool", "mcp____tool", "mcp__s__"]
)
def test_what_has_not_three_parts_is_no_namespaced_name(text: str) -> None:
    with pytest.raises(MCPToolError) as raised:
        parse_namespaced_name(text)
    assert str(raised.value) == f"{text!r} is not a namespaced tool name: expected namespace__server__tool"


# ── wire names ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tool_without_a_server_keeps_its_own_legal_name() -> None:
    assert spellings([tool("", "get_weather"), tool("", "Get-Weather2")], "openai-chat") == {
        ToolId("", "get_weather"): "get_weather",
        ToolId("", "Get-Weather2"): "Get-Weather2",
    }


def test_equal_names_of_two_servers_are_told_apart_by_the_server() -> None:
    assert spellings([tool("github", "search"), tool("jira", "search")], "openai-chat") == {
        ToolId("github", "search"): "mcp__github__search",
        ToolId("jira", "search"): "mcp__jira__search",
    }


def test_a_dot_is_legal_for_gemini_and_not_for_openai() -> None:
    assert spellings([tool("", "a.b")], "gemini") == {ToolId("", "a.b"): "a.b"}
    (name,) = spellings([tool("", "a.b")], "openai-chat").values()
    assert re.fullmatch(r"a_b_[a-z2-7]{8}", name)


def test_a_leading_digit_is_legal_for_openai_and_not_for_gemini() -> None:
    assert spellings([tool("", "21st_x")], "openai-chat") == {ToolId("", "21st_x"): "21st_x"}
    (name,) = spellings([tool("", "21st_x")], "gemini").values()
    assert re.fullmatch(r"_21st_x_[a-z2-7]{8}", name)


def test_a_name_of_200_characters_is_cut_where_the_provider_cuts_and_its_end_still_counts() -> None:
    one, other = tool("", "x" * 200), tool("", "x" * 199 + "y")
    for provider, length in (("openai-chat", 64), ("anthropic", 128)):
        names = list(spellings([one, other], provider).values())
        assert [len(each) for each in names] == [length, length]
        assert {each[:-9] for each in names} == {"x" * (length - 9)}
        assert len(set(names)) == 2


def test_a_name_at_the_limit_is_kept_and_one_past_it_is_spelt() -> None:
    assert spellings([tool("", "x" * 64)], "openai-chat") == {ToolId("", "x" * 64): "x" * 64}
    assert spellings([tool("", "x" * 65)], "openai-chat") != {ToolId("", "x" * 65): "x" * 65}
    assert spellings([tool("", "x" * 128)], "anthropic") == {ToolId("", "x" * 128): "x" * 128}


def test_names_that_look_alike_once_cleaned_have_spellings_of_their_own() -> None:
    names = spellings([tool("", each) for each in ("a.b", "a/b", "a b", "a_b")], "openai-chat")
    assert names[ToolId("", "a_b")] == "a_b"
    assert len(set(names.values())) == 4
    assert all(each.startswith("a_b") for each in names.values())


def test_a_changed_name_is_noted_with_the_name_the_server_gave() -> None:
    id = ToolId("", "a.b")
    assert prepare([tool("", "a.b")], "anthropic").notes == {id: (Note("name.spelt", "changed", "", "a.b"),)}
    assert prepare([tool("", "a_b")], "anthropic").notes == {ToolId("", "a_b"): ()}


@pytest.mark.parametrize("provider", EVERY_PROVIDER)
def test_every_awkward_identity_is_legal_and_unique_for_every_provider(provider: str) -> None:
    tools = [tool(server, name) for server in ("", "s", "日本", "a__b", "s_", "x" * 100) for name in AWKWARD]
    for start in range(0, len(tools), 100):  # some providers take no more than 128 at once
        ready = prepare(tools[start : start + 100], provider)
        assert ready.left_out == {}
        names = names_in(ready)
        assert [each for each in names if not LEGAL[provider].fullmatch(each)] == []
        assert len(set(names)) == len(names)
        assert names == [ready.wire_name(each.id) for each in ready.tools]
        assert [ready.tool(each).id for each in names] == [each.id for each in ready.tools]
    alone = [wire_name(each.id, get_provider(provider).names) for each in tools]
    assert [each for each in alone if not LEGAL[provider].fullmatch(each)] == []


def test_a_server_whose_name_could_be_cut_in_two_places_does_not_take_anothers_name() -> None:
    pairs = [("a", "b__c"), ("a__b", "c"), ("a_", "b"), ("a", "_b"), ("a__", "b"), ("", "mcp__a__b__c")]
    names = spellings([tool(*each) for each in pairs], "openai-chat")
    assert len(set(names.values())) == 6
    assert names[ToolId("a", "_b")] == "mcp__a___b"


@pytest.mark.parametrize("provider", ["openai-chat", "anthropic", "gemini", "bedrock"])
def test_a_tool_named_exactly_like_the_spelling_of_another_is_still_told_apart(provider: str) -> None:
    rule = get_provider(provider).names
    victims = [tool("", "a b"), tool("s", "a/b"), tool("s__t", "c"), tool("s", "read")]
    mimics = [
        tool("", wire_name(ToolId("", "a b"), rule)),
        tool("s", wire_name(ToolId("s", "a/b"), rule).removeprefix("mcp__s__")),
        tool("s", wire_name(ToolId("s__t", "c"), rule).removeprefix("mcp__s__")),
        tool("", wire_name(ToolId("s", "read"), rule)),
    ]
    both = [*victims, *mimics]
    ready = prepare(both, provider)
    names = names_in(ready)
    assert len(set(names)) == 8
    assert all(LEGAL[provider].fullmatch(each) for each in names)
    assert [ready.tool(each) for each in names] == both
    again = prepare([*mimics, *victims], provider)
    assert [again.wire_name(each.id) for each in both] == names


def test_mimicking_the_spelling_that_a_mimic_brings_about_does_not_help_either() -> None:
    tools = [tool("", "a b")]
    for _ in range(4):
        tools.append(tool("", prepare(tools, "openai-chat").wire_name(tools[0].id)))
    names = names_in(prepare(tools, "openai-chat"))
    assert len(set(names)) == 5
    assert all(LEGAL["openai-chat"].fullmatch(each) for each in names)


@pytest.mark.parametrize("provider", EVERY_PROVIDER)
def test_the_order_of_listing_changes_no_spelling(provider: str) -> None:
    tools = [tool(server, name) for server in ("", "s", "日本") for name in AWKWARD[:36]]
    expected = spellings(tools, provider)
    for seed in range(3):
        shuffled = random.Random(seed).sample(tools, len(tools))
        assert spellings(shuffled, provider) == expected


def test_the_other_servers_change_no_spelling() -> None:
    servers = ["s", "t", "日本", "中国", "a__b", "c__d", "x" * 100, "x" * 99 + "y"]
    everything = spellings([tool(server, name) for server in servers for name in AWKWARD[:14]], "openai-chat")
    for server in servers:
        assert spellings([tool(server, name) for name in AWKWARD[:14]], "openai-chat").items() <= everything.items()


def test_two_identities_that_share_their_letters_and_zeros_are_told_apart_in_any_order() -> None:
    tools = [tool("a\x00", "b"), tool("a", "\x00b"), tool("a\x00\x00", "b"), tool("a", "\x00\x00b")]
    every = [spellings(list(order), "openai-chat") for order in itertools.permutations(tools)]
    assert all(each == every[0] for each in every)
    assert len(set(every[0].values())) == 4


identities = st.tuples(
    st.one_of(st.just(""), st.sampled_from(AWKWARD), st.text(max_size=80), st.text("ab_-.", max_size=6)),
    st.one_of(st.sampled_from(AWKWARD), st.text(max_size=150), st.text("ab_-.", max_size=6)),
)


@given(
    st.lists(identities, min_size=1, max_size=12, unique=True),
    st.sampled_from(["openai-chat", "anthropic", "gemini", "bedrock", "moonshot"]),
    st.randoms(use_true_random=False),
)
@example([("a", "b"), ("", "mcp__a__b")], "openai-chat", random.Random(0))
def test_any_text_makes_names_that_are_unique_and_legal_and_stable(
    pairs: list[tuple[str, str]], provider: str, rng: random.Random
) -> None:
    tools = [tool(*each) for each in pairs]
    ready = prepare(tools, provider)
    names = names_in(ready)
    assert len(set(names)) == len(tools)
    assert all(LEGAL[provider].fullmatch(each) for each in names)
    assert [ready.tool(each) for each in names] == tools
    shuffled = rng.sample(tools, len(tools))
    again = prepare(shuffled, provider)
    assert [again.wire_name(each.id) for each in tools] == names


@given(st.lists(identities, min_size=2, max_size=8, unique=True), st.sampled_from(["openai-chat", "gemini"]))
def test_a_name_that_nobody_mimics_is_the_same_alone_and_in_company(
    pairs: list[tuple[str, str]], provider: str
) -> None:
    rule = get_provider(provider).names
    alone = {ToolId(*each): wire_name(ToolId(*each), rule) for each in pairs}
    together = spellings([tool(*each) for each in pairs], provider)
    counts = list(alone.values())
    assert {id: name for id, name in together.items() if counts.count(alone[id]) == 1} == {
        id: name for id, name in alone.items() if counts.count(name) == 1
    }


# ── property keys ────────────────────────────────────────────────────────────────────────────────────────────────

KEYS = ["ok", "a b", "a/b", "a_b", "a.b", "日本", "🙂", "", "$ref", "0", "x" * 100, "x" * 99 + "y", "\ud800", "p_a_b"]
ANTHROPIC_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
GEMINI_KEY = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")


def nested_schema() -> dict[str, Any]:
    leaves = {key: {"type": "integer"} for key in KEYS}
    inner = {"type": "object", "properties": leaves, "required": ["a b"], "additionalProperties": False}
    members: dict[str, Any] = {**leaves, "below": inner, "list of": {"type": "array", "items": inner}}
    return {"type": "object", "properties": members, "required": ["a b", "ok"], "additionalProperties": False}


def nested_values() -> dict[str, Any]:
    leaves = {key: i for i, key in enumerate(KEYS)}
    return {**leaves, "below": leaves, "list of": [leaves, {"a b": 1}]}


def all_keys(schema: Any) -> list[str]:
    """The property keys of a written schema, at every level."""
    if not isinstance(schema, dict):
        return []
    found: list[str] = []
    for key, each in schema.get("properties", {}).items():
        found += [key, *all_keys(each)]
    return found + all_keys(schema.get("items"))


def test_anthropic_root_keys_are_legal_and_those_below_are_left_alone() -> None:
    ready = prepare([tool("", "t", nested_schema())], "anthropic", strict=False)
    members = ready.definitions[0]["input_schema"]["properties"]
    assert [key for key in members if not ANTHROPIC_KEY.fullmatch(key)] == []
    assert len(members) == len(KEYS) + 2
    assert [key for key in KEYS if key in members] == ["ok", "a_b", "a.b", "0", "p_a_b"]
    assert list(members["below"]["properties"]) == [re.sub("[\ud800-\udfff]", "\ufffd", key) for key in KEYS]
    assert members["below"]["required"] == ["a b"]


def test_gemini_openapi_keys_are_legal_at_every_level() -> None:
    ready = prepare([tool("", "t", nested_schema())], "gemini-openapi")
    keys = all_keys(ready.definitions[0]["parameters"])
    assert [key for key in keys if not GEMINI_KEY.fullmatch(key)] == []
    assert len(keys) == 3 * len(KEYS) + 2


@pytest.mark.parametrize("provider", ["anthropic", "gemini-openapi"])
def test_required_speaks_of_the_keys_as_they_are_spelt(provider: str) -> None:
    ready = prepare([tool("", "t", nested_schema())], provider, strict=False)
    definition = ready.definitions[0]
    schema = definition.get("input_schema") or definition["parameters"]
    spelt = next(key for key, each in schema["properties"].items() if '"a b"' in each.get("description", ""))
    assert sorted(schema["required"]) == ["ok", spelt]
    assert schema["properties"][spelt]["description"] == '(The tool calls it "a b".)'


@pytest.mark.parametrize("provider", ["anthropic", "gemini-openapi"])
@pytest.mark.parametrize("strict", [True, False])
def test_renamed_keys_are_noted_and_find_their_way_back(provider: str, strict: bool) -> None:
    id = ToolId("", "t")
    ready = prepare([tool("", "t", nested_schema())], provider, strict=strict)
    written = ready.write_arguments(id, nested_values())
    legal = ANTHROPIC_KEY if provider == "anthropic" else GEMINI_KEY
    assert [key for key in written if not legal.fullmatch(key)] == []
    assert ready.read_arguments("t", written) == nested_values()
    assert ready.read_arguments("t", nested_values()) == nested_values()
    noted = {each.before: each for each in ready.notes[id] if each.code == "key.renamed" and each.path.count("/") == 2}
    assert {"a b", "", "日本", "x" * 100} <= noted.keys()
    assert noted["a b"] == Note("key.renamed", "changed", "/properties/a b", "a b")


def test_a_key_spelt_like_another_keys_spelling_keeps_its_own_value() -> None:
    first = prepare([tool("", "t", {"type": "object", "properties": {"a b": {"type": "integer"}}})], "anthropic")
    (spelt,) = first.definitions[0]["input_schema"]["properties"]
    for keys in (["a b", spelt], [spelt, "a b"], [spelt, "a b", spelt + "_"]):
        schema = {"type": "object", "properties": {key: {"type": "integer"} for key in keys}}
        ready = prepare([tool("", "t", schema)], "anthropic")
        members = ready.definitions[0]["input_schema"]["properties"]
        assert len(members) == len(keys)
        values = {key: i for i, key in enumerate(keys)}
        written = ready.write_arguments(ToolId("", "t"), values)
        assert written[spelt] == values[spelt]
        assert ready.read_arguments("t", written) == values


@pytest.mark.parametrize("provider", ["anthropic", "gemini-openapi"])
def test_the_other_keys_and_their_order_change_no_spelling(provider: str) -> None:
    def spelt(keys: list[str]) -> dict[str, str]:
        ready = prepare(
            [tool("", "t", {"type": "object", "properties": {key: {"type": "integer"} for key in keys}})], provider
        )
        return {key: wire for key in keys for wire in ready.write_arguments(ToolId("", "t"), {key: 1})}

    expected = spelt(KEYS)
    assert len(set(expected.values())) == len(KEYS)
    assert spelt(KEYS[::-1]) == expected
    assert {key: spelt([key])[key] for key in KEYS} == expected


def test_keys_that_mimic_spellings_never_push_one_past_the_limit() -> None:
    long = "x" * 100
    members: dict[str, Any] = {long: {"type": "integer"}}
    for _ in range(12):
        ready = prepare([tool("", "t", {"type": "object", "properties": dict(members)})], "gemini-openapi")
        wire = list(ready.definitions[0]["parameters"]["properties"])
        assert [key for key in wire if not GEMINI_KEY.fullmatch(key)] == []
        (spelt,) = set(wire) - set(members)
        members[spelt] = {"type": "integer"}


@given(st.lists(st.one_of(st.sampled_from(KEYS), st.text(max_size=80)), min_size=1, max_size=10, unique=True))
def test_any_text_for_keys_is_legal_and_comes_back(keys: list[str]) -> None:
    id = ToolId("", "t")
    leaves = {key: {"type": "integer"} for key in keys}
    schema = {"type": "object", "properties": {**leaves, "below": {"type": "object", "properties": leaves}}}
    values: dict[str, Any] = {
        **{key: i for i, key in enumerate(keys)},
        "below": {key: -i for i, key in enumerate(keys)},
    }
    for provider, legal in (("anthropic", ANTHROPIC_KEY), ("gemini-openapi", GEMINI_KEY)):
        ready = prepare([tool("", "t", schema)], provider)
        definition = ready.definitions[0]
        wire = definition.get("input_schema") or definition["parameters"]
        spelt = all_keys(wire) if provider == "gemini-openapi" else list(wire["properties"])
        assert [key for key in spelt if not legal.fullmatch(key)] == []
        assert ready.read_arguments("t", ready.write_arguments(id, values)) == values
