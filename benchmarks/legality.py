"""Legality, and there and back: which definitions a provider takes, and what becomes of calls.

    python benchmarks/legality.py

Every converter writes its definitions on its own recommended way. A judge that is no part of any of them says whether
the provider would take each, whether every call that the server takes can still be made, and whether calls that the
server does not take get through. Where the judge that knows the vendors' own validators is not at hand
(TOOLBRIDGE_SHARED), `plain_rules.py` stands in for it, which knows the main rules only; the page says which it was.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from time import perf_counter
from typing import Any

from converters import SHARED, TITLES, Converters, converters
from environments import HERE, OURS, ROOT, Failed, Worker, install
from report import (
    BLUE,
    GREY,
    ORANGE,
    RED,
    YELLOW,
    Area,
    Bar,
    Line,
    Options,
    Panel,
    Result,
    bars,
    failures,
    main,
    share,
    table,
)

SAMPLE, FULL_SAMPLE = 1_500, 12_000
JUDGES = 2
"""Judges at work at the same time: the definitions of two converters."""
PROVIDERS = {"openai": "openai-chat", "anthropic": "anthropic", "gemini": "gemini"}
JUDGE = SHARED / "judge" / "judge.py"


def measure(options: Options) -> Result:
    error = "" if options.skip_install else install(["judge"]).get("judge", "")
    if error:
        raise SystemExit(f"nothing can be judged: {error}")
    rules = JUDGE if JUDGE.is_file() else HERE / "plain_rules.py"
    with converters(options, SAMPLE, FULL_SAMPLE) as made:
        definitions = written_definitions(made)
        free: Queue[Worker] = Queue()
        for _ in range(JUDGES):
            free.put(Worker("judge", "judge.py", rules, ROOT / "tests" / "support" / "values.py", made.file))

        def judged(pair: tuple[str, str]) -> Result:
            begun, worker = perf_counter(), free.get()
            try:
                return verdict(made, worker, *pair, definitions[pair])
            except Failed as failure:
                return {"peer": pair[0], "target": pair[1], "error": str(failure)}
            finally:
                free.put(worker)
                print(f"judged {' for '.join(pair)} in {perf_counter() - begun:.0f} s", flush=True)

        with ThreadPoolExecutor(JUDGES) as pool:
            rows = list(pool.map(judged, definitions))
        while not free.empty():
            free.get().close()
        return {
            "about": {
                "tools": made.source, "versions": made.versions, "errors": made.errors,
                "judge": "independent" if rules == JUDGE else "plain",
            },
            "count": len(made.texts), "rows": rows,
        }  # fmt: skip


def written_definitions(made: Converters) -> dict[tuple[str, str], Any]:
    out: dict[tuple[str, str], Any] = {}
    for peer, target in made.pairs():
        try:
            out[peer, target] = made.ask(peer, "definitions", target=target)
        except Failed as failure:
            out[peer, target] = failure
    return out


def verdict(made: Converters, judge: Worker, peer: str, target: str, answer: Any) -> Result:
    if isinstance(answer, Failed):
        raise answer
    definitions = [each for each, _ in answer]
    values = judge.ask("values", definitions=definitions)
    there, back = [each["there"] for each in values], [each["back"] for each in values]
    written, returned = there, [[[each] for each in some] for some in back]  # as they are: nobody else changes them
    if made.ways[peer].get(target):
        written = made.ask(peer, "written", target=target, values=there)
        returned = made.ask(peer, "returned", target=target, values=back)
    provider = PROVIDERS[target.split()[0]]
    verdicts = judge.ask("verdicts", provider=provider, definitions=definitions, written=written, returned=returned)
    return {"peer": peer, "target": target, "default": target in made.defaults[peer], **counted(verdicts, answer)}


def counted(verdicts: list[Result], answer: list[Any]) -> Result:
    raised = Counter(error.split(":")[0] for each, error in answer if each is None)
    strict = sum(bool((each.get("function") or each).get("strict")) for each, _ in answer if each is not None)
    reasons = Counter(kind(each["illegal"]) for each in verdicts if each.get("illegal"))
    legal = [each for each in verdicts if not each.get("raised") and not each["illegal"]]
    kept = [each for each in legal if not each.get("narrowed")]
    return {
        "tools": len(verdicts),
        "raised": sum(raised.values()), "raises": dict(raised.most_common(3)), "strict": strict,
        "illegal": sum(reasons.values()), "reasons": dict(reasons.most_common(4)),
        "legal": len(legal),
        "narrowed": sum(bool(each.get("narrowed")) for each in verdicts),
        "kept": len(kept),
        "wider": sum(bool(each.get("wider")) for each in verdicts),
        "wrong": sum(bool(each.get("wrong")) for each in verdicts),
        "right": sum(not each.get("wrong") for each in kept),
        "unjudged": sum(bool(each.get("unjudged")) for each in verdicts),
    }  # fmt: skip


def kind(violation: str) -> str:
    """A violation without its place and its names: nothing of a tool is told."""
    text = violation.partition(": ")[2] if violation.startswith(("/", ": ", "root: ")) else violation
    if text.startswith(("name ", "property name", "property key")):
        return ("the tool's " if text.startswith("name ") else "a property's ") + "name"
    if text.startswith("not a valid"):
        return "not a valid schema"
    if "$ref" in text:
        return "$ref that leads nowhere or has siblings"
    if text.startswith(("required '", "llguidance", "SDK shape")):
        return {"r": "required names no property", "l": "the engine does not compile it", "S": "not the SDK's shape"}[
            text[0]
        ]
    if text.endswith("is not a valid format"):
        return "format not allowed"
    for mark in (", missing", ", is ", "unknown keys"):
        text = text.partition(mark)[0] + (mark if mark == "unknown keys" and mark in text else "")
    return text[:70]


# ── how it is told ───────────────────────────────────────────────────────────────────────────────────────────────

WORDS = {
    "independent": "The judge is a program that shares no code with any converter: the vendors' own SDK types and "
    "validators, an engine that compiles strict schemas, and the documented rules, read strictly.",
    "plain": "The judge was `benchmarks/plain_rules.py`, which knows the main rules only: legality is flattered, for "
    "all alike.",
}


def ordered(result: Result) -> list[Result]:
    return [each for target in TITLES for each in result["rows"] if each["target"] == target]


def page(result: Result) -> list[str]:
    lines = [["for", "converter", "legal", "and every call can be made", "and no wrong call is sent", "raised",
              "illegal", "narrowed", "wider", "wrong sent", "marked strict"]]  # fmt: skip
    for each in ordered(result):
        name = each["peer"] + (" (its default)" if each.get("default") and each["peer"] != OURS else "")
        if "error" in each:
            lines.append([TITLES[each["target"]], name, "failed: " + each["error"], *["–"] * 8])
            continue
        shares = [share(each[key], each["tools"]) for key in ("legal", "kept", "right")]
        counts = [f"{each[key]:,}" for key in ("raised", "illegal", "narrowed", "wider", "wrong", "strict")]
        lines.append([TITLES[each["target"]], name, *shares, *counts])
    why = [
        f"- {each['peer']}, {TITLES[each['target']]}: " + "; ".join([*raises(each), *reasons(each)])
        for each in ordered(result)
        if each.get("raised") or each.get("illegal")
    ]
    return [
        f"{result['about']['tools']}. {WORDS[result['about']['judge']]} Each converter goes its own recommended way, "
        "one tool at a time.",
        "- *legal*: the provider would take the definition.\n"
        "- *and every call can be made*: none of the calls that the server's schema takes (twelve were made for each "
        "tool; "
        "keys that no schema names not among them) is refused by the definition. Our own are first written as the "
        "model has "
        "to write them; nobody else changes calls, so theirs are taken as they are.\n"
        "- *and no wrong call is sent*: of twelve calls that the definition takes, none reaches the server although "
        "its "
        "schema refuses it.\n"
        "- *raised*: the converter threw an exception (for toolbridge: left the tool out). *illegal*: the provider "
        "would "
        "refuse it, and with it the whole request. *narrowed*: a valid call cannot be made. *wider*: the definition "
        "takes a "
        "call that the server does not. *wrong sent*: and that call is sent. toolbridge checks arguments against the "
        "server's schema first and answers the model with what is wrong; the others send what the model wrote. *marked "
        "strict*: what cannot be strict is sent without the mark, by toolbridge and by OpenAI Agents.",
        table(lines),
        *failures(result["about"]["errors"]),
        "## Why",
        "\n".join(why) or "Nothing was raised or illegal.",
        "## What is not compared",
        "No provider was asked: the judge stands in for all of them, and what it takes a provider may still refuse. "
        "A definition is judged alone, so that names that clash and limits of a whole request do not count. The "
        "OpenAI SDK has no way from MCP tools to definitions. Random calls find most losses and not all; they are "
        "the same for every converter. What a library does with arguments between the model and the server was "
        "read, not run: none of the peers changes or checks them by default, but that LangChain keeps arguments "
        "called `config` or `runtime` for itself, which is not counted here.",
    ]  # fmt: skip


def raises(each: Result) -> list[str]:
    return [f"{name} on {count:,}" for name, count in each["raises"].items()]


def reasons(each: Result) -> list[str]:
    return [f"{text} ({count:,})" for text, count in each["reasons"].items()]


def draw(result: Result) -> Any:
    panels: list[Panel] = []
    for target, title in TITLES.items():
        found: list[Bar] = []
        for each in result["rows"]:
            if each["target"] == target and "error" not in each:
                wrong, narrowed = each["kept"] - each["right"], each["legal"] - each["kept"]
                parts = [each["right"], wrong, narrowed, each["illegal"], each["raised"]]
                text = share(each["right"], each["tools"])
                found.append(Bar(each["peer"], tuple(part * 100 / each["tools"] for part in parts), text))
        panels.append(Panel(title, tuple(found)))
    legend = ("right", "legal, but a wrong call is sent", "legal, but a valid call cannot be made", "illegal", "raised")
    return bars(panels, (BLUE, YELLOW, ORANGE, RED, GREY), legend, "share of tools (%)")


def summary(result: Result) -> list[Line]:
    lines: list[Line] = []
    for target in ("openai", "openai strict", "anthropic", "gemini"):
        rows = [each for each in result["rows"] if each["target"].startswith(target) and "error" not in each]
        rows = [each for each in rows if each["target"] == target or target == "gemini"]
        ours = next((each for each in rows if each["peer"] == OURS), None)
        others = sorted((each for each in rows if each["peer"] != OURS), key=lambda each: -each["right"])
        if not ours or not others:
            continue
        texts = [f"{share(each['right'], each['tools'])} {each['peer']}" for each in others]
        better = [each["peer"] for each in others if each["right"] > ours["right"]]
        title = "Gemini" if target == "gemini" else TITLES[target]
        what = f"legal, every call can be made, no wrong call is sent: {title}"
        lines.append(Line(what, share(ours["right"], ours["tools"]), ", ".join(texts), ", ".join(better) or OURS))
    return lines


AREA = Area("legality", "Legal definitions, and calls there and back", measure, page, draw, summary)

if __name__ == "__main__":
    main(AREA)
