"""Variables: `${…}` in the texts of a configuration becomes what it stands for, once.

    ${NAME}  ${env:NAME}             a variable of the environment; unset is a mistake
    ${NAME:-text}  ${env:NAME:-text} the same, with a text for where it is unset or empty
    ${input:id}                      an answer of the user (VS Code's `inputs`)
    ${TOOLBRIDGE_PYTHON}             the Python that runs this, unless the environment names another
    ${workspaceFolder}  ${workspaceFolderBasename}  ${userHome}  ${cwd}  ${pathSeparator}  ${/}

Anything else with a dollar in it is left as it is, `$NAME` too: it may be meant for a shell. What a variable holds is
never looked into again, so a `${…}` in it stays text. A name that the environment does not have is also looked for in
the server's own `env`: many files write `"args": ["--header", "X-Key:${KEY}"], "env": {"KEY": …}`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from toolbridge.types import EMPTY

PYTHON: Final = "TOOLBRIDGE_PYTHON"
"""A server in Python that needs our packages can be started by our interpreter: a file that names `python` gets
whichever is on the PATH, and that is another one wherever the environment is not activated."""


@dataclass(frozen=True, slots=True)
class InputQuestion:
    """What a configuration wants to know from its user."""

    id: str
    type: str = "promptString"
    """`promptString` or `pickString`; `command` only VS Code can answer."""
    description: str = ""
    default: str | None = None
    password: bool = False
    options: tuple[str, ...] = ()


Inputs: TypeAlias = Callable[[InputQuestion], str]
"""Answers a question. A `LookupError` says that there is no answer."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its variables replaced."""

    text: str
    given: tuple[tuple[str, str], ...] = ()
    """Name and value of each variable and input that went in: these may be secrets."""
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class Variables:
    """What the names of one configuration stand for. Each question is asked once, and only when its answer is
    needed."""

    environment: Mapping[str, str]
    workspace: Path
    questions: Mapping[str, InputQuestion] = field(default_factory=dict[str, InputQuestion])
    ask: Inputs | None = None
    answers: dict[str, str | None] = field(default_factory=dict[str, "str | None"], repr=False)

    @property
    def home(self) -> str:
        return self.environment.get("HOME") or self.environment.get("USERPROFILE") or os.path.expanduser("~")

    def expand(self, text: str, own: Mapping[str, str] = EMPTY) -> Expanded:
        """The text with every variable replaced; `own` is the server's `env`, asked where the environment has no
        answer."""
        if "${" not in text:
            return Expanded(text)
        given: list[tuple[str, str]] = []
        problems: list[str] = []

        def replaced(match: re.Match[str]) -> str:
            found = self._value(match[1], own)
            if found is None:
                return match[0]
            if isinstance(found, _Unset):
                problems.append(found.problem)
                return match[0]
            name, value = found
            if name:
                given.append((name, value))
            return value

        return Expanded(_VARIABLE.sub(replaced, text), tuple(given), tuple(problems))

    def _value(self, content: str, own: Mapping[str, str]) -> tuple[str, str] | _Unset | None:
        """Name and value; no name where it is no secret; None where the text is not ours to replace."""
        if content in _PLACES:
            return "", _PLACES[content](self)
        kind, colon, rest = content.partition(":")
        if colon and kind == "input":
            return self._answer(rest)
        if colon and kind in ("command", "config", "workspaceFolder") and rest[:1] not in ("-", "+", "?", "="):
            return _Unset(f"only VS Code knows what ${{{kind}:…}} stands for; write the value itself")
        match = (_ENVIRONMENT_NAME if colon and kind == "env" else _NAME).fullmatch(content)
        if not match:
            return None
        name, default = match["name"], match["default"]
        value = self.environment.get(name)
        if value is None and os.name != "nt":
            value = own.get(name)
        elif value is None:  # a mapping that is not os.environ, on a system where names have no case
            folded = {key.upper(): each for key, each in (*own.items(), *self.environment.items())}
            value = folded.get(name.upper())
        if name == PYTHON and not value and sys.executable:
            return "", sys.executable
        if default is not None:
            if "${" in default:
                return _Unset(f"the default of the variable {name} holds another variable; a default is plain text")
            return (name, value) if value else ("", default)
        if value is None:
            return _Unset(f"the variable {name} is not set; set it, or give a default: ${{{name}:-…}}")
        return name, value

    def _answer(self, id: str) -> tuple[str, str] | _Unset:
        question = self.questions.get(id)
        if question is None:
            return _Unset(f'there is no input {id!r}; declare it under "inputs"')
        if id not in self.answers:
            self.answers[id] = self._asked(question)
        answer = self.answers[id]
        if answer is None:
            if question.type == "command":
                return _Unset(f"only VS Code can answer the input {id!r}, for it is a command; write the value itself")
            return _Unset(f'the input {id!r} has no answer; run where it can be asked, or give it a "default"')
        return ("password" if question.password else id), answer

    def _asked(self, question: InputQuestion) -> str | None:
        if self.ask is None or question.type == "command":
            return question.default
        try:
            return self.ask(question)
        except LookupError:
            return question.default


@dataclass(frozen=True, slots=True)
class _Unset:
    problem: str


_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\([A-Za-z0-9]+\))?)(?::-(?P<default>.*))?", re.DOTALL)
_ENVIRONMENT_NAME = re.compile(r"env:(?P<name>[^:=]+)(?::-(?P<default>.*))?", re.DOTALL)

_PLACES: dict[str, Callable[[Variables], str]] = {
    "workspaceFolder": lambda each: str(each.workspace),
    "workspaceRoot": lambda each: str(each.workspace),
    "workspaceFolderBasename": lambda each: each.workspace.name,
    "userHome": lambda each: each.home,
    "cwd": lambda each: os.getcwd(),
    "pathSeparator": lambda each: os.sep,
    "/": lambda each: os.sep,
}
"""VS Code's and Cursor's predefined variables (checked November 2026)."""
