"""What can be said of values that are still arriving: JSON text without its end, and objects sent piece by piece.

`partial_json` is for showing and never for running. `PathBuilder` folds Vertex's `partialArgs`, pieces of a value with
the JSON path (RFC 9535) where each belongs, into the object that they come to. It guesses nothing: a path that names
no single place, a place named twice, or an end that does not come is a problem, and the call is then broken.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, TypeAlias

from toolbridge.types import JsonObject

DEEPEST: Final = 100
"""Steps of a path. Arguments that are nested deeper are no arguments that anybody asked for."""

MOST_GAPS: Final = 10_000
"""Items that no piece names and that are filled with null, in the whole object: `$.a[999999999]` is 13 bytes."""

SHOWN: Final = 60
"""Characters of a path that are shown in a problem."""


def partial_json(text: str) -> Any:
    """The value that the text says so far, strings as far as they go; `None` where that is nothing."""
    from pydantic_core import from_json  # few ask, and the MCP SDK has it loaded where somebody does

    try:
        return from_json(text, allow_partial="trailing-strings", allow_inf_nan=False)
    except (ValueError, TypeError):  # no JSON; half of a surrogate pair, or no text at all
        return None


Step: TypeAlias = str | int


class _Leaf:
    """A value at a path: a string in its pieces, or anything else at once."""

    __slots__ = ("continues", "pieces", "value")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.value: Any = None
        self.continues = True

    def read(self) -> Any:
        if not self.pieces:
            return self.value
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0]


class _Object:
    """An object or a list that is implied by the paths of what is in it, by name or by number."""

    __slots__ = ("is_list", "members")

    def __init__(self, is_list: bool) -> None:
        self.is_list = is_list
        self.members: dict[Step, _Node] = {}


_Node: TypeAlias = _Leaf | _Object


class PathBuilder:
    """An object in the making. Cost is linear in the pieces; strings are joined once, when the value is asked for."""

    __slots__ = ("_continues", "_leaves", "_problem", "_root")

    def __init__(self) -> None:
        self._root = _Object(is_list=False)
        self._leaves: dict[str, _Leaf] = {}
        """By the path as it was spelt: pieces of one string come in a row, and all spell it alike."""
        self._continues = False
        self._problem: str | None = None

    def add(self, path: str, value: Any, continues: bool = False) -> None:
        """One piece. The path `$` is the object itself, of which only is said whether more of it follows."""
        if self._problem is not None:
            return
        if path == "$":
            self._continues = continues
            return
        leaf = self._leaves.get(path)
        if leaf is None:
            steps = read_path(path)
            if isinstance(steps, str):
                self._problem = steps
                return
            leaf = self._leaf(steps, path)
            if leaf is None:
                return
            self._leaves[path] = leaf
        self._fill(leaf, path, value, continues)

    def value(self) -> tuple[JsonObject | None, str | None]:
        """(The object, `None`); (as much as there is, what is missing); or (`None`, what is wrong with the pieces)."""
        if self._problem is not None:
            return None, self._problem
        missing = _gaps(self._root)
        if missing > MOST_GAPS:
            return None, f"the arguments have a list in which {missing:,} items are missing"
        whole = _read(self._root)
        for path, leaf in self._leaves.items():
            if leaf.continues:
                return whole, f"the arguments end too early, inside of {_shown(path)}"
        if self._continues:
            return whole, "the arguments end too early: more of them was announced"
        return whole, None

    def _leaf(self, steps: list[Step], path: str) -> _Leaf | None:
        """The place that the steps lead to, with everything on the way there; `None` where they contradict others."""
        if isinstance(steps[0], int):
            self._problem = "the arguments are a list, not a JSON object"
            return None
        node: _Node = self._root
        for i, step in enumerate(steps):
            if not isinstance(node, _Object) or node.is_list != isinstance(step, int):
                self._problem = f"the arguments have two kinds of value on the way to {_shown(path)}"
                return None
            last = i == len(steps) - 1
            found = node.members.get(step)
            if found is None:
                found = _Leaf() if last else _Object(is_list=isinstance(steps[i + 1], int))
                node.members[step] = found
            node = found
        if isinstance(node, _Object):
            self._problem = f"the arguments have two kinds of value at {_shown(path)}"
            return None
        return node

    def _fill(self, leaf: _Leaf, path: str, value: Any, continues: bool) -> None:
        if not leaf.continues:
            self._problem = f"the arguments have a second value for {_shown(path)}"
        elif isinstance(value, str):
            leaf.pieces.append(value)
        elif leaf.pieces:
            self._problem = f"the arguments have two kinds of value at {_shown(path)}"
        elif isinstance(value, float) and not math.isfinite(value):
            self._problem = f"the arguments have {value} at {_shown(path)}, which is no JSON value"
        else:
            leaf.value = value
            continues = False  # only strings come in pieces
        leaf.continues = continues


def _gaps(node: _Node) -> int:
    """How many items of lists nothing is known of."""
    found, open = 0, [node]
    while open:
        each = open.pop()
        if isinstance(each, _Object):
            if each.is_list:
                found += max(step for step in each.members if isinstance(step, int)) + 1 - len(each.members)
            open += each.members.values()
    return found


def _read(node: _Node) -> Any:
    match node:
        case _Leaf():
            return node.read()
        case _Object(is_list=False):
            return {str(step): _read(each) for step, each in node.members.items()}
        case _Object():
            filled: list[Any] = [None] * (max(step for step in node.members if isinstance(step, int)) + 1)
            for step, each in node.members.items():
                filled[int(step)] = _read(each)
            return filled


# ── paths ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_STEP = re.compile(
    r"""[ \t\n\r]*
    (?: \. (?P<name> [A-Za-z_\x80-\uD7FF\uE000-\U0010FFFF] [\w\-\x80-\uD7FF\uE000-\U0010FFFF]* )
      | \[ [ \t\n\r]*
        (?: ' (?P<single> (?: [^'\\\x00-\x1f] | \\. )* ) '
          | " (?P<double> (?: [^"\\\x00-\x1f] | \\. )* ) "
          | (?P<number> 0 | [1-9][0-9]* ) )
        [ \t\n\r]* \] )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
