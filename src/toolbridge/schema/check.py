"""The check: arguments against the server's own schema, and what is wrong with them in words a model can act on.

The schema that is asked is the server's, made sound and self-contained, never the one a provider was shown. Formats
are not asserted: servers differ, and theirs is the last word. The validator is loaded when the first call is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolbridge.errors import nearest
from toolbridge.schema.convert import TooLarge, convert
from toolbridge.schema.dialects import SOURCE
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP, subschemas
from toolbridge.schema.phrases import listed, phrase, quoted
from toolbridge.schema.refs import Refs
from toolbridge.schema.restore import AsText, Back, Path, record_at

MOST_PROBLEMS = 8
"""Problems told at once: a model mends these and hears of the rest next time."""

MOST_KNOWN = 20
"""Known keys that are named where none is near the unknown one."""

MOST_BRANCHES = 100
"""Branches of a union that are looked at for the one that came closest."""

_UNDECIDED = frozenset({"backtrackLimitExceeded", "regexEngineFailure"})
"""What the validator says when a pattern was too much for it: no verdict on the value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, why, and what would be right."""

    path: Path
    why: str
    expected: str = ""
    known: tuple[str, ...] = ()
    """The keys that are known where an unknown one was given."""

    def __str__(self) -> str:
        where = f"Argument {pointed(self.path)}: " if self.path else ""
        return f"{where}{self.why}{' ' if self.expected else ''}{self.expected}"


def pointed(path: Iterable[str | int]) -> str:
    """A path as a person writes it: `items[2].name`."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif step.isidentifier():
            out += f".{step}" if out else step
        else:
            out += f"[{quoted(step)}]"
    return out


def _as_seen(problem: Problem, back: Back | None) -> Problem:
    """The problem with the keys that the model saw, and a word on JSON text where that is what it is to write."""
    path, record = record_at(back, problem.path)
    expected = problem.expected
    if problem.known:
        known = [str(record_at(back, (*problem.path[:-1], key))[0][-1]) for key in problem.known]
        meant = nearest(str(path[-1]), known)
        expected = f"Did you mean {quoted(meant)}?" if meant else f"Known: {', '.join(known)}."
    elif isinstance(record, AsText):
        expected = f"{expected} Give it as JSON text.".strip()
    return Problem(path, problem.why, expected)


