"""Policy: which tools of a server are offered, which calls a person must allow, how long to wait, how to log in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolbridge.approval import Approval, read_approval_at
from toolbridge.filters import MCPToolFilter, read_names, read_selection
from toolbridge.mistakes import inner, kind, unknown
from toolbridge.servers.entry import Entry
from toolbridge.servers.keys import folded
from toolbridge.servers.spec import Limits, Locked, OAuth

MILLISECONDS_FROM = 3600
"""A bare `timeout` above this is in milliseconds. Cline and Roo Code count seconds and allow at most these; Gemini CLI,
Claude Code and FastMCP count milliseconds, and nobody waits less than four seconds (checked November 2026)."""

LIMITS = ("connect", "list", "call", "total")


def read_filter(entry: Entry) -> MCPToolFilter:
    """Which tools are offered. An empty list of allowed tools is a mistake: clients differ on whether it means all."""
    include: tuple[str, ...] = ()
    read_only = True if entry.boolean("read_only", False) else None
    said = [(key, value) for key, value in entry.values.get("include", []) if not _is_codex_tools(key, value)]
    named: tuple[str, Any] | None = None
    for key, value in said:
        read = read_selection(key, value, entry.wrong)
        if read.read_only is not None:
            if read_only is not None and read_only is not read.read_only:
                entry.wrong(f"{key}.read_only", "says the opposite of another key; keep one of the two")
            read_only = read.read_only
        if read.names is None:
            continue
        if isinstance(value, Mapping):
            key, value = f"{key}.tool_names", value["tool_names"]
        if named is not None and value != named[1]:
            entry.wrong(key, f"says the same as {named[0]!r} and has another value; keep one of the two")
            continue
        named = named or (key, value)
        include = read.names
        if value == []:
            entry.wrong(key, 'is empty; leave it out to offer every tool, or set "disabled": true')
    exclude = [each for key, value in entry.values.get("exclude", []) for each in read_names(key, value, entry.wrong)]
    return MCPToolFilter(
        include=() if include == ("*",) else include,
        exclude=dict.fromkeys(exclude),
        read_only=read_only,
    )


def read_approval(entry: Entry) -> Approval | None:
    """Which calls a person must allow; `None` where the operator says nothing about it."""
    found = entry.take("approval")
    approval = Approval() if found is None else read_approval_at(*found, entry.wrong)
    default, never = approval.default, [*approval.never]
    for key, value in entry.values.get("approved", []):
        if value is True:
            default = "never"
        elif value is not False:
            never += read_names(key, value, entry.wrong)
    if found is None and default == "always" and not never:
        return None
    return replace(approval, default=default, never=tuple(dict.fromkeys(never)))


def read_locked(entry: Entry, default: Locked) -> Locked:
    """The key `locked` of an entry; `default` is what stands over all entries."""
    found = entry.take("locked")
    if found is None:
        return default
    return locked_value(found[1], lambda text: entry.wrong(found[0], text))


def locked_value(value: object, wrong: Callable[[str], None]) -> Locked:
    """What `locked` says, wherever it stands."""
    if isinstance(value, bool):
        return value
    if value == "refuse":
        return "refuse"
    wrong('expected true, false, or "refuse"')
    return None


def read_limits(entry: Entry) -> Limits:
    """How long to wait and how much to run at once; what is not said stays as `Limits` has it."""
    said: dict[str, float] = {}

    def set_limit(what: str, key: str, value: Any, unit: float = 1.0) -> None:
        seconds = _seconds(entry, key, value)
        if seconds is None:
            return
        if what in said and said[what] != seconds * unit:
            entry.wrong(key, "is given twice; keep one of the two")
        said[what] = seconds * unit

    found = entry.take("timeout")
    if found is not None and isinstance(found[1], Mapping):
        for name, value in found[1].items():
            if folded(str(name)) in LIMITS:
                set_limit(folded(str(name)), inner(found[0], str(name)), value)
            else:
                entry.wrong(inner(found[0], str(name)), f"unknown key; expected {', '.join(LIMITS)}")
    elif found is not None:
        milliseconds = isinstance(found[1], int | float) and found[1] > MILLISECONDS_FROM
        set_limit("call", found[0], found[1], 0.001 if milliseconds else 1.0)
    for what in LIMITS:
        if (found := entry.take(what)) is not None:
            set_limit(what, *found)
    if (found := entry.take("connect_milliseconds")) is not None:
        set_limit("connect", *found, 0.001)
    if "call" in said:  # a call may always take as long as one silence in it
        said.setdefault("total", max(said["call"], Limits().total))
    concurrency = Limits().concurrency
    if (found := entry.take("concurrency")) is not None:
        if isinstance(found[1], int) and not isinstance(found[1], bool) and found[1] > 0:
            concurrency = found[1]
        else:
            entry.wrong(found[0], "expected a whole number from 1 on")
    return Limits(**said, concurrency=concurrency)


def read_oauth(entry: Entry, key: str, value: Any) -> OAuth | None:
    """How to log in: `true` for a client that registers itself, or an object of what the server's owner gave out."""
    if isinstance(value, bool):
        return OAuth() if value else None
    if not isinstance(value, Mapping):
        entry.wrong(key, f"{kind(value)}; expected true, false or an object")
        return None
    plain = {folded(str(name)): (inner(key, str(name)), each) for name, each in value.items() if each is not None}
    if plain.get("enabled", ("", True))[1] is False:
        return None
    grant = plain.get("grant", plain.get("granttype", ("", "authorization_code")))
    if grant[1] not in ("authorization_code", "client_credentials"):
        entry.wrong(grant[0], f"{unknown(grant[1])}; expected authorization_code or client_credentials")
    port = plain.get("redirectport", plain.get("callbackport", ("", 0)))
    if not isinstance(port[1], int) or isinstance(port[1], bool) or not 0 <= port[1] < 65536:
        entry.wrong(port[0], "expected a port from 1 to 65535, or 0 for any")
    return OAuth(
        client_id=_oauth_text(entry, plain.get("clientid")),
        client_secret=_oauth_text(entry, plain.get("clientsecret")),
        metadata_url=_metadata_url(entry, plain.get("metadataurl", plain.get("clientmetadataurl"))),
        scopes=_scopes(entry, plain.get("scopes", plain.get("scope"))),
        redirect_port=port[1],
        grant="client_credentials" if grant[1] == "client_credentials" else "authorization_code",
    )


