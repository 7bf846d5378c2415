"""Chat Completions, and Mistral's and Ollama's variants of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.rules.shared import IMAGES, NAME, Problems, Wire, address, arguments, batch, is_base64, once
from tests.support.wire import vendor_types

_ECHOED = ("reasoning_content", "reasoning", "reasoning_details")
"""What compatible servers put beside a message of the assistant, and want back."""


def _plain(message: Wire, echoed: tuple[str, ...]) -> dict[str, Any]:
    """The message as OpenAI's types have it, without what is only an echo (`extra_content`: Gemini's signatures)."""
    known = {key: value for key, value in message.items() if key not in echoed or message.get("role") != "assistant"}
    calls = known.get("tool_calls")
    if isinstance(calls, list):
        known["tool_calls"] = [{key: each[key] for key in each if key != "extra_content"} for each in calls]
    return known


def chat(fields: Wire, *, counts: bool = True, echoed: tuple[str, ...] = _ECHOED) -> Problems:
    """`counts`: whether it has OpenAI's limits of lengths and numbers."""
    messages = fields.get("messages")
    if set(fields) != {"messages"} or not isinstance(messages, list) or not messages:
        yield f"expected messages, and nothing else: {sorted(fields)}"
        return
    for number, message in enumerate(messages):
        for told in vendor_types.chat_message(_plain(message, echoed)):
            yield f"messages[{number}]: {told}"
            return
        yield from (f"messages[{number}]: {each}" for each in _chat_content(message))
    yield from _chat_order(messages)
    ids = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    yield from once(ids)
    if "" in ids:
        yield "an empty id"
    if counts:
        yield from _counted(messages, ids)


def _counted(messages: Sequence[Wire], ids: Sequence[str]) -> Problems:
    # "string too long. Expected a string with maximum length 40": microsoft/autogen#6377, opencode#12653
    yield from (f"an id of {len(id)} characters" for id in ids if len(id) > 40)
    for number, message in enumerate(messages):
        if len(message.get("tool_calls") or ()) > 128:  # "array too long … maximum length 128": openai-dotnet#317
            yield f"messages[{number}]: {len(message['tool_calls'])} calls"


def _chat_content(message: Wire) -> Problems:
    content, calls = message.get("content"), message.get("tool_calls")
    if calls is not None:
        if not calls:
            yield "0 calls"
        for call in calls:
            if not NAME.fullmatch(call["function"]["name"]):
                yield f"no name of a function: {call['function']['name']!r}"
            yield from arguments(call["function"]["arguments"])
    elif content is None:
        yield "neither content nor calls"
    if content is None:
        return
    if isinstance(content, str):
        if not content and calls is None:
            yield "empty content"
        return
    if not content:
        yield "content is an empty list"
    for part in content:
        match part["type"]:
            case "text":
                if not part["text"]:
                    yield "an empty text"
            case "image_url":
                yield from address(part["image_url"]["url"], IMAGES)
            case "input_audio":
                if not is_base64(part["input_audio"]["data"]):
                    yield "audio without base64"
            case "file":
                if "file_data" in part["file"]:
                    yield from address(part["file"]["file_data"], None)
            case _:
                pass


def _chat_order(messages: Sequence[Wire]) -> Problems:
    """The results of a message's calls follow it at once, before any other role: hermes-agent#88914."""
    waiting: list[str] = []
    answered: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            answered.append(message["tool_call_id"])
            continue
        yield from batch(waiting, answered, f"before messages[{number}]")
        waiting, answered = [call["id"] for call in message.get("tool_calls") or ()], []
    yield from batch(waiting, answered, "at the end")


def ollama(fields: Wire) -> Problems:
    yield from chat(fields, counts=False)
    for number, message in enumerate(fields.get("messages") or ()):
        # array content loses the call's id: ollama openai/openai.go
        if message.get("role") == "tool" and not isinstance(message.get("content"), str):
            yield f"messages[{number}]: content of a result is not a string"


def uncounted(fields: Wire) -> Problems:
    """Servers that are not known to have OpenAI's limits."""
    yield from chat(fields, counts=False)


def dial(fields: Wire) -> Problems:
    """Its SDK takes keys that it does not know, and applications get back what they put beside a message."""
    yield from chat(fields, echoed=(*_ECHOED, "custom_content"))


def mistral(fields: Wire) -> Problems:
    messages = fields.get("messages")
    if set(fields) != {"messages"} or not isinstance(messages, list) or not messages:
        yield f"expected messages, and nothing else: {sorted(fields)}"
        return
    for told in vendor_types.mistral_request(fields):
        yield told
        return
    for number, message in enumerate(messages):
        content, calls = message.get("content"), message.get("tool_calls") or ()
        if not content and not calls:
            yield f"messages[{number}]: empty"
        for part in content if isinstance(content, list) else ():
            if part["type"] == "text" and not part["text"]:
                yield f"messages[{number}]: an empty text"
            elif part["type"] == "image_url":
                url = part["image_url"]
                yield from address(url["url"] if isinstance(url, dict) else url, IMAGES)
        for call in calls:
            if not isinstance(call["function"]["arguments"], dict):
                yield from arguments(call["function"]["arguments"])
    yield from _chat_order(messages)
    yield from once([call["id"] for message in messages for call in message.get("tool_calls") or ()])
