"""The tools of one conversation: what its model is shown, which of them a call means, and what becomes of long results.

Between the hub's catalogue and the loop. It holds the tools that are the host's own: the search of the offer, and the
tool to read on in a result that was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count
from secrets import token_hex

from toolbridge.errors import ModelError
from toolbridge.history.excerpts import Excerpts
from toolbridge.model.model import Model
from toolbridge.model.refusals import refused_tool
from toolbridge.offer import Offer
from toolbridge.run.planning import Planned, plan
from toolbridge.run.request import Spellings
from toolbridge.servers.hub import Hub
from toolbridge.types import Message, Tool, ToolCall, ToolId, ToolResult

READ_MORE = "read_more"
"""The tool by which a model reads on in a result that was cut."""

CUT = "result.cut"
"""The note of such a result."""


class Toolbox:
    """A hub's tools as one conversation has them."""

    def __init__(
        self,
        hub: Hub,
        *,
        strict: bool | None,
        tool_tokens: int | None,
        result_tokens: int | None,
    ) -> None:
        self._hub = hub
        self._strict = strict
        self._tool_tokens = tool_tokens
        self._result_tokens = result_tokens
        self._excerpts: Excerpts | None = None
        """Made when the first result is cut."""
        self._offer: Offer | None = None
        self._joined: tuple[ToolId, ...] = ()
        self._offered: tuple[int, str, str] = (-1, "", "")
        self.spellings = Spellings((), strict)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self._hub.tools

    def take_up(self, history: Sequence[Message], joined: tuple[ToolId, ...] = ()) -> None:
        """Go on with what was said elsewhere: tools that had been found, results that had been cut."""
        self._joined = (*self._joined, *joined)
        results = (part for message in history for part in message.parts if isinstance(part, ToolResult))
        if self._excerpts is None and any(note.code == CUT for each in results for note in each.notes):
            self._begin_excerpts()  # what was cut is not here any more, and the model is to be told that

    @property
    def joined(self) -> tuple[ToolId, ...]:
        return self._offer.joined if self._offer is not None else self._joined

    def offer(self, model: Model) -> Offer:
        """What the model is shown: made anew for another model, changed at its end where the catalogue has changed."""
        wanted = (self._hub.generation, model.provider.name, model.name)
        if self._offer is None or wanted[1:] != self._offered[1:]:
            self._offer = Offer(
                self.tools,
                model.provider,
                strict=self._strict,
                tool_tokens=self._tool_tokens,
                most=model.most_tools,
                joined=self.joined,
                model=model.name,
            )
            if self._excerpts is not None:
                self._offer.add(self._excerpts.tool)
        elif wanted != self._offered:
            self._offer.renew(self.tools)
        if wanted != self._offered:
            self.spellings = Spellings(self.tools, self._strict)
            self._offered = wanted
        return self._offer

    def plan(self, calls: Sequence[ToolCall], model: Model, why_asked: Callable[[Tool], str | None]) -> list[Planned]:
        """What is to be done with the calls of a reply. Those of the host's own tools are answered at once."""
        offer = self.offer(model)
        meant = [tool for call in calls if (tool := offer.find(call.name)) is not None]
        for tool in meant:
            offer.join(tool, beside=meant)  # one that the model remembers from before
        return [self._planned(call, offer, why_asked) for call in calls]

    def _planned(self, call: ToolCall, offer: Offer, why_asked: Callable[[Tool], str | None]) -> Planned:
        if offer.is_search(call.name):
            return Planned(call, None, result=offer.search(call.id, call.arguments))
        offer.called(call.name)
        own = self._excerpts.tool if self._excerpts is not None else None
        planned = plan(call, offer.prepared, lambda tool: None if tool == own else why_asked(tool))
        if self._excerpts is not None and planned.bound is not None and planned.tool == own:
            return Planned(
                call,
                own,
                result=self._excerpts.answer(call.id, planned.bound.arguments),
            )
        return planned

    def keep(self, result: ToolResult) -> ToolResult:
        """The result as the model gets it."""
        if self._result_tokens is None:
            return result
        excerpts = self._excerpts or Excerpts(self._result_tokens, name=self._free_name())
        # A key that no other process gives to another result of this conversation.
        kept = excerpts.keep(result, token_hex(4))
        if kept is not result and self._excerpts is None:
            self._begin_excerpts(excerpts)
        return kept

    def _begin_excerpts(self, excerpts: Excerpts | None = None) -> None:
        self._excerpts = excerpts or Excerpts(self._result_tokens or 1, name=self._free_name())
        if self._offer is not None:
            self._offer.add(self._excerpts.tool)

    def _free_name(self) -> str:
        taken = {each.id.name for each in self._hub.tools}
        names = chain((READ_MORE,), (f"{READ_MORE}_{i}" for i in count(2)))
        return next(each for each in names if each not in taken)

    def drop_refused(self, failure: ModelError, model: Model) -> str | None:
        """Leave out the one tool that a refusal names, if it names one: its name."""
        if failure.kind != "refused":
            return None
        offer = self.offer(model)
        prepared = offer.prepared
        names = [prepared.wire_name(each.id) for each in prepared.tools]
        name = refused_tool(failure, names, prepared.definitions)
        return name if name is not None and offer.drop(name) is not None else None
