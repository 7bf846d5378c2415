"""What one question has come to so far: turns, time, tokens, and whether any of it has gone too far."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from toolbridge.run.events import Stop
from toolbridge.run.limits import RunLimits
from toolbridge.run.pause import Pause
from toolbridge.run.repeats import Repeats
from toolbridge.stream.events import Reply, Usage
from toolbridge.tokens import estimate, message_tokens
from toolbridge.types import Message, ToolCall, ToolResult


class Progress:
    """One run. Made inside of the event loop that runs it."""

    def __init__(self, limits: RunLimits, question: list[Message], pause: Pause | None = None) -> None:
        self.limits = limits
        self.question = question
        """What has not reached the model yet: it joins the history when the model takes it."""
        self.added: list[Message] = list(pause.history[-pause.added :]) if pause and pause.added else []
        self.turns = pause.turns if pause else 0
        self.input, self.output = pause.usage if pause else (0, 0)
        self.repeats = Repeats(limits.repeats, dict(pause.repeats) if pause else {})
        self.broken = ""
        self._stuck = ""
        before = pause.milliseconds / 1000 if pause else 0.0
        self._began = asyncio.get_running_loop().time() - before
        self.deadline = None if limits.seconds is None else self._began + limits.seconds

    def take_question(self) -> list[Message]:
        taken, self.question = self.question, []
        return taken

    @property
    def milliseconds(self) -> int:
        return int((asyncio.get_running_loop().time() - self._began) * 1000)

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.output)

    @contextmanager
    def waiting(self) -> Generator[None]:
        """A person's time is not the run's."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        try:
            yield
        finally:
            waited = loop.time() - asked
            self._began += waited
            if self.deadline is not None:
                self.deadline += waited

    def count(self, reply: Reply, fields: Mapping[str, Any]) -> None:
        self.turns += 1
        told = reply.usage or Usage()
        if told.input is None and self.limits.tokens is not None:  # a long text is not counted for nothing
            self.input += estimate(json.dumps(fields, ensure_ascii=False, default=str))
        self.input += told.input or 0
        self.output += told.output if told.output is not None else message_tokens(reply.message)

    def repeated(self, call: ToolCall, result: ToolResult) -> int:
        times = self.repeats.count(call, result)
        if self.repeats.is_too_much(times):
            self._stuck = call.name
        return times

    def is_late(self) -> bool:
        return self.deadline is not None and asyncio.get_running_loop().time() >= self.deadline

    def late(self) -> tuple[Stop, str]:
        return "time", f"stopped after {self.limits.seconds:g} seconds; limits.seconds allows more"

    def over(self) -> tuple[Stop, str] | None:
        """Why the model is not asked again."""
        if self.is_late():
            return self.late()
        if self._stuck:
            return "repeated", f"stopped: the model calls {self._stuck} again and again with the same result"
        return self._out_of_tokens()

    def last_call(self) -> tuple[Stop, str] | None:
        """Why the calls of a reply are not run: there will be no turn in which the model could see what came of it."""
        if self.limits.turns is not None and self.turns >= self.limits.turns:
            return "turns", f"stopped after {self.turns} turns of the model; limits.turns allows more"
        return self._out_of_tokens()

    def _out_of_tokens(self) -> tuple[Stop, str] | None:
        spent = self.input + self.output
        if self.limits.tokens is not None and spent >= self.limits.tokens:
            return "tokens", f"stopped after {spent:,} tokens; limits.tokens allows {self.limits.tokens:,}"
        return None
