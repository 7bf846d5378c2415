"""What a recording is: bytes of a stream, and what they fold to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STREAMS = Path(__file__).parents[2] / "streams"
SUFFIXES = (".sse", ".json", ".jsonl")
"""Server-sent events; Gemini's JSON list; Bedrock's events as boto3 hands them out, one a line."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One stream. `expected` holds `text` and `calls`, and where they are told: `finish`, `reasoning`, `error` (a part
    of its text), `foreign` (the kinds of parts that only the provider understands), `offered` (what else is read where
    calls in text count, for tools of the `names` there).

    A call has `name` and `arguments` (`null` where they are broken), and where they are told: `id`, `text`, `opaque`.
    """

    provider: str
    case: str
    body: bytes
    expected: Mapping[str, Any]
    suffix: str = ".sse"
    whole: Any = None
    """The whole reply of the same scenario, where there is one."""

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.case}"

    def files(self) -> dict[Path, bytes]:
        """What stands on disk for it."""
        place = STREAMS / self.provider
        files = {
            place / f"{self.case}{self.suffix}": self.body,
            place / f"{self.case}.expected.json": _shown(self.expected),
        }
        if self.whole is not None:
            files[place / f"{self.case}.whole.json"] = _shown(self.whole)
        return files


def call(name: str, arguments: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    """A call that is expected."""
    return ({"id": id} if id else {}) | {"name": name, "arguments": arguments} | more


def expected(
    calls: Sequence[Mapping[str, Any]] = (), finish: str | None = None, text: str = "", **more: Any
) -> dict[str, Any]:
    told = {"text": text, "calls": list(calls)} | ({"finish": finish} if finish else {})
    return told | {key: value for key, value in more.items() if value}


def _shown(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def read_recordings() -> list[Recording]:
    """Every recording on disk, in the order of their names."""
    found: list[Recording] = []
    for told in sorted(STREAMS.glob("*/*.expected.json")):
        case = told.name.removesuffix(".expected.json")
        (stream,) = [told.with_name(case + each) for each in SUFFIXES if told.with_name(case + each).is_file()]
        whole = told.with_name(f"{case}.whole.json")
        reply = json.loads(whole.read_bytes()) if whole.is_file() else None
        found.append(
            Recording(told.parent.name, case, stream.read_bytes(), json.loads(told.read_bytes()), stream.suffix, reply)
        )
    return found
