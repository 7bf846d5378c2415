"""The linter's settings in a file: `[tool.toolbridge.lint]` in a pyproject.toml, `[lint]` in a toolbridge.toml.

    select = ["name", "safety"]         # only these rules: ids, groups, globs
    ignore = ["name.version"]
    fail-on = "error"                   # error, warning, info, never
    providers = ["openai-chat"]         # or "main", or "all"
    budget = 20000                      # tokens that all tools together may cost
    tool-budget = 800                   # tokens that one may cost
    waivers = false                     # whether tools may waive rules by their own _meta
    severity = {"cost.tool" = "error"}
    tools."get_*".ignore = ["description.short"]

Keys may be written with `_` for `-`. All mistakes of a table are told at once, each with its file and key; so is what
stands where nobody would read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from toolbridge.errors import SettingsError, ToolbridgeError, nearest
from toolbridge.lint.finding import SEVERITIES, Severity
from toolbridge.lint.settings import LintSettings
from toolbridge.lint.table import refuse_unknown

OWN: Final = "toolbridge.toml"
PROJECT: Final = "pyproject.toml"

FILES: Final[Mapping[str, tuple[str, ...]]] = {OWN: ("lint",), PROJECT: ("tool", "toolbridge", "lint")}
"""The files that are looked for, the one that wins in a directory first, and the table of each."""

NEVER: Final = "never"
"""What `fail-on` says where no finding makes the command fail."""


def find_settings(directory: Path) -> Path | None:
    """The file that counts in a directory: the nearest one with settings, from there to the root of its repository.

    Without a repository only the directory itself is looked at: a file further up may be anybody's.
    """
    above = [directory.absolute(), *directory.absolute().parents]
    root = next((i for i, each in enumerate(above) if (each / ".git").exists()), 0)
    for each in above[: root + 1]:
        for name in FILES:
            if (each / name).is_file() and _table(each / name) is not None:
                return each / name
    return None


def read_settings(path: Path) -> LintSettings:
    """The settings in a file, whatever it is called: of the table for its name, or of the one that it has. Raises
    `SettingsError` with every mistake."""
    table = _table(path)
    if table is None:
        wanted = ".".join(FILES.get(path.name, FILES[OWN]))
        raise SettingsError([f"{path}: no settings of the linter in it; expected a table [{wanted}]"])
    where, found = table
    reader = _Reader(str(path), where)
    settings = reader.settings(found)
    if reader.problems:
        raise SettingsError(reader.problems)
    return settings


def checked_providers(names: Sequence[str]) -> tuple[str, ...]:
    """Names of providers, each once; `main` and `all` are several of them."""
    from toolbridge.lint.offers import chosen_providers  # loads the providers, which most files do without

    return tuple(each.name for each in chosen_providers(tuple(names)))


def read_fail_on(word: str) -> Severity | None:
    """The severity that a word means; raises `KeyError` where it means none."""
    if word == NEVER:
        return None
    known: dict[str, Severity] = {each: each for each in SEVERITIES}
    return known[word]


def _table(path: Path) -> tuple[str, Any] | None:
    """The name of the linter's table in a file and what is in it; `None` where the file has none."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError([f"{path}: not UTF-8 text; settings are TOML"]) from None
    except (OSError, ValueError) as failure:
        reason = getattr(failure, "strerror", None) or str(failure)
        raise SettingsError([f"{path}: {reason.lower()}; expected a file with the linter's settings"]) from None
    places = [FILES[path.name]] if path.name in FILES else list(FILES.values())
    if path.name == PROJECT and "toolbridge" not in text:
        return None  # other tools' file, which is none of ours to find broken
    if path.name not in FILES and not any(all(step in text for step in steps) for steps in places):
        return None
    import tomllib

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as failure:
        reason = " ".join(str(failure).split()) or "nested too deeply"
        raise SettingsError([f"{path}: not valid TOML: {reason[:1].lower()}{reason[1:]}"]) from None
    for steps in places:
        holder: Any = document
        for step in steps[:-1]:
            holder = holder.get(step) if isinstance(holder, Mapping) else None
        if path.name in FILES:
            _refuse_strays(str(path), steps, holder)
        if isinstance(holder, Mapping) and steps[-1] in holder:
            return ".".join(steps), holder[steps[-1]]
    return None


def _refuse_strays(file: str, steps: tuple[str, ...], holder: Any) -> None:
    """Raise for what stands beside the linter's table, where all is ours: nobody would read it."""
    outer = "".join(f"{step}." for step in steps[:-1])
    if holder is not None and not isinstance(holder, Mapping):
        raise SettingsError([f"{file}: {outer[:-1]}: {_kind(holder)}; expected a table"])
    table = ".".join(steps)
    problems: list[str] = []
    for key in holder or ():
        if key == steps[-1]:
            continue
        if key.replace("-", "_") in _FIELDS:
            said = f"stands outside of its table; put it into [{table}]"
        elif key == FILES[PROJECT][0]:
            said = f"unknown table; in this file it is [{table}]"
        else:
            meant = nearest(key.lower(), steps[-1:])
            said = f"unknown table; {f'did you mean [{table}]?' if meant else f'there is only [{table}]'}"
        problems.append(f"{file}: {outer}{_key(key)}: {said}")
    if problems:
        raise SettingsError(problems)


