"""How long a server is waited for, and when it is asked again. Numbers and headers; nothing is waited for here."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a server may take, in seconds; `None` is for ever."""

    connect: float | None = 10.0
    """To be reached. Longer than any healthy network takes, shorter than a person's patience."""
    first: float | None = 300.0
    """Until the first byte of the answer. Models that think, and small machines with long prompts, take minutes."""
    silence: float | None = 120.0
    """Between two bytes. Whoever streams sends tokens or heartbeats; two minutes without either is a dead line."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How a failure before the first byte is met."""

    most: int = 3
    """Attempts after the first. With the waits below that is 3.5 s, after which a person wants to know."""
    most_unsent: int = 1
    """The same where the server was not reached at all: it is not there, or the address is wrong."""
    first: float = 0.5
    """Seconds before the second attempt; doubled each time."""
    longest: float = 8.0
    longest_asked: float = 60.0
    """What a server may ask to wait, in seconds. A limit by the minute is waited out, one by the day is an error."""

    def wait(self, attempt: int, asked: float | None) -> float | None:
        """Seconds before the attempt that follows this one (from 0 on); `None`: there is none."""
        if attempt >= self.most or (asked is not None and asked > self.longest_asked):
            return None
        # Up to a quarter less, so that those who were turned away together do not come back together.
        return asked or min(self.first * 2**attempt, self.longest) * (1 - 0.25 * random.random())


DEFAULT_RETRIES = Retries()


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """What the server asks to wait, in seconds: `retry-after-ms` (OpenAI, Azure), or `Retry-After` as seconds or a
    date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, IndexError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
