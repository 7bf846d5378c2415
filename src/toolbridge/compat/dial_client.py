"""The DIAL agent's model: it is asked with tools in OpenAI's form, and its calls go to the MCP clients that have them.

Thin over the core, whose way is `toolbridge.chat(question, servers, model)` or a `Chat`. DIAL has Azure's addresses,
so the SDK's Azure client asks it.

Decisions where the agent's records are silent:

- Calls of one reply run side by side, each on its own; their results stand in the order of the calls.
- A call with broken arguments, of a tool that is not there, or that fails, is answered with text that starts with
  `Error:`. A call that was interrupted is answered too, so that the conversation stays one that DIAL accepts.
- After `max_turns` questions it ends: in the last one the model may not call.
- What is sent is always legal, whatever stands in the messages: the core writes it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from types import TracebackType
from typing import Any, Self

from toolbridge.compat.answers import read_answer, read_failure
from toolbridge.compat.dial_messages import Message, Role, as_message
from toolbridge.compat.sdks import openai_sdk
from toolbridge.errors import ModelError, nearest
from toolbridge.history.said import result_text
from toolbridge.providers import get_provider
from toolbridge.reply import ReplyReader
from toolbridge.servers.callbacks import outcome
from toolbridge.stream.events import Reply, TextDelta
from toolbridge.types import ToolCall

logger = logging.getLogger(__name__)

PROVIDER = get_provider("dial")

PARALLEL = 8
"""Calls of one reply that run at once: servers are not to be overrun."""

DONE = "data: [DONE]\n\n"
"""The line that ends a stream."""

INTERRUPTED = "Error: The call was interrupted. Whether it took effect is not known."


class DialClient:
    """A deployment of DIAL with tools. The core way: `toolbridge.chat(question, servers, model)`.

    `tools` are definitions as `get_tools()` gives them, `tool_name_client_map` says which MCP client has which:
    anything with `call_tool(name, arguments)`. `client` is an `AsyncOpenAI` of your own. `deployment_name` is another
    word for `model`.
    """

    def __init__(
        self,
        api_key: str = "",
        endpoint: str = "",
        model: str = "",
        tools: list[dict[str, Any]] | None = None,
        tool_name_client_map: Mapping[str, Any] | None = None,
        *,
        deployment_name: str = "",
        api_version: str = "",
        client: Any = None,
        max_turns: int = 25,
    ) -> None:
        self.model = model or deployment_name
        if not self.model:
            raise ValueError("no model is named; give DialClient(model=…), the name of a deployment")
        if max_turns < 1:
            raise ValueError(f"max_turns is {max_turns}; it must be at least 1")
        self.tools = [] if tools is None else tools
        self.tool_name_client_map: Mapping[str, Any] = {} if tool_name_client_map is None else tool_name_client_map
        self.max_turns = max_turns
        if client is None:
            if not (api_key and endpoint):
                raise ValueError("api_key and endpoint are needed to reach DIAL; give both, or a client of your own")
            client = openai_sdk().AsyncAzureOpenAI(api_key=api_key, azure_endpoint=endpoint, api_version=api_version)
        self.async_openai: Any = client

    async def close(self) -> None:
        """Let go of connections."""
        await self.async_openai.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def response(self, messages: list[Any]) -> Message:
        """The model's answer, after as many calls as it makes. Calls and results are added to `messages`, in turn; the
        answer is not."""
        for turn in range(1, self.max_turns + 1):
            request = self._request(messages, last=turn == self.max_turns)
            reply = self._whole(PROVIDER.read_reply(await self.async_openai.chat.completions.create(**request)))
            if not reply.calls:
                return Message(Role.ASSISTANT, reply.text)
            if turn < self.max_turns:
                await self._call_tools(reply, messages)
        return self._stopped()

    async def stream_response(self, messages: list[Any]) -> AsyncGenerator[str]:
        """The same as server-sent events, in the shape of OpenAI's chunks. The answer, too, is added to `messages`; so
        is what there is of one that breaks off, or that nobody listens to any more."""
        for turn in range(1, self.max_turns + 1):
            request = self._request(messages, last=turn == self.max_turns)
            reader, said = ReplyReader(PROVIDER), ""
            try:
                async with await self.async_openai.chat.completions.create(stream=True, **request) as stream:
                    async for chunk in stream:
                        for event in reader.feed(chunk):
                            if isinstance(event, TextDelta) and event.text:
                                said += event.text
                                yield _content(event.text)
                reply = self._whole(reader.reply())
            except BaseException:
                if said:
                    messages.append(Message(Role.ASSISTANT, said))
                raise
            if not reply.calls:
                messages.append(Message(Role.ASSISTANT, reply.text))
                break
            if turn < self.max_turns:
                await self._call_tools(reply, messages)
        else:
            messages.append(self._stopped())
            yield _content(messages[-1].content)
        yield _chunk({}, "stop")
        yield DONE

    get_completion = response
    stream_completion = stream_response

    def _request(self, messages: list[Any], *, last: bool) -> dict[str, Any]:
        history = PROVIDER.read_messages([as_message(each).to_dict() for each in messages]).value
        fields = {"model": self.model, **PROVIDER.write_messages(history, model=self.model).value}
        if self.tools:  # an empty list is refused
            fields["tools"] = self.tools
            if last:
                fields["tool_choice"] = "none"
        return fields

    def _whole(self, reply: Reply) -> Reply:
        if reply.error is not None:
            raise ModelError("overloaded", f"{self.model} broke off: {reply.error}", said=reply.error)
        return reply

    def _stopped(self) -> Message:
        logger.warning("%s still calls tools after %d turns; set max_turns", self.model, self.max_turns)
        return Message(Role.ASSISTANT, f"Stopped after {self.max_turns} turns: the model was still calling tools.")

    async def _call_tools(self, reply: Reply, messages: list[Any]) -> None:
        """Run the calls, and add them and their results to the messages, whatever becomes of them."""
        room = asyncio.Semaphore(PARALLEL)
        said = _calling(reply)
        tasks = [asyncio.create_task(self._answer(call, room)) for call in reply.calls]
        try:
            await asyncio.wait(tasks)
        finally:
            messages.append(said)
            for entry, task in zip(said.tool_calls or (), tasks, strict=True):
                text = task.result() if task.done() and not task.cancelled() else INTERRUPTED
                messages.append(Message(Role.TOOL, text, entry["id"], entry["function"]["name"]))
                task.cancel()
            await asyncio.wait(tasks)  # does not cancel them again, where web servers cancel every `await`

    async def _answer(self, call: ToolCall, room: asyncio.Semaphore) -> str:
        if call.arguments is None:
            why = call.problem or "the arguments are not a JSON object"
            return f"Error: The call of {call.name} was not run: {why}. Send one JSON object."
        client = self.tool_name_client_map.get(call.name)
        if client is None:
            meant = nearest(call.name, self.tool_name_client_map)
            return f"Error: Tool '{call.name}' not found." + (f" Did you mean '{meant}'?" if meant else "")
        try:
            async with room:
                result = read_answer(call.id, await outcome(client.call_tool(call.name, dict(call.arguments))))
        except Exception as error:
            logger.warning("The call of %s failed: %s", call.name, error)
            result = read_failure(call.id, call.name, error)
        text = result_text(result)
        return f"Error: {text}" if result.is_error else text


def _calling(reply: Reply) -> Message:
    """The message with the calls of a reply, whose ids the core has made each its own."""
    entries: list[dict[str, Any]] = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text or "{}"}}
        for call in reply.calls
    ]
    return Message(Role.ASSISTANT, reply.text or None, tool_calls=entries)


def _content(text: str) -> str:
    return _chunk({"content": text}, None)


def _chunk(delta: dict[str, Any], finish: str | None) -> str:
    return f"data: {json.dumps({'choices': [{'delta': delta, 'index': 0, 'finish_reason': finish}]})}\n\n"
