"""What can stand at the cursor: the values of options and arguments that are known without asking anybody.

A table of parameters and what completes them, and the few functions that it names. They read the tables of the library,
the configuration, and what servers listed last, as it lies on disk: a key press starts no server and loads no SDK. How
a shell asks, and how it is answered, is `completion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

if TYPE_CHECKING:
    from toolbridge.cli.signature import Parameter
    from toolbridge.servers.spec import ServerSpec
    from toolbridge.types import Tool

Known = Iterable[tuple[str, str]]
"""Values, each with a few words about it."""

Source = Callable[[click.Context, str], Known]
"""Finds values by what is on the line already; the text is what is typed of this one."""


class Completed(StringParamType):
    """A text, completed by a source."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [
            CompletionItem(value, help=about)
            for value, about in self.source(ctx, incomplete)
            if value.startswith(incomplete)
        ]


class Files(StringParamType):
    """A text that names a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [CompletionItem(incomplete, type="file")]


def made_completable(command: click.Command, path: str) -> click.Command:
    """The command, with every parameter of the tables below completed by them."""
    for parameter in command.params:
        source = SOURCES.get((path, parameter.name or ""))
        if source is not None:
            parameter.type = Completed(source)
        elif (path, parameter.name) in FILES:
            parameter.type = Files()
    for name, inner in getattr(command, "commands", {}).items():
        made_completable(inner, f"{path} {name}")
    return command


# ── what the library knows ───────────────────────────────────────────────────────────────────────────────────────


def _providers(ctx: click.Context, typed: str) -> Known:
    from toolbridge.providers import providers

    return [(each.name, each.title) for each in providers().values()]


def _clients(ctx: click.Context, typed: str) -> Known:
    from toolbridge.servers.found import CLIENTS

    return [(name, client.title) for name, client in CLIENTS.items()]


def _rules(ctx: click.Context, typed: str) -> Known:
    from toolbridge.lint.table import rules

    known = rules()
    groups = dict.fromkeys(id.partition(".")[0] for id in known)
    return [*((each, "all rules of the group") for each in groups), *((id, each.summary) for id, each in known.items())]


def _weights(ctx: click.Context, typed: str) -> Known:
    from toolbridge.local.weights import WEIGHTS

    return [(each.name, each.title) for each in WEIGHTS]


def _models(ctx: click.Context, typed: str) -> Known:
    from toolbridge.cli.chat_models import mentions

    return [
        *((each, "the vendor's default") for each in mentions()),
        *((f"local/{name}", title) for name, title in _weights(ctx, typed)),
    ]


def _several(source: Source, *more: str) -> Source:
    """Values with commas between them: the last one is completed, and none is offered twice."""

    def found(ctx: click.Context, typed: str) -> Iterator[tuple[str, str]]:
        before, comma, _ = typed.rpartition(",")
        given = before.split(",")
        known = [*source(ctx, typed), *((each, "") for each in more if not comma)]
        return ((f"{before}{comma}{value}", about) for value, about in known if value not in given)

    return found


# ── what the configuration and the disk know ─────────────────────────────────────────────────────────────────────


def _specs(ctx: click.Context) -> list[ServerSpec]:
    """The servers that the line leads to. Nobody is asked for what the configuration leaves open."""
    from toolbridge.cli.servers import config_files
    from toolbridge.servers.config import examine_config

    config = ctx.params.get("config")
    if "source" in ctx.params:  # the commands over surfaces: `--config` is none, or other settings
        source = ctx.params["source"]
        config = (source or [None])[0] if isinstance(source, tuple | list) else source
    files = config_files(config, ctx.params.get("client"))
    found: dict[str, ServerSpec] = {}
    for file in files:
        for spec in examine_config(file).servers:
            found.setdefault(spec.name, spec)
    return list(found.values())


def _servers(ctx: click.Context, typed: str) -> Known:
    taken = ctx.params.get("servers") or ()
    return [
        (each.name, "disabled" if each.disabled else _place(each)) for each in _specs(ctx) if each.name not in taken
    ]


def _place(spec: ServerSpec) -> str:
    """Where a server is, in a word or two: its arguments may hold secrets."""
    if spec.url:
        from urllib.parse import urlsplit

        return urlsplit(spec.url).hostname or ""
    return Path(spec.command or "").name


def _listed(ctx: click.Context) -> Sequence[Tool]:
    from toolbridge.servers.catalog import Catalog

    for spec in _specs(ctx):
        if spec.name == ctx.params.get("server"):
            listing = Catalog().load(spec)
            return [each for each in listing.tools if spec.filter.accepts(each.id.name)] if listing else ()
    return ()


def _tools(ctx: click.Context, typed: str) -> Known:
    return [(each.id.name, each.description) for each in _listed(ctx)]


def _arguments(ctx: click.Context, typed: str) -> Iterator[tuple[str, str]]:
    """`key=` for each parameter that is not given yet; after the sign, the values of an enum or a flag."""
    from toolbridge.cli.signature import parameters

    given = {each.partition("=")[0] for each in ctx.params.get("arguments") or ()}
    for tool in _listed(ctx):
        if tool.id.name != ctx.params.get("tool"):
            continue
        for each in parameters(tool.input_schema):
            if typed.startswith(f"{each.name}="):
                yield from ((f"{each.name}={value}", "") for value in _values(each))
            elif each.name not in given:
                yield f"{each.name}=", each.about


def _values(parameter: Parameter) -> Iterator[str]:
    """What a parameter may be, where that is a short list."""
    from toolbridge.cli.signature import branches
    from toolbridge.schema.refs import Refs

    refs = parameter.refs or Refs(None)
    for node, _ in (each for schema in parameter.nodes for each in branches(schema, refs)):
        values = node.get("enum")
        if isinstance(values, list):
            yield from (each for each in values if isinstance(each, str))
        elif node.get("type") == "boolean":
            yield from ("true", "false")


SURFACES: Final = ("lint", "lock", "tokens", "verify")
"""Commands over tools from anywhere: files, addresses, servers of a configuration."""

LIVE: Final = ("chat", "tools", "call", "resources", "prompts", "doctor")
"""Commands over the servers of a configuration."""

SOURCES: Final[dict[tuple[str, str], Source]] = {
    ("convert", "provider"): _providers,
    ("tools", "provider"): _providers,
    ("replay", "source"): _providers,
    ("replay", "target"): _providers,
    ("providers", "name"): _providers,
    ("chat", "provider"): _providers,
    ("matrix", "names"): _several(_providers, "all"),
    ("tokens", "names"): _several(_providers, "all"),
    ("lint", "providers"): _several(_providers, "main", "all"),
    ("lint", "select"): _several(_rules),
    ("lint", "ignore"): _several(_rules),
    ("lint", "rules"): _rules,
    ("chat", "model"): _models,
    ("models pull", "name"): _weights,
    ("models remove", "name"): _weights,
    **{(each, "client"): _clients for each in (*LIVE, *SURFACES)},
    **{(each, "server"): _servers for each in (*SURFACES, "call", "resources", "prompts")},
    ("tools", "servers"): _servers,
    ("doctor", "servers"): _servers,
    ("chat", "servers"): _servers,
    ("call", "tool"): _tools,
    ("call", "arguments"): _arguments,
}
"""By command and parameter. A test holds the keys against the commands."""

FILES: Final = {
    ("convert", "file"),
    ("matrix", "file"),
    ("replay", "recording"),
    ("replay", "tools"),
    ("resources", "output"),
    ("chat", "resume"),
    ("chat", "store"),
    ("lint", "config"),
    ("lint", "output"),
    ("lock", "file"),
    ("verify", "file"),
    *((each, "config") for each in LIVE),
    *((each, "source") for each in SURFACES),
}
"""Parameters that name a file; the shell knows those better."""
