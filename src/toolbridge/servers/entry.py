"""An entry while it is read: its keys in our words, its texts with variables replaced, its mistakes told.

The doors that `reach` and `policy` read a server's object through. A message names file, server and field and never
shows a value: any value may be a secret in the wrong place.
"""

from __future__ import annotations

import ntpath
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolbridge.mistakes import inner, kind, unknown
from toolbridge.servers.document import repeated_keys
from toolbridge.servers.environment import is_safe
from toolbridge.servers.keys import LOSSES, field_of, folded, is_ignored, meant
from toolbridge.servers.secrets import looks_random, says_secret
from toolbridge.servers.variables import Variables

MISSPELT = "misspelt"
"""Where `sorted_keys` puts the keys that were meant to be others."""

_WHERE = ("command", "cwd", "env_file", "verify")
"""Fields whose variables are places far more often than secrets."""


@dataclass(slots=True)
class Report:
    """What is wrong in a file, and what has no effect there. One line each."""

    file: str
    problems: dict[str, None] = field(default_factory=dict[str, None])
    """In the order found; a dictionary, since a value that is looked at twice is wrong once."""
    notes: dict[str, None] = field(default_factory=dict[str, None])

    def wrong(self, text: str, server: str | None = None, key: str = "") -> None:
        self.problems[self._line(text, server, key)] = None

    def note(self, text: str, server: str | None = None, key: str = "") -> None:
        self.notes[self._line(text, server, key)] = None

    def _line(self, text: str, server: str | None, key: str) -> str:
        parts = [self.file, "" if server is None else f"server {server!r}", key, text]
        return ": ".join(each for each in parts if each)


@dataclass(slots=True)
class Entry:
    """A server's object while it is read."""

    name: str
    values: dict[str, list[tuple[str, Any]]]
    """Our word for a thing, and each key that says it with its value."""
    report: Report
    variables: Variables
    base: Path
    """What relative paths are relative to."""
    disabled: bool = False
    env: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """What is known of the server's own variables: while its `env` is read, only those of its `envFile`."""
    given: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]], repr=False)

    def wrong(self, key: str, text: str) -> None:
        self.report.wrong(text, self.name, key)

    def take(self, what: str) -> tuple[str, Any] | None:
        """The key and the value of a thing; said twice, it must say the same."""
        said = self.values.get(what, [])
        if not said:
            return None
        for key, value in said[1:]:
            if value != said[0][1]:
                self.wrong(key, f"says the same as {said[0][0]!r} and has another value; keep one of the two")
        return said[0]

    def text(self, what: str) -> str | None:
        """A text with its variables replaced; None where there is none or it is wrong."""
        found = self.take(what)
        if found is None:
            return None
        key, value = found
        if not isinstance(value, str):
            self.wrong(key, f"{kind(value)}; expected a string")
            return None
        if not value.strip():
            self.wrong(key, "is empty; give a value, or leave it out")
            return None
        return self.expanded(key, value, place=what in _WHERE)

    def expanded(self, key: str, text: str, *, place: bool = False) -> str:
        """The text with its variables replaced. Those of a disabled server stay as they are: nobody asks for them."""
        if not self.disabled:
            found = self.variables.expand(text, self.env)
            for problem in found.problems:
                self.wrong(key, problem)
            for name, value in found.given:
                if not is_safe(name) and (not place or says_secret(name) or looks_random(value)):
                    self.given.append((name, value))
            text = found.text
        if "\0" in text:
            self.wrong(key, "holds a NUL character, which no system accepts")
        if any("\ud800" <= each <= "\udfff" for each in text):
            self.wrong(key, "holds half of a character (a lone surrogate)")
        return text

    def boolean(self, what: str, default: bool) -> bool:
        found = self.take(what)
        if found is None:
            return default
        if not isinstance(found[1], bool):
            self.wrong(found[0], f"{kind(found[1])}; expected true or false")
            return default
        return found[1]

    def choice(self, what: str, choices: Iterable[str], default: str) -> str:
        found = self.take(what)
        if found is None:
            return default
        if found[1] in (known := tuple(choices)):
            return found[1]
        self.wrong(found[0], f"{unknown(found[1])}; expected one of {', '.join(known)}")
        return default

    def texts(self, what: str) -> dict[str, str]:
        """A map of texts: `env` or `headers`. Numbers and booleans become what JSON writes for them."""
        found = self.take(what)
        if found is None:
            return {}
        key, value = found
        if not isinstance(value, Mapping):
            self.wrong(key, f"{kind(value)}; expected an object of strings")
            return {}
        for each in repeated_keys(value):
            self.wrong(inner(key, each), "is given twice; keep one of the two")
        result: dict[str, str] = {}
        for name, each in value.items():
            text = scalar(each)
            if text is not None:
                result[str(name)] = self.expanded(inner(key, str(name)), text)
            elif each is not None or what != "env":  # null in `env`: the variable is not set, as in VS Code
                self.wrong(inner(key, str(name)), f"{kind(each)}; expected a string")
        return result

    def path(self, text: str) -> str:
        """An absolute path: `~` is the home directory, and what is relative is relative to the file."""
        if text == "~" or text.startswith(("~/", "~\\")):
            text = self.variables.home + text[1:]
        if os.path.isabs(text) or ntpath.isabs(text) or ntpath.splitdrive(text)[0]:
            return text
        return os.path.normpath(os.path.join(self.base, text))


def scalar(value: Any) -> str | None:
    """The text of a string, number or boolean, as JSON writes it; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else None


def sorted_keys(name: str, raw: Mapping[str, Any], report: Report) -> dict[str, list[tuple[str, Any]]]:
    """The keys of an entry by what they say; the strange ones told."""
    for key in repeated_keys(raw):
        report.wrong("is given twice; keep one of the two", name, key)
    values: dict[str, list[tuple[str, Any]]] = {}
    for key, value in ((str(key), value) for key, value in raw.items()):
        what = field_of(key)
        if what is not None:
            if value is not None:  # generated files write null for what is not set
                values.setdefault(what, []).append((key, value))
        elif folded(key) in LOSSES:
            report.note(LOSSES[folded(key)], name, key)
        elif not is_ignored(key):
            close = meant(key)
            if close:
                values.setdefault(MISSPELT, []).append((key, close))
                report.wrong(f"unknown key; did you mean {close!r}?", name, _shown_key(key))
            else:
                report.note("is not known here and has no effect", name, _shown_key(key))
    return values


def _shown_key(key: str) -> str:
    return key if re.fullmatch(r"[\w.$/ -]{1,60}", key) else repr(key[:60])
