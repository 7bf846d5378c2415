"""The worker: one client library in one process, timed on request. Standard library only: any environment runs it.

    python servers_worker.py ADAPTER

It reads one JSON request a line and answers one JSON line: `versions`, `open` (servers under a key), `calls` (so many
of one tool, so many at a time), `list` (list anew), `close`, `memory`. One task does everything that opens and closes,
because the SDK's contexts want to be left by the task that entered them. Times are wall time and, beside it, the CPU
time of this process alone.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, perf_counter_ns, process_time
from typing import Any


def load(adapter: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "adapter", "__file__": adapter}
    exec(compile(Path(adapter).read_text(encoding="utf-8"), adapter, "exec"), namespace)
    return namespace


async def timed_calls(call: Callable[[], Any], concurrency: int, count: int) -> dict[str, float]:
    """Microseconds: the median, the 95th percentile, and the CPU time of a call."""
    times: list[int] = []
    left = iter(range(count))

    async def one_after_the_other() -> None:
        for _ in left:
            start = perf_counter_ns()
            await call()
            times.append(perf_counter_ns() - start)

    gc.collect()
    wall, cpu = perf_counter(), process_time()
    if concurrency == 1:
        await one_after_the_other()
    else:
        await asyncio.gather(*(one_after_the_other() for _ in range(concurrency)))
    wall, cpu = perf_counter() - wall, process_time() - cpu
    times.sort()
    return {
        "p50": times[len(times) // 2] / 1e3,
        "p95": times[len(times) * 95 // 100] / 1e3,
        "cpu": cpu / count * 1e6,
        "wall": wall / count * 1e6,
    }


async def answered(adapter: dict[str, Any], peers: dict[str, Any], request: dict[str, Any]) -> Any:
    key = request.get("key", "")
    do = request["do"]
    if do == "versions":
        versions = {each: version(each) for each in adapter["PACKAGES"]}
        return {"versions": versions, "way": adapter["WAY"], "few": adapter.get("FEW", False)}
    if do == "memory":
        gc.collect()
        return {"kilobytes": resident_kilobytes()}
    wall, cpu = perf_counter(), process_time()
    tools = 0
    if do == "open":
        peers[key] = adapter["Peer"]()
        tools = await peers[key].open(request["servers"])
    elif do == "close":
        await peers.pop(key).close()
    elif do == "list":
        tools = await peers[key].relist()
    elif do == "calls":
        call = peers[key].caller(request["server"], request["tool"], request["arguments"])
        said = peers[key].text(await call())
        if request["expected"] not in (said, len(said)):
            raise ValueError(f"the answer is not what was asked for: {said[:60]!r}")
        if not request.get("cold"):
            await timed_calls(call, request["concurrency"], request["concurrency"])  # connections are there again
        return await timed_calls(call, request["concurrency"], request["count"])
    taken = {"seconds": perf_counter() - wall, "cpu": process_time() - cpu}
    if do == "open":
        gc.collect()
        gc.freeze()  # what was imported is not looked at again, also where a library imports when it is first used
    return {**taken, "tools": tools, "left": living_children() if do == "close" else 0}


def living_children() -> int | None:
    """Processes of ours that still run; nothing where the system does not tell."""
    if not Path("/proc/self/task").exists():
        return None
    found = 0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            try:
                state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            found += state != "Z"
    return found


def resident_kilobytes() -> int:
    """The memory that this process really holds, where the system tells."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


async def serve(adapter: dict[str, Any], answers: Any) -> None:
    peers: dict[str, Any] = {}
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        try:
            answer = await answered(adapter, peers, request)
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    for peer in peers.values():
        await peer.close()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    adapter = load(sys.argv[1])
    asyncio.run(serve(adapter, answers))


if __name__ == "__main__":
    main()
