"""What rules look at: a tool with what is asked of it often, worked out once, and all tools of all servers together.

The walk through a schema is written here, steered by the tables of `schema.keywords`, on a budget: a hostile schema
costs bounded time, and the rule against bombs tells of it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolbridge.apps import visible
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.texts import Texts, texts_of
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP
from toolbridge.types import EMPTY, Tool, ToolId, ToolResult

if TYPE_CHECKING:
    from toolbridge.lint.offers import Offer

MOST_NODES = 5_000
"""Subschemas of one schema that are looked at. The largest of 11,549 real tools has 726."""

DEEPEST = 64
"""Levels of a schema that are looked at."""

MOST_READ = 20_000
"""Characters of a text that rules about wording read. What a model is to know stands before that."""

_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class Trial:
    """One call that was made to see how a tool answers."""

    arguments: Mapping[str, Any]
    result: ToolResult
    wrong: bool = False
    """Whether the arguments were wrong on purpose: the tool should have said so."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What is known of a server beside its tools. `None` is what nobody asked for."""

    name: str = ""
    server_name: str | None = None
    server_version: str | None = None
    protocol: str | None = None
    """The revision of MCP that it speaks with us."""
    instructions: str | None = None
    resources: Mapping[str, str | None] | None = None
    """The addresses of its resources and their MIME types, where it is live."""
    trials: Mapping[ToolId, tuple[Trial, ...]] | None = None
    """The calls that were tried, where somebody asked for that."""
    untried: Mapping[ToolId, str] | None = None
    """The tools that were not called then, and why not."""


NO_FACTS = ServerFacts()


@dataclass(frozen=True, slots=True)
class Node:
    """A subschema: where it stands, and what it is there."""

    path: str
    """A JSON pointer into the tool: `/inputSchema/properties/city`."""
    schema: Mapping[str, Any]
    name: str | None = None
    """The property's name, where it is a property."""
    required: bool = False
    depth: int = 0
    """How many objects and lists it is inside of: the parameters of a tool have 1."""


class Subject:
    """A tool under examination."""

    def __init__(self, tool: Tool, settings: LintSettings, facts: ServerFacts = NO_FACTS) -> None:
        self.tool = tool
        self.settings = settings
        self.facts = facts

    @property
    def name(self) -> str:
        return self.tool.id.name

    @property
    def description(self) -> str:
        return self.tool.description

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name, in lower case: `getOrder_v2` is get, order, v, 2."""
        return words_of(self.name)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The words of the description, in lower case: what rules ask before they read it whole."""
        return frozenset(_LETTERS.findall(self.description[:MOST_READ].lower()))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every subschema of the input schema, the root first, level by level, within the budget."""
        return tuple(_walk(self.tool.input_schema, "/inputSchema"))

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """The properties of the input schema at the top: what a call is made of."""
        return tuple(each for each in self.nodes if each.name is not None and each.depth == 1)

    @cached_property
    def properties(self) -> tuple[Node, ...]:
        """Every property, at any depth."""
        return tuple(each for each in self.nodes if each.name is not None)

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """The tool for each provider of the settings; none where its server keeps it from models."""
        from toolbridge.lint.offers import offers_of  # loads the providers, which a list of the rules does without

        return offers_of(self.tool, self.settings.providers) if visible(self.tool) else ()

    @cached_property
    def texts(self) -> Texts:
        """Every text of the tool's entry, wherever it stands: what somebody could hide something in."""
        return texts_of(self.tool)


@dataclass(frozen=True, slots=True)
class Surface:
    """All tools of all servers, and what is known of the servers."""

    subjects: tuple[Subject, ...]
    servers: Mapping[str, ServerFacts]
    settings: LintSettings


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case."""
    return tuple(each.lower() for each in _WORD.findall(name))


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def _walk(schema: Any, path: str) -> Iterator[Node]:
    if not isinstance(schema, Mapping):
        return
    waiting = deque([Node(path, schema)])
    seen = 0
    while waiting:
        node = waiting.popleft()
        seen += 1
        yield node
        for each in _below(node):
            if each.depth <= DEEPEST and seen + len(waiting) < MOST_NODES:
                waiting.append(each)


def _below(node: Node) -> Iterator[Node]:
    listed = node.schema.get("required")
    required = {each for each in listed if isinstance(each, str)} if isinstance(listed, list) else set[str]()
    for keyword, value in node.schema.items():
        if keyword in SCHEMAS_IN_MAP and isinstance(value, Mapping):
            properties = keyword == "properties"
            for key, each in value.items():
                if isinstance(each, Mapping):
                    yield Node(
                        f"{node.path}/{escaped(keyword)}/{escaped(str(key))}",
                        each,
                        str(key) if properties else None,
                        properties and key in required,
                        node.depth + 1,
                    )
        elif keyword in SCHEMAS_IN_LIST and isinstance(value, list):
            deeper = node.depth + (keyword == "prefixItems")
            for i, each in enumerate(value):
                if isinstance(each, Mapping):
                    yield Node(f"{node.path}/{keyword}/{i}", each, depth=deeper)
        elif keyword in SCHEMA_IN_VALUE and isinstance(value, Mapping):
            deeper = node.depth + (keyword in ("items", "additionalProperties", "contains", "unevaluatedProperties"))
            yield Node(f"{node.path}/{keyword}", value, depth=deeper)


EMPTY_FACTS: Mapping[str, ServerFacts] = EMPTY
