"""Policy: which tools of a server are offered, which calls a person must allow, how long to wait, how to log in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal

from toolbridge.approval import Approval
from toolbridge.filters import MCPToolFilter
from toolbridge.servers.entry import Entry, inner, kind, unknown
from toolbridge.servers.keys import folded
from toolbridge.servers.spec import Limits, OAuth

MILLISECONDS_FROM = 3600
"""A bare `timeout` above this is in milliseconds. Cline and Roo Code count seconds and allow at most these; Gemini CLI,
Claude Code and FastMCP count milliseconds, and nobody waits less than four seconds (checked November 2026)."""

LIMITS = ("connect", "list", "call", "total")


def read_filter(entry: Entry) -> MCPToolFilter:
    """Which tools are offered. An empty list of allowed tools is a mistake: clients differ on whether it means all."""
    include: list[str] = []
    read_only = entry.boolean("read_only", False)
    said = [(key, value) for key, value in entry.values.get("include", []) if not _is_codex_tools(key, value)]
    for index, (key, value) in enumerate(said):
        if isinstance(value, Mapping):
            read_only = _read_only(entry, key, value) or read_only
            value = value.get("tool_names")
            if value is None:
                continue
            key = f"{key}.tool_names"
        if index and value != said[0][1]:
            entry.wrong(key, f"says the same as {said[0][0]!r} and has another value; keep one of the two")
            continue
        include = names(entry, key, value)
        if value == []:
            entry.wrong(key, 'is empty; leave it out to offer every tool, or set "disabled": true')
    exclude = [each for key, value in entry.values.get("exclude", []) for each in names(entry, key, value)]
    return MCPToolFilter(
        include=[] if include == ["*"] else include,
        exclude=dict.fromkeys(exclude),
        read_only=True if read_only else None,
    )


def read_approval(entry: Entry) -> Approval | None:
    """Which calls a person must allow; `None` where the operator says nothing about it."""
    default: Literal["always", "never"] = "always"
    always: list[str] = []
    never: list[str] = []
    never_read_only = False
    found = entry.take("approval")
    if found is not None:
        key, value = found
        if value in ("always", "never"):
            default = value
        elif not isinstance(value, Mapping):
            entry.wrong(key, f'{unknown(value)}; expected "always", "never", or an object of the two with "tool_names"')
        else:
            for each in value:
                if each not in ("always", "never"):
                    entry.wrong(inner(key, str(each)), 'unknown key; expected "always" or "never"')
            always, asked = _approval_names(entry, f"{key}.always", value.get("always"))
            never, never_read_only = _approval_names(entry, f"{key}.never", value.get("never"))
            if asked:
                entry.wrong(f"{key}.always.read_only", 'only "never" takes it: other tools are asked about anyway')
    for key, value in entry.values.get("approved", []):
        if value is True:
            default = "never"
        elif value is not False:
            never += names(entry, key, value)
    if found is None and default == "always" and not never:
        return None
    return Approval(default, tuple(dict.fromkeys(always)), tuple(dict.fromkeys(never)), never_read_only)


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


def names(entry: Entry, key: str, value: Any) -> list[str]:
    """A list of names of tools; what is none is told."""
    if not isinstance(value, list):
        entry.wrong(key, f"{kind(value)}; expected a list of names of tools")
        return []
    for index, each in enumerate(value):
        if not isinstance(each, str) or not each:
            entry.wrong(f"{key}[{index}]", f"{'empty' if each == '' else kind(each)}; expected the name of a tool")
    return [each for each in value if isinstance(each, str) and each]


def _is_codex_tools(key: str, value: Any) -> bool:
    """Codex keeps settings of single tools under the key that Copilot CLI has for the list of them."""
    return folded(key) == "tools" and isinstance(value, Mapping) and "tool_names" not in value


def _read_only(entry: Entry, key: str, value: Mapping[str, Any]) -> bool:
    for name in value:
        if name not in ("tool_names", "read_only"):
            entry.wrong(inner(key, str(name)), 'unknown key; expected "tool_names" or "read_only"')
    said = value.get("read_only")
    if said is not None and not isinstance(said, bool):
        entry.wrong(f"{key}.read_only", f"{kind(said)}; expected true or false")
    return said is True


def _approval_names(entry: Entry, key: str, value: Any) -> tuple[list[str], bool]:
    if value is None:
        return [], False
    if isinstance(value, list):
        return names(entry, key, value), False
    if not isinstance(value, Mapping):
        entry.wrong(key, f'{kind(value)}; expected an object with "tool_names"')
        return [], False
    listed = value.get("tool_names")
    return names(entry, f"{key}.tool_names", listed) if listed is not None else [], _read_only(entry, key, value)


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
