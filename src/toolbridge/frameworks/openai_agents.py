"""The door to the OpenAI Agents SDK: a hub's tools as `FunctionTool`s, for `Agent(tools=…)`.

The SDK makes strict schemas strict once more when a tool is made. Ours come out of that as they went in; one that would
not is offered outside strict mode. Definitions go to the model as they are, with their `strict`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

from toolbridge.approval import Approval
from toolbridge.frameworks.bridge import (
    NOBODY_ASKED,
    Bridge,
    Offered,
    Outcome,
    Progress,
    Run,
    Source,
    missing,
    plain_form,
    rules_of,
)
from toolbridge.providers import Provider
from toolbridge.types import Content, Image, Text

try:
    from agents import FunctionTool, ToolOutputFileContent, ToolOutputImage, ToolOutputText
    from agents.exceptions import UserError
    from agents.strict_schema import ensure_strict_json_schema
    from agents.tool import FunctionToolCustomDataContext
    from agents.tool_context import ToolContext
except ImportError as cause:
    raise missing("openai_agents", "agents", "openai-agents", cause) from None

__all__ = ["agents_tools"]


def agents_tools(
    source: Source,
    provider: Provider | str = "openai-responses",
    *,
    run: Run | None = None,
    strict: bool | None = None,
    approval: Approval = NOBODY_ASKED,
    on_progress: Progress | None = None,
    **options: Any,
) -> list[FunctionTool]:
    """The tools of a hub, or a list of tools and what runs their calls, as the SDK's own.

    `provider` is the one that the agent's model is of: `openai-chat` for `OpenAIChatCompletionsModel`, another one for
    models of others. Where a server's operator or `approval` wants a person asked, the tool needs approval, and the run
    is interrupted. What a result holds beside what the model sees is the `custom_data` of its item. `options` are those
    of `prepare`.
    """
    bridge = Bridge(source, run, approval)
    form = plain_form(provider)
    return [
        _tool(each, bridge, on_progress)
        for each in bridge.surviving(_survives, (form, strict), (form, False), **options)
    ]


def _survives(offered: Offered) -> bool:
    """Whether the SDK leaves a schema as it is when it makes it strict."""
    try:
        return not offered.strict or ensure_strict_json_schema(deepcopy(offered.schema)) == offered.schema
    except UserError:
        return False


def _tool(offered: Offered, bridge: Bridge, on_progress: Progress | None) -> FunctionTool:
    ready = offered.ready
    rules = rules_of(ready.provider)
    facts: WeakKeyDictionary[ToolContext[Any], dict[str, Any]] = WeakKeyDictionary()
    """What is kept from the model, by the contexts of calls whose items are still to be made. Their ids would not do:
    some servers of models number the calls of each reply from nought, and runs go side by side."""

    async def invoke(context: ToolContext[Any], text: str) -> Any:
        found = bridge.understood(ready, offered.name, text, context.tool_call_id)
        outcome = found if isinstance(found, Outcome) else await bridge.called(found, rules, on_progress)
        if outcome.facts:
            facts[context] = outcome.facts
        return _output(outcome)

    def kept(context: FunctionToolCustomDataContext) -> dict[str, Any]:
        of_call = facts.pop(context.tool_context, {})
        return {"server": offered.tool.id.server, "tool": offered.tool.id.name} | of_call

    return FunctionTool(
        name=offered.name,
        description=offered.description,
        params_json_schema=offered.schema,
        on_invoke_tool=invoke,
        strict_json_schema=offered.strict,
        needs_approval=offered.why is not None,
        custom_data_extractor=kept,
    )


def _output(outcome: Outcome) -> Any:
    """One text as text; else the SDK's parts. The SDK has no flag for a failure, so the text says so."""
    if all(isinstance(block, Text) for block in outcome.blocks):
        return outcome.text
    return [_part(block) for block in outcome.blocks]


def _part(block: Content) -> Any:
    if isinstance(block, Text):
        return ToolOutputText(text=block.text)
    data = getattr(block, "blob", None) or getattr(block, "data", "")
    address = f"data:{block.mime_type};base64,{data}"
    if isinstance(block, Image):
        return ToolOutputImage(image_url=address)
    return ToolOutputFileContent(file_data=address, filename=getattr(block, "uri", "").rpartition("/")[2] or "file")
