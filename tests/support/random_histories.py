"""Histories at random: conversations in which everything goes wrong, and histories that no conversation would ever be.

`random_history` tells a conversation: rounds of questions, parallel calls and results, with mishaps. `histories` is a
strategy of arbitrary messages, most of which make no sense. What is opaque says whose it is, so that a test can see
where it ends up.
"""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from toolbridge.types import (
    EMPTY,
    Audio,
    Content,
    Foreign,
    Image,
    Message,
    Part,
    Reasoning,
    Resource,
    ResourceLink,
    Role,
    Text,
    ToolCall,
    ToolResult,
)

ORIGINS = ["anthropic", "gemini", "openai-responses", ""]
MODELS = ["small-1", "large-2", ""]
ROLES: list[Role] = ["system", "user", "assistant", "tool"]
WORDS = [
    "Where is the library?", "図書館はどこですか", "Où est la bibliothèque ? 📚", "a\nb\tc", '{"not": "a call"}',
    "<tool_call>{}</tool_call>", "x" * 300, "half \ud83d of a character", "مكتبة",
]  # fmt: skip
BLANKS = ["", " ", "\n\t "]
NAMES = ["search", "read_file", "mcp__files__read", "get-weather"]
ODD_NAMES = ["", "files.read", "a/b", "検索", "n" * 100, "21st", "two words"]
IDS = ["call_0", "call_1", "toolu_01AbC", "abc123XYZ", "fc_9"]
ODD_IDS = [
    "",
    "functions.search:0",
    "call|1",
    "id with spaces",
    "呼び出し",
    "c" * 64,
    "c" * 1000,
    "\ud800",
    "null",
    "a_b",
]
BROKEN = ['{"a": 1', "[1]", "not json", '{"a": NaN}', "7", '"text"', '{"a": 1}{"a": 2}', "\ud83d"]
PNG = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(24)).decode()
JPEG = b64encode(b"\xff\xd8\xff\xe0" + bytes(24)).decode()
WAV = b64encode(b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(24)).decode()
PDF_FILE = b64encode(b"%PDF-1.7\n" + bytes(24)).decode()
MEDIA: list[Content] = [
    Image(PNG, "image/png"),
    Image(JPEG, "image/jpeg"),
    Image(PNG, "image/tiff"),
    Image("no base64 at all!", "image/png"),
    Audio(WAV, "audio/wav"),
    Audio(WAV, "audio/midi"),
    Resource("file:///report.pdf", "application/pdf", blob=PDF_FILE),
    Resource("file:///notes.txt", "text/plain", text="Notes, line 1\nline 2"),
    Resource("file:///data.bin", None, blob=b64encode(bytes(range(256))).decode()),
    Resource("mcp://nothing"),
    ResourceLink("https://example.org/cat.png", "cat", "image/png"),
    ResourceLink("mcp://files/7", "seven", None, "the seventh file"),
]
STRUCTURED: list[Any] = [
    {"temperature": 21.5, "unit": "°C"},
    [1, 2, 3],
    "text",
    0,
    {},
    {"nested": {"deep": [None, True]}},
]


def opaque_of(origin: str, model: str, number: int) -> dict[str, Any]:
    """What a provider put beside a part: it says whose it is."""
    return {"signature": f"{origin}/{model}/{number}"}


# ── a conversation, with mishaps ─────────────────────────────────────────────────────────────────────────────────


def random_history(seed: int, size: int) -> list[Message]:
    """`size` messages of a conversation: the same for the same seed."""
    return _Conversation(random.Random(seed)).tell(size)


