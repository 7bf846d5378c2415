"""Callbacks: where a server's own requests and messages reach the user's functions.

Each is optional, and a server is told of those that are there. They are called with the server's name and with the
SDK's own parameters, in both eras of the protocol: as requests of the server, and as the inputs that a 2026-07-28
server asks for in the middle of a call. They may be plain or async.
"""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What a server may ask of us, and what it may tell us."""

    elicit: Callable[[str, mcp_types.ElicitRequestParams], Any] | None = None
    """A question to the person: returns an `ElicitResult`, or a dict with `action` and `content`."""
    sample: Callable[[str, mcp_types.CreateMessageRequestParams], Any] | None = None
    """A request to the model: returns a `CreateMessageResult`."""
    roots: Callable[[str], Any] | None = None
    """Which directories the server may look at: paths or `file://` addresses."""
    log: Callable[[str, str, Any], Any] | None = None
    """A log message: server, level, data."""
    log_level: LogLevel | None = None
    """From which level on; `None` leaves it to the server (2026-07-28 servers then send nothing)."""
    login: Callable[[str, str], Any] | None = None
    """A login that a person must do: server, address. Without it a browser is opened. May return the address that the
    browser was sent back to, where that was pasted."""
    changed: Callable[[str], Any] | None = None
    """The tools of a server have changed."""


NO_CALLBACKS = Callbacks()


async def outcome(value: Any) -> Any:
    """What a plain or async function returned."""
    return await value if inspect.isawaitable(value) else value


def client_options(callbacks: Callbacks, server: str) -> dict[str, Any]:
    """The callbacks as the SDK's `Client` takes them."""
    import mcp_types

    options: dict[str, Any] = {}
    if (elicit := callbacks.elicit) is not None:

        async def elicitation(_: Any, params: mcp_types.ElicitRequestParams) -> Any:
            answer = await outcome(elicit(server, params))
            return mcp_types.ElicitResult.model_validate(answer) if isinstance(answer, dict) else answer

        options["elicitation_callback"] = elicitation
    if (sample := callbacks.sample) is not None:

        async def sampling(_: Any, params: mcp_types.CreateMessageRequestParams) -> Any:
            answer = await outcome(sample(server, params))
            return mcp_types.CreateMessageResult.model_validate(answer) if isinstance(answer, dict) else answer

        options["sampling_callback"] = sampling
    if (roots := callbacks.roots) is not None:

        async def list_roots(_: Any) -> Any:
            found = await outcome(roots(server))
            return mcp_types.ListRootsResult.model_validate({"roots": [{"uri": _address(each)} for each in found]})

        options["list_roots_callback"] = list_roots
    if (log := callbacks.log) is not None:

        async def logging(params: mcp_types.LoggingMessageNotificationParams) -> None:
            await outcome(log(server, params.level, params.data))

        options["logging_callback"] = logging
        options["log_level"] = callbacks.log_level
    return options


async def ask_for_logs(callbacks: Callbacks, client: Client) -> None:
    """Servers of the handshake era are told once from which level on; the later ones with each request."""
    from mcp.shared.exceptions import MCPError

    level = callbacks.log_level
    if level is None or client.protocol_version >= "2026-07-28" or client.server_capabilities.logging is None:
        return
    with warnings.catch_warnings(), contextlib.suppress(MCPError):
        warnings.simplefilter("ignore")  # deprecated for the later servers, and the only way for these
        await client.set_logging_level(level)  # pyright: ignore[reportDeprecated]


def login_shown(callbacks: Callbacks, server: str) -> Callable[[str], Awaitable[str | None]] | None:
    """The callback that shows a login's address, as `oauth` takes it."""
    login = callbacks.login
    if login is None:
        return None

    async def show(url: str) -> str | None:
        answer = await outcome(login(server, url))
        return answer if isinstance(answer, str) else None

    return show


async def tell_changed(function: Callable[[str], Any], server: str) -> None:
    """Call the user's function apart from everything else: what it raises or waits for is not the server's."""
    import logging

    try:
        await outcome(function(server))
    except Exception:
        logging.getLogger("toolbridge").exception("the callback for changes of server %r raised", server)


def _address(root: Any) -> str:
    return root if isinstance(root, str) and "://" in root else Path(root).expanduser().absolute().as_uri()
