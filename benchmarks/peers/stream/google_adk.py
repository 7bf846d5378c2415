"""Google ADK: its LiteLlm model, which is how it reaches OpenAI and what resembles it."""

import asyncio

from google.adk.models.lite_llm import LiteLlm, LiteLLMClient
from google.adk.models.llm_request import LlmRequest
from google.genai import types
from litellm.types.utils import ModelResponseStream
from openai.types.chat import ChatCompletionChunk

PACKAGES = ("google-adk", "litellm", "openai")
WAY = "`LiteLlm.generate_content_async(stream=True)`, the calls of the whole response"
REQUEST = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text="hi")])])


class Client(LiteLLMClient):
    """A client whose answer is there already."""

    async def acompletion(self, model, messages, tools, **kwargs):
        return each_of(self.__dict__["chunks"])


async def each_of(chunks):
    for each in chunks:
        yield each


def received(chunks):
    return [ModelResponseStream(**ChatCompletionChunk.construct(**each).model_dump()) for each in chunks]


async def streamed(chunks):
    client = Client()
    client.__dict__["chunks"] = chunks
    calls = []
    async for response in LiteLlm(model="openai/gpt-5", llm_client=client).generate_content_async(REQUEST, stream=True):
        if response.error_code:
            raise RuntimeError(response.error_code)
        if not response.partial:
            calls += [each.function_call for each in (response.content and response.content.parts) or ()]
    return [each for each in calls if each]


def assemble(chunks):
    return [(each.name, each.args) for each in asyncio.run(streamed(chunks))]
