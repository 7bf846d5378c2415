"""The SDK's logs: silent where nobody asked for them, and free of secrets where somebody did.

The SDK logs tracebacks of connections that ended, which Python prints on stderr in a program that configures no
logging; and HTTP clients log addresses, which may carry a token. What a user needs to know is in the status and in
the results.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from toolbridge.servers.secrets import redact

_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")
"""The top of each tree of loggers; `client` is the SDK's session."""

_TELLING = ("httpx2", "client", "mcp.client.streamable_http", "mcp.client.sse", "mcp.client.auth.oauth2")
"""The loggers that write addresses and answers."""

_secrets: set[str] = set()


class _Redacted(logging.Filter):
    """Replaces secrets in what is logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        if _secrets:
            text = record.getMessage()
            shown = redact(text, _secrets)
            if shown != text:
                record.msg, record.args = shown, ()
            if record.exc_info:
                record.exc_text = redact(_FORMATTER.formatException(record.exc_info), _secrets)
                record.exc_info = None
        return True


_FORMATTER = logging.Formatter()
_REDACTED = _Redacted()
_NOWHERE = logging.NullHandler()


def keep_secret(secrets: Iterable[str]) -> None:
    """Quieten the SDK's loggers and keep these values out of them. A program's own handlers get everything else."""
    _secrets.update(secrets)
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(_NOWHERE)  # adding it twice is adding it once
    for name in _TELLING:
        logging.getLogger(name).addFilter(_REDACTED)
