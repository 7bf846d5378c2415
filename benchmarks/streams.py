"""Assembling streamed calls: toolbridge, plain concatenation and the OpenAI SDK's own helper, on the same chunks.

    python benchmarks/streams.py                     # installs the SDK under .cache/bench, measures, writes results
    python benchmarks/streams.py --skip-install      # with the environment that is there

One process, all contestants in turn, round by round, so that a busy machine is busy for all. Chunks are built before
the clock starts: dicts for concatenation and for us, the SDK's own objects for the SDK (and for us once more).

- concatenation: the least that anyone must do: a dict of lists by index, joined once, `json.loads` at the end
- toolbridge: `read_stream("openai-chat", chunks)`, with everything it checks
- openai: `ChatCompletionStreamState.handle_chunk`, which is what `client.chat.completions.stream()` runs
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "bench" / "streams"
RESULTS = ROOT / "benchmarks" / "results" / "streams.md"

ROUNDS = 9
FRAGMENT = 10
"""Characters of argument text in a chunk."""
SIZES = (10_000, 100_000, 1_000_000)
PARALLEL = (10, 100, 1_000)
CALL_SIZES = (1_000, 100)
SLOWEST_SECONDS = 60
"""What a contestant may take for one run; one that would take longer, if it grew only linearly, is left out."""
ENOUGH_SECONDS = 10
"""What a contestant's rounds of one case may take together."""


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def started(index: int) -> dict[str, Any]:
    function = {"name": "write", "arguments": ""}
    return chunk({"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": function}]})


def fragment(index: int, text: str) -> dict[str, Any]:
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})


def one_long(size: int) -> list[dict[str, Any]]:
    """One call whose argument text has that many characters."""
    text = json.dumps({"path": "/tmp/x", "text": "lorem ipsum " * (size // 12)})
    pieces = [fragment(0, text[i : i + FRAGMENT]) for i in range(0, len(text), FRAGMENT)]
    return [started(0), *pieces, chunk({}, "tool_calls")]


def many(count: int, size: int) -> list[dict[str, Any]]:
    """That many calls side by side, a fragment of each in turn."""
    text = json.dumps({"path": "/tmp/x", "text": "lorem ipsum " * (size // 12)})
    pieces = [fragment(n, text[i : i + FRAGMENT]) for i in range(0, len(text), FRAGMENT) for n in range(count)]
    return [*(started(n) for n in range(count)), *pieces, chunk({}, "tool_calls")]


def concatenated(chunks: list[dict[str, Any]]) -> list[Any]:
    calls: dict[int, dict[str, Any]] = {}
    for each in chunks:
        for choice in each["choices"]:
            for delta in choice["delta"].get("tool_calls") or ():
                call = calls.setdefault(delta["index"], {"pieces": []})
                if delta.get("id"):
                    call["id"] = delta["id"]
                function = delta.get("function") or {}
                if function.get("name"):
                    call["name"] = function["name"]
                if function.get("arguments"):
                    call["pieces"].append(function["arguments"])
    return [json.loads("".join(call["pieces"])) for call in calls.values()]


def ours(chunks: list[Any]) -> list[Any]:
    from toolbridge import read_stream

    return [call.arguments for call in read_stream("openai-chat", chunks).calls]


def sdk(chunks: list[Any]) -> list[Any]:
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state: Any = ChatCompletionStreamState()
    for each in chunks:
        for _ in state.handle_chunk(each):
            pass
    message = state.get_final_completion().choices[0].message
    return [json.loads(call.function.arguments) for call in message.tool_calls]


def as_objects(chunks: list[dict[str, Any]]) -> list[Any]:
    from openai.types.chat import ChatCompletionChunk

    return [ChatCompletionChunk.model_validate(each) for each in chunks]


CONTESTANTS: dict[str, tuple[Callable[[list[Any]], list[Any]], bool]] = {
    "concatenation": (concatenated, False),
    "toolbridge": (ours, False),
    "toolbridge, SDK objects": (ours, True),
    "openai .stream()": (sdk, True),
}
"""(what is timed, whether it is given the SDK's objects)"""


def measured(cases: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """Median milliseconds by case and contestant."""
    table: dict[str, dict[str, float]] = {}
    slowness: dict[str, float] = {}
    for case, chunks in cases.items():
        expected = concatenated(chunks)
        objects = as_objects(chunks)
        times: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for name, (run, wants_objects) in CONTESTANTS.items():
                if slowness.get(name, 0) * len(chunks) > SLOWEST_SECONDS or sum(times.get(name, ())) > ENOUGH_SECONDS:
                    continue
                given = objects if wants_objects else chunks
                begun = perf_counter()
                got = run(given)
                times.setdefault(name, []).append(perf_counter() - begun)
                assert got == expected, f"{name} is wrong on {case}"
        for name, each in times.items():
            slowness[name] = max(slowness.get(name, 0), median(each) / len(chunks))
        table[case] = {name: median(each) * 1e3 for name, each in times.items()}
        print(f"{case}: " + ", ".join(f"{name} {value:,.1f} ms" for name, value in table[case].items()), flush=True)
    return table


def report(table: dict[str, dict[str, float]], counts: dict[str, int]) -> str:
    import openai

    import toolbridge

    head = [
        "case",
        "chunks",
        *(f"{name} (ms)" for name in CONTESTANTS),
        "ours ÷ concatenation",
        "ours ÷ openai",
        "ours, µs a chunk",
    ]
    lines = [
        "# Assembling streamed calls",
        "",
        f"`python benchmarks/streams.py`: median of up to {ROUNDS} rounds, one process; "
        f"Python {platform.python_version()}, toolbridge {toolbridge.__version__}, openai {openai.__version__}. "
        f"Argument text in fragments of {FRAGMENT} characters. – is not run: it would take more than "
        f"{SLOWEST_SECONDS} s, going by the smaller cases.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for case, times in table.items():
        mine = times["toolbridge"]
        theirs = times.get("openai .stream()")
        cells = [f"{times[name]:,.1f}" if name in times else "–" for name in CONTESTANTS]
        ratio = f"{mine / theirs:.4f}" if theirs else "–"
        lines.append(
            f"| {case} | {counts[case]:,} | "
            + " | ".join(cells)
            + f" | {mine / times['concatenation']:.2f} | {ratio} | {mine * 1e3 / counts[case]:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-install", action="store_true", help="use the environment that is there")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    python = HOME / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not options.inside:
        if not options.skip_install or not python.exists():
            print("installing openai …", flush=True)
            venv.create(HOME, with_pip=True)
            pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, "-e", str(ROOT), "openai>=3.49,<4"], check=True)
        sys.exit(subprocess.run([str(python), __file__, "--inside"], check=False).returncode)
    cases = {f"one call, {size:,} characters": one_long(size) for size in SIZES}
    for size in CALL_SIZES:
        cases |= {f"{count:,} calls of {size:,} characters": many(count, size) for count in PARALLEL}
    text = report(measured(cases), {case: len(chunks) for case, chunks in cases.items()})
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    print(f"\n{text}\nwritten to {RESULTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
