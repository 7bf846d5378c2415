"""Reach: what to start or where to call, from an entry's `command`, `args`, `env`, `url`, `type` and `headers`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from toolbridge.mistakes import inner, kind, unknown
from toolbridge.servers.dotenv import read_dotenv
from toolbridge.servers.entry import MISSPELT, Entry, scalar
from toolbridge.servers.environment import is_safe
from toolbridge.servers.keys import folded
from toolbridge.servers.spec import Transport

TRANSPORTS: dict[str, Transport] = {
    "stdio": "stdio", "local": "stdio",
    "http": "http", "https": "http", "streamablehttp": "http", "streamable": "http",
    "sse": "sse",
    "auto": "auto", "remote": "auto", "url": "auto", "mcp": "auto",
}  # fmt: skip
"""What clients call a way to reach a server. `local` and `remote` are opencode's and Copilot's, `url` Anthropic's,
`mcp` the Responses API's."""

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def read_env(entry: Entry) -> dict[str, str]:
    """The server's own variables: its `envFile`, what Codex passes on, and its `env` over both."""
    entry.env = _read_env_file(entry)
    said = entry.texts("env")
    key = entry.values["env"][0][0] if said else "env"
    for name in said:
        if not name or "=" in name or "\0" in name:
            entry.wrong(inner(key, name), "no variable can have this name")
    for name, value in said.items():
        if re.fullmatch(r"\$[A-Za-z_]\w*", value):
            entry.report.note(
                f"{value} is passed on as it is; a variable is written ${{{value[1:]}}}", entry.name, inner(key, name)
            )
    return {**entry.env, **_read_env_vars(entry), **said}


def _read_env_file(entry: Entry) -> dict[str, str]:
    text = entry.text("env_file")
    if text is None or entry.disabled:
        return {}
    key = entry.values["env_file"][0][0]
    try:
        data = Path(entry.path(text)).read_bytes()
    except (OSError, ValueError) as problem:
        reason = (getattr(problem, "strerror", None) or "not a path").lower()
        entry.wrong(key, f"cannot be read ({reason}); a relative path starts at {entry.base}")
        return {}
    values, problems = read_dotenv(data)
    for problem in problems:
        entry.wrong(key, problem)
    return values


def _read_env_vars(entry: Entry) -> dict[str, str]:
    """Codex: names of variables to pass on; those that are not set are left out, as Codex does."""
    found = entry.take("env_vars")
    if found is None:
        return {}
    listed = found[1] if isinstance(found[1], list) else [None]
    names = [each.get("name") if isinstance(each, Mapping) else each for each in listed]
    known = [each for each in names if isinstance(each, str)]
    if len(known) < len(names):
        entry.wrong(found[0], "expected a list of names of variables")
        return {}
    passed = {name: entry.variables.environment[name] for name in known if name in entry.variables.environment}
    entry.given += [each for each in passed.items() if not is_safe(each[0])]
    return passed


def read_reach(entry: Entry) -> tuple[Transport, str | None, tuple[str, ...], str | None]:
    """How the server is reached: a command with its arguments, or a url."""
    transport = _read_transport(entry)
    starts, lies = "command" in entry.values, "url" in entry.values
    if starts and lies:
        entry.wrong(entry.values["command"][0][0], "a server has a command or a url, not both; remove one of the two")
        return "stdio", None, (), None
    if starts:
        if transport not in (None, "stdio"):
            key = entry.values["transport"][0][0]
            entry.wrong(key, 'is for servers with a url, and this one has a command; write "stdio", or leave it out')
        command, args = _read_command(entry)
        return "stdio", command, args, None
    if lies:
        if transport == "stdio":
            key = entry.values["transport"][0][0]
            entry.wrong(key, 'is for servers with a command, and this one has a url; write "http" or "sse"')
        for what in ("args", "cwd"):
            for key, _ in entry.values.get(what, []):
                entry.report.note("has no effect on a server with a url", entry.name, key)
        guess: Transport = "http" if folded(entry.values["url"][0][0]) == "httpurl" else "auto"
        return transport or guess, None, (), _read_url(entry)
    if any(meant in ("command", "url") for _, meant in entry.values.get(MISSPELT, [])):
        return "stdio", None, (), None  # told already
    entry.wrong("", 'has neither "command" nor "url"; give the command that starts it, or the url where it is')
    return "stdio", None, (), None


