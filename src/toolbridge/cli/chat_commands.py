"""What can be typed beside questions: `/tools`, `/save`, `@claude …`, and what each of them does.

A line that begins with a slash and a word is a command; one that begins with an at sign and a word names a model for
this question and those that follow. Everything else is a question. The prompt reads the lines, `chat_session` has the
chat.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

from toolbridge.cli.chat_models import mentions
from toolbridge.cli.chat_session import Session
from toolbridge.cli.chat_show import cut
from toolbridge.cli.paragraph import first_sentence, harmless, one_line
from toolbridge.cli.terminal import Paint, cells, columns, fitted
from toolbridge.cli.words import counted
from toolbridge.errors import HistoryError, ToolbridgeError, nearest
from toolbridge.history.document import read_history, write_history
from toolbridge.servers.private import write_private
from toolbridge.types import Tool

_COMMAND = re.compile(r"/([A-Za-z?]*)(?:\s+(.*))?", re.DOTALL)
_MENTION = re.compile(r"@(\S+)(?:\s+(.*))?", re.DOTALL)
_PATH = re.compile(r"/\S*[/.]")
"""A question may begin with a path: /etc/hosts is no command."""

WIDEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Question:
    """To be asked."""

    text: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The person has had enough."""


Next: TypeAlias = Question | Leave | None
"""What is to be done after a line; `None`: it is done already."""


def obey(line: str, session: Session) -> Next:
    """Do what a line says. What goes wrong is said, and changes nothing."""
    text = line.strip()
    if not text:
        return None
    try:
        if (mention := _MENTION.fullmatch(text)) is not None:
            return _mentioned(mention[1], (mention[2] or "").strip(), session)
        command = None if _PATH.match(text) else _COMMAND.fullmatch(text)
        if command is None:
            return Question(text)
        return _commanded(command[1].lower(), (command[2] or "").strip(), session)
    except ToolbridgeError as failure:
        session.screen.complain(str(failure))
    except OSError as failure:
        session.screen.complain(f"{failure.filename or 'the file'}: {(failure.strerror or str(failure)).lower()}")
    return None


def completions(session: Session) -> Callable[[str], Iterable[str]]:
    """The words that can be completed."""

    def words(text: str) -> Iterable[str]:
        if text.startswith("/"):
            return (f"/{each}" for each in COMMANDS)
        if text.startswith("@"):
            return (f"@{each}" for each in mentions())
        return (name for each in session.hub.tools for name in (str(each.id), each.id.name))

    return words


def _mentioned(name: str, question: str, session: Session) -> Next:
    session.use(name.rstrip(",:"))
    if question:
        return Question(question)
    _say(f"{session.title} ({session.chat.model.provider.title}) answers from now on")
    return None


def _commanded(name: str, rest: str, session: Session) -> Next:
    known = {"?": "help", "exit": "quit", "q": "quit", "h": "help"}
    command = COMMANDS.get(known.get(name, name))
    if command is None:
        meant = nearest(name, COMMANDS)
        hint = f"did you mean /{meant}?" if meant else f"there are {', '.join(f'/{each}' for each in COMMANDS)}"
        raise ToolbridgeError(f"unknown command /{name}; {hint}")
    return command.do(session, rest)


# ── the commands ─────────────────────────────────────────────────────────────────────────────────────────────────


def _tools(session: Session, pattern: str) -> Next:
    offer = session.chat.offer
    cost = offer.cost
    shown = {each.id: each for each in offer.prepared.tools}
    every: list[tuple[Tool, bool]] = [(each, True) for each in shown.values()]
    every += [(each, False) for each in offer.deferred if each.id not in shown]
    chosen = [(tool, is_shown) for tool, is_shown in every if _fits(tool, pattern)]
    if not chosen:
        _say(f"no tool fits {pattern}" if pattern else "there are no tools")
        return None
    paint, width = Paint(sys.stdout), columns()
    room = min(max(cells(one_line(str(tool.id))) for tool, _ in chosen), WIDEST_NAME)
    for tool, is_shown in chosen:
        tokens = cost.of[tool.id].total if tool.id in cost.of else 0
        name = fitted(one_line(str(tool.id)), room)
        later = "" if not offer.deferred else "       " if is_shown else "  later"
        about = cut(first_sentence(tool.description), max(width - room - 10 - len(later), 10))
        _say(f"{paint(name, 'bold') if is_shown else paint(name, 'dim')} {tokens:>6,}{later}  {paint(about, 'dim')}")
    about = "about " if cost.estimated else ""
    budget = f" of {cost.budget:,}" if cost.budget is not None else ""
    _say(f"{counted(len(shown), 'tool')} shown to {session.title}: {about}{cost.shown:,}{budget} tokens a request")
    if offer.deferred:
        how = "found by searching" if offer.searching or offer.native else "chosen by the question"
        _say(f"{counted(len(offer.deferred), 'tool')} later: {how}")
    for id, why in offer.prepared.left_out.items():
        _say(f"{one_line(str(id))} cannot be offered: {one_line(why)}")
    return None


