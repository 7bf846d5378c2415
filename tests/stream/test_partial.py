"""Values that are still arriving: what their text says so far, and what pieces with JSON paths come to."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbridge.stream.partial import PathBuilder, partial_json


def built(*pieces: tuple[str, Any, bool]) -> tuple[Any, str | None]:
    builder = PathBuilder()
    for piece in pieces:
        builder.add(*piece)
    return builder.value()


def one(path: str, value: Any = 1) -> tuple[Any, str | None]:
    return built((path, value, False))


# ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", {}),
        ('{"a', {}),
        ('{"a": "b', {"a": "b"}),
        ('{"a": "b", "c": [1, {"d": "é', {"a": "b", "c": [1, {"d": "é"}]}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1}{"b', {"a": 1}),
        ('"ab', "ab"),
    ],
)
def test_text_that_is_still_arriving_says_what_it_says_so_far(text: str, said: Any) -> None:
    assert partial_json(text) == said


@pytest.mark.parametrize("text", ["", " ", "x", "tru", "{]", '{"a": NaN', "\ud800", '{"a": "\ud800', "[" * 100_000])
def test_text_that_says_nothing_is_none(text: str) -> None:
    assert partial_json(text) is None


@given(st.text())
def test_no_text_raises(text: str) -> None:
    partial_json(text)
    partial_json("{" + text)


def test_importing_the_module_loads_no_parser() -> None:
    import subprocess
    import sys

    program = "import sys, toolbridge.stream.partial; print('pydantic_core' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=60)
    assert told.stdout == "False\n"


# ── pieces ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_pieces_of_a_string_are_joined_by_their_path() -> None:
    assert built(
        ("$", None, True),
        ("$.location", "San ", True),
        ("$.note", "sunny", True),
        ("$.location", "Francisco", True),
        ("$.note", "", False),
        ("$.location", "", False),
        ("$.days", 3, False),
        ("$.exact", False, False),
        ("$.unit", None, False),
        ("$", None, False),
    ) == ({"location": "San Francisco", "note": "sunny", "days": 3, "exact": False, "unit": None}, None)


def test_containers_are_what_the_paths_go_through() -> None:
    assert built(
        ("$.recipe.ingredients[0].amount", "16 oz", False),
        ("$.recipe.ingredients[0].name", "noodles", False),
        ("$.recipe.ingredients[1].name", "cheese", False),
        ("$.grid[1][0]", 1, False),
        ("$.recipe.steps[2]", "bake", False),
    ) == (
        {
            "recipe": {
                "ingredients": [{"amount": "16 oz", "name": "noodles"}, {"name": "cheese"}],
                "steps": [None, None, "bake"],
            },
            "grid": [None, [1]],
        },
        None,
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.a.b", {"a": {"b": 1}}),
        ("$['a']['b']", {"a": {"b": 1}}),
        ('$["a"].b', {"a": {"b": 1}}),
        ("$['a b'][0].c", {"a b": [{"c": 1}]}),
        ("$[ 'a' ] [ 0 ]", {"a": [1]}),
        ("$.größe.名前", {"größe": {"名前": 1}}),
        ("$.user-id", {"user-id": 1}),
        ("$._a9", {"_a9": 1}),
        ("$['']", {"": 1}),
        ("$['it\\'s']", {"it's": 1}),
        ("$['say \"hi\"']", {'say "hi"': 1}),
        ('$["say \\"hi\\""]', {'say "hi"': 1}),
        ('$["it\'s"]', {"it's": 1}),
        ("$['a.b[0]']", {"a.b[0]": 1}),
        ("$['\\\\']", {"\\": 1}),
        ("$['\\n\\t\\u00e9\\/']", {"\n\té/": 1}),
        ("$['\\ud83d\\ude00']", {"😀": 1}),
        ("$['😀']", {"😀": 1}),
    ],
)
def test_every_spelling_of_a_place_is_read(path: str, value: Any) -> None:
    assert one(path) == (value, None)


def test_two_spellings_of_one_place_are_one_place() -> None:
    assert built(("$.a", "x", True), ("$['a']", "y", True), ('$["a"]', "z", False)) == ({"a": "xyz"}, None)


@pytest.mark.parametrize(
    "path",
    [
        "", "a", "a.b", "$.", "$..a", "$.*", "$[*]", "$[-1]", "$[0:2]", "$[?@.a]", "$['a','b']", "$['a'", "$['a]", "$.a[",
        "$.a[]", "$[01]", "$.9a", "$.a b", "$['\\x']", "$['\\\"']", "$[\"\\'\"]", "$['\\ud83d']", "$['\ud83d']", "$.\ud83d",
        "$['\n']", "$.a ", "$.a[1.5]", "$ . a", "$.a.$", "@.a",
    ],
)  # fmt: skip
def test_a_path_that_names_no_single_place_breaks_the_call(path: str) -> None:
    shown = json.dumps(path, ensure_ascii=False)
    assert one(path) == (None, f"the arguments have a path that leads to no place: {shown}")
    assert built((path, "x", True), ("$.a", 1, False), ("$[0]", 1, False)) == one(path)


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        ([("$.a", "x", False), ("$.a", "y", False)], 'the arguments have a second value for "$.a"'),
        ([("$.a", 1, False), ("$.a", 1, False)], 'the arguments have a second value for "$.a"'),
        ([("$.a", "x", True), ("$.a", 1, False)], 'the arguments have two kinds of value at "$.a"'),
        ([("$.a", "x", False), ("$.a.b", 1, False)], 'the arguments have two kinds of value on the way to "$.a.b"'),
        ([("$.a[0]", 1, False), ("$.a.b", 1, False)], 'the arguments have two kinds of value on the way to "$.a.b"'),
        ([("$.a.b", 1, False), ("$.a[0]", 1, False)], 'the arguments have two kinds of value on the way to "$.a[0]"'),
        ([("$.a.b", 1, False), ("$.a", 1, False)], 'the arguments have two kinds of value at "$.a"'),
        ([("$[0]", 1, False)], "the arguments are a list, not a JSON object"),
        ([("$.a", float("nan"), False)], 'the arguments have nan at "$.a", which is no JSON value'),
    ],
)
def test_pieces_that_contradict_each_other_break_the_call(pieces: list[Any], problem: str) -> None:
    assert built(*pieces) == (None, problem)


def test_pieces_that_were_announced_and_did_not_come_are_missed() -> None:
    assert built(("$.a", 1, False), ("$.b", "x", True)) == (
        {"a": 1, "b": "x"},
        'the arguments end too early, inside of "$.b"',
    )
    assert built(("$", None, True), ("$.a", 1, False)) == (
        {"a": 1},
        "the arguments end too early: more of them was announced",
    )


def test_only_strings_come_in_pieces() -> None:
    assert built(("$.a", 1, True), ("$.b", None, True)) == ({"a": 1, "b": None}, None)
    assert built(("$.a", 1, True), ("$.a", 2, False)) == (None, 'the arguments have a second value for "$.a"')


def test_no_pieces_are_no_arguments() -> None:
    assert built() == ({}, None)
    assert built(("$", None, False)) == ({}, None)


def test_asking_in_between_changes_nothing() -> None:
    builder = PathBuilder()
    seen: list[Any] = []
    for piece in [("$.a", "x", True), ("$.a", "y", True), ("$.a", "", False), ("$.b[1]", 2, False)]:
        builder.add(*piece)
        seen.append(builder.value()[0])
    assert seen == [{"a": "x"}, {"a": "xy"}, {"a": "xy"}, {"a": "xy", "b": [None, 2]}]


# ── hostile pieces ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", ["999999999", "10001", "999999999999999"])
def test_a_list_of_nothing_is_not_made(number: str) -> None:
    assert one(f"$.a[{number}]") == (None, f"the arguments have a list in which {int(number):,} items are missing")


def test_the_gaps_of_all_lists_count_together() -> None:
    value, problem = built(*((f"$.a{i}[2000]", 1, False) for i in range(6)))
    assert (value, problem) == (None, "the arguments have a list in which 12,000 items are missing")


def test_a_list_without_gaps_may_be_long() -> None:
    assert built(*((f"$.a[{i}]", i, False) for i in range(30_000))) == ({"a": list(range(30_000))}, None)


def test_a_number_without_end_is_no_index() -> None:
    shown = f"$.a[{'9' * 56}…"
    assert one(f"$.a[{'9' * 100_000}]") == (None, f'the arguments have a path that leads to no place: "{shown}"')


def test_depth_is_bounded() -> None:
    assert one("$" + ".a" * 100)[1] is None
    value, problem = one("$" + ".a" * 100_000)
    assert value is None
    assert (problem or "").startswith('the arguments are nested more than 100 deep: "$.a.a')


def test_a_long_string_in_many_pieces_costs_what_it_is_long() -> None:
    builder = PathBuilder()
    started = time.perf_counter()
    for _ in range(300_000):
        builder.add("$['text']", "abcdefgh", True)
    builder.add("$['text']", "", False)
    value, problem = builder.value()
    assert (len(value["text"]) if value else 0, problem) == (2_400_000, None)
    assert time.perf_counter() - started < 5


_NAMES = st.text(st.characters(exclude_categories=["Cs"]))
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, min_size=1, max_size=4) | st.dictionaries(_NAMES, inner, min_size=1, max_size=4),
    max_leaves=12,
)


def pieces_of(value: Any, path: str, spell: Any) -> list[tuple[str, Any, bool]]:
    """The pieces that a value would be sent in."""
    if isinstance(value, dict):
        return [piece for name, each in value.items() for piece in pieces_of(each, path + spell(name), spell)]
    if isinstance(value, list):
        return [piece for i, each in enumerate(value) for piece in pieces_of(each, f"{path}[{i}]", spell)]
    if isinstance(value, str):
        return [*((path, each, True) for each in value), (path, "", False)]
    return [(path, value, False)]


def in_double_quotes(name: str) -> str:
    return f"[{json.dumps(name)}]"


def normalised(name: str) -> str:
    quoted = json.dumps(name, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"['{quoted}']"


@pytest.mark.parametrize("spell", [in_double_quotes, normalised])
@given(st.dictionaries(_NAMES, _VALUES, max_size=5))
def test_any_object_comes_out_of_its_pieces(spell: Any, value: dict[str, Any]) -> None:
    assert built(*pieces_of(value, "$", spell)) == (value, None)


@given(
    st.lists(
        st.tuples(st.text(alphabet="$.[]'\"a0\\u 9-") | st.text(), st.none() | st.text() | st.integers(), st.booleans())
    )
)
def test_no_pieces_raise(pieces: list[tuple[str, Any, bool]]) -> None:
    value, problem = built(*pieces)
    assert (value is None) <= (problem is not None)