_Read: TypeAlias = "Callable[[_Reader, str, Any], Any]"


class _Reader:
    """The walk through one table, and the mistakes that were met."""

    def __init__(self, file: str, table: str) -> None:
        self.file = file
        self.table = table
        self.problems: list[str] = []

    def wrong(self, key: str, text: str) -> None:
        self.problems.append(f"{self.file}: {'.'.join(filter(None, (self.table, key)))}: {text}")

    def settings(self, table: Any) -> LintSettings:
        if not isinstance(table, Mapping):
            self.wrong("", f"{_kind(table)}; expected a table")
            return LintSettings()
        values: dict[str, Any] = {}
        for key, value in table.items():
            field = key.replace("-", "_")
            if field not in _FIELDS:
                self.unknown(key)
            elif field in values:
                self.wrong(key, "is given twice, with - and with _; keep one of the two")
            else:
                before = len(self.problems)
                read = _FIELDS[field](self, key, value)
                if len(self.problems) == before:
                    values[field] = read
        return LintSettings(**values)

    def unknown(self, key: str) -> None:
        names = [each.replace("_", "-") for each in _FIELDS]
        meant = nearest(key.replace("_", "-"), names)
        hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(names)}"
        self.wrong(_key(key), f"unknown key; {hint}")

    def texts(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            what = "a list with something else in it" if isinstance(value, list) else _kind(value)
            self.wrong(key, f"{what}; expected a list of strings")
            return ()
        return tuple(value)

    def patterns(self, key: str, value: Any) -> tuple[str, ...]:
        found = self.texts(key, value)
        for each in found:
            self.check(key, refuse_unknown, [each], "")
        return found

    def check(self, key: str, ask: Callable[..., Any], *what: Any) -> Any:
        """What is answered; a refusal is a mistake of this key."""
        try:
            return ask(*what)
        except ToolbridgeError as refusal:
            self.wrong(key, str(refusal).removeprefix(": "))
            return None

    def providers(self, key: str, value: Any) -> tuple[str, ...]:
        names = (value,) if value in ("all", "main") else self.texts(key, value)
        if value == []:
            self.wrong(key, "an empty list; name a provider, or leave it out")
        return (self.check(key, checked_providers, names) if names else None) or ()

    def fail_on(self, key: str, value: Any) -> Severity | None:
        try:
            return read_fail_on(value)
        except (KeyError, TypeError):
            self.wrong(key, f"{_shown(value)}; expected one of {', '.join((*SEVERITIES, NEVER))}")
            return None

    def tokens(self, key: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            self.wrong(key, f"{_shown(value)}; expected a number of tokens, at least 1")
            return 1
        return value

    def boolean(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            self.wrong(key, f"{_kind(value)}; expected true or false")
        return bool(value)

    def severity(self, key: str, value: Any) -> Mapping[str, Severity]:
        if not isinstance(value, Mapping):
            self.wrong(key, f"{_kind(value)}; expected a table of rules and severities")
            return {}
        found: dict[str, Severity] = {}
        for pattern, word in _rows(value):
            inner = f"{key}.{_key(pattern)}"
            if word not in SEVERITIES:
                self.wrong(inner, f"{_shown(word)}; expected one of {', '.join(SEVERITIES)}")
                continue
            self.patterns(inner, [pattern])
            found[pattern] = word
        return found

    def tools(self, key: str, value: Any) -> Mapping[str, tuple[str, ...]]:
        if not isinstance(value, Mapping):
            self.wrong(key, f'{_kind(value)}; expected a table for each tool, such as tools."get_*".ignore = ["name"]')
            return {}
        found: dict[str, tuple[str, ...]] = {}
        for name, table in value.items():
            inner = f"{key}.{_key(name)}"
            if not isinstance(table, Mapping):
                self.wrong(inner, f'{_kind(table)}; expected a table with "ignore"')
                continue
            for each in table:
                if each != "ignore":
                    self.wrong(f"{inner}.{_key(each)}", "unknown key; there is only 'ignore'")
            found[name] = self.patterns(f"{inner}.ignore", table.get("ignore", []))
        return found


_FIELDS: Final[Mapping[str, _Read]] = {
    "select": _Reader.patterns,
    "ignore": _Reader.patterns,
    "fail_on": _Reader.fail_on,
    "providers": _Reader.providers,
    "budget": _Reader.tokens,
    "tool_budget": _Reader.tokens,
    "waivers": _Reader.boolean,
    "severity": _Reader.severity,
    "tools": _Reader.tools,
}
"""The fields of `LintSettings`, and what reads each."""


def _rows(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The rows of a table of rules. `name.version = …` without quotes is a table in a table, and means the rule."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{inner}", each) for inner, each in value.items())
        else:
            yield key, value


def _key(key: str) -> str:
    """A key as TOML writes it."""
    plain = key.replace("-", "a").replace("_", "a")
    if plain.isascii() and plain.isalnum():
        return key
    import json

    return json.dumps(key, ensure_ascii=False)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else _kind(value)
