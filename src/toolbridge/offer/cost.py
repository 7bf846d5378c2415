"""What tools cost: the tokens of the definitions as they are sent, for each tool, each server and all of them.

Prices are of the converted definition as compact JSON, since that is what a model reads. A price is worked out once for
a tool and kept; a rough one from the tool as its server lists it decides what need not be converted at all.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolbridge.prepare import prepare
from toolbridge.providers import Provider
from toolbridge.tokens import Counter, definition_tokens, estimate
from toolbridge.types import Tool, ToolId

KEPT = 20_000
"""Prices that are kept; past that the oldest go."""

BYTES_PER_TOKEN = 3.6
"""Of a tool's description and marshalled schema: 11,549 tools of real servers, Anthropic's form, in sum."""


@dataclass(frozen=True, slots=True)
class ToolCost:
    """What one tool costs in every request it is part of."""

    description: int
    schema: int
    """Everything but the description: the schema, the name, what stands around."""

    @property
    def total(self) -> int:
        return self.description + self.schema


class Cost:
    """What an offer costs. `shown` is what the next request holds; `total` is what all tools together would."""

    __slots__ = ("_all", "_of", "_price", "budget", "estimated", "shown")

    def __init__(
        self,
        shown: int,
        budget: int | None,
        estimated: bool,
        tools: Iterable[Tool],
        price: Callable[[Tool], ToolCost],
    ) -> None:
        self.shown = shown
        self.budget = budget
        self.estimated = estimated
        """Whether the numbers are estimates: they are, unless the offer was given a counter."""
        self._all = tuple(tools)
        self._price = price
        self._of: Mapping[ToolId, ToolCost] | None = None

    @property
    def over(self) -> bool:
        """Whether what must be shown is more than the budget allows."""
        return self.budget is not None and self.shown > self.budget

    @property
    def of(self) -> Mapping[ToolId, ToolCost]:
        """Every tool of the catalogue, shown or not. The first look converts those that are not shown."""
        if self._of is None:
            self._of = {each.id: self._price(each) for each in self._all}
        return self._of

    @property
    def total(self) -> int:
        return sum(each.total for each in self.of.values())

    @property
    def servers(self) -> Mapping[str, int]:
        """All tools of each server, in the order of the catalogue."""
        out: dict[str, int] = {}
        for id, each in self.of.items():
            out[id.server] = out.get(id.server, 0) + each.total
        return out

    def __str__(self) -> str:
        budget = "" if self.budget is None else f" of {self.budget:,}"
        return f"{'about ' if self.estimated else ''}{self.shown:,}{budget} tokens"

    def __repr__(self) -> str:
        return f"Cost({self})"


_kept: dict[tuple[Any, ...], tuple[Tool, Provider, Counter, int]] = {}
_rough: dict[int, tuple[Tool, float]] = {}


def tokens_of(tool: Tool, provider: Provider, strict: bool | None = None, count: Counter = estimate) -> int:
    """What a tool costs with a provider, as it is sent on its own; nothing where it cannot be sent."""
    key = (id(tool), id(provider), strict, id(count))
    found = _kept.get(key)
    if found is not None and found[0] is tool and found[1] is provider and found[2] is count:
        return found[3]
    made = prepare([tool], provider, strict).definitions
    cost = definition_tokens(made[0], count) if made else 0
    _limit(_kept)
    _kept[key] = (tool, provider, count, cost)
    return cost


def tool_cost(tool: Tool, provider: Provider, strict: bool | None = None, count: Counter = estimate) -> ToolCost:
    """The same, split. Definitions of some providers hold the function one level down."""
    total = tokens_of(tool, provider, strict, count)
    for definition in prepare([tool], provider, strict).definitions:
        for holder in (definition, *definition.values()):
            text = holder.get("description") if isinstance(holder, Mapping) else None
            if isinstance(text, str):
                said = min(total, count(text))
                return ToolCost(said, total - said)
    return ToolCost(0, total)


def rough_tokens(tool: Tool) -> float:
    """A price that needs no conversion, within a factor of two for nearly every tool: 3 µs instead of 100."""
    found = _rough.get(id(tool))
    if found is not None and found[0] is tool:
        return found[1]
    schema: Any = tool.input_schema
    try:
        size = len(marshal.dumps(schema, 2))
    except ValueError:  # no plain data, or an abyss: whatever it is, it is not converted for its price
        size = 400
    tokens = (size + len(tool.description.encode("utf-8", "replace")) + 40) / BYTES_PER_TOKEN
    _limit(_rough)
    _rough[id(tool)] = (tool, tokens)
    return tokens


def _limit(kept: dict[Any, Any]) -> None:
    if len(kept) >= KEPT:
        for oldest in list(kept)[: KEPT // 10]:
            kept.pop(oldest, None)
