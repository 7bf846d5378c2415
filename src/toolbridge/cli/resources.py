"""`toolbridge resources`: what the servers have to read, and one of them read."""

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
    from toolbridge.servers.spec import ServerSpec
    from toolbridge.types import Content, ServerResource

FAILED = 1
"""The exit code where some server could not be asked, or did not give what was asked for."""


@click.command("resources", short_help="List the resources of your MCP servers, or read one.")
@click.argument("server", metavar="[SERVER]", required=False)
@click.argument("uri", metavar="[URI]", required=False)
@server_options
@click.option("--json", "as_json", is_flag=True, help="JSON for programs.")
@click.option(
    "--output",
    metavar="FILE",
    help="Write what is read into this file, or under its own name into this directory; - is stdout.",
)
def command(
    server: str | None, uri: str | None, config: str | None, client: str | None, as_json: bool, output: str | None
) -> int:
    """List the resources of all servers or of one; with URI, read that resource.

    Text goes to stdout, with what could steer the terminal written as escapes. What is no text is saved
    under its own name, never over a file that is there, and named. --output writes either exactly as it
    is. An address with {names} in it is a template: fill them in to read it.

    \b
    Examples:
      toolbridge resources
      toolbridge resources docs
      toolbridge resources docs docs://readme
      toolbridge resources docs docs://logo.png --output - > logo.png

    \b
    Exit codes:
      0  listed, or read
      1  some server could not be asked, or did not give what was asked for
      2  misuse
    """
    from toolbridge.cli.offers import list_offers
    from toolbridge.cli.servers import chosen, read_servers, the_server

    specs = read_servers(config, client)
    if uri is None or server is None:
        if output is not None:
            raise click.UsageError("--output is for one resource; give SERVER and URI as well")
        wanted = chosen(specs, [server] if server else [])
        return list_offers(wanted, "resources", lambda hub, name: hub.resources(name), _fields, _table, as_json=as_json)
    if as_json and output is not None:
        raise click.UsageError("--json and --output are two ways to have a resource; give one of them")
    return _read(the_server(specs, server), uri, as_json, output)


# ── listing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _fields(resource: ServerResource) -> dict[str, Any]:
    return {
        "uriTemplate" if resource.template else "uri": resource.uri,
        "name": resource.name,
        "title": resource.title,
        "description": resource.description,
        "mimeType": resource.mime_type,
        "size": resource.size,
    }


def _table(found: Mapping[str, Sequence[ServerResource] | Failure], width: int, paint: Paint) -> list[str]:
    from toolbridge.cli.paragraph import one_line
    from toolbridge.cli.words import counted
    from toolbridge.failure import Failure

    lines: list[str] = []
    none: list[str] = []
    for server, resources in found.items():
        if isinstance(resources, Failure):
            continue
        if not resources:
            none.append(one_line(server))
            continue
        templates = sum(each.template for each in resources)
        count = counted(len(resources) - templates, "resource")
        count += f", {counted(templates, 'template')}" if templates else ""
        lines += [""] if lines else []
        lines.append(f"{paint(one_line(server), 'bold')}  {paint(count, 'dim')}")
        for each in resources:
            lines += _resource(each, width, paint)
    if none:
        lines += [""] if lines else []
        lines.append(paint(f"no resources: {', '.join(none)}", "dim"))
    return lines


def _resource(resource: ServerResource, width: int, paint: Paint) -> list[str]:
    """The address on a line of its own, since it is to be copied whole; below it what it is."""
    from toolbridge.cli.media import sized
    from toolbridge.cli.paragraph import first_sentence, folded, one_line

    head = "  " + (paint("template ", "yellow") if resource.template else "") + paint(one_line(resource.uri), "cyan")
    about = [resource.title or resource.name, resource.mime_type or ""]
    about += [sized(resource.size)] if resource.size is not None else []
    text = ", ".join(one_line(each) for each in about if each)
    if resource.description:
        text += f". {first_sentence(resource.description)}" if text else first_sentence(resource.description)
    return [head, *(paint(f"    {each}", "dim") for each in folded(text, width - 4, 3))]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(spec: ServerSpec, uri: str, as_json: bool, output: str | None) -> int:
    from toolbridge.cli.asking import ask_each
    from toolbridge.cli.failures import tell_failures
    from toolbridge.failure import Failure

    found = ask_each([spec], lambda hub, name: hub.read_resource(name, uri), "reading")[spec.name]
    if isinstance(found, Failure):
        tell_failures([found], refusal="'toolbridge resources {}' lists what there is")
        return FAILED
    if as_json:
        from toolbridge.cli.blocks import resource_fields
        from toolbridge.cli.document import write_json
        from toolbridge.types import Resource

        write_json({"contents": [resource_fields(each, None) for each in found if isinstance(each, Resource)]})
    elif output is not None:
        _write(found, uri, output)
    else:
        _show(found, spec.name)
    return 0


def _show(found: Sequence[Content], server: str) -> None:
    from toolbridge.cli.blocks import Shelf, block_lines, print_lines
    from toolbridge.cli.paragraph import harmless
    from toolbridge.cli.terminal import Paint
    from toolbridge.types import Resource

    paint = Paint(sys.stdout)
    for each in found:
        if isinstance(each, Resource) and each.text is not None and len(found) == 1:
            text = harmless(each.text)
            print(text, end="" if text.endswith("\n") else "\n", flush=True)
        else:
            print_lines(block_lines(each, server, Shelf(Path(), "resource"), paint))
    if not found:
        print("the server sent nothing for it", file=sys.stderr)


def _write(found: Sequence[Content], uri: str, output: str) -> None:
    """What was read, byte for byte."""
    from toolbridge.cli.media import decoded, save, sized, uri_name
    from toolbridge.errors import ToolbridgeError
    from toolbridge.types import Resource

    parts = [each for each in found if isinstance(each, Resource)]
    contents = [
        each.text.encode("utf-8", "surrogatepass") if each.text is not None else decoded(each.blob or "", each.uri)
        for each in parts
    ]
    if output == "-":
        sys.stdout.flush()
        for content in contents:
            sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    target = Path(output)
    if target.is_dir():
        for part, content in zip(parts, contents, strict=True):
            path = save(content, target, uri_name(part.uri or uri), part.mime_type)
            print(f"{sized(len(content))}, saved as {path}", file=sys.stderr)
        return
    try:
        target.write_bytes(b"".join(contents))
    except OSError as failure:
        why = (failure.strerror or str(failure)).lower()
        raise ToolbridgeError(f"{output}: {why}; --output names another file") from None
