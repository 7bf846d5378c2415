"""What the tests of models share: a question, and the reply that the pieces of a stream come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolbridge import Message, ModelError, Reply, ReplyReader, get_provider, prepare, read_tools
from toolbridge.model.model import Model

KEY = "sk-test-0123456789abcdef"
HELLO: Mapping[str, Any] = {"messages": [{"role": "user", "content": "Hello"}]}
TOOLS = read_tools(
    [
        {
            "name": "get_weather",
            "description": "The weather of a city.",
            "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
        {"name": "list_rooms", "inputSchema": {"type": "object"}},
    ]
)


def question(provider: str) -> dict[str, Any]:
    """The fields of a request with system text, a question and two tools."""
    whose = get_provider(provider)
    said = whose.write_messages([Message.system("Be brief."), Message.user("How is the weather?")])
    return {**said.value, **prepare(TOOLS, whose).fields}


async def ask(model: Model, fields: Mapping[str, Any] | None = None) -> Reply:
    reader = ReplyReader(model.provider)
    async for piece in model.stream(HELLO if fields is None else fields):
        reader.feed(piece)
    return reader.reply()


async def refused(model: Model, fields: Mapping[str, Any] | None = None) -> ModelError:
    """The error that asking comes to; never with the key in it, and in one line."""
    with pytest.raises(ModelError) as caught:
        await ask(model, fields)
    error = caught.value
    for text in (str(error), error.said, repr(error)):
        assert KEY not in text
    assert "\n" not in str(error)
    return error
