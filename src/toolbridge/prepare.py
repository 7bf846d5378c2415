"""Prepare: tools and a provider become definitions, and the way back from what the model answers.

The one place where both banks meet. Nothing raises out of it because of a tool: a tool that the provider cannot
express is left out, by name and with the reason. Tools are values, so each is compiled once per provider and kept.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from toolbridge.errors import UnknownToolError, nearest
from toolbridge.names import wire_name
from toolbridge.notes import Note
from toolbridge.providers import Provider, StrictBudget, get_provider
from toolbridge.schema.convert import Conversion, RawNote, Size, TooLarge, convert
from toolbridge.schema.dialects import Dialect
from toolbridge.schema.objects import NotAnObject
from toolbridge.schema.phrases import phrase, quoted
from toolbridge.schema.restore import Back, lost, read, write
from toolbridge.types import BoundCall, JsonObject, Text, Tool, ToolCall, ToolId, ToolResult

if TYPE_CHECKING:
    from toolbridge.schema.check import Checker

KEPT = 50_000
"""Compiled tools that are kept for the next `prepare`; past that the oldest go."""

NATURAL = frozenset({"additionalProperties.closed", "optional.nullable", "key.renamed", "name.spelt", "schema.missing"})
"""Changes that do not keep a tool from being strict on its own: nothing is lost, and it still reads like the tool."""

NEAR_NAMES = 5
"""Names offered to a model that called a tool that is not there."""


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


class _Definition:
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


class _Compiled(NamedTuple):
    """One tool for one provider."""

    tool: Tool
    name: str
    definition: _Definition
    back: Back | None
    raw_notes: tuple[RawNote, ...]
    strict: bool
    size: Size
    provider: Provider

    @property
    def notes(self) -> tuple[Note, ...]:
        return Conversion({}, None, self.raw_notes, self.size).notes


@dataclass(frozen=True, slots=True)
class _LeftOut:
    tool: Tool
    why: str
    provider: Provider


_kept: dict[tuple[Any, ...], _Compiled | _LeftOut] = {}


class PreparedTools:
    """Tools in a provider's form: what to send, and how to read what comes back. It outlives the request."""

    __slots__ = (
        "_by_id",
        "_by_name",
        "_checkers",
        "_compiled",
        "_definitions",
        "_notes",
        "_strict",
        "left_out",
        "provider",
    )

    def __init__(
        self,
        provider: Provider,
        compiled: list[_Compiled],
        left_out: dict[ToolId, str],
        notes: dict[ToolId, tuple[Note, ...]],
        strict: bool,
    ) -> None:
        self.provider = provider
        self.left_out: Mapping[ToolId, str] = left_out
        self._compiled = compiled
        self._notes = notes
        self._strict = strict
        self._by_name: dict[str, _Compiled] | None = None
        self._by_id: dict[ToolId, _Compiled] | None = None
        self._definitions: list[dict[str, Any]] | None = None
        self._checkers: dict[str, Checker] = {}

    @property
    def definitions(self) -> list[dict[str, Any]]:
        """One wire definition per tool, in the order of the tools."""
        if self._definitions is None:
            self._definitions = [each.definition.handed_out() for each in self._compiled]
        return self._definitions

    @property
    def fields(self) -> dict[str, Any]:
        """What to merge into the request body; empty where there is no tool, since providers refuse an empty list."""
        return self.provider.write_fields(self.definitions, self._strict) if self._compiled else {}

    @property
    def tools(self) -> list[Tool]:
        """The tools that were not left out, in order."""
        return [each.tool for each in self._compiled]

    @property
    def notes(self) -> Mapping[ToolId, tuple[Note, ...]]:
        """What was changed, for every tool that was not left out."""
        return {each.tool.id: (*each.notes, *self._notes.get(each.tool.id, ())) for each in self._compiled}

    def is_strict(self, id: ToolId) -> bool:
        """Whether the tool's definition is a strict one."""
        return self._of_id(id).strict

    def wire_name(self, id: ToolId) -> str:
        """The spelling the model sees."""
        return self._of_id(id).name

    def tool(self, name: str) -> Tool:
        """The tool that a wire name stands for."""
        return self._of_name(name).tool

    def read_arguments(self, name: str, arguments: JsonObject) -> JsonObject:
        """The model's arguments in the server's own shape. Nothing is validated: `resolve` does."""
        out: JsonObject = read(self._of_name(name).back, arguments)
        return out

    def write_arguments(self, id: ToolId, arguments: JsonObject) -> JsonObject:
        """Arguments in the server's shape, as this provider's model would have written them."""
        out: JsonObject = write(self._of_id(id).back, arguments)
        return out

    def resolve(self, call: ToolCall) -> BoundCall | ToolResult:
        """The call bound to its tool, with arguments that the server accepts; or the error result for the model."""
        compiled = self._names().get(call.name)
        if compiled is None:
            return _failed(call, self._unknown(call.name))
        if call.arguments is None:
            text = quoted(call.text, 200)
            why = call.problem or "the arguments are not a JSON object"
            return _failed(call, f"The call of {call.name} was not run: {why}. Received: {text}. Send one JSON object.")
        from toolbridge.schema.check import Checker  # checking is for calls: a conversion does without
        from toolbridge.schema.coerce import coerced

        missed = list(lost(compiled.back, call.arguments))
        if missed:
            return _refused(call, missed)
        arguments = read(compiled.back, call.arguments)
        checker = self._checkers.get(call.name)
        if checker is None:
            checker = self._checkers[call.name] = Checker(compiled.tool.input_schema)
        if checker.accepts(arguments):
            return BoundCall(call, compiled.tool, arguments)
        better = coerced(checker, arguments)
        if better is not None:
            return BoundCall(call, compiled.tool, *better)
        return _refused(call, [str(each) for each in checker.problems(arguments, compiled.back)])

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, self._names(), n=NEAR_NAMES, cutoff=0.6)
        hint = f"Did you mean {' or '.join(near)}?" if near else "Call one of the tools you were given."
        return f"There is no tool named {quoted(name, 100)}. {hint}"

    def _names(self) -> dict[str, _Compiled]:
        if self._by_name is None:
            self._by_name = {each.name: each for each in self._compiled}
        return self._by_name

    def _of_name(self, name: str) -> _Compiled:
        found = self._names().get(name)
        if found is None:
            meant = nearest(name, self._names())
            raise UnknownToolError(f"no tool is called {name!r} here" + (f"; did you mean {meant!r}?" if meant else ""))
        return found

    def _of_id(self, id: ToolId) -> _Compiled:
        if self._by_id is None:
            self._by_id = {each.tool.id: each for each in self._compiled}
        found = self._by_id.get(id)
        if found is None:
            why = self.left_out.get(id)
            raise UnknownToolError(f"{id} was left out: {why}" if why else f"{id} is not among the prepared tools")
        return found


