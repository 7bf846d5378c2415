"""The SOURCE of the commands that judge tools (`lint`, `lock`, `verify`, `tokens`): what it may be, and what is in it.

    FILE            a tools/list answer or a list of tools, as JSON; - is standard input
    mcp.json        servers: whatever client's configuration it is, told by what stands in it
    https://…       a server that runs already
    -- COMMAND …    a server that is started for the purpose
                    nothing: the mcp.json that is here, or with `--from` another client's

A file of tools is read without the SDK. A server of a configuration is taken from its last listing, as `tools` does,
unless somebody wants it fresh or wants to visit it. A command or an address that cannot be had raises `SourceError`, a
configuration without a single server to be had `ConfigError`: a line each, exit code 2. Where others are there, a
failed server is told by its `failure`, for `tell_failures`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import click

from toolbridge.cli.source import STANDARD_INPUT, read_document, tools_in
from toolbridge.errors import ConfigError, SourceError, ToolbridgeError
from toolbridge.types import NO_HINTS, Tool, ToolId

if TYPE_CHECKING:
    from toolbridge.cli.listing import Listed
    from toolbridge.failure import Failure
    from toolbridge.servers.hub import Hub
    from toolbridge.servers.spec import ServerSpec

Function = TypeVar("Function", bound=Callable[..., Any])

Kind: TypeAlias = Literal["file", "input", "command", "url", "config"]

Visit: TypeAlias = "Callable[[Hub], Awaitable[None]]"
"""What is done with the open hub, once every server is connected or has failed."""

WANTED = "give a file of tools or an mcp.json"

LONGEST_NAME = 80
"""Characters of the name that a server gives itself: it is a label here."""

RUNNERS = frozenset({"python", "python3", "py", "node", "npx", "bunx", "bun", "deno", "uv", "uvx", "pipx", "pnpm"})
"""Commands that start what stands in their arguments: a server is not called after them."""

_COMMAND = "toolbridge.command"


@dataclass(frozen=True, slots=True)
class Served:
    """What one server offers, or why it is not there."""

    name: str
    """A file's server has the name that was given for it, which may be none; a command's or an address's the one it
    gives itself; a configuration's the one it has there."""
    tools: tuple[Tool, ...] = ()
    """Also those that are hidden from models."""
    server_name: str | None = None
    server_version: str | None = None
    protocol: str | None = None
    instructions: str | None = None
    failure: Failure | None = None
    spec: ServerSpec | None = None
    """Its name is the one that a visited hub knows the server by."""


@dataclass(frozen=True, slots=True)
class Source:
    """All that was found in a SOURCE."""

    label: str
    """What messages call it."""
    kind: Kind
    served: tuple[Served, ...]
    text: str | None = None
    """What stands in the file, for the numbers of lines; in standard input too."""
    path: str | None = None
    disabled: tuple[str, ...] = ()
    """Servers of a configuration that nobody asks."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(tool for each in self.served for tool in each.tools)

    @property
    def failures(self) -> tuple[Failure, ...]:
        return tuple(each.failure for each in self.served if each.failure is not None)


def named_apart(sources: Sequence[Source]) -> list[Source]:
    """Sources that are looked at together, each server with a name of its own: one that has none is called after its
    file, with the directory where another file has that name too."""
    stems = Counter(_stem(each.label) for each in sources)
    taken: set[str] = set()
    named: list[Source] = []
    for source in sources:
        served: list[Served] = []
        for each in source.served:
            stem = _stem(source.label)
            folder = Path(source.label).parent.name if stems[stem] > 1 else ""
            name = each.name or (f"{folder}/{stem}" if folder else stem)
            name = next(free for free in chain([name], (f"{name} {i}" for i in count(2))) if free not in taken)
            taken.add(name)
            tools = tuple(replace(tool, id=ToolId(name, tool.id.name)) for tool in each.tools)
            served.append(replace(each, name=name, tools=tools))
        named.append(replace(source, served=tuple(served)))
    return named


def _stem(label: str) -> str:
    return Path(label).name.removesuffix(".json").removesuffix(".tools")


class SurfaceCommand(click.Command):
    """A command whose arguments after `--` are another program's: its options are none of ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_COMMAND] = args[:at], tuple(args[at + 1 :])
            if not ctx.meta[_COMMAND]:
                raise click.UsageError("nothing follows --; give the command that starts the server", ctx)
        return super().parse_args(ctx, args)


