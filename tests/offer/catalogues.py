"""Catalogues for tests: small ones by hand, and random ones."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from toolbridge.types import Tool, ToolHints, ToolId


def tool(server: str, name: str, description: str = "", **properties: Any) -> Tool:
    schema = {"type": "object", "properties": {key: {"type": "string", **each} for key, each in properties.items()}}
    return Tool(ToolId(server, name), description, schema)


def catalogue(servers: int = 5, tools: int = 10, words: int = 20) -> list[Tool]:
    """So many servers with so many tools each, all of about one size."""
    return [
        tool(f"server{s}", f"do_thing_{s}_{t}", f"Does thing {t} of server {s}. " + "word " * words, path={})
        for s in range(servers)
        for t in range(tools)
    ]


READ_MORE = tool("", "read_more", "Reads the rest of a result.", id={})

random_tools = st.lists(
    st.builds(
        lambda server, name, text, keys, read_only: Tool(
            ToolId(server, name),
            text,
            {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys[:1]},
            hints=ToolHints(read_only_hint=read_only),
        ),
        st.sampled_from(["a", "b", "c", "", "déjà vu", "a__b"]),
        st.one_of(st.sampled_from(["x", "search_tools", "mcp__a__x", "find_tools"]), st.text(min_size=1, max_size=12)),
        st.text(max_size=300),
        st.lists(st.text("abcdef", min_size=1, max_size=5), max_size=6, unique=True),
        st.booleans(),
    ),
    max_size=30,
)


def lines(definitions: list[dict[str, Any]]) -> list[str]:
    """The definitions as they are sent: one text each, byte for byte."""
    return [json.dumps(each, ensure_ascii=False) for each in definitions]
