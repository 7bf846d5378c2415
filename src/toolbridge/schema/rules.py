"""Rules: what a dialect does with a keyword that only constrains. Each is a small function named for its effect.

A rule writes to the node's output, or says the constraint in words, or both; a keyword without a rule is left out in
silence, which is only right for one that no value can fail. Keywords that hold subschemas or shapes (`properties`,
`items`, `anyOf`, `$ref`, …) are not here: the walk does them, steered by the dialect's policies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from toolbridge.notes import Effect
from toolbridge.schema.phrases import phrase, quoted


class Teller(Protocol):
    """What a rule may tell: a note for whoever asks, a sentence for the model."""

    def note(self, code: str, effect: Effect, before: Any) -> None: ...

    def tell(self, sentence: str) -> None: ...


Rule: TypeAlias = Callable[[Teller, dict[str, Any], str, Any, dict[str, Any]], None]
"""(teller, output, keyword, value, node)."""


def keep(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """The provider takes it as it is."""
    out[keyword] = value


def say(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """The provider refuses or ignores it: the model is told in words, and `check` sees to it."""
    teller.note(f"{keyword}.said", "widened", value)
    teller.tell(phrase(keyword, value))


def mention(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """No value can fail it, so nothing changes; the model is told all the same."""
    teller.tell(phrase(keyword, value))


def mention_default(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """The fact that a default exists, unless the description says so or it is a null, which goes without saying."""
    if value is None:
        return
    text = node.get("description", "")
    if "default" in text.lower() and str(value) in text:
        return
    teller.tell(phrase("default", value))


def keep_if(condition: Callable[[Any], bool]) -> Rule:
    """Kept where the provider can take this value of it, said elsewhere."""

    def rule(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
        (keep if condition(value) else say)(teller, out, keyword, value, node)

    return rule


def keep_among(values: Container[Any]) -> Rule:
    """Kept where the value is among these."""
    return keep_if(lambda value: value in values)


def keep_up_to(most: float) -> Rule:
    """Kept up to a size that the provider's grammar can carry."""
    return keep_if(lambda value: value <= most)


def keep_bound(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """A numeric bound, kept unless the bounds leave nothing between them or are too large for a grammar."""
    if (-LARGEST_BOUND <= value <= LARGEST_BOUND and len(_BOUNDS & node.keys()) == 1) or _satisfiable(node):
        out[keyword] = value
    else:
        say(teller, out, keyword, value, node)


_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
LARGEST_BOUND = 2**53
"""Bounds beyond the integers that every JSON number can hold are said instead."""


def _satisfiable(node: dict[str, Any]) -> bool:
    low = max(node.get("minimum", -LARGEST_BOUND), node.get("exclusiveMinimum", -LARGEST_BOUND))
    high = min(node.get("maximum", LARGEST_BOUND), node.get("exclusiveMaximum", LARGEST_BOUND))
    if low < -LARGEST_BOUND or high > LARGEST_BOUND or low > high:
        return False
    if "exclusiveMinimum" in node or "exclusiveMaximum" in node or node.get("type") == "integer":
        whole = node.get("type") == "integer"
        return high - low >= (2 if whole else 1e-6)
    return True


def whole_bound(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """An exclusive bound on whole numbers is an inclusive one, one further in; on others it is said."""
    if node.get("type") != "integer" or value != int(value):
        say(teller, out, keyword, value, node)
    elif keyword == "exclusiveMinimum":
        out["minimum"] = max(int(value) + 1, node.get("minimum", int(value) + 1))
    else:
        out["maximum"] = min(int(value) - 1, node.get("maximum", int(value) - 1))


def keep_tighter(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """An inclusive bound where an exclusive one may already have been written as such: the tighter of the two."""
    choose = max if keyword == "minimum" else min
    out[keyword] = choose(value, out.get(keyword, value))


def say_condition(teller: Teller, out: dict[str, Any], keyword: str, value: Any, node: dict[str, Any]) -> None:
    """`if`, `then` and `else` mean something only together, so they are said together."""
    teller.note("if.said", "widened", value)
    then, otherwise = node.get("then"), node.get("else")
    sentence = f"If it matches {quoted(value)}"
    if then is not None:
        sentence += f", it must match {quoted(then)}"
    if otherwise is not None:
        sentence += f"{'; if not' if then is not None else ' it may be anything; if not'}, {quoted(otherwise)}"
    teller.tell(sentence + ".")


_PLAIN_REGEX = re.compile(
    r"""\^?
    (?: [^\\\[\](){}*+?|^$.]                                  # a character
      | \\[dDwWsSnrt.\\/\-^$*+?()\[\]{}|@:,_"'#&%=!~;<> ]      # a class or an escaped character
      | \.
      | \[\^?(?: [^\\\[\]&~^-] | \\[dwsnrt.\\/\-^$*+?()\[\]{}|] | -(?=\]) | (?<=[A-Za-z0-9])-(?=[A-Za-z0-9]) )+\]
      | \(\?: | \((?!\?) | \) | \|
      | [*+?](?![*+?{]) | \{[0-9]{1,3}(?:,[0-9]{0,3})?\}(?![*+?{])
    )*
    \$?""",
    re.VERBOSE,
)


@lru_cache(maxsize=4096)
def plain_regex(pattern: str) -> bool:
    """Whether every engine reads this expression alike: no look-around, no back-reference, anchors at the ends only."""
    if len(pattern) > 500 or not pattern.isascii() or _PLAIN_REGEX.fullmatch(pattern) is None:
        return False
    if "|" in pattern and ("^" in pattern[:1] or pattern.endswith("$")) and not _alternatives_inside(pattern):
        return False
    repeats = [int(each) for each in re.findall(r"\{(\d+)", pattern)] + [
        int(e) for e in re.findall(r",(\d+)\}", pattern)
    ]
    if sum(repeats) > 500:
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def _alternatives_inside(pattern: str) -> bool:
    """Whether every `|` stands inside a group: outside, an anchor belongs to one alternative only."""
    depth, i = 0, 0
    in_class = False
    while i < len(pattern):
        each = pattern[i]
        if each == "\\":
            i += 1
        elif in_class:
            in_class = each != "]"
        elif each == "[":
            in_class = True
        elif each == "(":
            depth += 1
        elif each == ")":
            depth -= 1
        elif each == "|" and depth == 0:
            return False
        i += 1
    return True
