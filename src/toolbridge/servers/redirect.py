"""The way back from a browser: where a login's address is shown, and how its answer reaches us.

An address of our own on loopback that the browser is sent back to, or the address that a person pastes where the
browser is on another machine. Knows nothing of tokens; `oauth` does.
"""

from __future__ import annotations

import asyncio
import html
import os
import sys
import webbrowser
from contextlib import suppress
from typing import Any, TextIO
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult

REDIRECT_PATH = "/callback"


def state_of(url: str) -> str:
    return parse_qs(urlsplit(url).query).get("state", [""])[0]


class NotThisLoginError(ValueError):
    """An address that does not belong to the login under way."""


def read_redirect(text: str, state: str) -> AuthorizationCodeResult:
    """What an authorization server sent the browser back with: the whole address, or only its query.

    Raises `NotThisLoginError` where it is not the answer to this login, and `ValueError` with the server's reason where
    it is a refusal.
    """
    text = text.strip().strip("<>\"'")
    query = urlsplit(text).query or text.partition("?")[2] or text
    values = {key: found[0] for key, found in parse_qs(query).items()}
    if not state or values.get("state") != state:
        raise NotThisLoginError("the address is not the one that this login leads to")
    if "error" in values:
        raise ValueError(" ".join(f"{values['error']} {values.get('error_description', '')}".split())[:300])
    if not values.get("code"):
        raise NotThisLoginError("the address has no code")
    return AuthorizationCodeResult(code=values["code"], state=state, iss=values.get("iss"))


class Redirect:
    """The loopback address that the browser comes back to, open for one login.

    Anybody on this machine may knock. Only who knows the login's state is heard; the others get a page that says so.
    """

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._state = ""
        self._result: asyncio.Future[AuthorizationCodeResult | ValueError] = asyncio.Future()
        self._visits: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, *ports: int) -> Redirect:
        """At the first of these ports that is free."""
        redirect = cls()
        for port in ports[:-1]:
            with suppress(OSError):
                redirect._server = await asyncio.start_server(redirect._visit, "127.0.0.1", port)
                return redirect
        redirect._server = await asyncio.start_server(redirect._visit, "127.0.0.1", ports[-1])
        return redirect

    @property
    def uri(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{REDIRECT_PATH}"

    async def wait(self, state: str) -> AuthorizationCodeResult:
        self._state = state
        come = await asyncio.shield(self._result)
        if isinstance(come, ValueError):
            raise come
        return come

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            visits = [visit for visit in self._visits if visit.cancel()]
            await asyncio.gather(*visits, return_exceptions=True)
            await self._server.wait_closed()
        self._result.cancel()

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._visits.add(task)
        try:
            async with asyncio.timeout(10):
                line = (await reader.readline()).decode("latin-1").split()
                while (await reader.readline()).strip():
                    pass
                await self._serve(writer, *(line[:2] if len(line) == 3 else ("", "")))
        except (OSError, ValueError, TimeoutError):
            pass  # a visitor who stammers or leaves
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._visits.discard(task)

    async def _serve(self, writer: asyncio.StreamWriter, method: str, target: str) -> None:
        come: AuthorizationCodeResult | ValueError | None = None
        if method != "GET" or urlsplit(target).path != REDIRECT_PATH:
            status, text = "404 Not Found", "There is nothing here."
        else:
            try:
                come = read_redirect(target, self._state)
                status, text = "200 OK", "You are logged in. You can close this page."
            except NotThisLoginError as failure:
                status, text = "400 Bad Request", f"This is no login: {failure}."
            except ValueError as failure:
                come, status, text = failure, "200 OK", f"You are not logged in: {failure}"
        page = f"<!doctype html><meta charset=utf-8><title>toolbridge</title><p>{html.escape(text)}".encode()
        writer.write(_HEAD.format(status=status, length=len(page)).encode("ascii") + page)
        await writer.drain()
        if come is not None and not self._result.done():
            self._result.set_result(come)


_HEAD = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\n\r\n"
)


async def show(server: str, url: str, state: str) -> str | None:
    """Open the browser; where there is none, show the address, and take what a person pastes into the terminal."""
    if has_browser() and await asyncio.to_thread(webbrowser.open, url):
        print(f"toolbridge: log in to {server!r} in your browser; if none opened:\n  {url}", file=sys.stderr)
        return None
    print(f"toolbridge: to log in to {server!r}, open\n  {url}", file=sys.stderr)
    return await pasted(sys.stdin, state)


def has_browser() -> bool:
    """Whether a window can open here. Without one, `webbrowser` may start a text browser in the user's terminal."""
    if sys.platform in ("win32", "darwin"):
        return not os.environ.get("SSH_CONNECTION")
    return any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


async def pasted(stream: TextIO | None, state: str) -> str | None:
    """The address that a person pastes, once it is the right one; `None` where nobody can paste."""
    if stream is None or not stream.isatty():
        return None
    print("then paste the address that the browser ends up at, if that page does not load:", file=sys.stderr)
    while line := await _typed_line(stream):
        try:
            read_redirect(line, state)
        except NotThisLoginError as failure:
            print(f"{failure}; paste all of it:", file=sys.stderr)
            continue
        except ValueError:
            pass  # a refusal is an answer too
        return line
    return None


async def _typed_line(stream: TextIO) -> str:
    loop, typed = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(stream.fileno(), typed.set)
    except NotImplementedError:  # the loop of Windows watches sockets only
        return ""
    try:
        await typed.wait()
        return stream.readline()
    finally:
        loop.remove_reader(stream.fileno())
