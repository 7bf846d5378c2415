"""OpenAI's Responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.rules.shared import DATA, IMAGES, NAME, Problems, Wire, address, arguments, batch, once
from tests.support.wire import vendor_types

_BEGINS = {"function_call": "fc", "message": "msg", "reasoning": "rs"}
"""How the ids of items begin; another is refused ("Expected an ID that begins with 'rs'"): cockpit-tools#2090."""


def responses(fields: Wire) -> Problems:
    items = fields.get("input")
    if not set(fields) <= {"input", "instructions"} or not isinstance(items, list) or not items:
        yield f"expected input: {sorted(fields)}"
        return
    for number, item in enumerate(items):
        for told in vendor_types.response_item(item):
            yield f"input[{number}]: {told}"
            return
        yield from (f"input[{number}]: {each}" for each in _item(item))
    yield from _items_order(items)
    yield from once([item["call_id"] for item in items if item.get("type") == "function_call"])


def _item(item: Wire) -> Problems:
    kind = item.get("type", "message")
    begins = _BEGINS.get(kind)
    if begins and "id" in item and not str(item["id"]).startswith(begins):
        yield f"an id of a {kind} that does not begin with {begins}: {item['id']!r}"
    if kind in ("function_call", "function_call_output") and not 1 <= len(item["call_id"]) <= 64:
        yield f"a call_id of {len(item['call_id'])} characters"
    match kind:
        case "function_call":
            if not NAME.fullmatch(item["name"]):
                yield f"no name of a function: {item['name']!r}"
            yield from arguments(item["arguments"])
        case "function_call_output":
            yield from _item_content(item["output"])
            if isinstance(item["output"], str) and len(item["output"]) > 10_485_760:
                yield "an output that is too long"
        case "message":
            yield from _item_content(item["content"])
        case _:
            pass


def _item_content(content: Any) -> Problems:
    if not content:
        yield "empty content"
    for part in content if isinstance(content, list) else ():
        match part["type"]:
            case "input_text" | "output_text":
                if not part["text"]:
                    yield "an empty text"
            case "input_image":
                if part.get("image_url") is not None:
                    yield from address(part["image_url"], IMAGES)
                elif part.get("file_id") is None:
                    yield "an image without an address"
            case "input_file":
                # "Expected a base64-encoded data URL"
                if part.get("file_data") is not None and not DATA.fullmatch(part["file_data"]):
                    yield "the data of a file is no data URL"
                if not any(part.get(key) for key in ("file_data", "file_id", "file_url")):
                    yield "a file without data"
            case _:
                pass


def _items_order(items: Sequence[Wire]) -> Problems:
    """Calls of a turn together, then their outputs, then the rest; thoughts before what they led to."""
    waiting: list[str] = []
    answered: list[str] = []
    before = None
    for number, item in enumerate(items):
        kind = item.get("type", "message")
        said_by_model = kind not in ("message", "function_call_output") or item.get("role") == "assistant"
        if before == "reasoning" and not said_by_model:
            # "of type 'reasoning' was provided without its required following item": vercel/ai#7099
            yield f"input[{number - 1}]: thoughts that led to nothing"
        before = kind
        if kind == "function_call_output":
            answered.append(item["call_id"])
        elif kind == "function_call" and not answered:
            waiting.append(item["call_id"])
        elif answered or (waiting and not said_by_model):
            yield from batch(waiting, answered, f"before input[{number}]")
            waiting, answered = ([item["call_id"]] if kind == "function_call" else []), []
        elif waiting and kind == "reasoning":
            # "No tool output found for tool call": calls between thoughts, DeepSeek's endpoint
            yield f"input[{number}]: thoughts between a call and its output"
    if before == "reasoning":
        yield "the last item are thoughts that led to nothing"
    yield from batch(waiting, answered, "at the end")
