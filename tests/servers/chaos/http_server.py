"""A server over HTTP that misbehaves as it is told, in a process of its own so that it can be killed and come back.

Plain asyncio and HTTP/1.1 by hand, so that a stream can be cut where one wants. `/control` takes a JSON object that is
merged into `BEHAVIOUR`; it is how a test says what goes wrong next. Started with

    http_server.py PORT LEDGER [CERTIFICATE KEY] [BEHAVIOUR as JSON]

it prints the port on stdout as soon as it listens. Endpoints: `/mcp` (streamable HTTP), `/sse` and `/messages` (the older
way), `/moved` (redirects to `/mcp`), `/page` (no MCP at all).
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
import uuid
from contextlib import suppress
from typing import Any

from tools import CONTENT, PROTOCOLS, TOOLS, Ledger, text, tool

BEHAVIOUR: dict[str, Any] = {
    "sessions": True,  # whether initialize gives a session id, which is then asked for
    "stale": [404, "json", "Session not found"],  # the answer to an unknown session: status, "json" or "text", words
    "status": {},  # method or "*" → [status, "json" or "text"]: the answer to that method, whatever it is
    "hang": [],  # methods that get no answer; "*" for all
    "cut": {},  # method → "before", "headers" or "middle": where the connection is closed instead of an answer
    "odd": {},  # method → "empty", "html", "accepted", "nonsense" or "silence": an answer with status 200 that is none
    "complain": {},  # method → [status, words]: does what it is asked for, and answers with an error of these words
    "once": False,  # whether only the next message is cut
    "die": True,  # whether the tools that die do
    "reply": "sse",  # or "json"
    "token": None,  # the bearer token that every request must carry
    "sse_post": 405,  # the answer to a POST on /sse, which knows only GET
    "redirect": [307, "/mcp"],
}
SESSIONS: set[str] = set()
STREAMS: dict[str, asyncio.StreamWriter] = {}
"""The open streams of the older way, by session."""
STANDING: list[asyncio.StreamWriter] = []
"""The open GET streams of streamable HTTP."""
LATE: list[dict[str, Any]] = []
LEDGER = Ledger(sys.argv[2] if __name__ == "__main__" else None)

REASONS = {200: "OK", 202: "Accepted", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class Cut(Exception):
    """The connection is to be closed here and now."""


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}",
        *(f"{key}: {value}" for key, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def respond(writer: asyncio.StreamWriter, status: int, body: bytes = b"", **headers: str) -> None:
    given = {key.replace("_", "-"): value for key, value in headers.items()}
    writer.write(head(status, {**given, "content-length": str(len(body))}) + body)


def respond_error(writer: asyncio.StreamWriter, status: int, form: str, words: str = "", id: Any = None) -> None:
    words = words or f"refused with {status}"
    if form == "json":
        error = {"jsonrpc": "2.0", "id": id, "error": {"code": -32001, "message": words}}
        respond(writer, status, json.dumps(error).encode(), content_type="application/json")
    else:
        respond(writer, status, f"{words}\n".encode(), content_type="text/plain")


def event(message: dict[str, Any]) -> bytes:
    return f"event: message\ndata: {json.dumps({'jsonrpc': '2.0', **message})}\n\n".encode()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def answer_to(message: dict[str, Any]) -> dict[str, Any]:
    """The right answer to a request."""
    id, method, params = message["id"], message["method"], message.get("params") or {}
    if method == "initialize":
        asked = params.get("protocolVersion")
        version = asked if asked in PROTOCOLS else PROTOCOLS[-1]
        return {
            "id": id,
            "result": {
                "protocolVersion": version,
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "chaos over http", "version": "1.0"},
            },
        }
    if method == "tools/list":
        names = ("echo", "content", "count", "change", "large", "count_and_die", "count_and_die_read_only", "identity")
        return {"id": id, "result": {"tools": [*(each for each in TOOLS if each["name"] in names), *LATE]}}
    if method == "tools/call":
        return {"id": id, "result": call(params["name"], params.get("arguments") or {})}
    if method == "ping":
        return {"id": id, "result": {}}
    return {"id": id, "error": {"code": -32601, "message": f"Method not found: {method}"}}


def call(name: str, given: dict[str, Any]) -> dict[str, Any]:
    match name:
        case "echo":
            return text(given["text"])
        case "content":
            return CONTENT[given["kind"]]
        case "large":
            return text("x" * int(given["number"]))
        case "identity":
            return text(str(os.getpid()))
        case "count" | "count_and_die" | "count_and_die_read_only":
            LEDGER.write("count", key=given["key"])
            if name != "count" and BEHAVIOUR["die"]:
                os._exit(7)
            return text(f"counted {given['key']}")
        case "change":
            LATE.append(tool(given["text"], {"type": "object"}, "Came later."))
            for stream in STANDING:
                stream.write(chunk(event({"method": "notifications/tools/list_changed"})))
            return text("changed")
        case _:
            return text(f"{name} ran")


def session_of(headers: dict[str, str]) -> str | None:
    return headers.get("mcp-session-id")


async def answer_oddly(writer: asyncio.StreamWriter, way: str) -> None:
    match way:
        case "empty":
            respond(writer, 200, b"", content_type="application/json")
        case "html":
            respond(writer, 200, b"<html>hello</html>", content_type="text/html")
        case "accepted":
            respond(writer, 202)
        case "nonsense":
            respond(writer, 200, b'{"jsonrpc": "2.0", "id"', content_type="application/json")
        case _:  # a stream that lives and says nothing
            writer.write(head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
            with suppress(ConnectionError):
                while not writer.is_closing():
                    writer.write(chunk(b": still here\n\n"))
                    await writer.drain()
                    await asyncio.sleep(0.05)
            raise Cut


async def post_mcp(writer: asyncio.StreamWriter, headers: dict[str, str], message: dict[str, Any]) -> None:
    method, id, session = message.get("method"), message.get("id"), session_of(headers)
    if BEHAVIOUR["sessions"] and session is not None and session not in SESSIONS:
        return respond_error(writer, *BEHAVIOUR["stale"], id=id)
    if BEHAVIOUR["sessions"] and session is None and method not in ("initialize", "server/discover"):
        return respond_error(writer, 400, "json", id=id)
    if id is None or method is None:
        return respond(writer, 202)
    if method in BEHAVIOUR["odd"]:
        return await answer_oddly(writer, BEHAVIOUR["odd"][method])
    place = BEHAVIOUR["cut"].get(method)
    if BEHAVIOUR["once"]:
        BEHAVIOUR["cut"] = {}
    if place == "before":
        raise Cut
    reply = answer_to(message)  # what it does it does; only the news may be lost
    if method in BEHAVIOUR["complain"]:
        status, words = BEHAVIOUR["complain"][method]
        return respond_error(writer, status, "json", words, id)
    extra: dict[str, str] = {}
    if method == "initialize" and BEHAVIOUR["sessions"]:
        extra["mcp-session-id"] = uuid.uuid4().hex
        SESSIONS.add(extra["mcp-session-id"])
    if "error" in reply and method == "server/discover":
        return respond(writer, 400, json.dumps({"jsonrpc": "2.0", **reply}).encode(), content_type="application/json")
    if BEHAVIOUR["reply"] == "json" and place is None:
        body = json.dumps({"jsonrpc": "2.0", **reply}).encode()
        return respond(
            writer, 200, body, content_type="application/json", **{k.replace("-", "_"): v for k, v in extra.items()}
        )
    writer.write(head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked", **extra}))
    if place == "headers":
        await writer.drain()
        raise Cut
    data = event(reply)
    if place == "middle":
        writer.write(chunk(data[: len(data) // 2]))
        await writer.drain()
        raise Cut
    writer.write(chunk(data) + b"0\r\n\r\n")
    return None


async def standing_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
    await writer.drain()
    STANDING.append(writer)
    try:
        await reader.read()  # until the client is gone
    finally:
        STANDING.remove(writer)
    raise Cut


async def older_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    session = uuid.uuid4().hex
    STREAMS[session] = writer
    writer.write(head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
    writer.write(chunk(f"event: endpoint\ndata: /messages?session_id={session}\n\n".encode()))
    await writer.drain()
    try:
        await reader.read()
    finally:
        del STREAMS[session]
    raise Cut


async def post_older(writer: asyncio.StreamWriter, query: str, message: dict[str, Any]) -> None:
    stream = STREAMS.get(query.removeprefix("session_id="))
    if stream is None:
        return respond_error(writer, 404, "text")
    respond(writer, 202)
    if message.get("id") is not None and message.get("method") is not None:
        if BEHAVIOUR["cut"].get(message["method"]):
            answer_to(message)
            stream.close()
        else:
            stream.write(chunk(event(answer_to(message))))
            await stream.drain()
    return None


def control(writer: asyncio.StreamWriter, change: dict[str, Any]) -> None:
    if change.pop("forget", False):
        SESSIONS.clear()
    BEHAVIOUR.update(change)
    respond(writer, 200, json.dumps({"sessions": sorted(SESSIONS)}).encode(), content_type="application/json")


async def read_request(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes] | None:
    start = await reader.readline()
    if not start.strip():
        return None
    verb, target, _ = start.decode().split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        key, _, value = line.decode().partition(":")
        headers[key.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return verb, target, headers, body


async def serve_one(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    verb: str,
    target: str,
    headers: dict[str, str],
    body: bytes,
) -> None:
    path, _, query = target.partition("?")
    message: dict[str, Any] = json.loads(body) if body else {}
    if path == "/control":
        return control(writer, message)
    method = message.get("method", "")
    LEDGER.write("request", verb=verb, path=path, method=method, headers=headers)
    if BEHAVIOUR["token"] is not None and headers.get("authorization") != f"Bearer {BEHAVIOUR['token']}":
        return respond(writer, 401, b"who are you?\n", content_type="text/plain", www_authenticate="Bearer")
    wanted = BEHAVIOUR["status"].get(method) or BEHAVIOUR["status"].get("*")
    if wanted and path != "/moved":
        return respond_error(writer, *wanted, id=message.get("id"))
    if method in BEHAVIOUR["hang"] or "*" in BEHAVIOUR["hang"]:
        await reader.read()
        raise Cut
    match verb, path:
        case "POST", "/mcp":
            await post_mcp(writer, headers, message)
        case "GET", "/mcp" if session_of(headers) in SESSIONS:
            await standing_stream(reader, writer)
        case "DELETE", "/mcp":
            SESSIONS.discard(session_of(headers) or "")
            respond(writer, 200)
        case "GET", "/sse":
            await older_stream(reader, writer)
        case "POST", "/sse":
            respond_error(writer, BEHAVIOUR["sse_post"], "text")
        case "POST", "/messages":
            await post_older(writer, query, message)
        case _, "/moved":
            status, location = BEHAVIOUR["redirect"]
            respond(writer, status, location=location)
        case _, "/page":
            respond(writer, 200, b"<html>hello</html>", content_type="text/html")
        case _, "/mcp":
            respond_error(writer, 405, "text")
        case _:
            respond_error(writer, 404, "text")
    return None


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while (request := await read_request(reader)) is not None:
            await serve_one(reader, writer, *request)
            await writer.drain()
    except (Cut, ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        with suppress(ConnectionError):
            writer.close()


async def main(port: int, rest: list[str]) -> None:
    if rest and rest[-1].startswith("{"):
        BEHAVIOUR.update(json.loads(rest.pop()))
    context = None
    if rest:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(rest[0], rest[1])
    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=context, limit=2**26)
    LEDGER.write("start", pid=os.getpid())
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[3:]))
