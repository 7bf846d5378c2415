"""A server over stdio that offers what a file says, and reads the file again for every listing.

    surface_server.py SURFACE [LEDGER]

SURFACE is JSON: name, version, instructions, tools, prompts; with `mute` it refuses to list its tools. Plain JSON-RPC lines, no SDK. Every tool answers that it ran, and
writes its name into the ledger; a call of `announce` tells first that the tools have changed, one of `die` ends it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def surface() -> dict[str, Any]:
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


def note(line: str) -> None:
    if len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answered(method: str, params: dict[str, Any]) -> Any:
    now = surface()
    if method == "initialize":
        note("start")
        said: dict[str, Any] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}, "prompts": {}},
            "serverInfo": {"name": now.get("name", "shed"), "version": now.get("version", "1.0")},
        }
        return {**said, "instructions": now["instructions"]} if "instructions" in now else said
    if method == "tools/list":
        return None if now.get("mute") else {"tools": now["tools"]}
    if method == "prompts/list":
        return {"prompts": [{"name": each} for each in now.get("prompts", ())]}
    if method == "tools/call":
        note(params["name"])
        if params["name"] == "die":
            os._exit(3)
        if params["name"] == "announce":
            say({"method": "notifications/tools/list_changed"})
        return {"content": [{"type": "text", "text": f"{params['name']} ran"}]}
    return {} if method == "ping" else None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answered(message["method"], message.get("params") or {})
        if result is None:
            code = -32603 if message["method"] == "tools/list" else -32601
            say({"id": message["id"], "error": {"code": code, "message": "Not done"}})
        else:
            say({"id": message["id"], "result": result})


main()
