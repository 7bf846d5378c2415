"""Arguments for a trial: what a schema accepts, and what it refuses, made from the schema alone.

Pure and deterministic: the same schema always gives the same arguments. What the schema itself offers comes first
(`const`, `default`, `examples`, `enum`); then the least that fits. The server's own schema has the last word: arguments
that it does not accept are never given out. A schema may be hostile, so depth and size are bounded, and patterns are
never run by Python's own engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolbridge.lint.pattern_text import text_of_pattern
from toolbridge.schema.check import Checker
from toolbridge.schema.convert import TooLarge, convert
from toolbridge.schema.dialects import SOURCE
from toolbridge.schema.root import NotAnObject
from toolbridge.types import JsonObject

DEEPEST: Final = 12
"""Values one inside the other; what is required deeper than that is not made."""

MOST_VALUES: Final = 500
"""Values of one call."""

LONGEST: Final = 1_000
"""Characters of a text, or items of a list, that are made where the schema asks for as many."""

FORMATS: Final[Mapping[str, str]] = {
    "date": "2025-06-01",
    "date-time": "2025-06-01T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "regex": "a",
    "json-pointer": "/a",
}
"""A text of each format; names and addresses are those that are kept for examples (RFC 2606, 5737, 3849)."""

_WRONG: Final[tuple[Any, ...]] = (["not", "this"], {"not": "this"}, "not this", 1, None)
"""Values of every kind: the first that the schema refuses is the wrong one."""


class _Impossible(Exception):
    """No value can be made for a part of the schema."""


def sample_arguments(schema: Any) -> JsonObject | None:
    """Arguments that the schema accepts; `None` where none could be made."""
    checker = Checker(schema)
    try:
        written = convert(schema, SOURCE).schema
        made = _Maker(written).value({"type": "object", **written}, 0)
    except (TooLarge, NotAnObject, _Impossible, RecursionError, ArithmeticError, ValueError):
        return None  # also for numbers that are none: infinite ones, and steps of nothing
    return made if isinstance(made, dict) and checker.accepts(made) else None


def wrong_arguments(schema: Any, arguments: JsonObject) -> JsonObject | None:
    """Arguments that the schema refuses: without one that it requires, or with one of the wrong type."""
    checker = Checker(schema)
    for each in _broken(schema, arguments):
        if not checker.accepts(each):
            return each
    return None


def _broken(schema: Any, arguments: JsonObject) -> Iterator[JsonObject]:
    properties: Any = schema.get("properties") if isinstance(schema, Mapping) else None
    names = [*arguments, *(list(properties)[:10] if isinstance(properties, Mapping) else ())]
    for name in arguments:
        yield {key: each for key, each in arguments.items() if key != name}
    for name in dict.fromkeys(each for each in names if isinstance(each, str)):
        for value in _WRONG:
            yield {**arguments, name: value}


class _Maker:
    def __init__(self, root: Mapping[str, Any]) -> None:
        defs = root.get("$defs")
        self._defs: Mapping[str, Any] = defs if isinstance(defs, Mapping) else {}
        self._made = 0

    def value(self, node: Any, depth: int) -> Any:
        """A value that the node accepts, as far as one can tell from it."""
        self._made += 1
        if node is False or depth > DEEPEST or self._made > MOST_VALUES:
            raise _Impossible
        if not isinstance(node, Mapping):
            return "a"
        for keyword in ("const", "default"):
            if node.get(keyword) is not None or (keyword == "const" and keyword in node):
                return node[keyword]
        for keyword in ("examples", "enum"):
            values = node.get(keyword)
            if isinstance(values, list) and values:
                return values[0]
        if "$ref" in node:
            name = str(node["$ref"]).removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
            if name not in self._defs:
                raise _Impossible
            return self.value(self._defs[name], depth + 1)
        whole = self._whole(node, depth)
        return self.value(whole, depth + 1) if whole is not None else self._of_kind(node, depth)

    def _whole(self, node: Mapping[str, Any], depth: int) -> dict[str, Any] | None:
        """One node for a node with parts: all parts of `allOf`, and the first branch that is not null of a union."""
        parts: list[Any] = []
        taken: list[str] = []
        if isinstance(node.get("allOf"), list):
            parts += node["allOf"]
            taken.append("allOf")
        for keyword in ("anyOf", "oneOf"):
            branches = node.get(keyword)
            if isinstance(branches, list) and branches:
                taken.append(keyword)
                parts.append(next((each for each in branches if each != {"type": "null"}), branches[0]))
        if not taken:
            return None
        out = {key: each for key, each in node.items() if key not in taken}
        for part in parts:
            if isinstance(part, Mapping):
                out = _together(out, self._resolved(part, depth))
        return out

    def _resolved(self, part: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
        for _ in range(DEEPEST - min(depth, DEEPEST)):
            target = self._defs.get(str(part.get("$ref", "")).removeprefix("#/$defs/"))
            if not isinstance(target, Mapping):
                break
            part = {**{key: each for key, each in part.items() if key != "$ref"}, **target}
        return part

    def _of_kind(self, node: Mapping[str, Any], depth: int) -> Any:
        match _kind(node):
            case "object":
                return self._object(node, depth)
            case "array":
                return self._array(node, depth)
            case "integer":
                return _number(node, whole=True)
            case "number":
                return _number(node, whole=False)
            case "boolean":
                return False
            case "null":
                return None
            case _:
                return _text(node)

    def _object(self, node: Mapping[str, Any], depth: int) -> JsonObject:
        found = node.get("properties")
        properties: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
        required = [each for each in node.get("required") or () if isinstance(each, str)]
        least = _count(node, "minProperties", 0)
        for name in properties:
            if len(required) < least and name not in required:
                required.append(name)
        others = node.get("additionalProperties", True)
        return {name: self.value(properties.get(name, others), depth + 1) for name in required}

    def _array(self, node: Mapping[str, Any], depth: int) -> list[Any]:
        found = node.get("prefixItems")
        first: list[Any] = found if isinstance(found, list) else []
        least, most = _count(node, "minItems", 0), _count(node, "maxItems", LONGEST)
        count = max(least, 1 if "items" in node else 0, len(first))
        count = min(count, most, LONGEST)
        made = [self.value(each, depth + 1) for each in first[:count]]
        items = node.get("items", True)
        if node.get("uniqueItems") is True and isinstance(items, Mapping) and isinstance(items.get("enum"), list):
            return [*made, *items["enum"][: count - len(made)]]
        return [*made, *(self.value(items, depth + 1) for _ in range(count - len(made)))]


def _together(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    out = {**one, **other}
    for keyword in ("properties", "required"):
        mine, theirs = one.get(keyword), other.get(keyword)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            out[keyword] = {**mine, **theirs}
        elif isinstance(mine, list) and isinstance(theirs, list):
            out[keyword] = list(dict.fromkeys([*mine, *theirs]))
    return out


def _kind(node: Mapping[str, Any]) -> str:
    declared = node.get("type")
    if isinstance(declared, list):
        return next((each for each in declared if each != "null"), "null")
    if isinstance(declared, str):
        return declared
    if "properties" in node or "required" in node:
        return "object"
    if "items" in node or "minItems" in node or "prefixItems" in node:
        return "array"
    return "number" if "minimum" in node or "maximum" in node else "string"


def _count(node: Mapping[str, Any], keyword: str, unless: int) -> int:
    value = node.get(keyword)
    return int(value) if isinstance(value, int | float) else unless


def _number(node: Mapping[str, Any], whole: bool) -> int | float:
    step = node.get("multipleOf") or (1 if whole else 0)
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    for each in (1, 0, low, high, *_near(above, step, 1), *_near(below, step, -1), step, *_multiples(low, step)):
        if each is None or (low is not None and each < low) or (high is not None and each > high):
            continue
        if (above is not None and each <= above) or (below is not None and each >= below):
            continue
        if (whole and each != int(each)) or (step and each % step):
            continue
        return int(each) if whole else each
    raise _Impossible


def _near(bound: Any, step: float, direction: int) -> tuple[float, ...]:
    return () if bound is None else (bound + direction * (step or 1), bound + direction * (step or 0.001))


def _multiples(low: Any, step: float) -> tuple[float, ...]:
    return () if low is None or not step else (-(-low // step) * step, (low // step) * step + step)


def _text(node: Mapping[str, Any]) -> str:
    least, most = _count(node, "minLength", 0), _count(node, "maxLength", LONGEST)
    if least > min(most, LONGEST):
        raise _Impossible
    pattern = node.get("pattern")
    known = FORMATS.get(str(node.get("format")))
    if known is not None and least <= len(known) <= most and pattern is None:
        return known
    if not isinstance(pattern, str):
        return "a" * min(max(least, 1), most)
    checker = Checker({"type": "object", "properties": {"text": {**node, "type": "string"}}})
    made = text_of_pattern(pattern)
    for each in (known, made, "a" * max(least, 1), "A" * max(least, 1), "1" * max(least, 1), *FORMATS.values()):
        if each is not None and checker.accepts({"text": each}):
            return each
    raise _Impossible
