"""A grid: rows of cells under column heads that climb like stairs, so that long heads fit over narrow columns.

              ┌ openai-chat
              │   ┌ anthropic
find_plants   ✓   ~2
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolbridge.cli.terminal import Paint, cells, fitted

GAP = 2
"""Columns between the label and the cells, and between two cells where there is room."""

NARROWEST_LABEL = 16
"""Columns that labels are left with before a grid is cut into several."""

WIDEST_LABEL = 60
"""Labels are cut past this even where there is room, so that the cells stay beside them."""


class Grid:
    """Where the columns of a grid stand, for labels and cells of known widths within the width of a terminal."""

    def __init__(self, heads: Sequence[str], labels: Iterable[str], cell: int, width: int, paint: Paint) -> None:
        self.heads = heads
        self.paint = paint
        self.cell = cell
        self.gap = GAP if _reach(heads, cell + GAP) <= width - GAP - NARROWEST_LABEL else 1
        longest = max(map(cells, labels), default=0)
        self.label = min(longest, WIDEST_LABEL, width - GAP - _reach(heads, cell + self.gap))
        self.right = self.label + GAP + len(heads) * (cell + self.gap)
        """The column right of the last cell and its gap."""

    def head(self) -> list[str]:
        """The stairs, one line a column."""
        lines: list[str] = []
        for i, head in enumerate(self.heads):
            before = ("│" + " " * (self.cell + self.gap - 1)) * i
            lines.append(" " * (self.label + GAP) + self.paint(before + "┌", "dim") + " " + self.paint(head, "bold"))
        return lines

    def row(self, label: str, values: Sequence[tuple[str, str]], remark: str = "") -> str:
        """A label and its cells, each a text and its style; a remark may stand behind them."""
        line = fitted(label, self.label) + " " * GAP
        for text, style in values:
            line += self.paint(text, style) + " " * (self.cell - cells(text) + self.gap)
        return (line + self.paint(remark, "dim")).rstrip()


def fits(heads: Sequence[str], cell: int, width: int) -> bool:
    """Whether columns of that width fit, with a good gap between them and room for labels."""
    return _reach(heads, cell + GAP) <= width - GAP - NARROWEST_LABEL


def blocks(heads: Sequence[str], cell: int, width: int) -> list[slice]:
    """The heads cut into as few runs as fit, each for a grid of its own."""
    cuts = [0]
    for i in range(1, len(heads)):
        if _reach(heads[cuts[-1] : i + 1], cell + 1) > width - GAP - NARROWEST_LABEL:
            cuts.append(i)
    return [slice(start, end) for start, end in zip(cuts, [*cuts[1:], len(heads)], strict=True)]


def _reach(heads: Sequence[str], step: int) -> int:
    """How far the stairs go to the right of the first cell."""
    return max(i * step + max(step, 2 + cells(head)) for i, head in enumerate(heads))
