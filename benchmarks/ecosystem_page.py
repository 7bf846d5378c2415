"""The page and the pictures of `ecosystem.py`: figures in, Markdown and SVG out. The pictures are the same for the same
figures, byte for byte, and their colours can be told apart by everybody (Okabe and Ito's)."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from toolbridge import __version__
from toolbridge.lint.finding import SEVERITIES
from toolbridge.lint.settings import DEFAULTS
from toolbridge.lint.table import rules
from toolbridge.providers import providers
from toolbridge.spending.cuts import COPY, KINDS, LOSSES
from toolbridge.spending.measure import WINDOWS

if TYPE_CHECKING:
    from ecosystem import Figures

COLOURS = {"error": "#D55E00", "warning": "#E69F00", "info": "#56B4E9"}
FATES = {
    "exact": "#009E73",
    "changed": "#56B4E9",
    "widened": "#F0E442",
    "narrowed": "#E69F00",
    "left out": "#D55E00",
}
SHOWN_RULES = 25
"""Rules in the picture: those that most tools break."""

PRICES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────


def page(figures: Figures) -> str:
    """The whole page."""
    sections = (_head, _rules, _scores, _safety, _tokens, _portability, _time)
    return "\n".join(section(figures) for section in sections)


def _head(figures: Figures) -> str:
    clean = _percent(figures.clean_tools, figures.tools)
    small = _percent(sum(each <= 20 for each in figures.server_sizes), figures.servers)
    found = figures.findings
    counts = f"{found['error']:,} errors, {found['warning']:,} warnings and {found['info']:,} remarks"
    made = f"toolbridge {__version__}, {date.today():%B %Y}"
    return _paragraphs(
        "# How the ecosystem does",
        f"*This page is written by `make ecosystem` (`benchmarks/ecosystem.py`): {made}.*",
        f"""{figures.tools:,} distinct tools of {figures.servers:,} public MCP servers, as the servers list them, were
        held against the [rules of the linter](rules.md), converted for every [provider](providers.md) and counted with
        OpenAI's own encoding. Half of the servers have up to {_quantile(figures.server_sizes, 0.5):,} tools in it,
        {small} have at most 20, and the largest has {max(figures.server_sizes):,}. It is a part of a larger collection,
        and a tool that several servers have is in it once: some servers have more tools, and cost more, than is counted
        here. The corpus does not belong to the project, and no server is named: the page says how things stand, not who
        does them badly.""",
        f"""In short: {clean} of the tools have neither an error nor a warning ({counts} in all). The usual tool costs
        {_quantile(figures.tool_tokens, 0.5):,} tokens in every request, and the usual server
        {_quantile(figures.server_tokens, 0.5):,}.""",
    )


def _rules(figures: Figures) -> str:
    known = rules()
    tools, servers = figures.failing_tools, figures.failing_servers
    broken = sorted(servers, key=lambda each: (-tools[each], -servers[each], each))
    rows = [
        f"| [`{id}`](rules.md#{_anchor(id)}) | {known[id].severity} | {_share(tools[id], figures.tools)} | "
        f"{_share(servers[id], figures.servers)} | {_cell(known[id].summary)} |"
        for id in broken
    ]
    never = [f"`{id}`" for id in known if id not in servers]
    return _paragraphs(
        "## Which rules are broken",
        "![The rules that most tools break](ecosystem/rules.svg)",
        f"""Held against the default settings (providers {", ".join(DEFAULTS.providers)}), each server by itself,
        without calls. A server is counted where one of its tools breaks the rule, or the server as a whole does.""",
        "\n".join(["| rule | | tools | servers | asks that |", "|---|---|--:|--:|---|", *rows]),
        f"""Nobody breaks the other {len(never)}, some of which need several servers side by side, a live server or a
        setting: {", ".join(never)}.""",
    )


def _scores(figures: Figures) -> str:
    tools = _percent(sum(each >= 90 for each in figures.tool_scores), len(figures.tool_scores))
    servers = _percent(sum(each >= 90 for each in figures.server_scores), figures.servers)
    return _paragraphs(
        "## Scores",
        "![How the scores of tools and servers are distributed](ecosystem/scores.svg)",
        "\n".join(
            [
                "| | a tenth | a quarter | half | three quarters | nine tenths |",
                "|---|--:|--:|--:|--:|--:|",
                f"| tools have at most | {_quantiles(figures.tool_scores)} |",
                f"| servers have at most | {_quantiles(figures.server_scores)} |",
            ]
        ),
        f"{tools} of the tools and {servers} of the servers have 90 points or more of 100.",
    )


def _safety(figures: Figures) -> str:
    known = rules()
    rows = [
        f"| [`{id}`](rules.md#{_anchor(id)}) | {known[id].severity} | {figures.failing_tools[id]:,} | "
        f"{figures.failing_servers[id]:,} | {_cell(known[id].summary)} |"
        for id in known
        if id.startswith("safety.") and figures.failing_servers[id]
    ]
    return _paragraphs(
        "## Safety",
        """A finding of these is a reason to look, and says nothing of anybody's intent. In November 2026 we looked
        through them, those about secrets aside, and noticed nothing that was meant to harm: servers that insist on a
        first step of their own, control characters that a documentation tool left behind, invisible spaces in
        translated text. That is no audit of any server.
        Look-alikes and references between servers are not in here, since each server was looked at by itself.""",
        "\n".join(["| rule | | tools | servers | asks that |", "|---|---|--:|--:|---|", *rows]),
    )


def _tokens(figures: Figures) -> str:
    total = sum(figures.parts.values())
    named = {
        "names": "name",
        "descriptions of tools": "description",
        "descriptions of parameters": "parameters",
        "enumerations": "enums",
        "structure": "structure",
    }
    shares = ", ".join(f"{what} {_percent(figures.parts[part], total)}" for what, part in named.items())
    kinds = {kind.id: (kind.what, kind.loss) for kind in KINDS}
    kinds[COPY] = ("whole tools that are copies of others of their server", "something")
    order = sorted(figures.saved, key=lambda each: (LOSSES.index(kinds[each][1]), -figures.saved[each]))
    cuts = [
        f"| {kinds[id][0]} | {kinds[id][1]} | {figures.saved[id]:,} | {_share(figures.saved[id], total)} |"
        for id in order
    ]
    over = {size: sum(each > size / 10 for each in figures.server_tokens) for size in WINDOWS}
    windows = ", ".join(f"{_percent(count, figures.servers)} of them of {size:,}" for size, count in over.items())
    return _paragraphs(
        "## What they cost",
        "![What tools and servers cost](ecosystem/tokens.svg)",
        """Tokens in every request, as OpenAI's Chat Completions is sent them, counted with `o200k_base` as compact JSON
        ([how it is counted](tokens.md)).""",
        "\n".join(
            [
                "| | half | nine tenths | 99 of 100 | all |",
                "|---|--:|--:|--:|--:|",
                f"| tools cost at most | {_prices(figures.tool_tokens)} |",
                f"| servers cost at most | {_prices(figures.server_tokens)} |",
            ]
        ),
        f"Servers that take more than a tenth of a context window: {windows} tokens.",
        f"All tools together are {total:,} tokens: {shares}.",
        "What could be cut, each measured by making it:",
        "\n".join(["| cut | lost | tokens | of all |", "|---|---|--:|--:|", *cuts]),
        f"""The cuts that lose nothing save {figures.free:,} tokens together, {_percent(figures.free, total)} of all.
        (They are fewer than their sum where two cuts are of the same text.)""",
    )


def _portability(figures: Figures) -> str:
    rows = [
        f"| [`{name}`](providers.md#{_anchor(name)}) | "
        + " | ".join(_share(fates[fate], figures.tools) for fate in FATES)
        + " |"
        for name, fates in figures.fates.items()
    ]
    most = min(each.most_tools for each in providers().values() if each.most_tools)
    large = sum(each > most for each in figures.server_sizes)
    return _paragraphs(
        "## What each provider can be given",
        "![How tools come out for each provider](ecosystem/portability.svg)",
        """Each tool by itself, with the default for strict mode, by the worst that becomes of it. *Changed* is another
        shape or spelling, which is put back in calls, and what strict mode does to every tool alike (optionals that may
        be null, objects that are closed). *Widened* means that the provider's form accepts more: calls are checked
        against the server's own schema all the same. *Narrowed* means that something can no longer be said. *Left out*
        are also tools that their servers keep from models. [Notes](notes.md) says what each change is.""",
        "\n".join([f"| provider | {' | '.join(FATES)} |", f"|---|{'--:|' * len(FATES)}", *rows]),
        f"""With OpenAI, {_percent(figures.strict, figures.tools)} of the tools are strict by default, since nothing is
        lost by it. {large} of the servers list more than {most} tools, the most that some providers take in one
    request.""",
    )


def _time(figures: Figures) -> str:
    rows = [
        f"| {size:,} | {seconds:.2f} s | {seconds / size * 1000:.2f} ms |" for size, seconds in figures.times.items()
    ]
    (nasty, nasty_seconds), (schemas, schema_seconds) = figures.hard["nasty"], figures.hard["hard_schemas"]
    return _paragraphs(
        "## How long it takes",
        "![How the time grows with the number of tools](ecosystem/time.svg)",
        f"""Processor time of `lint_tools` with all rules, for tools drawn at random that it never saw, the median of
        three rounds (Python {platform.python_version()}, one core):""",
        "\n".join(["| tools | time | a tool |", "|--:|--:|--:|", *rows]),
        f"""The {nasty} nastiest tools of the corpus (schemas that are none, hundreds of properties, descriptions of
        40,000 characters) took {nasty_seconds:.1f} s, and {schemas} general JSON Schemas, harder than any tool has,
        {schema_seconds:.1f} s. Nothing crashed, and nothing was left out.""",
    )


def _paragraphs(*texts: str) -> str:
    """Each text as a paragraph, wrapped where it is prose."""
    made = [
        each if each.startswith(("#", "|", "!")) else fill(" ".join(each.split()), WIDTH, **_WRAP) for each in texts
    ]
    return "\n\n".join(made) + "\n"


WIDTH = 120
_WRAP: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def _cell(text: str) -> str:
    """Words of a rule in a table: what is no code is written as it is, marks and all."""
    parts = text.replace("|", "\\|").split("`")
    parts[::2] = [each.replace("_", "\\_") for each in parts[::2]]
    return "`".join(parts)


def _percent(part: int, whole: int) -> str:
    share = part / whole * 100 if whole else 0
    return f"{share:.0f} %" if share >= 9.95 or share == 0 else f"{share:.1f} %"


def _share(part: int, whole: int) -> str:
    if part and part / whole < 0.0005:
        return "< 0.1 %"
    return "–" if not part else f"{part / whole * 100:.1f} %"


def _quantile(values: Sequence[int], share: float) -> int:
    """The least value that so many do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))] if ordered else 0


