"""Pydantic AI: the streamed response of its OpenAI model, the parts as an agent takes them."""

import asyncio
from unittest.mock import MagicMock

from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel

PACKAGES = ("pydantic-ai-slim", "openai")
WAY = "`OpenAIChatModel`'s streamed response, `ToolCallPart.args_as_dict()`"
MODEL = OpenAIChatModel("gpt-5.1")


class Stream(AsyncStream):
    """The SDK's stream, of chunks that are there already."""

    def __init__(self, chunks):
        self.response = MagicMock()
        self._left = iter(chunks)

    def __aiter__(self):
        return self

    async def __anext__(self):
        for each in self._left:
            return each
        raise StopAsyncIteration

    async def close(self):
        pass


def received(chunks):
    return [ChatCompletionChunk.construct(**each) for each in chunks]


async def streamed(chunks):
    response = await MODEL._process_streamed_response(Stream(chunks), ModelRequestParameters(), {})
    async for _ in response:
        pass
    return [each for each in response.get().parts if isinstance(each, ToolCallPart)]


def arguments(part):
    try:
        return part.args_as_dict(raise_if_invalid=True)
    except TypeError:
        return part.args_as_dict()


def assemble(chunks):
    return [(each.tool_name, arguments(each)) for each in asyncio.run(streamed(chunks))]
