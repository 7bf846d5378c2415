"""Tools made smaller: each function takes a tool and gives it with one thing cut, or `None` where there is none.

What a cut loses is said in `cuts`, which measures and orders them. Nothing here changes which arguments are valid,
except where an enumeration becomes words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from textwrap import dedent
from typing import Any

from toolbridge.history.said import json_text
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP
from toolbridge.schema.phrases import quoted
from toolbridge.types import Tool

DEEPEST = 64
"""Levels of a schema that are rewritten: no deeper ones are ever sent."""

KEPT_CHARACTERS = 160
"""A description keeps its sentences up to here, and the one that is begun."""

WORTH = 80
"""Characters behind them that are worth a proposal."""

LONG_PARAMETER = 200
"""Characters from which on the description of a parameter counts as long."""

MANY_VALUES = 20
"""Values from which on an enumeration counts as big."""

SHOWN_VALUES = 5
"""Values that stand for the others."""

Change = Callable[[dict[str, Any], str | None], None]
"""Changes one node of a schema in place; gets the property's name, where it is a property."""


# ── nothing lost ─────────────────────────────────────────────────────────────────────────────────────────────────


def without_white_space(tool: Tool) -> Tool | None:
    """Indentation, spaces at the ends of lines, and blank lines beyond the first."""

    def tidy(node: dict[str, Any], name: str | None) -> None:
        text = node.get("description")
        if isinstance(text, str):
            node["description"] = _tidy(text)

    return _changed(tool, tidy, _tidy(tool.description))


def without_echoes(tool: Tool) -> Tool | None:
    """Titles and descriptions that only say the name again, and descriptions that say the tool's again."""
    own = _letters(tool.id.name)
    roots = {own, *(own + each for each in ("arguments", "args", "input", "inputs", "parameters", "params", "schema"))}
    said = _letters(tool.description)

    def silence(node: dict[str, Any], name: str | None) -> None:
        names = roots if name is None else {_letters(name)}
        title, text = node.get("title"), node.get("description")
        if isinstance(title, str) and _letters(title) in names:
            del node["title"]
        if isinstance(text, str) and text and _letters(text) in ({*names, said} if name is not None else {said}):
            del node["description"]

    return _changed(tool, silence)


def without_retold_arguments(tool: Tool) -> Tool | None:
    """A list of arguments in the description that says what the schema's own descriptions say."""
    return _without_arguments(tool, word_for_word=True)


def without_metadata(tool: Tool) -> Tool | None:
    """Keywords for tools that read schemas: `$schema`, `$id`, `$comment`."""

    def drop(node: dict[str, Any], name: str | None) -> None:
        for keyword in ("$schema", "$comment"):
            if isinstance(node.get(keyword), str):
                del node[keyword]

    return _changed(tool, drop)


def with_short_nulls(tool: Tool) -> Tool | None:
    """`anyOf` of one type and null as a list of types, and no null as the default of what may be left out."""

    def shorten(node: dict[str, Any], name: str | None) -> None:
        branches = node.get("anyOf")
        if not isinstance(branches, list) or len(branches) != 2 or {"type": "null"} not in branches or "type" in node:
            return
        other = branches[1] if branches[0] == {"type": "null"} else branches[0]
        if (
            not isinstance(other, Mapping)
            or "enum" in other
            or "const" in other
            or set(other) & (set(node) - {"anyOf"})
        ):
            return
        if isinstance(other.get("type"), str) and other["type"] != "null":
            del node["anyOf"]
            node.update(other)
            node["type"] = [other["type"], "null"]
            if "default" in node and node["default"] is None:
                del node["default"]

    return _changed(tool, shorten)


def without_repeated_examples(tool: Tool) -> Tool | None:
    """Examples that the description, the default or the listed values show already."""

    def drop(node: dict[str, Any], name: str | None) -> None:
        examples = node.get("examples")
        if not isinstance(examples, list) or not examples:
            return
        text = node.get("description")
        values = [*(node["enum"] if isinstance(node.get("enum"), list) else ())]
        values += [node[key] for key in ("default", "const") if key in node]
        shown = {json_text(each) for each in values}  # as JSON: true is not 1
        said = text if isinstance(text, str) else ""
        if all(
            json_text(each) in shown or (isinstance(each, str) and len(each) > 1 and each in said) for each in examples
        ):
            del node["examples"]

    return _changed(tool, drop)


# ── little lost ──────────────────────────────────────────────────────────────────────────────────────────────────


