"""`toolbridge tokens`: what tools cost in every request, tool by tool, and which cuts are cheapest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.surfaces import SurfaceCommand, given_command, surface_arguments

if TYPE_CHECKING:
    from toolbridge.spending import Savings, Spending

FAILED = 1
"""The exit code where a budget is not kept, or a server of several is not there."""

TOP = 20
"""Tools that are shown, unless more or fewer are asked for."""

CUTS = 10
"""Cuts that are shown."""


@click.command("tokens", cls=SurfaceCommand, short_help="Say what tools cost, and what to cut first.")
@surface_arguments()
@click.option(
    "--to",
    "names",
    metavar="PROVIDER",
    multiple=True,
    help="Whose form and tokenizer counts; several with commas, or 'all'. By default openai-chat.",
)
@click.option(
    "--strict/--no-strict",
    default=None,
    help="Strict definitions wherever there are such, or none. By default, where nothing is lost by it.",
)
@click.option("--top", metavar="N", type=click.IntRange(min=0), default=TOP, help=f"The N dearest tools; {TOP}.")
@click.option("--cuts", "most_cuts", metavar="N", type=click.IntRange(min=0), default=CUTS, help=f"N cuts; {CUTS}.")
@click.option("--budget", metavar="N", type=click.IntRange(min=1), help="Tokens that all tools together may cost.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for programs, with everything.")
def command(
    source: str | None,
    client: str | None,
    server: str | None,
    names: tuple[str, ...],
    strict: bool | None,
    top: int,
    most_cuts: int,
    budget: int | None,
    as_json: bool,
) -> int:
    """Say what tools cost in every request that holds them: the tokens of the definitions that a provider
    would really be sent, tool by tool and part by part; then what to cut, the cheapest first.

    SOURCE is a file of tools (what a server answers to tools/list), - for standard input, an mcp.json
    or another client's configuration, the address of a server, or, after --, a command that starts
    one. Without a SOURCE it is the mcp.json that is here.

    OpenAI's tokens are counted with OpenAI's own encoding. Where a vendor publishes none they are
    estimated, and the output says so. What a cut saves is measured by making it.

    \b
    Examples:
      toolbridge tokens tools.json
      toolbridge tokens --to anthropic -- npx -y @acme/server
      toolbridge tokens mcp.json --to openai-chat,anthropic,gemini
      toolbridge tokens tools.json --budget 5000
      toolbridge tokens tools.json --json | jq .cuts

    \b
    Exit codes:
      0  counted
      1  over --budget; or, of several servers, one that is not there
      2  misuse: a file that is no tool list, a server that does not start;
         stderr says what is wrong
    """
    from toolbridge.cli.surfaces import read_surface
    from toolbridge.providers import get_provider, providers
    from toolbridge.spending import measure, propose

    listed = [word.strip() for each in names for word in each.split(",") if word.strip()]
    if names and not listed:
        raise click.UsageError("--to names no provider; give names with commas between them, or 'all'")
    chosen = [get_provider(each) for each in dict.fromkeys(providers() if listed == ["all"] else listed or TO)]
    found = read_surface(source, given_command(), client=client, server=server)
    spent = [measure(found.tools, each, strict) for each in chosen]
    savings = propose(spent[0], strict)
    if as_json:
        from toolbridge.cli.document import write_json

        write_json(_document(spent, savings, budget))
    else:
        from toolbridge.cli.bars import lines
        from toolbridge.cli.terminal import Paint, columns

        print("\n".join(lines(found.label, spent, savings, top, most_cuts, columns(), Paint(sys.stdout))), flush=True)
    over = [each for each in spent if budget is not None and each.total > budget]
    for each in over:
        about = "" if each.counting.exact else "about "
        total = f"{about}{each.total:,} tokens for {each.provider.name}"
        print(f"toolbridge: {total}, over the budget of {budget:,}", file=sys.stderr)
    if found.failures:
        from toolbridge.cli.failures import tell_failures

        tell_failures(found.failures)
    return FAILED if over or found.failures else 0


TO = ("openai-chat",)


def _document(spent: list[Spending], savings: Savings, budget: int | None) -> dict[str, Any]:
    return {
        "budget": budget,
        "providers": {each.provider.name: _fields(each) for each in spent},
        "cuts": [
            {
                "kind": each.kind,
                "loss": each.loss,
                "what": each.what,
                "lost": each.lost,
                "saved": each.saved,
                "tools": {str(id): tokens for id, tokens in each.tools.items()},
            }
            for each in savings.cuts
        ],
        "cuts_for": spent[0].provider.name,
        "lossless": savings.free,
    }


def _fields(spending: Spending) -> dict[str, Any]:
    from dataclasses import asdict

    from toolbridge.spending.measure import WINDOWS

    counting = spending.counting
    return {
        "tokens": spending.total,
        "sent": spending.sent,
        "exact": counting.exact,
        "encoding": counting.encoding,
        "source": counting.source,
        "around": spending.around,
        "behind_search": spending.deferred,
        "parts": asdict(spending.parts),
        "windows": {str(size): round(spending.total / size, 4) for size in WINDOWS},
        "servers": dict(spending.servers),
        "tools": [
            {
                "server": each.tool.id.server,
                "name": each.tool.id.name,
                "tokens": each.total,
                "parts": asdict(each.parts),
                "sent": each.sent,
            }
            for each in spending.tools
        ],
        "left_out": {str(id): why for id, why in spending.left_out.items() if id not in spending.private},
        "private": [str(id) for id in spending.private],
    }
