"""What a model thought, in the fields where the vendors of Chat Completions keep it.

OpenAI itself shows nothing. DeepSeek and those who followed have `reasoning_content`, vLLM, Groq, Ollama and OpenRouter
`reasoning`, OpenRouter also `reasoning_details` with signatures, Mistral `thinking` chunks in the content. A
`Reasoning`'s `opaque` says in `field` which one it came in, and it is written back there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from toolbridge.types import Reasoning, Text

DETAILS = "reasoning_details"
THINKING = "thinking"
FIELDS = ("reasoning_content", "reasoning")
"""Fields that are one string. A server that has both says the same in them; the first one is read."""

_TEXT_OF = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Where an entry of `reasoning_details` has its text; one of another type (`reasoning.encrypted`) has none."""


class Thought(NamedTuple):
    """A piece of reasoning as it stands in a message or in a delta of one."""

    key: str
    text: str
    opaque: dict[str, Any]


def read_thoughts(body: Mapping[str, Any], whole: bool) -> list[Thought]:
    """The reasoning in the fields of a message (`whole`) or of a delta. Details say it all where there are any."""
    details = body.get(DETAILS)
    if isinstance(details, list):
        found = [_read_detail(each, i, whole) for i, each in enumerate(details) if isinstance(each, dict)]
        if found:
            return found
    for field in FIELDS:
        text = body.get(field)
        if isinstance(text, str) and text:
            return [Thought(field, text, {"field": field})]
    text = body.get(THINKING)
    if isinstance(text, str) and text:
        # Ollama's own endpoint; the one for Chat Completions takes it back as `reasoning`.
        return [Thought("reasoning", text, {"field": "reasoning"})]
    return []


def _read_detail(detail: Mapping[str, Any], position: int, whole: bool) -> Thought:
    """An entry of `reasoning_details`. Fragments of one share index and type; what is encrypted comes whole, and
    several of those share an index, so that the id tells them apart."""
    kind = detail.get("type")
    field = _TEXT_OF.get(kind) if isinstance(kind, str) else None
    text = detail.get(field) if field is not None else None
    opaque = {key: value for key, value in detail.items() if key != field and value is not None}
    where = position if whole else detail.get("index")
    name = detail.get("id") if field is None else None
    key = f"{DETAILS}/{where}/{kind}/{name}"
    return Thought(key, text if isinstance(text, str) else "", {"field": DETAILS, **opaque})


def read_thinking(chunk: Mapping[str, Any]) -> Thought:
    """A `thinking` chunk of a content list: a list of text chunks (Mistral), or a string (mistral-common, vLLM)."""
    given = chunk.get(THINKING)
    inner = given if isinstance(given, list) else [given]
    texts = [each.get("text") if isinstance(each, dict) else each for each in inner]
    opaque = {key: value for key, value in chunk.items() if key not in ("type", THINKING) and value is not None}
    return Thought(THINKING, "".join(each for each in texts if isinstance(each, str)), {"field": THINKING, **opaque})


def is_replayable(part: Reasoning | Text) -> bool:
    """What says something, in words or in a field of its own. An empty text has no place for anything else."""
    if isinstance(part, Text):
        return bool(part.text) or "extra_content" in part.opaque or part.opaque.get("type") == "refusal"
    return bool(part.text) or part.opaque.get("field") in (DETAILS, THINKING)


def write_thoughts(thoughts: Iterable[Reasoning], default: str) -> dict[str, Any]:
    """Reasoning as the fields of an assistant's message; in the field `default` where it does not say which."""
    details: list[dict[str, Any]] = []
    texts: dict[str, list[str]] = {}
    for thought in thoughts:
        field = thought.opaque.get("field")
        if field == DETAILS:
            details.append(_write_detail(thought))
        elif thought.text:
            texts.setdefault(field if field in FIELDS else default, []).append(thought.text)
    fields: dict[str, Any] = {field: "\n".join(pieces) for field, pieces in texts.items()}
    return {**fields, DETAILS: details} if details else fields


def _write_detail(thought: Reasoning) -> dict[str, Any]:
    detail = {key: value for key, value in thought.opaque.items() if key != "field"}
    kind = detail.get("type")
    field = _TEXT_OF.get(kind) if isinstance(kind, str) else None
    return {**detail, field: thought.text} if field is not None else detail


def write_thinking(thought: Reasoning) -> dict[str, Any]:
    """Reasoning as a `thinking` chunk."""
    rest = {key: value for key, value in thought.opaque.items() if key not in ("field", "type", THINKING)}
    return {"type": "thinking", THINKING: [{"type": "text", "text": thought.text}], **rest}
