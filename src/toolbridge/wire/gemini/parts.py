"""Parts of Gemini's contents: what a part is, what stands beside it, and its data.

Read in replies and in transcripts alike. Every function takes whatever stands on the wire, in the wire's own camelCase
or in the snake_case of SDK dumps.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from toolbridge.types import Reasoning, Text

SIGNATURE: Final = "thoughtSignature"

NO_SIGNATURE: Final = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""What stands on a call that has no signature of the model's, because another model made it: the documented
`skip_thought_signature_validator`. The field is bytes, which JSON has as base64, so this is its base64: what
google-genai 3.1 makes of the word, and what pydantic-ai sends ("verified live" with the Gemini API and with Vertex,
2026-10-27). The plain word is taken too (gemini-cli sends it), being by chance base64 of something else."""

_NO_SIGNATURES: Final = frozenset({NO_SIGNATURE, "skip_thought_signature_validator"})

KINDS: Final = frozenset(
    {
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
    }
)
"""What a part can be; exactly one of them is set (google-genai 3.1 `Part`)."""

_BESIDE: Final = frozenset(
    {
        "thought",
        SIGNATURE,
        "partMetadata",
        "mediaResolution",
        "mediaProcessing",
        "videoMetadata",
        "audioTranscription",
        "speechMetadata",
    }
)
"""What can stand beside that."""


LONGEST_KEY: Final = 64
"""Characters of a key that may be one of ours: longer ones are not remembered, whatever they are."""


def get(value: Any, name: str) -> Any:
    """A field of an object under its name in camelCase, or else in snake_case; `None` where there is none."""
    if not isinstance(value, dict):
        return None
    found = value.get(name)
    return found if found is not None else value.get(_snake(name))


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def is_set(value: Any, name: str) -> bool:
    return get(value, name) is not None


def kind_of(part: Mapping[Any, Any]) -> str:
    """What the part is, in the wire's word; empty where it says nothing. New kinds are found by elimination."""
    new = ""
    for key, value in part.items():
        if value is not None:
            name = camel(key)
            if name in KINDS:
                return name
            if name not in _BESIDE:
                new = new or name
    return new


def beside(part: Mapping[Any, Any]) -> dict[str, Any]:
    """What stands beside what the part is, and is wanted back: first of all its signature."""
    if len(part) == 1 and "text" in part:
        return {}
    kind = kind_of(part)
    found = {
        name: value
        for key, value in part.items()
        if value is not None and (name := camel(key)) not in (kind, "thought") and name not in KINDS
    }
    signature = found.get(SIGNATURE)
    if signature is not None:
        text = b64encode(signature).decode("ascii") if isinstance(signature, bytes) else signature
        if not text or not isinstance(text, str) or text in _NO_SIGNATURES:
            del found[SIGNATURE]
        else:
            found[SIGNATURE] = text
    return found


def is_replayable(part: Reasoning | Text) -> bool:
    """An empty part is refused, unless it is there for its signature."""
    return bool(part.text) or SIGNATURE in part.opaque


def whole(part: Mapping[Any, Any]) -> dict[str, Any]:
    """The part as it is, without what is not set."""
    return {str(key): value for key, value in part.items() if value is not None}


def blob(value: Any) -> tuple[str, str] | None:
    """(base64 in the standard alphabet, MIME type) of inline data; `None` where there is none."""
    data = get(value, "data")
    if isinstance(data, bytes | bytearray):
        data = b64encode(data).decode("ascii")
    if not isinstance(data, str) or not data:
        return None
    text = data.replace("-", "+").replace("_", "/").rstrip("=")
    return text + "=" * (-len(text) % 4), string(get(value, "mimeType"))


@lru_cache(maxsize=256)
def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def camel(key: Any) -> str:
    if not isinstance(key, str) or "_" not in key or len(key) > LONGEST_KEY:
        return str(key)
    return _camel(key)


@lru_cache(maxsize=256)
def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in rest)
