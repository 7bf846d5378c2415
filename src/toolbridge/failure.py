"""Failures: why a server is not there, in words a person can act on.

One `Failure` is what the status of a server holds, what `ServerError` raises with, and what a model is told when it
calls a tool of a server that is gone. `FIXES` is the table of likely causes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Cause: TypeAlias = Literal[
    "config", "not_found", "not_executable", "bad_cwd", "exited", "noise", "timeout", "unauthorized", "forbidden",
    "tls",
    "unreachable", "unknown_host", "http_status", "no_mcp", "protocol", "refused", "changed", "lost", "closed",
]  # fmt: skip

FIXES: dict[Cause, str] = {
    "not_found": 'install it, or give the full path in "command"',
    "not_executable": "make it executable (chmod +x), or start it through its interpreter",
    "bad_cwd": 'create the directory, or mend "cwd"',
    "exited": "run the command by hand and see what it says",
    "noise": "the server must print nothing but JSON-RPC on stdout; its log belongs on stderr",
    "timeout": 'find out what it waits for, or give it longer, in seconds: "timeout": {"connect": …, "call": …}',
    "config": "mend the configuration",
    "unauthorized": 'check the token in "headers", or log in with "oauth"',
    "forbidden": "the token is known but may not do this; check its scopes",
    "tls": 'check the certificate; a private authority goes into "verify": "/path/to/ca.pem"',
    "unreachable": 'start the server, or mend "url"',
    "unknown_host": 'mend the host in "url", or check the network',
    "http_status": "look at the server's own log",
    "no_mcp": "the url answers, but not as an MCP server; check its path (often /mcp or /sse)",
    "refused": "look at what was asked for: the name, the address, the arguments",
    "protocol": "the server breaks the protocol; report it to its author",
    "changed": "see what changed with 'toolbridge verify'; 'toolbridge lock' accepts it",
    "lost": "it is started anew at the next call",
    "closed": "open the hub first",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with a server. Every text in it is free of the server's secrets."""

    server: str
    cause: Cause
    message: str
    """One sentence: what happened."""
    command: str | None = None
    """The command line, or the url."""
    exit_code: int | None = None
    """Negative for a signal, as in `subprocess`."""
    stderr: str = ""
    """The last lines that the server wrote there."""
    status: int | None = None
    """The HTTP status, where there was one."""

    @property
    def fix(self) -> str:
        return FIXES[self.cause]

    def __str__(self) -> str:
        text = f"server {self.server!r}: {self.message}"
        if self.stderr:
            text += f"; it wrote last: {self.stderr.splitlines()[-1].strip()}"
        return f"{text} ({self.fix})"
