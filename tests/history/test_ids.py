"""Ids of calls: legal ones stay, all others are spelt, and no two are alike."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolbridge.history.ids import legal_ids, spell_id
from toolbridge.history.rules import IdRule, id_rule

PRINTABLE = id_rule(r"\x21-\x7e", 64)
WORDS = id_rule("a-zA-Z0-9_-", 64)
NINE = id_rule("a-zA-Z0-9", 9, exact=True)
RULES: dict[str, IdRule] = {
    "printable": PRINTABLE,
    "words": WORDS,
    "nine": NINE,
    "dots": id_rule("a-zA-Z0-9_.:-", 64),
    "forty": id_rule("a-z0-9-", 40, exact=True),
    "digits": id_rule("0-9", 12),
    "capitals": id_rule("A-Z_", 10, exact=True),
}


def test_a_legal_id_stays_as_it_is() -> None:
    ids = ["toolu_01", "call_abc", "x" * 64]
    assert legal_ids(ids, WORDS) == ids
    assert legal_ids(["abc123XYZ", "123456789"], NINE) == ["abc123XYZ", "123456789"]


def test_an_illegal_id_is_spelt_as_far_as_it_can_be_and_has_a_digest() -> None:
    assert legal_ids(["functions.search:0", "call|1", "", "呼び出し", "c" * 70], WORDS) == [
        "functions_search_0_b4ygci5l",
        "call_1_mudr4ofb",
        "ctdd35c6",
        "bspls2q4",
        "c" * 55 + "_klohtbay",
    ]


def test_an_id_of_exact_length_is_made_just_that_long() -> None:
    assert legal_ids(["call_0", "call_0", "", "toolu_01A09q90qw90lq917835lq9"], NINE) == [
        "cgfv5nuwr",
        "cjh3bsr37",
        "actdd35c6",
        "tlepepdcy",
    ]


def test_an_id_that_comes_again_is_told_apart_and_its_first_call_keeps_it() -> None:
    assert legal_ids(["call_0", "call_1", "call_0", "call_0"], WORDS) == [
        "call_0",
        "call_1",
        "call_0_jh3bsr37",
        "call_0_ibgjsler",
    ]


def test_an_id_that_is_made_is_never_one_that_a_later_call_has_of_its_own() -> None:
    made = legal_ids(["call 0"], WORDS)[0]
    later = legal_ids(["call 0", made], WORDS)
    assert later[1] == made
    assert later[0] != made
    assert WORDS.allows(later[0])


def test_two_ids_that_are_made_are_never_the_same_however_few_there_are() -> None:
    tight = id_rule("0-9", 3, exact=True)
    written = legal_ids(["", "123", "a b"] * 100, tight)
    assert len(set(written)) == 300
    assert all(tight.allows(each) for each in written)


def test_an_id_does_not_depend_on_what_comes_after_it() -> None:
    ids = ["", "call_0", "call_0", "a b", "", "call_1", "a b", "call_0"]
    whole = legal_ids(ids, NINE)
    assert [legal_ids(ids[:end], NINE) for end in range(len(ids))] == [whole[:end] for end in range(len(ids))]


def test_nothing_is_made_of_nothing() -> None:
    assert legal_ids([], WORDS) == []


@pytest.mark.parametrize("rule", RULES)
@given(ids=st.lists(st.sampled_from(["", "a", "a_b", "a.b", "a" * 100, "\ud800", "123456789"]) | st.text(max_size=70)))
@example(ids=[""] * 300)
@example(ids=["abc123XYZ", "abc123XYZ", "Abc123xyz"])
def test_ids_are_legal_and_no_two_are_alike(rule: str, ids: list[str]) -> None:
    written = legal_ids(ids, RULES[rule])
    assert [each for each in written if not RULES[rule].allows(each)] == []
    assert [each for each, count in Counter(written).items() if count > 1] == []
    assert len(written) == len(ids)
    for place, id in enumerate(ids):
        if RULES[rule].allows(id) and id not in ids[:place]:
            assert written[place] == id


@pytest.mark.parametrize("rule", RULES)
def test_a_spelling_is_legal_even_if_nothing_of_the_id_is_left(rule: str) -> None:
    assert [
        id for id in ("", "___", "日本語", " \n", "\udfff" * 99) if not RULES[rule].allows(spell_id(id, RULES[rule]))
    ] == []
