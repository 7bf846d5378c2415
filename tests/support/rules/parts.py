"""Gemini's contents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.support.rules.shared import Problems, Wire, blank, is_base64
from tests.support.wire import vendor_types

_GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
SKIP = "skip_thought_signature_validator"
"""What stands for a signature where a call was made elsewhere."""

_BESIDE = ("thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata")
"""Fields of a part that are not its content."""


def gemini(fields: Wire) -> Problems:
    contents = fields.get("contents")
    if not {"contents"} <= set(fields) <= {"contents", "systemInstruction"} or not isinstance(contents, list):
        yield f"expected contents and systemInstruction: {sorted(fields)}"
        return
    if "systemInstruction" in fields:
        instruction = fields["systemInstruction"]
        yield from vendor_types.gemini_content(instruction)
        if not instruction.get("parts") or any(blank(part.get("text")) for part in instruction["parts"]):
            yield "an empty instruction"
    for number, content in enumerate(contents):
        for told in vendor_types.gemini_content(content):
            yield f"contents[{number}]: {told}"
            return
        if not content.get("parts"):
            yield f"contents[{number}]: no parts"
            return
        yield from (f"contents[{number}]: {each}" for each in _gemini_parts(content))
    yield from _gemini_order(contents)


def _gemini_parts(content: Wire) -> Problems:
    parts = content["parts"]
    for part in parts:
        kinds = [key for key in part if key not in _BESIDE]
        if len(kinds) != 1 and not (not kinds and "thoughtSignature" in part):
            yield f"a part of {len(kinds)} kinds: {', '.join(kinds)}"
        if "text" in part and not part["text"] and "thoughtSignature" not in part:
            yield "an empty text"
        signature = part.get("thoughtSignature", SKIP)
        if signature != SKIP and not is_base64(signature):
            yield "a signature without base64"
        if any("_" in key for key in [*part, *part.get("functionCall", ()), *part.get("functionResponse", ())]):
            yield "a key that is not in the form of the REST API"
        yield from _gemini_media(part)
    calls = [part for part in parts if "functionCall" in part]
    if calls and content["role"] != "model":
        yield "a call of the user's"
    if calls and "thoughtSignature" not in calls[0]:
        # "Function call is missing a thought_signature": Antigravity-Manager#3202
        yield "the first call has no signature"
    for part in calls:
        if not _GEMINI_NAME.fullmatch(part["functionCall"]["name"]):
            yield f"no name of a function: {part['functionCall']['name']!r}"
        if not isinstance(part["functionCall"].get("args", {}), dict):
            yield "args are no object"
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if results and content["role"] != "user":
        yield "results in a content of the model"
    if results and len(results) != len(parts):
        yield "results and other parts in one content"  # pydantic/pydantic-ai#4210
    for result in results:
        if not isinstance(result.get("response"), dict) or not result["response"]:
            yield "a response that is no object, or says nothing"
        for part in result.get("parts", ()):
            yield from _gemini_media(part, ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"))


def _gemini_media(part: Wire, kinds: Sequence[str] | None = None) -> Problems:
    if "inlineData" in part:
        if not is_base64(part["inlineData"].get("data")):
            yield "media without base64"
        if not part["inlineData"].get("mimeType"):
            yield "media without a type"
        elif kinds is not None and part["inlineData"]["mimeType"] not in kinds:
            yield f"{part['inlineData']['mimeType']} inside of a result"


def _gemini_order(contents: Sequence[Wire]) -> Problems:
    """As many responses as calls, right after them (vscode#299295); calls only after a content of the user's
    (gemini-cli#11814)."""
    if not contents:
        yield "no contents"
        return
    if contents[0].get("role") != "user":
        yield "the first content is not the user's"
    waiting: list[Wire] = []
    for number, content in enumerate(contents):
        if content.get("role") not in ("user", "model"):
            yield f"contents[{number}]: no such role: {content.get('role')!r}"
        if number and content.get("role") == "model" == contents[number - 1].get("role"):
            yield f"contents[{number}]: two contents of the model in a row"
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        yield from _matched(waiting, results, f"contents[{number}]")
        waiting = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    yield from _matched(waiting, [], "at the end")


def _matched(calls: Sequence[Wire], results: Sequence[Wire], where: str) -> Problems:
    if len(calls) != len(results):
        yield f"{where}: {len(results)} responses to {len(calls)} calls"
        return
    by_id = {result.get("id"): result for result in results}
    for call, result in zip(calls, results, strict=True):
        answer = by_id.get(call["id"]) if "id" in call else result
        if answer is None or answer.get("id") != call.get("id") or answer["name"] != call["name"]:
            yield f"{where}: no response to {call['name']!r}"
