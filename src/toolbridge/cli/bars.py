"""What tools cost, for eyes: a bar for each of them in shades for its parts, sums, and cuts. Beside `cli.tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from toolbridge.apps import is_private
from toolbridge.cli.grid import Grid, blocks
from toolbridge.cli.terminal import Paint, cells, fitted, shown, wrapped
from toolbridge.cli.words import counted
from toolbridge.encodings import MARGIN
from toolbridge.spending import Cut, Parts, Savings, Spending, ToolSpending
from toolbridge.spending.cuts import COPY, LOSSES
from toolbridge.spending.measure import WINDOWS

WIDEST_LABEL = 44
"""Columns of the names, so that the bars stay beside them."""

WIDEST_BAR = 60

SERVERS_SHOWN = 12

NAMED = 3
"""Tools that are named of those that a cut is for, and of those that are left out for one reason."""

MANY_TOKENS = 2_000
"""From here on a tool to search the others with is worth being told of."""

SHADES: Final = (
    ("description", "█", "cyan"),
    ("parameters", "▓", "green"),
    ("enums", "▒", "yellow"),
    ("structure", "░", "dim"),
)
"""The parts as they are drawn; the name is drawn with the structure."""

HEADS: Final = {
    "nothing": "Nothing is lost by these",
    "little": "Little is lost",
    "something": "Something is lost",
}


def lines(
    label: str, spent: Sequence[Spending], savings: Savings, top: int, most_cuts: int, width: int, paint: Paint
) -> list[str]:
    """The whole output."""
    first = spent[0]
    several = len({each.tool.id.server for each in first.tools}) > 1
    out = [
        f"{paint(_cut(shown(label), width - 16), 'bold')}: {counted(len(first.tools) + len(first.left_out), 'tool')}"
        + (f", {len(first.private):,} private and not for models" if first.private else ""),
        "",
    ]
    for each in spent:
        out += _sum(each, width, paint)
    out += _shares(first, width, paint) if len(spent) == 1 else []
    if any(not each.counting.exact for each in spent):
        out += [paint(each, "dim") for each in wrapped(f"estimates are {MARGIN}", width, "  ")]
    if first.tools and top:
        out += ["", *(_chart(first, top, width, paint) if len(spent) == 1 else _table(spent, top, width, paint))]
    if several:
        out += ["", *_servers(first, width, paint)]
    out += _left_out(spent, width, paint)
    if savings.cuts and most_cuts:
        out += ["", *_cuts(first, savings, most_cuts, width, paint)]
    if first.total >= MANY_TOKENS and len(first.tools) > 1:
        out += ["", *_deferral(first, width, paint)]
    return out


def _sum(spending: Spending, width: int, paint: Paint) -> list[str]:
    counting = spending.counting
    total = f"{'' if counting.exact else 'about '}{spending.total:,} tokens"
    how = f"counted with {counting.encoding}" if counting.exact else f"estimated: {counting.source}"
    out = [f"{paint(total, 'bold')} for {spending.provider.name}, {paint(how, 'dim')}"]
    if cells(f"{total} for {spending.provider.name}, {how}") > width:
        out = [f"{paint(total, 'bold')} for {spending.provider.name},", f"  {paint(how, 'dim')}"]
    if spending.around:
        out.append(paint(f"  {spending.around:,} of them are instructions that go with any tools", "dim"))
    later = [each for each in spending.tools if not each.sent]
    if later:
        most = spending.provider.most_tools
        text = (
            f"{spending.provider.name} takes {most} tools in one request, {spending.sent:,} tokens; the other "
            f"{counted(len(later), 'tool')} would be left out"
        )
        out += [paint(each, "yellow") for each in wrapped(text, width, "  ")]
    return out


def _shares(spending: Spending, width: int, paint: Paint) -> list[str]:
    shares = ", ".join(f"{_share(spending.total, size)} of {_size(size)}" for size in WINDOWS)
    return [paint(each, "dim") for each in wrapped(f"of a context window: {shares}", width, "  ")]


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _dearest(spending: Spending, top: int) -> tuple[list[ToolSpending], list[ToolSpending]]:
    ordered = sorted(spending.tools, key=lambda each: -each.total)
    return ordered[:top], ordered[top:]


def _chart(spending: Spending, top: int, width: int, paint: Paint) -> list[str]:
    dearest, others = _dearest(spending, top)
    labels = [shown(str(each.tool.id)) for each in dearest]
    number = max(len(f"{dearest[0].total:,}"), 6)
    label = min(max(map(cells, labels)), WIDEST_LABEL, width // 2)
    bar = min(WIDEST_BAR, width - label - number - 4)
    out: list[str] = []
    for text, each in zip(labels, dearest, strict=True):
        drawn = _bar(each.parts, dearest[0].total, bar, paint)
        out.append(f"{fitted(text, label)}  {each.total:>{number},}  {drawn}".rstrip())
    out += _rest(others, label, number, paint)
    legend = "   ".join(f"{paint(sign, style)} {part}" for part, sign, style in SHADES)
    parts = spending.parts
    told = (
        f"of all tools: description {_share(parts.description, parts.total)}, parameters "
        f"{_share(parts.parameters, parts.total)}, enums {_share(parts.enums, parts.total)}, structure "
        f"{_share(parts.structure + parts.name, parts.total)}"
    )
    return [*out, "", legend, *(paint(each, "dim") for each in wrapped(told, width))]


def _bar(parts: Parts, most: int, width: int, paint: Paint) -> str:
    """The parts as columns. The ends are rounded, not the parts, so that the bar is as long as its tool is dear."""
    amounts = (parts.description, parts.parameters, parts.enums, parts.structure + parts.name)
    drawn = ""
    sum_ = 0
    column = 0
    for amount, (_, sign, style) in zip(amounts, SHADES, strict=True):
        sum_ += amount
        end = round(sum_ / most * width) if most else 0
        drawn += paint(sign * (end - column), style)
        column = end
    return drawn or paint("▏", "dim")


def _rest(others: list[ToolSpending], label: int, number: int, paint: Paint) -> list[str]:
    if not others:
        return []
    text = f"{len(others):,} more"
    return [paint(f"{fitted(text, label)}  {sum(each.total for each in others):>{number},}", "dim")]


def _table(spent: Sequence[Spending], top: int, width: int, paint: Paint) -> list[str]:
    dearest, others = _dearest(spent[0], top)
    labels = [shown(str(each.tool.id)) for each in dearest]
    prices = [{each.tool.id: each.total for each in one.tools} for one in spent]
    names = [each.provider.name for each in spent]
    cell = max(len(f"{each.total:,}") for each in spent)
    out: list[str] = []
    for block in blocks(names, cell, width):
        grid = Grid(names[block], [*labels, "all tools"], cell, width, paint)
        out += ["", *grid.head()] if out else grid.head()
        for label, each in zip(labels, dearest, strict=True):
            values = [price.get(each.tool.id) for price in prices[block]]
            out.append(grid.row(label, [_cell(value, cell) for value in values]))
        if others:
            sums = [sum(price.get(each.tool.id, 0) for each in others) for price in prices[block]]
            out.append(grid.row(f"{len(others):,} more", [(f"{each:>{cell},}", "dim") for each in sums]))
        out.append(grid.row("all tools", [(f"{each.total:>{cell},}", "bold") for each in spent[block]]))
    return out


def _cell(value: int | None, width: int) -> tuple[str, str]:
    return (f"{'✗':>{width}}", "red") if value is None else (f"{value:>{width},}", "cyan")


def _servers(spending: Spending, width: int, paint: Paint) -> list[str]:
    servers = dict(spending.servers)
    counts: dict[str, int] = {}
    for each in spending.tools:
        counts[each.tool.id.server] = counts.get(each.tool.id.server, 0) + 1
    named = [(shown(name or "(no name)"), name) for name in list(servers)[:SERVERS_SHOWN]]
    label = min(max(cells(text) for text, _ in named), WIDEST_LABEL, width // 2)
    out = [paint("Servers", "bold")]
    for text, name in named:
        tools = counted(counts[name], "tool")
        out.append(f"{fitted(text, label)}  {servers[name]:>9,}  {_share(servers[name], spending.total):>6}  {tools}")
    if len(servers) > SERVERS_SHOWN:
        rest = sum(list(servers.values())[SERVERS_SHOWN:])
        out.append(paint(f"{fitted(f'{len(servers) - SERVERS_SHOWN} more', label)}  {rest:>9,}", "dim"))
    return out


def _left_out(spent: Sequence[Spending], width: int, paint: Paint) -> list[str]:
    reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for each in spent:
        for id, why in each.left_out.items():
            if is_private(why):
                continue  # that it is no model's business is no failure
            tools, names = reasons.setdefault(why, ({}, {}))
            tools[shown(str(id))] = names[each.provider.name] = None
    out: list[str] = []
    for why, (tools, names) in reasons.items():
        text = f"{_named(list(tools))}: not sent to {', '.join(names)}: {shown(why)}"
        first, *more = wrapped(text, width, "  ")
        out += [paint("✗", "red") + first[1:], *more]
    return ["", *out] if out else []


# ── what to do ───────────────────────────────────────────────────────────────────────────────────────────────────


def _cuts(spending: Spending, savings: Savings, most: int, width: int, paint: Paint) -> list[str]:
    rows = _grouped(savings.cuts)
    number = max(len(f"−{saved:,}") for _, saved, _ in [*rows, ("", savings.free, [])])
    out = [paint(f"Cheapest cuts, in tokens for {spending.provider.name}", "bold")]
    loss = ""
    free = sum(cut.loss == "nothing" for cut in savings.cuts)
    for i, (text, saved, cuts) in enumerate(rows[:most]):
        if cuts[0].loss != loss:
            loss = cuts[0].loss
            out.append(paint(HEADS[loss], "dim"))
        first, *more = wrapped(text, width, " " * (number + 4))
        out += [f"  {paint(f'−{saved:,}'.rjust(number), 'green')}  {first.strip()}", *more]
        if free > 1 and i == free - 1:
            share = _share(savings.free, spending.total)
            out.append(f"  {paint(f'−{savings.free:,}'.rjust(number), 'green')}  all of these together, {share}")
    if len(rows) > most:
        out.append(paint(f"  {len(rows) - most:,} more (--cuts {len(rows)} shows them)", "dim"))
    return out


def _grouped(cuts: Sequence[Cut]) -> list[tuple[str, int, list[Cut]]]:
    """A line for each cut; one for all of a kind that save the same, which is nearly always the same text."""
    groups: dict[tuple[str, int], list[Cut]] = {}
    for cut in cuts:
        groups.setdefault((cut.kind, cut.saved), []).append(cut)
    rows: list[tuple[str, int, list[Cut]]] = []
    for group in groups.values():
        tools = [shown(str(id)) for each in group for id in each.tools]
        first = group[0]
        lost = f"; lost: {first.lost}" if first.lost and first.loss == "something" else ""
        each = f", {first.saved:,} each" if len(group) > 1 else ""
        what = shown(first.what) if len(group) == 1 or first.kind != COPY else "whole tools that are copies of others"
        rows.append((f"{what} ({_named(tools)}{each}){lost}", sum(cut.saved for cut in group), group))
    return sorted(rows, key=lambda row: (LOSSES.index(row[2][0].loss), -row[1]))


def _deferral(spending: Spending, width: int, paint: Paint) -> list[str]:
    saved = spending.total - spending.deferred
    text = (
        f"Behind a tool that searches them, all of this would be {spending.deferred:,} tokens in every request "
        f"(−{saved:,}), and what the model finds on top: 'toolbridge chat --tool-tokens N', or tool_tokens of Chat."
    )
    return [paint(each, "dim") for each in wrapped(text, width)]


def _named(tools: Sequence[str]) -> str:
    rest = f" and {len(tools) - NAMED:,} more" if len(tools) > NAMED else ""
    return ", ".join(_cut(each, WIDEST_LABEL) for each in tools[:NAMED]) + rest


def _cut(text: str, width: int) -> str:
    return fitted(text, width) if cells(text) > width else text


def _share(part: int, whole: int) -> str:
    share = part / whole * 100 if whole else 0
    if 0 < share < 0.05:
        return "under 0.1 %"
    return f"{share:.1f} %" if 0 < share < 9.95 else f"{share:.0f} %"


def _size(tokens: int) -> str:
    return f"{tokens // 1_000_000} million" if tokens >= 1_000_000 else f"{tokens // 1000}k"
