"""OpenAI Agents: the stream handler of its Chat Completions model, the arguments read as its tools read them."""

import asyncio
import json

from agents.models.chatcmpl_stream_handler import ChatCmplStreamHandler
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import Response

PACKAGES = ("openai-agents", "openai")
WAY = "`ChatCmplStreamHandler.handle_stream`; then `json.loads`"


def received(chunks):
    return [ChatCompletionChunk.construct(**each) for each in chunks]


async def each_of(chunks):
    for each in chunks:
        yield each


async def streamed(chunks):
    response = Response.construct(
        id="r", created_at=1, model="m", object="response", output=[], tool_choice="auto", tools=[], top_p=None,
        temperature=None, parallel_tool_calls=True,
    )  # fmt: skip
    last = None
    async for event in ChatCmplStreamHandler.handle_stream(response, each_of(chunks)):
        if event.type == "response.completed":
            last = event.response
    return [] if last is None else [each for each in last.output if each.type == "function_call"]


def assemble(chunks):
    calls = asyncio.run(streamed(chunks))
    return [(each.name, json.loads(each.arguments) if each.arguments else {}) for each in calls]
