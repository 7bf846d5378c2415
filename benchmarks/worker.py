"""The worker: one converter in one process, timed on request. Standard library only, so that any environment runs it.

    python worker.py ADAPTER TOOLS

It reads one JSON request a line and answers one JSON line: `{"do": "versions"}`, `{"do": "round", "target": …}`,
`{"do": "batch", …}`, `{"do": "wide", …}`. Objects are built from JSON text before the clock starts and are used once,
so that nothing kept by identity helps. The clock is the thread's CPU time, so that other processes count little;
garbage collection is off while it runs.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from time import thread_time_ns
from typing import Any

CHUNK = 100
"""Tools of one `prepare`; a provider takes no more than 128."""


def load(adapter: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "adapter"}
    exec(compile(Path(adapter).read_text(encoding="utf-8"), adapter, "exec"), namespace)
    return namespace


def timed(convert: Callable[[Any], Any], read: Callable[[Any], Any], texts: list[str]) -> tuple[list[int | None], str]:
    """Nanoseconds a tool, `None` where it was refused, and the first refusal."""
    tools: list[Any] = []
    refusal = ""
    for each in texts:
        try:
            tools.append(read(json.loads(each)))
        except Exception as failure:
            tools.append(None)
            refusal = refusal or f"{type(failure).__name__}: {failure}"
    times: list[int | None] = []
    gc.collect()
    gc.disable()
    for tool in tools:
        if tool is None:
            times.append(None)
            continue
        start = thread_time_ns()
        try:
            convert(tool)
        except Exception as failure:
            times.append(None)
            refusal = refusal or f"{type(failure).__name__}: {failure}"
        else:
            times.append(thread_time_ns() - start)
    gc.enable()
    return times, refusal


def batched(many: Callable[[Any], Any], read: Callable[[Any], Any], texts: list[str]) -> dict[str, float]:
    """Nanoseconds a tool for whole lists: the first time, and again with the same tools."""
    tools = iter([read(json.loads(each)) for each in texts])
    chunks = list(iter(lambda: list(islice(tools, CHUNK)), []))
    gc.collect()
    gc.disable()
    times = [thread_time_ns()]
    for _ in range(2):
        for each in chunks:
            many(each)
        times.append(thread_time_ns())
    gc.enable()
    return {"first": (times[1] - times[0]) / len(texts), "again": (times[2] - times[1]) / len(texts)}


def widest(convert: Callable[[Any], Any], read: Callable[[Any], Any], text: str, repeats: int) -> int:
    """Nanoseconds for one large tool, the least of several tries."""
    best = 0
    for _ in range(repeats):
        times, refusal = timed(convert, read, [text])
        if times[0] is None:
            raise ValueError(refusal)
        best = min(best or times[0], times[0])
    return best


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    adapter = load(sys.argv[1])
    texts: list[str] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    converters: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            target = request.get("target")
            if target and target not in converters:
                converters[target] = adapter["TARGETS"][target]()
                gc.collect()
                gc.freeze()  # what was imported is not looked at again
            answer: Any
            if request["do"] == "versions":
                passed = adapter.get("PASSED_THROUGH", ())
                answer = {"targets": list(adapter["TARGETS"]), "passed_through": passed}
                answer["versions"] = {each: version(each) for each in adapter["PACKAGES"]}
            elif request["do"] == "round":
                times, refusal = timed(converters[target], adapter["read"], texts)
                answer = {"times": times, "refusal": refusal[:200]}
            elif request["do"] == "batch":
                many = getattr(adapter["TARGETS"][target], request["how"])
                answer = batched(many, adapter["read"], texts)
            else:
                answer = widest(converters[target], adapter["read"], request["text"], request["repeats"])
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
