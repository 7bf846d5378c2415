"""The OpenAI SDK's own helper: what `client.chat.completions.stream()` runs."""

import json

from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

PACKAGES = ("openai",)
WAY = "`ChatCompletionStreamState`, which is `client.chat.completions.stream()`; then `json.loads`"


def received(chunks):
    return [ChatCompletionChunk.construct(**each) for each in chunks]


def assemble(chunks):
    state = ChatCompletionStreamState()
    for each in chunks:
        for _ in state.handle_chunk(each):
            pass
    message = state.get_final_completion().choices[0].message
    return [(call.function.name, json.loads(call.function.arguments or "{}")) for call in message.tool_calls or ()]
