"""For people who keep their own loop with a vendor's SDK: definitions out, and the answer to a response.

    tools = hub.tools_for("openai-chat")
    response = client.chat.completions.create(model=…, messages=messages, tools=tools)
    messages += await hub.answer(response)

`answer` runs every call of the response and gives what to append: the response's own message and the results, in the
form of the provider that it came from. A response without calls has nothing to append: that is the end of the loop.

The hub's methods of these names lead here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbridge.approval import Approval
from toolbridge.errors import HistoryError, UnsupportedError
from toolbridge.history.excerpts import cut_result
from toolbridge.prepare import PreparedTools, prepare
from toolbridge.providers import Provider, get_provider
from toolbridge.run.events import Decision
from toolbridge.run.execute import Running
from toolbridge.run.planning import Ask, Planned, ask_about, decided, plan
from toolbridge.run.policy import why_asked
from toolbridge.servers.hub import Hub
from toolbridge.stream.events import Reply
from toolbridge.stream.plain import plain
from toolbridge.types import Message, ToolResult

PARALLEL = 8
"""Calls of one response that run at the same time."""

_MARKS = (
    ("candidates", "gemini"),
    ("choices", "openai-chat"),
    ("stop_reason", "anthropic"),
    ("stopReason", "bedrock"),
    ("output", "openai-responses"),
)
"""What a response is told by: a key that only this wire format has, and the provider that it is named after."""

_HOST = Approval("never")
"""Whoever hands a response over wants its calls run. What the operator of a server says still counts."""

_NOBODY = Decision(False, "it needs the approval of a person, and there is nobody to ask")


def tools_for(hub: Hub, provider: Provider | str, strict: bool | None = None, **options: Any) -> list[dict[str, Any]]:
    """The hub's tools, as the SDK's own `tools` takes them. `options` are those of `prepare`."""
    ready = prepare(hub.tools, provider, strict, **options)
    hub.prepared.pop(ready.provider.name, None)
    hub.prepared[ready.provider.name] = ready  # the last one is the one in use
    fields = ready.fields
    if not fields:
        return []
    for holder in (fields, *fields.values()):
        if isinstance(holder, Mapping) and "tools" in holder:
            found: list[dict[str, Any]] = holder["tools"]
            return found
    raise UnsupportedError(f"{ready.provider.title} takes no list of tools; send prepare(hub.tools, …).fields")


async def answer(
    hub: Hub,
    response: Any,
    provider: Provider | str | None = None,
    *,
    approval: Approval = _HOST,
    ask: Ask | None = None,
    result_tokens: int | None = None,
) -> list[Any]:
    """Runs the calls of a response, side by side; what to append to the messages. Empty where there is no call.

    `response` is the SDK's object, the same as a dict, or a `Reply`. `provider` is told from it and from what
    `tools_for` was asked for, unless it is given. `ask` is asked where the operator of a server, or `approval`, wants
    it; without it, such calls are refused, and the model is told. `result_tokens` cuts long results.
    """
    ready = _prepared(hub, response, provider)
    reply = response if isinstance(response, Reply) else ready.provider.read_reply(response)
    if not reply.calls:
        return []
    batch = [
        plan(call, ready, lambda tool: why_asked(tool, hub.specs.get(tool.id.server), approval)) for call in reply.calls
    ]
    for i, planned in enumerate(batch):
        if planned.why is not None:
            word = None if ask is None else await ask_about(planned, ask)
            batch[i] = decided(planned, _NOBODY if word is None else word)

    def finish(_: Planned, result: ToolResult) -> ToolResult:
        return result if result_tokens is None else cut_result(result, result_tokens)

    running = Running(batch, hub, parallel=PARALLEL, finish=finish)
    async for _ in running.events():
        pass
    said = (Message.user("?"), reply.message, Message.results(*running.results()))
    written = ready.provider.write_messages(said, model=reply.message.model).value
    (messages,) = (each for each in written.values() if isinstance(each, list))
    return messages[1:]  # without the question that stands in for the caller's


def _prepared(hub: Hub, response: Any, provider: Provider | str | None) -> PreparedTools:
    """The tools that the response's model was given."""
    if provider is not None:
        wanted = get_provider(provider) if isinstance(provider, str) else provider
        return hub.prepared.get(wanted.name) or prepare(hub.tools, wanted)
    if isinstance(response, Reply):
        form = response.message.origin
    else:
        read = plain(response)
        keys: Mapping[str, Any] = read if isinstance(read, Mapping) else {}
        form = next((name for mark, name in _MARKS if mark in keys), "")
    if not form:
        raise HistoryError(f"this is no response of a model: {type(response).__name__}; name its provider")
    asked = next((each for each in reversed(hub.prepared.values()) if _same_form(each.provider, form)), None)
    return asked or prepare(hub.tools, form)


def _same_form(provider: Provider, form: str) -> bool:
    """Whether a provider speaks the wire format that is named after another: vendors that speak Chat Completions."""
    return provider.name == form or provider.talk().read_reply is get_provider(form).talk().read_reply