def _read_transport(entry: Entry) -> Transport | None:
    found = entry.take("transport")
    if found is None:
        return None
    key, value = found
    if isinstance(value, Mapping):
        entry.wrong(key, 'an object; write the kind as a string, and "url" and "headers" beside it')
        return None
    word = folded(value) if isinstance(value, str) else ""
    if word in ("ws", "wss", "websocket"):
        entry.wrong(key, "WebSocket is no transport of MCP; use the server's http url")
    elif word not in TRANSPORTS:
        entry.wrong(key, f"{unknown(value)}; expected stdio, http or sse")
    else:
        return None if TRANSPORTS[word] == "auto" else TRANSPORTS[word]
    return None


def _read_url(entry: Entry) -> str | None:
    text = entry.text("url")
    if text is None:
        return None
    key, url = entry.values["url"][0][0], text.strip()
    if "${" in url:
        return url  # unset, and already told; or disabled
    scheme, mark, rest = url.partition("://")
    place = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2]
    host, _, port = place.rpartition(":") if re.search(r":[^\]]*$", place) else (place, "", "")
    if re.search(r"[\s\x00-\x1f]", url):
        entry.wrong(key, "holds a blank; write %20 for one that belongs there")
    elif not mark:
        local = re.match(r"(//)?(localhost|127\.|0\.0\.0\.0|\[::1\]|192\.168\.|10\.)", url)
        entry.wrong(key, f"has no scheme; write {'http' if local else 'https'}://… in front")
    elif scheme.lower() not in ("http", "https"):
        entry.wrong(key, "is of another scheme; a server is reached by http:// or https://")
    elif not host:
        entry.wrong(key, "names no host; expected https://host/path")
    elif port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        entry.wrong(key, "has a port that is no number from 1 to 65535")
    return url


def _read_command(entry: Entry) -> tuple[str | None, tuple[str, ...]]:
    found = entry.take("command")
    assert found is not None
    key, value = found
    args = _read_args(entry)
    if isinstance(value, list):
        words = [scalar(each) for each in value]
        if not words or None in words or not (words[0] or "").strip():
            entry.wrong(key, "a list; expected the program and its arguments, all strings")
            return None, args
        expanded = [entry.expanded(f"{key}[{index}]", str(each), place=not index) for index, each in enumerate(words)]
        return _at_home(entry, expanded[0]), (*expanded[1:], *args)
    text = entry.text("command")
    if text is None:
        return None, args
    if not re.search(r"\s-" if args else r"\s", text.strip()):
        return _at_home(entry, text.strip()), args
    command, words = _split_command(entry, key, str(value).strip(), text.strip())
    return command, (*words, *args)


def _split_command(entry: Entry, key: str, raw: str, whole: str) -> tuple[str | None, tuple[str, ...]]:
    """`npx -y server` in one string: words, unless it is the name of one file with blanks in it.

    With `args` beside it, only where it holds an option: then it surely is no name. Words are told apart before
    variables are replaced, so a value with blanks stays one word. A path with blanks that is not there is taken as one
    only where no later word is an option.
    """
    if os.path.isfile(_at_home(entry, whole)):
        return _at_home(entry, whole), ()
    words = _words(raw)
    if words is None:
        entry.wrong(key, 'has a quote that is not closed; write the program here and a list of strings in "args"')
        return None, ()
    words = [entry.expanded(key, each) for each in words]
    if re.search(r"[/\\]", words[0]):
        sizes = [size for size in range(len(words), 0, -1) if os.path.isfile(_at_home(entry, " ".join(words[:size])))]
        if sizes:
            return _at_home(entry, " ".join(words[: sizes[0]])), tuple(words[sizes[0] :])
        if not any(each.startswith("-") for each in words[1:]):
            return _at_home(entry, whole), ()
    return _at_home(entry, words[0]), tuple(words[1:])