class Checker:
    """The server's own schema, compiled when it is first asked."""

    __slots__ = ("_source", "_validator", "schema")

    def __init__(self, source: Any) -> None:
        self._source = source
        self._validator: Any = None
        self.schema: dict[str, Any] = {}

    def _compiled(self) -> Any:
        if self._validator is None:
            try:
                self.schema = convert(self._source, SOURCE).schema
            except TooLarge:
                self.schema = {}
            self._validator = validator(self.schema)
        return self._validator

    def accepts(self, arguments: Any) -> bool:
        """Whether the server's schema accepts these arguments."""
        try:
            return self._compiled().is_valid(arguments) or not any(True for _ in self._errors(arguments))
        except ValueError:  # nested deeper than any validator follows, or text that is none
            return False

    def _errors(self, arguments: Any) -> Iterator[Any]:
        for error in self._compiled().iter_errors(arguments):
            if error.kind.name not in _UNDECIDED:
                yield error

    def errors(self, arguments: Any) -> list[Any] | None:
        """The validator's own errors; `None` where it cannot read the arguments at all."""
        try:
            return list(self._errors(arguments))
        except ValueError:
            return None

    def problems(self, arguments: Any, back: Back | None = None) -> list[Problem]:
        """What is wrong with the arguments, in the words of the shape that the model saw; empty where nothing is."""
        try:
            errors = list(self._errors(arguments))
        except ValueError as failure:
            why = "they hold text that is no Unicode" if isinstance(failure, UnicodeError) else str(failure)
            return [Problem((), f"The arguments cannot be read: {why}.")]
        found: list[Problem] = []
        for error in errors:
            for each in self._told(error, 0):
                seen = _as_seen(each, back)
                if seen not in found:
                    found.append(seen)
                    if len(found) == MOST_PROBLEMS:
                        return found
        return found

    def _told(self, error: Any, depth: int) -> Iterator[Problem]:
        path = tuple(error.instance_path)
        kind = error.kind
        name = kind.name
        several = type(kind).__name__ == "OneOfMultipleValid"
        if name in ("anyOf", "oneOf") and not several and depth < 4:
            yield from self._best_branch(error, path, depth)
            return
        at = self._schema_at(error.schema_path)
        if name == "required":
            missing = at.get("properties", {}).get(kind.property) if isinstance(at, dict) else None
            yield Problem((*path, kind.property), "is required and is missing.", described(missing))
        elif name in ("additionalProperties", "unevaluatedProperties", "falseSchema"):
            yield from self._unknown(error, path, at)
        elif several:
            yield Problem(
                path, f"{quoted(error.instance, 80)} fits more than one of the allowed forms.", "Give exactly one."
            )
        elif name == "not":
            yield Problem(path, f"{quoted(error.instance, 80)} is not allowed.", phrase("not", at.get("not")))
        elif name == "propertyNames":
            yield Problem(path, f"A key is not allowed: {error.message}.")
        else:
            message = error.message
            if len(message) > 300:
                message = f"{quoted(error.instance, 80)} does not satisfy `{name}`"
            yield Problem(path, message + ".", described(at, but=name))

    def _best_branch(self, error: Any, path: Path, depth: int) -> Iterator[Problem]:
        """Of a union's branches, the one that came closest: whose errors are deepest, then fewest."""
        branches = [branch for branch in error.kind.context[:MOST_BRANCHES] if branch]
        if not branches:
            yield Problem(path, error.message + ".")
            return
        tag = self._tag(branches, path)
        if tag is not None:
            yield tag
            return
        reach = [max(len(each.instance_path) for each in branch) for branch in branches]
        deepest = max(reach)
        if deepest == len(path) and all(_is_type(branch) for branch in branches):
            expected = described(self._schema_at(error.schema_path))
            yield Problem(path, f"{quoted(error.instance, 80)} is of none of the allowed kinds.", expected)
            return
        best = min(
            (each for each, depth_ in zip(branches, reach, strict=True) if not _is_type(each) or depth_ == deepest),
            key=lambda branch: (
                any(_is_tag(each, path) for each in branch),
                -max(len(each.instance_path) for each in branch),
                len(branch),
            ),
        )
        for each in best:
            yield from self._told(each, depth + 1)

    def _tag(self, branches: list[list[Any]], path: Path) -> Problem | None:
        """Where every branch is told by a constant of one key and none was given: the constants that are."""
        tags = [next((each for each in branch if _is_tag(each, path)), None) for branch in branches]
        if any(each is None for each in tags) or len({tuple(each.instance_path) for each in tags if each}) != 1:
            return None
        values: list[Any] = []
        for each in tags:
            at = self._schema_at(each.schema_path) if each else {}
            values += [at["const"]] if "const" in at else at.get("enum", [])
        first = tags[0]
        if first is None or not values:
            return None
        why = f"{quoted(first.instance, 80)} is none of the known values."
        return Problem(tuple(first.instance_path), why, f"One of: {listed(values, 300)}.")

    def _unknown(self, error: Any, path: Path, at: Any) -> Iterator[Problem]:
        known = list(at.get("properties", {}))
        names = getattr(error.kind, "unexpected", None)
        if names is None:  # a place where no value is accepted
            yield Problem(path, f"{quoted(error.instance, 80)} is not allowed here.", "Leave it out.")
            return
        for name in names:
            yield Problem((*path, name), "is not a known argument.", "Leave it out.", known=tuple(known[:MOST_KNOWN]))

    def _schema_at(self, path: Iterable[str | int]) -> Any:
        """The node whose keyword failed: the path without its last step."""
        node: Any = self.schema
        for step in list(path)[:-1]:
            try:
                node = node[int(step)] if isinstance(node, list) else node[str(step)]
            except (KeyError, IndexError, ValueError, TypeError):
                return {}
        return node if isinstance(node, dict) else {}


def _is_tag(error: Any, path: Path) -> bool:
    return error.kind.name in ("const", "constant", "enum") and len(error.instance_path) == len(path) + 1


def _is_type(branch: list[Any]) -> bool:
    return len(branch) == 1 and branch[0].kind.name in ("type", "const", "constant", "enum")


