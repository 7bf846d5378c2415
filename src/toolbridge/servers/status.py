"""The health of a server, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from toolbridge.failure import Failure
from toolbridge.types import EMPTY

State: TypeAlias = Literal["connected", "connecting", "idle", "failed", "disabled", "closed"]
"""`idle`: known from its last listing and not started; `connecting`: perhaps again, with the last failure beside it."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How a server does."""

    name: str
    state: State
    failure: Failure | None = None
    protocol: str | None = None
    server_name: str | None = None
    server_version: str | None = None
    instructions: str | None = None
    tools: int = 0
    pid: int | None = None
    restarts: int = 0
    warnings: tuple[str, ...] = ()
    quarantined: Mapping[str, str] = field(default_factory=lambda: EMPTY, hash=False)
    """Tools that are not as locked, and why: they are neither offered nor called."""