class _Conversation:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.origin = rng.choice(ORIGINS)
        self.model = rng.choice(MODELS)
        self.restarts = rng.random() < 0.4
        """Whether the ids of calls start again in every round."""
        self.count = 0
        self.late: list[ToolResult] = []

    def tell(self, size: int) -> list[Message]:
        messages: list[Message] = []
        if self.chance(0.7):
            messages.append(Message.system(self.words()))
        while len(messages) < size:
            messages += self.round()
        return messages[:size]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def words(self) -> str:
        self.count += 1
        return f"{self.rng.choice(WORDS)} #{self.count}"

    def round(self) -> Iterator[Message]:
        """A question, what the model does, and its answer."""
        if self.chance(0.1):
            self.origin, self.model = self.rng.choice(ORIGINS), self.rng.choice(MODELS)
        if self.chance(0.9):
            yield Message.user(self.words(), *self.media(0.1))
        if self.chance(0.1):
            yield self.mishap()
        for step in range(self.rng.choice([0, 1, 1, 2, 3])):
            asking = self.said(self.rng.choice([1, 1, 1, 2, 3, 5]), step)
            yield asking
            yield from self.answered(asking.calls)
        if self.chance(0.8):
            yield self.said(0, 0)

    def said(self, calls: int, step: int) -> Message:
        parts: list[Part] = []
        for number in range(calls or 1):
            if self.chance(0.5):
                parts.append(Reasoning(self.words(), self.opaque(0.8)))
            if self.chance(0.4) or not calls:
                parts.append(Text(self.words(), self.opaque(0.2)))
            if self.chance(0.05):
                parts.append(Foreign("web_search_call", self.opaque(1.0)))
            if self.chance(0.03):
                parts.append(Image(PNG, "image/png", self.opaque(0.5)))
            if calls:
                parts.append(self.call(number + 10 * step))
        return Message("assistant", tuple(parts), self.origin, self.model)

    def call(self, number: int) -> ToolCall:
        self.count += 1
        id = f"call_{number}" if self.restarts else f"call_{self.count:04}"
        if self.chance(0.05):
            id = self.rng.choice([*IDS, *ODD_IDS])
        name = self.rng.choice(NAMES if self.chance(0.95) else ODD_NAMES)
        if self.chance(0.07):
            return ToolCall(id, name, self.rng.choice(BROKEN), None, "the arguments are not JSON", self.opaque(0.3))
        arguments = {"query": self.words(), "limit": self.count, "deep": [{"a": None}]}
        return ToolCall(id, name, _written(arguments, self.rng.randrange(3)), arguments, opaque=self.opaque(0.3))

    def answered(self, calls: tuple[ToolCall, ...]) -> Iterator[Message]:
        """The results of calls: most of them, most of the time in order, in one message or in many."""
        results = [self.result(each.id) for each in calls if self.chance(0.95)]
        if self.chance(0.2):
            self.rng.shuffle(results)
        if results and self.chance(0.05):
            self.late.append(results.pop())
        if results and self.chance(0.05):
            results.append(replace(self.rng.choice(results), content=(Text(self.words()),)))
        if self.chance(0.05):
            results.insert(self.rng.randrange(len(results) + 1), self.result(f"lost_{self.count}"))
        if self.chance(0.5):
            yield from (Message.results(each) for each in results)
        elif results:
            yield Message.results(*results)

    def result(self, call_id: str) -> ToolResult:
        content: list[Content] = [Text(self.words())] if self.chance(0.9) else []
        content += self.media(0.15)
        structured = self.rng.choice(STRUCTURED) if self.chance(0.15) else None
        return ToolResult(call_id, tuple(content), structured, self.chance(0.15))

    def media(self, share: float) -> list[Content]:
        return [self.rng.choice(MEDIA) for _ in range(self.rng.choice([1, 1, 3]))] if self.chance(share) else []

    def opaque(self, share: float) -> Any:
        self.count += 1
        return opaque_of(self.origin, self.model, self.count) if self.chance(share) else EMPTY

    def mishap(self) -> Message:
        kinds = [
            lambda: Message.system(self.words()),
            lambda: Message(self.rng.choice(ROLES), ()),
            lambda: Message.assistant(*BLANKS),
            lambda: Message.results(self.late.pop() if self.late else self.result("lost")),
            lambda: Message("user", (Text(self.words()), self.call(7), Reasoning(self.words()))),
            lambda: Message(
                "assistant", (self.call(8), self.result("call_8"), Text(self.words())), self.origin, self.model
            ),
            lambda: Message("tool", (Text(self.words()), self.result("call_1"))),
            lambda: Message("system", (Text(self.words()), self.rng.choice(MEDIA))),
        ]
        return self.rng.choice(kinds)()


