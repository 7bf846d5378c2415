"""Tools × a provider: what each of them costs in a request, and all of them together.

Counted is the definition that the provider would be sent, as compact JSON. In which words a vendor's models are told of
the tools is not published, so a bill may differ; which tools and which parts are dear does not depend on that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolbridge.apps import is_private, visible
from toolbridge.encodings import Counting, counter_for
from toolbridge.history.said import json_text
from toolbridge.offer.searching import search_tool
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import Provider, get_provider
from toolbridge.spending.parts import Parts, parts_of
from toolbridge.types import Tool, ToolId

WINDOWS: Final = (32_000, 128_000, 200_000, 1_000_000)
"""Context windows that are common today, in tokens: small and local models, GPT-4o, Claude, and the long ones."""

ANY_BATCH: Final = 10_000
"""Tools that are converted at once where the provider has no limit."""


@dataclass(frozen=True, slots=True)
class ToolSpending:
    """One tool."""

    tool: Tool
    name: str
    """As the model sees it."""
    parts: Parts
    sent: bool = True
    """Whether it fits the request: a provider takes so many tools at once, and the later ones are left out."""
    strict: bool = False
    """Whether its definition is a strict one, which others of the list may have left no room for."""

    @property
    def total(self) -> int:
        return self.parts.total


@dataclass(frozen=True, slots=True)
class Spending:
    """What tools cost with a provider."""

    provider: Provider
    counting: Counting
    tools: tuple[ToolSpending, ...]
    """Every tool that the provider can be given, in the order of the list."""
    left_out: Mapping[ToolId, str]
    """Those that it cannot or may not be given, and why."""
    around: int
    """What is said of all tools together: the instructions, for a provider that has them."""
    deferred: int
    """What stays in every request where a search tool stands for all of them: its definition."""

    @property
    def private(self) -> tuple[ToolId, ...]:
        """Those of the tools left out that their servers keep from models, which is no failure."""
        return tuple(id for id, why in self.left_out.items() if is_private(why))

    @property
    def total(self) -> int:
        """All tools, whether or not one request can hold them."""
        return self.around + sum(each.total for each in self.tools)

    @property
    def sent(self) -> int:
        """What one request holds."""
        return self.around + sum(each.total for each in self.tools if each.sent)

    @property
    def servers(self) -> Mapping[str, int]:
        """Tokens of each server's tools, the largest first."""
        out: dict[str, int] = {}
        for each in self.tools:
            out[each.tool.id.server] = out.get(each.tool.id.server, 0) + each.total
        return dict(sorted(out.items(), key=lambda pair: -pair[1]))

    @property
    def parts(self) -> Parts:
        """The parts of all tools together."""
        each = [one.parts for one in self.tools]
        return Parts(
            sum(one.name for one in each),
            sum(one.description for one in each),
            sum(one.parameters for one in each),
            sum(one.enums for one in each),
            sum(one.structure for one in each),
        )


def measure(
    tools: Iterable[Tool],
    provider: Provider | str = "openai-chat",
    strict: bool | None = None,
    *,
    counting: Counting | None = None,
) -> Spending:
    """What tools cost with a provider; `strict` as in `prepare`. `counting` is the provider's own unless given."""
    found = get_provider(provider) if isinstance(provider, str) else provider
    counting = counting or counter_for(found.name)
    listed = list(tools)
    first = prepare(listed, found, strict)
    spent = _spent(first, counting, sent=True)
    left_out = dict(first.left_out)
    rest = [each for each in listed if each.id in left_out]
    size = found.most_tools or ANY_BATCH
    for start in range(0, len(rest), size):  # what only the number of tools keeps out still has its price
        more = prepare(rest[start : start + size], found, strict)
        spent += _spent(more, counting, sent=False)
        for each in more.tools:
            left_out.pop(each.id, None)
    order = {each.id: i for i, each in reversed(list(enumerate(listed)))}
    spent.sort(key=lambda each: order[each.tool.id])
    around = _around(found, counting) if spent else 0
    return Spending(found, counting, tuple(spent), left_out, around, _deferred(listed, found, strict, counting))


def definition_price(definition: dict[str, Any], provider: Provider, counting: Counting) -> int:
    """What one definition costs: as JSON, or as what the instructions say of it where a provider is told so."""
    write = provider.write_instructions
    if write is None:
        return counting.count(json_text(definition, compact=True))
    return max(0, counting.count(write([definition])) - _around(provider, counting))


def _around(provider: Provider, counting: Counting) -> int:
    write = provider.write_instructions
    return 0 if write is None else counting.count(write([]))


def _spent(prepared: PreparedTools, counting: Counting, *, sent: bool) -> list[ToolSpending]:
    return [
        ToolSpending(
            tool,
            name,
            parts_of(definition, counting.count, definition_price(definition, prepared.provider, counting)),
            sent,
            prepared.is_strict(tool.id),
        )
        for tool, name, definition in zip(prepared.tools, prepared.names, prepared.definitions, strict=True)
    ]


def _deferred(listed: list[Tool], provider: Provider, strict: bool | None, counting: Counting) -> int:
    tools = [each for each in listed if visible(each)]  # no search finds the others
    hidden: dict[str, int] = {}
    for each in tools:
        hidden[each.id.server] = hidden.get(each.id.server, 0) + 1
    if not hidden:
        return 0
    made = prepare([search_tool(hidden, {each.id.name for each in tools})], provider, strict).definitions
    return _around(provider, counting) + sum(definition_price(each, provider, counting) for each in made)
