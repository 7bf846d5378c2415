"""A server as a process of ours: JSON-RPC lines over its stdin and stdout, and nothing left of it afterwards.

The SDK has a stdio transport too. This one takes its place (on POSIX) because the hub must know what the SDK's keeps to
itself: the process id and exit code, the last lines of stderr, what was printed on stdout that is no message, and that
the process is dead although a grandchild holds its pipes open. It also ends the whole process group, whoever of it
lives on. Between the SDK's session above and the operating system below; it knows no MCP method.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import anyio
import mcp_types
from mcp.shared.message import SessionMessage

from toolbridge.servers.guardian import Guardian
from toolbridge.servers.mend import mended

GRACE_SECONDS = 2.0
"""How long a server may take to leave after its stdin ended, and again after SIGTERM."""

SETTLE_SECONDS = 0.5
"""How long a process may live on after its output ended and still count as having ended by itself."""

ORPHANED_OUTPUT_SECONDS = 0.25
"""How long output is still read after the process died while someone else holds its pipe."""

LONGEST_LINE = 128 * 1024 * 1024
"""Bytes of one message; more than this is no message, and would be memory without end."""

STDERR_LINES = 40
STDERR_LINE_BYTES = 64 * 1024
"""What is kept of stderr: the last lines, and of a line at most this much. It is shortened where it is shown: half a
secret at the cut would not be known as one."""

LONGEST_SHOWN = 2000
"""Characters of a line of stderr that are shown."""

NOISE_KEPT = 5
"""Lines of stdout that were no messages, kept for the report."""

_CHUNK = 256 * 1024
_POLL_SECONDS = 0.01


class ServerProcess:
    """The SDK's transport protocol over a child process: enter and leave it in one task."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | None,
        on_end: Callable[[], None],
        redact: Callable[[str], str],
        guardian: Guardian,
    ) -> None:
        self._redact = redact
        self._command = command
        self._env = env
        self._cwd = cwd
        self._on_end = on_end
        self._guardian = guardian
        self._process: asyncio.subprocess.Process | None = None
        self._output: _Output | None = None
        self._stderr: deque[bytes] = deque(maxlen=STDERR_LINES)
        self._stderr_task: asyncio.Task[None] | None = None
        self._watch_task: asyncio.Task[None] | None = None
        self.noise: list[str] = []
        """What was printed on stdout and is no message: the first lines."""
        self.noise_count = 0
        self._ended_by_us = False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def exit_code(self) -> int | None:
        """How the process ended; `None` while it lives, and where nobody could tell."""
        return self._process.returncode if self._process else None

    @property
    def stderr(self) -> str:
        """The last lines of stderr, without secrets."""
        lines = self._redact(b"\n".join(self._stderr).decode("utf-8", "replace")).strip("\n").split("\n")
        return "\n".join(line[:LONGEST_SHOWN] for line in lines)

    def is_alive(self) -> bool:
        """Whether the process lives, asked of the system: a death is known here before the event loop hears of it."""
        if self._process is None or self._process.returncode is not None:
            return False
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return True
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:  # already buried
            return False

    @property
    def overflowed(self) -> bool:
        """Whether it printed without end and without a new line."""
        return self._output is not None and self._output.overflowed

    @property
    def died(self) -> bool:
        """Whether the process was started and ended by itself."""
        return self._process is not None and not self._ended_by_us and not self.is_alive()

    async def settle(self) -> None:
        """A process whose output has ended is about to die: wait a moment until it has, and its last words are read."""
        if self._output is not None and self._output.ended:
            await _until(lambda: not self.is_alive(), SETTLE_SECONDS)
        if not self.is_alive() and self._stderr_task is not None:
            await asyncio.wait([self._stderr_task], timeout=ORPHANED_OUTPUT_SECONDS)

    async def __aenter__(self) -> tuple[_Output, _Input]:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(self._env),
            cwd=self._cwd,
            limit=_CHUNK,
            start_new_session=True,
        )
        self._guardian.watch(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        self._stderr_task = asyncio.create_task(self._read_stderr(process))
        self._watch_task = asyncio.create_task(self._watch(process))
        self._output = _Output(process.stdout, self._unread, self._on_end)
        return self._output, _Input(process.stdin)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        assert process is not None
        # Ending a process takes a moment and must not be cut short by whoever has lost patience with us.
        with anyio.CancelScope(shield=True):
            drain: asyncio.Task[None] | None = None
            try:
                await self.settle()
                self._ended_by_us = self.is_alive()
                drain = asyncio.create_task(_drain(process.stdout))
                await self._end(process)
                self._guardian.forget(process.pid)
            except BaseException:  # an interrupt, or the event loop going down: there is no time for manners
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
            finally:
                for task in (drain, self._stderr_task, self._watch_task):
                    if task is not None:
                        task.cancel()
                        with contextlib.suppress(asyncio.CancelledError):
                            await task
                # A survivor outside the group may hold the pipes; closing the transport closes our ends.
                transport: Any = getattr(process, "_transport", None)
                if transport is not None:
                    with contextlib.suppress(OSError):
                        transport.close()
                await asyncio.sleep(0)  # lets the transport close its pipes

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """The end of stdin first, as the protocol has it; then TERM, then KILL, to the whole group."""
        if process.stdin is not None:
            process.stdin.close()
        if self.is_alive():
            await _until(lambda: not self.is_alive(), GRACE_SECONDS)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not _group_lives(process.pid):
                break
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            await _until(lambda: not _group_lives(process.pid), GRACE_SECONDS)
        await _until(lambda: process.returncode is not None, GRACE_SECONDS)

    async def _read_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        line = b""
        while chunk := await process.stderr.read(_CHUNK):
            *whole, line = (line + chunk).split(b"\n")
            self._stderr.extend(each[:STDERR_LINE_BYTES] for each in whole[-STDERR_LINES:] if each.strip())
            line = line[:STDERR_LINE_BYTES]
        if line.strip():
            self._stderr.append(line)

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """End the output when the process is dead and a grandchild keeps the pipe open."""
        await _death(process)
        await asyncio.sleep(ORPHANED_OUTPUT_SECONDS)
        if process.stdout is not None and not process.stdout.at_eof():
            process.stdout.feed_eof()

    def _unread(self, line: bytes) -> SessionMessage | None:
        """A line that is no message: remembered, and answered for where it was meant as an answer."""
        text = line.decode("utf-8", "replace").strip()
        self.noise_count += 1
        if len(self.noise) < NOISE_KEPT:
            self.noise.append(text[:STDERR_LINE_BYTES])
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(text)
            if isinstance(value, dict) and "method" not in value and isinstance(value.get("id"), int | str):
                error = mcp_types.ErrorData(
                    code=mcp_types.INVALID_REQUEST, message=f"the answer is not JSON-RPC: {self._redact(text)[:200]}"
                )
                return SessionMessage(mcp_types.JSONRPCError(jsonrpc="2.0", id=value["id"], error=error))
        return None


class _Input:
    """The process's stdin as the SDK's write stream: each message is written by the task that sends it."""

    def __init__(self, stdin: asyncio.StreamWriter) -> None:
        self._stdin = stdin

    async def send(self, item: SessionMessage, /) -> None:
        if self._stdin.is_closing():
            raise anyio.ClosedResourceError
        self._stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        if isinstance(item.message, mcp_types.JSONRPCNotification):
            return  # "cancelled" above all: whoever sends it has waited for this server long enough
        try:
            await self._stdin.drain()
        except (ConnectionError, RuntimeError) as broken:
            raise anyio.BrokenResourceError from broken

    async def aclose(self) -> None:
        self._stdin.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """The transport closes stdin, when it ends the process."""


class _Output:
    """The process's stdout as the SDK's read stream: a line is a message, and what is none is told and passed over."""

    def __init__(
        self,
        stdout: asyncio.StreamReader,
        on_noise: Callable[[bytes], SessionMessage | None],
        on_end: Callable[[], None],
    ) -> None:
        self._stdout = stdout
        self._on_noise = on_noise
        self._on_end = on_end
        self._lines: deque[bytes] = deque()
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self.ended = False
        self.overflowed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            while self._lines:
                line = self._lines.popleft()
                try:
                    message = SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
                except ValueError:
                    answer = self._on_noise(line) if line.strip() else None
                    if answer is not None:
                        return answer
                    continue
                return mended(message)
            chunk = await self._stdout.read(_CHUNK)
            if not chunk or self._rest_bytes > LONGEST_LINE:
                if chunk:
                    self._on_noise(b"".join(self._rest)[:STDERR_LINE_BYTES])
                    self.overflowed = True
                self.ended = True
                self._on_end()
                raise StopAsyncIteration
            first, *others = chunk.split(b"\n")
            self._rest.append(first)
            self._rest_bytes += len(first)
            if others:
                self._lines.append(b"".join(self._rest))
                self._lines.extend(others[:-1])
                self._rest = [others[-1]]
                self._rest_bytes = len(others[-1])

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """The pipe belongs to the transport."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


async def _drain(stdout: asyncio.StreamReader | None) -> None:
    """Read on to nowhere: a server that is stuck writing never gets to see that its input has ended."""
    if stdout is None:
        return
    # The reader that was cancelled may still be leaving; only one may wait on a stream at a time.
    while True:
        try:
            if not await stdout.read(_CHUNK):
                return
        except RuntimeError:
            await asyncio.sleep(_POLL_SECONDS)


async def _death(process: asyncio.subprocess.Process) -> None:
    """Wait for the process itself: `Process.wait` waits for its pipes too, which others may hold."""
    try:
        descriptor = os.pidfd_open(process.pid) if sys.platform == "linux" else None
    except (AttributeError, OSError):
        descriptor = None
    if descriptor is None:
        while process.returncode is None:
            await asyncio.sleep(0.1)
        return
    loop = asyncio.get_running_loop()
    dead = asyncio.Event()
    loop.add_reader(descriptor, dead.set)
    try:
        await dead.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _until(condition: Callable[[], bool], seconds: float) -> None:
    with anyio.move_on_after(seconds):
        while not condition():
            await anyio.sleep(_POLL_SECONDS)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
