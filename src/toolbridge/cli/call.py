"""`toolbridge call`: one call of one tool, with arguments typed by the tool's own schema."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.servers import server_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolbridge.cli.progress import Line
    from toolbridge.servers.callbacks import Callbacks
    from toolbridge.servers.catalog import Catalog
    from toolbridge.servers.hub import Hub
    from toolbridge.servers.spec import ServerSpec
    from toolbridge.types import Tool, ToolResult

FAILED = 1
"""The exit code where the tool reports an error, or the call did not get through."""

BELIEVED_SECONDS = 60.0
"""How long a listing on disk is believed when it speaks against a call; an older one is made anew first."""


@click.command("call", short_help="Call a tool of an MCP server.")
@click.argument("server", metavar="SERVER")
@click.argument("tool", metavar="TOOL")
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1)
@server_options
@click.option("--json", "as_json", is_flag=True, help="The whole result as one JSON object.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="How long the call may take without a sign of life.",
)
@click.option(
    "--output",
    metavar="DIRECTORY",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where images, sounds and other files are saved. By default here.",
)
@click.option("--verbose", "-v", is_flag=True, help="Say on stderr what the server logs.")
def command(
    server: str,
    tool: str,
    arguments: tuple[str, ...],
    config: str | None,
    client: str | None,
    as_json: bool,
    timeout: float | None,
    output: Path | None,
    verbose: bool,
) -> int:
    """Call TOOL of SERVER. Only that server is started.

    The arguments are typed by the tool's own schema, and checked against it before anything is sent.
    What the tool answers goes to stdout; images and other files are saved and named. An error of the
    tool goes to stderr, and the exit code is 1.

    \b
    Arguments:
      key=value        text, number, true, false, as the schema has it
      key=a key=b      a list
      key.inner=value  a property of an object
      key:=JSON        JSON as it is: key:=null, key:='[1, 2]'
      key=@FILE        what is in the file (key=@@text is the text @text)
      '{"key": …}'     all arguments as one JSON object; - reads it from
                       standard input

    \b
    Examples:
      toolbridge call files read_text_file path=README.md head=5
      toolbridge call time convert_time '{"time": "12:00", …}'
      jq '.[0]' notes.json | toolbridge call memory create_entities -
      toolbridge call charts plot data:=@numbers.json --output plots

    \b
    Exit codes:
      0  the tool answered
      1  the tool reports an error, or the call did not get through
      2  misuse: no such server or tool, arguments that the tool does not take
    """
    from toolbridge.cli.arguments import read_arguments, with_standard_input
    from toolbridge.cli.servers import read_servers, the_server
    from toolbridge.errors import ToolbridgeError
    from toolbridge.servers.catalog import Catalog

    spec = the_server(read_servers(config, client), server)
    words = with_standard_input(arguments)
    catalog = Catalog()
    listing = catalog.load(spec)
    given: dict[str, Any] | None = None
    if listing is not None:
        # What is wrong with a call is told before anything is started, where the tool is known.
        try:
            given = read_arguments(words, _found(listing.tools, spec, tool))
        except ToolbridgeError:
            if 0 <= time.time() - listing.listed_at < BELIEVED_SECONDS:
                raise
    run = _Call(spec, tool, words, as_json=as_json, timeout=timeout, output=output, verbose=verbose)
    return run.made(given, catalog)


def _found(tools: Sequence[Tool], spec: ServerSpec, name: str) -> Tool:
    """The tool of that name."""
    from toolbridge.errors import UnknownToolError, nearest

    if not spec.filter.accepts(name):
        raise UnknownToolError(
            f"tool {name!r} of server {spec.name!r} is kept out by the filter in {spec.source or 'its configuration'}; "
            'mend "include" or "exclude" there to use it'
        )
    for each in tools:
        if each.id.name == name:
            return each
    meant = nearest(name, [each.id.name for each in tools])
    hint = f"did you mean {meant!r}?" if meant else f"'toolbridge tools {spec.name} --all' lists them"
    raise UnknownToolError(f"unknown tool {name!r} of server {spec.name!r}; {hint}")


class _Call:
    """One call, from the start of its server to what is printed."""

    def __init__(
        self,
        spec: ServerSpec,
        tool: str,
        words: Sequence[str],
        *,
        as_json: bool,
        timeout: float | None,
        output: Path | None,
        verbose: bool,
    ) -> None:
        self.spec = spec
        self.tool = tool
        self.words = words
        self.as_json = as_json
        self.timeout = timeout
        self.output = output
        self.verbose = verbose

    def made(self, given: dict[str, Any] | None, catalog: Catalog) -> int:
        """Make the call. Without arguments, those of the command line are read when the server has listed its tools."""
        from toolbridge.cli import live
        from toolbridge.cli.asking import servers_open
        from toolbridge.cli.progress import Line

        async def work() -> int:
            line = Line(sys.stderr)
            async with servers_open(
                [self.spec], line, lazy=given is not None, catalog=catalog, callbacks=self._callbacks(line)
            ) as hub:
                return await self._in(hub, given, line)

        return live.run(work)

    def _hidden(self, text: str) -> str:
        """What a server says beside its answer, without its secrets."""
        from toolbridge.servers.secrets import redact

        return redact(text, self.spec.secrets)

    def _callbacks(self, line: Line) -> Callbacks:
        from toolbridge.cli.form import Form
        from toolbridge.cli.paragraph import one_line
        from toolbridge.schema.phrases import quoted
        from toolbridge.servers.callbacks import Callbacks

        def log(server: str, level: str, data: Any) -> None:
            text = data if isinstance(data, str) else quoted(data, 2000)
            line.say(line.paint(f"{one_line(server)} {level}: {one_line(self._hidden(text))}", "dim"))

        form = Form(line, self._hidden)
        if not self.verbose:
            return Callbacks(elicit=form.elicit)
        return Callbacks(elicit=form.elicit, log=log, log_level="debug")

    async def _in(self, hub: Hub, given: dict[str, Any] | None, line: Line) -> int:
        from toolbridge.cli.arguments import read_arguments
        from toolbridge.cli.progress import Progress, ticking
        from toolbridge.cli.terminal import shown

        if given is None:
            if self._down(hub):
                return FAILED
            given = read_arguments(self.words, _found(hub.all_tools, self.spec, self.tool))
        progress = Progress(shown(f"{self.spec.name}/{self.tool}"), line, silent=self.as_json)
        async with ticking(line, progress.text):
            result = await hub.call(
                self.spec.name,
                self.tool,
                given,
                timeout=self.timeout,
                on_progress=lambda done, total, said: progress.report(done, total, self._hidden(said or "")),
            )
        return self._told(result, hub)

    def _down(self, hub: Hub) -> bool:
        """Whether the server is not there; then stderr says why."""
        from toolbridge.cli.failures import tell_failures

        failure = hub.status[self.spec.name].failure
        if failure is not None:
            tell_failures([failure])
        return failure is not None

    def _told(self, result: ToolResult, hub: Hub) -> int:
        from toolbridge.cli.blocks import Shelf, print_lines, result_fields, result_lines
        from toolbridge.cli.document import write_json
        from toolbridge.cli.paragraph import harmless
        from toolbridge.cli.terminal import Paint
        from toolbridge.types import Text

        if result.is_error:
            content = tuple(
                Text(self._hidden(each.text)) if isinstance(each, Text) else each for each in result.content
            )
            result = replace(result, content=content)
        shelf = Shelf(self.output or Path(), self.tool)
        if self.as_json:
            write_json(result_fields(result, shelf if self.output is not None else None))
            return FAILED if result.is_error else 0
        if result.failure is not None:
            if result.failure != "unavailable" or not self._down(hub):
                print(f"toolbridge: {harmless(result.text)}", file=sys.stderr)
            return FAILED
        stream = sys.stderr if result.is_error else sys.stdout
        lines = result_lines(result, self.spec.name, shelf, Paint(stream))
        if result.is_error:
            print("\n".join(lines), file=sys.stderr, flush=True)
            return FAILED
        print_lines(lines)
        self._note(result)
        return 0

    def _note(self, result: ToolResult) -> None:
        from toolbridge.cli.paragraph import one_line

        for each in result.notes:
            if each.code == "output.missing":
                print("note: the tool promises structured content and sent none", file=sys.stderr)
            elif each.code.startswith("output."):
                why = one_line(str(each.before))
                print(f"note: not what the tool's output schema says: {each.path or '/'}: {why}", file=sys.stderr)