def _failed(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call.id, (Text(text),), is_error=True)


def _refused(call: ToolCall, problems: list[str]) -> ToolResult:
    lines = [f"The call of {call.name} was not run: its arguments are not valid."]
    lines += [f"- {each}" for each in problems] or ["- They do not match the tool's input schema."]
    lines.append("Correct the arguments and call again.")
    return _failed(call, "\n".join(lines))


def prepare(
    tools: Iterable[Tool],
    provider: Provider | str,
    strict: bool | None = None,
    *,
    describe_values: bool = False,
    flatten: bool = False,
    description_limit: int | None = None,
) -> PreparedTools:
    """Definitions of the tools for a provider, in the tools' order, and the way back.

    `strict` is `True` (strict wherever the provider has it; a tool that cannot be says so and falls back), `False`, or
    `None`: strict where nothing is lost by it and no shape has to be contorted. The other arguments are explained at `Options`.
    """
    if isinstance(provider, str):
        provider = get_provider(provider)
    if description_limit is not None and description_limit < 1:
        raise ValueError(f"description_limit is {description_limit}; it must be at least 1")
    options = PLAIN
    if describe_values or flatten or description_limit is not None:
        options = Options(describe_values, flatten, description_limit)
    unique, notes = _unique(tools)
    compiled, left_out = _all_compiled(unique, provider, strict, options, notes)
    most = provider.most_tools
    if most is not None and len(compiled) > most:
        for each in compiled[most:]:
            left_out[each.tool.id] = f"{provider.name} takes at most {most} tools, and {most} come before this one"
        compiled = compiled[:most]
    _tell_apart(compiled, provider)
    return PreparedTools(provider, compiled, left_out, notes, strict is True)


