"""Calls as they are written: with a legal id, a legal name, and arguments that are a JSON object."""

from __future__ import annotations

from dataclasses import replace

from toolbridge.history.rules import Rules
from toolbridge.history.said import same_json, well_formed
from toolbridge.names import spell
from toolbridge.notes import Note
from toolbridge.stream.arguments import INVALID_JSON, read_arguments, write_arguments
from toolbridge.types import JsonObject, ToolCall


def legal_call(call: ToolCall, id: str, rules: Rules, path: str) -> tuple[ToolCall, list[Note]]:
    """The call under the id that it is given, its text being the JSON text of its arguments."""
    notes: list[Note] = []
    if id != call.id:
        notes.append(Note("id.reused" if rules.ids.allows(call.id) else "id.spelt", "changed", path, call.id))
    # The identity of a tool without a server: the spelling that its definition has.
    name = spell(call.name, rules.names, "", call.name)
    if name != call.name:
        notes.append(Note("name.spelt", "changed", path, call.name))
    told = _told(call)
    if told is None:
        notes.append(Note("arguments.wrapped", "changed", path, call.text))
        arguments: JsonObject = {INVALID_JSON: well_formed(call.text)}
        text = write_arguments(arguments)
    else:
        arguments, text, whole = told
        if not whole:
            notes.append(Note("character.replaced", "narrowed", path))
    if (id, name, text) == (call.id, call.name, call.text) and arguments is call.arguments:
        return call, notes
    return replace(call, id=id, name=name, text=text, arguments=arguments), notes


def _told(call: ToolCall) -> tuple[JsonObject, str, bool] | None:
    """The arguments, their JSON text, and whether they are all there; `None` where they are no JSON object."""
    if not isinstance(call.arguments, dict):
        return None
    try:
        written = write_arguments(call.arguments)
        text = well_formed(written)
        arguments, _ = read_arguments(text)
        if arguments is None:
            return None
        if arguments == call.arguments:
            arguments = call.arguments
        return arguments, call.text if text == call.text or _says(call.text, arguments) else text, text == written
    except (TypeError, ValueError, RecursionError):  # not JSON, a circle, nested too deeply
        return None


def _says(text: str, arguments: JsonObject) -> bool:
    """Whether the text is just these arguments in JSON."""
    if not text.lstrip().startswith("{"):
        return False  # nothing at all means no arguments, and is no JSON
    said, _ = read_arguments(text)
    return said is not None and same_json(said, arguments)
