"""The door to LangChain: a hub's tools as `BaseTool`s, for `bind_tools`, `create_agent`, LangGraph and chains.

LangChain writes the request by itself: it inlines references and cuts the ones that lead to themselves, trips over
anything that is called `$ref`, and passes arguments as keywords, where some names are its own. So the schema is written
without any of that, and the arguments are taken whole.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any, Literal

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
from toolbridge.providers import Provider, get_provider
from toolbridge.run.events import Decision
from toolbridge.run.planning import Ask, Planned, ask_about, decided, plan, told_of_edit
from toolbridge.schema.dialects import GEMINI_OPENAPI, MOONSHOT, OLLAMA, Dialect
from toolbridge.schema.rules import keep, keep_if
from toolbridge.stream.arguments import read_call
from toolbridge.types import Content, Image, Text

try:
    from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
    from langchain_core.callbacks.manager import adispatch_custom_event
    from langchain_core.runnables import RunnableConfig
    from langchain_core.runnables.config import patch_config
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import PrivateAttr
except ImportError as cause:
    raise missing("langchain", "langchain_core", "langchain", cause) from None

__all__ = ["BridgedTool", "langchain_tools"]

PROGRESS = "tool_progress"
"""The name of the custom event that tells of a call's progress; its data has `tool`, `progress`, `total`, `message`."""

_NOBODY = Decision(False, "it needs the approval of a person, and there is nobody to ask")


def langchain_tools(
    source: Source,
    provider: Provider | str = "openai-chat",
    *,
    run: Run | None = None,
    strict: bool = False,
    approval: Approval = NOBODY_ASKED,
    ask: Ask | Literal["interrupt"] | None = None,
    **options: Any,
) -> list[BaseTool]:
    """The tools of a hub, or a list of tools and what runs their calls, as LangChain's own.

    `provider` is the one that the chat model is of. `strict=True` is for `bind_tools(tools, strict=True)`: the schemas
    are then in strict form. Where a server's operator or `approval` wants a person asked, `ask` is asked, as in
    `hub.answer`; `"interrupt"` stops a LangGraph run with the request that its human-in-the-loop middleware makes;
    without it such calls are refused, and the model is told. `options` are those of `prepare`.
    """
    bridge = Bridge(source, run, approval, _passes)
    loose, tight = _forms(provider) if isinstance(provider, str) else _forms_of(provider)
    offered = bridge.surviving(_survives, (loose, strict), (tight, strict), **options)
    return [BridgedTool.of(each, bridge, ask) for each in offered]


def _passes(failure: Exception) -> bool:
    graph: Any = sys.modules.get(
        "langgraph.errors"
    )  # who raises something of LangGraph has loaded it: it takes a second
    return isinstance(failure, ToolException) or (graph is not None and isinstance(failure, graph.GraphBubbleUp))