def _is_codex_tools(key: str, value: Any) -> bool:
    """Codex keeps settings of single tools under the key that Copilot CLI has for the list of them."""
    return folded(key) == "tools" and isinstance(value, Mapping) and "tool_names" not in value


def _seconds(entry: Entry, key: str, value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        entry.wrong(key, f"{kind(value)}; expected a number of seconds")
        return None
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds) or seconds <= 0:
        entry.wrong(key, "expected a number of seconds above 0")
        return None
    return seconds


def _metadata_url(entry: Entry, found: tuple[str, Any] | None) -> str | None:
    url = _oauth_text(entry, found)
    if found is not None and url is not None and "${" not in url and not re.match(r"https://[^/]+/[^#]", url):
        entry.wrong(found[0], "expected the https:// address of a document, with its path")
        return None
    return url


def _oauth_text(entry: Entry, found: tuple[str, Any] | None) -> str | None:
    if found is None:
        return None
    if not isinstance(found[1], str) or not found[1]:
        entry.wrong(found[0], f"{kind(found[1]) if found[1] != '' else 'empty'}; expected a string")
        return None
    return entry.expanded(*found)


def _scopes(entry: Entry, found: tuple[str, Any] | None) -> tuple[str, ...]:
    if found is None:
        return ()
    scopes = found[1].split() if isinstance(found[1], str) else found[1]
    if not isinstance(scopes, list) or not all(isinstance(each, str) for each in scopes):
        entry.wrong(found[0], "expected a list of strings, or one string with blanks between them")
        return ()
    return tuple(scopes)
