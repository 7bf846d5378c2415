"""Scenarios: what a model says, in no provider's form. Each wire format writes them as its provider would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Think:
    text: str
    signature: str = "c2lnbmVkOiA0Mg=="
    """Base64, since Gemini's and Anthropic's are."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A call. `id` is nine letters and digits, which every provider can spell."""

    id: str
    name: str
    arguments: dict[str, Any]
    cut: int | None = None
    """After how many characters of the argument text the token limit came."""

    @property
    def text(self) -> str:
        whole = json.dumps(self.arguments, ensure_ascii=False)
        return whole if self.cut is None else whole[: self.cut]


Said: TypeAlias = Say | Think | Ask


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    parts: tuple[Said, ...]
    finish: Literal["stop", "calls", "length"] = "stop"
    error: str | None = None
    """What the server reports in the middle of the stream, in place of the rest."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Say))

    @property
    def thoughts(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Think))

    @property
    def calls(self) -> tuple[Ask, ...]:
        return tuple(part for part in self.parts if isinstance(part, Ask))


def fragments(text: str, sizes: tuple[int, ...] = (5, 23, 13)) -> Iterator[str]:
    """The text in pieces of these sizes, over and over, as tokens come: never along its words."""
    sizes_again, start = cycle(sizes), 0
    while start < len(text):
        size = next(sizes_again)
        yield text[start : start + size]
        start += size


HARD_ARGUMENTS = {
    "city": 'Zürich "Nord" \\ 東京',
    "days": [1, 2.5, -3e-7],
    "options": {"wind": True, "rain": None, "note": "a\nb \U0001f327"},
    "": 12345678901234567890,
}
"""Quotes, backslashes, new lines, three lengths of UTF-8, an empty key, a number past 64 bits."""

TEXT = Scenario("text", (Say("Grüße! It is 7 °C in Zürich \U0001f326, 雨."),))
TWO_CALLS = Scenario(
    "two_calls",
    (
        Ask("a1B2c3D4e", "get_weather", {"city": "Zürich"}),
        Ask("f5G6h7I8j", "get_time", {"zone": "Asia/Tōkyō", "h24": True}),
    ),
    "calls",
)
NO_ARGUMENTS = Scenario("no_arguments", (Ask("k9L0m1N2o", "list_rooms", {}),), "calls")
REASONING = Scenario(
    "reasoning_and_call",
    (
        Think("The weather – où? In Genève."),
        Ask("p3Q4r5S6t", "get_weather", {"city": "Genève"}),
    ),
    "calls",
)
ALL_KINDS = Scenario(
    "reasoning_text_and_calls",
    (
        Think("Weather, then rooms."),
        Say("One moment."),
        Ask("u7V8w9X0y", "get_weather", {"city": "Bern"}),
        Ask("z1A2b3C4d", "list_rooms", {}),
    ),
    "calls",
)
HARD = Scenario("hard_arguments", (Ask("e5F6g7H8i", "get_weather", HARD_ARGUMENTS),), "calls")
CUT_TEXT = Scenario("text_cut_at_the_limit", (Say("It is seven degrees and"),), "length")
CUT_CALL = Scenario(
    "call_cut_at_the_limit",
    (Say("One moment."), Ask("j9K0l1M2n", "get_weather", {"city": "Lausanne", "days": 3}, cut=20)),
    "length",
)
ERROR = Scenario("error_in_the_middle", (Say("It is "),), error="The engine is overloaded.")

SCENARIOS = (TEXT, TWO_CALLS, NO_ARGUMENTS, REASONING, ALL_KINDS, HARD, CUT_TEXT, CUT_CALL, ERROR)
