"""What is to be done with each call of a reply: run it, ask about it, or answer it at once.

Nothing is run here. A call that is not understood has its answer already; a call that needs somebody's word gets it, or
the run has to wait.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from toolbridge.prepare import PreparedTools
from toolbridge.run.events import Asked, Decision
from toolbridge.stream.arguments import write_arguments
from toolbridge.types import BoundCall, JsonObject, Text, Tool, ToolCall, ToolResult

Word: TypeAlias = Decision | bool | None
Ask: TypeAlias = Callable[[Asked], Word | Awaitable[Word]]
"""Asked about one call. `None` is: nobody can say now, the run shall wait."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One call of a reply: bound to its tool, or with its result already."""

    call: ToolCall
    tool: Tool | None
    bound: BoundCall | None = None
    why: str | None = None
    """Why somebody has to be asked."""
    result: ToolResult | None = None
    is_edited: bool = False
    prepared: PreparedTools | None = None
    """What it was understood with: other arguments are, too."""

    @property
    def asked(self) -> Asked:
        """What somebody is shown: a copy, since what was checked must be what is sent."""
        assert self.bound is not None
        tool, arguments = self.bound.tool, deepcopy(self.bound.arguments)
        return Asked(self.call, tool.id, arguments, self.why or "", tool.title or tool.id.name, tool.description)


def plan(call: ToolCall, prepared: PreparedTools, why_asked: Callable[[Tool], str | None]) -> Planned:
    """The call, understood or answered."""
    found = prepared.resolve(call)
    if isinstance(found, BoundCall):
        return Planned(call, found.tool, found, why_asked(found.tool), prepared=prepared)
    tool = next((each for each in prepared.tools if prepared.wire_name(each.id) == call.name), None)
    return Planned(call, tool, result=found)


async def ask_about(planned: Planned, ask: Ask) -> Word:
    """What is said about a call. A plain function is called in a thread: it may well wait for somebody to type."""
    if inspect.iscoroutinefunction(ask) or inspect.iscoroutinefunction(type(ask).__call__):
        said = ask(planned.asked)
    else:
        said = await _in_a_thread(ask, planned.asked)
    return await said if inspect.isawaitable(said) else said


async def _in_a_thread(ask: Ask, asked: Asked) -> Word | Awaitable[Word]:
    """Not one of the event loop's threads: whoever gives up waiting does not have to wait for somebody to type."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def tell(set_: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            set_(value)

    def work() -> None:
        try:
            found = (answer.set_result, ask(asked))
        except BaseException as failure:
            found = (answer.set_exception, failure)
        with suppress(RuntimeError):  # the loop has ended meanwhile, and nobody waits
            loop.call_soon_threadsafe(tell, *found)

    threading.Thread(target=work, name="toolbridge ask", daemon=True).start()
    return await answer


def decided(planned: Planned, word: Decision | bool) -> Planned:
    """The call after the word on it: to be run, to be run with other arguments, or refused.

    Anything but `True`, `False` and a `Decision` is a `TypeError`: what is not plainly a yes must not count as one.
    """
    decision = word if isinstance(word, Decision) else Decision(word)
    if not decision.allow:
        return replace(planned, bound=None, why=None, result=_refused(planned.call, decision.reason))
    assert planned.bound is not None
    if decision.arguments is None or _plain(decision.arguments) == _plain(planned.bound.arguments):
        return replace(planned, why=None)
    return _edited(planned, decision.arguments)


def _plain(arguments: JsonObject) -> str:
    """One spelling for equal values; `1` and `true` are not."""
    return json.dumps(arguments, sort_keys=True, default=str)


def _edited(planned: Planned, arguments: JsonObject) -> Planned:
    prepared = planned.prepared
    assert planned.bound is not None
    assert prepared is not None
    wire = prepared.write_arguments(planned.bound.tool.id, arguments)
    found = prepared.resolve(replace(planned.call, arguments=wire, text=write_arguments(wire)))
    if isinstance(found, BoundCall):
        return replace(planned, bound=replace(found, call=planned.call), why=None, is_edited=True)
    return replace(planned, bound=None, why=None, result=found)


def _refused(call: ToolCall, reason: str) -> ToolResult:
    because = f": {reason.strip()}" if reason.strip() else "."
    text = f"The user did not allow this call{because}\nIt was not run. Do not try again unless the user asks for it."
    return ToolResult(call.id, (Text(text),), is_error=True, failure="refused")


def not_run(call: ToolCall, why: str) -> ToolResult:
    """The answer to a call that nobody will run any more."""
    return ToolResult(call.id, (Text(f"This call was not run: {why}."),), is_error=True)


def told_of_edit(planned: Planned, result: ToolResult) -> ToolResult:
    """The result of a call whose arguments a person has changed: the model has to know."""
    if not planned.is_edited or planned.bound is None:
        return result
    used = json.dumps(planned.bound.arguments, ensure_ascii=False)
    return replace(result, content=(Text(f"(The user changed the arguments to {used}.)"), *result.content))
