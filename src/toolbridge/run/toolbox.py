"""The tools of one conversation: what its model is shown, which of them a call means, and what becomes of long results.

Between the hub's catalogue and the loop. It holds the tools that are the host's own: the search of the offer, and the
tool to read on in a result that was cut.
"""

from __future__ import annotations

from collections.abc import Callable

from toolbridge.errors import ModelError
from toolbridge.history.excerpts import Excerpts
from toolbridge.model.model import Model
from toolbridge.model.refusals import refused_tool
from toolbridge.offer import Offer
from toolbridge.run.planning import Planned, plan
from toolbridge.run.request import Spellings
from toolbridge.servers.hub import Hub
from toolbridge.types import Tool, ToolCall, ToolResult

READ_MORE = "read_more"
"""The tool by which a model reads on in a result that was cut."""


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
        self._excerpts = Excerpts(result_tokens, name=READ_MORE) if result_tokens is not None else None
        self._has_cut = False
        self._offer: Offer | None = None
        self._offered: tuple[int, str, str] = (-1, "", "")
        self.spellings = Spellings((), strict)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The hub's tools, and the one to read on with once there is something to read on in."""
        more = (self._excerpts.tool,) if self._excerpts is not None and self._has_cut else ()
        return (*self._hub.tools, *more)

    def offer(self, model: Model) -> Offer:
        """What the model is shown: made anew for another model, changed at its end where the catalogue has changed."""
        wanted = (self._hub.generation + self._has_cut, model.provider.name, model.name)
        if self._offer is None or wanted[1:] != self._offered[1:]:
            self._offer = Offer(
                self.tools,
                model.provider,
                strict=self._strict,
                tool_tokens=self._tool_tokens,
                most=model.most_tools,
                kept=(READ_MORE,),
                joined=self._offer.joined if self._offer is not None else (),
                model=model.name,
            )
        elif wanted != self._offered:
            self._offer.renew(self.tools)
        if wanted != self._offered:
            self.spellings = Spellings(self.tools, self._strict)
            self._offered = wanted
        return self._offer

    def plan(self, call: ToolCall, model: Model, why_asked: Callable[[Tool], str | None]) -> Planned:
        """What is to be done with a call. Those of the host's own tools are answered at once."""
        offer = self.offer(model)
        if offer.is_search(call.name):
            return Planned(call, None, result=offer.search(call.id, call.arguments))
        known = offer.find(call.name)
        if known is not None:
            offer.join(known)  # a tool that the model remembers from before
        offer.called(call.name)
        own = self._excerpts.tool if self._excerpts is not None else None
        planned = plan(call, offer.prepared, lambda tool: None if tool is own else why_asked(tool))
        if self._excerpts is not None and planned.bound is not None and planned.tool == own:
            return Planned(
                call,
                own,
                result=self._excerpts.answer(call.id, planned.bound.arguments),
            )
        return planned

    def keep(self, result: ToolResult) -> ToolResult:
        """The result as the model gets it."""
        if self._excerpts is None:
            return result
        kept = self._excerpts.keep(result)
        self._has_cut = self._has_cut or kept is not result
        return kept

    def drop_refused(self, failure: ModelError, model: Model) -> str | None:
        """Leave out the one tool that a refusal names, if it names one: its name."""
        if failure.kind != "refused":
            return None
        offer = self.offer(model)
        prepared = offer.prepared
        names = [prepared.wire_name(each.id) for each in prepared.tools]
        name = refused_tool(failure, names, prepared.definitions)
        return name if name is not None and offer.drop(name) is not None else None
