"""Anthropic's Messages and Bedrock's Converse."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.support.rules.shared import Problems, Wire, batch, blank, is_base64, once, takes_turns
from tests.support.wire import vendor_types


def _blocks(message: Wire) -> list[Wire]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def anthropic(fields: Wire) -> Problems:
    messages = fields.get("messages")
    if not {"messages"} <= set(fields) <= {"messages", "system"} or not isinstance(messages, list):
        yield f"expected messages and system: {sorted(fields)}"
        return
    if "system" in fields:
        system = fields["system"]
        yield from vendor_types.anthropic_system(system)
        texts = [system] if isinstance(system, str) else [block.get("text") for block in system]
        if not texts or any(blank(text) for text in texts):
            yield "an empty system text"
    for number, message in enumerate(messages):
        for told in vendor_types.anthropic_message(message):
            yield f"messages[{number}]: {told}"
            return
        yield from (f"messages[{number}]: {each}" for each in _anthropic_content(message))
    yield from takes_turns([message["role"] for message in messages], "assistant")
    yield from _anthropic_order(messages)
    if messages and messages[-1]["role"] == "assistant":
        yield from _trailing(_blocks(messages[-1])[-1:])


def _trailing(last: Sequence[Wire]) -> Problems:
    """ "final assistant content cannot end with trailing whitespace": forgecode#1872; Bedrock: langchain-aws#599."""
    text = last[0].get("text") if last else None
    if isinstance(text, str) and text != text.rstrip():
        yield "the last text of the assistant ends in white space"


def _anthropic_content(message: Wire) -> Problems:
    blocks = _blocks(message)
    if not blocks:
        yield "empty content"
    yield from _anthropic_blocks(blocks)
    for block in blocks:
        theirs = block["type"] in ("tool_use", "thinking", "redacted_thinking", "server_tool_use")
        if theirs != (message["role"] == "assistant") and (theirs or block["type"] in ("tool_result", "image")):
            yield f"{block['type']} in a message of the {message['role']}"
        if block["type"] == "tool_use":
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]):
                yield f"no name of a tool: {block['name']!r}"
            if not re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]):
                yield f"no id of a call: {block['id']!r}"
            if not isinstance(block["input"], dict):
                yield "input is no object"
        elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
            if not block["content"]:
                yield "a result with an empty list"
            yield from _anthropic_blocks(block["content"])
        elif block["type"] == "thinking" and not block["signature"]:
            yield "thoughts without a signature"


def _anthropic_blocks(blocks: Sequence[Wire]) -> Problems:
    for block in blocks:
        if block["type"] == "text" and blank(block["text"]):
            # "must be non-empty", "must contain non-whitespace text": claude-code#59812, #23440
            yield "an empty text"
        source = block.get("source")
        if isinstance(source, dict) and source.get("type") == "base64" and not is_base64(source["data"]):
            yield f"{block['type']} without base64"


def _anthropic_order(messages: Sequence[Wire]) -> Problems:
    """Results lead the next message, one for each call: claude-code#3632, dsh-plugin-subscriptions#22."""
    waiting: list[str] = []
    ids: list[str] = []
    for number, message in enumerate(messages):
        blocks = _blocks(message)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        yield from batch(waiting, results, f"in messages[{number}]")
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            yield f"messages[{number}]: results do not come first"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        ids += waiting
    yield from batch(waiting, [], "at the end")
    yield from once(ids)


def bedrock(fields: Wire) -> Problems:
    messages = fields.get("messages")
    if not {"messages"} <= set(fields) <= {"messages", "system"} or not isinstance(messages, list):
        yield f"expected messages and system: {sorted(fields)}"
        return
    for told in vendor_types.converse_request(fields):
        yield told
        return
    if "system" in fields and not fields["system"]:
        yield "an empty system list"
    yield from takes_turns([message["role"] for message in messages], "assistant")
    names: list[str] = []
    waiting: list[str] = []
    ids: list[str] = []
    for number, message in enumerate(messages):
        content = message["content"]
        if not content:
            yield f"messages[{number}]: empty content"
        results = [block["toolResult"] for block in content if "toolResult" in block]
        inner = [block for result in results for block in result["content"]]
        yield from (f"messages[{number}]: {each}" for each in _bedrock_content(message, inner))
        names += [block["document"]["name"] for block in [*content, *inner] if "document" in block]
        yield from batch(waiting, [each["toolUseId"] for each in results], f"in messages[{number}]")
        waiting = [block["toolUse"]["toolUseId"] for block in content if "toolUse" in block]
        ids += waiting
    yield from batch(waiting, [], "at the end")
    if messages and messages[-1]["role"] == "assistant":
        yield from _trailing(messages[-1]["content"][-1:])
    yield from once(ids)
    # "Messages can't contain duplicate document names": bifrost#7003, litellm#29418
    yield from (
        f"two documents of the name {name!r}" for name in sorted({each for each in names if names.count(each) > 1})
    )


def _bedrock_content(message: Wire, inner: Sequence[Wire]) -> Problems:
    content = message["content"]
    for block in [*content, *inner]:
        if "text" in block and blank(block["text"]):
            yield "a blank text"
        if "document" in block:
            name = block["document"]["name"]
            if not re.fullmatch(r"[A-Za-z0-9\s()\[\]-]+", name) or re.search(r"\s\s", name):
                yield f"no name of a document: {name!r}"
    for block in content:
        if "toolUse" in block:
            if message["role"] != "assistant":
                yield "a call of the user's"
            if not isinstance(block["toolUse"]["input"], dict):
                yield "input is no object"
        elif message["role"] == "assistant" and not {"text", "reasoningContent", "cachePoint"} & set(block):
            yield f"{', '.join(block)} in a message of the assistant"
        elif "toolResult" in block and not block["toolResult"]["content"]:
            yield "a result without content"
        elif "json" in block and not isinstance(block["json"], dict):
            yield "json that is no object"
    if any("document" in block for block in content) and not any("text" in block for block in content):
        yield "a document without a text beside it"  # "A text block must be included when using documents": bifrost#5817
