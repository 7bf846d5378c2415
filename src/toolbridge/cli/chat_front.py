"""The chat at a prompt: the person is in front, in the main thread; servers and model are behind, in a loop of theirs.

Two threads, since a prompt blocks and servers must not wait for a person to type. Only one of them is at work at a
time. An interrupt means what the moment says: at the prompt it drops the line; while an answer comes it stops the
answer, and tells servers and model so; a second one before that is done leaves at once, and the hub's guardian ends the
processes.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from toolbridge.cli import INTERRUPTED, live
from toolbridge.cli.chat_commands import Leave, Question, completions, obey
from toolbridge.cli.chat_prompt import Prompt
from toolbridge.cli.chat_session import Session, Wishes, session_open
from toolbridge.cli.words import counted

if TYPE_CHECKING:
    import asyncio

    from toolbridge.model.model import Model

WAKE_SECONDS = 0.2
"""How often the main thread looks up: on Windows nothing else would let an interrupt through."""

REMIND_SECONDS = 0.05
"""How long an interrupt may wait to be met before it is sent again."""

HINT = "(Ctrl-D or /quit leaves)"


def converse(wishes: Wishes, model: Model) -> int:
    """Talk until the person leaves."""
    interrupts = _Interrupts()
    interrupts.take_over()
    behind = _Behind(wishes, model, interrupts)
    session = behind.open()
    try:
        _greet(session)
        prompt = Prompt(completions(session))
        while True:
            session.questions.at_prompt = True
            try:
                with interrupts.at_prompt():
                    line = prompt.ask(session.title)
            except KeyboardInterrupt:
                print(f"\n{session.screen.paint(HINT, 'dim')}", file=sys.stderr, flush=True)
                continue
            if line is None:
                return 0
            match obey(line, session):
                case Question(text):
                    session.questions.at_prompt = False
                    behind.run(lambda text=text: session.ask(text))
                case Leave():
                    return 0
                case None:
                    pass
    finally:
        behind.close()


def _greet(session: Session) -> None:
    offer = session.chat.offer
    tools = counted(len(session.hub.tools), "tool")
    there = [each for each in session.hub.status.values() if each.failure is None]
    servers = counted(len(session.hub.status), "server")
    if len(there) < len(session.hub.status):
        servers = f"{len(there)} of {servers} (/servers says why)"
    about = f"{session.title} with {tools} of {servers}, about {offer.cost.shown:,} tokens. /help says what there is."
    session.screen.tell(about)
    apart = sum(len(each.quarantined) for each in there)
    if apart:
        session.screen.tell(f"{counted(apart, 'tool')} not as locked and not used; /servers says why")
    before = len(session.chat.history)
    if before:
        session.screen.tell(f"{session.chat.conversation or session.wishes.conversation}: {counted(before, 'message')}")


class _Interrupts:
    """What SIGINT does at the moment; in the main thread, where Python runs it."""

    def __init__(self) -> None:
        self.cancel: Callable[[], object] | None = None
        self.is_stopping = False
        self._is_typing = False
        self._unseen, self._noted = socket.socketpair()
        """A byte for every interrupt that has come, until it is met."""

    def take_over(self) -> None:
        """From now on interrupts are met here.

        Python meets a signal when its main thread goes on, and `readline` lets it go on when a signal comes while it
        waits: one that comes right before that is met at the next key. So that it is met at once, it is sent again.
        """
        for each in (self._unseen, self._noted):
            each.setblocking(False)
        signal.signal(signal.SIGINT, self)
        signal.set_wakeup_fd(self._noted.fileno(), warn_on_full_buffer=False)
        if os.name == "posix":
            threading.Thread(target=self._remind, name="toolbridge interrupts", daemon=True).start()

    def _remind(self) -> None:
        while True:
            select.select([self._unseen], [], [])
            time.sleep(REMIND_SECONDS)
            if select.select([self._unseen], [], [], 0)[0]:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    @contextmanager
    def at_prompt(self) -> Generator[None]:
        """What is typed may be dropped."""
        self._is_typing = True
        try:
            yield
        finally:
            self._is_typing = False

    def __call__(self, *_: object) -> None:
        with suppress(BlockingIOError):
            self._unseen.recv(1024)
        if self._is_typing:
            self._is_typing = False
            raise KeyboardInterrupt
        if self.cancel is None:
            return  # between an answer and the prompt: what was to be stopped is over
        if self.is_stopping:
            os._exit(INTERRUPTED)
        self.is_stopping = True
        self.cancel()


class _Behind:
    """The thread with the event loop. What it is given to do is done there, and waited for."""

    def __init__(self, wishes: Wishes, model: Model, interrupts: _Interrupts) -> None:
        self._wishes = wishes
        self._model = model
        self._interrupts = interrupts
        self._news: queue.Queue[Session | BaseException | None] = queue.Queue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._main: asyncio.Task[Any] | None = None
        self._over: asyncio.Event | None = None
        self._session: Session | None = None
        self._thread = threading.Thread(target=self._live, name="toolbridge chat", daemon=True)

    def open(self) -> Session:
        """Start the servers. An interrupt meanwhile leaves."""
        self._interrupts.cancel = self._give_up
        self._thread.start()
        found = self._wait()
        self._interrupts.cancel = None
        if self._interrupts.is_stopping:
            raise KeyboardInterrupt
        assert isinstance(found, Session)
        return found

    def run(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Do something there until it is done or stopped."""
        import asyncio

        assert self._loop is not None
        loop = self._loop
        interrupts = self._interrupts

        async def job() -> None:
            task = asyncio.ensure_future(work())
            interrupts.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            if interrupts.is_stopping:  # before there was anything to stop
                task.cancel()
            end: BaseException | None = None
            try:
                await task
            except asyncio.CancelledError:
                self._stopped()
            except Exception as failure:
                end = failure
            self._news.put(end)

        interrupts.cancel = lambda: None
        asyncio.run_coroutine_threadsafe(job(), loop)
        try:
            self._wait()
        finally:
            interrupts.cancel = None
            interrupts.is_stopping = False

    def close(self) -> None:
        """End everything; a second interrupt does not wait for it."""
        self._interrupts.is_stopping = True  # the next one leaves at once
        self._interrupts.cancel = lambda: None
        if self._loop is not None and self._over is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._over.set)
        while self._thread.is_alive():
            self._thread.join(WAKE_SECONDS)

    def _wait(self) -> Session | None:
        while True:
            try:
                found = self._news.get(timeout=WAKE_SECONDS)
            except queue.Empty:
                continue
            if isinstance(found, BaseException):
                raise found
            return found

    def _stopped(self) -> None:
        """The answer was stopped: say so where the person looks."""
        if self._session is not None:
            self._session.screen.stop()

    def _give_up(self) -> None:
        if self._loop is not None and self._main is not None:
            self._loop.call_soon_threadsafe(self._main.cancel)
        else:
            os._exit(INTERRUPTED)  # nothing was started yet

    def _live(self) -> None:
        try:
            live.run(self._work)
        except BaseException as failure:
            self._news.put(failure)

    async def _work(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._main = asyncio.current_task()
        self._over = asyncio.Event()
        async with session_open(self._wishes, self._model) as session:
            self._session = session
            self._news.put(session)
            await self._over.wait()
