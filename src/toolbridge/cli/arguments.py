"""Arguments of a call on the command line: `key=value` typed by the tool's own schema, or one JSON object.

    path=notes.txt        text stays text where the schema says so, also if it looks like a number
    limit=5               an integer where the schema takes one; so with numbers, booleans and null
    tag=a tag=b           a list, item by item; tag='["a", "b"]' is the same list
    where.city=Bern       a property of an object
    filter:='{"a": 1}'    JSON as it is
    text=@notes.txt       what is in the file; text=@@home is the text @home
    '{"path": "…"}'       all arguments as one JSON object; - reads it from standard input

What is made of them is checked against the schema before anything is sent.
"""

from __future__ import annotations

import base64
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolbridge.cli.signature import branches, parameters
from toolbridge.errors import ToolbridgeError, nearest
from toolbridge.schema.phrases import listed, quoted
from toolbridge.schema.refs import Refs
from toolbridge.types import Tool

MOST_NAMED = 12
"""Known arguments that are named where none is near the one that was given."""

_PAIR = re.compile(r"([^=]*?)(:?=)(.*)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d{1,4000}")
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_NULLS = ("null", "none", "")


class ArgumentsError(ToolbridgeError):
    """Arguments that the tool does not take: `problems` says which and why, one line each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def read_arguments(words: Sequence[str], tool: Tool) -> dict[str, Any]:
    """The arguments that the words of a command line spell, of the types that the tool's schema has."""
    schema = tool.input_schema
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        given = _object(words[0], "the arguments")
    else:
        given = _Reader(schema, str(tool.id)).read(words)
    problems = _problems(schema, given)
    if problems:
        raise ArgumentsError(f"{tool.id}: {each}" for each in problems)
    return given


def with_standard_input(words: Sequence[str]) -> Sequence[str]:
    """The words, with the JSON object from standard input in place of a `-` that stands alone."""
    if list(words) != ["-"]:
        return words
    text = _standard_input()
    _object(text, "standard input")
    return [text]


def _problems(schema: Any, given: dict[str, Any]) -> list[str]:
    """What the server's own schema has against the arguments."""
    from toolbridge.schema.check import Checker, pointed, uncheckable
    from toolbridge.schema.convert import TooLarge

    try:
        if not isinstance(schema, Mapping) or uncheckable(schema):
            return []  # no check can be made of it: the server has the last word
        found = Checker(schema).problems(given)
    except (TooLarge, RecursionError):
        return []
    texts = [
        f"{pointed(each.path)}{': ' if each.path else ''}{each.why} {each.expected}".strip().removesuffix(".")
        for each in found
    ]
    return list(dict.fromkeys(texts))


def _object(text: str, where: str) -> dict[str, Any]:
    value = _json(text, where)
    if not isinstance(value, dict):
        raise ToolbridgeError(f"{where}: {_kind(value)}; expected one JSON object")
    return value


def _json(text: str, where: str) -> Any:
    def refused(constant: str) -> Any:
        raise ToolbridgeError(f"{where}: {constant} is no JSON; write a number, or null")

    try:
        return json.loads(text, parse_constant=refused)
    except json.JSONDecodeError as failure:
        at = f"at line {failure.lineno}, column {failure.colno}"
        raise ToolbridgeError(
            f"{where}: not JSON: {failure.msg.lower()} {at}; text needs quotes inside of JSON"
        ) from None
    except RecursionError:
        raise ToolbridgeError(f"{where}: nested too deeply; expected plain JSON") from None
    except ValueError as failure:
        raise ToolbridgeError(f"{where}: not readable JSON: {failure}; expected plain JSON") from None


def _standard_input() -> str:
    if sys.stdin is None:
        raise ToolbridgeError("standard input: closed; pipe a JSON object into it")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ToolbridgeError("standard input: not UTF-8 text; expected one JSON object") from None
    except OSError as failure:
        why = (failure.strerror or str(failure)).lower()
        raise ToolbridgeError(f"standard input: {why}; pipe a JSON object into it") from None
    if not text.strip():
        raise ToolbridgeError("standard input: empty; expected one JSON object")
    return text


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


