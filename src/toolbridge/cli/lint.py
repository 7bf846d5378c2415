"""`toolbridge lint`: tools held against the rules of good tools, reported for people, editors, pull requests and CI."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.surfaces import SurfaceCommand, given_command, surface_arguments

if TYPE_CHECKING:
    from toolbridge.cli.surfaces import Source
    from toolbridge.lint.places import Places
    from toolbridge.lint.settings import LintSettings
    from toolbridge.lint.subject import ServerFacts
    from toolbridge.servers.hub import Hub

FAILED = 1
"""The exit code where there are findings as grave as is not allowed, or a server of several is not there."""

FORMATS = ("text", "json", "sarif", "github", "junit", "markdown")

NAMED = 8
"""Tools that are named in a line of stderr."""


@click.command("lint", cls=SurfaceCommand, short_help="Judge tools by the rules of good tools.")
@surface_arguments(several=True)
@click.option("--format", "format", metavar="FORMAT", type=click.Choice(FORMATS), help=f"One of {', '.join(FORMATS)}.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--output", metavar="FILE", help="Write the report there; the sum of it goes to stderr.")
@click.option("--select", metavar="RULES", multiple=True, help="Only these: ids, groups or globs, with commas.")
@click.option("--ignore", metavar="RULES", multiple=True, help="Not these.")
@click.option(
    "--fail-on",
    metavar="SEVERITY",
    type=click.Choice(["error", "warning", "info", "never"]),
    help="The least grave finding that makes the exit code 1: error, warning (the default), info; or never.",
)
@click.option("--providers", metavar="A,B,C", help="Whose rules and prices count, or 'main', or 'all'.")
@click.option("--budget", metavar="N", type=click.IntRange(min=1), help="Tokens that all tools together may cost.")
@click.option("--tool-budget", metavar="N", type=click.IntRange(min=1), help="Tokens that one tool may cost.")
@click.option("--call", is_flag=True, help="Call tools that say they only read, and judge what they answer.")
@click.option("--no-waivers", is_flag=True, help="Hold tools also to rules that they waive by their own _meta.")
@click.option("--config", metavar="FILE", help="The linter's settings. By default those of the project, as told above.")
@click.option(
    "--rules",
    metavar="[RULES]",
    is_flag=False,
    flag_value="*",
    help="Show the rules, and lint nothing; of one that is named, also why it is there, with examples.",
)
def command(
    source: tuple[str, ...],
    client: str | None,
    server: str | None,
    format: str | None,
    as_json: bool,
    output: str | None,
    rules: str | None,
    call: bool,
    config: str | None,
    **given: Any,
) -> int:
    """Hold tools against the rules of good tools: names, descriptions, parameters, annotations, results,
    portability between providers, cost in tokens, and safety.

    SOURCE is a file of tools (what a server answers to tools/list), - for standard input, an mcp.json
    or another client's configuration, the address of a server, or, after --, a command that starts
    one. Without a SOURCE it is the mcp.json that is here. Servers are asked anew, not taken from their
    last listing. A started server gets the environment that you have. Several SOURCEs are looked at as
    one host has them: together, and compared with each other.

    \b
    Examples:
      toolbridge lint tools.json
      toolbridge lint -- python server.py
      toolbridge lint --call -- npx -y @acme/server --verbose
      toolbridge lint https://example.org/mcp --fail-on error
      toolbridge lint mcp.json --server files --format markdown
      toolbridge lint tools.json --format sarif --output lint.sarif
      toolbridge lint tools.json --select safety,name.version
      toolbridge lint --rules description.short

    \b
    Settings stand in [tool.toolbridge.lint] of a pyproject.toml or in [lint]
    of a toolbridge.toml, here or above, as far as the repository goes:
      select, ignore        lists of rules: ids, groups or globs
      fail-on               "error", "warning", "info" or "never"
      providers             a list, or "main", or "all"
      budget, tool-budget   tokens
      waivers               false: tools waive nothing by their _meta
      severity              {"cost.tool" = "error"}: graver, or less grave
      tools."NAME".ignore   rules that do not hold for a tool
    What the command line says goes over what the file says.

    \b
    Exit codes:
      0  nothing as grave as --fail-on
      1  findings that grave; or, of several servers, one that is not there
      2  misuse: no such rule, broken settings, a file that is no tool list, a
         server that does not start; stderr says what is wrong
    """
    if as_json and format not in (None, "json"):
        raise click.UsageError("--json and --format name two formats; give one of them")
    format = "json" if as_json else format or "text"
    if output == "-":
        output = None
    if output is not None:
        from toolbridge.cli.output import refuse_unwritable

        refuse_unwritable(output)
    if rules is not None:
        from toolbridge.cli.lint_rules import show_rules

        show_rules(rules, format == "json", output)
        return 0
    settings = _settings(config, given)
    run = _Run(source, given_command(), client, server, settings, call=call)
    code = FAILED if run.failed else 0
    text = run.written(format, code, to_file=output is not None)
    if output is None:
        print(text, end="", flush=True)
    else:
        from toolbridge.cli.output import write_file

        write_file(output, text)
        print(f"{run.summed_up()}; the report is in {output}", file=sys.stderr)
    run.tell()
    return code


def _settings(config: str | None, given: Mapping[str, Any]) -> LintSettings:
    """What the file says, and over it what the command line says."""
    from dataclasses import replace

    from toolbridge.lint.settings import DEFAULTS
    from toolbridge.lint.settings_file import checked_providers, find_settings, read_fail_on, read_settings
    from toolbridge.lint.table import refuse_unknown

    changes: dict[str, Any] = {}
    for option in ("select", "ignore"):
        if given[option]:
            changes[option] = patterns = _separated(given[option])
            refuse_unknown(patterns, f"--{option}")
            if not patterns:
                raise click.UsageError(f"--{option} names no rule; give ids with commas between them")
    if given["providers"] is not None:
        names = _separated([given["providers"]])
        if not names:
            raise click.UsageError("--providers names no provider; give names with commas between them, or 'all'")
        changes["providers"] = checked_providers(names)
    if given["fail_on"] is not None:
        changes["fail_on"] = read_fail_on(given["fail_on"])
    if given["no_waivers"]:
        changes["waivers"] = False
    changes |= {key: given[key] for key in ("budget", "tool_budget") if given[key] is not None}
    file = find_settings(Path.cwd()) if config is None else Path(config)
    return replace(DEFAULTS if file is None else read_settings(file), **changes)


def _separated(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for each in given for word in each.split(",") if word.strip()))


class _Run:
    """All sources, read and linted as one surface: some tricks need two servers."""

    def __init__(
        self,
        sources: Sequence[str],
        command: Sequence[str],
        client: str | None,
        server: str | None,
        settings: LintSettings,
        *,
        call: bool,
    ) -> None:
        from toolbridge.cli.surfaces import named_apart
        from toolbridge.lint.linting import lint_tools

        self.command = command
        self.call = call
        # Without a SOURCE, there may be a command, a client, or the mcp.json.
        read = [self._read(each, client, server) for each in (sources or (None,))]
        self.sources = [each for each, _ in read]
        if len(read) > 1:
            self.sources = named_apart(self.sources)
        self.facts: dict[str, ServerFacts] = {}
        for source, (_, seen) in zip(self.sources, read, strict=True):
            self.facts |= _renamed(source, seen)
        tools = [tool for each in self.sources for tool in each.tools]
        self.report = lint_tools(tools, settings=settings, servers=self.facts)
        self.failures = tuple(failure for each in self.sources for failure in each.failures)

    def _read(self, name: str | None, client: str | None, server: str | None) -> tuple[Source, dict[str, ServerFacts]]:
        """What is in a source, and what was seen of its servers, by the names that the hub knew them by."""
        from toolbridge.cli.surfaces import read_surface

        seen: dict[str, ServerFacts] = {}

        async def visit(hub: Hub) -> None:
            from toolbridge.examine import examine

            seen.update(await examine(hub, call=self.call))

        source = read_surface(name, self.command, client=client, server=server, visit=visit)
        if self.call and source.kind in ("file", "input"):
            raise click.UsageError(f"--call needs a server; {source.label} is a list of tools")
        return source, seen

    @property
    def failed(self) -> bool:
        return self.report.failed or bool(self.failures)

    @property
    def label(self) -> str:
        return ", ".join(each.label for each in self.sources)

    def written(self, format: str, code: int, *, to_file: bool) -> str:
        from toolbridge.cli.terminal import NO_TERMINAL_COLUMNS, Paint, columns
        from toolbridge.lint.places import SourceLabel
        from toolbridge.lint.report import write_report

        kinds = {each.kind for each in self.sources}
        label = SourceLabel(
            self.label,
            self.sources[0].kind if len(kinds) == 1 else "several",
            self.sources[0].path if len(self.sources) == 1 else None,
        )
        options: dict[str, Any] = {
            "source": label,
            "places": self._places(),
            "exit_code": code,
            "failures": self.failures,
            "disabled": tuple(name for each in self.sources for name in each.disabled),
        }
        if to_file:
            return write_report(self.report, format, width=NO_TERMINAL_COLUMNS, **options)
        return write_report(self.report, format, width=columns(), paint=Paint(sys.stdout), **options)

    def _places(self) -> Places:
        from toolbridge.lint.places import SeveralPlaces

        if len(self.sources) == 1:
            return self._places_in(self.sources[0])
        found = [(source, self._places_in(source)) for source in self.sources]
        return SeveralPlaces({each.name: places for source, places in found for each in source.served})

    def _places_in(self, source: Source) -> Places:
        from toolbridge.lint.places import NOWHERE, ConfigPlaces, DocumentPlaces, ScriptPlaces

        if source.kind == "command":
            return ScriptPlaces(self.command)
        if source.text is None or source.path is None:
            return NOWHERE
        if source.kind == "file":
            return DocumentPlaces(source.text, source.path, source.tools)
        return ConfigPlaces(source.text, source.path)

    def summed_up(self) -> str:
        from toolbridge.cli.terminal import shown
        from toolbridge.cli.words import counted
        from toolbridge.lint.finding import SEVERITIES

        words = {"error": "error", "warning": "warning", "info": "remark"}
        found = [counted(count, words[each]) for each in SEVERITIES if (count := self.report.count(each))]
        tools = counted(len(self.report.tools), "tool")
        return f"{shown(self.label)}: {', '.join(found) or 'no findings'} in {tools}"

    def tell(self) -> None:
        """What is no finding and must be known: servers that are not there, what was called and what was not."""
        if self.call:
            self._tell_calls()
        if self.failures:
            from toolbridge.cli.failures import tell_failures

            tell_failures(self.failures)

    def _tell_calls(self) -> None:
        from toolbridge.cli.terminal import shown
        from toolbridge.cli.words import counted

        called = [str(id) for each in self.facts.values() for id in each.trials or ()]
        print(f"called {counted(len(called), 'tool')}{_named(called)}", file=sys.stderr)
        reasons: dict[str, list[str]] = {}
        for each in self.facts.values():
            for id, why in (each.untried or {}).items():
                reasons.setdefault(why, []).append(str(id))
        for why, names in reasons.items():
            print(f"not called{_named(names)} ({shown(why)})", file=sys.stderr)


def _named(names: Sequence[str]) -> str:
    from toolbridge.cli.terminal import shown

    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f": {', '.join(shown(each) for each in names[:NAMED])}{more}" if names else ""


def _renamed(source: Source, seen: Mapping[str, ServerFacts]) -> dict[str, ServerFacts]:
    """What was seen of each server, under the name that it has in the report."""
    from dataclasses import replace

    from toolbridge.types import ToolId

    found: dict[str, ServerFacts] = {}
    for each in source.served:
        facts = None if each.spec is None else seen.get(each.spec.name)
        if facts is None:
            continue
        trials, untried = facts.trials, facts.untried
        if trials is not None:
            trials = {ToolId(each.name, id.name): made for id, made in trials.items()}
        if untried is not None:
            untried = {ToolId(each.name, id.name): why for id, why in untried.items()}
        found[each.name] = replace(facts, name=each.name, trials=trials, untried=untried)
    return found
