"""What definitions cost: the same tools as every converter sends them, in tokens.

    python benchmarks/tokens.py

The JSON of each definition, without spaces, is counted with `o200k_base`, the encoding of OpenAI's current models. What
a provider makes of it inside is its own business: the numbers compare converters, and are not a bill.
"""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from converters import TITLES, converters
from environments import OURS, Failed
from report import GREY, Area, Bar, Line, Options, Panel, Result, ahead, bars, failures, main, table

from toolbridge.encodings import counter_of

SAMPLE, FULL_SAMPLE = 500, 3_000


def measure(options: Options) -> Result:
    count = counter_of("o200k_base")
    known: dict[str, int] = {}

    def cost(definition: Any) -> int | None:
        if definition is None:
            return None
        text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
        if text not in known:
            known[text] = count(text)
        return known[text]

    with converters(options, SAMPLE, FULL_SAMPLE) as made:
        bare = [cost(only_named(json.loads(each))) for each in made.texts]
        costs: dict[tuple[str, str], list[int | None]] = {}
        rows: list[Result] = []
        for peer, target in made.pairs():
            print(f"counting {peer}, {target} …", flush=True)
            try:
                costs[peer, target] = [cost(each) for each, _ in made.ask(peer, "definitions", target=target)]
            except Failed as failure:
                rows.append({"peer": peer, "target": target, "error": str(failure)})
                continue
            rows.append({"peer": peer, "target": target, **compared(costs[peer, target], costs[OURS, target])})
        about = {"tools": made.source, "versions": made.versions, "errors": made.errors}
        listed = [each for each in bare if each is not None]
        return {"about": about, "listed": {"median": median(listed), "sum": sum(listed)}, "rows": rows}


def only_named(tool: Any) -> Any:
    """What a server says of a tool that a model can use: neither annotations nor what the tool gives back."""
    return {key: tool[key] for key in ("name", "description", "inputSchema") if key in tool}


def compared(theirs: list[int | None], ours: list[int | None]) -> Result:
    found = [each for each in theirs if each is not None]
    pairs = [(a, b) for a, b in zip(theirs, ours, strict=True) if a is not None and b is not None]
    if not found or not pairs:
        return {"error": "no definition at all"}
    return {
        "tools": len(found), "refused": len(theirs) - len(found), "median": median(found), "sum": sum(found),
        "largest": max(found), "by_ours": round(sum(a for a, _ in pairs) / sum(b for _, b in pairs), 4),
    }  # fmt: skip


def page(result: Result) -> list[str]:
    lines = [["for", "converter", "median", "sum", "largest", "refused", "sum × ours", ""]]
    for each in result["rows"]:
        start = [TITLES[each["target"]], each["peer"]]
        if "error" in each:
            lines.append([*start, *["–"] * 5, f"failed: {each['error']}"])
            continue
        numbers = [f"{each[key]:,.0f}" for key in ("median", "sum", "largest", "refused")]
        remark = "" if each["peer"] == OURS or each["by_ours"] >= 1 else f"**shorter than {OURS}**"
        ratio = "1" if each["peer"] == OURS else f"{each['by_ours']:.3f}"
        lines.append([*start, *numbers, ratio, remark])
    listed = result["listed"]
    return [
        f"{result['about']['tools']}, in tokens of `o200k_base`: the JSON of each definition as it is sent, without "
        f"spaces. As the servers list them (name, description, input schema) they are {listed['sum']:,} in all, "
        f"{listed['median']:,.0f} in the middle. `sum × ours` is over the tools that both converted: below 1 the "
        "converter's are shorter than toolbridge's.",
        table(lines),
        *failures(result["about"]["errors"]),
        "What a definition leaves out makes it shorter: titles and `$schema` lose nothing, a constraint or an "
        "optional argument does. Where toolbridge's is longer it says in the description what the schema could not "
        "say, or marks optionals as nullable for strict mode; [legality](legality.md) has what that buys. [Counting "
        "and cutting](../tokens.md) is how to spend less.",
    ]


def draw(result: Result) -> Any:
    panels = [
        Panel(title, tuple(
            Bar(each["peer"], (each["by_ours"],), f"{each['by_ours']:.2f}  ({each['refused']} refused)")
            for each in result["rows"] if each["target"] == target and "error" not in each
        )) for target, title in TITLES.items()
    ]  # fmt: skip
    return bars(panels, (GREY,), ("",), "tokens of all definitions, as a multiple of toolbridge's")


def summary(result: Result) -> list[Line]:
    lines: list[Line] = []
    for target, title in TITLES.items():
        rows = [each for each in result["rows"] if each["target"] == target and "error" not in each]
        ours = next((each for each in rows if each["peer"] == OURS), None)
        others = sorted((each for each in rows if each["peer"] != OURS), key=lambda each: each["by_ours"])
        if ours and others:
            best = ahead(1, [(each["peer"], each["by_ours"]) for each in others])
            texts = [f"× {each['by_ours']:.3f} {each['peer']}" for each in others]
            what = f"tokens of a definition, median, and all of them × ours: {title}"
            lines.append(Line(what, f"{ours['median']:,.0f}", ", ".join(texts), best))
    return lines


AREA = Area("tokens", "Tokens of definitions", measure, page, draw, summary)

if __name__ == "__main__":
    main(AREA)
