"""What the doors share: where tools come from, the form they are offered in, and what comes of a call.

It knows no framework. A door hands it the provider that the framework's model is of, gets tools with plain schemas, and
gives it the arguments that the framework was sent; it gets a result whose blocks that provider can carry.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

from toolbridge.approval import Approval
from toolbridge.errors import ToolbridgeError
from toolbridge.extras import install
from toolbridge.history.media import placed_result
from toolbridge.history.rules import NOTHING, Rules
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import Provider, get_provider
from toolbridge.run.policy import why_asked
from toolbridge.servers.hub import Hub
from toolbridge.servers.sync import SyncHub
from toolbridge.stream.arguments import read_call
from toolbridge.types import BoundCall, Content, Image, Text, Tool, ToolResult, failed

Run: TypeAlias = Callable[[BoundCall], Awaitable[ToolResult]]
"""Runs a call that was understood, for tools that come from no hub."""
Source: TypeAlias = Hub | SyncHub | Iterable[Tool]
Progress: TypeAlias = Callable[[float, float | None, str | None], Any]
Passes: TypeAlias = Callable[[Exception], bool]
"""Whether an exception of what runs a call is a word to the framework, and no failure: a retry, an interrupt."""

NOBODY_ASKED = Approval("never")
"""The framework's user has decided to run the calls. What the operator of a server says still counts."""

_log = logging.getLogger("toolbridge.frameworks")


@dataclass(frozen=True, slots=True)
class Offered:
    """One tool, in the form that a provider's model is to see."""

    name: str
    description: str
    schema: dict[str, Any]
    strict: bool
    tool: Tool
    why: str | None
    """The rule by which a person is asked about its calls, in words."""
    ready: PreparedTools = field(repr=False)
    """The way back."""

    @property
    def facts(self) -> dict[str, Any]:
        """What is known of the tool and not said to the model, as JSON."""
        hints = self.tool.hints
        claims = {
            "readOnlyHint": hints.read_only_hint,
            "destructiveHint": hints.destructive_hint,
            "idempotentHint": hints.idempotent_hint,
            "openWorldHint": hints.open_world_hint,
        }
        facts = {
            "server": self.tool.id.server,
            "tool": self.tool.id.name,
            "title": self.tool.title,
            "annotations": {key: value for key, value in claims.items() if value is not None},
            "_meta": dict(self.tool.meta),
            "approval": self.why,
        }
        return {key: value for key, value in facts.items() if value}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, as the model's provider can carry it."""

    blocks: tuple[Content, ...]
    """Never empty: texts, and media where results may hold them. What they may not is said in words."""
    result: ToolResult
    was_refused: bool = False
    """Whether the arguments were wrong, so that nothing was sent."""

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def facts(self) -> dict[str, Any]:
        """What the result holds beside what the model sees, as JSON."""
        media = [{"type": "image", "base64": block.data, "mime_type": block.mime_type} for block in self._unseen()]
        facts = {
            "structured_content": self.result.structured,
            "_meta": dict(self.result.meta),
            "failure": self.result.failure,
            "images": media,
        }
        return {key: value for key, value in facts.items() if value not in (None, {}, [])}

    def _unseen(self) -> list[Image]:
        """Images that the model is only told of."""
        seen = {block.data for block in self.blocks if isinstance(block, Image)}
        return [block for block in self.result.content if isinstance(block, Image) and block.data not in seen]