def surface_arguments(several: bool = False) -> Callable[[Function], Function]:
    """`[SOURCE]`, `--from` and `--server`: parameters `source` (with `several`, a tuple), `client` and `server`.

    For a command of the class `SurfaceCommand`; `given_command()` is what stands after `--`.
    """

    def decorate(function: Function) -> Function:
        for each in (
            click.option(
                "--server",
                metavar="NAME",
                help="The name of the server: names it, or picks it from a configuration.",
            ),
            click.option(
                "--from",
                "client",
                metavar="CLIENT",
                help="Use the servers of claude, claude-code, cursor, vscode, windsurf, codex, gemini, …",
            ),
            click.argument("source", metavar="[SOURCE... | -- COMMAND...]", nargs=-1)
            if several
            else click.argument("source", metavar="[SOURCE | -- COMMAND...]", required=False),
        ):
            function = each(function)
        return function

    return decorate


def given_command() -> tuple[str, ...]:
    """What stands after `--` on the command line that is being run."""
    found: tuple[str, ...] = click.get_current_context().meta.get(_COMMAND, ())
    return found


def read_surface(
    source: str | None = None,
    command: Sequence[str] = (),
    *,
    client: str | None = None,
    server: str | None = None,
    refresh: bool = False,
    visit: Visit | None = None,
) -> Source:
    """What is in a SOURCE. `visit` is called with the open hub; then nothing is taken from disk."""
    if sum((source is not None, bool(command), client is not None)) > 1:
        raise click.UsageError("a SOURCE, --from and a command after -- all say what to look at; give one of them")
    if command:
        return _from_command(command, server, visit)
    if source is None:
        return _from_config(None, client, server, refresh, visit)
    if source.lower().startswith(("http://", "https://")):
        return _from_url(source, server, visit)
    if source.lower().endswith(".toml"):
        return _from_config(source, None, server, refresh, visit)
    content = read_document(source, WANTED)
    if source != "-" and _holds_servers(content):
        return _from_config(source, None, server, refresh, visit)
    label = STANDARD_INPUT if source == "-" else source
    tools = tuple(tools_in(content, label, server or ""))
    _refuse_others(content, tools, label)
    text = _decoded(content)
    found = (Served(server or "", tools),)
    return Source(label, "input", found, text) if source == "-" else Source(label, "file", found, text, source)


def _refuse_others(content: bytes, tools: Sequence[Tool], where: str) -> None:
    """Raise for what can be read as tools and is plainly something else: a package.json, a list of people.

    A tools/list answer says itself what it is, and its broken tools are to be judged.
    """
    if not tools or any(each.problem is None and each.input_schema is not None for each in tools):
        return
    import json

    try:
        document: Any = json.loads(_decoded(content))
    except ValueError:  # one tool a line
        document = []
    answers: list[Any] = document if isinstance(document, list) else [document]
    if any(isinstance(each, dict) and ("tools" in each or "result" in each) for each in answers):
        return
    if isinstance(document, dict):
        keys = ", ".join(list(document)[:5])
        said = f"no tool: it has no schema{f', only {keys}' if keys else ''}"
    elif any(each.unread for each in tools) and not any(_speaks_of_itself(each) for each in tools):
        said = "no tools: no entry has a schema or a description"
    else:
        return
    raise SourceError(f"{where}: {said}; expected a tools/list answer or a list of tools")


def _speaks_of_itself(tool: Tool) -> bool:
    return bool(tool.description or tool.meta or tool.output_schema or tool.hints != NO_HINTS) or any(
        key in tool.unread for key in ("description", "annotations")
    )


def _decoded(content: bytes) -> str:
    import json

    return content.decode(json.detect_encoding(content), "replace").removeprefix("\ufeff")


def _text(file: Path) -> str | None:
    try:
        return _decoded(file.expanduser().read_bytes())
    except OSError:  # it is gone since it was read
        return None


def _from_here(file: Path) -> str:
    """A path as people write it who are here."""
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)


def _holds_servers(content: bytes) -> bool:
    """Whether a document is a configuration of servers: it has one of the sections, or is made of entries."""
    text = _decoded(content)
    if not any(word in text for word in ("ervers", '"mcp"', '"command"', 'rl"')):
        return False
    from toolbridge.servers.document import DocumentError, read_json
    from toolbridge.servers.keys import folded, is_server
    from toolbridge.servers.shapes import SECTIONS

    try:
        document = read_json(content)
    except DocumentError:
        # Broken JSON is told by whoever it was meant for; a tool list has no such sections.
        return any(f'"{each}"' in text for each in SECTIONS) and '"tools"' not in text
    if not isinstance(document, dict) or "tools" in document or "inputSchema" in document:
        return False
    sections = {folded(each) for each in SECTIONS}
    if any(folded(str(key)) in sections for key in document):
        return True
    if any(isinstance(document.get(key), dict) for key in ("mcp", "projects")):
        return True
    return is_server(document) or (bool(document) and all(is_server(each) for each in document.values()))


