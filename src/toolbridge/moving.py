"""Moving: the calls of a history, made with one set of prepared tools, as another would have them.

A provider's model calls a tool by that provider's spelling and in that provider's shape (an optional as null, a map as
pairs). Before a conversation goes on elsewhere, its calls are put back into the servers' own shape and written in the
new provider's, so that the new model sees calls that it could have made itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolbridge.errors import UnknownToolError
from toolbridge.notes import Converted, Note
from toolbridge.prepare import PreparedTools
from toolbridge.stream.arguments import write_arguments
from toolbridge.types import EMPTY, Message, Part, ToolCall


def move_calls(
    messages: Iterable[Message], source: PreparedTools, target: PreparedTools
) -> Converted[tuple[Message, ...]]:
    """The history with every call of a tool of `source` spelt and shaped as `target` has it.

    A call of an unknown tool stays as it is; of a tool that the target leaves out, too, with a note.
    """
    notes: list[Note] = []
    moved: list[Message] = []
    for i, message in enumerate(messages):
        parts: list[Part] = []
        for j, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                part = _moved(part, source, target, f"/{i}/parts/{j}", notes)
            parts.append(part)
        moved.append(replace(message, parts=tuple(parts)))
    return Converted(tuple(moved), tuple(notes))


def _moved(call: ToolCall, source: PreparedTools, target: PreparedTools, path: str, notes: list[Note]) -> ToolCall:
    try:
        id = source.tool(call.name).id
    except UnknownToolError:
        return call
    try:
        name = target.wire_name(id)
    except UnknownToolError:
        notes.append(Note("call.left_out", "changed", path, call.name))
        return call
    if call.arguments is None:
        return replace(call, name=name)
    arguments = target.write_arguments(id, source.read_arguments(call.name, call.arguments))
    if name == call.name and arguments == call.arguments:
        return call
    notes.append(Note("call.moved", "changed", path, call.name))
    # What was signed is not what stands here any more.
    return replace(call, name=name, arguments=arguments, text=write_arguments(arguments), opaque=EMPTY)
