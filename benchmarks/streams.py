"""Assembling streamed calls: who gets them right, and how long a large one takes.

    python benchmarks/streams.py

The streams are of the OpenAI Chat Completions API. They were written by us, after its documentation and after reports
of what servers that resemble it send; none was recorded. Every library gets the same chunks, as its own client would
hand them over, and gives back the calls that it would run. A call that was cut off must not be run with arguments that
somebody guessed.
"""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from environments import HERE, OURS, Failed, Worker, install
from report import ORANGE, RED, Area, Line, Options, Result, Table, ahead, failures, main, squares, table

PLAIN = "concatenation"
PEERS = (PLAIN, "openai", "langchain", "openai-agents", "pydantic-ai", "litellm", "google-adk")

ROUNDS = 5
FRAGMENT = 10
"""Characters of argument text in a chunk."""
SECONDS = 120
"""What all rounds of one stream may take, the building of the chunks included."""
ENOUGH_MS = 1_000
"""A library that has taken so long for a stream is not asked once more."""

Chunk = dict[str, Any]
Calls = list[list[Any]]


def chunk(delta: Chunk, finish: str | None = None) -> Chunk:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def piece(index: int | None, text: str | None = None, id: str | None = None, name: str | None = None) -> Chunk:
    """One call's part of a chunk: only what is there is there. OpenAI says `type` where it says the id."""
    function = {key: each for key, each in (("name", name), ("arguments", text)) if each is not None}
    start = {} if index is None else {"index": index}
    return {**start, **({} if id is None else {"id": id, "type": "function"}), "function": function}


def stream(*chunks: list[Chunk], finish: str | None = "tool_calls") -> list[Chunk]:
    end = [chunk({}, finish)] if finish else []
    return [chunk({"role": "assistant", "content": None}), *(chunk({"tool_calls": each}) for each in chunks), *end]


