"""One line at the bottom of the terminal that says what is being waited for, and how far it has come.

It is written to stderr and taken away again, so that nothing of it is left among the answers. Where stderr is no
terminal there is no such line: progress is then told in plain lines, few enough for a log.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TextIO

from toolbridge.cli.paragraph import one_line
from toolbridge.cli.terminal import Paint, cells, columns

QUIET_SECONDS = 0.4
"""What is done sooner than this needs no line; it would only flicker."""

TICK_SECONDS = 0.1
"""How often the line is written anew."""

BAR = 30
"""Columns of a whole bar."""

LINE_SECONDS = 1.0
LINE_SHARE = 0.1
"""In a log, progress is told at most this often, unless it grew by this share or says something else."""

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Line:
    """A line that is written over and over, and cleared."""

    def __init__(self, stream: TextIO | None, wanted: bool = True) -> None:
        self.stream = stream
        self.live = (
            wanted and stream is not None and stream.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")
        )
        self.paint = Paint(stream)
        self._drawn = ""
        self._held = False

    def show(self, text: str) -> None:
        """Write this in place of what is there. The text may have colours; `fit` says how much room there is."""
        if self.live and not self._held and text != self._drawn:
            self._write(f"\r{text}\x1b[K")
            self._drawn = text

    def clear(self) -> None:
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = ""

    def say(self, text: str) -> None:
        """A line that stays, above this one."""
        drawn = self._drawn
        self.clear()
        self._write(f"{text}\n")
        if drawn:
            self.show(drawn)

    def hold(self, held: bool) -> None:
        """Leave the terminal to somebody else for a while."""
        self.clear()
        self._held = held

    def _write(self, text: str) -> None:
        if self.stream is not None:
            self.stream.write(text)
            self.stream.flush()


@asynccontextmanager
async def ticking(line: Line, text: Callable[[float], str]) -> AsyncGenerator[None]:
    """While the body runs, show a text that knows how many seconds have passed."""
    import asyncio

    if not line.live:
        yield
        return
    began = time.monotonic()

    async def tick() -> None:
        await asyncio.sleep(QUIET_SECONDS)
        while True:
            line.show(text(time.monotonic() - began))
            await asyncio.sleep(TICK_SECONDS)

    task = asyncio.create_task(tick())
    try:
        yield
    finally:
        task.cancel()
        line.clear()


def waiting_for(names: list[str], seconds: float, paint: Paint) -> str:
    """`⠋ waiting for github and 2 more … 3 s`, as long as the terminal is wide."""
    width = columns() - 1
    tail = f" … {int(seconds)} s"
    head = "waiting for "
    room = width - 2 - len(head) - len(tail) - len(" and 999 more")
    text = ""
    told = 0
    for name in names:
        longer = f"{text}, {one_line(name)}" if text else one_line(name)
        if text and cells(longer) > room:
            break
        text, told = longer, told + 1
    if told < len(names):
        text += f" and {len(names) - told} more"
    return paint(_frame(seconds), "cyan") + " " + _cut(head + text, width - 2 - len(tail)) + paint(tail, "dim")


def _frame(seconds: float) -> str:
    return _FRAMES[int(seconds / TICK_SECONDS) % len(_FRAMES)]


def _cut(text: str, width: int) -> str:
    while cells(text) > width:
        text = text[:-2] + "…"
    return text


class Progress:
    """How far a call has come: told by the server, shown as a bar or in plain lines."""

    def __init__(self, name: str, line: Line, *, silent: bool = False) -> None:
        self.name = name
        self.line = line
        self.silent = silent
        self.progress: float | None = None
        self.total: float | None = None
        self.message = ""
        self._told: tuple[float, float, str] | None = None
        """When something was last said in a plain line, how far it was, and with which words."""

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress, self.total = progress, total
        self.message = one_line(message or "")
        if not self.silent and not self.line.live:
            self._tell()

    def _tell(self) -> None:
        assert self.progress is not None
        now = time.monotonic()
        share = self.progress / self.total if self.total else self.progress
        done = self.total is not None and self.progress >= self.total
        if self._told is not None:
            then, before, words = self._told
            grown = done or (self.total is not None and share - before >= LINE_SHARE) or now - then >= LINE_SECONDS
            if (not grown and words == self.message) or (share == before and words == self.message):
                return
        self._told = (now, share, self.message)
        print(
            f"{self.name}: {self._amount()}{f'  {self.message}' if self.message else ''}", file=sys.stderr, flush=True
        )

    def _amount(self) -> str:
        assert self.progress is not None
        if self.total:
            return f"{_number(self.progress)}/{_number(self.total)}"
        return _number(self.progress)

    def text(self, seconds: float) -> str:
        """The line: a bar where it is known how much there is in all, otherwise how much there was so far."""
        paint = self.line.paint
        width = columns() - 1
        if self.progress is None:
            return waiting_for([self.name], seconds, paint)
        share = min(max(self.progress / self.total, 0.0), 1.0) if self.total else None
        tail = f"  {int(seconds)} s"
        if share is None:
            head = f"{self._amount()}"
            drawn = paint(_frame(seconds), "cyan") + " " + head
            used = 2 + len(head)
        else:
            bar = min(BAR, max(10, width - 40))
            full = int(share * bar)
            half = full < bar and share * bar - full >= 0.5
            drawn = paint("━" * full + ("╸" if half else ""), "green" if share >= 1 else "cyan")
            drawn += paint("─" * (bar - full - half), "dim") + f" {share:4.0%}"
            used = bar + 5
        room = width - used - len(tail) - 2
        message = _cut(self.message or self.name, room) if room > 4 else ""
        return f"{drawn}  {message}" + paint(tail, "dim")


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
