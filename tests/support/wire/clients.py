"""The vendors' own SDKs as clients of the wire server: what they send for request fields, and what they make of the
answer. Every function opens a client and closes it again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

Fields: TypeAlias = Mapping[str, Any]

HELLO: Mapping[str, Fields] = {
    "openai-chat": {"messages": [{"role": "user", "content": "Hello"}]},
    "openai-responses": {"input": [{"role": "user", "content": "Hello"}]},
    "anthropic": {"messages": [{"role": "user", "content": "Hello"}]},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]},
    "mistral": {"messages": [{"role": "user", "content": "Hello"}]},
    "bedrock": {"messages": [{"role": "user", "content": [{"text": "Hello"}]}]},
}


@dataclass(frozen=True, slots=True)
class Client:
    """How an SDK is asked, as (address of the server, fields of the request) to what it hands out."""

    whole: Callable[[str, Fields], Any]
    stream: Callable[[str, Fields], Iterator[Any]]


@contextmanager
def _openai(url: str) -> Generator[Any]:
    import openai

    with openai.OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0, timeout=10) as client:
        yield client


def _chat(url: str, fields: Fields) -> Any:
    with _openai(url) as client:
        return client.chat.completions.create(model="gpt-5-mini", **fields)


def _chat_stream(url: str, fields: Fields) -> Iterator[Any]:
    with _openai(url) as client, client.chat.completions.create(model="gpt-5-mini", stream=True, **fields) as stream:
        yield from stream


def _responses(url: str, fields: Fields) -> Any:
    with _openai(url) as client:
        return client.responses.create(model="gpt-5-mini", **fields)


def _responses_stream(url: str, fields: Fields) -> Iterator[Any]:
    with _openai(url) as client, client.responses.create(model="gpt-5-mini", stream=True, **fields) as stream:
        yield from stream


@contextmanager
def _anthropic(url: str) -> Generator[Any]:
    import anthropic

    with anthropic.Anthropic(api_key="none", base_url=url, max_retries=0, timeout=10) as client:
        yield client


def _messages(url: str, fields: Fields) -> Any:
    with _anthropic(url) as client:
        return client.messages.create(model="claude-sonnet-5", max_tokens=500, **fields)


def _messages_stream(url: str, fields: Fields) -> Iterator[Any]:
    with (
        _anthropic(url) as client,
        client.messages.create(model="claude-sonnet-5", max_tokens=500, stream=True, **fields) as stream,
    ):
        yield from stream


@contextmanager
def _genai(url: str) -> Generator[Any]:
    from google import genai

    options = genai.types.HttpOptions(base_url=url, timeout=10_000)
    with genai.Client(api_key="none", http_options=options) as client:
        yield client


def _asked_of_gemini(fields: Fields) -> dict[str, Any]:
    """google-genai takes the instruction beside the contents, in its configuration."""
    config = {"system_instruction": fields["systemInstruction"]} if "systemInstruction" in fields else None
    return {"model": "gemini-3-flash", "contents": fields["contents"], "config": config}


def _generate(url: str, fields: Fields) -> Any:
    with _genai(url) as client:
        return client.models.generate_content(**_asked_of_gemini(fields))


def _generate_stream(url: str, fields: Fields) -> Iterator[Any]:
    with _genai(url) as client:
        yield from client.models.generate_content_stream(**_asked_of_gemini(fields))


@contextmanager
def _mistral(url: str) -> Generator[Any]:
    from mistralai.client import Mistral

    with Mistral(api_key="none", server_url=f"{url}/mistral", timeout_ms=10_000) as client:
        yield client


def _complete(url: str, fields: Fields) -> Any:
    with _mistral(url) as client:
        return client.chat.complete(model="mistral-medium-latest", **fields)


def _complete_stream(url: str, fields: Fields) -> Iterator[Any]:
    with _mistral(url) as client, client.chat.stream(model="mistral-medium-latest", **fields) as stream:
        for event in stream:
            yield event.data


@contextmanager
def _bedrock(url: str) -> Generator[Any]:
    from botocore.config import Config
    from botocore.session import get_session

    client = get_session().create_client(
        "bedrock-runtime",
        region_name="eu-central-1",
        endpoint_url=url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=10, connect_timeout=10),
    )
    try:
        yield client
    finally:
        client.close()


def _converse(url: str, fields: Fields) -> Any:
    with _bedrock(url) as client:
        return client.converse(modelId="model", **fields)


def _converse_stream(url: str, fields: Fields) -> Iterator[Any]:
    with _bedrock(url) as client, closing(client.converse_stream(modelId="model", **fields)["stream"]) as stream:
        yield from stream


CLIENTS: Mapping[str, Client] = {
    "openai-chat": Client(_chat, _chat_stream),
    "openai-responses": Client(_responses, _responses_stream),
    "anthropic": Client(_messages, _messages_stream),
    "gemini": Client(_generate, _generate_stream),
    "mistral": Client(_complete, _complete_stream),
    "bedrock": Client(_converse, _converse_stream),
}
"""By the name of the provider whose format they speak."""
