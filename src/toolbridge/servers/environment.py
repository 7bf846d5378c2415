"""The environment of a child process, and where on its PATH the command is.

A server gets a list of variables known to be harmless, not all of ours: a token in our environment is no business of
every program that an `mcp.json` names. What it needs beyond that stands in its `env`, or it asks for `inherit: all`.
Resolving the command here, on the child's own PATH, turns the most frequent failure into a sentence that helps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from toolbridge.failure import Cause, Failure
from toolbridge.servers.secrets import command_line, redact, secret_values
from toolbridge.servers.spec import ServerSpec

WINDOWS = os.name == "nt"

SAFE_EVERYWHERE = frozenset({
    "PATH", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR",
    # the network: without these nothing is reached from behind a company's proxy
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "FTP_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NIX_SSL_CERT_FILE",
    # where interpreters and package managers are, and keep what they fetched
    "NVM_DIR", "NVM_BIN", "NVM_HOME", "NVM_SYMLINK", "FNM_DIR", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL",
    "DENO_DIR", "DENO_INSTALL", "PYENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "HOMEBREW_PREFIX",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "UV_CACHE_DIR", "UV_TOOL_DIR",
    "UV_PYTHON_INSTALL_DIR", "PIP_CACHE_DIR", "NPM_CONFIG_CACHE", "NPM_CONFIG_PREFIX", "PLAYWRIGHT_BROWSERS_PATH",
    "DOCKER_HOST", "DOCKER_CONTEXT",
})  # fmt: skip
"""Harmless on every system. Not `VIRTUAL_ENV`, `PYTHONPATH`, `PYTHONHOME`, `NODE_OPTIONS`: they are ours, and make
another program's interpreter load our packages. Not `SSH_AUTH_SOCK`: it signs for whoever holds it."""

SAFE_POSIX = frozenset({
    "HOME", "LOGNAME", "SHELL", "USER", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "__CF_USER_TEXT_ENCODING",
})  # fmt: skip
SAFE_WINDOWS = frozenset({
    "ALLUSERSPROFILE", "APPDATA", "COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
    "COMPUTERNAME", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
    "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
    "PROGRAMW6432", "PSMODULEPATH", "PUBLIC", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERDOMAIN", "USERNAME",
    "USERPROFILE", "WINDIR",
})  # fmt: skip
"""Node, .NET and PowerShell fail in strange ways without these."""

SAFE_BEGINNINGS = ("LC_", "XDG_")

INSTALLS = {
    "npx": "npx comes with Node.js (https://nodejs.org)",
    "npm": "npm comes with Node.js (https://nodejs.org)",
    "node": "node is Node.js (https://nodejs.org)",
    "uvx": "uvx comes with uv (https://docs.astral.sh/uv)",
    "uv": "uv is at https://docs.astral.sh/uv",
    "bunx": "bunx comes with Bun (https://bun.sh)",
    "bun": "Bun is at https://bun.sh",
    "deno": "Deno is at https://deno.com",
    "docker": "docker comes with Docker (https://docs.docker.com/get-docker)",
    "python": "the command may be called python3 here",
}
"""What the commands of most configurations belong to."""

DIRECTORIES_SHOWN = 6
"""Of a PATH that was searched in vain; the rest is counted."""

_PROGRAM = re.compile(rb"#![ \t]*(\S+)[ \t]*([^\r\n]*)")


def is_safe(name: str, *, windows: bool = WINDOWS) -> bool:
    """Whether a variable of ours may be passed on without being asked for."""
    upper = name.upper()
    if upper in SAFE_EVERYWHERE or upper.startswith(SAFE_BEGINNINGS):
        return True
    return upper in (SAFE_WINDOWS if windows else SAFE_POSIX)


def child_environment(
    spec: ServerSpec, environment: Mapping[str, str] | None = None, *, windows: bool = WINDOWS
) -> dict[str, str]:
    """The whole environment of the server's process: what it inherits, and its `env` over that."""
    ours = os.environ if environment is None else environment
    inherited: dict[str, str] = {}
    if spec.inherit != "none":
        for name, value in ours.items():
            # bash exports functions as variables that begin with "()": code, and some shells run it on sight
            if not value.startswith("()") and (spec.inherit == "all" or is_safe(name, windows=windows)):
                inherited[name] = value
    if not any(name.upper() == "PATH" for name in (*inherited, *spec.env)):
        inherited["PATH"] = os.defpath
    if windows:  # Path and PATH are one variable there; the later spelling must replace the earlier one
        replaced = {name.upper() for name in spec.env}
        inherited = {name: value for name, value in inherited.items() if name.upper() not in replaced}
    return {**inherited, **spec.env}


def find_command(spec: ServerSpec, env: Mapping[str, str] | None = None, *, windows: bool = WINDOWS) -> str | Failure:
    """The full path of the program, looked for on the child's PATH, or why it cannot be started."""
    env = child_environment(spec, windows=windows) if env is None else env
    if spec.cwd is not None and not os.path.isdir(spec.cwd):
        state = "is not a directory" if os.path.exists(spec.cwd) else "does not exist"
        return _failure(spec, "bad_cwd", f"its working directory {spec.cwd} {state}")
    command = spec.command or ""
    if not command:
        return _failure(spec, "not_found", "it has no command")
    extensions = _extensions(command, env) if windows else ("",)
    if os.path.dirname(command) or (windows and "\\" in command):
        return _named_file(spec, command, extensions, env, windows=windows)
    blocked: str | None = None
    for directory in _directories(env, windows=windows):
        for extension in extensions:
            path = os.path.join(spec.cwd or "", directory, command + extension)
            if _runs(path, windows=windows):
                return _with_interpreter(spec, os.path.abspath(path), env, windows=windows)
            if blocked is None and os.path.isfile(path):
                blocked = path
    if blocked:
        return _failure(spec, "not_executable", f"{blocked} is not executable")
    return _failure(spec, "not_found", _not_found(command, env, windows=windows))


