"""Compiling: one tool for one provider becomes its wire definition, its way back and its notes. Each is kept.

Tools are values, so what was compiled once is found again by the tool's identity. A tool that the provider cannot
express becomes a reason, never an exception.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolbridge.apps import FILE_PARAMETERS, read_app_meta, say_files, why_private
from toolbridge.names import wire_name
from toolbridge.notes import Note
from toolbridge.providers import Provider
from toolbridge.schema.convert import Conversion, RawNote, Size, TooLarge, convert, notes_of
from toolbridge.schema.dialects import Dialect
from toolbridge.schema.phrases import phrase, quoted
from toolbridge.schema.restore import Back, Through
from toolbridge.schema.root import NotAnObject
from toolbridge.types import Tool

KEPT = 5_000
"""Compiled tools that are kept for the next `prepare`; past that the oldest go."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a definition is to look like beyond what the provider asks for.

    `describe_values` says defaults and enums in descriptions as well. `flatten` lifts nested objects to the top, for
    small models; calls are put back. `description_limit` shortens descriptions to that many characters.
    """

    describe_values: bool = False
    flatten: bool = False
    description_limit: int | None = None


PLAIN = Options()


class Definition:
    """A wire definition, kept as bytes once it was asked for, so that no caller's changes reach the next."""

    __slots__ = ("_made", "_packed")

    def __init__(self, made: dict[str, Any]) -> None:
        self._made: dict[str, Any] | None = made
        self._packed = b""

    def handed_out(self) -> dict[str, Any]:
        """A definition that is the caller's own."""
        made = self._made
        if made is not None:
            self._packed = _packed(made)
            self._made = None
        copy: dict[str, Any] = marshal.loads(self._packed)
        return copy


class Compiled(NamedTuple):
    """One tool for one provider."""

    tool: Tool
    name: str
    definition: Definition
    back: Back | None
    raw_notes: tuple[RawNote, ...]
    strict: bool
    size: Size
    provider: Provider

    @property
    def notes(self) -> tuple[Note, ...]:
        return notes_of(self.raw_notes)


@dataclass(frozen=True, slots=True)
class LeftOut:
    tool: Tool
    why: str
    provider: Provider


_kept: dict[tuple[Any, ...], Compiled | LeftOut] = {}


