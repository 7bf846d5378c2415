"""The worker: one converter in one process, timed or read on request. Standard library only: any environment runs it.

    python convert.py ADAPTER TOOLS

It reads one JSON request a line and answers one JSON line: `versions`; `round`, `batch`, `wide` are timed;
`definitions` are what the provider gets, `written` and `returned` the way there and back. Objects are built from JSON
text before the clock starts and are used once, so that nothing kept by identity helps. The clock is the thread's CPU
time, so that other processes count little; garbage collection is off while it runs.
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
    times, refusal = timed(convert, read, [text] * repeats)
    best = min((each for each in times if each is not None), default=None)
    if best is None:
        raise ValueError(refusal)
    return best


def as_sent(made: Any) -> Any:
    """One definition as JSON has it: out of the models, lists and `Tool`s that it may be wrapped in."""
    while isinstance(made, list) and len(made) == 1:
        made = made[0]
    if hasattr(made, "model_dump"):
        made = made.model_dump(mode="json", exclude_none=True, by_alias=True)
    for key in ("functionDeclarations", "function_declarations"):
        if isinstance(made, dict) and key in made:
            return as_sent(made[key])
    return json.loads(json.dumps(made, default=lambda each: getattr(each, "value", None) or repr(each)))


def definitions(convert: Callable[[Any], Any], read: Callable[[Any], Any], texts: list[str]) -> list[list[Any]]:
    """For each tool the definition, or `None` and why not."""
    out: list[list[Any]] = []
    for each in texts:
        try:
            out.append([as_sent(convert(read(json.loads(each)))), ""])
        except Exception as failure:
            out.append([None, f"{type(failure).__name__}: {failure}"[:200]])
    return out


def translated(way: Callable[[Any, Any], Any], read: Callable[[Any], Any], texts: list[str], values: Any) -> list[Any]:
    """The values of each tool, there or back; `None` for a tool on which it raised."""
    out: list[Any] = []
    for text, some in zip(texts, values, strict=True):
        try:
            out.append(way(read(json.loads(text)), some) if some else [])
        except Exception:
            out.append(None)
    return out


def answered(adapter: dict[str, Any], texts: list[str], converters: dict[str, Any], request: dict[str, Any]) -> Any:
    texts = request.get("texts", texts)
    do, target, read = request["do"], request.get("target"), adapter["read"]
    if do == "versions":
        answer: dict[str, Any] = {"targets": list(adapter["TARGETS"]), "defaults": adapter["DEFAULTS"]}
        answer["passed_through"] = adapter.get("PASSED_THROUGH", ())
        ways = {name: hasattr(each, "written") for name, each in adapter["TARGETS"].items()}
        return {**answer, "ways": ways, "versions": {each: version(each) for each in adapter["PACKAGES"]}}
    source = adapter["TARGETS"][target]
    if target not in converters:
        converters[target] = source()
        gc.collect()
        gc.freeze()  # what was imported is not looked at again
    if do == "round":
        times, refusal = timed(converters[target], read, texts)
        return {"times": times, "refusal": refusal[:200]}
    if do == "batch":
        return batched(getattr(source, request["how"]), read, texts)
    if do == "wide":
        return widest(converters[target], read, request["text"], request["repeats"])
    if do == "definitions":
        return definitions(converters[target], read, texts)
    return translated(getattr(source, do), read, texts, request["values"])


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    adapter = load(sys.argv[1])
    texts: list[str] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    converters: dict[str, Any] = {}
    for line in sys.stdin:
        try:
            answer = answered(adapter, texts, converters, json.loads(line))
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