class _Reader:
    """Reads words into one object, along the schema."""

    def __init__(self, schema: Any, tool: str) -> None:
        self.schema = schema
        self.tool = tool
        self.refs = Refs(schema)
        self.given: dict[str, Any] = {}

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        for word in words:
            found = _PAIR.fullmatch(word)
            if found is None or not found[1]:
                raise ToolbridgeError(
                    f"{self.tool}: {quoted(word, 60)} is no argument; write key=value, key:=json, "
                    "or all arguments as one JSON object"
                )
            key, sign, text = found.groups()
            path, nodes = self._place(key)
            self._put(path, nodes, self._value(nodes, text, key, raw=sign == ":="))
        return self.given

    # ── where ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _place(self, key: str) -> tuple[tuple[str, ...], list[Any]]:
        """The path that a key spells, and the schemas there. A property that has dots in its name comes first."""
        path: list[str] = []
        nodes: list[Any] = [self.schema]
        rest = key
        while True:
            name, inner, rest = self._step(nodes, rest, path)
            path.append(name)
            nodes = inner
            if not rest:
                return tuple(path), nodes

    def _step(self, nodes: list[Any], rest: str, path: list[str]) -> tuple[str, list[Any], str]:
        parts = rest.split(".")
        for count in range(len(parts), 1, -1):
            name = ".".join(parts[:count])
            found = self._declared(nodes, name)
            if found:
                return name, found, ".".join(parts[count:])
        found = self._property(nodes, parts[0])
        whole = self._property(nodes, rest)
        if whole and found and not self._may_be_object(found):
            return rest, whole, ""  # an entry of a map of plain values: its key has dots in it
        if found is not None and parts[0]:
            return parts[0], found, ".".join(parts[1:])
        known = [each.name for node in nodes for each in parameters(node, self.refs)]
        raise ToolbridgeError(f"{self.tool}: {self._unknown(path, parts[0], known)}")

    def _unknown(self, path: list[str], name: str, known: list[str]) -> str:
        spelt = ".".join([*path, name])
        if not known:
            why = f"{'.'.join(path)!r} is no object" if path else "the tool takes none"
            return f"unknown argument {spelt!r}; {why}"
        meant = nearest(name, known)
        if meant:
            return f"unknown argument {spelt!r}; did you mean {meant!r}?"
        more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
        return f"unknown argument {spelt!r}; the arguments are {', '.join(known[:MOST_NAMED])}{more}"

    def _property(self, nodes: list[Any], name: str) -> list[Any] | None:
        """The schemas of a property, none where it may have any value; `None` where there can be none of that name."""
        if not self._may_be_object(nodes):
            return None
        declared = self._declared(nodes, name)
        beyond: list[Any] = []
        closed = open_ = False
        for node in self._flat(nodes):
            properties = node.get("properties")
            if isinstance(properties, Mapping):
                closed = closed or bool(properties)
            patterns = node.get("patternProperties")
            for pattern, each in patterns.items() if isinstance(patterns, Mapping) else ():
                if _matches(pattern, name):
                    beyond.append(each)
            others = node.get("additionalProperties")
            if isinstance(others, Mapping):
                beyond.append(others)
            open_ = open_ or others is True
            closed = closed or others is False
        if declared or beyond:
            return declared or beyond
        return [] if open_ or not closed else None

    def _declared(self, nodes: list[Any], name: str) -> list[Any]:
        """The schemas of a property that is listed by its name."""
        listed = (node.get("properties") for node in self._flat(nodes))
        return [each[name] for each in listed if isinstance(each, Mapping) and name in each]

    def _may_be_object(self, nodes: list[Any]) -> bool:
        kinds = self._kinds(nodes)
        return not kinds or "object" in kinds

    def _flat(self, nodes: list[Any]) -> list[Mapping[str, Any]]:
        return [each for node in nodes for each, _ in branches(node, self.refs)]

    def _put(self, path: tuple[str, ...], nodes: list[Any], value: Any) -> None:
        holder = self.given
        for i, step in enumerate(path[:-1]):
            inner = holder.setdefault(step, {})
            if not isinstance(inner, dict):
                raise ToolbridgeError(f"{self.tool}: {'.'.join(path[: i + 1])!r} is given twice; give it once")
            holder = inner
        last = path[-1]
        if last not in holder:
            holder[last] = value
            return
        before = holder[last]
        if isinstance(before, list) and isinstance(value, list) and "array" in self._kinds(nodes):
            holder[last] = before + value
            return
        raise ToolbridgeError(f"{self.tool}: {'.'.join(path)!r} is given twice, and takes one value; give it once")

    # ── what ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _value(self, nodes: list[Any], text: str, key: str, raw: bool) -> Any:
        where = f"{self.tool}: {key}"
        if text.startswith("@@"):
            text = text[1:]
        elif text.startswith("@"):
            text = self._file(nodes, text[1:], key, raw)
        if raw:
            return _json(text, where)
        value = self._typed(nodes, text)
        if value is not _NOT:
            return value
        raise ToolbridgeError(f"{where}: {quoted(text, 60)} is {self._wanted(nodes)}")

    def _file(self, nodes: list[Any], name: str, key: str, raw: bool) -> str:
        where = f"{self.tool}: {key}"
        try:
            content = Path(name).expanduser().read_bytes()
        except OSError as failure:
            why = (failure.strerror or str(failure)).lower()
            raise ToolbridgeError(
                f"{where}: {name or 'the file'}: {why}; write {key}=@@{name} for the text @{name}"
            ) from None
        except (ValueError, RuntimeError) as failure:  # a NUL in the name; a home that is not known
            raise ToolbridgeError(f"{where}: {name!r}: {failure}; write {key}=@@… for text") from None
        if not raw and any(_holds_base64(each) for each in self._flat(nodes)):
            return base64.b64encode(content).decode("ascii")
        try:
            return content.decode("utf-8-sig" if raw else "utf-8")
        except UnicodeDecodeError:
            raise ToolbridgeError(
                f"{where}: {name}: not UTF-8 text; the schema does not say that it takes base64 either"
            ) from None

    def _typed(self, nodes: list[Any], text: str) -> Any:
        """The value that a text stands for where these schemas apply; `_NOT` where it stands for none."""
        values = self._values(nodes)
        if values is not None:
            return _one_of(values, text)
        kinds = self._kinds(nodes)
        if not kinds:
            return _anything(text)
        for kind in kinds:
            if kind == "null" and "string" in kinds:
                continue  # the text "null" is text where text is taken; key:=null is null
            value = self._of_kind(kind, nodes, text)
            if value is not _NOT:
                return value
        return _NOT

    def _of_kind(self, kind: str, nodes: list[Any], text: str) -> Any:
        bare = text.strip()
        match kind:
            case "string":
                return text
            case "integer":
                return _integer(bare)
            case "number":
                return _number(bare)
            case "boolean":
                return _WORDS.get(bare.lower(), _NOT)
            case "null":
                return None if bare.lower() in _NULLS else _NOT
            case "array":
                return self._list(nodes, text)
            case "object":
                value = _parsed(bare)
                return value if isinstance(value, dict) else _NOT
            case _:
                return _anything(text)

    def _list(self, nodes: list[Any], text: str) -> Any:
        """A list: JSON where the text is that, otherwise a list of this one item."""
        if text.lstrip().startswith("["):
            value = _parsed(text)
            if isinstance(value, list):
                return value
        items = [node["items"] for node in self._flat(nodes) if isinstance(node.get("items"), Mapping)]
        item = self._typed(items, text) if items else _anything(text)
        return _NOT if item is _NOT else [item]

    def _kinds(self, nodes: list[Any]) -> list[str]:
        """The type names that these schemas have, in their order; empty where any value may stand there."""
        kinds: dict[str, None] = {}
        for node in self._flat(nodes):
            declared = node.get("type")
            for each in declared if isinstance(declared, list) else [declared]:
                if isinstance(each, str):
                    kinds.setdefault(each)
            if declared is None:
                for keyword, kind in (("properties", "object"), ("items", "array")):
                    if keyword in node:
                        kinds.setdefault(kind)
        return list(kinds)

    def _values(self, nodes: list[Any]) -> list[Any] | None:
        """The values of an enum; `None` where there is none, or where other values are taken beside it."""
        values: list[Any] = []
        free = False
        for node in self._flat(nodes):
            if "const" in node:
                values.append(node["const"])
            elif isinstance(node.get("enum"), list):
                values += node["enum"]
            elif node.get("type") == "null":
                values.append(None)
            elif "type" in node and not any(key in node for key in ("anyOf", "oneOf", "allOf", "$ref")):
                free = True
        return None if free or not [each for each in values if each is not None] else values

    def _wanted(self, nodes: list[Any]) -> str:
        values = self._values(nodes)
        if values is not None:
            meant = "; expected one of " + listed(values, 300)
            return f"none of the values that are taken{meant}"
        kinds = self._kinds(nodes)
        if [each for each in kinds if each != "null"] == ["array"]:
            items = [node["items"] for node in self._flat(nodes) if isinstance(node.get("items"), Mapping)]
            return f"no item of the list: it is {self._wanted(items)}"
        names = [_KINDS.get(each, (each, each)) for each in kinds]
        expected = " or ".join(example for _, example in names)
        return f"no {' or '.join(name for name, _ in names)}; expected {expected}"