def _unique(tools: Iterable[Tool]) -> tuple[list[Tool], dict[ToolId, tuple[Note, ...]]]:
    """The tools, each identity once: the first of that identity is the one."""
    listed = list(tools)
    if len(listed) < 2:
        return listed, {}
    ids = {each.id for each in listed}
    if len(ids) == len(listed):
        return listed, {}
    seen: set[ToolId] = set()
    kept: list[Tool] = []
    notes: dict[ToolId, tuple[Note, ...]] = {}
    for each in listed:
        if each.id in seen:
            notes[each.id] = (Note("tool.duplicate", "changed", "", str(each.id)),)
        else:
            seen.add(each.id)
            kept.append(each)
    return kept, notes


def _all_compiled(
    tools: list[Tool],
    provider: Provider,
    strict: bool | None,
    options: Options,
    notes: dict[ToolId, tuple[Note, ...]],
) -> tuple[list[_Compiled], dict[ToolId, str]]:
    wanted = strict is True or (strict is None and provider.strict_by_default)
    wanted = wanted and provider.strict is not None
    made = [_compile(each, provider, wanted, options) for each in tools]
    left_out = {each.tool.id: each.why for each in made if isinstance(each, _LeftOut)}
    compiled = [each for each in made if isinstance(each, _Compiled)]
    if strict is None and wanted:
        compiled = [
            each if not each.strict or _natural(each) else _certain(each.tool, provider, options) for each in compiled
        ]
    elif strict is True and provider.strict is not None:
        chosen = _within(provider.strict_budget, compiled) if provider.strict_budget else None
        for i, each in enumerate(compiled):
            if not each.strict or (chosen is not None and i not in chosen):
                why = "strict.unavailable" if not each.strict else "strict.over_budget"
                notes[each.tool.id] = (*notes.get(each.tool.id, ()), Note(why, "widened", "", True))
                if each.strict:
                    compiled[i] = _certain(each.tool, provider, options)
    return compiled, left_out


def _certain(tool: Tool, provider: Provider, options: Options) -> _Compiled:
    """The tool outside strict mode; in it where that is the only form that could be made."""
    made = _compile(tool, provider, False, options)
    if isinstance(made, _LeftOut):
        made = _compile(tool, provider, True, options)
    assert isinstance(made, _Compiled)
    return made


def _natural(compiled: _Compiled) -> bool:
    return all(code in NATURAL for code, _, _, _ in compiled.raw_notes)


def _within(budget: StrictBudget, compiled: list[_Compiled]) -> set[int]:
    """Which tools get the shared budget: those that may change things first, then those that cost least of it."""

    def worth(i: int) -> tuple[bool, int, int]:
        size = compiled[i].size
        return compiled[i].tool.hints.read_only, size.optionals + size.unions, i

    optionals = budget.optionals if budget.optionals is not None else 10**9
    unions = budget.unions if budget.unions is not None else 10**9
    chosen: set[int] = set()
    for i in sorted((i for i, each in enumerate(compiled) if each.strict), key=worth):
        size = compiled[i].size
        if len(chosen) < budget.tools and size.optionals <= optionals and size.unions <= unions:
            chosen.add(i)
            optionals -= size.optionals
            unions -= size.unions
    return chosen


def _tell_apart(compiled: list[_Compiled], provider: Provider) -> None:
    """Two identities that spell alike (one was made to) are both spelt with a digest of the identity."""
    if len(compiled) < 2:
        return
    names = {each.name for each in compiled}
    if len(names) == len(compiled):
        return
    count: dict[str, int] = {}
    for each in compiled:
        count[each.name] = count.get(each.name, 0) + 1
    for i, each in enumerate(compiled):
        if count[each.name] > 1:
            id = each.tool.id
            name = wire_name(ToolId(id.server, id.name + "\x00"), provider.names)
            while name in names:
                name = wire_name(ToolId(id.server, name + "\x00"), provider.names)
            names.add(name)
            definition = each.definition.handed_out()
            _rename(definition, each.name, name)
            compiled[i] = each._replace(
                name=name,
                definition=_Definition(definition),
                raw_notes=(*each.raw_notes, ("name.spelt", "changed", (), id.name)),
            )


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


