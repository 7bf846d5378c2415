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

from converters import TITLES, Converters, converters
from environments import HERE, JUDGE, OURS, ROOT, Failed, Worker, install
from report import (
    BLUE,
    GREEN,
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
    ahead,
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
            "count": len(made.texts), "not_mcp": not_mcp(made), "rows": rows,
        }  # fmt: skip


def not_mcp(made: Converters) -> Result:
    """How many of those drawn are not MCP by the letter, and on how many of them each converter raises."""
    raised: dict[str, int] = {}
    for peer, target in made.pairs() if made.aside else ():
        if peer not in raised:
            raised[peer] = sum(
                each is None for each, _ in made.ask(peer, "definitions", target=target, texts=made.aside)
            )
    return {"count": len(made.aside), "raised": raised}


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
    judged = [each for each in legal if not each.get("unjudged")]
    kept = [each for each in judged if not each["narrowed"]]
    return {
        "tools": len(verdicts),
        "raised": sum(raised.values()), "raises": dict(raised.most_common(3)), "strict": strict,
        "illegal": sum(reasons.values()), "reasons": dict(reasons.most_common(4)),
        "legal": len(legal),
        "narrowed": sum(bool(each.get("narrowed")) for each in verdicts),
        "kept": len(kept),
        "wider": sum(bool(each.get("wider")) for each in verdicts),
        "wrong": sum(bool(each.get("wrong")) for each in verdicts),
        "right": sum(not each["wrong"] for each in kept),
        "unjudged": len(legal) - len(judged),
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


KNOWN = {
    "independent": "It is what the tests hold, and no surprise: `tests/schema/test_corpus.py` asserts with this same "
    "judge that no definition of the tools which this sample is drawn from is refused (a quarter of them for each "
    "target in the usual run, all in the long one), and, for every seventh, that calls go there and back. What the "
    "judge finds fails the tests until it is repaired. The peers were not written against it. The number says that the "
    "rules which the judge knows are kept for these tools; for tools and rules that it does not know it promises less.",
    "plain": "The tests of toolbridge assert as much with a stricter judge over other tools, where that is at hand.",
}

UNSEEN = (
    "A sample that no test asks this judge about: schemas of a public collection of hard ones, objects at their root, "
    "drawn from those that `test_schemas_harder_than_any_tool_are_legal_too` passes over, each as a tool with a "
    "made-up name. They are general schemas, and harder than those of tools. It was run by hand "
    "(`--tools FILE`) with two peers; LangChain and LiteLLM were ended after more than a minute of CPU time without an "
    "answer, and the rest was not tried."
)


def ordered(result: Result) -> list[Result]:
    return [each for target in TITLES for each in result["rows"] if each["target"] == target]


def page(result: Result) -> list[str]:
    lines = [["for", "converter", "legal", "and every call can be made", "and no wrong call is sent", "raised",
              "illegal", "not judged", "narrowed", "wider", "wrong sent", "marked strict"]]  # fmt: skip
    for each in ordered(result):
        name = each["peer"] + (" (its default)" if each.get("default") and each["peer"] != OURS else "")
        if "error" in each:
            lines.append([TITLES[each["target"]], name, "failed: " + each["error"], *["–"] * 9])
            continue
        shares = [share(each[key], each["tools"]) for key in ("legal", "kept", "right")]
        counts = [f"{each[key]:,}" for key in ("raised", "illegal", "unjudged", "narrowed", "wider", "wrong", "strict")]
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
        "tool; keys that no schema names not among them) is refused by the definition. Our own are first written as "
        "the model has to write them; nobody else asks for another form, so theirs are taken as they are.\n"
        "- *and no wrong call is sent*: of twelve calls that the definition takes, none reaches the server although "
        "its schema refuses it.\n"
        "- *raised*: the converter threw an exception (for toolbridge: left the tool out). *illegal*: the provider "
        "would refuse it, and with it the whole request. *not judged*: legal, but the server's schema or the one that "
        "is sent is none, so that nothing can be said of calls; such a tool does not count as right. *narrowed*: a "
        "valid call cannot be made. *wider*: the definition takes a call that the server does not. *wrong sent*: and "
        "that call is sent. toolbridge checks arguments against the server's schema first and answers the model with "
        "what is wrong; mcp-use's agent checks them against a pydantic model that it makes of the schema, which knows "
        "neither limits nor patterns, and sends what that model filled in: `null` for an optional argument that was "
        "left out, whether the server takes it or not. For the others what the model wrote is taken as sent. *marked "
        "strict*: what cannot be strict is sent without the mark, by toolbridge and by OpenAI Agents.",
        table(lines),
        *aside(result),
        *([result["about"]["remark"]] if "remark" in result["about"] else []),
        *failures(result["about"]["errors"]),
        "## What toolbridge's 100 % is worth",
        KNOWN[result["about"]["judge"]],
        *unseen(result),
        "## Why",
        "\n".join(why) or "Nothing was raised or illegal.",
        "## What is not compared",
        "No provider was asked: the judge stands in for all of them, and what it takes a provider may still refuse. "
        "A definition is judged alone, so that names that clash and limits of a whole request do not count. The "
        "OpenAI SDK has no way from MCP tools to definitions. Random calls find most losses and not all; they are "
        "the same for every converter. What toolbridge and mcp-use's agent do with arguments between the model and "
        "the server was run. Of the other peers it was read, and is not counted: OpenAI Agents refuses a call that "
        "lacks a required argument, once it has the server's list of tools; LangChain keeps arguments called `config` "
        "or `runtime` for itself; otherwise none of them was seen to check arguments against the server's schema by "
        "default. mcp-use's agent was measured for OpenAI only; its other adapters send what the model wrote.",
    ]  # fmt: skip


