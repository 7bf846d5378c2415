"""LiteLLM: `stream_chunk_builder`, the arguments read as its MCP client reads them."""

from litellm import stream_chunk_builder
from litellm.experimental_mcp_client.tools import transform_openai_tool_call_request_to_mcp_tool_call_request as request
from litellm.types.utils import ModelResponseStream
from openai.types.chat import ChatCompletionChunk

PACKAGES = ("litellm", "openai")
WAY = "`stream_chunk_builder`, the calls as `experimental_mcp_client` sends them"


def received(chunks):
    return [ModelResponseStream(**ChatCompletionChunk.construct(**each).model_dump()) for each in chunks]


def assemble(chunks):
    built = stream_chunk_builder(chunks, messages=[{"role": "user", "content": "x"}])
    calls = [request(each.model_dump()) for each in built.choices[0].message.tool_calls or ()]
    return [(each.name, each.arguments) for each in calls]