def compiled_tool(tool: Tool, provider: Provider, strict: bool, options: Options) -> Compiled | LeftOut:
    """One tool for one provider, from the ones kept where it is there."""
    key = (id(tool), id(provider), strict) if options is PLAIN else (id(tool), id(provider), strict, options)
    found = _kept.get(key)
    if found is not None and found.tool is tool and found.provider is provider:
        return found
    made = _made(tool, provider, strict, options)
    if len(_kept) >= KEPT:
        for oldest in list(_kept)[: KEPT // 10]:
            _kept.pop(oldest, None)
    _kept[key] = made
    return made


def _made(tool: Tool, provider: Provider, strict: bool, options: Options) -> Compiled | LeftOut:
    if tool.problem is not None:
        return LeftOut(tool, tool.problem, provider)
    if tool.meta and (why := why_private(tool)) is not None:
        return LeftOut(tool, why, provider)
    name = wire_name(tool.id, provider.names)
    try:
        dialect = provider.strict if strict and provider.strict is not None else provider.dialect
        schema: Any = tool.input_schema
        files: tuple[tuple[str, str | None], ...] = ()
        if tool.meta and FILE_PARAMETERS in tool.meta:
            schema, files = say_files(schema, read_app_meta(tool).file_parameters)
        conversion = _converted(schema, dialect, options)
        if strict and _over(conversion.size, dialect):
            strict = False
            conversion = _converted(schema, provider.dialect, options)
        if conversion.size.references:
            from toolbridge.schema.check import uncheckable

            circle = uncheckable(tool.input_schema)
            if circle is not None:
                return LeftOut(tool, circle, provider)
        notes: tuple[RawNote, ...] = conversion.raw_notes
        if files:
            notes = (*notes, *(("fileParams.said", "changed", ("properties", key), before) for key, before in files))
        if name != (f"mcp__{tool.id.server}__{tool.id.name}" if tool.id.server else tool.id.name):
            notes = (*notes, ("name.spelt", "changed", (), tool.id.name))
        if tool.input_schema is None:
            notes = (*notes, ("schema.missing", "changed", (), None))
        description, notes = _description(tool, conversion, provider, options, notes)
        definition = provider.write_tool(name, description, conversion.schema, strict)
    except (TooLarge, NotAnObject) as failure:
        return LeftOut(tool, str(failure), provider)
    except (RecursionError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as failure:
        # No schema should get here; one that does must not spoil the request for the others.
        why = f"its schema could not be converted ({type(failure).__name__}: {str(failure)[:100]})"
        return LeftOut(tool, why, provider)
    return Compiled(tool, name, Definition(definition), conversion.back, notes, strict, conversion.size, provider)


def _converted(schema: Any, dialect: Dialect, options: Options) -> Conversion:
    if options is PLAIN:
        return convert(schema, dialect)
    lift: Back | None = None
    if options.flatten:
        from toolbridge.schema.lift import lifted

        schema, lift = lifted(schema)
    if options.describe_values:
        schema = _described(schema)
    conversion = convert(schema, dialect)
    if lift is None:
        return conversion
    return Conversion(
        conversion.schema,
        Through(lift, conversion.back),
        (*conversion.raw_notes, ("object.lifted", "changed", (), None)),
        conversion.size,
    )


def _described(schema: Any, levels: int = 30) -> Any:
    """The schema with defaults and enums also said where they stand (only for properties, where models look)."""
    if not isinstance(schema, dict) or not levels:
        return schema
    out = dict(schema)
    for keyword in ("properties", "$defs", "definitions"):
        members = out.get(keyword)
        if isinstance(members, dict):
            out[keyword] = {key: _described(each, levels - 1) for key, each in members.items()}
    if isinstance(out.get("items"), dict):
        out["items"] = _described(out["items"], levels - 1)
    text = out["description"] if isinstance(out.get("description"), str) else ""
    values = out.get("enum")
    if isinstance(values, list) and values and not all(_is_said(each, text) for each in values):
        text = f"{text} {phrase('enum', values)}".strip()
    if out.get("default") is not None and not isinstance(out["default"], Mapping) and "efault" not in text:
        text = f"{text} {phrase('default', out['default'])}".strip()
    if text:
        out["description"] = text
    return out


def _is_said(value: Any, text: str) -> bool:
    """Whether a description already quotes a value."""
    return quoted(value) in text or f"'{value}'" in text


def _over(size: Size, dialect: Dialect) -> bool:
    limits = dialect.limits
    return (limits.properties is not None and size.properties > limits.properties) or (
        limits.characters is not None and size.characters > limits.characters
    )


def _description(
    tool: Tool,
    conversion: Conversion,
    provider: Provider,
    options: Options,
    notes: tuple[RawNote, ...],
) -> tuple[str, tuple[RawNote, ...]]:
    """The tool's description, with what had to be said of its root, and not longer than the provider takes."""
    text = tool.description
    said = conversion.schema.pop("description", None)
    if said and said not in text:
        text = f"{text}\n\n{said}" if text else said
    limits = [each for each in (provider.longest_description, options.description_limit) if each is not None]
    if limits and len(text) > min(limits):
        most = min(limits)
        cut = text[: most - 1]
        space = cut.rfind(" ")
        notes = (*notes, ("description.shortened", "changed", (), text))
        text = (cut[:space] if space > most // 2 else cut) + "…"
    return text, notes


def _packed(definition: dict[str, Any]) -> bytes:
    """The definition as bytes of its own: no part of it is shared, with another part or with the server's schema."""
    try:
        packed = marshal.dumps(definition, _MARSHAL)
    except ValueError:  # an object that only looks like JSON: a string or dict of a subclass
        definition = json.loads(json.dumps(definition))
        packed = marshal.dumps(definition, _MARSHAL)
    if _SURROGATE.search(packed):
        # Half a character can stand in a Python string, but in no request.
        whole = _HALF.sub("\ufffd", json.dumps(definition, ensure_ascii=False))
        packed = marshal.dumps(json.loads(whole), _MARSHAL)
    return packed


_HALF = re.compile("[\ud800-\udfff]")
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")
_MARSHAL = 2
"""The last version of the format that copies every part, instead of referring to one it has seen."""