def _rename(definition: dict[str, Any], old: str, new: str) -> None:
    for holder in (definition, *definition.values()):
        if isinstance(holder, dict) and holder.get("name") == old:
            holder["name"] = new
            return


def _compile(tool: Tool, provider: Provider, strict: bool, options: Options) -> _Compiled | _LeftOut:
    """One tool for one provider, from the ones kept where it is there."""
    key = (id(tool), id(provider), strict) if options is PLAIN else (id(tool), id(provider), strict, options)
    found = _kept.get(key)
    if found is not None and found.tool is tool and found.provider is provider:
        return found
    made = _compiled(tool, provider, strict, options)
    if len(_kept) >= KEPT:
        for oldest in list(_kept)[: KEPT // 10]:
            _kept.pop(oldest, None)
    _kept[key] = made
    return made


def _compiled(tool: Tool, provider: Provider, strict: bool, options: Options) -> _Compiled | _LeftOut:
    if tool.problem is not None:
        return _LeftOut(tool, tool.problem, provider)
    name = wire_name(tool.id, provider.names)
    try:
        dialect = provider.strict if strict and provider.strict is not None else provider.dialect
        conversion = _converted(tool, dialect, options)
        if strict and _over(conversion.size, dialect):
            strict = False
            conversion = _converted(tool, provider.dialect, options)
        if conversion.size.references:
            from toolbridge.schema.check import uncheckable

            circle = uncheckable(tool.input_schema)
            if circle is not None:
                return _LeftOut(tool, circle, provider)
        notes: tuple[RawNote, ...] = conversion.raw_notes
        if name != tool.id.name and not tool.id.server:
            notes = (*notes, ("name.spelt", "changed", (), tool.id.name))
        if tool.input_schema is None:
            notes = (*notes, ("schema.missing", "changed", (), None))
        description, notes = _description(tool, conversion, provider, options, notes)
        definition = provider.write_tool(name, description, conversion.schema, strict)
    except (TooLarge, NotAnObject) as failure:
        return _LeftOut(tool, str(failure), provider)
    except (RecursionError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as failure:
        # No schema should get here; one that does must not spoil the request for the others.
        why = f"its schema could not be converted ({type(failure).__name__}: {str(failure)[:100]})"
        return _LeftOut(tool, why, provider)
    return _Compiled(tool, name, _Definition(definition), conversion.back, notes, strict, conversion.size, provider)


def _converted(tool: Tool, dialect: Dialect, options: Options) -> Conversion:
    if options is PLAIN:
        return convert(tool.input_schema, dialect)
    schema: Any = tool.input_schema
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
        _Through(lift, conversion.back),
        (*conversion.raw_notes, ("object.lifted", "changed", (), None)),
        conversion.size,
    )


@dataclass(frozen=True, slots=True)
class _Through:
    """Two ways back, one after the other."""

    outer: Back
    inner: Back | None

    def read(self, value: Any) -> Any:
        return self.outer.read(read(self.inner, value))

    def write(self, value: Any) -> Any:
        return write(self.inner, self.outer.write(value))


def _described(schema: Any) -> Any:
    """The schema with defaults and enums also said where they stand (only for properties, where models look)."""
    if not isinstance(schema, dict):
        return schema
    out = dict(schema)
    for keyword in ("properties", "$defs", "definitions"):
        members = out.get(keyword)
        if isinstance(members, dict):
            out[keyword] = {key: _described(each) for key, each in members.items()}
    if isinstance(out.get("items"), dict):
        out["items"] = _described(out["items"])
    text = out["description"] if isinstance(out.get("description"), str) else ""
    if isinstance(out.get("enum"), list) and out["enum"] and not all(str(each) in text for each in out["enum"]):
        text = f"{text} {phrase('enum', out['enum'])}".strip()
    if out.get("default") is not None and not isinstance(out["default"], Mapping) and "efault" not in text:
        text = f"{text} {phrase('default', out['default'])}".strip()
    if text:
        out["description"] = text
    return out


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
