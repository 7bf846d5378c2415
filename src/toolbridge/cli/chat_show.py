"""A run for a person: the answer on stdout as it arrives, what is done for it on stderr.

What a model writes is as untrusted as what a server does: nothing of it reaches the terminal that could steer it, also
where a sequence is cut between two pieces of the stream. `chat_events` is the same for programs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from toolbridge.cli.chat_models import spelt
from toolbridge.cli.paragraph import harmless, one_line
from toolbridge.cli.progress import Line, Progress, waiting_for
from toolbridge.cli.terminal import cells, columns
from toolbridge.cli.words import counted
from toolbridge.run.events import CallEnded, CallProgress, CallStarted, Done, Paused, Replied, RunEvent, Told
from toolbridge.stream.events import ReasoningDelta, TextDelta
from toolbridge.types import JsonObject, ToolId

LONGEST_ERROR = 200
"""Characters that are shown of what a tool reports as an error: enough to know it by. The model has all of it."""


class Flow:
    """Text that arrives in pieces, made harmless. What only the next piece can explain is held back: a carriage return
    is one end of a line with a newline after it and steers without; half of a character is none."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        text = self._held + text
        self._held = text[-1] if text and (text[-1] == "\r" or "\ud800" <= text[-1] <= "\udbff") else ""
        return _whole(text[: len(text) - len(self._held)])

    def close(self) -> str:
        held, self._held = self._held, ""
        return _whole(held)


def _whole(text: str) -> str:
    if not text.isascii():  # two halves of one character that came apart
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return harmless(text)