def _written(arguments: dict[str, Any], way: int) -> str:
    """The text of arguments, in one of the ways in which models write it."""
    match way:
        case 0:
            return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
        case 1:
            return json.dumps(arguments, indent=1)
        case _:
            return json.dumps(dict(reversed(arguments.items())), ensure_ascii=False)


# ── anything ─────────────────────────────────────────────────────────────────────────────────────────────────────

_TEXTS = st.sampled_from([*WORDS, *BLANKS]) | st.text(max_size=12)
_IDS = st.sampled_from(IDS[:2]) | st.sampled_from([*IDS, *ODD_IDS]) | st.text(max_size=12)
_NAMES = st.sampled_from(NAMES) | st.sampled_from(ODD_NAMES) | st.text(max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
_OBJECTS = st.dictionaries(st.text(max_size=5), _JSON, max_size=3)
_OPAQUE = st.just(EMPTY) | st.builds(opaque_of, st.just("?"), st.just("?"), st.integers(0, 9))


@st.composite
def calls(draw: st.DrawFn) -> ToolCall:
    """A call, whose text may have nothing to do with its arguments."""
    arguments = draw(st.none() | _OBJECTS)
    if arguments is None:
        text = draw(st.sampled_from(BROKEN) | st.text(max_size=8))
    else:
        ways = st.sampled_from([_written(arguments, way) for way in range(3)])
        text = draw(ways | st.sampled_from(["", "null", "{}", " "]))
    return ToolCall(draw(_IDS), draw(_NAMES), text, arguments, opaque=draw(_OPAQUE))


_CONTENT: st.SearchStrategy[Content] = (
    st.builds(Text, _TEXTS, _OPAQUE)
    | st.sampled_from(MEDIA)
    | st.builds(Image, st.just(PNG), st.just("image/png"), _OPAQUE)
)
_RESULTS = st.builds(
    ToolResult,
    _IDS,
    st.lists(_CONTENT, max_size=3).map(tuple),
    st.none() | st.sampled_from(STRUCTURED) | _JSON,
    st.booleans(),
)
_PARTS: st.SearchStrategy[Part] = st.one_of(
    _CONTENT,
    calls(),
    calls(),
    _RESULTS,
    _RESULTS,
    st.builds(Reasoning, _TEXTS, _OPAQUE),
    st.builds(Foreign, st.sampled_from(["web_search_call", "file"]), _OPAQUE),
)
_MESSAGES = st.builds(
    Message,
    st.sampled_from(ROLES),
    st.lists(_PARTS, max_size=5).map(tuple),
    st.sampled_from(ORIGINS),
    st.sampled_from(MODELS),
)


def histories(max_size: int = 12) -> st.SearchStrategy[list[Message]]:
    """Any messages with any parts in any order; or a conversation with mishaps."""
    told = st.builds(random_history, st.integers(0, 10_000), st.integers(0, max_size))
    return st.lists(_MESSAGES, max_size=max_size) | told


_FEW_IDS = st.sampled_from(["a", "b"])
_CROWDED = st.builds(
    Message,
    st.sampled_from(ROLES),
    st.lists(
        st.builds(ToolCall, _FEW_IDS, st.just("search"), st.just("{}"), st.just({}))
        | st.builds(ToolResult, _FEW_IDS, st.just((Text("done"),)))
        | st.just(Text("hello")),
        max_size=4,
    ).map(tuple),
)


def crowds(max_size: int = 8) -> st.SearchStrategy[list[Message]]:
    """Calls and results of two ids, in any order, with little else."""
    return st.lists(_CROWDED, max_size=max_size)
