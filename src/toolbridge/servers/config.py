"""Configurations: an `mcp.json` as people already have it becomes server specifications.

`document` makes data of the file, `shapes` finds the servers in it, `reach` and `policy` read an entry, `variables`
fills in what it leaves open. All mistakes of a file are told at once, each with its file, server and field, and no
message shows a value. Nothing here starts or reaches a server.

Decisions, where clients differ:

- A relative `cwd`, `envFile` or `verify` starts at the file's directory, or at the project's for a file in `.vscode` or
  so.
- `null` is as if the key were not there; in `env`, the variable is not set.
- `command` may be a list, or a whole command line where there are no `args` or it holds options.
- `timeout` is the limit of a call in seconds, or an object of limits; a number above 3600 is in milliseconds.
- A server that is disabled is listed with its variables as written: nobody is asked for what is not used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from toolbridge.errors import ConfigError
from toolbridge.mistakes import kind, unknown
from toolbridge.servers.document import LARGEST_BYTES, DocumentError, read_json, read_toml
from toolbridge.servers.entry import Entry, Report, sorted_keys
from toolbridge.servers.found import project_root, workspace
from toolbridge.servers.policy import locked_value, read_approval, read_filter, read_limits, read_locked, read_oauth
from toolbridge.servers.reach import read_env, read_headers, read_reach
from toolbridge.servers.secrets import secret_values
from toolbridge.servers.shapes import read_shape
from toolbridge.servers.spec import Locked, OAuth, ServerSpec
from toolbridge.servers.variables import InputQuestion, Inputs, Variables

__all__ = [
    "Examined", "InputQuestion", "Inputs", "Source", "examine_config", "read_config", "read_servers", "refuse_mistaken",
]  # fmt: skip

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]]"
"""A file, or what stands in one."""

IN_MEMORY = "configuration"
"""What messages call a configuration that is no file."""

_PROTOCOL = re.compile(r"auto|legacy|\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Examined:
    """All there is to say about a configuration, for those who want to go on in spite of mistakes."""

    servers: tuple[ServerSpec, ...]
    """All servers, in the order of the file; one with mistakes has them as its `problem`."""
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    """What was read and has no effect, or not the one that was probably meant."""

    @property
    def specs(self) -> tuple[ServerSpec, ...]:
        """The servers without mistakes."""
        return tuple(spec for spec in self.servers if spec.problem is None)


def read_config(
    source: Source, *, environment: Mapping[str, str] | None = None, inputs: Inputs | None = None
) -> list[ServerSpec]:
    """The servers of a file (JSON, JSON with comments, Codex's TOML) or of the same as a dictionary or list.

    `environment` is for `${NAME}` (ours, unless another is given), `inputs` answers `${input:id}`. Raises `ConfigError`
    with every mistake.
    """
    examined = examine_config(source, environment=environment, inputs=inputs)
    if examined.problems:
        raise ConfigError(examined.problems)
    return list(examined.specs)


def read_servers(
    source: Source, *, environment: Mapping[str, str] | None = None, inputs: Inputs | None = None
) -> list[ServerSpec]:
    """The servers of a file, with those that have mistakes among them: each has its `problem`, and costs only itself.

    Raises `ConfigError` where the mistakes are the file's own.
    """
    examined = examine_config(source, environment=environment, inputs=inputs)
    told = {line for spec in examined.servers if spec.problem for line in spec.problem.splitlines()}
    if not told.issuperset(examined.problems):
        raise ConfigError(examined.problems)
    return list(examined.servers)


def refuse_mistaken(specs: Iterable[ServerSpec]) -> None:
    """Raise `ConfigError` where a required server has mistakes, or where no server is left to use."""
    enabled = [spec for spec in specs if not spec.disabled]
    mistaken = [spec for spec in enabled if spec.problem is not None]
    if any(spec.required for spec in mistaken) or (mistaken and len(mistaken) == len(enabled)):
        raise ConfigError(line for spec in mistaken for line in (spec.problem or "").splitlines())


def examine_config(
    source: Source, *, environment: Mapping[str, str] | None = None, inputs: Inputs | None = None
) -> Examined:
    """The servers that are right, and the mistakes of the others. Raises nothing of its own."""
    environment = os.environ if environment is None else environment
    report = Report(IN_MEMORY)
    base = folder = Path.cwd()
    if isinstance(source, str | os.PathLike):
        document = _read_file(source, report)
        if report.problems:
            return Examined((), tuple(report.problems), ())
        path = Path(source).expanduser()
        base, folder = project_root(path), workspace(path, environment)
    else:
        document = list(source) if isinstance(source, Sequence) and not isinstance(source, bytes) else source
    shape = read_shape(document, report, os.getcwd())
    variables = Variables(environment, folder, shape.questions, inputs)
    locked: Locked = None
    if shape.locked is not None:
        key, value = shape.locked
        locked = locked_value(value, lambda text: report.wrong(text, None, key))
    specs: list[ServerSpec] = []
    for name, raw in shape.servers.items():
        off = name in shape.excluded
        specs.append(_read_server(name, raw, report, variables, base, off=off, locked=locked))
    return Examined(tuple(specs), tuple(report.problems), tuple(report.notes))


def _read_file(source: str | os.PathLike[str], report: Report) -> Any:
    text = os.fspath(source)
    if not isinstance(text, str) or text.lstrip()[:1] in ("", "{", "[") or "\n" in text or "\0" in text:
        report.wrong(
            "expected the path of a file, or a dictionary; this is neither"
        )  # and may hold anything: not shown
        return None
    report.file = text
    path = Path(text).expanduser()
    try:
        if os.path.isdir(path):
            report.wrong("is a directory; give the file in it, such as mcp.json")
            return None
        if os.path.isfile(path) and os.path.getsize(path) > LARGEST_BYTES:
            report.wrong("is too large to be a configuration")
            return None
        data = path.read_bytes()
    except OSError as problem:
        reason = (
            "no such file" if isinstance(problem, FileNotFoundError) else (problem.strerror or "cannot be read").lower()
        )
        report.wrong(reason)
        return None
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        report.wrong("YAML is not read; write JSON, or TOML as Codex does")
        return None
    try:
        return read_toml(data) if suffix == ".toml" else read_json(data)
    except DocumentError as problem:
        report.wrong(str(problem))
        return None


def _read_server(
    name: str, raw: Mapping[str, Any], report: Report, variables: Variables, base: Path, *, off: bool, locked: Locked
) -> ServerSpec:
    """The server that an entry describes; where it cannot be used, with the reasons, which the report has too."""
    before = len(report.problems)
    if isinstance(command := raw.get("command"), Mapping) and "path" in command:  # Zed's older form
        raw = {**raw, "command": command["path"], **{key: command[key] for key in ("args", "env") if key in command}}
    entry = Entry(name, sorted_keys(name, raw, report), report, variables, base)
    disabled, enabled = entry.boolean("disabled", False), entry.boolean("enabled", True)
    entry.disabled = off or disabled or not enabled
    entry.env = read_env(entry)
    transport, command, args, url = read_reach(entry)
    cwd = entry.text("cwd")
    spec = ServerSpec(
        name=name,
        transport=transport,
        command=command,
        args=args,
        env=entry.env,
        inherit=_read_inherit(entry),
        cwd=entry.path(cwd) if cwd else None,
        url=url,
        headers=read_headers(entry),
        oauth=_read_oauth(entry),
        verify=_read_verify(entry),
        protocol=_read_protocol(entry),
        disabled=entry.disabled,
        required=entry.boolean("required", False),
        trust=entry.boolean("trust", False),
        filter=read_filter(entry),
        approval=read_approval(entry),
        locked=read_locked(entry, locked),
        limits=read_limits(entry),
        source="" if report.file == IN_MEMORY else report.file,
    )
    if len(report.problems) > before:
        problem = "\n".join(list(report.problems)[before:])
        return ServerSpec(name, disabled=spec.disabled, required=spec.required, source=spec.source, problem=problem)
    return replace(spec, secrets=secret_values(spec, entry.given, variables.environment))


def _read_oauth(entry: Entry) -> OAuth | None:
    auth = entry.take("auth")
    if auth is not None and not isinstance(auth[1], str):
        return read_oauth(entry, *auth)
    found = entry.take("oauth")
    if found is not None:
        return read_oauth(entry, *found)
    return OAuth() if auth is not None and auth[1].lower() == "oauth" else None


def _read_inherit(entry: Entry) -> Literal["safe", "all", "none"]:
    word = entry.choice("inherit", ("safe", "all", "none"), "safe")
    return "all" if word == "all" else "none" if word == "none" else "safe"


def _read_verify(entry: Entry) -> bool | str:
    found = entry.take("verify")
    if found is None or isinstance(found[1], bool):
        return True if found is None else found[1]
    if not isinstance(found[1], str):
        entry.wrong(found[0], f"{kind(found[1])}; expected true, false, or the path of a file of certificates")
        return True
    text = entry.text("verify")
    return entry.path(text) if text else True


def _read_protocol(entry: Entry) -> str:
    found = entry.take("protocol")
    if found is None:
        return "auto"
    if not isinstance(found[1], str) or not _PROTOCOL.fullmatch(found[1]):
        entry.wrong(found[0], f"{unknown(found[1])}; expected auto, legacy, or a version such as 2025-11-25")
        return "auto"
    return found[1]