def _from_command(command: Sequence[str], server: str | None, visit: Visit | None) -> Source:
    """The user's own environment goes to a command that the user typed, as it would without us."""
    from toolbridge.servers.secrets import redact, secret_values
    from toolbridge.servers.spec import ServerSpec

    program, *arguments = command
    spec = ServerSpec(server or _called(command), command=program, args=tuple(arguments), inherit="all")
    spec = replace(spec, secrets=secret_values(spec))
    label = redact(" ".join(command), spec.secrets)
    return Source(label, "command", (_one(spec, server, visit),))


def _called(command: Sequence[str]) -> str:
    """A name for a server that has not said its own: the script or the package, else the program."""
    if {"-c", "-e"} & {*command}:  # the program is in the command line itself
        command = command[:1]
    program, *arguments = [each.replace("\\", "/").rstrip("/").rpartition("/")[2] for each in command]
    if program.lower().removesuffix(".exe") in RUNNERS:
        words = [each for each in arguments if each and not each.startswith("-") and each not in ("run", "tool", "x")]
        program = words[0] if words else program
    return _label(program.removesuffix(".exe").removesuffix(".py").removesuffix(".js")) or "server"


def _from_url(url: str, server: str | None, visit: Visit | None) -> Source:
    from urllib.parse import urlsplit

    from toolbridge.servers.config import read_config
    from toolbridge.servers.secrets import shown_url

    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    if not host:
        raise SourceError(f"{shown_url(url)}: no address; expected one such as https://host/mcp")
    spec = read_config({"mcpServers": {server or _label(host) or "server": {"url": url}}})[0]
    return Source(shown_url(url), "url", (_one(spec, server, visit),))


def _one(spec: ServerSpec, server: str | None, visit: Visit | None) -> Served:
    """The one server that was asked for; raises where it is not there."""
    listed = _asked([spec], visit)[0]
    if listed.failure is not None:
        raise SourceError(str(listed.failure))
    return _served(listed, server or _label(listed.server_name or "") or spec.name)


def _label(name: str) -> str:
    """A name that a server gave itself, fit to be one: whatever it says elsewhere is looked at elsewhere."""
    return "".join(each for each in name if each.isprintable()).strip()[:LONGEST_NAME]


def _from_config(
    file: str | None, client: str | None, server: str | None, refresh: bool, visit: Visit | None
) -> Source:
    from toolbridge.cli.servers import chosen, config_files, read_servers

    found = config_files(file, client)[0]
    label = _from_here(found)
    wanted = chosen(read_servers(file, client), [] if server is None else [server])
    # What is looked at is what the servers offer, whatever of it their lock lets through.
    specs = [replace(each, locked=False) for each in wanted if not each.disabled]
    if not specs:
        names = ", ".join(repr(each.name) for each in wanted)
        raise ToolbridgeError(f"{label}: {names}: disabled there; take that out to look at it")
    served = tuple(_served(each, each.spec.name) for each in _listed(specs, refresh, visit))
    disabled = tuple(each.name for each in wanted if each.disabled)
    source = Source(label, "config", served, _text(found), label, disabled)
    if len(source.failures) == len(served):
        raise ConfigError(str(each) for each in source.failures)
    return source


def _listed(specs: list[ServerSpec], refresh: bool, visit: Visit | None) -> list[Listed]:
    from toolbridge.cli.listing import Listed, list_servers
    from toolbridge.servers.spec import mistake

    if visit is None:
        return list_servers(specs, refresh=refresh)
    sound = [each for each in specs if each.problem is None]
    found = {each.spec.name: each for each in (_asked(sound, visit) if sound else [])}
    return [found.get(each.name) or Listed(each, "failed", failure=mistake(each)) for each in specs]


def _asked(specs: list[ServerSpec], visit: Visit | None) -> list[Listed]:
    """What servers list now; whoever visits them does so before they are closed."""
    from toolbridge.cli import live
    from toolbridge.cli.asking import servers_open
    from toolbridge.cli.listing import from_hub
    from toolbridge.cli.progress import Line, ticking

    async def work() -> list[Listed]:
        line = Line(sys.stderr)
        async with servers_open(specs, line) as hub:
            found = [from_hub(each, hub, hub.all_tools) for each in specs]
            if visit is not None and any(each.failure is None for each in found):
                async with ticking(line, lambda seconds: f"asking the servers … {int(seconds)} s"):
                    await visit(hub)
            return found

    return live.run(work)


def _served(listed: Listed, name: str) -> Served:
    return Served(
        name,
        tuple(replace(each, id=ToolId(name, each.id.name)) for each in listed.tools),
        listed.server_name,
        listed.server_version,
        listed.protocol,
        listed.instructions,
        listed.failure,
        listed.spec,
    )
