"""An HTTP server that misbehaves as it is told, one answer after the other, and keeps what it saw."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import responses
from typing import Any, Literal

SECONDS = 10.0
EVENTS = "text/event-stream"

GOOD = (
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = GOOD
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    media: str = EVENTS
    later: bytes = b""
    """More of the body, in a chunk of its own."""
    then: Literal["end", "hang", "reset", "close"] = "end"
    """After the body: its proper end; silence until the client goes; a reset; or the connection simply closed."""
    silent: bool = False
    """Nothing at all, until the client goes; or the connection is closed or reset, where `then` says so."""
    raw: bytes = b""
    """Bytes in place of an answer, before the connection is closed: what speaks no HTTP."""


def error(status: int, message: str, **headers: str) -> Answer:
    body = json.dumps({"error": {"message": message}}).encode()
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()}, "application/json")


@dataclass(frozen=True, slots=True)
class Asked:
    target: str
    headers: Mapping[str, str]
    body: Any


class FaultyServer:
    """Use it with `with`. The last of the answers is given over and over."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [Answer()]
        self.asked: list[Asked] = []
        self.connections = 0
        self.given = threading.Event()
        """Set when an answer, or its silence, has begun."""
        self.left = threading.Event()
        """Set when a client went before its answer was over."""
        self._stopped = threading.Event()
        owner = self

        class Connection(socketserver.StreamRequestHandler):
            timeout = SECONDS
            disable_nagle_algorithm = True

            def handle(self) -> None:
                owner.connections += 1
                while owner.serve(self.request, self.rfile):
                    pass

        self._server = _Server(("127.0.0.1", 0), Connection)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def says(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def stop_waiting(self) -> None:
        """End the silences."""
        self._stopped.set()

    def __enter__(self) -> FaultyServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)

    def serve(self, connection: socket.socket, lines: Any) -> bool:
        """Whether the connection is kept."""
        first = lines.readline()
        if not first:
            return False
        headers: dict[str, str] = {}
        while (line := lines.readline().decode("latin-1").strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = lines.read(int(headers.get("content-length", "0")))
        self.asked.append(Asked(first.split()[1].decode(), headers, json.loads(body)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.given.set()
        if answer.silent and answer.then == "end":
            return self._wait(connection)
        if answer.silent or answer.raw:
            connection.sendall(answer.raw)
            return self._close(connection, answer)
        whole = answer.then == "end"
        head = {"content-type": answer.media, "transfer-encoding": "chunked", **answer.headers}
        text = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        connection.sendall(f"HTTP/1.1 {answer.status} {responses.get(answer.status, '?')}\r\n{text}\r\n".encode())
        for piece in filter(None, (answer.body, answer.later)):
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        if whole:
            connection.sendall(b"0\r\n\r\n")
            return True
        if answer.then == "hang":
            return self._wait(connection)
        return self._close(connection, answer)

    def _close(self, connection: socket.socket, answer: Answer) -> bool:
        if answer.then == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        return False

    def _wait(self, connection: socket.socket) -> bool:
        connection.settimeout(0.05)
        while not self._stopped.is_set():
            try:
                if not connection.recv(1):
                    self.left.set()
                    return False
            except TimeoutError:
                continue
            except OSError:
                self.left.set()
                return False
        return False


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what some tests are about."""
