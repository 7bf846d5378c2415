"""The keys of a server's entry: one table of what each client calls a thing, and of what means nothing to us.

Keys are compared without case, `_` and `-`, so `allowed_tools`, `allowedTools` and `ALLOWED-TOOLS` are one. Clients and
their spellings were checked in November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIELDS: dict[str, tuple[str, ...]] = {
    "command": ("command",),
    "args": ("args",),
    "env": ("env", "environment"),  # the second: opencode
    "env_file": ("envFile",),  # VS Code, Cursor
    "env_vars": ("env_vars",),  # Codex: names to pass on
    "inherit": ("inherit",),
    "cwd": ("cwd", "workingDirectory"),
    "url": ("url", "serverUrl", "httpUrl", "server_url"),  # Windsurf, Gemini CLI, the Responses API
    "transport": ("type", "transport", "transportType"),
    "headers": ("headers", "http_headers"),  # the second: Codex
    "env_headers": ("env_http_headers",),  # Codex
    "bearer": ("authorization", "authorization_token", "bearer_token"),  # Responses, Anthropic's connector
    "bearer_variable": ("bearer_token_env_var",),  # Codex
    "auth": ("auth",),  # FastMCP: "oauth" or a token; Cursor: an object
    "oauth": ("oauth",),
    "verify": ("verify",),
    "protocol": ("protocol", "protocolVersion"),
    "disabled": ("disabled",),
    "enabled": ("enabled", "isActive"),  # the second: Cherry Studio
    "required": ("required",),
    "trust": ("trust",),
    "locked": ("locked",),
    "include": ("include", "allowed_tools", "includeTools", "enabled_tools", "tools"),  # Gemini CLI, Codex, Copilot CLI
    "exclude": ("exclude", "excludeTools", "disabledTools"),
    "read_only": ("read_only",),
    "approval": ("require_approval",),
    "approved": ("autoApprove", "alwaysAllow"),  # Cline, Kiro; Roo Code
    "timeout": ("timeout",),
    "connect": ("connect_timeout", "startup_timeout_sec"),
    "connect_milliseconds": ("startup_timeout_ms",),
    "list": ("list_timeout",),
    "call": ("call_timeout", "tool_timeout_sec"),
    "total": ("total_timeout",),
    "concurrency": ("concurrency",),
}
"""Our word for a thing, and the keys that say it."""

IGNORED = frozenset({
    "alwaysload", "author", "category", "chatgptconfig", "comment", "comments", "config",
    "defaulttoolsapprovalmode", "deferloading", "description", "dev", "displayname", "documentation",
    "environmentid", "extension", "extensionname", "gallery", "homepage", "icon", "iconurl", "icons", "id",
    "initializationoptions", "installed", "keepalive", "license", "logo", "longrunning", "metadata", "name",
    "namespace", "note", "notes", "oauthresource", "oauthclientid", "provider", "priority", "registry", "remote",
    "repository", "restart", "sandbox", "sandboxenabled", "scopes", "scope", "serverdescription",
    "serverinstructions", "serverlabel", "settings", "source", "ssereadtimeout", "supportsparalleltoolcalls",
    "tags", "title", "toolconfiguration", "version", "watchpaths",
})  # fmt: skip
"""Keys of other clients that say nothing about how to reach or use a server."""

LOSSES = {
    "headershelper": "is a command of Claude Code and not run here; give the headers, or `headers_from` in Python",
    "authprovidertype": 'is a way of Gemini CLI to log in and unknown here; use "oauth" or "headers"',
}
"""Keys that mean something and are not followed; said in a note."""

MEANT = {
    "cmd": "command", "executable": "command", "program": "command", "path": "command", "run": "command",
    "argv": "args", "arguments": "args", "params": "args",
    "environ": "env", "variables": "env",
    "uri": "url", "endpoint": "url", "baseurl": "url", "href": "url", "address": "url",
    "directory": "cwd", "dir": "cwd", "workdir": "cwd",
    "token": "headers", "apikey": "headers",
}  # fmt: skip
"""What people write who do not remember the key."""

_CLOSE = 0.8
"""How alike two keys must be (difflib) for one to be a slip of the other: `comand`, `header`; not `dev` and `env`."""


def folded(key: str) -> str:
    """A key as it is compared."""
    return key.lower().replace("_", "").replace("-", "")


_FIELD_OF = {folded(spelling): field for field, spellings in FIELDS.items() for spelling in spellings}
_SPELLING_OF = {folded(spelling): spelling for spellings in FIELDS.values() for spelling in spellings}


def field_of(key: str) -> str | None:
    """Which of our fields a key says."""
    return _FIELD_OF.get(folded(key))


def is_ignored(key: str) -> bool:
    """Whether a key is known to mean nothing here, or is a comment."""
    return folded(key) in IGNORED or key.startswith(("$", "_", "//", "#", "x-"))


def meant(key: str) -> str | None:
    """The key that an unknown one was probably meant to be."""
    plain = folded(key)
    if plain in MEANT:
        return MEANT[plain]
    from difflib import get_close_matches  # slow to import; only a file with an unknown key needs it

    found = get_close_matches(plain, _SPELLING_OF, n=1, cutoff=_CLOSE)
    return _SPELLING_OF[found[0]] if found else None


def is_server(value: Any) -> bool:
    """Whether a value clearly is a server's entry: it says what to start or where to reach it."""
    if not isinstance(value, Mapping):
        return False
    return any(field_of(str(key)) in ("command", "url") and isinstance(each, str | list) for key, each in value.items())