_KINDS = {
    "integer": ("integer", "a whole number such as 5"),
    "number": ("number", "a number such as 1.5"),
    "boolean": ("boolean", "true or false"),
    "null": ("null", "null"),
    "object": ("JSON object", """a JSON object such as '{"key": "value"}', or key.property=value"""),
    "array": ("list", "a JSON list"),
}
_NOT = object()
"""Where a text cannot be read as what is wanted."""


def _one_of(values: list[Any], text: str) -> Any:
    if text in values:
        return text
    for value in (_parsed(text.strip()), _WORDS.get(text.strip().lower(), _NOT) if text.strip().isalpha() else _NOT):
        for each in values:
            if value is not _NOT and value == each and isinstance(value, bool) is isinstance(each, bool):
                return each
    return _NOT


def _anything(text: str) -> Any:
    """JSON where the text is that, otherwise the text."""
    value = _parsed(text.strip())
    return text if value is _NOT else value


def _parsed(text: str) -> Any:
    def refused(constant: str) -> Any:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refused)
    except (ValueError, RecursionError):
        return _NOT


def _integer(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    value = _number(text)
    return int(value) if isinstance(value, float) and value.is_integer() else _NOT


def _number(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return _NOT
    return value if math.isfinite(value) and "_" not in text else _NOT


def _matches(pattern: Any, name: str) -> bool:
    try:
        return re.search(str(pattern), name) is not None
    except re.error:
        return False


def _holds_base64(node: Mapping[str, Any]) -> bool:
    return node.get("contentEncoding") == "base64" or node.get("format") in ("byte", "base64", "binary")