class BridgedTool(BaseTool):
    """A tool of an MCP server. What the model sees of a result is the content; the rest is the artifact."""

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    _call: Callable[..., Any] = PrivateAttr()

    @classmethod
    def of(cls, offered: Offered, bridge: Bridge, ask: Ask | Literal["interrupt"] | None) -> BridgedTool:
        tool = cls(
            name=offered.name,
            description=offered.description,
            args_schema=offered.schema,
            metadata=offered.facts,
        )
        ready = offered.ready
        rules = rules_of(ready.provider)

        async def call(given: Any, call_id: str, on_progress: Any) -> Outcome:
            planned = plan(read_call(call_id, offered.name, given), ready, bridge.why_asked)
            if planned.why is not None:
                planned = await _settled(planned, ask)
            if planned.result is not None:
                return Outcome(planned.result.content, planned.result)
            assert planned.bound is not None
            outcome = await bridge.called(planned.bound, rules, on_progress)
            told = told_of_edit(planned, replace(outcome.result, content=outcome.blocks))
            return replace(outcome, blocks=told.content)

        tool._call = call
        return tool

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # Whole and by position: as keywords, arguments named `config` or `run_manager` would be LangChain's.
        return (tool_input, tool_call_id or ""), {}

    def _run(
        self,
        given: Any,
        call_id: str,
        /,
        *,
        config: RunnableConfig,
        run_manager: CallbackManagerForToolRun | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass  # and not run in here, or every failure would be told as one that followed from this one
        else:
            raise RuntimeError(f"{self.name} was invoked where an event loop runs, which it would block: use ainvoke")
        return asyncio.run(self._arun(given, call_id, config=config, run_manager=run_manager))

    async def _arun(
        self,
        given: Any,
        call_id: str,
        /,
        *,
        config: RunnableConfig,
        run_manager: AsyncCallbackManagerForToolRun | CallbackManagerForToolRun | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        inner = patch_config(config, callbacks=run_manager.get_child()) if run_manager is not None else config

        async def progress(done: float, total: float | None, message: str | None) -> None:
            data = {"tool": self.name, "progress": done, "total": total, "message": message}
            await adispatch_custom_event(PROGRESS, data, config=inner)

        outcome: Outcome = await self._call(given, call_id, progress if run_manager is not None else None)
        if outcome.result.is_error:
            raise ToolException(outcome.text)
        return _content(outcome.blocks), outcome.facts


def _content(blocks: tuple[Content, ...]) -> str | list[dict[str, Any]]:
    """One text as text, which every chat model takes; else standard content blocks."""
    if all(isinstance(block, Text) for block in blocks):
        return "\n".join(block.text for block in blocks if isinstance(block, Text))
    return [_block(block) for block in blocks]


def _block(block: Content) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Image):
        return {"type": "image", "base64": block.data, "mime_type": block.mime_type}
    data = getattr(block, "blob", None) or getattr(block, "data", "")
    return {"type": "file", "base64": data, "mime_type": block.mime_type or "application/octet-stream"}


# ── approval ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def _settled(planned: Planned, ask: Ask | Literal["interrupt"] | None) -> Planned:
    if ask is None:
        return decided(planned, _NOBODY)
    word = _by_interrupt(planned) if ask == "interrupt" else await ask_about(planned, ask)
    return decided(planned, _NOBODY if word is None else word)


def _by_interrupt(planned: Planned) -> Decision:
    """The word of whoever resumes the graph: the shapes are those of LangChain's human-in-the-loop middleware."""
    from langgraph.types import interrupt  # who interrupts a graph has it

    asked = planned.asked
    request = {
        "action_requests": [{"name": planned.call.name, "args": asked.arguments, "description": asked.why}],
        "review_configs": [
            {"action_name": planned.call.name, "allowed_decisions": ["approve", "edit", "reject"]},
        ],
    }
    said = interrupt(request)
    decision = said["decisions"][0]
    match decision["type"]:
        case "approve":
            return Decision(True)
        case "edit":
            return Decision(True, arguments=decision["edited_action"]["args"])
        case _:
            return Decision(False, decision.get("message") or "")


# ── the form that survives ───────────────────────────────────────────────────────────────────────────────────────

_KEY = re.compile(r"(?!\$ref$).*", re.DOTALL)
"""Every key but the one that LangChain takes for a reference wherever it stands."""

_REQUIRED_UNLESS = "default"
"""Without it, LangChain's package for Gemini takes a property below the top for required; it is not sent."""


def _survives(offered: Offered) -> bool:
    return _holds_no_reference(offered.schema)


def _holds_no_reference(value: Any) -> bool:
    """Whether nothing in a value is called `$ref`: LangChain would look for what it names, and cut it if it recurs."""
    if isinstance(value, dict):
        return "$ref" not in value and all(map(_holds_no_reference, value.values()))
    return not isinstance(value, list) or all(map(_holds_no_reference, value))


_RULES = {**MOONSHOT.rules, **dict.fromkeys(("default", "examples"), keep_if(_holds_no_reference))}


@cache  # compiled tools are kept by the provider's identity
def _forms(provider: str) -> tuple[Provider, Provider]:
    return _forms_of(get_provider(provider))


def _forms_of(provider: Provider) -> tuple[Provider, Provider]:
    """The provider with references inlined; and, for what recurs or is called `$ref`, without any of it."""
    if provider.name.startswith("gemini"):
        provider = replace(get_provider("gemini-openapi"), dialect=_GEMINI, write_tool=_write_for_gemini)
    else:
        provider = plain_form(provider)
    strict = provider.strict
    inlined = None if strict is None else replace(strict, refs="inline")
    loose = replace(provider, dialect=replace(provider.dialect, refs="inline"), strict=inlined)
    without = None if inlined is None else _without_references(inlined)
    return loose, replace(loose, dialect=_without_references(loose.dialect), strict=without)


def _without_references(dialect: Dialect) -> Dialect:
    renaming = replace(dialect, keys=dialect.keys or _KEY, keys_below_root=True, maps="pairs")
    return replace(renaming, verbatim=False, rules=_RULES, enums="scalars") if dialect.verbatim else renaming


_GEMINI = replace(GEMINI_OPENAPI, name="langchain-gemini", rules={**OLLAMA.rules, "additionalProperties": keep})
"""LangChain's package for Gemini reads JSON Schema as Gemini's older schemas, and drops what only constrains: said."""


def _write_for_gemini(name: str, description: str, schema: dict[str, Any], strict: bool) -> dict[str, Any]:
    schema = deepcopy(schema)  # which may share parts with the server's own
    for property in schema.get("properties", {}).values():
        _mark_optionals(property)
    return {"name": name, "description": description, "schema": schema, "strict": strict}


def _mark_optionals(schema: Any) -> None:
    """See to it that optionals below the top stay optional."""
    for key, each in schema.get("properties", {}).items():
        if key not in schema.get("required", ()):
            each.setdefault(_REQUIRED_UNLESS, None)
        _mark_optionals(each)
    for each in (schema.get("items"), *schema.get("anyOf", ())):
        if each:
            _mark_optionals(each)