def _words(text: str) -> list[str] | None:
    """The words of a command line; a `${…}` is never split, and a backslash is a letter, for it is Windows'
    separator."""
    import shlex

    parts: list[str] = []

    def hidden(match: re.Match[str]) -> str:
        parts.append(match[0])
        return f"\ue000{len(parts) - 1}\ue001"

    lexer = shlex.shlex(re.sub(r"\$\{[^}]*\}", hidden, text), posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    lexer.escape = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    return [re.sub("\ue000(\\d+)\ue001", lambda match: parts[int(match[1])], each) for each in words] or None


def _at_home(entry: Entry, command: str) -> str:
    return entry.variables.home + command[1:] if command.startswith(("~/", "~\\")) else command


def _read_args(entry: Entry) -> tuple[str, ...]:
    found = entry.take("args")
    if found is None:
        return ()
    key, value = found
    if not isinstance(value, list):
        entry.wrong(key, f"{kind(value)}; expected a list of strings")
        return ()
    result: list[str] = []
    for index, each in enumerate(value):
        text = scalar(each)
        if text is None:
            entry.wrong(f"{key}[{index}]", f"{kind(each)}; expected a string")
        else:
            result.append(entry.expanded(f"{key}[{index}]", text))
    return tuple(result)


def read_headers(entry: Entry) -> dict[str, str]:
    """The headers, with the token that some clients keep beside them."""
    headers = entry.texts("headers")
    key = entry.values["headers"][0][0] if headers else "headers"
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            entry.wrong(inner(key, name), "is no legal name of a header")
        if re.search(r"[\r\n\0]", value):
            entry.wrong(inner(key, name), "a header is one line")
    named = entry.take("env_headers")
    if named is not None and not (
        isinstance(named[1], Mapping) and all(isinstance(each, str) for each in named[1].values())
    ):
        entry.wrong(named[0], "expected an object of headers and the names of variables")
    elif named is not None:
        for name, variable in named[1].items():
            headers[name] = entry.expanded(inner(named[0], name), f"${{env:{variable}}}")
    for what, form in (("bearer", "{}"), ("bearer_variable", "${{env:{}}}")):
        if (found := entry.take(what)) is not None and isinstance(found[1], str):
            _add_bearer(entry, headers, found[0], entry.expanded(found[0], form.format(found[1])))
        elif found is not None:
            entry.wrong(found[0], f"{kind(found[1])}; expected a string")
    auth = entry.take("auth")
    if auth is not None and isinstance(auth[1], str) and auth[1].lower() != "oauth":
        _add_bearer(entry, headers, auth[0], entry.expanded(auth[0], auth[1]))
    seen: set[str] = set()
    for name in headers:
        if name.lower() in seen:
            entry.wrong(inner(key, name), "is given twice; the case of its letters does not matter")
        seen.add(name.lower())
    if headers and "command" in entry.values:
        entry.report.note(
            'has no effect on a server with a command; it takes what it needs from "env"', entry.name, key
        )
    return headers


def _add_bearer(entry: Entry, headers: dict[str, str], key: str, token: str) -> None:
    if any(name.lower() == "authorization" for name in headers):
        entry.wrong(key, "says the same as the header Authorization; keep one of the two")
    elif not token.strip() or re.search(r"[\r\n]", token):
        entry.wrong(key, "expected a token, which is one line")
    else:
        headers["Authorization"] = token if re.match(r"(?i)(bearer|basic) ", token) else f"Bearer {token}"
