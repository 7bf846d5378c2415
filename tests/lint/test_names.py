"""Rules for names, at their edges: what looks like a fault and is none, and where exactly one is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.examining import findings, flaws, named, shown
from toolbridge.lint.linting import lint_tools
from toolbridge.tools import read_tools


def test_versions_are_found_where_they_stand() -> None:
    names = ("search_v2", "searchV2", "v1_search", "get_v1_0_orders", "orders-v10", "TwilioApiV2010--FetchCall")
    spans = [shown(each) for name in names for each in flaws("name.version", {"name": name})]
    assert spans == ["v2", "V2", "v1", "v1_0", "v10", "V2010"]


def test_dates_and_states_are_versions_too() -> None:
    names = ("search_2024-01-31", "search_2024_01_31", "search_legacy", "search_deprecated", "search-beta")
    assert named("name.version", *names) == list(names)


def test_standards_and_engines_are_no_versions() -> None:
    names = (
        "get_ipv4_address", "getIPv4", "getIPV4Address", "get_oauth2_token", "list_s3_buckets", "encode_h264",
        "get_v8_heap", "generate_uuid_v4", "make_uuidV4", "sha256_hash", "convert_mp4", "k8s_get_pods", "score_cvss_v3",
        "get_2024_report", "parse_openapi_v3", "beta_regression", "list_legacy_orders", "convert_csv2", "parse_div3",
        "sign_s3_v4", "check_http_v2", "getS3V4Signature",
    )  # fmt: skip
    assert named("name.version", *names) == []


def test_a_name_without_a_verb_is_found_and_prefixes_are_no_hindrance() -> None:
    assert named("name.verb", "weather", "npmSize", "web_data_products", "k8s_crds") == [
        "weather", "npmSize", "web_data_products", "k8s_crds",
    ]  # fmt: skip
    assert (
        named("name.verb", "jira_get_issue", "browser_click", "calls_create", "pdf_splitter", "text_to_audio", "listprompts",
              "rerank_documents", "is_prime", "netlify-services-updater", "读取文件", "获取_file")
        == []
    )  # fmt: skip


def test_a_generic_name_would_fit_any_server() -> None:
    names = (
        "process",
        "do_thing",
        "run",
        "execute",
        "helper",
        "test",
        "tool",
        "handle",
        "data",
        "get_status",
        "getInfo",
        "search",
    )
    assert named("name.generic", *names) == list(names)
    fine = (
        "get_order_status",
        "run_query",
        "create_function",
        "list_tools",
        "execute_command",
        "click",
        "git_status",
        "",
    )
    assert named("name.generic", *fine) == []


def test_search_and_fetch_together_are_the_names_that_chatgpt_asks_for() -> None:
    assert named("name.generic", "search", "fetch") == []
    assert named("name.generic", "fetch") == ["fetch"]


def test_praise_is_about_the_tool_and_not_about_its_subject() -> None:
    assert named("name.promotional", "best_search", "official_api", "ultimateSearch", "get_awesome_images") == [
        "best_search", "official_api", "ultimateSearch", "get_awesome_images",
    ]  # fmt: skip
    assert named("name.promotional", "super_search", "great_tool", "perfectFinder") == [
        "super_search", "great_tool", "perfectFinder",
    ]  # fmt: skip
    honest = (
        "get_best_bid", "best_trials", "find_official_documents", "premium", "superset_query", "great_circle_distance",
        "get_magic_link", "search_magic_cards", "super_admin_list", "premium_accounts_list", "perfect_numbers_find",
        "official_holidays_list", "cool_room_set_temperature",
    )  # fmt: skip
    assert named("name.promotional", *honest) == []
    assert shown(flaws("name.promotional", {"name": "get_Awesome_images"})[0]) == "Awesome"


def test_a_name_of_sixty_four_characters_is_long_and_one_more_is_too_long() -> None:
    assert named("name.length", "a" * 64, "b" * 65) == ["b" * 65]
    assert named("name.long", "a" * 48, "b" * 49, "c" * 64, "d" * 65) == ["b" * 49, "c" * 64]
    assert flaws("name.length", {"name": "b" * 70})[0].span == (64, 70)


@pytest.mark.parametrize(
    ("name", "span"),
    [
        ("orders.get", "."),
        ("get order", " "),
        ("!query", "!"),
        ("a/b", "/"),
        ("获取", "获取"),
        ("get\n", "\n"),
        ("3d_model", "3"),
    ],
)
def test_characters_that_providers_refuse_are_pointed_at(name: str, span: str) -> None:
    found = flaws("name.characters", {"name": name})
    assert [shown(each) for each in found] == [span]
    assert found[0].message.isprintable()


def test_the_name_in_snake_case_is_suggested_where_its_words_are_plain() -> None:
    messages = [
        each.message
        for each in flaws(
            "name.case", {"name": "getOrder2"}, {"name": "Get-Order"}, {"name": "get-order"}, {"name": "PDBe_get"}
        )
    ]
    assert messages == [
        "the name is not in snake_case: 'get_order2' would be",
        "the name is not in snake_case: use lower case and '_'",
        "the name is not in snake_case: 'get_order' would be",
        "the name is not in snake_case: use lower case and '_'",
    ]
    assert named("name.case", "get_order", "sha256", "k8s_get", "获取") == []


def test_styles_are_mixed_within_a_server_and_single_words_prove_nothing() -> None:
    (found,) = findings("name.mixed", {"name": "get_order"}, {"name": "listOrders"}, {"name": "search"}, server="shop")
    assert (found.tool, found.server) == (None, "shop")
    assert found.message == (
        "the names of its tools are written in 2 ways: 1 in snake_case ('get_order'), 1 in camelCase ('listOrders'); "
        "choose one"
    )
    assert findings("name.mixed", {"name": "get-order"}, {"name": "search"}, {"name": "ping"}) == []


def test_a_name_repeats_its_server_only_where_something_is_left_without_it() -> None:
    (found,) = flaws("name.redundant", {"name": "github_get_issue"}, server="@scope/github-mcp-server")
    assert shown(found) == "github"
    assert "'get_issue' would do" in found.message
    assert named("name.redundant", "git_status", "shell_execute", "fetch_markdown", "git_log", server="git") == []
    assert named("name.redundant", "fetch_markdown", server="fetch-mcp") == []
    assert named("name.redundant", "get_issue", "mcp_get", server="mcp-server") == []
    assert named("name.redundant", "github_get_issue") == []


def test_a_name_twice_in_one_server_is_an_error_told_once() -> None:
    found = findings("name.duplicate", {"name": "a"}, {"name": "a"}, {"name": "a"}, {"name": "b"})
    assert [(str(each.severity), each.message) for each in found] == [
        ("error", "the server lists 3 tools of this name: one of them cannot be called")
    ]


def test_names_that_read_the_same_are_found() -> None:
    assert named("name.similar", "get_order", "getOrder", "get-order", "get_orders", "---", "___") == [
        "getOrder",
        "get-order",
    ]


def test_an_entry_that_is_no_tool_is_one_finding_and_not_ten() -> None:
    found = findings("name", {"description": "nameless"}, server="shop")
    assert [(each.rule, each.message) for each in found] == [
        ("name.missing", "entry 0 has no name, so no client can list or call it: give it a name")
    ]
    assert [each.rule for each in findings("description", {"inputSchema": {}})] == []
    assert [each.rule for each in findings("parameter", {"description": "nameless"})] == []
    assert [each.rule for each in findings("name.missing", {"name": " "})] == ["name.missing"]


@pytest.mark.parametrize(
    "name", ["\ud800", "\x00\u202e", "_" * 100_000, "a_" * 50_000, "Aa" * 50_000, "9" * 10_000, "v1" * 5_000]
)
def test_hostile_names_are_examined_like_others(name: str) -> None:
    for each in findings("name", {"name": name}, server=name):
        if each.flaw.span is not None:
            start, end = each.flaw.span
            assert 0 <= start < end <= len(each.flaw.text)


ONE_FLAW = {
    "description": "Finds the order of a customer and returns its status. Use it for one order.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ({**ONE_FLAW, "name": "orders.get"}, "name.characters"),
        ({**ONE_FLAW, "name": "1st_order_get"}, "name.characters"),
        ({**ONE_FLAW, "name": "get_" + "order" * 13}, "name.length"),
        ({**ONE_FLAW, "name": ""}, "name.missing"),
        (ONE_FLAW, "name.missing"),
        (3, "name.missing"),
        ({**ONE_FLAW, "name": "get_order", "inputSchema": None}, "parameter.schema-missing"),
        (
            {
                **ONE_FLAW,
                "name": "get_order",
                "inputSchema": {
                    "type": "object",
                    "properties": {"api_key": {"type": "string", "description": "The key of the shop's own service."}},
                    "required": ["api_key"],
                    "additionalProperties": False,
                },
            },
            "parameter.secret",
        ),
    ],
)
def test_one_flaw_is_told_by_one_rule(entry: Any, rule: str) -> None:
    sound = {
        **ONE_FLAW,
        "name": "find_customer",
        "description": "Finds a customer and returns the address. Use it to send mail.",
    }
    found = lint_tools(read_tools([entry, sound])).findings
    assert [each.rule for each in found] == [rule]
