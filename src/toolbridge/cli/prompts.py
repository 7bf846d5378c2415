"""`toolbridge prompts`: the prompts that the servers have, and one of them filled in."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.servers import server_options

if TYPE_CHECKING:
    from toolbridge.cli.terminal import Paint
    from toolbridge.failure import Failure
    from toolbridge.servers.hub import Hub
    from toolbridge.servers.spec import ServerSpec
    from toolbridge.types import PromptArgument, PromptMessage, ServerPrompt, Tool

FAILED = 1
"""The exit code where some server could not be asked, or did not give what was asked for."""


@click.command("prompts", short_help="List the prompts of your MCP servers, or get one.")
@click.argument("server", metavar="[SERVER]", required=False)
@click.argument("name", metavar="[NAME]", required=False)
@click.argument("arguments", metavar="[KEY=VALUE]...", nargs=-1)
@server_options
@click.option("--json", "as_json", is_flag=True, help="JSON for programs.")
def command(
    server: str | None,
    name: str | None,
    arguments: tuple[str, ...],
    config: str | None,
    client: str | None,
    as_json: bool,
) -> int:
    """List the prompts of all servers or of one; with NAME, get that prompt, filled in.

    What a prompt takes is listed with it; an optional argument has a question mark. key=@FILE takes the
    text of a file.

    \b
    Examples:
      toolbridge prompts
      toolbridge prompts docs
      toolbridge prompts docs summarise topic=bridges
      toolbridge prompts docs review code=@main.py --json

    \b
    Exit codes:
      0  listed, or got
      1  some server could not be asked, or did not give what was asked for
      2  misuse
    """
    from toolbridge.cli.offers import list_offers
    from toolbridge.cli.servers import chosen, read_servers, the_server

    specs = read_servers(config, client)
    if name is None or server is None:
        wanted = chosen(specs, [server] if server else [])
        return list_offers(wanted, "prompts", lambda hub, name: hub.prompts(name), _fields, _table, as_json=as_json)
    return _get(the_server(specs, server), name, arguments, as_json)


# ── listing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _fields(prompt: ServerPrompt) -> dict[str, Any]:
    return {
        "name": prompt.name,
        "title": prompt.title,
        "description": prompt.description,
        "arguments": [
            {"name": each.name, "description": each.description, "required": each.required} for each in prompt.arguments
        ],
    }


def _table(found: Mapping[str, Sequence[ServerPrompt] | Failure], width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.paragraph import one_line
    from toolbridge.cli.words import counted
    from toolbridge.failure import Failure

    lines: list[str] = []
    none: list[str] = []
    for server, prompts in found.items():
        if isinstance(prompts, Failure):
            continue
        if not prompts:
            none.append(one_line(server))
            continue
        lines += [""] if lines else []
        lines.append(f"{paint(one_line(server), 'bold')}  {paint(counted(len(prompts), 'prompt'), 'dim')}")
        for each in prompts:
            lines += _prompt(each, width, paint)
    if none:
        lines += [""] if lines else []
        lines.append(paint(f"no prompts: {', '.join(none)}", "dim"))
    return lines


def _prompt(prompt: ServerPrompt, width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.paragraph import first_sentence, folded, one_line
    from toolbridge.cli.terminal import cells

    name = one_line(prompt.name)
    takes = ", ".join(_taken(each) for each in sorted(prompt.arguments, key=lambda each: not each.required))
    first, *more = folded(takes, width - 4 - cells(name)) or [""]
    lines = [f"  {paint(name, 'bold')}  {paint(first, 'cyan')}".rstrip()]
    lines += [" " * (4 + cells(name)) + paint(each, "cyan") for each in more]
    about = first_sentence(prompt.description or prompt.title or "")
    lines += [paint(f"    {each}", "dim") for each in folded(about, width - 4, 3)]
    for each in prompt.arguments:
        if each.description:
            text = f"{one_line(each.name)}: {first_sentence(each.description)}"
            lines += [paint(f"      {part}", "dim") for part in folded(text, width - 6, 3)]
    return lines


def _taken(argument: PromptArgument) -> str:
    from toolbridge.cli.paragraph import one_line

    return one_line(argument.name) + ("" if argument.required else "?")


# ── getting ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _get(spec: ServerSpec, name: str, words: Sequence[str], as_json: bool) -> int:
    from toolbridge.cli.arguments import read_arguments
    from toolbridge.cli.asking import ask_each
    from toolbridge.cli.failures import tell_failures
    from toolbridge.failure import Failure

    async def question(hub: Hub, server: str) -> Sequence[PromptMessage]:
        given = read_arguments(words, _as_tool(await hub.prompts(server), server, name))
        return await hub.get_prompt(server, name, given)

    found = ask_each([spec], question, "getting the prompt")[spec.name]
    if isinstance(found, Failure):
        tell_failures([found], refusal="'toolbridge prompts {}' lists what there is")
        return FAILED
    if as_json:
        from toolbridge.cli.blocks import block_fields
        from toolbridge.cli.document import write_json

        write_json({"messages": [{"role": each.role, "content": block_fields(each.content)} for each in found]})
        return 0
    _show(found, spec.name, name)
    return 0


def _as_tool(prompts: Sequence[ServerPrompt], server: str, name: str) -> Tool:
    """A prompt as something that takes arguments: texts, all of them."""
    from toolbridge.errors import ToolbridgeError, nearest
    from toolbridge.types import Tool, ToolId

    for each in prompts:
        if each.name == name:
            schema = {
                "type": "object",
                "properties": {
                    one.name: {"type": "string", "description": one.description or ""} for one in each.arguments
                },
                "required": [one.name for one in each.arguments if one.required],
                "additionalProperties": False,
            }
            return Tool(ToolId(server, name), each.description or "", schema)
    meant = nearest(name, [each.name for each in prompts])
    hint = f"did you mean {meant!r}?" if meant else f"'toolbridge prompts {server}' lists them"
    raise ToolbridgeError(f"unknown prompt {name!r} of server {server!r}; {hint}")


def _show(messages: Sequence[PromptMessage], server: str, name: str) -> None:
    from toolbridge.cli.blocks import Shelf, block_lines, print_lines
    from toolbridge.cli.terminal import Paint

    paint = Paint(sys.stdout)
    shelf = Shelf(Path(), name)
    lines: list[str] = []
    for each in messages:
        lines += [""] if lines else []
        lines += [paint(f"{each.role}:", "bold"), *block_lines(each.content, server, shelf, paint)]
    print_lines(lines or [paint("(no messages)", "dim")])
