"""Filters: which tools pass, by name, by glob and by the claim to be read-only."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import Tool as SdkTool
from mcp_types import ToolAnnotations

from toolbridge import MCPToolFilter, Tool, ToolHints, ToolId, read_tools

NAMES = ["search", "read", "read_file", "write"]


def passing(chosen: MCPToolFilter) -> list[str]:
    return [name for name in NAMES if chosen.accepts(name)]


def test_without_lists_everything_passes() -> None:
    assert passing(MCPToolFilter()) == NAMES
    assert passing(MCPToolFilter(include=None, exclude=None)) == NAMES
    assert passing(MCPToolFilter(include=[], exclude=[])) == NAMES


def test_exclude_wins_over_include() -> None:
    chosen = MCPToolFilter(include=["search", "read"], exclude=["read"])
    assert [chosen.accepts(name) for name in ("search", "read", "write")] == [True, False, False]


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (MCPToolFilter(include=["read"]), ["read"]),
        (MCPToolFilter(exclude=["read"]), ["search", "read_file", "write"]),
        (MCPToolFilter(include=["read*"]), ["read", "read_file"]),
        (MCPToolFilter(exclude=["*_*"]), ["search", "read", "write"]),
        (MCPToolFilter(include=["*"], exclude=["[rw]*"]), ["search"]),
        (MCPToolFilter(include=["rea?"]), ["read"]),
        (MCPToolFilter(include=["READ"]), []),
        (MCPToolFilter(include=["nothing"]), []),
        (MCPToolFilter(include=("write",)), ["write"]),
    ],
)
def test_names_and_globs_choose(chosen: MCPToolFilter, names: list[str]) -> None:
    assert passing(chosen) == names


def test_two_filters_with_the_same_lists_are_equal_and_hash_alike() -> None:
    one, other = MCPToolFilter(include=["a"]), MCPToolFilter(include=iter(["a"]))
    assert one == other
    assert hash(one) == hash(other)
    assert one != MCPToolFilter(exclude=["a"])


def named(kind: str, name: str, read_only: bool | None) -> Any:
    claims = {} if read_only is None else {"readOnlyHint": read_only}
    match kind:
        case "ours":
            return Tool(ToolId("s", name), "", {}, hints=ToolHints(read_only_hint=read_only))
        case "dict":
            return {"name": name, "annotations": claims}
        case "sdk 2":
            return SdkTool(name=name, input_schema={}, annotations=ToolAnnotations(read_only_hint=read_only))
        case _:
            return SimpleNamespace(name=name, inputSchema={}, annotations=SimpleNamespace(readOnlyHint=read_only))


KINDS = ["ours", "dict", "sdk 2", "sdk 1"]


@pytest.mark.parametrize("kind", KINDS)
def test_tools_of_any_kind_pass_in_their_order(kind: str) -> None:
    tools = [named(kind, name, None) for name in NAMES]
    assert MCPToolFilter(include=["w*", "read*"], exclude=["read"]).apply(tools) == tools[2:]


@pytest.mark.parametrize("kind", KINDS)
def test_the_claim_to_be_read_only_chooses_for_any_kind(kind: str) -> None:
    tools = [named(kind, "a", True), named(kind, "b", False), named(kind, "c", None)]
    assert MCPToolFilter(read_only=True).apply(tools) == tools[:1]
    assert MCPToolFilter(read_only=False).apply(tools) == tools[1:]
    assert MCPToolFilter().apply(tools) == tools


def test_the_filter_speaks_of_the_servers_name_and_not_of_the_wire_name() -> None:
    tools = read_tools([{"name": "search"}, {"name": "drop"}], server="db")
    assert MCPToolFilter(exclude=["drop"]).apply(tools) == tools[:1]
    assert MCPToolFilter(exclude=["mcp__db__drop"]).apply(tools) == tools


def test_an_entry_without_a_name_passes_only_where_any_name_does() -> None:
    assert MCPToolFilter(include=["a"]).apply([{}, {"name": "a"}]) == [{"name": "a"}]
    assert MCPToolFilter(exclude=["a"]).apply([{}, {"name": "a"}]) == [{}]
