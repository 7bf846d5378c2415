"""What is offered keeps to the room there is, keeps its bytes, and the rest can be found."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.offer.catalogues import READ_MORE, catalogue, lines, random_tools, tool
from tests.support.shared import corpus, needs_corpus
from toolbridge.names import wire_name
from toolbridge.offer import Offer
from toolbridge.prepare import prepare
from toolbridge.providers import get_provider, providers
from toolbridge.tokens import definition_tokens, estimate
from toolbridge.tools import read_tools
from toolbridge.types import BoundCall, Text, Tool, ToolCall, ToolId, ToolResult

PROVIDERS = ["anthropic", "openai-chat", "gemini", "bedrock"]


def said(result: ToolResult) -> str:
    (only,) = result.content
    assert isinstance(only, Text)
    return only.text


def names(offer: Offer) -> list[str]:
    return [str(each.id) for each in offer.prepared.tools]


def sent(offer: Offer) -> list[str]:
    return lines(offer.prepared.definitions)


def tokens(offer: Offer) -> int:
    return sum(definition_tokens(each) for each in offer.prepared.definitions)


# ── everything fits ──


@pytest.mark.parametrize("provider", sorted(providers()))
def test_without_limits_the_offer_is_what_prepare_makes(provider: str) -> None:
    tools = catalogue()
    offer = Offer(tools, provider)
    assert offer.fields == prepare(tools, provider).fields
    assert (offer.deferred, offer.searching, offer.explained()) == ((), False, "")


def test_a_catalogue_within_its_budget_is_shown_whole_and_one_token_less_is_not() -> None:
    tools = catalogue(2, 5)
    whole = sum(definition_tokens(each) for each in prepare(tools, "anthropic").definitions)
    assert not Offer(tools, "anthropic", tool_tokens=whole).searching
    assert Offer(tools, "anthropic", tool_tokens=whole - 1).searching


def test_tools_of_the_host_come_first() -> None:
    offer = Offer(catalogue(1, 2), "openai-chat", extra=[READ_MORE])
    assert names(offer) == ["read_more", "server0/do_thing_0_0", "server0/do_thing_0_1"]


def test_an_offer_of_nothing_has_no_fields() -> None:
    offer = Offer([], "openai-chat", tool_tokens=100)
    assert (offer.fields, offer.cost.shown, offer.searching, offer.deferred) == ({}, 0, False, ())


# ── not everything fits ──


def test_servers_that_fit_whole_are_shown_then_tools_in_order_and_the_search_last() -> None:
    large, small = catalogue(1, 20), [tool("tiny", "a", "One."), tool("tiny", "b", "Two.")]
    offer = Offer([*large, *small], "anthropic", tool_tokens=1_000)
    shown = names(offer)
    assert shown[-3:] == ["tiny/a", "tiny/b", "search_tools"]
    assert shown[:-3] == [f"server0/do_thing_0_{i}" for i in range(len(shown) - 3)]
    assert 3 < len(shown) < 20
    assert len(offer.deferred) == 20 - (len(shown) - 3)
    assert offer.searching


def test_the_search_names_the_servers_and_how_many_tools_each_hides() -> None:
    offer = Offer(catalogue(3, 8), "anthropic", tool_tokens=600, kept=["server1/do_thing_1_0"])
    search = offer.prepared.definitions[-1]
    assert search["name"] == "search_tools"
    hidden = [each.id.server for each in offer.deferred]
    assert f"server1 ({hidden.count('server1')})" in search["description"]
    assert f"server2 ({hidden.count('server2')})" in search["description"]
    assert f"{len(hidden)} more tools" in search["description"]


def test_kept_tools_are_shown_by_id_and_by_pattern() -> None:
    ids = [ToolId("server4", "do_thing_4_9")]
    by_id = Offer(catalogue(), "anthropic", tool_tokens=600, kept=ids)
    assert "server4/do_thing_4_9" in names(by_id)
    by_pattern = Offer(catalogue(), "anthropic", tool_tokens=2_000, kept=["server4/*"])
    assert [each for each in names(by_pattern) if each.startswith("server4/")] == [
        f"server4/do_thing_4_{i}" for i in range(10)
    ]


def test_kept_tools_that_cost_more_than_the_budget_are_shown_and_it_is_said() -> None:
    offer = Offer(catalogue(), "anthropic", tool_tokens=200, kept=["server0/*"])
    assert [each for each in names(offer) if "/" in each] == [f"server0/do_thing_0_{i}" for i in range(10)]
    assert offer.cost.over
    assert "more than tool_tokens allows" in offer.explained()


def test_a_provider_with_a_most_of_tools_gets_no_more_and_can_be_searched() -> None:
    tools = catalogue(10, 30)
    offer = Offer(tools, "openai-chat", extra=[READ_MORE])
    assert offer.searching
    assert len(offer.prepared.definitions) <= 128
    assert not offer.prepared.left_out
    for each in range(40):
        offer.search("c", {"query": f"do thing {each % 10} {each % 30}", "limit": 20})
        assert len(offer.prepared.definitions) <= 128


@pytest.mark.parametrize("wrong", [{"tool_tokens": 0}, {"most": -1}])
def test_a_limit_below_one_is_a_mistake(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        Offer([], "anthropic", **wrong)


# ── searching ──

ZOO = [
    *(tool("github", f"other_thing_{i}", "Does another thing. " + "word " * 20) for i in range(20)),
    tool("github", "create_issue", "Creates an issue in a repository. Longer words follow here.", title={}),
    tool("github", "merge_pull_request", "Merges a pull request.", number={}),
    *(tool("mail", f"some_thing_{i}", "Does something. " + "word " * 20) for i in range(20)),
    tool("mail", "send_mail", "Sends an e-mail to somebody.", to={}),
]


def test_what_is_found_joins_the_end_and_can_be_called() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    before = sent(offer)
    assert not isinstance(offer.prepared.resolve(ToolCall("c", "mcp__github__create_issue", "{}", {})), BoundCall)
    result = offer.search("c1", {"query": "create an issue", "limit": 1})
    assert result == ToolResult(
        "c1",
        (
            Text(
                "These tools can be called from now on:\n"
                "- mcp__github__create_issue: Creates an issue in a repository. Longer words follow here."
            ),
        ),
    )
    assert sent(offer)[:-1] == before
    assert offer.joined == (ToolId("github", "create_issue"),)
    bound = offer.prepared.resolve(ToolCall("c", "mcp__github__create_issue", '{"title":"x"}', {"title": "x"}))
    assert isinstance(bound, BoundCall)
    assert bound.tool.id == ToolId("github", "create_issue")


def test_what_is_there_already_is_said_to_be_and_does_not_join_twice() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    offer.search("c1", {"query": "send mail", "limit": 1})
    before = offer.prepared
    assert said(offer.search("c2", {"query": "send mail", "limit": 1})) == (
        "These were there already:\n- mcp__mail__send_mail: Sends an e-mail to somebody."
    )
    assert offer.prepared is before


def test_a_tool_is_found_by_its_wire_name() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    assert "- mcp__mail__send_mail: " in said(offer.search("c", {"query": "`mcp__mail__send_mail`", "limit": 1}))
    assert offer.joined == (ToolId("mail", "send_mail"),)


def test_a_search_that_finds_nothing_says_so() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    result = offer.search("c", {"query": "zzzz qqqq"})
    assert (said(result), result.is_error) == ('No tool was found for "zzzz qqqq". Try other words.', False)


@pytest.mark.parametrize("arguments", [None, [], "x", {}, {"query": ""}, {"query": 5}, {"query": "  ", "limit": 2}])
def test_a_search_without_a_query_is_refused_in_words(arguments: Any) -> None:
    result = Offer(ZOO, "anthropic", tool_tokens=900).search("c", arguments)
    assert result.is_error
    assert said(result).startswith("The search was not run: ")


@pytest.mark.parametrize("limit", [0, -5, 10**30, "3", "many", None, 1.5, float("inf"), [], True])
def test_any_limit_is_read_kindly(limit: Any) -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    assert not offer.search("c", {"query": "issue", "limit": limit}).is_error


def test_the_search_is_called_otherwise_where_its_name_is_taken() -> None:
    taken = [tool("", "search_tools", "Mine."), tool("", "find_tools", "Mine too.")]
    offer = Offer(catalogue(), "anthropic", tool_tokens=900, extra=taken)
    assert offer.is_search("search_more_tools")
    assert not offer.is_search("search_tools")
    assert not Offer(catalogue(1, 1), "anthropic").is_search("search_tools")


def test_what_was_never_called_leaves_first_and_the_longest_there_of_it() -> None:
    tools = catalogue(2, 20, words=30)
    offer = Offer(tools, "anthropic", tool_tokens=1_500)
    hidden = list(offer.deferred)
    room = 0
    while offer.join(hidden[room]) and len(offer.joined) == room + 1:
        room += 1
    assert room >= 3
    # The last of them made the first leave.
    assert offer.joined == tuple(each.id for each in hidden[1 : room + 1])
    offer.called(offer.prepared.wire_name(hidden[1].id))
    assert offer.join(hidden[room + 1])
    assert offer.joined == tuple(each.id for each in (hidden[1], *hidden[3 : room + 2]))
    assert tokens(offer) <= 1_500


def test_a_tool_that_the_model_remembers_is_found_by_name_and_joins() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    found = offer.find("mcp__mail__send_mail")
    assert found is not None
    assert found.id == ToolId("mail", "send_mail")
    assert offer.join(found)
    assert names(offer)[-1] == "mail/send_mail"
    assert offer.find("mcp__mail__no_such") is None


def test_what_had_joined_in_another_process_joins_again() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    offer.search("c", {"query": "merge the pull request", "limit": 1})
    offer.search("c", {"query": "send a mail", "limit": 1})
    again = Offer(ZOO, "anthropic", tool_tokens=900, joined=[*offer.joined, ToolId("gone", "gone")])
    assert sent(again) == sent(offer)


def test_a_tool_without_room_even_alone_is_said_to_have_none() -> None:
    huge = tool("big", "enormous_thing", "Enormous. " + "word " * 3_000)
    offer = Offer([*catalogue(), huge], "anthropic", tool_tokens=1_000)
    text = said(offer.search("c", {"query": "enormous thing", "limit": 1}))
    assert text == "There is no room for mcp__big__enormous_thing. Search for it alone, with limit 1."
    assert offer.joined == ()


# ── small models ──


def test_a_model_with_few_places_gets_what_the_question_is_about_in_the_order_of_the_catalogue() -> None:
    offer = Offer(ZOO, "openai-chat", most=3, extra=[READ_MORE])
    assert names(offer) == ["read_more", "github/other_thing_0", "github/other_thing_1"]
    assert not offer.searching
    offer.choose("Please send a mail about the issue that you create")
    assert names(offer) == ["read_more", "github/create_issue", "mail/send_mail"]


def test_a_question_about_no_tool_changes_nothing() -> None:
    offer = Offer(ZOO, "openai-chat", most=3)
    offer.choose("send a mail")
    before = offer.prepared
    offer.choose("qqq?")
    assert offer.prepared is before


def test_choosing_does_nothing_for_models_that_search_for_themselves() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    before = offer.prepared
    offer.choose("send a mail")
    assert offer.prepared is before


# ── changes ──


def test_an_unchanged_catalogue_changes_nothing_even_read_anew() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    before = offer.prepared
    offer.renew(list(ZOO))
    offer.renew([replace(each) for each in ZOO])
    assert offer.prepared is before


def test_new_tools_are_put_behind_and_gone_ones_go() -> None:
    tools = catalogue(2, 3)
    offer = Offer(tools, "anthropic", tool_tokens=5_000)
    before = sent(offer)
    new = tool("aaa", "first_by_name", "New.")
    offer.renew([new, *tools])
    assert sent(offer)[:-1] == before
    assert names(offer)[-1] == "aaa/first_by_name"
    offer.renew([new, *tools[1:]])
    assert sent(offer)[:-1] == before[1:]


def test_new_tools_without_room_are_deferred_and_the_search_appears() -> None:
    tools = catalogue(2, 3)
    offer = Offer(tools, "anthropic", tool_tokens=900)
    before = sent(offer)
    assert not offer.searching
    offer.renew([*tools, *catalogue(9, 9)[20:]])
    assert offer.searching
    shown = sent(offer)[:-1]
    assert shown == before[: len(shown)]
    assert tokens(offer) <= 900


def test_a_refused_tool_is_dropped_until_it_is_described_anew() -> None:
    tools = catalogue(1, 3)
    offer = Offer(tools, "anthropic")
    assert offer.drop("mcp__server0__do_thing_0_1") == ToolId("server0", "do_thing_0_1")
    assert names(offer) == ["server0/do_thing_0_0", "server0/do_thing_0_2"]
    assert offer.drop("mcp__server0__do_thing_0_1") is None
    offer.renew([replace(each) for each in tools])
    assert names(offer) == ["server0/do_thing_0_0", "server0/do_thing_0_2"]
    offer.renew([replace(each, description="Better.") for each in tools])
    assert ToolId("server0", "do_thing_0_1") in offer.prepared


def test_a_refused_tool_cannot_be_found_again() -> None:
    offer = Offer(ZOO, "anthropic", tool_tokens=900)
    offer.search("c", {"query": "send mail", "limit": 1})
    offer.drop("mcp__mail__send_mail")
    assert "send_mail" not in said(offer.search("c", {"query": "send mail", "limit": 5}))
    assert offer.find("mcp__mail__send_mail") is None


def test_places_are_a_limit_even_for_what_is_kept() -> None:
    tools = catalogue(20, 10)
    offer = Offer(tools, "openai-chat", kept=["*"])
    assert (len(offer.prepared.definitions), offer.searching, offer.prepared.left_out) == (97, True, {})
    for each in offer.deferred:
        assert offer.join(each)
    assert len(offer.prepared.definitions) == 128
    offer.renew([*tools, tool("new", "one", "New."), tool("new", "two", "New.")])
    assert len(offer.prepared.definitions) == 128
    assert names(offer)[96:99] == ["new/one", "new/two", "search_tools"]
    many = Offer(tools[:5], "openai-chat", extra=[tool("", f"own_{i}", "Own.") for i in range(130)])
    assert (len(many.prepared.definitions), many.searching, len(many.prepared.left_out)) == (128, False, 2)


def test_tools_that_join_take_nothing_from_the_budget_of_strict_tools() -> None:
    tools = [tool("s", f"thing_{i}", f"Thing {i}.") for i in range(60)]
    offer = Offer(tools, "anthropic", strict=True, tool_tokens=1_500)
    before = sent(offer)
    assert sum("strict" in each for each in offer.prepared.definitions) > 0
    for i in range(60):
        offer.search("c", {"query": f"thing {i}", "limit": 1})
        assert sum("strict" in each for each in offer.prepared.definitions) <= 20
        assert sent(offer)[: len(before)] == before


# ── for all catalogues ──


@settings(max_examples=80, deadline=None)
@given(
    random_tools, st.sampled_from(PROVIDERS), st.sampled_from([None, True, False]), st.integers(60, 1_500), st.data()
)
def test_the_budget_holds_and_the_prefix_stays_whatever_is_found(
    tools: list[Tool], provider: str, strict: bool | None, budget: int, data: st.DataObject
) -> None:
    # Two identities that are made to spell alike get a digest each, which costs a few tokens that no price foretells.
    spelt = [wire_name(id, get_provider(provider).names) for id in {each.id for each in tools}]
    assume(len(set(spelt)) == len(spelt))
    kept = data.draw(st.lists(st.sampled_from([each.id for each in tools]), max_size=2) if tools else st.just([]))
    offer = Offer(tools, provider, strict=strict, tool_tokens=budget, kept=kept, extra=[READ_MORE])
    first = sent(offer)
    alone = {READ_MORE.id, *kept}
    assert tokens(offer) == offer.cost.shown
    for query in data.draw(st.lists(st.sampled_from(["x", "a b c", "abc", "search", "déjà", "d e f"]), max_size=4)):
        before, joined = sent(offer), offer.joined
        offer.search("c", {"query": query, "limit": 3})
        assert sent(offer)[: len(first)] == first
        if offer.joined[: len(joined)] == joined:
            assert sent(offer)[: len(before)] == before
        assert tokens(offer) == offer.cost.shown
        shown = {each.id for each in offer.prepared.tools if not offer.is_search(offer.prepared.wire_name(each.id))}
        assert tokens(offer) <= budget or (shown <= alone and offer.cost.over)
        wires = [offer.prepared.wire_name(each.id) for each in offer.prepared.tools]
        assert len(set(wires)) == len(wires)
    everything = {each.id for each in offer.prepared.tools}
    hidden = {each.id for each in offer.deferred}
    assert not everything & hidden
    assert {each.id for each in tools} <= everything | hidden | set(offer.prepared.left_out)


def test_the_same_catalogue_gives_the_same_bytes_in_every_process() -> None:
    program = (
        "import json; from tests.offer.catalogues import catalogue; from toolbridge.offer import Offer\n"
        "offer = Offer(catalogue(), 'anthropic', tool_tokens=900, kept=['server2/*', 'server4/*_9'])\n"
        "offer.search('c', {'query': 'thing 7 of server 3', 'limit': 4})\n"
        "print(json.dumps(offer.fields))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1


# ── real tools ──


@needs_corpus
def test_two_thousand_real_tools_cost_milliseconds_and_little_room() -> None:
    by_server: dict[str, list[Any]] = {}
    for record in corpus("tools")[:2_000]:
        by_server.setdefault(record["server"], []).append(record["tool"])
    tools = [each for server, listed in by_server.items() for each in read_tools(listed, server=server)]
    prepare(tools[:10], "anthropic")
    started = time.process_time()
    offer = Offer(tools, "anthropic", tool_tokens=10_000)
    assert offer.fields
    first = time.process_time() - started
    started = time.process_time()
    for _ in range(10):
        offer.renew(list(tools))
        assert offer.fields
    later = (time.process_time() - started) / 10
    assert tokens(offer) <= 10_000
    assert (first < 2, later < 0.2) == (True, True)  # a hundred times what it takes: only that it is not quadratic


def test_a_counter_makes_the_numbers_exact() -> None:
    tools = catalogue(1, 2)
    exact = Offer(tools, "anthropic", tool_tokens=10_000, count=len).cost
    guessed = Offer(tools, "anthropic", tool_tokens=10_000).cost
    definitions = get_provider("anthropic").write_fields(prepare(tools, "anthropic").definitions, False)["tools"]
    assert (exact.estimated, guessed.estimated) == (False, True)
    assert exact.shown == sum(definition_tokens(each, len) for each in definitions)
    assert guessed.shown == sum(definition_tokens(each, estimate) for each in definitions)
    assert exact.servers == {"server0": exact.shown}
    one = exact.of[tools[0].id]
    assert one.description == len(tools[0].description)
    assert one.total == definition_tokens(definitions[0], len)
    assert exact.total == exact.shown