def without_examples(tool: Tool) -> Tool | None:
    """Every `examples`."""

    def drop(node: dict[str, Any], name: str | None) -> None:
        if isinstance(node.get("examples"), list):
            del node["examples"]

    return _changed(tool, drop)


def without_arguments(tool: Tool) -> Tool | None:
    """A list of arguments in the description, where every one of them has a description of its own."""
    return _without_arguments(tool, word_for_word=False)


def without_same_texts(tool: Tool) -> Tool | None:
    """A long description that several parameters share, said once."""
    first: dict[str, str] = {}

    def refer(node: dict[str, Any], name: str | None) -> None:
        text = node.get("description")
        if name is None or not isinstance(text, str) or len(text) < WORTH:
            return
        earlier = first.setdefault(text, name)
        if earlier != name:
            node["description"] = f"As {earlier}."

    return _changed(tool, refer)


def with_short_description(tool: Tool) -> Tool | None:
    """The first sentences of a long description."""
    kept = first_sentences(tool.description)
    return None if kept is None else replace(tool, description=kept)


def with_short_parameters(tool: Tool) -> Tool | None:
    """The first sentences of the parameters' long descriptions."""

    def shorten(node: dict[str, Any], name: str | None) -> None:
        text = node.get("description")
        if isinstance(text, str) and len(text) >= LONG_PARAMETER:
            node["description"] = first_sentences(text) or text

    return _changed(tool, shorten)


# ── something lost ───────────────────────────────────────────────────────────────────────────────────────────────


def with_values_in_words(tool: Tool) -> Tool | None:
    """Big enumerations as a few of their values."""

    def describe(node: dict[str, Any], name: str | None) -> None:
        values = node.get("enum")
        if not isinstance(values, list) or len(values) < MANY_VALUES:
            return
        del node["enum"]
        shown = ", ".join(quoted(each, 40) for each in values[:SHOWN_VALUES])
        text = node.get("description")
        before = f"{text.rstrip()} " if isinstance(text, str) and text.strip() else ""
        node["description"] = f"{before}One of {len(values)} values, such as {shown}."

    return _changed(tool, describe)


# ── how ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def first_sentences(text: str) -> str | None:
    """The beginning of a long text up to the end of a sentence; `None` where too little would be cut."""
    for end in _SENTENCE.finditer(text, KEPT_CHARACTERS):
        return text[: end.end()].rstrip() if len(text) - end.end() >= WORTH else None
    return None


_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]|\n(?=\n)")
_BLANK = re.compile(r"\n{3,}")
_HEAD = re.compile(r"[#*_ ]{0,8}(?:args|arguments|parameters|params|inputs?)[*_ ]{0,4}:?[*_ ]{0,4}", re.IGNORECASE)
_ENTRY = re.compile(
    r"\s{0,40}(?:[-*•] {1,4})?[`*\"']{0,3}(\w{1,80})[`*\"']{0,3}\s?(?:\(([^()]{0,80})\))?\s?[:–-] ?(.*)"
)


_SPACED = re.compile(r"[\s:=`'\"]+")
_DEFAULTS = ("default", "defaults to", "default is")
_TYPES: dict[str, tuple[str, ...]] = {
    "string": ("str", "string", "text"),
    "integer": ("int", "integer", "number"),
    "number": ("float", "number"),
    "boolean": ("bool", "boolean"),
    "array": ("list", "array"),
    "object": ("dict", "object"),
    "null": ("none", "null", "optional"),
}


def _tidy(text: str) -> str:
    """As a docstring is cleaned: the first line stands by itself. Tabs stay tabs, which cost less than spaces."""
    first, _, rest = text.strip("\r\n").partition("\n")
    lines = [first.strip(), *(line.rstrip() for line in dedent(rest).split("\n"))]
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


def _letters(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum())


def _changed(tool: Tool, change: Change, description: str | None = None) -> Tool | None:
    schema = tool.input_schema
    made = _rewritten(schema, change, None, 0) if isinstance(schema, Mapping) else schema
    said = tool.description if description is None else description
    return None if made == schema and said == tool.description else replace(tool, description=said, input_schema=made)


