"""The tool by which a model finds the tools it is not shown: its definition, and the words it is answered with."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any

from toolbridge.schema.phrases import quoted
from toolbridge.types import Tool, ToolId

NAMES = ("search_tools", "find_tools", "search_more_tools", "find_more_tools")
"""What it is called: the first that nothing else is called."""

USUAL = 5
"""Tools that a search finds, unless it asks for more or fewer."""

MOST = 20
"""Tools that a search finds at most."""

SERVERS_NAMED = 60
"""Servers that the description names; a line each would be no saving with more."""

LONGEST_LINE = 200
"""Characters of what is said of a tool that was found: its definition says the rest."""


def search_tool(hidden: Mapping[str, int], taken: Container[str]) -> Tool:
    """The tool, for so many hidden tools of each server. The text depends on these numbers alone."""
    name = next((each for each in NAMES if each not in taken), None)
    number = 2
    while name is None:
        name = None if f"{NAMES[0]}_{number}" in taken else f"{NAMES[0]}_{number}"
        number += 1
    listed = [f"{server or 'others'} ({count})" for server, count in list(hidden.items())[:SERVERS_NAMED]]
    if len(hidden) > SERVERS_NAMED:
        listed.append(f"and {len(hidden) - SERVERS_NAMED} more")
    count = sum(hidden.values())
    return Tool(
        ToolId("", name),
        f"Finds tools that are not listed here; what it finds can be called from then on. {count} more "
        f"{'tool is' if count == 1 else 'tools are'} available, by server: {', '.join(listed)}. "
        "Search before you say that something cannot be done.",
        {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What the tool should do and to what, in a few words, or a tool's name.",
                },
                "limit": {
                    "type": "integer",
                    "description": f"How many tools to find: {USUAL} unless said otherwise, {MOST} at most.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    )


def read_query(arguments: Any) -> tuple[str, int] | str:
    """The query and the limit of a call, read kindly; or what is wrong with it."""
    if not isinstance(arguments, Mapping):
        return 'the arguments are not a JSON object; send {"query": "what the tool should do"}'
    query = arguments.get("query")
    if isinstance(query, list):
        query = " ".join(map(str, query))
    if not isinstance(query, str) or not query.strip():
        return '"query" is missing; send {"query": "what the tool should do"}'
    try:
        limit = int(arguments.get("limit") or USUAL)
    except (TypeError, ValueError, OverflowError):
        limit = USUAL
    return query, max(1, min(MOST, limit))


def line(name: str, tool: Tool) -> str:
    """One line on a tool that was found."""
    said = " ".join((tool.description or tool.title or "").split())
    if len(said) > LONGEST_LINE:
        end = _SENTENCE.search(said)
        said = said[: end.end()].rstrip() if end and end.end() <= LONGEST_LINE else said[: LONGEST_LINE - 1] + "…"
    return f"- {name}: {said}" if said else f"- {name}"


_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")


def answer(query: str, joined: Sequence[str], there: Sequence[str], too_many: Sequence[str]) -> str:
    """What the model is told. The lists are lines, the last one names."""
    parts: list[str] = []
    if joined:
        parts += ["These tools can be called from now on:", *joined]
    if there:
        parts += ["These were there already:", *there]
    if too_many:
        parts.append(f"There is no room for {', '.join(too_many)}. Search for it alone, with limit 1.")
    return "\n".join(parts) if parts else f"No tool was found for {quoted(query, 100)}. Try other words."
