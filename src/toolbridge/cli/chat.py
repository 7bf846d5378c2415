"""`toolbridge chat`: ask a model that may use the tools of your servers; once, or in a conversation at a prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolbridge.cli.servers import server_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolbridge.cli.chat_session import Wishes
    from toolbridge.model.model import Model
    from toolbridge.servers.spec import ServerSpec

FAILED = 1
"""The exit code where there is no answer."""

_PAUSE_WANTED = "give the output of toolbridge chat --json, or the state in its last line"


@click.command("chat", short_help="Ask a model that may use your tools.")
@click.argument("question", metavar="[QUESTION]...", nargs=-1)
@server_options
@click.option("--server", "servers", metavar="NAME", multiple=True, help="Only this server; may be given again.")
@click.option("--model", "-m", metavar="NAME", help="The model: claude, openai/gpt-5, ollama/qwen3, local/smollm2, …")
@click.option("--base-url", metavar="URL", help="Where it is, if not at its vendor: http://localhost:8000")
@click.option(
    "--provider",
    metavar="PROVIDER",
    help="Whose wire format is spoken there. Unless given: that of PROVIDER/NAME or of a vendor's URL, or openai-chat.",
)
@click.option(
    "--approve",
    type=click.Choice(["ask", "always", "never", "read-only"]),
    default="ask",
    show_default=True,
    help="Who allows calls that need it; see above.",
)
@click.option("--system", metavar="TEXT", default="", help="What the model is told first.")
@click.option("--conversation", "-c", metavar="NAME", default="", help="Continue this conversation, and keep it.")
@click.option("--store", metavar="PLACE", help="Where conversations are kept: a file, or redis://…")
@click.option("--no-keep", is_flag=True, help="Add nothing to the conversation that is continued.")
@click.option("--tool-tokens", metavar="N", type=click.IntRange(min=1), help="What definitions may cost in a request.")
@click.option("--max-turns", metavar="N", type=click.IntRange(min=1), help="How often the model may reply.  [25]")
@click.option("--max-tokens", metavar="N", type=click.IntRange(min=1), help="What a question may cost in all.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="How long a question may take.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for every event.")
@click.option("--resume", metavar="FILE", help="Continue a run that waits for approval, once; - for standard input.")
@click.option("--allow", metavar="ID", multiple=True, help="With --resume: run this call; all for all of them.")
@click.option("--deny", metavar="ID", multiple=True, help="With --resume: do not run this call.")
@click.option("--verbose", "-v", is_flag=True, help="Show what the model thinks and what servers log, too.")
def command(
    question: tuple[str, ...],
    config: str | None,
    client: str | None,
    servers: tuple[str, ...],
    max_turns: int | None,
    max_tokens: int | None,
    timeout: float | None,
    resume: str | None,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    **settings: Any,
) -> int:
    """Ask a model that may use the tools of your servers. Without a QUESTION, a prompt opens.

    The answer goes to stdout as it arrives; the calls that are made for it go to stderr. The model is
    the one that --model or TOOLBRIDGE_MODEL names, or that of the first vendor whose key is set
    (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …), or the built-in one.

    \b
    Examples:
      toolbridge chat "What is in bed B2?"
      toolbridge chat --from claude --model gemini
      toolbridge chat -m llama3.2 --base-url http://localhost:8000
      git diff | toolbridge chat "Review this:" - --approve read-only
      toolbridge chat -c garden "And in B3?"
      toolbridge chat --json "Water B2." > run.jsonl
      toolbridge chat --resume run.jsonl --allow all

    \b
    Who allows calls that the servers' settings do not let pass:
      ask        you, at the terminal; without a terminal they are refused,
                 and with --json the run waits (--resume)
      always     nobody: everything runs
      never      nobody: they do not run
      read-only  tools that claim to only read run, and nothing else does

    \b
    Exit codes:
      0  answered
      1  no answer: stopped, failed, or waiting for approval
      2  misuse
    """
    from toolbridge.cli.chat_models import spelt
    from toolbridge.cli.chat_session import session_model
    from toolbridge.cli.servers import is_attended
    from toolbridge.errors import ModelError

    paused = None if resume is None else _paused(resume, question)
    words = {} if paused is None else _words(paused, allow, deny)
    if paused is None and (allow or deny):
        raise click.UsageError("--allow and --deny are about a run that waits; name it with --resume FILE")
    if settings["base_url"] is not None and not (settings["model"] or _default_model()):
        raise click.UsageError("--base-url says where, and not which model; name it with --model NAME")
    if settings["store"] is not None and not settings["conversation"] and paused is None:
        raise click.UsageError("--store says where, and not what; name the conversation with --conversation NAME")
    text = None if paused is not None else _question(question)
    is_prompt = text is None and paused is None
    if is_prompt and settings["as_json"]:
        raise click.UsageError("--json needs a question; give one, or pipe it into standard input")
    wishes = _wishes(
        _specs(config, client, servers),
        attended=is_attended(),
        limits=_limits(max_turns, max_tokens, timeout),
        paused=paused,
        **settings,
    )
    try:
        model = session_model(wishes)
    except ModelError as failure:
        _complain(spelt(str(failure)), failure, wishes.as_json)
        return FAILED
    if is_prompt:
        from toolbridge.cli.chat_front import converse

        return converse(wishes, model)
    return _once(wishes, model, text or "", paused, words)


def _once(
    wishes: Wishes, model: Model, question: str, paused: Mapping[str, Any] | None, words: Mapping[str, bool]
) -> int:
    """One question, or one run that goes on."""
    from toolbridge.cli import live
    from toolbridge.cli.chat_session import session_open

    async def work() -> int:
        async with session_open(wishes, model) as session:
            if paused is not None:
                return await session.resume(paused, words)
            return await session.ask(question)

    return live.run(work)


def _question(words: tuple[str, ...]) -> str | None:
    """What is asked: the words, with standard input in place of a dash; `None` opens a prompt."""
    if not words:
        if sys.stdin is None or sys.stdin.isatty():
            return None
        words = ("-",)
    parts = [_standard_input() if each == "-" else each for each in words]
    text = ("\n\n" if "-" in words else " ").join(each.strip() for each in parts if each.strip())
    if not text:
        raise click.UsageError("the question is empty; write it behind 'toolbridge chat', or pipe it in")
    return text


def _standard_input() -> str:
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def _specs(config: str | None, client: str | None, names: tuple[str, ...]) -> list[ServerSpec]:
    """The servers. A model can be asked without any: where nobody names some and none are here, it is told."""
    from toolbridge.cli.servers import chosen, read_servers
    from toolbridge.servers.found import DEFAULTS, VARIABLE

    if config is None and client is None and not names:
        import os

        if not os.environ.get(VARIABLE) and not any(Path(each).is_file() for each in DEFAULTS):
            print(
                f"note: no {DEFAULTS[0]} is here, so the model has no tools; name one with --config, or --from CLIENT",
                file=sys.stderr,
            )
            return []
    return chosen(read_servers(config, client), names)


def _default_model() -> str:
    import os

    from toolbridge.cli.chat_models import VARIABLE

    return os.environ.get(VARIABLE, "").strip()


def _limits(turns: int | None, tokens: int | None, seconds: float | None) -> Any:
    from toolbridge.run.limits import RunLimits

    return RunLimits(turns=turns or RunLimits().turns, tokens=tokens, seconds=seconds)


def _wishes(specs: list[ServerSpec], *, paused: Mapping[str, Any] | None, no_keep: bool, **settings: Any) -> Wishes:
    from toolbridge.cli.chat_session import Wishes

    if paused is not None and not settings["conversation"]:
        settings["conversation"] = str(paused.get("conversation") or "")
    return Wishes(specs, keep=not no_keep, **settings)


def _complain(message: str, failure: Any, as_json: bool) -> None:
    from toolbridge.cli.paragraph import one_line

    if as_json:
        from toolbridge.cli.chat_events import error_fields
        from toolbridge.cli.document import write_json

        write_json(error_fields(failure))
    print(f"toolbridge: {one_line(message)}", file=sys.stderr)


# ── a run that waits ─────────────────────────────────────────────────────────────────────────────────────────────


def _paused(file: str, question: tuple[str, ...]) -> Mapping[str, Any]:
    """The state in a file: as the library has it, or in the lines that `--json` wrote."""
    import json

    from toolbridge.cli.source import read_bytes
    from toolbridge.errors import PauseError

    if question:
        raise click.UsageError("--resume goes on with what was asked; ask something else afterwards")
    text = read_bytes(file, _PAUSE_WANTED).decode("utf-8-sig", "replace")
    try:
        found = [json.loads(text)]
    except ValueError:
        try:
            found = [json.loads(line) for line in text.split("\n") if line.strip()]
        except ValueError:
            raise PauseError(f"{file}: no run that waits for approval; {_PAUSE_WANTED}") from None
    for each in reversed(found):
        state = each.get("state", each) if isinstance(each, dict) else None
        if isinstance(state, dict) and state.get("toolbridge") == "pause":
            return state
    raise PauseError(f"{file}: no run that waits for approval; {_PAUSE_WANTED}")


def _words(paused: Mapping[str, Any], allow: tuple[str, ...], deny: tuple[str, ...]) -> dict[str, bool]:
    """The words on the calls that wait, by their ids."""
    from toolbridge.errors import nearest

    asked = paused.get("asked")
    waiting = [str(each) for each in asked] if isinstance(asked, dict) else []
    for each in (*allow, *deny):
        if each not in waiting and each != "all":
            meant = nearest(each, waiting)
            hint = f"did you mean {meant}?" if meant else f"these wait: {', '.join(waiting)}"
            raise click.UsageError(f"no call {each!r} waits; {hint}")
    if both := sorted({*allow} & {*deny}):
        raise click.UsageError(f"{both[0]} is both allowed and denied; say one of them")
    words = dict.fromkeys(waiting, True) if "all" in allow else {}
    words |= dict.fromkeys(waiting, False) if "all" in deny else {}
    words |= {each: True for each in allow if each != "all"}
    return words | {each: False for each in deny if each != "all"}
