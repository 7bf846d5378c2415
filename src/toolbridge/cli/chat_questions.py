"""Questions of servers in the middle of a chat: one at a time, and none that outlives what it was asked for.

`form` asks them. Here it is seen to that the terminal is not taken from somebody else: a question that was asked for a
call is withdrawn when the answer is stopped, and one that comes while the prompt is open is declined.
"""

from __future__ import annotations

import asyncio
from typing import Any

from toolbridge.cli.form import Form
from toolbridge.cli.paragraph import one_line


class ServerQuestions:
    """What servers ask the person."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._open: set[asyncio.Task[dict[str, Any]]] = set()
        self._turn = asyncio.Lock()
        self.at_prompt = False
        """Whether the person is about to type something else."""

    async def elicit(self, server: str, params: Any) -> dict[str, Any]:
        """A question of a server: what the protocol calls an elicitation."""
        if self.at_prompt:
            message = one_line(self._form.hidden(params.message))
            self._form.line.say(f"{one_line(server)} asks: {message} (declined: nothing was asked of it)")
            return {"action": "decline"}
        task = asyncio.ensure_future(self._asked(server, params))
        self._open.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is not None and here.cancelling():
                task.cancel()
                raise
            return {"action": "cancel"}  # withdrawn by us, which is no reason for the server's connection to end
        finally:
            self._open.discard(task)

    async def _asked(self, server: str, params: Any) -> dict[str, Any]:
        async with self._turn:
            return await self._form.elicit(server, params)

    async def withdraw(self) -> None:
        """Nobody answers any more. When this is done, the terminal is free."""
        for each in self._open:
            each.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
