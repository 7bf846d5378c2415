"""A server that costs next to nothing: what is left of a call's time is the client's. Standard library only.

    python -I -S servers_fast.py [--http PORT_FILE] [--start SECONDS] [--tools N] [--modern] [--mark=FILE]

It speaks the handshake protocol, and with `--modern` 2026-07-28 too. `--start` is how long it takes to come up (it
sleeps, so that thirty of them do not fight for two processors), `--mark` a file that gets a line for each start. Over
HTTP it writes its port into `PORT_FILE` and ends with its stdin. Tools: `echo` gives back `text`, `fill` gives `size`
bytes, and as many others as asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
INFO = {"name": "fast", "version": "1"}


def tools(count: int) -> list[dict[str, object]]:
    """Tools like those that servers have, a sentence and some properties; the last of them are `echo` and `fill`."""
    made: list[dict[str, object]] = []
    for number in range(count - 2):
        schema = {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where to look, from the root of the project."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "kinds": {"type": "array", "items": {"type": "string", "enum": ["file", "folder", "link"]}},
            },
            "required": ["path"],
        }
        name, about = f"search_{number}", f"Searches place number {number} and gives what is there, newest first."
        made.append({"name": name, "description": about, "inputSchema": schema, "annotations": {"readOnlyHint": True}})
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    size = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    made.append({"name": "echo", "description": "Gives back the text.", "inputSchema": text})
    made.append({"name": "fill", "description": "Gives so many bytes.", "inputSchema": size})
    return made


class Answers:
    """From the bytes of a request to the bytes of its answer; empty where there is none to give."""

    def __init__(self, count: int, modern: bool) -> None:
        self._modern = modern
        self._tools = tools(count)

    def __call__(self, line: bytes) -> bytes:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            return b""
        result = self._result(request["method"], request.get("params") or {})
        answer: dict[str, object] = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        else:
            if "_meta" in (request.get("params") or {}) and self._modern:
                result["resultType"] = "complete"
            answer["result"] = result
        return json.dumps(answer, separators=(",", ":")).encode()

    def _result(self, method: str, params: dict[str, object]) -> dict[str, object] | None:
        if method == "tools/call":
            arguments = params.get("arguments") or {}
            assert isinstance(arguments, dict)
            text = arguments["text"] if params["name"] == "echo" else "x" * arguments["size"]
            return {"content": [{"type": "text", "text": text}], "isError": False}
        if method == "tools/list":
            return {"tools": self._tools, **({"ttlMs": 0, "cacheScope": "private"} if self._modern else {})}
        capabilities = {"tools": {}}
        if method == "initialize":
            return {"protocolVersion": HANDSHAKE, "capabilities": capabilities, "serverInfo": INFO}
        if method == "server/discover" and self._modern:
            meta = {"io.modelcontextprotocol/serverInfo": INFO}
            cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            return {"supportedVersions": [MODERN], "capabilities": capabilities, "_meta": meta, **cached}
        return {} if method == "ping" else None


def serve_pipes(answers: Answers) -> None:
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        answer = answers(line)
        if answer:
            out.write(answer + b"\n")
            out.flush()


def serve_http(answers: Answers, port_file: str) -> None:
    """One thread, kept-alive connections, JSON answers; no streams of its own."""
    import asyncio  # only here: over pipes it would be most of the start

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            assert isinstance(transport, asyncio.Transport)
            self._transport = transport
            self._data = b""

        def data_received(self, data: bytes) -> None:
            self._data += data
            while (end := self._data.find(b"\r\n\r\n")) >= 0:
                head = self._data[:end].lower()
                mark = head.find(b"content-length:")
                size = int(head[mark + 15 :].split(b"\r\n", 1)[0]) if mark >= 0 else 0
                if len(self._data) < end + 4 + size:
                    return
                body, self._data = self._data[end + 4 : end + 4 + size], self._data[end + 4 + size :]
                self._transport.write(self._answer(head, body))

        def _answer(self, head: bytes, body: bytes) -> bytes:
            if not head.startswith(b"post"):
                return b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
            answer = answers(body)
            if not answer:
                return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
            start = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
            return start + str(len(answer)).encode() + b"\r\n\r\n" + answer

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Connection, "127.0.0.1", 0, backlog=512)
        with open(port_file + ".part", "w") as file:
            file.write(str(server.sockets[0].getsockname()[1]))
        os.replace(port_file + ".part", port_file)
        ended = loop.create_future()
        loop.add_reader(0, lambda: os.read(0, 4096) or ended.done() or ended.set_result(None))
        await ended

    asyncio.run(serve())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http")
    parser.add_argument("--start", type=float, default=0.0)
    parser.add_argument("--tools", type=int, default=10)
    parser.add_argument("--modern", action="store_true")
    parser.add_argument("--mark")
    options = parser.parse_args()
    if options.mark:
        with open(options.mark, "a") as file:
            file.write("started\n")
    time.sleep(options.start)
    answers = Answers(options.tools, options.modern)
    if options.http:
        serve_http(answers, options.http)
    else:
        serve_pipes(answers)


if __name__ == "__main__":
    main()