def described(schema: Any, but: str = "") -> str:
    """What would be right, in few words, from the schema of the place."""
    if not isinstance(schema, dict):
        return ""
    if "enum" in schema:
        return "" if but == "enum" else f"One of: {listed(schema['enum'], 300)}."
    if "const" in schema:
        return f"It must be {quoted(schema['const'])}."
    declared = schema.get("type")
    branches = schema.get("anyOf") or schema.get("oneOf")
    words: list[str] = []
    if declared:
        words.append(" or ".join(declared) if isinstance(declared, list) else declared)
    elif isinstance(branches, list):
        kinds = [
            str(each.get("type") or (listed([each["const"]]) if "const" in each else ""))
            for each in branches
            if isinstance(each, dict)
        ]
        words.append(" or ".join(dict.fromkeys(kind for kind in kinds if kind)))
    bounds = [
        phrase(keyword, schema[keyword]).rstrip(".")
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
                        "maxLength", "minItems", "maxItems", "pattern", "format")
        if keyword in schema
    ]  # fmt: skip
    if not any(words) and not bounds:
        return ""
    return f"Expected: {'; '.join([word for word in words if word] + bounds)}."


# ── the validator ────────────────────────────────────────────────────────────────────────────────────────────────


def validator(schema: dict[str, Any]) -> Any:
    """A compiled validator. Patterns that its engine cannot read are left out rather than failing every call."""
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=False)
    except ValueError:
        return jsonschema_rs.Draft202012Validator(_readable(schema), offline=True, validate_formats=False)


def _readable(schema: Any) -> Any:
    """The schema without what the validator's engine cannot compile."""
    import jsonschema_rs

    def compiles(part: dict[str, Any]) -> bool:
        try:
            jsonschema_rs.Draft202012Validator(part, offline=True, validate_formats=False)
        except ValueError:
            return False
        return True

    def clean(node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        out: dict[str, Any] = {}
        for keyword, value in node.items():
            if keyword in SCHEMA_IN_VALUE:
                out[keyword] = clean(value)
            elif keyword in SCHEMAS_IN_LIST:
                out[keyword] = [clean(each) for each in value]
            elif keyword == "patternProperties":
                out[keyword] = {key: clean(each) for key, each in value.items() if compiles({"pattern": key})}
            elif keyword in SCHEMAS_IN_MAP:
                out[keyword] = {key: clean(each) for key, each in value.items()}
            elif keyword == "$ref" or compiles({keyword: value}):
                out[keyword] = value
        return out

    cleaned = clean(schema)
    return cleaned if compiles(cleaned) else {}


def fits(schema: Any, context: Refs | dict[str, Any]) -> Callable[[Any], bool]:
    """Whether a value fits a schema, asked lazily: a written schema with its definitions, or a source node."""
    made: list[Any] = []

    def asked(value: Any) -> bool:
        if not made:
            if isinstance(context, Refs):
                try:
                    whole = convert(schema, SOURCE, context).schema
                except TooLarge:
                    whole = {}
            else:
                whole = {**schema, "$defs": context} if context else schema
            made.append(validator(whole))
        try:
            return bool(made[0].is_valid(value))
        except ValueError:
            return False

    return asked


# ── what a check would cost ──────────────────────────────────────────────────────────────────────────────────────

MOST_STEPS = 100_000
"""Schemas that one value may have to be held against at one place; more is a reference bomb."""

_AT_THE_SAME_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref")


def uncheckable(source: Any) -> str | None:
    """Why no value can be checked against this schema in bounded time; `None` where it can.

    References may make one value be held against exponentially many schemas, or lead in a circle without ever
    getting further into the value.
    """
    schema = convert(source, SOURCE).schema
    defs: dict[str, Any] = schema.get("$defs", {})
    costs: dict[int, float] = {}
    for node in (schema, *defs.values()):
        waiting: list[Any] = [node]
        while waiting:
            each = waiting.pop()
            if _steps(each, defs, costs, 0) > MOST_STEPS:
                return "its references lead in a circle, or unfold to more than anyone could check"
            if isinstance(each, dict):
                waiting.extend(subschemas({key: value for key, value in each.items() if key != "$defs"}))
    return None


def _steps(node: Any, defs: dict[str, Any], costs: dict[int, float], depth: int) -> float:
    """How many schemas a value at this node is held against; infinite where that never ends."""
    if not isinstance(node, dict):
        return 1
    known = costs.get(id(node))
    if known is not None:
        return known
    if depth > 400:
        return float("inf")
    costs[id(node)] = float("inf")  # met again before it is known: a circle
    total = 1.0
    for keyword in _AT_THE_SAME_PLACE:
        value = node.get(keyword)
        if keyword == "$ref" and isinstance(value, str):
            value = defs.get(value.removeprefix("#/$defs/"))
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                total += _steps(each, defs, costs, depth + 1)
    for each in (node.get("dependentSchemas") or {}).values():
        total += _steps(each, defs, costs, depth + 1)
    costs[id(node)] = total
    return total
