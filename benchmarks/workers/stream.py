"""The worker: one library's assembly of streamed calls. Standard library only, so that any environment runs it.

    python stream.py ADAPTER

It reads one JSON request a line and answers one JSON line: `versions`; `cases` gives for each list of chunks the calls
that the library would run, or what it raised; `time` gives milliseconds of CPU time, after a first time that is
not counted.
Objects are built from the chunks before the clock starts.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any


def load(adapter: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "adapter", "__file__": adapter}
    exec(compile(Path(adapter).read_text(encoding="utf-8"), adapter, "exec"), namespace)
    return namespace


def assembled(adapter: dict[str, Any], chunks: list[Any]) -> dict[str, Any]:
    try:
        calls = adapter["assemble"](adapter["received"](chunks))
        return {"calls": [[name, arguments] for name, arguments in calls]}
    except Exception as failure:
        return {"raised": type(failure).__name__}


def timed(adapter: dict[str, Any], chunks: list[Any], rounds: int, enough: float) -> dict[str, Any]:
    """So many rounds, or fewer where they have taken `enough` milliseconds; the first is for warming up if there are
    more."""
    times: list[float] = []
    while len(times) <= rounds and sum(times) < enough:
        objects = adapter["received"](json.loads(json.dumps(chunks)))
        gc.collect()
        start = process_time()
        calls = adapter["assemble"](objects)
        times.append((process_time() - start) * 1e3)
    return {"ms": sorted(times[1:] or times), "calls": len(calls), "characters": len(json.dumps(calls))}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    adapter = load(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer: Any
            if request["do"] == "versions":
                answer = {"versions": {each: version(each) for each in adapter["PACKAGES"]}, "way": adapter["WAY"]}
            elif request["do"] == "cases":
                answer = [assembled(adapter, each) for each in request["cases"]]
            else:
                answer = timed(adapter, request["chunks"], request["rounds"], request["enough"])
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"[:300]}
        answers.write(json.dumps(answer, default=repr) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