def _fits(tool: Tool, pattern: str) -> bool:
    if not pattern:
        return True
    words = (str(tool.id), tool.id.name, tool.id.server)
    return any(fnmatchcase(each, pattern) or pattern.lower() in each.lower() for each in words)


def _servers(session: Session, _: str) -> Next:
    paint = Paint(sys.stdout)
    for name, status in session.hub.status.items():
        mark = paint("✗", "red") if status.failure is not None else paint("✓", "green")
        said = one_line(str(status.failure)) if status.failure is not None else f"{status.state}, "
        said += "" if status.failure is not None else counted(status.tools, "tool")
        _say(f"{mark} {paint(one_line(name), 'bold')}  {said}")
        if status.failure is None:
            for tool, why in status.quarantined.items():
                _say(f"  {paint('!', 'yellow')} {one_line(tool)} is not as locked and not used: {one_line(why)}")
    if not session.hub.status:
        _say("there are no servers; --config FILE or --from CLIENT names some")
    return None


def _model(session: Session, name: str) -> Next:
    if name:
        return _mentioned(name.lstrip("@"), "", session)
    _say(f"{session.title} ({session.chat.model.provider.title})")
    return None


def _system(session: Session, text: str) -> Next:
    if text:
        session.set_system("" if text == "-" else text)
    _say(harmless(session.system) if session.system else "the model is told nothing first; /system TEXT tells it")
    return None


def _clear(session: Session, _: str) -> Next:
    kept = session.chat.conversation
    session.start_over()
    _say(f"a new conversation, which is not kept; {one_line(kept)} stays as it is" if kept else "a new conversation")
    return None


def _save(session: Session, file: str) -> Next:
    path = _path(file, "/save")
    if path.exists() and not _is_history(path):
        raise HistoryError(f"{path}: there is another file of that name; choose another")
    document = json.dumps(write_history(session.chat.history), ensure_ascii=False, indent=1)
    try:
        write_private(path, document.encode("utf-8", "surrogatepass"))
    except OSError as failure:  # it names the part that it writes first, which nobody asked for
        raise HistoryError(f"{path}: {(failure.strerror or str(failure)).lower()}") from failure
    _say(f"{counted(len(session.chat.history), 'message')} saved as {one_line(str(path))}")
    return None


def _is_history(path: Path) -> bool:
    try:
        return path.is_file() and json.loads(path.read_bytes()).get("toolbridge") == "history"
    except (OSError, ValueError, AttributeError):
        return False


def _load(session: Session, file: str) -> Next:
    read = read_history(_path(file, "/load"))
    session.start_over(read.value)
    _say(f"{counted(len(read.value), 'message')} loaded; they are continued from here")
    return None


def _path(file: str, command: str) -> Path:
    if not file:
        raise HistoryError(f"{command} needs the name of a file: {command} talk.json")
    return Path(file).expanduser()


def _help(_: Session, __: str) -> Next:
    width = max(len(each.usage) for each in COMMANDS.values())
    for each in COMMANDS.values():
        _say(f"{each.usage:<{width}}  {each.about}")
    _say(f"{'@NAME …':<{width}}  ask another model: @claude, @openai, @gemini, @local, @openai/gpt-5-mini")
    _say(f"{'…' + chr(92):<{width}}  a backslash at the end of a line: the question goes on in the next")
    _say(f"{'Ctrl-C':<{width}}  stop the answer")
    return None


def _quit(_: Session, __: str) -> Next:
    return Leave()


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a slash stands before."""

    usage: str
    about: str
    do: Callable[[Session, str], Next]


COMMANDS = {
    "tools": Command("/tools [PATTERN]", "what the model is shown, and what it costs", _tools),
    "servers": Command("/servers", "how the servers do", _servers),
    "model": Command("/model [NAME]", "who answers; with a name, who answers from now on", _model),
    "system": Command("/system [TEXT]", "what the model is told first; - for nothing", _system),
    "clear": Command("/clear", "begin a new conversation", _clear),
    "save": Command("/save FILE", "write the conversation into a file", _save),
    "load": Command("/load FILE", "go on with the conversation in a file", _load),
    "help": Command("/help", "this", _help),
    "quit": Command("/quit", "leave (also Ctrl-D)", _quit),
}


def _say(text: str) -> None:
    print(text, flush=True)