def _rewritten(schema: Mapping[str, Any], change: Change, name: str | None, depth: int) -> dict[str, Any]:
    node = dict(schema)
    change(node, name)
    if depth >= DEEPEST:
        return node
    for keyword, value in node.items():
        if keyword in SCHEMAS_IN_MAP and isinstance(value, Mapping):
            own = keyword == "properties"
            node[keyword] = {key: _below(each, change, key if own else None, depth) for key, each in value.items()}
        elif keyword in SCHEMAS_IN_LIST and isinstance(value, list):
            node[keyword] = [_below(each, change, None, depth) for each in value]
        elif keyword in SCHEMA_IN_VALUE:
            node[keyword] = _below(value, change, None, depth)
    return node


def _below(value: Any, change: Change, name: str | None, depth: int) -> Any:
    return _rewritten(value, change, name, depth + 1) if isinstance(value, Mapping) else value


def _without_arguments(tool: Tool, *, word_for_word: bool) -> Tool | None:
    text = _tidy(tool.description)
    found = _arguments(text.split("\n"))
    properties = tool.input_schema.get("properties") if isinstance(tool.input_schema, Mapping) else None
    if found is None or not isinstance(properties, Mapping):
        return None
    start, end, entries = found
    listed = tool.input_schema.get("required")
    required: list[Any] = listed if isinstance(listed, list) else []
    for name, (bracketed, said) in entries.items():
        node = properties.get(name)
        own = node.get("description") if isinstance(node, Mapping) else None
        if not isinstance(node, Mapping) or not isinstance(own, str) or not own.strip():
            return None
        if word_for_word and not (_letters(said) in _letters(own) and _is_known(bracketed, node, name in required)):
            return None
    lines = text.split("\n")
    return replace(tool, description=_tidy("\n".join([*lines[:start], *lines[end:]])))


def _is_known(bracketed: str, node: Mapping[str, Any], is_required: bool) -> bool:
    """Whether all that stands in brackets behind a name (`int, 1-50, default 10`) stands in the schema too."""
    known = {*_type_words(node), "required" if is_required else "optional", str(node.get("format")).casefold()}
    if "default" in node:
        value = _plainly(json_text(node["default"]))
        known |= {f"{word} {each}" for word in _DEFAULTS for each in (value, "none" if value == "null" else value)}
    low, high = node.get("minimum"), node.get("maximum")
    known |= {f"{word} {low}" for word in ("min", "minimum", "at least") if low is not None}
    known |= {f"{word} {high}" for word in ("max", "maximum", "at most", "up to") if high is not None}
    if low is not None and high is not None:
        known |= {f"{low}{between}{high}" for between in ("-", "–", " - ", " to ", "..")}
    own = _plainly(str(node.get("description")))
    pieces = [_plainly(each) for each in re.split("[,;]", bracketed)]
    return all(not each or each in known or each in own for each in pieces)


def _plainly(text: str) -> str:
    return _SPACED.sub(" ", text.casefold()).strip(" .")


def _type_words(node: Any) -> Iterator[str]:
    """What people call the types of a schema."""
    if not isinstance(node, Mapping):
        return
    said = node.get("type")
    for each in said if isinstance(said, list) else [said]:
        for word in _TYPES.get(each, ()) if isinstance(each, str) else ():
            yield word
            if each == "array":
                yield from (f"{word}[{inner}]" for inner in _type_words(node.get("items")))
    for branch in branches if isinstance(branches := node.get("anyOf"), list) else ():
        if isinstance(branch, Mapping) and "anyOf" not in branch:
            yield from _type_words(branch)


def _arguments(lines: list[str]) -> tuple[int, int, dict[str, tuple[str, str]]] | None:
    """Where a list of arguments begins and ends, and what it says of each: in brackets, and behind them."""
    for start, line in enumerate(lines):
        if len(line) <= 40 and _HEAD.fullmatch(line.strip()):
            entries: dict[str, tuple[str, str]] = {}
            end = start + 1
            for i, each in _entries(lines, start):
                match = _ENTRY.fullmatch(each)
                if match:
                    entries[match[1]] = (match[2] or "", match[3])
                elif entries:
                    last = next(reversed(entries))
                    bracketed, said = entries[last]
                    entries[last] = (bracketed, f"{said} {each.strip()}")
                else:
                    break
                end = i + 1
            return (start, end, entries) if entries else None
    return None


def _entries(lines: list[str], start: int) -> Iterator[tuple[int, str]]:
    """The lines of the list: bullets, or whatever is further in than its head; it ends with a blank line."""
    inside = _indent(lines[start])
    for i in range(start + 1, len(lines)):
        line = lines[i]
        if not line.strip() or not (_indent(line) > inside or line.lstrip()[0] in "-*•"):
            return
        yield i, line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
