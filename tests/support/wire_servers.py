"""A small HTTP server that speaks the wire formats of all providers, on loopback, for real SDKs as its clients.

It is told what the model says (a scenario, or the very bytes) and keeps what it was asked and what it sent. One server
has the endpoints of every provider; Mistral's, whose path is OpenAI's, stands under `/mistral`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.wire import chat, converse, gemini, messages, responses
from tests.support.wire.scenario import Scenario

LONGEST_REQUEST = 4_000_000
SECONDS = 10
"""How long a connection may stay silent."""

EVENTS = "text/event-stream"
JSON = "application/json"
FRAMES = "application/vnd.amazon.eventstream"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider answers, and how."""

    path: re.Pattern[str]
    whole: Callable[[Scenario], Any]
    stream: Callable[[Scenario], bytes]
    streams: Callable[[str, Mapping[str, Any]], bool]
    """(path, body) to whether a stream is asked for."""
    media: str = EVENTS


def _by_field(_: str, body: Mapping[str, Any]) -> bool:
    return body.get("stream") is True


def _by_path(path: str, _: Mapping[str, Any]) -> bool:
    return "stream" in path.rpartition("/")[2]


ENDPOINTS = {
    "mistral": Endpoint(
        re.compile(r"/mistral/v1/chat/completions"), chat.mistral_whole, chat.mistral_stream, _by_field
    ),
    "openai-chat": Endpoint(re.compile(r"/v1/chat/completions"), chat.whole, chat.stream, _by_field),
    "openai-responses": Endpoint(re.compile(r"/v1/responses"), responses.whole, responses.stream, _by_field),
    "anthropic": Endpoint(re.compile(r"/v1/messages"), messages.whole, messages.stream, _by_field),
    "gemini": Endpoint(
        re.compile(r"/v1(beta1?)?/models/[^/:]+:(generateContent|streamGenerateContent)"),
        gemini.whole,
        gemini.stream,
        _by_path,
    ),
    "bedrock": Endpoint(
        re.compile(r"/model/[^/]+/converse(-stream)?"), converse.whole, converse.stream, _by_path, FRAMES
    ),
}


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    provider: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    streamed: bool


@dataclass(slots=True)
class Script:
    """What the server answers."""

    scenario: Scenario | None = None
    raw: bytes | None = None
    """These bytes in place of a scenario's."""
    media: str | None = None
    pieces: Callable[[bytes], Iterable[bytes]] = field(default=lambda body: (body,))
    """How the body is cut for the wire."""
    status: int = 200


class WireServer:
    """Use it with `with`. What it answers is changed by `says`; requests are answered as it stood when they came."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.sent: list[bytes] = []
        """The bodies of its answers, one for each request."""
        self.script = Script()
        self.turns: list[Script] = []
        """What it answers first, one for each request."""
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def says(
        self,
        scenario: Scenario | None = None,
        *,
        raw: bytes | None = None,
        media: str | None = None,
        every: int | None = None,
        status: int = 200,
    ) -> None:
        """From now on it answers with this, in pieces of `every` bytes."""
        self.script = Script(scenario, raw, media, pieces_of(every), status)

    def says_in_turn(self, *scenarios: Scenario, every: int | None = None) -> None:
        """One answer after the other, each once; then it has nothing more to say."""
        self.turns = [Script(each, pieces=pieces_of(every)) for each in scenarios]
        self.script = Script()

    def __enter__(self) -> WireServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(SECONDS)

    def answer(self, path: str, headers: Mapping[str, str], text: bytes) -> tuple[int, str, bytes, bool]:
        """(status, media type, body, whether it is a stream) for a request."""
        script, address = (self.turns.pop(0) if self.turns else self.script), urlsplit(path)
        found = [(name, each) for name, each in ENDPOINTS.items() if each.path.fullmatch(address.path)]
        if not found:
            return 404, JSON, b'{"error": {"message": "no such endpoint", "code": 404}}', False
        ((name, endpoint),) = found
        body = json.loads(text)
        streamed = endpoint.streams(address.path, body)
        self.requests.append(Request(name, path, headers, body, streamed))
        as_list = name == "gemini" and streamed and parse_qs(address.query).get("alt") != ["sse"]
        media = script.media or (endpoint.media if streamed and not as_list else JSON)
        if script.raw is not None:
            sent = script.raw
        elif script.scenario is None:
            return 500, JSON, b'{"error": {"message": "the test did not say what to answer"}}', False
        elif not streamed:
            sent = json.dumps(endpoint.whole(script.scenario), ensure_ascii=False).encode()
        else:
            sent = gemini.array_stream(script.scenario) if as_list else endpoint.stream(script.scenario)
        self.sent.append(sent)
        return script.status, media, sent, streamed


def pieces_of(size: int | None) -> Callable[[bytes], Iterable[bytes]]:
    def cut(body: bytes) -> Iterable[bytes]:
        return (body[start : start + size] for start in range(0, len(body), size)) if size else (body,)

    return cut


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are not our concern; what else goes wrong, the client sees as a broken answer."""


def _handler(owner: WireServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = SECONDS

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            if length > LONGEST_REQUEST:
                self.close_connection = True
                return self.send_error(413)
            pieces = (owner.turns[0] if owner.turns else owner.script).pieces
            asked = self.rfile.read(length)
            status, media, body, streamed = owner.answer(self.path, dict(self.headers.items()), asked)
            self.send_response(status)
            self.send_header("content-type", media)
            if not streamed:
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                return None
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for piece in pieces(body):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
            return None

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
