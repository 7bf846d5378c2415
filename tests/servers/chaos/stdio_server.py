"""A server over stdio that misbehaves as its arguments say. Plain JSON-RPC lines, no SDK: what it does wrong it really does.

stdio_server.py [WORD | WORD=VALUE]…

ledger=PATH          where it writes what happened
exit=CODE            exits at once                        say=TEXT       … after this on stderr
down=PATH            exits with 9 at once while there is such a file
delay=SECONDS        starts slowly                        deaf           never reads anything
protocol=VERSION     what it answers to initialize        instructions=TEXT
discover=WAY         server/discover: refuse (-32601, the default), die, silent
silent=METHOD        never answers that method            exit_at=METHOD exits when that method comes
wrong_result=METHOD  answers it with a string             error=METHOD   answers it with an error
ignore_eof, ignore_term   goes on when stdin ends, when it is told to terminate
grandchild           starts `sleep`, which keeps our stdout open and outlives us
banner=TEXT          prints that on stdout first          noise          prints log lines between the messages
shout=BYTES          writes that much to stderr at the start
tools=NUMBER         so many tools more                   pages=NUMBER   tools a page
cursor=WAY           endless, same (for ever), empty ("" at the end)
storm                announces a change of its tools after each listing
crash_after=NUMBER   exits when it has answered so many calls
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from tools import CONTENT, PROTOCOLS, QUESTIONS, TOOLS, Ledger, first_time, more_tools, text, tool


def read_words(words: list[str]) -> dict[str, str]:
    return {key: value for key, _, value in (word.partition("=") for word in words)}


OPTIONS = read_words(sys.argv[1:])
LEDGER = Ledger(OPTIONS.get("ledger"))
EXTRA = more_tools(int(OPTIONS.get("tools", "0")))
LATE: list[dict[str, Any]] = []
"""Tools that came during the run."""
ANSWERS: dict[str, tuple[Any, str]] = {}
"""Questions we asked the client, by our id: the id of the call that waits, and the kind."""
WRITING = threading.Lock()
answered = 0
"""Calls that were answered."""


def quit_with(code: int) -> None:
    """Ends the process now: nothing that is buffered is written, no one is told."""
    sys.stderr.flush()
    os._exit(code)


def print_raw(data: bytes) -> None:
    with WRITING:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def print_message(message: dict[str, Any]) -> None:
    if "noise" in OPTIONS:
        print_raw(b"[info] about to answer\n\n")
    print_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def answer(id: Any, result: Any) -> None:
    print_message({"id": id, "result": result})


def refuse(id: Any, code: int, message: str) -> None:
    print_message({"id": id, "error": {"code": code, "message": message}})


def list_tools(params: dict[str, Any]) -> dict[str, Any]:
    tools = [*TOOLS, *EXTRA, *LATE]
    cursor = params.get("cursor")
    match OPTIONS.get("cursor"):
        case "endless":
            number = int(cursor or 0) + 1
            return {"tools": [tool(f"page_{number}", {"type": "object"}, "One more.")], "nextCursor": str(number)}
        case "same":
            return {"tools": TOOLS, "nextCursor": "again"}
        case "empty":
            return {"tools": TOOLS, "nextCursor": ""}
        case _ if "pages" in OPTIONS:
            size, start = int(OPTIONS["pages"]), int(cursor or 0)
            page: dict[str, Any] = {"tools": tools[start : start + size]}
            return {**page, "nextCursor": str(start + size)} if start + size < len(tools) else page
        case _:
            return {"tools": tools}


def garble(id: Any, kind: str) -> None:
    """Breaks the protocol, then answers as one should where that is still possible."""
    good = json.dumps({"jsonrpc": "2.0", "id": id, "result": text("after the garbage")}).encode() + b"\n"
    match kind:
        case "garbage":
            print_raw(b"{this is no json\n" + good)
        case "utf8":
            print_raw(b"\xff\xfe broken \xc3\x28\n" + good)
        case "wrong_id":
            print_raw(json.dumps({"jsonrpc": "2.0", "id": "nobody", "result": text("lost")}).encode() + b"\n")
        case "unasked":
            print_raw(json.dumps({"jsonrpc": "2.0", "id": 987654, "result": text("lost")}).encode() + b"\n" + good)
        case "missing":
            print_raw(json.dumps({"jsonrpc": "2.0", "id": id}).encode() + b"\n")
        case "wrong_type":
            answer(id, "a string")
        case "wrong_content":
            answer(id, {"content": [{"type": "hologram", "light": 1}]})
        case "no_text":
            answer(id, {"content": [{"type": "text"}]})
        case "array":
            print_raw(b"[1, 2, 3]\n" + good)
        case "long_line":
            print_raw(b"x" * 10_000_000)
            print_raw(b"\n" + good)
        case "twice":
            print_raw(good + good)
        case "half":
            print_raw(good[: len(good) // 2])
            quit_with(5)
        case _:
            refuse(id, -32602, f"no such garbage: {kind}")


def work(id: Any, number: float, token: Any, hang: bool) -> None:
    for step in range(int(number)):
        if token is not None:
            values = {"progressToken": token, "progress": step + 1, "total": number, "message": f"step {step + 1}"}
            print_message({"method": "notifications/progress", "params": values})
        time.sleep(0.05)  # the pace of the work
    if not hang:
        answer(id, text("done"))


def wait(id: Any, path: str) -> None:
    while not os.path.exists(path):
        time.sleep(0.005)
    LEDGER.write("waited", path=path)
    answer(id, text("it is there"))


def call(id: Any, params: dict[str, Any]) -> None:
    global answered
    name, given = params["name"], params.get("arguments") or {}
    LEDGER.write("call", tool=name)
    match name:
        case "echo":
            answer(id, text(given["text"]))
        case "content":
            answer(id, CONTENT[given["kind"]])
        case "count":
            LEDGER.write("count", key=given["key"])
            answer(id, text(f"counted {given['key']}"))
        case "count_and_die" | "count_and_die_read_only" | "count_and_die_idempotent":
            LEDGER.write("count", key=given["key"])
            if given["key"] == "always" or first_time(LEDGER, given["key"]):
                sys.stderr.write("killed after the commit\n")
                quit_with(7)
            answer(id, text(f"counted {given['key']}"))
        case "die":
            sys.stderr.write("the last words of the server\n")
            quit_with(int(given["number"]))
        case "hang":
            pass
        case "hang_hard":
            while True:
                time.sleep(60)
        case "wait":
            threading.Thread(target=wait, args=(id, given["path"]), daemon=True).start()
        case "work" | "work_and_hang":
            token = (params.get("_meta") or {}).get("progressToken")
            arguments = (id, given["number"], token, name == "work_and_hang")
            threading.Thread(target=work, args=arguments, daemon=True).start()
        case "large":
            answer(id, text("x" * int(given["number"])))
        case "change":
            LATE.append(tool(given["text"], {"type": "object"}, "Came later."))
            print_message({"method": "notifications/tools/list_changed"})
            answer(id, text("changed"))
        case "ask":
            method, question = QUESTIONS[given["kind"]]
            own = f"question-{len(ANSWERS)}"
            ANSWERS[own] = (id, given["kind"])
            print_message({"id": own, "method": method, "params": question})
        case "garble":
            garble(id, given["kind"])
        case "refuse":
            refuse(id, -32050, "the server does not want to")
        case "mute":
            os.close(1)
        case "plug":
            os.close(0)
            threading.Event().wait()
        case "flood":
            for step in range(int(given["number"])):
                print_message({"method": "notifications/message", "params": {"level": "info", "data": step}})
                print_message({"method": "notifications/tools/list_changed"})
            answer(id, text("flooded"))
        case "shout":
            sys.stderr.write("y" * int(given["number"]) + "\nshouted\n")
            sys.stderr.flush()
            answer(id, text("heard"))
        case "environment":
            answer(id, text(os.environ.get(given["key"], "")))
        case "identity":
            answer(id, text(str(os.getpid())))
        case _ if any(each["name"] == name for each in (*EXTRA, *LATE)):
            answer(id, text(f"{name} ran"))
        case _:
            refuse(id, -32602, f"Unknown tool: {name}")
    answered += 1
    if int(OPTIONS.get("crash_after", "-1")) == answered:
        sys.stderr.write("that was one call too many\n")
        quit_with(3)


def discover(id: Any) -> None:
    match OPTIONS.get("discover", "refuse"):
        case "die":
            sys.stderr.write("Error: expect initialized request, but received: server/discover\n")
            quit_with(1)
        case "silent":
            pass
        case _:
            refuse(id, -32601, "Method not found")


def initialize(params: dict[str, Any]) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    version = OPTIONS.get("protocol") or (asked if asked in PROTOCOLS else PROTOCOLS[-1])
    result: dict[str, Any] = {
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": True}, "logging": {}},
        "serverInfo": {"name": "chaos", "version": "1.0"},
    }
    return {**result, "instructions": OPTIONS["instructions"]} if "instructions" in OPTIONS else result


def receive(message: dict[str, Any]) -> None:
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method is None:
        waiting, kind = ANSWERS.pop(str(id))
        answer(
            waiting, text(json.dumps({"kind": kind, "answer": message.get("result"), "error": message.get("error")}))
        )
        return
    if method not in ("tools/call", "ping"):
        LEDGER.write("received", method=method, params=params)
    if OPTIONS.get("exit_at") == method:
        sys.stderr.write(f"cannot bear {method}\n")
        quit_with(4)
    if OPTIONS.get("silent") == method or id is None:
        return
    if OPTIONS.get("wrong_result") == method:
        answer(id, "a string")
        return
    if OPTIONS.get("error") == method:
        refuse(id, -32603, "something broke inside")
        return
    match method:
        case "server/discover":
            discover(id)
        case "initialize":
            answer(id, initialize(params))
        case "tools/list":
            answer(id, list_tools(params))
            if "storm" in OPTIONS:
                LEDGER.write("list")
                print_message({"method": "notifications/tools/list_changed"})
        case "tools/call":
            call(id, params)
        case "ping" | "logging/setLevel":
            answer(id, {})
        case _:
            refuse(id, -32601, f"Method not found: {method}")


def main() -> None:
    LEDGER.write("start", pid=os.getpid())
    if "ignore_term" in OPTIONS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "grandchild" in OPTIONS:
        child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
        LEDGER.write("grandchild", pid=child.pid)
    if "say" in OPTIONS:
        sys.stderr.write(OPTIONS["say"] + "\n")
    if "shout" in OPTIONS:
        sys.stderr.write("z" * int(OPTIONS["shout"]) + "\n")
        sys.stderr.flush()
    if "exit" in OPTIONS:
        quit_with(int(OPTIONS["exit"]))
    if "down" in OPTIONS and os.path.exists(OPTIONS["down"]):
        sys.stderr.write("down for maintenance\n")
        quit_with(9)
    if "delay" in OPTIONS:
        time.sleep(float(OPTIONS["delay"]))
    if "banner" in OPTIONS:
        print_raw(OPTIONS["banner"].encode() + b"\n\n  \n")
    while "deaf" in OPTIONS:
        time.sleep(60)
    for line in sys.stdin.buffer:
        receive(json.loads(line))
    LEDGER.write("eof")
    while "ignore_eof" in OPTIONS:
        time.sleep(60)
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
