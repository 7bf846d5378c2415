"""The offer: the tools that one conversation's requests hold, and how they change from turn to turn.

It stands between a catalogue (a hub's tools) and `prepare`. Within its room (tokens, places) everything is shown. Past
it, the rule of `offer.choice` says what is shown from the start, and the model gets a tool to search the rest with;
what it finds joins the end. Where the provider itself can hold back definitions and its model is known to search them,
that is used instead.

Definitions that were sent once keep their place and their bytes for as long as the catalogue has them, in this order:
the host's own tools, what is shown from the start in the order of the catalogue, the search, what has joined in the
order of joining. Only what has joined can leave again, for want of room: first what was never called, the longest there
first, then what was called, the longest ago first. It can be found again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from toolbridge.apps import visible
from toolbridge.names import wire_name
from toolbridge.offer.choice import Room, all_fit, shown_first
from toolbridge.offer.cost import Cost, rough_tokens, tokens_of, tool_cost
from toolbridge.offer.native import replayed
from toolbridge.offer.searching import MOST, answer, line, read_query, search_tool
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import Provider, get_provider
from toolbridge.search import ToolIndex
from toolbridge.tokens import Counter, definition_tokens, estimate
from toolbridge.types import Message, Text, Tool, ToolId, ToolResult

CLOSE = 0.3
"""What a small model is shown beside the best match must score so much of it: others only lead it astray."""

SEARCHERS = 12
"""Models that cannot choose among so many tools cannot search them either: `choose` does it for them."""


class Offer:
    """What a model is offered. Not for several threads at once.

    `tool_tokens` is what all definitions together may cost, `most` how many the model can choose among; the provider's
    own limit counts as well. `kept` are ids, or patterns of them (`github/*`), that are always shown; `extra` are tools
    of the host, always shown and first. `joined` are ids that had joined before, in another process. `native` says
    whether the provider holds back definitions itself: where it is known to for this `model`, unless said otherwise.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        provider: Provider | str,
        *,
        strict: bool | None = None,
        tool_tokens: int | None = None,
        most: int | None = None,
        kept: Sequence[ToolId | str] = (),
        extra: Iterable[Tool] = (),
        joined: Sequence[ToolId] = (),
        native: bool | None = None,
        model: str = "",
        count: Counter = estimate,
    ) -> None:
        for name, number in (("tool_tokens", tool_tokens), ("most", most)):
            if number is not None and number < 1:
                raise ValueError(f"{name} is {number}; it must be at least 1, or None where there is no such limit")
        self.provider = get_provider(provider) if isinstance(provider, str) else provider
        self.strict = strict
        self.tool_tokens = tool_tokens
        self._count = count
        self._kept = tuple(kept)
        self._extra = list(_once(extra).values())
        places = [each for each in (self.provider.most_tools, most) if each is not None]
        self._room = Room(tool_tokens, min(places) if places else None)
        self._small = most is not None and most < SEARCHERS
        self._natively = self._can_defer(native, model)
        self._dropped: dict[ToolId, Tool] = {}
        self._listed = tuple(tools)
        self._private = [each for each in self._listed if not visible(each)]
        self._catalogue = _once(self._listed)
        self._shown: dict[ToolId, Tool] = {}
        self._joined: dict[ToolId, Tool] = {}
        self._called: dict[ToolId, None] = {}
        self._added: set[ToolId] = set()
        """Of what has joined, the host's own: it never leaves."""
        self._search: Tool | None = None
        self._native = False
        self._index: ToolIndex | None = None
        self._names: dict[str, Tool] | None = None
        self._first: PreparedTools | None = None
        self._prepared: PreparedTools | None = None
        self._cost: Cost | None = None
        self._settle()
        for id in joined:
            if id in self._catalogue:
                self.join(self._catalogue[id])

    # ── what is sent ──

    @property
    def prepared(self) -> PreparedTools:
        """The tools of the next request, and the way back from its reply. The same object until something changes."""
        if self._prepared is None:
            if self._first is None:
                first = [*self._extra, *self._shown.values(), *self._private]
                self._first = prepare(first, self.provider, self.strict)
            later = self.deferred if self._native else self._later()
            self._prepared = self._first
            if later:
                self._prepared = self._first.and_then(prepare(later, self.provider, self._strict_later()))
        return self._prepared

    @property
    def fields(self) -> dict[str, Any]:
        """What to merge into the request body. Not always the prepared tools' own: the provider may hold some back."""
        ready = self.prepared
        write = self.provider.write_deferred
        if self._native and write is not None and self._first is not None:
            first = len(self._first.definitions)
            if first < len(ready.definitions):
                return write(ready.definitions[:first], ready.definitions[first:])
        return ready.fields

    @property
    def deferred(self) -> tuple[Tool, ...]:
        """The tools that are not shown now, in the order of the catalogue."""
        shown = self._shown.keys() | self._joined.keys()
        return tuple(each for id, each in self._catalogue.items() if id not in shown)

    @property
    def joined(self) -> tuple[ToolId, ...]:
        """The tools that have joined, in the order of joining."""
        return tuple(self._joined)

    @property
    def searching(self) -> bool:
        """Whether the model is given the tool to search with."""
        return self._search is not None

    @property
    def native(self) -> bool:
        """Whether the provider holds back the deferred tools and searches them itself."""
        return self._native

    @property
    def cost(self) -> Cost:
        """What the next request's definitions cost, and what all of them would."""
        if self._cost is None:
            every = [*self._extra, *self._catalogue.values(), *((self._search,) if self._search else ())]
            self._cost = Cost(
                self._shown_tokens(),
                self.tool_tokens,
                self._count is estimate,
                every,
                lambda tool: tool_cost(tool, self.provider, self.strict, self._count),
            )
        return self._cost

    def explained(self) -> str:
        """What is shown and what is not, in one line; empty where everything is shown and within the budget."""
        over = ""
        if self.cost.over:
            over = f"the tools that must be shown cost {self.cost}, more than tool_tokens allows"
        hidden = len(self.deferred)
        if not hidden:
            return over
        total = len(self._extra) + len(self._catalogue)
        how = "the provider searches the others" if self._native else "the others are chosen by the question"
        if self._search is not None:
            how = f"the others are found with {self._search.id.name}"
        said = f"{total - hidden} of {total} tools are shown ({self.cost}); {how}"
        return f"{said}; {over}" if over else said

    def replayed(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """The history as this offer's request can hold it: a provider's own search may have found tools in it that are
        not declared any more, and refuses to be reminded of them."""
        ready = self.prepared
        shown = self._first.names if self._native and self._first is not None else ready.names
        return replayed(messages, ready.names, shown)

    # ── what changes it ──

    def search(self, call_id: str, arguments: Any) -> ToolResult:
        """Answers a call of the search: what was found joins, and the model is told so."""
        read = read_query(arguments)
        if isinstance(read, str):
            return ToolResult(call_id, (Text(f"The search was not run: {read}."),), is_error=True)
        query, limit = read
        found = self._found(query, limit)
        # One after the other, and none of this search makes room for another of it.
        guarded = {each.id for each in found}
        joined: list[str] = []
        there: list[str] = []
        too_many: list[str] = []
        for each in found:
            name = wire_name(each.id, self.provider.names)
            if each.id in self._shown or each.id in self._joined:
                there.append(line(self._wire(each.id) or name, each))
            elif self._join(each, guarded):
                joined.append(line(self._wire(each.id) or name, each))
            elif tokens_of(each, self.provider, self.strict, self._count):
                too_many.append(name)
        return ToolResult(call_id, (Text(answer(query, joined, there, too_many)),))

    def is_search(self, name: str) -> bool:
        """Whether a wire name is the search's."""
        return self._search is not None and name == self._wire(self._search.id)

    def find(self, name: str) -> Tool | None:
        """The tool of the catalogue that a wire name stands for, shown or not: a model may remember one."""
        if self._names is None:
            names: dict[str, Tool] = {}
            twice: set[str] = set()
            for each in self._catalogue.values():
                spelt = wire_name(each.id, self.provider.names)
                if spelt in names:
                    twice.add(spelt)
                names[spelt] = each
            self._names = {spelt: each for spelt, each in names.items() if spelt not in twice}
        return self._names.get(name)

    def join(self, tool: Tool, *, beside: Iterable[Tool] = ()) -> bool:
        """Puts a deferred tool behind the others; whether it is offered now. It takes no place of those `beside` it."""
        return self._join(tool, {tool.id, *(each.id for each in beside)})

    def add(self, tool: Tool) -> None:
        """Puts a tool of the host's behind the others, for good: what was sent before stays where it is."""
        if tool.id not in self._joined:
            self._added.add(tool.id)
            self._joined[tool.id] = tool
            self._changed()

    def called(self, name: str) -> None:
        """Notes that a tool was called, by its wire name: what is called stays longest."""
        tool = self.find(name)
        if tool is not None:
            self._called.pop(tool.id, None)
            self._called[tool.id] = None

    def choose(self, question: str) -> None:
        """For models with few places: shows the tools that the question is about, in the order of the catalogue.

        A question that says nothing of any tool ("and tomorrow?") changes nothing. For other models this does nothing:
        they search for themselves.
        """
        if not self._small:
            return
        ranked = self._indexed().search(question, MOST, closeness=CLOSE)
        if not ranked:
            return
        kept = self._kept_ids()
        wanted = [each for id, each in self._catalogue.items() if id in kept]
        wanted += ranked
        room = self._room_beside_extra()
        tokens = 0
        chosen: set[ToolId] = set()
        for each in wanted:
            price = self._price(each)
            if each.id not in chosen and room.holds(0 if each.id in kept else tokens + price, len(chosen) + 1):
                chosen.add(each.id)
                tokens += price
        shown = {id: each for id, each in self._catalogue.items() if id in chosen}
        if shown and shown != self._shown:
            self._shown = shown
            self._joined = {id: each for id, each in self._joined.items() if id in self._added}
            self._changed(first=True)

    def drop(self, name: str) -> ToolId | None:
        """Leaves out a tool that the provider refused, by its wire name, until its server describes it anew."""
        found = next((each for each in self.prepared.tools if self._wire(each.id) == name), None)
        if found is None:
            return None
        if found is self._search:
            self._search = None
        elif found in self._extra:
            self._extra.remove(found)
        else:
            self._dropped[found.id] = found
            for each in (self._catalogue, self._shown, self._joined):
                each.pop(found.id, None)
            self._forget_catalogue()
        self._changed(first=True)
        return found.id

    def renew(self, tools: Iterable[Tool]) -> None:
        """The catalogue of the next turn. What is shown stays where it is; what is new is put behind it, or deferred
        where there is no room; what is gone goes. Where nothing changed, nothing does."""
        listed = tuple(tools)
        if len(listed) == len(self._listed) and all(a is b for a, b in zip(listed, self._listed, strict=True)):
            return
        self._listed = listed
        self._private = [each for each in listed if not visible(each)]
        before = self._catalogue
        now = _once(listed)
        for id, each in tuple(now.items()):
            if id in self._dropped and self._dropped[id] == each:
                del now[id]
            elif id in before and before[id] == each:
                now[id] = before[id]  # the same tool read again: what was made of it is still good
        if list(now) == list(before) and all(each is before[id] for id, each in now.items()):
            return
        hidden = bool(self.deferred)
        self._catalogue = now
        self._forget_catalogue()
        self._joined = {id: now.get(id, each) for id, each in self._joined.items() if id in now or id in self._added}
        shown = {id: now[id] for id in self._shown if id in now}
        new = {id: each for id, each in now.items() if id not in before}
        kept = self._kept_ids()
        room = self._room_beside_extra()
        if hidden or self._joined or not all_fit([*shown.values(), *new.values()], room, self._price, rough_tokens):
            new = {id: each for id, each in new.items() if id in kept}
        self._shown = {**shown, **new}
        self._search_for_the_rest()
        self._changed(first=True)
        self._within(kept)

    # ── inside ──

    def _settle(self) -> None:
        """What is shown from the start."""
        room = self._room_beside_extra()
        tools = list(self._catalogue.values())
        if all_fit(tools, room, self._price, rough_tokens):
            self._shown = dict(self._catalogue)
            return
        kept = self._kept_ids()
        if self._small or self._natively:
            self._shown = shown_first(tools, kept, room, self._price, rough_tokens)
            # A request that holds back every tool is refused.
            self._native = not self._small and bool(self._shown or self._extra)
        if not self._small and not self._native:
            # The search is longest, and costs most, where it names everything.
            room = room.without(self._price(self._search_tool(tools)), 1).from_the_start
            self._shown = shown_first(tools, kept, room, self._price, rough_tokens)
            self._search_for_the_rest()
        self._within(kept)

    def _within(self, kept: set[ToolId]) -> None:
        """Leaves out what is too much after all: strict tools share a budget, so that the price of one alone is not
        always its price among others, and what must be shown may have grown. What has joined goes first; what is kept
        stays, unless there is no place for it."""
        while self._is_crowded() or (self.tool_tokens is not None and self._shown_tokens() > self.tool_tokens):
            leaving = [id for id in self._joined if id not in self._added]
            least = [id for id in leaving if id not in self._called] or leaving
            if least:
                del self._joined[least[0]]
                self._changed()
                continue
            last = next((id for id in reversed(self._shown) if id not in kept or self._is_crowded()), None)
            if last is None:
                if self._is_crowded():  # by the host's own tools: `prepare` leaves out what is too much of them
                    self._search = None
                    self._changed()
                return
            del self._shown[last]
            self._search_for_the_rest()
            self._changed(first=True)

    def _is_crowded(self) -> bool:
        """Whether there are more definitions than places."""
        return not self._native and not self._room.holds(0, len(self._extra) + len(self._shown) + len(self._later()))

    def _search_for_the_rest(self) -> None:
        """The search, for what is not shown from the start: what joins later does not change what it says."""
        hidden = [each for id, each in self._catalogue.items() if id not in self._shown]
        searched = bool(hidden) and not self._small and not self._native
        self._search = self._search_tool(hidden) if searched else None

    def _search_tool(self, hidden: Sequence[Tool]) -> Tool:
        counts: dict[str, int] = {}
        for each in hidden:
            counts[each.id.server] = counts.get(each.id.server, 0) + 1
        # Where the names of servers' tools begin with `mcp`, only one without a server can be called like the search.
        bare = not self.provider.names.with_server
        own = [*(each.id for each in self._extra), *(id for id in self._catalogue if bare or not id.server)]
        taken = {wire_name(id, self.provider.names) for id in own}
        return search_tool(counts, taken)

    def _found(self, query: str, limit: int) -> list[Tool]:
        """Tools that are called by their names come first."""
        named = [self.find(each.strip("\"'`,;()")) for each in query[:2_000].split()[:MOST]]
        found = {each.id: each for each in named if each is not None}
        for each in self._indexed().search(query, limit):
            found.setdefault(each.id, each)
        return list(found.values())[:limit]

    def _join(self, tool: Tool, guarded: set[ToolId]) -> bool:
        if tool.id in self._joined or tool.id in self._shown:
            return True
        price = tokens_of(tool, self.provider, self._strict_later(), self._count)
        if self._native or not price or tool.id not in self._catalogue:
            return False
        room = self._room_beside_extra()
        fixed = [*self._shown.values(), *((self._search,) if self._search else ())]
        tokens = sum(map(self._price, fixed)) if room.tokens is not None else 0
        prices = {id: self._price_later(each) for id, each in self._joined.items()}
        leaving: list[ToolId] = []
        guarded = guarded | self._added
        uncalled = [id for id in self._joined if id not in self._called and id not in guarded]
        candidates = iter([*uncalled, *(id for id in self._called if id in self._joined and id not in guarded)])
        while not room.holds(tokens + sum(prices.values()) + price, len(fixed) + len(prices) + 1):
            oldest = next(candidates, None)
            if oldest is None:
                return False
            del prices[oldest]
            leaving.append(oldest)
        for id in leaving:
            del self._joined[id]
        self._joined[tool.id] = tool
        self._changed()
        if self._wire(tool.id) is None:  # it is spelt like another
            del self._joined[tool.id]
            self._changed()
            return False
        return True

    def _later(self) -> list[Tool]:
        return [*((self._search,) if self._search else ()), *self._joined.values()]

    def _strict_later(self) -> bool | None:
        """The strict tools' budget is spent on what is shown from the start: none of it moves to what joins."""
        return False if self.strict is True and self.provider.strict_budget else self.strict

    def _wire(self, id: ToolId) -> str | None:
        ready = self.prepared
        return ready.wire_name(id) if id in ready else None

    def _price(self, tool: Tool) -> int:
        return tokens_of(tool, self.provider, self.strict, self._count) if self.tool_tokens is not None else 0

    def _price_later(self, tool: Tool) -> int:
        if self.tool_tokens is None:
            return 0
        return tokens_of(tool, self.provider, self._strict_later(), self._count)

    def _shown_tokens(self) -> int:
        if self.strict is True and self.provider.strict_budget:
            self.prepared  # noqa: B018 -- makes `_first`
            sent = self.prepared.definitions
            if self._native and self._first is not None:
                sent = sent[: len(self._first.definitions)]
            return sum(definition_tokens(each, self._count) for each in sent)
        shown = [*self._extra, *self._shown.values(), *self._later()]
        return sum(tokens_of(each, self.provider, self.strict, self._count) for each in shown)

    def _room_beside_extra(self) -> Room:
        return self._room.without(sum(map(self._price, self._extra)), len(self._extra))

    def _kept_ids(self) -> set[ToolId]:
        ids = {each for each in self._kept if isinstance(each, ToolId) and each in self._catalogue}
        for pattern in self._kept:
            if isinstance(pattern, str):
                ids.update(id for id in self._catalogue if str(id) == pattern or fnmatchcase(str(id), pattern))
        return ids

    def _can_defer(self, native: bool | None, model: str) -> bool:
        if native is False or self.provider.write_deferred is None:
            return False
        return native is True or (self.provider.defers is not None and self.provider.defers.search(model) is not None)

    def _indexed(self) -> ToolIndex:
        if self._index is None:
            self._index = ToolIndex(self._catalogue.values())
        return self._index

    def _forget_catalogue(self) -> None:
        self._index = None
        self._names = None

    def _changed(self, first: bool = False) -> None:
        if first:
            self._first = None
        self._prepared = None
        self._cost = None


def _once(tools: Iterable[Tool]) -> dict[ToolId, Tool]:
    """Each identity once, as `prepare` has it: the first is the one. Private tools are not offered, nor found."""
    out: dict[ToolId, Tool] = {}
    for each in tools:
        out.setdefault(each.id, each)
    return {id: each for id, each in out.items() if visible(each)}
