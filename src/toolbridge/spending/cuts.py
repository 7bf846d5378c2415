"""Cuts: what could be left out of tools, what that saves and what it loses, the cheapest first.

Cheap is what loses little; among cuts that lose alike, what saves most comes first. What a cut saves is measured: it is
made, the tool is converted again, and the definition is counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from toolbridge.history.said import json_text
from toolbridge.prepare import prepare
from toolbridge.spending import rewrites
from toolbridge.spending.measure import Spending, definition_price
from toolbridge.types import Tool, ToolId

Loss: TypeAlias = Literal["nothing", "little", "something"]

LOSSES: Final[tuple[Loss, ...]] = ("nothing", "little", "something")
"""How much a model misses, the least first."""


class Kind(NamedTuple):
    """A row of the table of cuts."""

    id: str
    loss: Loss
    what: str
    """What is cut."""
    lost: str
    """What the model no longer knows; empty where that is nothing."""
    rewrite: Callable[[Tool], Tool | None]
    each: bool = False
    """Whether every tool is a proposal of its own; else one proposal is for all tools."""


KINDS: Final = (
    Kind("white-space", "nothing", "indentation and blank lines in descriptions", "", rewrites.without_white_space),
    Kind(
        "echoes", "nothing", "titles and descriptions that repeat what stands beside them", "",
        rewrites.without_echoes,
    ),
    Kind(
        "retold", "nothing", "argument lists that repeat the schema word for word", "",
        rewrites.without_retold_arguments,
    ),
    Kind("nulls", "nothing", "anyOf with null where a list of types says it", "", rewrites.with_short_nulls),
    Kind("seen-examples", "nothing", "examples that are shown already", "", rewrites.without_repeated_examples),
    Kind("metadata", "nothing", "$schema and $comment", "", rewrites.without_metadata),
    Kind("examples", "little", "examples", "what a value looks like", rewrites.without_examples),
    Kind(
        "arguments", "little", "argument lists beside parameters that are described",
        "what the list says and the schema does not", rewrites.without_arguments,
    ),
    Kind(
        "same", "little", "a text that several parameters share, said once", "the text, at the later ones",
        rewrites.without_same_texts,
    ),
    Kind(
        "description", "little", "the description after its first sentences", "details and advice",
        rewrites.with_short_description, each=True,
    ),
    Kind(
        "parameters", "little", "long descriptions of parameters after their first sentences", "details and advice",
        rewrites.with_short_parameters, each=True,
    ),
    Kind(
        "values", "something", "big enumerations, a few values in words instead", "which values there are",
        rewrites.with_values_in_words, each=True,
    ),
)  # fmt: skip
"""In the order in which cuts that lose nothing are made together."""

COPY: Final = "copy"
"""The kind of the cut that leaves a whole tool out."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A proposal."""

    kind: str
    loss: Loss
    what: str
    lost: str
    saved: int
    """Tokens of every request."""
    tools: Mapping[ToolId, int]
    """What it saves in each tool, the most first."""


@dataclass(frozen=True, slots=True)
class Savings:
    """All proposals, and what those that lose nothing save together."""

    cuts: tuple[Cut, ...]
    free: int


def propose(spending: Spending, strict: bool | None = None) -> Savings:
    """What could be cut from tools that were measured; `strict` as they were measured."""
    measured = _Measured(spending, strict)
    found: list[Cut] = []
    for kind in KINDS:
        saved = {tool.id: tokens for tool in measured.tools if (tokens := measured.saved(tool, kind.rewrite(tool))) > 0}
        sets = ({id: tokens} for id, tokens in saved.items()) if kind.each else (saved,) if saved else ()
        for each in sets:
            most_first = dict(sorted(each.items(), key=lambda pair: -pair[1]))
            found.append(Cut(kind.id, kind.loss, kind.what, kind.lost, sum(each.values()), most_first))
    found += _copies(spending)
    found.sort(key=lambda cut: (LOSSES.index(cut.loss), -cut.saved))
    free = sum(max(0, measured.saved(tool, _freed(tool))) for tool in measured.tools)
    return Savings(tuple(found), free)


def _freed(tool: Tool) -> Tool | None:
    """The tool with all cuts that lose nothing."""
    made = tool
    for kind in KINDS:
        if kind.loss == "nothing":
            made = kind.rewrite(made) or made
    return None if made is tool else made


class _Measured:
    """What tools cost as they are, to hold others against."""

    def __init__(self, spending: Spending, strict: bool | None) -> None:
        self._spending = spending
        self._strict = strict
        self._now = {each.tool.id: each for each in spending.tools}
        self.tools = [each.tool for each in spending.tools]

    def saved(self, tool: Tool, made: Tool | None) -> int:
        if made is None:
            return 0
        now = self._now[tool.id]
        name, tokens = self._price(made, now.strict)
        if not tokens:  # it could no longer be sent: that is no saving
            return 0
        # Two tools that spell alike have other names side by side than alone.
        return (now.total if now.name == name else self._price(tool, now.strict)[1]) - tokens

    def _price(self, tool: Tool, is_strict: bool) -> tuple[str, int]:
        provider, counting = self._spending.provider, self._spending.counting
        # Alone it would always have what strict definitions share, and beside the others it may have had no part of it.
        shares = self._strict is True and provider.strict_budget is not None
        prepared = prepare([tool], provider, is_strict if shares else self._strict)
        tokens = sum(definition_price(each, provider, counting) for each in prepared.definitions)
        return next(iter(prepared.names), ""), tokens


def _copies(spending: Spending) -> Iterator[Cut]:
    """Tools that say and take exactly what an earlier one does."""
    first: dict[tuple[str, str], ToolId] = {}
    for each in spending.tools:
        tool = each.tool
        if not tool.description.strip():
            continue
        key = (tool.description, json_text(tool.input_schema))
        earlier = first.setdefault(key, tool.id)
        if earlier != tool.id:
            what = f"the whole tool: it says and takes what {earlier} does"
            yield Cut(COPY, "something", what, "the tool", each.total, {tool.id: each.total})
