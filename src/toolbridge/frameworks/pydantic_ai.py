"""The door to Pydantic AI: a hub as a toolset, for `Agent(toolsets=[…])`.

The model of a run decides the provider, and tools are listed anew for each step, so that a changed catalogue is seen.
Pydantic AI transforms schemas by the model's profile; where a definition says whether it is strict, that loses nothing
of ours.
"""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass, replace
from typing import Any, Self
from weakref import WeakKeyDictionary

from toolbridge.approval import Approval
from toolbridge.frameworks.bridge import (
    NOBODY_ASKED,
    Bridge,
    Offered,
    Outcome,
    Run,
    Source,
    missing,
    plain_form,
    rules_of,
)
from toolbridge.history.rules import IMAGES, PDF, Carries
from toolbridge.prepare import PreparedTools
from toolbridge.providers import Provider, providers
from toolbridge.types import Audio, Content, Image, Resource, Text

try:
    from pydantic_ai import BinaryContent, CustomEvent, ModelRetry, RunContext, ToolReturn
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as cause:
    raise missing("pydantic_ai", "pydantic_ai", "pydantic-ai", cause) from None

__all__ = ["HubToolset", "ToolProgress"]

RETRIES = 3
"""How often in a row a model may call a tool with arguments that the server would not take, before the run fails."""

SYSTEMS = {
    "openai": "openai-responses",
    "anthropic": "anthropic",
    "google": "gemini",
    "google-gla": "gemini",
    "google-vertex": "gemini",
    "google-cloud": "gemini",
    "bedrock": "bedrock",
    "mistral": "mistral",
    "moonshotai": "moonshot",
    "alibaba": "qwen",
}
"""What Pydantic AI calls the makers of models, where it is not our name for the provider."""

OTHERS = "openai-chat"
"""The provider of models that are not known: most of them speak Chat Completions."""

_CARRIED = Carries(
    images=IMAGES, audio=frozenset({"audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"}), documents=frozenset({PDF})
)
"""What may stand in a result: Pydantic AI puts it behind the result for models that do not take it there."""

_WORDS = (ModelRetry, ToolFailed, ApprovalRequired, CallDeferred)
"""What a tool of Pydantic AI raises to say something to it."""

_ANY_ARGUMENTS = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


@dataclass(kw_only=True, repr=False)
class ToolProgress(CustomEvent, name="toolbridge_progress"):
    """How far a call is, in the run's event stream."""

    progress: float
    total: float | None = None
    message: str | None = None


@dataclass(kw_only=True)
class _Shown(ToolsetTool[Any]):
    """A tool in the form that the model of this step was shown. The catalogue may change while the model writes."""

    offered: Offered


class HubToolset(AbstractToolset[Any]):
    """The tools of a hub, or a list of tools and what runs their calls.

    A hub that is not open is opened for as long as the agent needs it. `provider` is found by the run's model unless it
    is given. Where a server's operator or `approval` wants a person asked, the call is deferred with the reason. Wrong
    arguments are a retry, `retries` times in a row; what a server answers as an error is a failure of the tool, and
    costs no retry. `options` are those of `prepare`.
    """

    def __init__(
        self,
        source: Source,
        provider: Provider | str | None = None,
        *,
        run: Run | None = None,
        strict: bool | None = None,
        approval: Approval = NOBODY_ASKED,
        retries: int = RETRIES,
        id: str | None = None,
        **options: Any,
    ) -> None:
        self._bridge = Bridge(source, run, approval, lambda failure: isinstance(failure, _WORDS))
        self._provider = provider
        self._strict = strict
        self._retries = retries
        self._id = id
        self._options = options
        self._entered = 0
        self._opened = False
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        """One run at a time opens or closes the hub. A lock is of one event loop; a toolset may outlive several."""
        self._prepared: dict[str, tuple[int, PreparedTools]] = {}
        """For each provider the tools, and the generation of the catalogue that they are of."""

    @property
    def id(self) -> str | None:
        return self._id

    async def __aenter__(self) -> Self:
        hub = self._bridge.hub
        async with self._turn():
            if hub is not None and not self._entered and all(each.state == "closed" for each in hub.status.values()):
                await hub.open()  # which closes what it opened if it fails or is cancelled
                self._opened = True
            self._entered += 1
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._entered -= 1  # first: whoever is cancelled while waiting for a turn has left all the same
        async with self._turn():
            if self._opened and not self._entered and self._bridge.hub is not None:
                self._opened = False
                await self._bridge.hub.close()

    def _turn(self) -> asyncio.Lock:
        return self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        ready = self._ready(ctx)
        return {
            each.name: _Shown(
                toolset=self,
                tool_def=ToolDefinition(
                    name=each.name,
                    description=each.description,
                    parameters_json_schema=each.schema,
                    strict=each.strict,
                    metadata=each.facts,
                ),
                max_retries=self._retries,
                args_validator=_ANY_ARGUMENTS,
                offered=each,
            )
            for each in self._bridge.offered(ready)
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        ready = tool.offered.ready if isinstance(tool, _Shown) else self._ready(ctx)
        found = self._bridge.understood(ready, name, tool_args, ctx.tool_call_id or "")
        if isinstance(found, Outcome):
            raise ModelRetry(found.text)
        why = self._bridge.why_asked(found.tool)
        if why is not None and not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"why": why, "arguments": found.arguments})

        async def progress(done: float, total: float | None, message: str | None) -> None:
            await ctx.emit(ToolProgress(progress=done, total=total, message=message))

        rules = replace(rules_of(ready.provider), in_results=_CARRIED, error_flag=True)
        outcome = await self._bridge.called(found, rules, progress)
        if outcome.result.is_error:
            raise ToolFailed(outcome.text)
        shown = [_part(block) for block in outcome.blocks]
        return ToolReturn(shown[0] if len(shown) == 1 else shown, metadata=outcome.facts or None)

    def _ready(self, ctx: RunContext[Any]) -> PreparedTools:
        provider = self._provider or provider_of(ctx.model)
        name = provider if isinstance(provider, str) else provider.name
        generation = self._bridge.generation
        kept = self._prepared.get(name)
        if kept is None or kept[0] != generation:
            ready = self._bridge.prepared(plain_form(provider), self._strict, **self._options)
            kept = self._prepared[name] = (generation, ready)
        return kept[1]


def provider_of(model: Any) -> str:
    """The provider that a model of Pydantic AI is of. Of several, one after the other, the first."""
    system = str(getattr(model, "system", "")).removeprefix("fallback:").partition(",")[0]
    if system == "openai" and "Chat" in type(getattr(model, "wrapped", model)).__name__:
        return "openai-chat"
    return SYSTEMS.get(system) or (system if system in providers() else OTHERS)


def _part(block: Content) -> Any:
    match block:
        case Text():
            return block.text
        case Image() | Audio():
            return BinaryContent(base64.b64decode(block.data), media_type=block.mime_type)
        case Resource() if block.blob is not None:
            return BinaryContent(base64.b64decode(block.blob), media_type=block.mime_type or PDF)
        case _:
            raise AssertionError(f"no result is placed as {type(block).__name__}")