class Bridge:
    """Tools, what runs their calls, and who is asked about them."""

    def __init__(
        self,
        source: Source,
        run: Run | None = None,
        approval: Approval = NOBODY_ASKED,
        passes: Passes = lambda failure: False,
    ) -> None:
        self.hub: Hub | None = None
        self._tools: tuple[Tool, ...] = ()
        if isinstance(source, Hub | SyncHub):
            self.hub = source if isinstance(source, Hub) else source.hub
            if run is not None:
                raise TypeError("a hub runs its own calls: give it without `run`")
        else:
            self._tools = tuple(source)
            if run is None:
                raise TypeError("a list of tools needs something that runs their calls: `run=…`")
        self._run = run
        self._approval = approval
        self._passes = passes

    @property
    def generation(self) -> int:
        """Counts the changes of what there is to offer."""
        return self.hub.generation if self.hub is not None else 0

    def prepared(self, provider: Provider, strict: bool | None = None, **options: Any) -> PreparedTools:
        """The tools for a provider, in a plain form. What is left out is told to whoever reads the log."""
        ready = prepare(self.hub.tools if self.hub is not None else self._tools, provider, strict, **options)
        for id, why in ready.left_out.items():
            if id not in ready.private:
                _log.warning("left out %s: %s", id, why)
        return ready

    def offered(self, ready: PreparedTools) -> list[Offered]:
        """What was prepared, each with what a framework needs to make a tool of its own of it."""
        return [
            Offered(
                name=each["name"],
                description=each["description"],
                schema=each["schema"],
                strict=each["strict"],
                tool=tool,
                why=self.why_asked(tool),
                ready=ready,
            )
            for each, tool in zip(ready.definitions, ready.tools, strict=True)
        ]

    def surviving(
        self, survives: Callable[[Offered], bool], *forms: tuple[Provider, bool | None], **options: Any
    ) -> list[Offered]:
        """Each tool in the first of these forms, (provider, strict), that the framework leaves as it is; or last."""
        first, *others = forms
        offered = self.offered(self.prepared(*first, **options))
        for form in others:
            spoilt = {each.tool.id for each in offered if not survives(each)}
            if not spoilt:
                break
            again = {each.tool.id: each for each in self.offered(self.prepared(*form, **options))}
            offered = [again.get(each.tool.id, each) if each.tool.id in spoilt else each for each in offered]
        return offered

    def why_asked(self, tool: Tool) -> str | None:
        spec = self.hub.specs.get(tool.id.server) if self.hub is not None else None
        return why_asked(tool, spec, self._approval)

    def understood(self, ready: PreparedTools, name: str, given: Any, call_id: str) -> BoundCall | Outcome:
        """A call with the arguments, or the argument text, that the framework was sent; or why it is not run."""
        found = ready.resolve(read_call(call_id, name, given))
        return found if isinstance(found, BoundCall) else Outcome(found.content, found, was_refused=True)

    async def called(self, bound: BoundCall, rules: Rules, on_progress: Progress | None = None) -> Outcome:
        """Run a call. What a server does wrong is a result, and so is what raises: it must not end the run."""
        try:
            if self._run is not None:
                result = await self._run(bound)
            else:
                assert self.hub is not None
                heard = None if on_progress is None else _heard_here(on_progress)
                result = await self.hub.run(bound, on_progress=heard)
        except ToolbridgeError as failure:  # a hub that was closed, a server that has gone from it
            result = failed(bound.call.id, "unavailable", f"Not called: {failure}")
        except Exception as failure:
            if self._passes(failure):
                raise
            _log.warning("the call of %s raised", bound.tool.id, exc_info=failure)  # for whoever has to mend it
            result = failed(bound.call.id, "protocol", f"The call failed: {str(failure) or type(failure).__name__}")
        return Outcome(placed_result(result, rules).blocks, result)  # type: ignore[arg-type]


def _heard_here(on_progress: Progress) -> Progress:
    """The callback, called in the event loop that this was called in: the hub may live in another."""
    here = asyncio.get_running_loop()

    async def tell(done: float, total: float | None, message: str | None) -> None:
        told = on_progress(done, total, message)
        if told is not None:
            await told

    async def heard(done: float, total: float | None, message: str | None) -> None:
        if asyncio.get_running_loop() is here:
            await tell(done, total, message)
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(tell(done, total, message), here))

    return heard


def plain_form(provider: Provider | str) -> Provider:
    """A provider whose definitions are plain, for a framework to write: by its name, or as it is."""
    return _plain_form_of(provider) if isinstance(provider, str) else replace(provider, write_tool=_write_plain)


@cache  # compiled tools are kept by the provider's identity
def _plain_form_of(name: str) -> Provider:
    return replace(get_provider(name), write_tool=_write_plain)


def _write_plain(name: str, description: str, schema: dict[str, Any], strict: bool) -> dict[str, Any]:
    return {"name": name, "description": description, "schema": schema, "strict": strict}


def rules_of(provider: Provider) -> Rules:
    """What a result of this provider may hold. Nothing can follow it: the framework writes the messages."""
    return replace(provider.talk().rules_for(""), in_user=NOTHING, structured=False)


def missing(door: str, package: str, extra: str, cause: ImportError) -> ImportError:
    """What is raised where a framework is not installed."""
    if cause.name is not None and cause.name.partition(".")[0] != package:
        return cause  # it is there, and something that it needs is not
    return ImportError(f"toolbridge.frameworks.{door} needs {extra}: {install(extra)}", name=package)
