"""What tools claim about themselves, held against their names and their words."""

from __future__ import annotations

from typing import Any

import pytest

from toolbridge.lint.finding import Finding
from toolbridge.lint.linting import lint_tools
from toolbridge.lint.settings import LintSettings
from toolbridge.tools import read_tools

CLAIMS = LintSettings(select=("annotation",))


def findings(name: str, description: str = "", /, **annotations: Any) -> list[Finding]:
    entry = {"name": name, "description": description, "annotations": annotations}
    return [*lint_tools(read_tools([entry]), settings=CLAIMS).findings]


def broken(name: str, description: str = "", /, **annotations: Any) -> list[str]:
    return [each.rule.removeprefix("annotation.") for each in findings(name, description, **annotations)]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("delete_order", ""),
        ("deleteOrder", ""),
        ("github-delete-repo", ""),
        ("delete_file", "Deletes a file."),
        ("send_email", ""),
        ("create_order", ""),
        ("update_row", ""),
        ("VSDRemoveSource", "Remove a source."),
        ("addComment", "Adds a comment."),
        ("notes_save", "Saving a note."),
        ("archive", "Permanently deletes a mailbox."),
        ("delete_permission", ""),
        ("delete_link", "Delete a link."),
        ("delete_plan", "Delete a plan for good."),
        ("delete_prompt", ""),
        ("delete_status", ""),
        ("delete_example", ""),
        ("remove_file", "Deletes a file from disk."),
        ("revoke_token", "Revokes a token."),
        ("kill_process", "Kills a process."),
        ("file_system_delete", "Removes files."),
        ("my_file_system_delete", ""),
        ("files", "Deletes files."),
        ("cleanup", "Wipe the disk."),
        ("uninstall_package", ""),
    ],
)
def test_a_tool_that_writes_and_claims_to_only_read_is_an_error(name: str, description: str) -> None:
    found = findings(name, description, readOnlyHint=True)
    assert [(each.rule, each.severity) for each in found] == [("annotation.read-only-contradicted", "error")]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_deleted_orders", ""),
        ("check_delete_permission", ""),
        ("delete_preview", "Shows what would be deleted."),
        ("create_chart", "Creates a chart."),
        ("create_checkout_link", ""),
        ("add", "Adds two numbers."),
        ("app_store_rankings", "Store rankings."),
        ("subscribe_once", "Subscribe and return the first message."),
        ("set_theory_help", ""),
        ("run_query", "Runs a query."),
        ("netlify-deploy-services-reader", "Reads deploys."),
        ("list_bins", "Lists bins. Before you empty one: that permanently deletes its files."),
        ("recycle_bin", "Never permanently deletes anything."),
        ("delete_dry_run", "Deletes nothing."),
        ("plan_delete", "Plans a deletion."),
        ("can_delete_file", ""),
        ("simulate_purge", ""),
        ("delete_impact", "What deleting would do."),
        ("remove_background", "Removes the background of an image."),
        ("remove_duplicates", "Removes duplicates from a list of numbers."),
        ("create_permission_link", ""),
        ("history", "Deleted files, newest first."),
        ("page_delete_events", "Lists events."),
    ],
)
def test_a_tool_whose_name_only_sounds_like_writing_may_claim_to_read(name: str, description: str) -> None:
    assert broken(name, description, readOnlyHint=True) == []


@pytest.mark.parametrize("name", ["delete_order", "drop_table", "wipeDisk", "db_truncate_table", "purge_cache"])
def test_a_tool_that_destroys_and_denies_it_is_an_error(name: str) -> None:
    assert broken(name, readOnlyHint=False, destructiveHint=False) == ["destructive-denied"]
    assert broken(name, readOnlyHint=False, destructiveHint=True) == []


def test_a_description_of_destruction_counts_as_the_name_does() -> None:
    text = "Closes an account and permanently removes its data."
    [found] = findings("close_account", text, readOnlyHint=False, destructiveHint=False)
    assert found.message == (
        'the tool claims "destructiveHint": false, and its description says "permanently removes"; say true'
    )
    assert (found.flaw.text, found.flaw.span) == (text, (22, 41))


