"""The group of commands: which there are, loaded when they are called, and how misuse is said.

Between `main`, which owns the streams and the exit code, and the commands. Click parses; its messages are rewritten
into the one line that every error of this program is.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from toolbridge import __version__
from toolbridge.cli.terminal import shown
from toolbridge.errors import ServerError, ToolbridgeError, nearest

COMMANDS = (
    "chat",
    "tools",
    "call",
    "resources",
    "prompts",
    "doctor",
    "models",
    "convert",
    "matrix",
    "tokens",
    "lint",
    "lock",
    "verify",
    "replay",
    "providers",
    "completion",
)
"""Each is the module of that name, and the `command` in it."""

FAILED = 1
MISUSE = 2

VARIABLE = "_TOOLBRIDGE_COMPLETE"
"""Where it is set, a shell asks what can stand at its cursor, and no command runs: `bash_complete`; `bash_source`
prints the script, as with other programs that are made with click."""


class Commands(click.Group):
    """Commands that are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"toolbridge.cli.{cmd_name}").command
        if VARIABLE in os.environ:
            from toolbridge.cli.candidates import made_completable

            return made_completable(found, cmd_name)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            meant = nearest(name, COMMANDS)
            hint = f"did you mean {meant!r}?" if meant else f"the commands are {', '.join(COMMANDS)}"
            raise click.UsageError(f"unknown command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="'toolbridge COMMAND --help' explains a command, with examples.",
)
@click.version_option(__version__, message="toolbridge %(version)s", help="Show the version and leave.")
@click.pass_context
def group(context: click.Context) -> None:
    """Joins MCP servers to the tool calling of any language model.

    Give it an mcp.json, and it lists and calls the tools of your servers. Give it the tools of a server,
    as the server lists them, and it writes them in the form that a provider accepts, and says what had
    to change for that.

    \b
    Examples:
      toolbridge chat "What is in bed B2?"
      toolbridge tools --from claude
      toolbridge call files read_text_file path=README.md
      toolbridge doctor
      toolbridge tools --to openai-chat
      toolbridge convert tools.json --to anthropic --explain
      toolbridge matrix tools.json
      toolbridge lint tools.json
      toolbridge lock && toolbridge verify --diff
      toolbridge replay reply.sse --from openai-chat
      eval "$(toolbridge completion bash)"

    \b
    Exit codes:
      0    done
      1    done in part: a server, a tool or a call failed, 'convert' left
           tools out, 'lint' found something, or 'verify' a change; stderr or
           the report says what and why
      2    misuse; stderr says what is wrong, a line for each mistake
      130  interrupted
      141  whoever read the output stopped reading

    \b
    Environment:
      TOOLBRIDGE_CONFIG     the servers, where no option names them
      TOOLBRIDGE_MODEL      the model of 'chat', where --model names none
      OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, …
                            the vendors' own: the keys of their models
      TOOLBRIDGE_CACHE_DIR  what servers listed last, and fetched models
      TOOLBRIDGE_DATA_DIR   conversations, logins, the key of paused runs
      TOOLBRIDGE_PAUSE_KEY  that key, where processes share it
      TOOLBRIDGE_LOCAL_THREADS  processors of the built-in model
      TOOLBRIDGE_PYTHON     what ${TOOLBRIDGE_PYTHON} in an mcp.json stands
                            for; by default the Python that runs toolbridge
      NO_COLOR, FORCE_COLOR, COLUMNS  as everywhere

    \b
    Files:
      mcp.json, .mcp.json, .cursor/mcp.json, .vscode/mcp.json
                            the servers, the first of these that is here
      toolbridge.lock       what 'lock' wrote, beside the configuration
      pyproject.toml, toolbridge.toml  settings of 'lint'
      ~/.cache/toolbridge, ~/.local/share/toolbridge
                            cache and data; elsewhere on macOS, Windows
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: list[str]) -> int:
    """Run a command line. Misuse becomes a line on stderr and exit code 2."""
    request = os.environ.get(VARIABLE)
    if request:
        from toolbridge.cli.completion import complete

        return complete(group, request)
    try:
        # Not `group.main`: it writes messages and newlines of its own on interrupts and closed pipes.
        with group.make_context("toolbridge", arguments) as context:
            code: Any = group.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as misuse:
        return _refused(_said(misuse))
    except ServerError as failure:
        _refused(str(failure))
        return FAILED
    except ToolbridgeError as failure:
        return _refused(*getattr(failure, "problems", None) or [str(failure)])
    return code if isinstance(code, int) else 0


def _refused(*messages: str) -> int:
    for each in messages:
        print(f"toolbridge: {shown(each)}", file=sys.stderr)
    return MISUSE


def _said(misuse: click.ClickException) -> str:
    """Click's message in this program's words: no capital, no full stop, and where to look."""
    context = misuse.ctx if isinstance(misuse, click.UsageError) else None
    path = context.command_path if context else "toolbridge"
    where = path.removeprefix("toolbridge").strip()
    where = f"{where}: " if where else ""
    if isinstance(misuse, click.NoSuchOption):
        options = _options(context.command) if context else []
        meant = nearest(misuse.option_name, options)
        hint = f"did you mean {meant}?" if meant else f"the options are {', '.join(options)}"
        return f"{where}unknown option {misuse.option_name}; {hint}"
    if isinstance(misuse, click.MissingParameter) and misuse.param is not None:
        is_option = isinstance(misuse.param, click.Option)
        name = misuse.param.opts[0] if is_option else (misuse.param.name or "").upper()
        spelt = name if is_option else misuse.param.metavar or name
        return f"{where}{spelt} is missing{_WANTED.get(name, '')}; see {path} --help"
    message = misuse.format_message().strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    return message if "; " in message else f"{where}{message}; see {path} --help"


def _options(command: click.Command) -> list[str]:
    """The long options of a command, as they are spelt."""
    spelt = [each for parameter in command.params for each in (*parameter.opts, *parameter.secondary_opts)]
    return [each for each in (*spelt, "--help") if each.startswith("--")]


_WANTED = {
    "SERVER": ": name a server ('toolbridge tools' lists them)",
    "TOOL": ": name a tool ('toolbridge tools SERVER' lists them)",
    "FILE": ": give a JSON file of tools, or - for standard input",
    "RECORDING": ": give a recorded stream, reply or history, or - for standard input",
    "--from": ": name the provider whose form it is in, such as --from openai-chat",
    "--to": ": name a provider, such as --to openai-chat ('toolbridge providers' lists them)",
}
