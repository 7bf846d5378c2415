"""What `servers.py` measured, in words, tables and a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from environments import OURS
from report import GREY, Bar, Line, Panel, Result, Table, ahead, bars, failures
from report import table as written

TITLE = "Calls, connections and listings"

CALL_GOAL, CONNECT_GOAL, LISTING_GOAL = 1.15, 1.3, 0.4
BARE, CLIENT = "mcp session", "mcp Client"


def verdict(value: float, goal: float, unit: str = "") -> str:
    return f"{value:.2f}{unit}, goal ≤ {goal:g}{unit}: {'met' if value <= goal else '**missed**'}"


def call_table(calls: list[dict[str, Any]], era: str) -> Table:
    table = [["transport", "at once", "client", "p50 µs", "p95 µs", "CPU µs", "p50 × bare", "p95 × bare", "CPU × bare"]]
    for each in calls:
        if each["era"] != era:
            continue
        start = [each["transport"], str(each["concurrency"]), each["name"]]
        if "p50" not in each:
            table.append([*start, *["–"] * 5, "failed"])
            continue
        numbers = [f"{each[key]:,.0f}" for key in ("p50", "p95", "cpu")]
        table.append([*start, *numbers, *(f"{each[f'{key}_ratio']:.2f}" for key in ("p50", "p95", "cpu"))])
    return table


def call_verdicts(calls: list[dict[str, Any]]) -> str:
    """By CPU time, which a busy machine changes little; the wall time beside it."""
    lines: list[str] = []
    for each in calls:
        if each["name"] == OURS and "p50" in each:
            what = f"{each['transport']}, {each['era']}, {each['concurrency']} at once"
            lines.append(f"- {what}: CPU × {verdict(each['cpu_ratio'], CALL_GOAL)}; wall × {each['p50_ratio']:.2f}")
    return "\n".join(lines)


def connect_table(connect: list[dict[str, Any]]) -> Table:
    table = [
        ["client", "slowest alone s", "all s", "all ÷ slowest", "CPU of the client s", "closing s", "left running"]
    ]
    for each in connect:
        if "all" not in each:
            table.append([each["name"], *["–"] * 5, "failed"])
            continue
        seconds = [f"{each[key]:.2f}" for key in ("alone", "all", "ratio", "cpu", "close")]
        table.append([each["name"], *seconds, "–" if each["left"] is None else str(each["left"])])
    return table


def real_text(real: list[dict[str, Any]]) -> str:
    lines = [
        f"{each['name']}: " + ", ".join(f"{count} in {each[count]:.1f} s" for count in each if count != "name")
        for each in real
    ]
    return (
        "For information, real servers of the SDK, of which each needs some tenths of a second of CPU for its import, "
        f"whoever starts it: {'; '.join(lines)}."
    )


def listing_text(listing: dict[str, Any]) -> str:
    if "error" in listing:
        return f"`toolbridge tools`: not measured ({listing['error']})."
    warm, worst, bare = (f"{listing[key] * 1e3:.0f} ms" for key in ("warm", "worst", "interpreter"))
    return (
        f"`toolbridge tools` over 30 servers. The first time {listing['started']} processes were started, in "
        f"{listing['cold']:.2f} s. Again: {listing['started_again']} processes started, {warm}, at worst {worst}, of "
        f"which the interpreter alone is {bare} ({verdict(listing['warm'], LISTING_GOAL, ' s')})."
    )


def growing_servers(growth: dict[str, Any]) -> Table:
    table = [["client", "servers", "wall s", "CPU ms", "CPU ms a server", "closing s"]]
    for each in growth["servers"]:
        cpu = each["cpu"] * 1e3
        numbers = [f"{each['seconds']:.2f}", f"{cpu:.0f}", f"{cpu / each['count']:.1f}", f"{each['close']:.2f}"]
        table.append([each["name"], str(each["count"]), *numbers])
    return table


def growing_tools(growth: dict[str, Any]) -> Table:
    table = [["tools", *(f"{what}, {name}" for what in ("list ms", "call µs") for name in (BARE, OURS)), "call ratio"]]
    for each in growth["tools"]:
        bare, ours = each[BARE], each[OURS]
        if None in (*bare.values(), *ours.values()):
            table.append([f"{each['count']:,}", *["–"] * 4, "failed"])
            continue
        listed = [f"{one['list'] * 1e3:.1f}" for one in (bare, ours)]
        called = [f"{one['call']:.0f}" for one in (bare, ours)]
        table.append([f"{each['count']:,}", *listed, *called, f"{ours['call'] / bare['call']:.2f}"])
    return table


def growing_results(growth: dict[str, Any]) -> Table:
    table = [["transport", "bytes", f"{BARE} ms", f"{OURS} ms", "ratio"]]
    for each in growth["results"]:
        bare, ours = each[BARE], each[OURS]
        cells = [f"{bare / 1e3:.2f}" if bare else "failed", f"{ours / 1e3:.2f}" if ours else "failed"]
        ratio = f"{ours / bare:.2f}" if bare and ours else "–"
        table.append([each["transport"], f"{each['size']:,}", *cells, ratio])
    return table


def http_table(growth: dict[str, Any]) -> Table:
    table = [["client", "connections", "wall s", "CPU ms", "CPU ms each"]]
    for each in growth["http"]:
        count, cpu = each["tools"] // 10, each["cpu"] * 1e3
        table.append([each["name"], str(count), f"{each['seconds']:.2f}", f"{cpu:.0f}", f"{cpu / count:.1f}"])
    return table


def memory_table(memory: list[dict[str, Any]]) -> Table:
    table = [["client", "transport", "MB before", "MB after", "grown by kB"]]
    for each in memory:
        if "after" not in each:
            continue
        sizes = [f"{each[key] / 1024:.1f}" for key in ("before", "after")]
        table.append([each["name"], each["transport"], *sizes, f"{each['after'] - each['before']:,}"])
    return table


def page(result: Result) -> list[str]:
    about, growth = result["about"], result["growth"]
    first, more = about["memory_calls"]
    ours = next((each for each in result["connect"] if each["name"] == OURS and "ratio" in each), None)
    return [
        "One call of a tool that gives back five letters, on a server of the standard library whose own cost is "
        "next to nothing: what is left is the client's. *Bare* is the SDK's `ClientSession` over its own "
        f"transports; a ratio compares within a round, and the median of {about['rounds']} rounds is shown. CPU is "
        "the client process's own, a call, the least of all rounds: what else the machine does only adds to it. With "
        "32 at once a call mostly waits for the 31 others.",
        call_verdicts(result["calls"]),
        written(call_table(result["calls"], "2025-11-25")),
        "Those that speak 2026-07-28, to a server that does too:",
        written(call_table(result["calls"], "2026-07-28")),
        *failures(about["errors"]),
        "Not comparable: the libraries do different things around a call. toolbridge looks up whether the tool is "
        "offered, bounds the call, watches the server and reads the result (the check of arguments comes before, in "
        "`resolve`, and is not in these numbers); LangChain, Pydantic AI and ADK run the call as their agents do, with "
        "callbacks and context; `mcp session` does nothing of the kind.",
        "## Thirty servers at once",
        "From the start of the processes until every tool is listed: 29 servers that take 0.5 s to start and one "
        "that takes 2 s (they sleep, so that two processors are enough). *Left running* are processes that live on "
        "when closing has "
        "returned." + (f" {OURS}: {verdict(ours['ratio'], CONNECT_GOAL)}." if ours else ""),
        written(connect_table(result["connect"])),
        real_text(result["real"]),
        "## A warm listing",
        listing_text(result["listing"]),
        "## Growth",
        "Servers that take 0.3 s to start:",
        written(growing_servers(growth)),
        "Tools of one server; a call is to the last but one of them. The least of five turns:",
        written(growing_tools(growth)),
        "Size of a result, one call at a time, the least of five turns:",
        written(growing_results(growth)),
        "HTTP connections to one server. Reading the certificates for each of them is what costs the SDK; "
        "toolbridge reads them once:",
        written(http_table(growth)),
        "## Memory",
        f"Resident memory of the client's process after {first:,} calls and after {more:,} more, 32 at once.",
        written(memory_table(result["memory"])),
        f"A fixed loop took up to {about['noise']:.2f} times its least wall time: so busy was the machine. Wall times "
        "suffer from that in full: above 2 they say little, and the CPU times are the ones to read.",
    ]  # fmt: skip


def draw(result: Result) -> Any:
    panels: list[Panel] = []
    for transport in ("stdio", "http"):
        rows = [each for each in result["calls"] if each["transport"] == transport and each["concurrency"] == 1]
        found = sorted(
            (each for each in rows if each["era"] == "2025-11-25" and "cpu" in each), key=lambda each: each["cpu"]
        )
        made = tuple(Bar(each["name"], (each["cpu"] / 1e3,), f"{each['cpu'] / 1e3:.2f} ms") for each in found)
        panels.append(Panel(f"a call over {transport}: CPU time of the client (ms)", made))
    rows = sorted((each for each in result["connect"] if "all" in each), key=lambda each: each["all"])
    found = tuple(Bar(each["name"], (each["all"],), f"{each['all']:.1f} s") for each in rows)
    panels.append(Panel("30 servers connected and listed, the slowest takes 2 s (s)", found))
    return bars(panels, (GREY,), ("",), "milliseconds above, seconds below; logarithmic", log=True)


def summary(result: Result) -> list[Line]:
    """Who is ahead is told by what is shown: the same number is even."""
    lines: list[Line] = []
    for transport in ("stdio", "http"):
        rows = {
            each["name"]: round(each["cpu_ratio"], 2) for each in result["calls"]
            if (each["transport"], each["concurrency"], each["era"]) == (transport, 1, "2025-11-25") and "cpu" in each
        }  # fmt: skip
        rows.pop(BARE, None)
        lines += line_of(
            f"CPU time of a call over {transport}, × a bare SDK session", rows, lambda each: f"× {each:.2f}"
        )
    seconds = {each["name"]: round(each["all"], 1) for each in result["connect"] if "all" in each}
    lines += line_of("30 servers connected and listed, the slowest takes 2 s", seconds, lambda each: f"{each:.1f} s")
    many = max(result["growth"]["tools"], key=lambda each: each["count"], default=None)
    if many:
        listed = {name: round(many[name]["list"] * 1e3) for name in (BARE, OURS) if many[name]["list"]}
        lines += line_of(f"listing {many['count']:,} tools of one server", listed, lambda each: f"{each:.0f} ms")
    listing = result["listing"]
    if "warm" in listing:
        warm = f"{listing['warm'] * 1e3:.0f} ms"
        lines.append(Line("`toolbridge tools` over 30 servers that were listed before", warm, "–", ""))
    return lines


def line_of(what: str, values: dict[str, float], shown: Callable[[float], str]) -> list[Line]:
    ours = values.pop(OURS, None)
    if ours is None:
        return []
    others = sorted(values.items(), key=lambda each: each[1])
    texts = ", ".join(f"{shown(value)} {name}" for name, value in others)
    return [Line(what, shown(ours), texts, ahead(ours, others))]
