"""`toolbridge replay`: what is in a recorded stream, reply or history, and what another provider would be sent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolbridge.notes import Note
    from toolbridge.prepare import PreparedTools
    from toolbridge.providers import Provider
    from toolbridge.recorded import Recording
    from toolbridge.types import BoundCall, Message, ToolCall, ToolResult

BROKEN = 1
"""The exit code where something could not be read, or where a call cannot be run."""

MOST_TOLD = 50
"""Lines on stderr about what is wrong; the others are counted."""


@click.command("replay", short_help="Say what is in a recorded stream, reply or history.")
@click.argument("recording", metavar="FILE")
@click.option(
    "--from",
    "source",
    metavar="PROVIDER",
    required=True,
    help="Whose form it is in; 'toolbridge providers' lists them.",
)
@click.option("--to", "target", metavar="PROVIDER", help="Write the conversation for a provider's request, as JSON.")
@click.option("--model", metavar="NAME", default="", help="The model that --to is for, where models differ.")
@click.option("--tools", metavar="FILE", help="The tools that were offered, as JSON: every call is held against them.")
@click.option("--server", metavar="NAME", default="", help="The server of these tools, spelt mcp__NAME__tool.")
@click.option("--text-calls", is_flag=True, help="Also read calls that the model wrote into its text.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object for programs: the calls, the text, how it ended, the notes.",
)
def command(
    recording: str,
    source: str,
    target: str | None,
    model: str,
    tools: str | None,
    server: str,
    text_calls: bool,
    as_json: bool,
) -> int:
    """Say what is in FILE, which a provider sent or was sent.

    FILE is a recorded stream (server-sent events, chunks as JSON lines or as a list), a whole reply, a
    request body or its messages, or a history that toolbridge wrote; - is standard input. Which of them it
    is, is told by its content. HTTP headers and the remarks of 'curl -v' may stand in front.

    What could not be read, and calls that cannot be run, are named on stderr, and the exit code is 1. With
    --to, the request fields are on stdout, and all the rest is on stderr.

    \b
    Examples:
      toolbridge replay reply.sse --from anthropic --tools tools.json
      curl -sN … | toolbridge replay - --from openai-chat
      toolbridge replay request.json --from openai-chat --to gemini
      toolbridge replay reply.sse --from gemini --json | jq '.calls[].name'

    \b
    Exit codes:
      0  all of it was read, and every call can be run
      1  something could not be read, or a call cannot be run
      2  misuse: no such provider, a file that is none of these
    """
    from toolbridge.cli.document import write_json
    from toolbridge.providers import get_provider

    chosen = get_provider(source)  # a wrong name is told before a file is read
    wanted = None if target is None else get_provider(target)
    if recording == "-" and tools == "-":
        raise click.UsageError("standard input can be read only once; give a file for FILE or for --tools")
    offered = None if tools is None else _Offered(tools, server, chosen, wanted)
    played = _Replay(chosen, _read(recording, chosen, offered, text_calls), offered)
    written = None if wanted is None else _Written(wanted, played, model)
    if as_json:
        write_json(played.fields() | ({} if written is None else written.document()))
    elif written is None:
        print("\n".join(played.lines()), flush=True)
    else:
        write_json(written.fields, indented=True)
        print("\n".join([*played.lines(briefly=True), *written.lines()]), file=sys.stderr, flush=True)
    return played.told()


def _read(file: str, provider: Provider, offered: _Offered | None, text_calls: bool) -> Recording:
    from toolbridge.cli.source import STANDARD_INPUT, read_bytes
    from toolbridge.errors import HistoryError
    from toolbridge.recorded import read_recording

    data = read_bytes(file, "give a recorded stream, reply or history")
    names = None if not text_calls else () if offered is None else offered.names
    try:
        return read_recording(data, provider, text_calls=names)
    except HistoryError as failure:
        message = str(failure)
        hint = "" if "; " in message else "; expected a stream, a reply or a history"
        raise HistoryError(f"{STANDARD_INPUT if file == '-' else file}: {message}{hint}") from None


class _Offered:
    """The tools that the model was offered, and how they would be offered elsewhere."""

    def __init__(self, file: str, server: str, provider: Provider, target: Provider | None) -> None:
        from toolbridge.cli.source import read_source
        from toolbridge.prepare import prepare

        tools = read_source(file, server)
        self.ready: PreparedTools = prepare(tools, provider)
        self.elsewhere: PreparedTools | None = None if target is None else prepare(tools, target)

    @property
    def names(self) -> list[str]:
        return [self.ready.wire_name(each.id) for each in self.ready.tools]


class _Replay:
    """A recording, with its calls held against the tools where there are some."""

    def __init__(self, provider: Provider, recording: Recording, offered: _Offered | None) -> None:
        from toolbridge.types import ToolCall

        self.provider = provider
        self.recording = recording
        self.offered = offered
        self.calls: list[tuple[int, int, ToolCall]] = [
            (i, j, part)
            for i, message in enumerate(recording.messages)
            for j, part in enumerate(message.parts)
            if isinstance(part, ToolCall)
        ]
        self.resolved: dict[tuple[int, int], BoundCall | ToolResult] = (
            {} if offered is None else {(i, j): offered.ready.resolve(call) for i, j, call in self.calls}
        )

    def problem(self, i: int, j: int, call: ToolCall) -> str | None:
        """Why a call cannot be run."""
        from toolbridge.types import ToolResult

        resolved = self.resolved.get((i, j))
        return call.problem or (resolved.text if isinstance(resolved, ToolResult) else None)

    def problems(self) -> Iterator[str]:
        """What could not be read, and which calls cannot be run: a line each."""
        from toolbridge.cli.words import before
        from toolbridge.meanings import meaning

        reply = self.recording.reply
        if reply is not None and reply.error is not None:
            yield f"the provider reports an error: {reply.error}"
        for note in self.recording.notes:
            if note.effect == "narrowed" and not note.code.endswith((".dropped", ".ignored")):  # read, without a place
                was = before(note)
                yield f"{note.code}: {meaning(note.code)}" + (f": {was}" if was else "")
        for i, j, call in self.calls:
            problem = self.problem(i, j, call)
            if problem is not None:
                yield f"call {call.id} of {call.name or '(no name)'}: {problem}"

    def told(self) -> int:
        """Say on stderr what is wrong; the exit code."""
        from toolbridge.cli.paragraph import one_line

        found = list(self.problems())
        for each in found[:MOST_TOLD]:
            print(f"toolbridge: {one_line(each)}", file=sys.stderr)
        if len(found) > MOST_TOLD:
            print(f"toolbridge: … and {len(found) - MOST_TOLD:,} more", file=sys.stderr)
        return BROKEN if found else 0

    def lines(self, briefly: bool = False) -> list[str]:
        """For people; `briefly` without what was said."""
        from toolbridge.cli.terminal import Paint, columns
        from toolbridge.cli.transcript import Transcript

        paint = Paint(sys.stderr if briefly else sys.stdout)
        return Transcript(self.provider.name, self.recording, self.resolved, columns(), paint).lines(briefly)

    def fields(self) -> dict[str, Any]:
        """For programs."""
        from dataclasses import asdict

        from toolbridge.cli.document import note_fields
        from toolbridge.history.document import write_history

        reply = self.recording.reply
        return {
            "kind": self.recording.kind,
            "provider": self.provider.name,
            "id": reply and reply.id,
            "model": reply and reply.message.model,
            "text": reply and reply.text,
            "calls": [self._call_fields(i, j, call) for i, j, call in self.calls],
            "finish": reply and reply.finish,
            "raw_finish": reply and reply.raw_finish,
            "usage": reply and reply.usage and asdict(reply.usage),
            "error": reply and reply.error,
            "notes": [note_fields(each) for each in self.recording.notes],
            "messages": write_history(self.recording.messages)["messages"],
        }

    def _call_fields(self, i: int, j: int, call: ToolCall) -> dict[str, Any]:
        from toolbridge.cli.document import note_fields
        from toolbridge.types import BoundCall

        fields: dict[str, Any] = {
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "text": call.text,
            "problem": call.problem,
        }
        match self.resolved.get((i, j)):
            case None:
                return fields
            case BoundCall() as bound:
                notes = [note_fields(each) for each in bound.notes]
                return {
                    **fields,
                    "resolved": {"tool": str(bound.tool.id), "arguments": bound.arguments, "notes": notes},
                }
            case refused:
                return {**fields, "resolved": {"error": refused.text}}


class _Written:
    """The conversation as another provider's request fields."""

    def __init__(self, provider: Provider, played: _Replay, model: str) -> None:
        from toolbridge.moving import move_calls

        messages: tuple[Message, ...] = played.recording.messages
        moves: tuple[Note, ...] = ()
        if played.offered is not None and played.offered.elsewhere is not None:
            moved = move_calls(messages, played.offered.ready, played.offered.elsewhere)
            messages, moves = moved.value, moved.notes
        written = provider.write_messages(messages, model=model)
        self.provider = provider
        self.fields = _textual(written.value)
        self.notes: tuple[Note, ...] = (*moves, *written.notes)

    def document(self) -> dict[str, Any]:
        from toolbridge.cli.document import note_fields

        return {"to": self.provider.name, "fields": self.fields, "changes": [note_fields(each) for each in self.notes]}

    def lines(self) -> list[str]:
        from toolbridge.cli.terminal import Paint
        from toolbridge.cli.transcript import note_lines

        found = note_lines(self.notes, f"changed for {self.provider.name}", Paint(sys.stderr))
        return ["", *found] if found else []


def _textual(value: Any) -> Any:
    """The value with bytes as base64 text, as a request in JSON has them."""
    from base64 import b64encode

    if isinstance(value, dict):
        return {key: _textual(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_textual(each) for each in value]
    return b64encode(value).decode("ascii") if isinstance(value, bytes | bytearray) else value
