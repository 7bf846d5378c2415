"""Prepare: tools and a provider become definitions, and the way back from what the model answers.

The one place where both banks meet. Nothing raises out of it because of a tool: a tool that the provider cannot
express is left out, by name and with the reason. Tools are values, so each is compiled once per provider and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Mapping
from typing import TYPE_CHECKING, Any

from toolbridge.apps import is_private
from toolbridge.compiled import PLAIN, Compiled, Definition, LeftOut, Options, compiled_tool
from toolbridge.errors import UnknownToolError, nearest
from toolbridge.names import wire_name
from toolbridge.notes import Note
from toolbridge.providers import Provider, StrictBudget, get_provider
from toolbridge.schema.phrases import quoted
from toolbridge.schema.restore import lost, read, write
from toolbridge.types import BoundCall, JsonObject, Text, Tool, ToolCall, ToolId, ToolResult

if TYPE_CHECKING:
    from toolbridge.schema.check import Checker

NATURAL = frozenset({
    "additionalProperties.closed", "fileParams.said", "key.renamed", "name.spelt", "optional.nullable",
    "schema.missing",
})  # fmt: skip
"""Changes that do not keep a tool from being strict on its own: nothing is lost, and it still reads like the tool."""

NEAR_NAMES = 5
"""Names offered to a model that called a tool that is not there."""


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
        compiled: list[Compiled],
        left_out: dict[ToolId, str],
        notes: dict[ToolId, tuple[Note, ...]],
        strict: bool,
    ) -> None:
        self.provider = provider
        self.left_out: Mapping[ToolId, str] = left_out
        self._compiled = compiled
        self._notes = notes
        self._strict = strict
        self._by_name: dict[str, Compiled] | None = None
        self._by_id: dict[ToolId, Compiled] | None = None
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
    def instructions(self) -> str:
        """What the system message has to say of the tools; empty where `fields` say it all, as with most providers."""
        write = self.provider.write_instructions
        return write(self.definitions) if write is not None and self._compiled else ""

    @property
    def tools(self) -> list[Tool]:
        """The tools that were not left out, in order."""
        return [each.tool for each in self._compiled]

    @property
    def private(self) -> tuple[ToolId, ...]:
        """Those of the tools left out that their servers keep from models: no failure, and callable by the host."""
        return tuple(id for id, why in self.left_out.items() if is_private(why))

    @property
    def notes(self) -> Mapping[ToolId, tuple[Note, ...]]:
        """What was changed, for every tool that was not left out."""
        return {each.tool.id: (*each.notes, *self._notes.get(each.tool.id, ())) for each in self._compiled}

    def __contains__(self, id: object) -> bool:
        """Whether the tool of that id is among them."""
        return id in self._ids()

    def is_strict(self, id: ToolId) -> bool:
        """Whether the tool's definition is a strict one."""
        return self._of_id(id).strict

    def why_not_strict(self, id: ToolId) -> tuple[Note, ...]:
        """What strict mode would have changed in a tool that is not strict; empty where it is strict or cannot be."""
        found = self._of_id(id)
        if found.strict or self.provider.strict is None:
            return ()
        made = compiled_tool(found.tool, self.provider, True, PLAIN)
        return tuple(note for note in made.notes if note.code not in NATURAL) if isinstance(made, Compiled) else ()

    def wire_name(self, id: ToolId) -> str:
        """The spelling the model sees."""
        return self._of_id(id).name

    @property
    def names(self) -> KeysView[str]:
        """The spellings of all of them, in order."""
        return self._names().keys()

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

        unquoted = (Note("arguments.unquoted", "changed", "", call.text),) if call.text.lstrip().startswith('"') else ()
        missed = list(lost(compiled.back, call.arguments))
        if missed:
            return _refused(call, missed)
        arguments = read(compiled.back, call.arguments)
        checker = self._checkers.get(call.name)
        if checker is None:
            checker = self._checkers[call.name] = Checker(compiled.tool.input_schema)
        if checker.accepts(arguments):
            return BoundCall(call, compiled.tool, arguments, unquoted)
        better = coerced(checker, arguments)
        if better is not None:
            return BoundCall(call, compiled.tool, better[0], (*unquoted, *better[1]))
        return _refused(call, [str(each) for each in checker.problems(arguments, compiled.back)])

    def and_then(self, more: PreparedTools) -> PreparedTools:
        """These and, behind them, those of `more`. What is here stays as it is, byte for byte, so that a provider's
        prompt cache holds; a tool of `more` that is spelt like one of these is left out."""
        left_out = {**self.left_out, **more.left_out}
        later: list[Compiled] = []
        for each in more._compiled:
            there = self._names().get(each.name)
            if there is None:
                later.append(each)
            elif there.tool.id != each.tool.id:
                left_out[each.tool.id] = f"it would be spelt {each.name}, as {there.tool.id} is"
        notes = {**more._notes, **self._notes}
        return PreparedTools(self.provider, [*self._compiled, *later], left_out, notes, self._strict)

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        # A model that leaves out the server, or puts `functions.` in front: the names that end in what it said.
        bare = name.rpartition(".")[2].partition(":")[0]
        ending = [each for each in self._names() if bare and each.endswith(bare) and each[-len(bare) - 1 :][0] in "_-."]
        near = [*ending, *get_close_matches(name, self._names(), n=NEAR_NAMES, cutoff=0.6)]
        if bare in self._names():
            near.insert(0, bare)
        near = list(dict.fromkeys(near))[:NEAR_NAMES]
        hint = f"Did you mean {' or '.join(near)}?" if near else "Call one of the tools you were given."
        return f"There is no tool named {quoted(name, 100)}. {hint}"

    def _names(self) -> dict[str, Compiled]:
        if self._by_name is None:
            self._by_name = {each.name: each for each in self._compiled}
        return self._by_name

    def _of_name(self, name: str) -> Compiled:
        found = self._names().get(name)
        if found is None:
            meant = nearest(name, self._names())
            raise UnknownToolError(f"no tool is called {name!r} here" + (f"; did you mean {meant!r}?" if meant else ""))
        return found

    def _ids(self) -> dict[ToolId, Compiled]:
        if self._by_id is None:
            self._by_id = {each.tool.id: each for each in self._compiled}
        return self._by_id

    def _of_id(self, id: ToolId) -> Compiled:
        found = self._ids().get(id)
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
    `None`: strict where nothing is lost by it and no shape has to be contorted. The other arguments are explained at
    `Options`.
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
    for each in listed:
        if not isinstance(each, Tool):
            raise TypeError(f"prepare takes tools, not {type(each).__name__}: read_tools makes them")
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
) -> tuple[list[Compiled], dict[ToolId, str]]:
    wanted = strict is True or (strict is None and provider.strict_by_default)
    wanted = wanted and provider.strict is not None
    made = [compiled_tool(each, provider, wanted, options) for each in tools]
    left_out = {each.tool.id: each.why for each in made if isinstance(each, LeftOut)}
    compiled = [each for each in made if isinstance(each, Compiled)]
    if strict is None and wanted:
        compiled = [
            each if not each.strict or _natural(each) else _certain(each.tool, provider, options) for each in compiled
        ]
    elif strict is True and not provider.strict_by_mode:
        chosen = _within(provider.strict_budget, compiled) if provider.strict_budget else None
        for i, each in enumerate(compiled):
            if not each.strict or (chosen is not None and i not in chosen):
                why = "strict.unavailable" if not each.strict else "strict.over_budget"
                notes[each.tool.id] = (*notes.get(each.tool.id, ()), Note(why, "widened", "", True))
                if each.strict:
                    compiled[i] = _certain(each.tool, provider, options)
    return compiled, left_out


def _certain(tool: Tool, provider: Provider, options: Options) -> Compiled:
    """The tool outside strict mode; in it where that is the only form that could be made."""
    made = compiled_tool(tool, provider, False, options)
    if isinstance(made, LeftOut):
        made = compiled_tool(tool, provider, True, options)
    assert isinstance(made, Compiled)
    return made


def _natural(compiled: Compiled) -> bool:
    return all(code in NATURAL for code, _, _, _ in compiled.raw_notes)


def _within(budget: StrictBudget, compiled: list[Compiled]) -> set[int]:
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


def _tell_apart(compiled: list[Compiled], provider: Provider) -> None:
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
                definition=Definition(definition),
                raw_notes=(*each.raw_notes, ("name.spelt", "changed", (), id.name)),
            )


def _rename(definition: dict[str, Any], old: str, new: str) -> None:
    for holder in (definition, *definition.values()):
        if isinstance(holder, dict) and holder.get("name") == old:
            holder["name"] = new
            return