def test_the_advice_for_a_tool_without_annotations_follows_its_name() -> None:
    start = "the tool has no annotations, so hosts assume that it destroys and reaches out; "
    assert [findings(each)[0].message.removeprefix(start) for each in ("get_order", "delete_order", "order")] == [
        'say "readOnlyHint": true if it only reads',
        'say "destructiveHint": true',
        'say at least "readOnlyHint", and "destructiveHint" if it writes',
    ]


def test_annotations_that_nobody_hears_are_not_missing_but_misspelt() -> None:
    assert broken("get_order", readOnly=True) == ["misspelt"]
    assert broken("get_order", title="Get") == ["missing"]


def test_a_second_title_is_no_unknown_annotation_and_no_hint() -> None:
    entry = {"name": "get_order", "title": "Get an order", "annotations": {"title": "Order"}}
    found = lint_tools(read_tools([entry])).findings
    assert [each.rule for each in found if each.rule.startswith("annotation")] == ["annotation.missing"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("readOnly", "readOnlyHint"),
        ("read_only_hint", "readOnlyHint"),
        ("readonlyHint", "readOnlyHint"),
        ("isReadOnly", "readOnlyHint"),
        ("destructive", "destructiveHint"),
        ("destuctiveHint", "destructiveHint"),
        ("idempotent", "idempotentHint"),
        ("open-world", "openWorldHint"),
    ],
)
def test_a_misspelt_annotation_is_told_what_it_is_called(key: str, meant: str) -> None:
    [found] = findings("x", **{key: True})
    assert (found.rule, found.path) == ("annotation.misspelt", f"/annotations/{key}")
    assert found.message == f'"{key}" is no annotation, so that nobody hears it; "{meant}" is'


@pytest.mark.parametrize(
    ("value", "kind", "right"),
    [
        ("true", 'the text "true"', "true"),
        ("False", 'the text "False"', "false"),
        (1, "a number", "true or false"),
        ([], "a list", "true or false"),
        ({}, "an object", "true or false"),
    ],
)
def test_a_hint_that_is_no_boolean_is_an_error(value: Any, kind: str, right: str) -> None:
    [found] = findings("x", readOnlyHint=value)
    assert (found.rule, found.severity) == ("annotation.not-boolean", "error")
    assert (
        found.message
        == f'"readOnlyHint" is {kind}, which hosts read each in its own way; it must be {right}, without quotes'
    )


def test_what_is_no_hint_at_all_belongs_into_meta() -> None:
    assert broken("x", readOnlyHint=True, category="shop", **{"a/b\x1b": 1}) == ["unknown", "unknown"]
    assert all(each.message.isprintable() for each in findings("x", **{"a/b\x1b": 1}))


def test_hints_beside_each_other_are_held_against_each_other() -> None:
    assert broken("x", readOnlyHint=True, destructiveHint=True) == ["contradictory"]
    assert broken("x", readOnlyHint=True, destructiveHint=False) == []
    assert broken("x", readOnlyHint=True, idempotentHint=False) == ["meaningless"]
    assert broken("x", readOnlyHint=False) == ["destructive-unsaid"]
    assert broken("create_x", openWorldHint=True) == ["destructive-unsaid"]
    assert broken("list_x", readOnlyHint=False, destructiveHint=False) == ["read-only-unsaid"]
    assert broken("get_or_create_x", readOnlyHint=False, destructiveHint=False) == []


@pytest.mark.parametrize("text", ["Searches the web.", "Fetches a URL.", "Scrape any website", "A web search."])
def test_a_tool_that_reaches_the_web_and_claims_a_closed_world_is_a_warning(text: str) -> None:
    assert broken("look", text, readOnlyHint=True, openWorldHint=False) == ["open-world-denied"]
    assert broken("look", text, readOnlyHint=True, openWorldHint=True) == []


def test_a_tool_that_denies_the_web_may_claim_a_closed_world() -> None:
    assert broken("look", "Does not search the web.", readOnlyHint=True, openWorldHint=False) == []


def test_annotations_that_are_no_object_are_told() -> None:
    report = lint_tools(read_tools([{"name": "get_order", "annotations": ["readOnlyHint"]}]))
    assert [(each.path, each.message) for each in report.findings if each.rule.startswith("annotation")] == [
        ("/annotations", "the annotations are a list: give an object of hints, or none")
    ]