class Screen:
    """Shows events. `hidden` takes the servers' secrets out of what they say."""

    def __init__(self, line: Line, hidden: Callable[[str], str], *, verbose: bool = False) -> None:
        self.line = line
        self.paint = line.paint
        self.hidden = hidden
        self.verbose = verbose
        self.model = ""
        """Who is waited for where no call runs."""
        self._flow = Flow()
        self._thought = Flow()
        self._is_thinking = False
        self._column = 0
        self._streamed: list[str] = []
        """The text of this turn so far, as the model wrote it."""
        self._running: dict[str, tuple[float, Progress]] = {}
        self._together = 0
        """How many calls have run since there was none: the ends of several are told by name."""
        self._since = time.monotonic()

    def begin(self, model: str) -> None:
        """Another question is asked."""
        self.model = model
        self._running.clear()
        self._flow, self._thought = Flow(), Flow()
        self._streamed = []
        self._since = time.monotonic()
        self.line.hold(False)

    def show(self, event: RunEvent) -> None:
        match event:
            case TextDelta():
                self._text(event.text)
            case ReasoningDelta():
                self._thinks(event.text)
            case CallStarted():
                self._started(event)
            case CallProgress():
                if event.call.id in self._running:
                    said = self.hidden(event.message or "")
                    self._running[event.call.id][1].report(event.progress, event.total, said)
            case CallEnded():
                self._ended(event)
            case Replied():
                self._replied(event)
            case Told():
                self.tell(event.text)
            case Paused():
                self.end()
            case Done():
                self.end()

    def tell(self, text: str) -> None:
        """Something beside the answer, dim."""
        self._new_line()
        self.line.say(self.paint(one_line(self.hidden(spelt(text))), "dim"))

    def complain(self, text: str) -> None:
        """What went wrong, in one line."""
        self.end()
        self.line.say(f"toolbridge: {one_line(self.hidden(spelt(text)))}")

    def end(self) -> None:
        """Nothing more of this answer follows."""
        self._write(self._flow.close())
        self._new_line()
        self.line.clear()

    def stop(self) -> None:
        """The person has had enough of this answer: what they typed stands where the cursor is."""
        if not self._column:
            self.line.clear()
            sys.stderr.write("\n")
        self.end()
        self.line.say(self.paint("stopped", "yellow"))

    def status(self, seconds: float) -> str:
        """What is being waited for, for the line at the bottom."""
        del seconds  # of the whole run; a person wants to know how long this one thing takes
        now = time.monotonic()
        if not self._running:
            return waiting_for([self.model], now - self._since, self.paint)
        reporting = [each for each in self._running.values() if each[1].progress is not None]
        if reporting:
            began, progress = reporting[-1]
            return progress.text(now - began)
        began = min(each[0] for each in self._running.values())
        return waiting_for([each[1].name for each in self._running.values()], now - began, self.paint)

    # ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _text(self, text: str) -> None:
        self._streamed.append(text)
        if self._is_thinking:
            self._stop_thinking()
        self._write(self._flow.feed(text))

    def _write(self, text: str) -> None:
        if not text:
            return
        self.line.hold(True)  # the bottom line would write over a line that is not finished
        sys.stdout.write(text)
        sys.stdout.flush()
        self._column = len(text) - text.rfind("\n") - 1 + (0 if "\n" in text else self._column)
        if not self._column:
            self.line.hold(False)

    def _new_line(self) -> None:
        if self._is_thinking:
            self._stop_thinking()
        if self._column:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._column = 0
        self.line.hold(False)

    def _thinks(self, text: str) -> None:
        if not self.verbose or not text:
            return
        if not self._is_thinking:
            self._new_line()
            self._is_thinking = True
            self.line.hold(True)
        sys.stderr.write(self.paint(self._thought.feed(text), "dim"))
        sys.stderr.flush()

    def _stop_thinking(self) -> None:
        self._is_thinking = False
        sys.stderr.write(self._thought.close() + "\n")
        sys.stderr.flush()
        self.line.hold(False)

    def _replied(self, event: Replied) -> None:
        whole, streamed = event.reply.text, "".join(self._streamed)
        if whole.startswith(streamed):  # what was held back, since it could have become a call
            self._text(whole[len(streamed) :])
        self._write(self._flow.close())
        self._new_line()
        self._streamed = []
        self._since = time.monotonic()

    # ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _started(self, event: CallStarted) -> None:
        name = one_line(str(event.tool))
        self._together = self._together + 1 if self._running else 1
        self._running[event.call.id] = (time.monotonic(), Progress(name, self.line))
        self._new_line()
        room = columns() - 3 - cells(name)
        words = cut(argument_words(event.arguments), room)
        self.line.say(f"{self.paint('▸', 'cyan')} {self.paint(name, 'bold')} {self.paint(words, 'dim')}".rstrip())

    def _ended(self, event: CallEnded) -> None:
        has_run = self._running.pop(event.call.id, None) is not None
        self._since = time.monotonic()
        self._new_line()
        name = "" if self._together == 1 and has_run else f"{one_line(_name(event.tool, event.call.name))} "
        if not event.result.is_error:
            mark, said = self.paint("✓", "green"), _amount(event)
        else:
            mark = self.paint("✗", "red")
            first = next((each for each in event.result.text.splitlines() if each.strip()), "failed")
            said = cut(one_line(self.hidden(first)), LONGEST_ERROR)
            said = f"{_amount(event)}: {said}" if has_run else said
        self.line.say(f"{'  ' if has_run else ''}{mark} {name}{self.paint(said, 'dim')}")


def _name(tool: ToolId | None, called: str) -> str:
    return str(tool) if tool is not None else called


def _amount(event: CallEnded) -> str:
    return f"{event.seconds:.2f} s, {counted(event.tokens, 'token')}"


def argument_words(arguments: JsonObject) -> str:
    """Arguments on one line: `bed=B2 depth=3 labels={"a": "b"}`."""
    return " ".join(f"{one_line(str(key))}={_word(value)}" for key, value in arguments.items())


def _word(value: Any) -> str:
    if isinstance(value, str) and value and not any(each.isspace() for each in value):
        return one_line(value)
    try:
        return one_line(json.dumps(value, ensure_ascii=False))
    except (ValueError, TypeError, RecursionError):
        return "…"


def cut(text: str, width: int) -> str:
    """The beginning of a text that is too long."""
    if cells(text) <= width:
        return text
    used = 0
    for i, each in enumerate(text):
        used += cells(each)
        if used > width - 1:
            return f"{text[:i]}…"
    return text
