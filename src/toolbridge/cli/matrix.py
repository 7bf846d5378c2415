"""`toolbridge matrix`: tools × providers, and for each pair whether it is exact, adapted or left out, and why."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from toolbridge.cli.terminal import Paint
    from toolbridge.prepare import PreparedTools
    from toolbridge.types import ToolId

MAIN = "openai-chat,openai-responses,anthropic,gemini,gemini-openapi,bedrock,mistral,ollama"
"""The providers that are compared where none are named."""

MANY = 40
"""Tools past which a table no longer fits a screen: those that are exact everywhere are then counted, not listed."""

REPEATED = 50
"""Rows after which the heads are written again, so that no row is far from them."""

NAMED = 5
"""Tools that are named where many were left out for one reason."""

BAR = 30
"""Columns of the widest bar."""


@click.command("matrix", short_help="Compare providers: what each makes of the tools.")
@click.argument("file", metavar="FILE")
@click.option(
    "--providers",
    "names",
    metavar="A,B,C",
    default=MAIN,
    help="The providers to compare, or 'all'. By default the eight main ones.",
)
@click.option(
    "--strict/--no-strict",
    default=None,
    help="Strict definitions wherever there are such, or none. By default, where nothing is lost by it.",
)
@click.option(
    "--all", "every", is_flag=True, help="List every tool of a long list, also those that are exact everywhere."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for programs.")
def command(file: str, names: str, strict: bool | None, every: bool, as_json: bool) -> None:
    """Compare what providers make of the tools in FILE.

    FILE is what an MCP server answers to tools/list, or a plain list of tools, as JSON; - is standard
    input. First comes a line for each provider, then a line for each tool, then the reasons: which notes
    there are and how often, and which tools were left out. 'toolbridge convert FILE --to PROVIDER
    --explain' shows the notes one by one.

    \b
      ✓   exact: the provider gets what the server said
      ~2  adapted: two changes; calls are put back and checked
      ✗   left out: the provider cannot be given this tool
      –   private: its server keeps it from models

    \b
    Examples:
      toolbridge matrix tools.json
      toolbridge matrix tools.json --strict --providers openai-chat,azure,vllm
      toolbridge matrix tools.json --json | jq '.providers.gemini'

    \b
    Exit codes:
      0  compared, whatever came out
      2  misuse: no such provider, a file that is no tool list
    """
    from toolbridge.cli.source import read_source
    from toolbridge.prepare import prepare
    from toolbridge.providers import get_provider, providers

    listed = [each.strip() for each in names.split(",") if each.strip()]
    if listed == ["all"]:
        listed = list(providers())
    if not listed:
        raise click.UsageError("--providers names no provider; give names with commas between them, or 'all'")
    chosen = [get_provider(each) for each in dict.fromkeys(listed)]
    tools = read_source(file)
    matrix = Matrix([prepare(tools, each, strict) for each in chosen])
    if as_json:
        from toolbridge.cli.document import write_json

        write_json(matrix.document())
        return
    from toolbridge.cli.terminal import Paint, columns

    print("\n".join(matrix.lines(columns(), Paint(sys.stdout), every)))


class Matrix:
    """What each provider makes of each tool."""

    def __init__(self, prepared: list[PreparedTools]) -> None:
        self.prepared = prepared
        self.names = [each.provider.name for each in prepared]
        self.codes: list[dict[ToolId, list[str]]] = [
            {id: [note.code for note in notes] for id, notes in each.notes.items()} for each in prepared
        ]
        """For each provider, the codes of the notes of each tool that was not left out."""
        self.ids = _in_order(prepared)
        self.private = {id for each in prepared for id in each.private}
        """What a tool's server keeps from models, it keeps from all of them."""

    def document(self) -> dict[str, Any]:
        """The matrix for programs."""
        return {
            "providers": {
                name: {**self._counts(i), "codes": dict(self._often(i).most_common())}
                for i, name in enumerate(self.names)
            },
            "private": [str(id) for id in self.ids if id in self.private],
            "tools": {
                str(id): {name: self._cell_fields(i, id) for i, name in enumerate(self.names)} for id in self.ids
            },
        }

    def _cell_fields(self, i: int, id: ToolId) -> dict[str, Any]:
        codes = self.codes[i].get(id)
        if id in self.private:
            return {"status": "private"}
        if codes is None:
            return {"status": "left_out", "reason": self.prepared[i].left_out[id]}
        return {"status": "adapted", "codes": codes} if codes else {"status": "exact"}

    def _counts(self, i: int) -> dict[str, int]:
        exact = sum(1 for codes in self.codes[i].values() if not codes)
        left_out = len(self.prepared[i].left_out) - len(self.private)
        return {"exact": exact, "adapted": len(self.codes[i]) - exact, "left_out": left_out}

    def _often(self, i: int) -> Counter[str]:
        return Counter(code for codes in self.codes[i].values() for code in codes)

    def lines(self, width: int, paint: Paint, every: bool) -> list[str]:
        """The matrix for people."""
        from toolbridge.cli.words import counted

        head = f"{counted(len(self.ids), 'tool')} × {counted(len(self.names), 'provider')}"
        head += f", {len(self.private):,} private and not for models" if self.private else ""
        lines = [paint(head, "bold"), "", *self._summary(width, paint)]
        if not self.ids:
            return lines
        lines += ["", *self._tools(width, paint, every)]
        for section in (self._reasons(width, paint), self._left_out(width, paint)):
            lines += ["", *section] if section else []
        return lines

    def _summary(self, width: int, paint: Paint) -> list[str]:
        longest = max(map(len, self.names))
        head = f"{'':{longest}}  {'exact':>6}  {'adapted':>7}  {'left out':>8}"
        bar = min(BAR, width - len(head) - 3)
        lines = [paint(head, "dim")]
        for i, name in enumerate(self.names):
            exact, adapted, left_out = self._counts(i).values()
            line = f"{name:{longest}}  {_number(exact, 6, paint, 'green')}  {_number(adapted, 7, paint, 'yellow')}  "
            line += _number(left_out, 8, paint, "red")
            if bar >= 8 and exact + adapted + left_out:
                a, b, c = _shares((exact, adapted, left_out), bar)
                line += "   " + paint("█" * a, "green") + paint("▒" * b, "yellow") + paint("░" * c, "red")
            lines.append(line)
        return lines

    def _tools(self, width: int, paint: Paint, every: bool) -> list[str]:
        from toolbridge.cli.grid import Grid, blocks, fits
        from toolbridge.cli.terminal import shown
        from toolbridge.cli.words import counted

        ids = self.ids
        if len(ids) > MANY and not every:
            ids = [id for id in ids if any(codes.get(id) != [] for codes in self.codes)]
        labels = [shown(str(each)) for each in ids]
        most = max((len(codes) for each in self.codes for codes in each.values()), default=0)
        cell = 1 + len(str(most))
        if not fits(self.names, cell, width):
            cell = 1  # no room for the number of changes
        lines: list[str] = []
        for block in blocks(self.names, cell, width):
            grid = Grid(self.names[block], labels, cell, width, paint)
            for i, id in enumerate(ids):
                if i % REPEATED == 0:
                    lines += ["", *grid.head()] if lines else grid.head()
                lines.append(grid.row(labels[i], self._symbols(id, block, cell)))
        if len(ids) < len(self.ids):
            rest = counted(len(self.ids) - len(ids), "more tool" if ids else "tool")
            lines += ["", f"{rest} exact everywhere (--all lists them)"] if ids else [f"{rest} exact everywhere"]
        adapted = paint("~", "yellow") + " adapted" if cell == 1 else paint("~2", "yellow") + " adapted, with 2 changes"
        legend = f"{paint('✓', 'green')} exact   {adapted}   {paint('✗', 'red')} left out"
        return [*lines, "", legend + (f"   {paint('–', 'dim')} private" if self.private else "")]

    def _symbols(self, id: ToolId, block: slice, cell: int) -> list[tuple[str, str]]:
        if id in self.private:
            return [("–", "dim")] * len(self.codes[block])
        return [_symbol(codes.get(id), cell) for codes in self.codes[block]]

    def _reasons(self, width: int, paint: Paint) -> list[str]:
        from toolbridge.cli.grid import Grid, blocks
        from toolbridge.cli.terminal import shown, wrapped
        from toolbridge.meanings import family, meaning

        often = [self._often(i) for i in range(len(self.names))]
        total: Counter[str] = sum(often, Counter())
        if not total:
            return []
        codes = [code for code, _ in total.most_common()]
        labels = [shown(each) for each in codes]
        cell = max(len(str(count)) for each in often for count in each.values())
        parts = blocks(self.names, cell, width)
        lines = [paint("Why adapted: the notes, and how often", "bold")]
        beside = False
        for block in parts:
            grid = Grid(self.names[block], labels, cell, width, paint)
            beside = len(parts) == 1 and grid.right + max(len(meaning(code)) for code in codes) <= width
            lines += ["", *grid.head()]
            for label, code in zip(labels, codes, strict=True):
                values = [(str(each[code]), "yellow") if each[code] else ("·", "dim") for each in often[block]]
                lines.append(grid.row(label, values, meaning(code) if beside else ""))
        if not beside:
            families = dict.fromkeys(family(code) for code in codes)
            longest = max(map(len, families))
            lines.append("")
            for each in families:
                first, *more = wrapped(meaning(each), width, " " * (longest + 2))
                lines += [f"{each:{longest}}  {paint(first.strip(), 'dim')}", *(paint(line, "dim") for line in more)]
        return lines

    def _left_out(self, width: int, paint: Paint) -> list[str]:
        from toolbridge.cli.terminal import shown, wrapped
        from toolbridge.cli.words import counted

        by_reason: dict[str, dict[ToolId, list[str]]] = {}
        for name, each in zip(self.names, self.prepared, strict=True):
            for id, why in each.left_out.items():
                if id in self.private:
                    continue
                by_reason.setdefault(why, {}).setdefault(id, []).append(name)
        lines: list[str] = []
        for why, tools in by_reason.items():
            named = ", ".join(shown(str(id)) for id in list(tools)[:NAMED])
            rest = f" and {len(tools) - NAMED:,} more" if len(tools) > NAMED else ""
            where = list(dict.fromkeys(name for names in tools.values() for name in names))
            what = "every provider" if len(where) == len(self.names) > 1 else ", ".join(where)
            first, *more = wrapped(f"{named}{rest}", width, "  ")
            lines += [paint("✗", "red") + first[1:], *more]
            reason = why if why.startswith(what) else f"{what}: {why}"
            lines += [paint(each, "dim") for each in wrapped(shown(reason), width, "    ")]
        count = counted(len({id for each in self.prepared for id in each.left_out} - self.private), "tool")
        return [paint(f"Left out: {count}", "bold"), "", *lines] if lines else []


def _in_order(prepared: list[PreparedTools]) -> list[ToolId]:
    """Every tool, in the order of the file: those that a provider left out stand where another one has them."""
    fullest = max(prepared, key=lambda each: len(each.tools))
    ids = {tool.id: None for tool in fullest.tools}
    for each in prepared:
        ids.update(dict.fromkeys(each.left_out))
    return list(ids)


def _symbol(codes: list[str] | None, cell: int) -> tuple[str, str]:
    if codes is None:
        return "✗", "red"
    if not codes:
        return "✓", "green"
    return "~" if cell == 1 else f"~{len(codes)}", "yellow"


def _number(number: int, width: int, paint: Paint, style: str) -> str:
    return paint(f"{number:>{width},}", style if number else "dim")


def _shares(counts: tuple[int, int, int], width: int) -> tuple[int, int, int]:
    """The counts as parts of a bar; whatever there is any of has at least one column."""
    total = sum(counts)
    parts = [max(round(each / total * width), 1) if each else 0 for each in counts]
    parts[parts.index(max(parts))] += width - sum(parts)
    return parts[0], parts[1], parts[2]
