"""`toolbridge convert`: the tools of a server as a provider's definitions, on stdout; what changed, on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from toolbridge.cli.terminal import Paint
    from toolbridge.notes import Note
    from toolbridge.prepare import PreparedTools
    from toolbridge.types import ToolId

LEFT_OUT = 1
"""The exit code where the definitions are good but not all tools are among them."""


@click.command("convert", short_help="Write tools in the form that a provider accepts.")
@click.argument("file", metavar="FILE")
@click.option(
    "--to", "provider", metavar="PROVIDER", required=True, help="The provider; 'toolbridge providers' lists them."
)
@click.option(
    "--strict/--no-strict",
    default=None,
    help="Strict definitions wherever there are such, or none. By default, where nothing is lost by it.",
)
@click.option("--explain", is_flag=True, help="Say on stderr everything that had to change, and why.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="One JSON object for programs: the definitions, the notes, the tools left out and the strict ones.",
)
@click.option("--server", metavar="NAME", default="", help="The server's name: its tools are spelt mcp__NAME__tool.")
@click.option("--describe-values", is_flag=True, help="Say defaults and enums in the descriptions as well.")
@click.option("--flatten", is_flag=True, help="Lift nested objects to the top level, for small models.")
@click.option(
    "--description-limit", metavar="N", type=click.IntRange(min=1), help="Shorten descriptions to N characters."
)
def command(
    file: str,
    provider: str,
    strict: bool | None,
    explain: bool,
    as_json: bool,
    server: str,
    describe_values: bool,
    flatten: bool,
    description_limit: int | None,
) -> int:
    """Write the tools in FILE as the definitions of a provider.

    FILE is what an MCP server answers to tools/list, or a plain list of tools, as JSON; - is standard
    input. The definitions are one JSON list on stdout, ready for the request. A tool that the provider
    cannot express is left out, named on stderr, and the exit code is 1. A tool that its server keeps from
    models (private, by its _meta) is not among the definitions either; stderr counts those.

    \b
    Examples:
      toolbridge convert tools.json --to anthropic
      toolbridge convert tools.json --to openai-chat --strict --explain
      jq '.tools[:5]' tools.json | toolbridge convert - --to gemini

    \b
    What the notes of --explain mean:
      widened   the definition allows more than the server; calls are checked
                before they are sent
      narrowed  the definition allows less than the server; some calls can no
                longer be made
      changed   written in another form; calls are put back into the server's
                own form

    \b
    Exit codes:
      0  every tool is among the definitions
      1  the definitions are good, and some tools were left out
      2  misuse: no such provider, a file that is no tool list
    """
    from toolbridge.cli.document import write_json
    from toolbridge.cli.source import read_source
    from toolbridge.cli.terminal import Paint
    from toolbridge.prepare import prepare
    from toolbridge.providers import get_provider

    chosen = get_provider(provider)  # a wrong name is told before the file is read
    ready = prepare(
        read_source(file, server),
        chosen,
        strict,
        describe_values=describe_values,
        flatten=flatten,
        description_limit=description_limit,
    )
    if as_json:
        write_json(_document(ready))
    else:
        write_json(ready.definitions, indented=True)
    told = _explained(ready, Paint(sys.stderr)) if explain else [] if as_json else _summed_up(ready)
    for line in told:
        print(line, file=sys.stderr)
    return LEFT_OUT if failures(ready) else 0


def failures(ready: PreparedTools) -> dict[ToolId, str]:
    """The tools left out that the provider cannot express. That a private one is no model's business is no failure."""
    private = set(ready.private)
    return {id: why for id, why in ready.left_out.items() if id not in private}


def _document(ready: PreparedTools) -> dict[str, Any]:
    from toolbridge.cli.document import note_fields

    return {
        "provider": ready.provider.name,
        "definitions": ready.definitions,
        "notes": {str(id): [note_fields(each) for each in notes] for id, notes in ready.notes.items()},
        "left_out": {str(id): why for id, why in failures(ready).items()},
        "private": [str(each) for each in ready.private],
        "strict": [str(each.id) for each in ready.tools if ready.is_strict(each.id)],
    }


def _summed_up(ready: PreparedTools) -> list[str]:
    """One line, and one for each tool that was left out; nothing where there is nothing to say."""
    from toolbridge.cli.terminal import shown
    from toolbridge.cli.words import counted

    changed = sum(1 for notes in ready.notes.values() if notes)
    if not changed and not ready.left_out:
        return []
    line = counted(len(ready.tools) + len(ready.left_out), "tool")
    failed = failures(ready)
    if changed:
        line += f", {changed:,} changed"
    if failed:
        line += f", {len(failed):,} left out"
    if ready.private:
        line += f", {len(ready.private):,} private and not for models"
    if changed:
        line += "; --explain says how"
    return [line, *(shown(f"left out: {id}: {why}") for id, why in failed.items())]


def _explained(ready: PreparedTools, paint: Paint) -> list[str]:
    """Every note, by tool and by code, in words; then what the effects mean."""
    from toolbridge.cli.terminal import shown
    from toolbridge.cli.words import counted
    from toolbridge.meanings import EFFECTS

    lines: list[str] = []
    effects: set[str] = set()
    exact = 0
    for id, notes in ready.notes.items():
        if not notes:
            exact += 1
            continue
        effects |= {each.effect for each in notes}
        name = ready.wire_name(id)
        head = paint(shown(str(id)), "bold") + (f" → {shown(name)}" if name != id.name else "")
        strict = " (strict)" if ready.is_strict(id) else ""
        lines += [f"{head}{strict}: {counted(len(notes), 'change')}", *_by_code(notes, paint), ""]
    failed = failures(ready)
    for id, why in ready.left_out.items():
        told = f"{paint('left out', 'red')}: {shown(why)}" if id in failed else shown(why)
        lines += [f"{paint(shown(str(id)), 'bold')}: {told}", ""]
    count = counted(len(ready.tools) + len(ready.left_out), "tool")
    changed = len(ready.tools) - exact
    sums = f"{exact:,} exact, {changed:,} changed, {len(failed):,} left out"
    sums += f", {len(ready.private):,} private" if ready.private else ""
    lines.append(f"{count} for {ready.provider.name}: {sums}")
    lines += [f"  {effect:<8}  {text}" for effect, text in EFFECTS.items() if effect in effects]
    return lines


def _by_code(notes: tuple[Note, ...], paint: Paint) -> list[str]:
    from toolbridge.cli.terminal import shown
    from toolbridge.cli.words import before
    from toolbridge.meanings import meaning

    grouped: dict[tuple[str, str], list[Note]] = {}
    for each in notes:
        grouped.setdefault((each.code, each.effect), []).append(each)
    lines: list[str] = []
    for (code, effect), same in grouped.items():
        lines.append(f"  {paint(shown(code), 'cyan')} ({effect}): {shown(meaning(code))}")
        for each in same:
            was = before(each)
            lines.append(f"    {shown(each.path or '/')}" + (paint(shown(f"  was {was}"), "dim") if was else ""))
    return lines
