"""A generator of JSON values for a schema: many kinds of value, small, and mostly valid. Callers ask a validator."""

from __future__ import annotations

import random
import re
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

WORDS = ["", "a", "b c", "héllo", "日本", "0", "null", "{}", "true", "x" * 12, '"quoted"', "back\\slash", "🙂", "[1]"]
FORMATS = {
    "date-time": "2026-11-15T10:00:00Z", "date": "2026-11-15", "time": "10:00:00Z", "email": "a@example.org",
    "uri": "https://example.org/x", "uuid": "123e4567-e89b-12d3-a456-426614174000", "ipv4": "127.0.0.1", "ipv6": "::1",
    "hostname": "example.org", "duration": "P1D",
}  # fmt: skip
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]


class TooDeep(Exception):
    """A recursive schema asked for more and more."""


class NotGenerated(Exception):
    """A part of an expression for which no text is made, such as a look-ahead."""


class Values:
    """Random values for the nodes of one document."""

    def __init__(self, root: Any, seed: int, extras: bool = False) -> None:
        self.root = root
        self.rng = random.Random(seed)
        self.extras = extras
        """Whether undeclared keys are made where an object does not say that it has none."""

    def make(self) -> Any:
        """A value, or `None` where the schema never came to an end."""
        try:
            return self._any(self.root, 0)
        except (TooDeep, RecursionError):
            return None

    def _resolve(self, ref: str) -> Any:
        node = self.root
        for step in ref.removeprefix("#").split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node[int(step)] if isinstance(node, list) else node[step]
        return node

    def _free(self, depth: int) -> Any:
        kind = self.rng.choice(TYPES[:5] if depth > 3 else TYPES)
        return self._typed({}, kind, depth + 1)

    def _any(self, schema: Any, depth: int) -> Any:
        rng = self.rng
        if depth > 14:
            raise TooDeep
        if not isinstance(schema, dict):
            return self._free(depth)
        if "$ref" in schema:
            target = self._resolve(schema["$ref"])
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            return self._any(_merge(target, beside) if isinstance(target, dict) else beside, depth)
        if "allOf" in schema:
            whole = {key: value for key, value in schema.items() if key != "allOf"}
            for each in schema["allOf"]:
                while isinstance(each, dict) and "$ref" in each:
                    each = _merge(self._resolve(each["$ref"]), {k: v for k, v in each.items() if k != "$ref"})
                whole = _merge(whole, each) if isinstance(each, dict) else whole
            return self._any(whole, depth)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                base = {key: value for key, value in schema.items() if key != keyword}
                branch = rng.choice(schema[keyword])
                while isinstance(branch, dict) and "$ref" in branch and len(base) > 0:
                    branch = _merge(self._resolve(branch["$ref"]), {k: v for k, v in branch.items() if k != "$ref"})
                return self._any(_merge(base, branch) if isinstance(branch, dict) else base, depth)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return rng.choice(schema["enum"])
        declared = schema.get("type")
        if declared is None:
            if {"properties", "required", "additionalProperties"} & schema.keys():
                return self._typed(schema, "object", depth)
            if {"items", "prefixItems"} & schema.keys():
                return self._typed(schema, "array", depth)
            return self._free(depth)
        return self._typed(schema, rng.choice(declared) if isinstance(declared, list) else declared, depth)

    def _typed(self, schema: dict[str, Any], kind: str, depth: int) -> Any:
        match kind:
            case "null":
                return None
            case "boolean":
                return self.rng.random() < 0.5
            case "integer" | "number":
                return self._number(schema, kind == "integer")
            case "string":
                return self._string(schema)
            case "array":
                return self._array(schema, depth)
            case _:
                return self._object(schema, depth)

    def _number(self, schema: dict[str, Any], whole: bool) -> Any:
        low = schema.get("minimum", schema.get("exclusiveMinimum", -20))
        high = schema.get("maximum", schema.get("exclusiveMaximum", max(low + 40, 20)))
        if low > high:
            low = high - 40
        step = schema.get("multipleOf")
        if step:
            return step * self.rng.randint(int(low // step), max(int(high // step), int(low // step)))
        if whole:
            first = int(low) + ("exclusiveMinimum" in schema)
            return self.rng.randint(first, max(int(high) - ("exclusiveMaximum" in schema), first))
        return self.rng.choice([low, high, (low + high) / 2, low + (high - low) * self.rng.random()])

    def _string(self, schema: dict[str, Any]) -> str:
        if "pattern" in schema:
            try:
                return self._matching(sre_parse.parse(schema["pattern"]))
            except (re.error, NotGenerated, RecursionError, OverflowError):
                return "a"
        if schema.get("format") in FORMATS:
            return FORMATS[schema["format"]]
        text = self.rng.choice(WORDS)
        low, high = schema.get("minLength", 0), schema.get("maxLength", 10_000)
        return (text + "z" * max(low - len(text), 0))[: int(high)]

    def _matching(self, parsed: Any) -> str:
        out = ""
        for op, argument in parsed:
            if op is sre.LITERAL:
                out += chr(argument)
            elif op is sre.ANY:
                out += "q"
            elif op is sre.IN:
                out += self._member(argument)
            elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
                low, high, inner = argument
                for _ in range(self.rng.randint(low, min(high, low + 3)) if low < 5000 else 0):
                    out += self._matching(inner)
            elif op is sre.SUBPATTERN:
                out += self._matching(argument[-1])
            elif op is sre.BRANCH:
                out += self._matching(self.rng.choice(argument[1]))
            elif op is sre.NOT_LITERAL:
                out += "k"
            elif op is not sre.AT:
                raise NotGenerated
        return out

    def _member(self, members: Any) -> str:
        if members[0][0] is sre.NEGATE:
            return "m"
        op, argument = self.rng.choice(members)
        if op is sre.LITERAL:
            return chr(argument)
        if op is sre.RANGE:
            return chr(self.rng.randint(argument[0], argument[1]))
        return {sre.CATEGORY_DIGIT: "7", sre.CATEGORY_SPACE: " "}.get(argument, "w")

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        low = schema.get("minItems", 0)
        high = min(schema.get("maxItems", low + 3), low + 3)
        count = low if depth > 6 else self.rng.randint(low, max(high, low))
        items = schema.get("items", True)
        out: list[Any] = []
        for i in range(min(count, 60)):
            if i >= len(first) and items is False:
                break
            out.append(self._any(first[i] if i < len(first) else items, depth + 1))
        return out

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        required = schema.get("required", [])
        chance = self.rng.choice([0.0, 0.5, 1.0]) if depth < 5 else 0.0
        for key, each in schema.get("properties", {}).items():
            if each is not False and (key in required or self.rng.random() < chance):
                out[key] = self._any(each, depth + 1)
        beyond = schema.get("additionalProperties", self.extras or None)
        if beyond is None and "properties" not in schema and depth:
            beyond = True
        for key in required:
            if key not in out:
                out[key] = self._any(beyond if isinstance(beyond, dict) else True, depth + 1)
        low = schema.get("minProperties", 0)
        if beyond not in (None, False) and depth < 6:
            names = schema.get("propertyNames", {})
            for i in range(max(low - len(out), self.rng.randint(0, 2))):
                key = self._any({"type": "string", **names}, depth) if isinstance(names, dict) else f"k{i}"
                if isinstance(key, str) and key not in schema.get("properties", {}):
                    out[key] = self._any(beyond, depth + 1)
        patterns = schema.get("patternProperties", {})
        for pattern, each in patterns.items():
            if self.rng.random() < 0.6 and depth < 6:
                key = self._string({"pattern": pattern})
                if key not in out and key not in schema.get("properties", {}):
                    out[key] = self._any(each, depth + 1)
        return out


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Roughly both: good enough to make candidates, which a validator then judges."""
    out = dict(one)
    for key, value in other.items():
        if key == "properties":
            out[key] = {**out.get(key, {}), **value}
        elif key == "required":
            out[key] = list(dict.fromkeys([*out.get(key, []), *value]))
        elif key in ("allOf",) and key in out:
            out[key] = [*out[key], *value]
        elif key in ("anyOf", "oneOf") and key in out:
            out["allOf"] = [*out.get("allOf", []), {key: value}]
        else:
            out[key] = value
    return out