def _quantiles(values: Sequence[int]) -> str:
    return " | ".join(f"{_quantile(values, each):,}" for each in (0.1, 0.25, 0.5, 0.75, 0.9))


def _prices(values: Sequence[int]) -> str:
    return " | ".join(f"{_quantile(values, each):,}" for each in (0.5, 0.9, 0.99, 1))


def _anchor(id: str) -> str:
    return "".join(each for each in id.lower() if each.isalnum() or each in "-_")


# ── the pictures ─────────────────────────────────────────────────────────────────────────────────────────────────


def draw(figures: Figures, directory: Path) -> None:
    """All pictures, as SVG."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "toolbridge",
            "svg.fonttype": "path",
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#dddddd",
            "axes.axisbelow": True,
            "figure.facecolor": "white",
        }
    )
    directory.mkdir(exist_ok=True)
    for name, picture in (
        ("rules", _draw_rules),
        ("scores", _draw_scores),
        ("tokens", _draw_tokens),
        ("portability", _draw_portability),
        ("time", _draw_time),
    ):
        drawn = picture(figures)
        drawn.savefig(directory / f"{name}.svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")


def _draw_rules(figures: Figures) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    known = rules()
    most = [id for id, _ in figures.failing_tools.most_common(SHOWN_RULES)][::-1]
    drawn = Figure(figsize=(8.5, 7.5))
    axes = drawn.subplots()
    shares = [figures.failing_tools[id] / figures.tools * 100 for id in most]
    bars = axes.barh(most, shares, color=[COLOURS[known[id].severity] for id in most])
    axes.bar_label(bars, [f"{each:.1f} %" for each in shares], padding=3, fontsize=8)
    axes.set_xlabel("share of tools that break the rule (%)")
    axes.set_title(f"The rules that most of {figures.tools:,} tools break", loc="left")
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, max(shares) * 1.12)
    axes.margins(y=0.01)
    axes.legend(
        handles=[Patch(color=COLOURS[each], label=each) for each in SEVERITIES], loc="lower right", frameon=True
    )
    return drawn


def _draw_scores(figures: Figures) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(8.5, 3.4))
    panels = drawn.subplots(1, 2)
    for axes, values, what, colour in (
        (panels[0], figures.tool_scores, "tools", "#0072B2"),
        (panels[1], figures.server_scores, "servers", "#009E73"),
    ):
        edges = [*range(0, 101, 5)]
        weights = [100 / len(values)] * len(values)
        axes.hist(values, bins=[*edges[:-1], 100.001], weights=weights, color=colour, edgecolor="white")
        middle = _quantile(values, 0.5)
        axes.axvline(middle, color="#333333", linestyle="--", linewidth=1)
        axes.text(middle - 1.5, axes.get_ylim()[1] * 0.96, f"half: {middle}", ha="right", va="top", fontsize=9)
        axes.set_title(f"{len(values):,} {what}", loc="left")
        axes.set_xlabel("score, 0 to 100")
        axes.set_ylabel(f"share of {what} (%)")
        axes.set_xlim(0, 100)
        axes.grid(axis="x", visible=False)
    drawn.subplots_adjust(wspace=0.28)
    return drawn


def _draw_tokens(figures: Figures) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(8.5, 4.2))
    axes = drawn.subplots()
    for values, what, colour, style in (
        (figures.tool_tokens, "tools", "#0072B2", "-"),
        (figures.server_tokens, "servers", "#D55E00", "--"),
    ):
        ordered = sorted(each for each in values if each)
        shares = [(i + 1) / len(ordered) * 100 for i in range(len(ordered))]
        step = max(1, len(ordered) // 400)
        kept = sorted({*range(0, len(ordered), step), len(ordered) - 1})
        axes.plot(
            [ordered[i] for i in kept],
            [shares[i] for i in kept],
            color=colour,
            linestyle=style,
            linewidth=2,
            label=what,
        )
        for share in (0.5, 0.9, 0.99):
            price = _quantile(ordered, share)
            axes.plot([price], [share * 100], marker="o", color=colour, markersize=5)
            axes.annotate(
                f"{price:,}",
                (price, share * 100),
                textcoords="offset points",
                xytext=(7, -11),
                fontsize=9,
                color=colour,
            )
    axes.set_xscale("log")
    axes.set_xticks(PRICES, [f"{each:,}" for each in PRICES])
    axes.minorticks_off()
    axes.set_xlim(15, max(figures.server_tokens) * 1.5)
    axes.set_ylim(0, 102)
    axes.set_xlabel("tokens in every request (o200k_base, OpenAI Chat Completions)")
    axes.set_ylabel("share that costs at most so much (%)")
    axes.set_title("What a tool and what a whole server costs", loc="left")
    axes.legend(loc="lower right")
    return drawn


def _draw_portability(figures: Figures) -> Any:
    from matplotlib.figure import Figure

    names = [*figures.fates][::-1]
    drawn = Figure(figsize=(8.5, 6))
    axes = drawn.subplots()
    left = [0.0] * len(names)
    for fate, colour in FATES.items():
        widths = [figures.fates[name][fate] / figures.tools * 100 for name in names]
        bars = axes.barh(names, widths, left=left, color=colour, label=fate, edgecolor="white", linewidth=0.5)
        axes.bar_label(bars, [f"{each:.0f}" if each >= 4 else "" for each in widths], label_type="center", fontsize=8)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of tools (%), by the worst that becomes of each")
    axes.set_title("How tools come out for each provider", loc="left", pad=28)
    axes.grid(visible=False)
    axes.margins(y=0.01)
    axes.legend(ncols=len(FATES), loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=9)
    return drawn


def _draw_time(figures: Figures) -> Any:
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(8.5, 3.4))
    axes = drawn.subplots()
    sizes, seconds = [*figures.times], [*figures.times.values()]
    axes.plot(sizes, seconds, marker="o", color="#0072B2", linewidth=2, label="measured")
    one = seconds[-1] / sizes[-1]
    axes.plot(
        sizes, [each * one for each in sizes], color="#999999", linestyle=":", label="in proportion to the number"
    )
    for size, second in figures.times.items():
        axes.annotate(f"{second:.2f} s", (size, second), textcoords="offset points", xytext=(6, -12), fontsize=9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{each:,}" for each in sizes])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.margins(0.1)
    axes.set_xlabel("tools")
    axes.set_ylabel("seconds of one core")
    axes.set_title("How long the linter takes, with all rules", loc="left")
    axes.legend(loc="upper left")
    return drawn
