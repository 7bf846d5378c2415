"""Diagnosis: an exception of the SDK, of HTTP or of the system becomes a `Failure` that says what to do.

The seam with the foreign libraries: nothing above this module knows their exceptions. Every text is redacted here.
"""

from __future__ import annotations

import errno
import signal
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from toolbridge.errors import ServerError
from toolbridge.failure import Cause, Failure
from toolbridge.servers.opening import Facts
from toolbridge.servers.secrets import command_line, redact, shown_url
from toolbridge.servers.spec import ServerSpec

_STATUSES: dict[int, tuple[Cause, str]] = {
    401: ("unauthorized", "the server asks for a login (HTTP 401)"),
    403: ("forbidden", "the server refuses access (HTTP 403)"),
    404: ("no_mcp", "there is no MCP server at that address (HTTP 404)"),
    405: ("no_mcp", "the address takes no MCP messages (HTTP 405)"),
    407: ("unreachable", "a proxy asks for a login (HTTP 407)"),
}

_ERRNOS: dict[int, tuple[Cause, str]] = {
    errno.ENOENT: ("not_found", "its command was not found"),
    errno.EACCES: ("not_executable", "its command may not be executed"),
    errno.ENOEXEC: ("not_executable", "its command is no program that this system can execute"),
    errno.ENOTDIR: ("bad_cwd", "its working directory is no directory"),
}


def diagnosed(spec: ServerSpec, facts: Facts, error: BaseException | None, *, timed_out: str | None = None) -> Failure:
    """Why the server is not there. `timed_out` says what was waited for, and how long, where time ran out."""
    given = _given(error) or _given(facts.exchange.error)
    if given is not None:
        return given
    process = facts.process
    cause, message = _told(facts, error, timed_out, spec.secrets)
    where = command_line(spec) if spec.command else shown_url(spec.url) if spec.url else None
    return Failure(
        server=spec.name,
        cause=cause,
        message=redact(message, spec.secrets),
        command=where,
        exit_code=process.exit_code if process and process.died else None,
        stderr=redact(process.stderr, spec.secrets) if process else "",
        status=facts.exchange.status,
    )


def both_ways(first: Failure | None, second: Failure | None) -> Failure | None:
    """What to report where a second way was tried: the first failure says more, unless the second way got further."""
    if first is None or second is None or first.status is None:
        return second
    return replace(first, message=f"{first.message}; as the older SSE transport: {second.message}")


def _given(error: BaseException | None) -> Failure | None:
    """A failure that one of ours already put into words."""
    return next((each.failure for each in _leaves(error) if isinstance(each, ServerError)), None)


def _told(
    facts: Facts, error: BaseException | None, timed_out: str | None, secrets: frozenset[str]
) -> tuple[Cause, str]:
    process, exchange = facts.process, facts.exchange
    when = "" if facts.opened else " before the handshake was done"
    noise = ""
    if process is not None and process.noise_count:
        noise = f"; on stdout it printed what is no JSON-RPC: {redact(process.noise[0], secrets)[:200]!r}"
        if process.overflowed:
            return "noise", f"it printed without end and without a new line{noise}"
    for each in _leaves(error):
        if (
            isinstance(each, OSError)
            and not isinstance(each, ConnectionError)
            and process is not None
            and not process.pid
        ):
            cause, text = _ERRNOS.get(each.errno or 0, ("exited", f"it could not be started: {each.strerror or each}"))
            return cause, text
    if process is not None and process.died:
        return "exited", f"{_ending(process.exit_code)}{when}{noise}"
    if timed_out is not None:
        return ("noise" if noise else "timeout"), f"{timed_out}{noise}"
    if exchange.error is not None:
        return network_failure(exchange.error)
    if exchange.status is not None:
        return _STATUSES.get(exchange.status, ("http_status", f"the server answered with HTTP {exchange.status}"))
    for each in _leaves(error):
        match each:
            case OAuthFlowError() | OAuthRegistrationError() | OAuthTokenError():
                return "unauthorized", f"the login did not succeed: {each}"
            case httpx2.HTTPStatusError():
                status = each.response.status_code
                return _STATUSES.get(status, ("http_status", f"the server answered with HTTP {status}"))
            case httpx2.HTTPError() | OSError():
                return network_failure(each)
            case ValidationError():
                first = each.errors(include_url=False, include_input=False)[0]
                place = ".".join(str(step) for step in first["loc"])
                return "protocol", f"its answer breaks the protocol: {place}: {first['msg']}{noise}"
            case MCPError() if each.message.startswith("Unexpected content type"):
                return (
                    "no_mcp",
                    f"the address answers, but not as an MCP server ({each.message[:1].lower()}{each.message[1:]})",
                )
            case MCPError():
                return ("refused" if facts.listed else "protocol"), f"it answered with an error: {each.message}{noise}"
            case RuntimeError():  # the SDK's own word on an answer it cannot use
                return "protocol", f"its answer breaks the protocol: {each}{noise}"
            case _:
                continue
    if error is None:
        return "lost", f"the connection ended{when}{noise}"
    return "protocol", f"{type(error).__name__}: {error}{noise}"


def _ending(code: int | None) -> str:
    if code is None:
        return "its process ended"
    if code >= 0:
        return f"its process exited with code {code}"
    try:
        return f"its process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"its process was ended by signal {-code}"


def network_failure(error: Exception) -> tuple[Cause, str]:
    """The reason below an HTTP client's exception: it wraps what the system said, sometimes twice."""
    if isinstance(error, ServerError):
        return error.failure.cause, error.failure.message
    for each in _chain(error):
        if isinstance(each, ssl.SSLError):
            reason = getattr(each, "verify_message", "") or each.reason or str(each)
            return "tls", f"its TLS certificate or connection is not accepted: {reason}"
        if isinstance(each, socket.gaierror):
            return "unknown_host", "its host is not known"
        if isinstance(each, ConnectionRefusedError):
            return "unreachable", "nothing listens at its address (connection refused)"
    text = str(error).rstrip(".")
    if isinstance(error, httpx2.ConnectTimeout):
        return "timeout", "it could not be reached in time"
    if "CERTIFICATE" in text or "SSL" in text:
        return "tls", f"its TLS certificate or connection is not accepted: {text}"
    if "Name or service not known" in text or "getaddrinfo" in text or "nodename" in text:
        return "unknown_host", "its host is not known"
    if isinstance(error, httpx2.ConnectError):
        return "unreachable", f"it cannot be reached: {text or type(error).__name__}"
    return "lost", f"the connection broke: {text or type(error).__name__}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield from _leaves(error)
        error = error.__cause__ or error.__context__


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    """The exceptions inside a group, however deep; an exception that is no group is its own only leaf."""
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    elif error is not None:
        yield error