def aside(result: Result) -> list[str]:
    found = result["not_mcp"]
    if not found["count"]:
        return []
    count, raised = found["count"], found["raised"]
    fine = [peer for peer, number in raised.items() if not number]
    rest = [peer for peer, number in raised.items() if number]
    what = "1 tool that was drawn is" if count == 1 else f"{count:,} tools that were drawn are"
    who = (f"; {', '.join(fine)} converts {'it' if count == 1 else 'them'}" if fine else "") + (
        f"; {', '.join(rest)} raise in MCP's own type for tools, before their converters are asked" if rest else ""
    )
    return [f"Not MCP by the letter: {what} without a name or an `inputSchema`, and in none of these numbers{who}."]


def unseen(result: Result) -> list[str]:
    """The sample that no test of ours asks this judge about, where it was measured."""
    rows = result.get("unseen")
    if not rows:
        return []
    lines = [["for", "converter", "tools", "legal", "and every call can be made", "and no wrong call is sent", "raised",
              "illegal", "not judged", "narrowed", "wrong sent"]]  # fmt: skip
    for each in rows:
        shares = [share(each[key], each["tools"]) for key in ("legal", "kept", "right")]
        counts = [f"{each[key]:,}" for key in ("raised", "illegal", "unjudged", "narrowed", "wrong")]
        lines.append([TITLES[each["target"]], each["peer"], f"{each['tools']:,}", *shares, *counts])
    return [UNSEEN, table(lines)]


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
                wrong, narrowed = each["kept"] - each["right"], each["legal"] - each["unjudged"] - each["kept"]
                parts = [each["right"], wrong, narrowed, each["unjudged"], each["illegal"], each["raised"]]
                text = share(each["right"], each["tools"])
                found.append(Bar(each["peer"], tuple(part * 100 / each["tools"] for part in parts), text))
        panels.append(Panel(title, tuple(found)))
    legend = ("right", "legal, but a wrong call is sent", "legal, but a valid call cannot be made",
              "legal, calls not judged", "illegal", "raised")  # fmt: skip
    return bars(panels, (BLUE, YELLOW, ORANGE, GREEN, RED, GREY), legend, f"share of {result['about']['tools']} (%)")


def summary(result: Result) -> list[Line]:
    lines: list[Line] = []
    for target, title in TITLES.items():
        rows = [each for each in result["rows"] if each["target"] == target and "error" not in each]
        ours = next((each for each in rows if each["peer"] == OURS), None)
        others = sorted((each for each in rows if each["peer"] != OURS), key=lambda each: -each["right"])
        if not ours or not others:
            continue
        texts = [f"{share(each['right'], each['tools'])} {each['peer']}" for each in others]
        # By the counts, not by the shares that are shown: every row is over the same tools.
        best = ahead(ours["right"], [(each["peer"], each["right"]) for each in others], most=True)
        what = f"legal, every call can be made, no wrong call is sent: {title}"
        lines.append(Line(what, share(ours["right"], ours["tools"]), ", ".join(texts), best))
    return lines


AREA = Area("legality", "Legal definitions, and calls there and back", measure, page, draw, summary)

if __name__ == "__main__":
    main(AREA)