"""One step to one place, in any spelling that RFC 9535 has for it. Steps to several places (`*`, `..`, slices, filters)
and from the end (`[-1]`) are not among them. A hyphen in a short name is against the RFC, but means nothing else."""

_LONGEST_NUMBER: Final = 15
"""Digits: numbers past 2^53 are no index, and not every number can be read in linear time."""


def read_path(path: str) -> list[Step] | str:
    """The steps of a path that leads to one place; what is wrong with it, where it does not."""
    wrong = f"the arguments have a path that leads to no place: {_shown(path)}"
    if not path.startswith("$"):
        return wrong
    steps: list[Step] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        step = None if found is None else _step(found)
        if found is None or step is None:
            return wrong
        steps.append(step)
        if len(steps) > DEEPEST:
            return f"the arguments are nested more than {DEEPEST} deep: {_shown(path)}"
        at = found.end()
    return steps or wrong


def _step(found: re.Match[str]) -> Step | None:
    if found["name"] is not None:
        return found["name"]
    if found["number"] is not None:
        return int(found["number"]) if len(found["number"]) <= _LONGEST_NUMBER else None
    if found["double"] is not None:
        return _unescaped(found["double"])
    # In single quotes the quotes change places: \' is an escape, and " is none.
    return _unescaped(_QUOTE.sub(lambda each: _SINGLE.get(each[0], each[0]), found["single"]))


_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_SINGLE: Final = {"\\'": "'", '"': '\\"', '\\"': "\\x"}


def _unescaped(quoted: str) -> str | None:
    """A name out of its quotes; `None` where an escape is none, or where something is half of a character."""
    try:
        name: str = json.loads(f'"{quoted}"') if "\\" in quoted else quoted
        name.encode("utf-8")
    except ValueError:  # a mistake of the JSON, or of the encoding
        return None
    return name


def _shown(path: str) -> str:
    return json.dumps(path if len(path) <= SHOWN else path[:SHOWN] + "…", ensure_ascii=False)