A, B = '{"path":"/a"}', '{"all":true}'
READ, LIST = ["read", {"path": "/a"}], ["list", {"all": True}]
START = piece(0, "", "call_1", "read")
USAGE: Chunk = {**chunk({}), "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}}

CASES: dict[str, tuple[list[Chunk], Calls | None]] = {
    "one after the other": (
        stream([START], [piece(0, A[:8])], [piece(0, A[8:])], [piece(1, "", "call_2", "list")], [piece(1, B)]),
        [READ, LIST],
    ),
    "interleaved": (
        stream([START], [piece(1, "", "call_2", "list")], [piece(0, A[:7])], [piece(1, B[:6])], [piece(0, A[7:])],
               [piece(1, B[6:])]),
        [READ, LIST],
    ),
    "two in a chunk": (stream([piece(0, A, "call_1", "read"), piece(1, B, "call_2", "list")]), [READ, LIST]),
    "counted from 1": (stream([piece(1, A, "call_1", "read")], [piece(2, B, "call_2", "list")]), [READ, LIST]),
    "no index": (stream([piece(None, A, "call_1", "read")], [piece(None, B, "call_2", "list")]), [READ, LIST]),
    "index always 0": (stream([piece(0, A, "call_1", "read")], [piece(0, B, "call_2", "list")]), [READ, LIST]),
    "name repeated": (
        stream([START], [piece(0, '{"path"', "call_1", "read")], [piece(0, ':"/a"}', "call_1", "read")]), [READ],
    ),
    "empty id and name": (stream([START], [piece(0, '{"path":"/a"}', "", "")]), [READ]),
    "id late": (stream([piece(0, "", None, "read")], [piece(0, '{"path":"/a"}', "call_1")]), [READ]),
    "no arguments": (stream([piece(0, None, "call_1", "read")]), [["read", {}]]),
    "says stop": (stream([piece(0, '{"path":"/a"}', "call_1", "read")], finish="stop"), [READ]),
    "usage at the end": ([*stream([START], [piece(0, '{"path":"/a"}')]), USAGE], [READ]),
    "cut by length": (stream([START], [piece(0, '{"path":"/a')], finish="length"), None),
    "broken off": (stream([START], [piece(0, '{"path":"/a')], finish=None), None),
    "a brace too many": (stream([START], [piece(0, '{"path":"/a"}}')]), None),
}  # fmt: skip
"""The streams, and the calls that they hold; `None` where there is none that may be run."""


def one_long(size: int) -> list[Chunk]:
    """One call whose argument text has that many characters."""
    text = json.dumps({"path": "/tmp/x", "text": "lorem ipsum " * (size // 12)})
    return stream([START], *([piece(0, text[i : i + FRAGMENT])] for i in range(0, len(text), FRAGMENT)))


def side_by_side(count: int, size: int) -> list[Chunk]:
    """That many calls, a fragment of each in turn."""
    text = json.dumps({"path": "/tmp/x", "text": "lorem ipsum " * (size // 12)})
    starts = ([piece(n, "", f"call_{n}", "read")] for n in range(count))
    return stream(
        *starts, *([piece(n, text[i : i + FRAGMENT])] for i in range(0, len(text), FRAGMENT) for n in range(count))
    )


def with_types(chunks: list[Chunk]) -> list[Chunk]:
    """The same as some servers send it: with a `type` in every fragment."""
    chunks = json.loads(json.dumps(chunks))
    for each in chunks:
        for call in each["choices"][0]["delta"].get("tool_calls", ()):
            call["type"] = "function"
    return chunks


def large(full: bool) -> dict[str, list[Chunk]]:
    sizes = (10_000, 100_000, 1_000_000) if full else (10_000, 100_000)
    cases = {f"1 call, {size:,} characters": one_long(size) for size in sizes}
    cases["1 call, 100,000 characters, each with its type"] = with_types(one_long(100_000))
    for count in (10, 100, 1_000) if full else (10, 100):
        cases[f"{count:,} calls of 1,000 characters"] = side_by_side(count, 1_000)
    return cases


def measure(options: Options) -> Result:
    peers = [peer for peer in PEERS if options.wants(peer)]
    errors = {} if options.skip_install else install(peer for peer in peers if peer != PLAIN)
    cases, times = [each for each, _ in CASES.values()], large(options.full)
    rows: list[Result] = []
    failed: dict[str, str] = {}
    versions: dict[str, str] = {}
    for peer in (OURS, *peers):
        print(f"streams of {peer} …", flush=True)
        environment = OURS if peer == PLAIN else peer
        adapter = HERE / "peers" / "stream" / f"{peer.replace('-', '_')}.py"
        try:
            worker = Worker(environment, "stream.py", adapter, error=errors.get(peer, ""))
            known = worker.ask("versions", 120)
            answers = worker.ask("cases", 120, cases=cases)
        except Failed as failure:
            failed[peer] = str(failure)
            continue
        numbers = ", ".join(f"{package} {number}" for package, number in known["versions"].items())
        versions[peer] = f"{numbers}; {known['way']}" if numbers else known["way"]
        verdicts = dict(zip(CASES, map(verdict, CASES.values(), answers), strict=True))
        rows.append({"peer": peer, "verdicts": verdicts, "times": timed(worker, peer, adapter, environment, times)})
    about = {"versions": versions, "errors": failed, "chunks": {case: len(chunks) for case, chunks in times.items()}}
    return {"about": about, "rows": rows}


def verdict(case: tuple[list[Chunk], Calls | None], answer: Result) -> str:
    """In one word. What may not be run and raises is right: nothing happens, and somebody hears of it."""
    expected = case[1]
    if expected is None:
        return "right" if "raised" in answer or not answer["calls"] else "runs it"
    if "raised" in answer:
        return "raises"
    return "right" if answer["calls"] == expected else "wrong"


def timed(worker: Worker, peer: str, adapter: Any, environment: str, cases: dict[str, list[Chunk]]) -> Result:
    """Milliseconds, or why there are none. One that took too long is not asked for more of the same kind."""
    out: Result = {}
    slow: set[str] = set()
    for case, chunks in cases.items():
        shape = "one" if case.startswith("1 call") else "many"
        if shape in slow:
            out[case] = "not tried"
            continue
        try:
            found = worker.ask("time", SECONDS, chunks=chunks, rounds=ROUNDS, enough=ENOUGH_MS)
            out[case] = round(median(found["ms"]), 2)
        except Failed as failure:
            out[case] = str(failure)[:80]
            slow.add(shape)
            if "more than" in str(failure):
                worker = Worker(environment, "stream.py", adapter)
                worker.ask("versions", 120)
    worker.close()
    return out


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────


def right(row: Result) -> int:
    return sum(each == "right" for each in row["verdicts"].values())


def page(result: Result) -> list[str]:
    return [
        "Each stream holds one or two calls. The streams were written by us, after OpenAI's documentation and after "
        "reports of what servers that resemble its own send; none was recorded. *Right*: the calls that were meant, "
        "and no other. *Raises*: the turn is lost, though the calls were there. *Wrong*: other calls than those that "
        "were meant. The last three hold no call that may be run: there *right* is to refuse, also by raising, and "
        "*runs it* is a call with arguments that were guessed.",
        table(case_table(result)),
        *failures(result["about"]["errors"]),
        "## Time",
        f"Milliseconds of CPU time, the median of up to {ROUNDS} rounds; argument text in fragments of {FRAGMENT} "
        "characters. Building the chunks is not in it: dicts for toolbridge and for concatenation, the OpenAI SDK's "
        f"objects for the others. One that took {ENOUGH_MS / 1e3:g} s was not asked again. *Concatenation* is the "
        "least that anyone must do, and checks nothing.",
        table(time_table(result)),
        "Not compared: the SDKs of Anthropic and Google, whose streams are of another kind; mcp-use, whose agent "
        "streams through LangChain.",
    ]  # fmt: skip


def case_table(result: Result) -> Table:
    rows = result["rows"]
    lines = [["stream", *(each["peer"] for each in rows)]]
    for case in CASES:
        words = [each["verdicts"].get(case, "–") for each in rows]
        lines.append([case, *(word if word == "right" else f"**{word}**" for word in words)])
    return [*lines, ["right of " + str(len(CASES)), *(str(right(each)) for each in rows)]]


def time_table(result: Result) -> Table:
    rows = result["rows"]
    lines = [["stream", "chunks", *(each["peer"] for each in rows)]]
    for case, count in result["about"]["chunks"].items():
        cells = [each["times"].get(case, "–") for each in rows]
        lines.append([case, f"{count:,}", *(each if isinstance(each, str) else f"{each:,.1f}" for each in cells)])
    return lines


def draw(result: Result) -> Any:
    colours = {"right": "#9CCBEA", "wrong": "#E8A87C", "runs it": RED, "raises": ORANGE}
    rows = sorted(result["rows"], key=lambda each: (each["peer"] != OURS, -right(each)))
    cells = [[each["verdicts"].get(case, "–") for case in CASES] for each in rows]
    return squares([f"{each['peer']}  {right(each)}/{len(CASES)}" for each in rows], list(CASES), cells, colours)


SHOWN = {
    "1 call, 100,000 characters": "a streamed call of 100,000 characters",
    "1 call, 100,000 characters, each with its type": "a streamed call of 100,000 characters, a type in each fragment",
}


def summary(result: Result) -> list[Line]:
    rows = {each["peer"]: each for each in result["rows"]}
    ours = rows.pop(OURS)
    others = sorted((each for peer, each in rows.items() if peer != PLAIN), key=lambda each: -right(each))
    best = ahead(right(ours), [(each["peer"], right(each)) for each in others], most=True)
    texts = [f"{right(each)} {each['peer']}" for each in others]
    what = f"streams assembled rightly, of {len(CASES)}"
    lines = [Line(what, str(right(ours)), ", ".join(texts), best)]
    for case, what in SHOWN.items():
        timed = {peer: each["times"].get(case) for peer, each in rows.items()}
        numbers = sorted((value, peer) for peer, value in timed.items() if isinstance(value, float | int))
        mine = ours["times"].get(case)
        if isinstance(mine, float | int):
            texts = [f"{value:,.1f} {peer}" for value, peer in numbers]
            texts += [f"{value} {peer}" for peer, value in timed.items() if isinstance(value, str)]
            noted = [(peer + (" (which checks nothing)" if peer == PLAIN else ""), value) for value, peer in numbers]
            lines.append(Line(what, f"{mine:,.1f} ms", ", ".join(texts), ahead(mine, noted)))
    return lines


AREA = Area("streams", "Assembling streamed calls", measure, page, draw, summary)

if __name__ == "__main__":
    main(AREA)
