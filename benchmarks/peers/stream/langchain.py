"""LangChain: chunks of `ChatOpenAI`, merged as a model that streams into an agent merges them."""

from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI
from openai.types.chat import ChatCompletionChunk

PACKAGES = ("langchain-core", "langchain-openai", "openai")
WAY = "`ChatOpenAI`'s own chunks, `generate_from_stream`, `message.tool_calls`"
MODEL = ChatOpenAI(model="gpt-5", api_key="none")


def received(chunks):
    return [ChatCompletionChunk.construct(**each) for each in chunks]


def assemble(chunks):
    made = (MODEL._convert_chunk_to_generation_chunk(each.model_dump(), AIMessageChunk, {}) for each in chunks)
    message = generate_from_stream(each for each in made if each is not None).generations[0].message
    return [(call["name"], call["args"]) for call in message.tool_calls]
