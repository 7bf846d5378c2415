"""A server's specification: what to start or where to reach it, and how far to trust it. Plain data, no I/O.

`config` makes these from files; people make them by hand; `connection` follows them. What may hold a secret is kept out
of `repr`, and `secrets` are the values that no output may show.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from toolbridge.approval import Approval
from toolbridge.failure import Failure
from toolbridge.filters import MCPToolFilter
from toolbridge.types import EMPTY

Transport: TypeAlias = Literal["stdio", "http", "sse", "auto", "memory"]
"""How a server is reached. `auto` is a url of unknown kind: streamable HTTP first, the older SSE where that is refused;
`memory` is an object of this process."""

Locked: TypeAlias = Literal["refuse"] | bool | None
"""Whether tools that are not as in the lockfile are set apart; `refuse`: the server is not used at all where anything
changed; `None`: nothing is said."""

Headers: TypeAlias = Callable[[str], Mapping[str, str] | Awaitable[Mapping[str, str]]]
"""Called with the server's name before every HTTP request; what it returns goes over the specification's headers."""


def _nothing() -> Mapping[str, str]:
    return EMPTY


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait, in seconds, and how much to run at once."""

    connect: float = 90.0
    """From the start of a process or connection to the end of the handshake; a cold `npx` or `uvx` installs first."""
    list: float = 30.0
    """One whole listing, all its pages."""
    call: float = 300.0
    """A call without a sign of life: each progress notification starts it anew."""
    total: float = 3600.0
    """A call in all, whatever progress it reports."""
    concurrency: int = 32
    """Calls that run at the same time on one server; the others wait their turn."""


@dataclass(frozen=True, slots=True)
class OAuth:
    """How to log in to a server that asks for it. The SDK does the talking; tokens are kept by `oauth`."""

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ()
    redirect_port: int = 0
    """The loopback port that the browser comes back to; 0 takes a free one."""
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    metadata_url: str | None = None
    """Where the client's metadata document is published: on servers that read such, its address is the client's id, and
    nothing is registered."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server, as its operator set it up."""

    name: str
    transport: Transport = "stdio"
    command: str | None = None
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=_nothing, repr=False, hash=False)
    """Over the safe base environment (see `environment`)."""
    inherit: Literal["safe", "all", "none"] = "safe"
    """Which of our own environment variables the process gets: a list known to be harmless, all, or none."""
    cwd: str | None = None
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=_nothing, repr=False, hash=False)
    headers_from: Headers | None = field(default=None, repr=False, compare=False)
    oauth: OAuth | None = None
    auth: Any = field(default=None, repr=False, compare=False)
    """Another way to log in: an `httpx2.Auth`, in place of `oauth`."""
    verify: bool | str = True
    """TLS: the system's certificates, a file of certificates, or no check at all."""
    server: Any = field(default=None, repr=False, compare=False)
    """For `memory`: a server, `Client` or transport of the SDK, or a function without arguments that makes one."""
    protocol: str = "auto"
    """`auto`, `legacy` (the handshake protocols), or a protocol version such as `2026-07-28`."""
    disabled: bool = False
    required: bool = False
    """Whether the hub refuses to open without this server."""
    trust: bool = False
    """Whether the operator believes the server's own hints: only then may a read-only call be sent twice."""
    filter: MCPToolFilter = field(default_factory=MCPToolFilter)
    approval: Approval | None = None
    """What the operator says about asking; `None` where nothing is said, and the host's own policy counts."""
    locked: Locked = None
    limits: Limits = field(default_factory=Limits)
    source: str = ""
    """The file that this was read from."""
    problem: str | None = None
    """What is wrong with its entry in the configuration, one line each: such a server cannot be started."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    """Values that must not appear in any output, log, cache or exception."""


def mistake(spec: ServerSpec) -> Failure | None:
    """The failure of a server whose entry in the configuration has mistakes."""
    if spec.problem is None:
        return None
    return Failure(spec.name, "config", spec.problem.replace(f"server {spec.name!r}: ", "").replace("\n", "; "))
