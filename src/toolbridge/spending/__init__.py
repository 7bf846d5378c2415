"""What tools spend: the tokens of what is really sent, tool by tool and part by part, and what could be saved.

`measure` gives a `Spending`: tools × one provider. `propose` gives cuts: what each would save, measured by making it,
and what it would lose. Pure functions over values; `toolbridge tokens` shows both.
"""

from toolbridge.spending.cuts import Cut, Savings, propose
from toolbridge.spending.measure import Spending, ToolSpending, measure
from toolbridge.spending.parts import PARTS, Parts

__all__ = ["PARTS", "Cut", "Parts", "Savings", "Spending", "ToolSpending", "measure", "propose"]