def _named_file(
    spec: ServerSpec, command: str, extensions: tuple[str, ...], env: Mapping[str, str], *, windows: bool
) -> str | Failure:
    path = os.path.abspath(os.path.join(spec.cwd or "", os.path.expanduser(command)))
    for extension in extensions:
        if _runs(path + extension, windows=windows):
            return _with_interpreter(spec, path + extension, env, windows=windows)
    if os.path.isdir(path):
        return _failure(spec, "not_executable", f"{path} is a directory, not a program")
    if os.path.exists(path):
        return _failure(spec, "not_executable", f"{path} is not executable")
    meant = _nearest(os.path.basename(path), _programs([os.path.dirname(path)], windows=windows))
    hint = f"; did you mean {os.path.join(os.path.dirname(path), meant)}?" if meant else _split_hint(command)
    return _failure(spec, "not_found", f"{path} does not exist{hint}")


def _with_interpreter(spec: ServerSpec, path: str, env: Mapping[str, str], *, windows: bool) -> str | Failure:
    """A script whose interpreter is missing fails as if the script itself were: say which of the two it is."""
    if windows:
        return path
    try:
        with open(path, "rb") as file:
            first = _PROGRAM.match(file.read(256))
    except OSError:
        return path  # executable but not readable is legal
    if not first:
        return path
    program = os.fsdecode(first[1])
    words = os.fsdecode(first[2]).split()
    if not os.path.exists(program):
        return _failure(spec, "not_found", f"{path} starts with #!{program}, which does not exist")
    if os.path.basename(program) == "env" and words[:1] == ["-S"]:
        words = words[1:]
    if os.path.basename(program) == "env" and words and not words[0].startswith("-") and "=" not in words[0]:
        directories = _directories(env, windows=False)
        if not any(_runs(os.path.join(each, words[0]), windows=False) for each in directories):
            message = f"{path} is run by {words[0]}, and {_not_found(words[0], env, windows=False)}"
            return _failure(spec, "not_found", message)
    return path


def _failure(spec: ServerSpec, cause: Cause, message: str) -> Failure:
    return Failure(spec.name, cause, redact(message, secret_values(spec)), command=command_line(spec))


def _not_found(command: str, env: Mapping[str, str], *, windows: bool) -> str:
    directories = list(_directories(env, windows=windows))
    home = os.path.expanduser("~")
    shown = [
        "~" + each[len(home) :] if each == home or each.startswith(home + os.sep) else each
        for each in directories[:DIRECTORIES_SHOWN]
    ]
    rest = len(directories) - len(shown)
    searched = (" ".join(shown) or "an empty PATH") + (f" and {rest} more" if rest > 0 else "")
    meant = None if command in INSTALLS else _nearest(command, _programs(directories, windows=windows))
    hint = f"; did you mean {meant}?" if meant else _split_hint(command)
    install = f"; {INSTALLS[command]}" if command in INSTALLS else ""
    return f"there is no command {command} in {searched}{hint}{install}"


def _split_hint(command: str) -> str:
    """People write `uv run` into "command" and the rest into "args"."""
    first, space, _ = command.partition(" ")
    if not space or os.path.exists(command):
        return ""
    return f'; "command" is one program: write {os.path.basename(first)} there, and the words after it first in "args"'


def _directories(env: Mapping[str, str], *, windows: bool) -> Iterator[str]:
    path = next((value for name, value in env.items() if name == "PATH" or (windows and name.upper() == "PATH")), "")
    seen: set[str] = set()
    for each in path.split(";" if windows else ":"):
        each = each.strip('"') if windows else each
        if each and each not in seen:  # an empty entry means the working directory: nobody wants that searched
            seen.add(each)
            yield each


def _extensions(command: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """What Windows may put behind a command: `npx` is `npx.cmd`. The bare name comes last: it is often a script for
    sh."""
    listed = next((value for name, value in env.items() if name.upper() == "PATHEXT"), "") or ".COM;.EXE;.BAT;.CMD"
    known = tuple(each.strip().lower() for each in listed.split(";") if each.strip())
    return ("",) if command.lower().endswith(known) else (*known, "")


def _runs(path: str, *, windows: bool) -> bool:
    return os.path.isfile(path) and (windows or os.access(path, os.X_OK))


def _programs(directories: Iterable[str], *, windows: bool) -> Iterator[str]:
    for directory in directories:
        try:
            names = os.listdir(directory)
        except OSError:
            continue  # a PATH names directories that are not there
        for name in names:
            if windows or os.access(os.path.join(directory, name), os.X_OK):
                yield os.path.splitext(name)[0] if windows else name


def _nearest(command: str, programs: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    length = len(command)
    near = {each for each in programs if abs(len(each) - length) <= 2}
    found = get_close_matches(command, sorted(near), n=1, cutoff=0.75)
    return found[0] if found else None
