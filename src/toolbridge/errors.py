"""Every exception of toolbridge. They are for the developer; what a model can repair is a result, never an exception.

    ToolbridgeError
    ├── SourceError            a source that is no list of tools: not JSON, or JSON of another kind
    ├── UnknownProviderError   no provider of that name (the nearest name is offered)
    ├── UnknownToolError       no tool of that name or identity among the prepared ones
    ├── HistoryError           a source that is no history, no reply and no stream at all
    ├── UnsupportedError       the provider has no such feature (hosted MCP, for example)
    ├── ConfigError            a server configuration with mistakes: each names its file, server and field
    ├── SettingsError          settings of the linter with mistakes: each names its file and key
    ├── UnknownServerError     no server of that name in the hub
    ├── ServerError            a server that did not start, cannot be reached or is gone (`failure` says why)
    ├── ModelError             a model that cannot be asked, or does not answer (`kind` says why)
    ├── StoreError             conversations that cannot be kept or read (`kind` says why)
    ├── PauseError             a run that waits for approval and cannot be continued: altered, used up, or out of date
    └── MCPToolError           a tool name or a tool's operation that cannot be understood

An exception says which thing, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from toolbridge.failure import Failure


class ToolbridgeError(Exception):
    """The root of the tree: catch this to catch everything toolbridge raises on purpose."""


class SourceError(ToolbridgeError):
    """The source is no list of tools at all."""


class UnknownProviderError(ToolbridgeError, LookupError):
    """There is no provider of that name."""


class UnknownToolError(ToolbridgeError, LookupError):
    """There is no tool of that name or identity."""


class HistoryError(ToolbridgeError):
    """The source is no history, no reply and no stream at all."""


class UnsupportedError(ToolbridgeError):
    """The provider does not have the feature that was asked for."""


class ConfigError(ToolbridgeError):
    """A configuration of servers has mistakes. `problems` are all of them, one line each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class SettingsError(ToolbridgeError):
    """The linter's settings have mistakes. `problems` are all of them, one line each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class UnknownServerError(ToolbridgeError, LookupError):
    """There is no server of that name."""


class ServerError(ToolbridgeError):
    """A server did not start, cannot be reached, or is gone."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(str(failure))


ModelFailure: TypeAlias = Literal[
    "no_key", "wrong_key", "unreachable", "unknown_model", "refused", "too_long", "rate_limited", "overloaded",
    "timed_out", "not_a_model", "not_installed", "no_weights",
]  # fmt: skip
"""`refused`: the request is not accepted (HTTP 400 and its like); `too_long`: it does not fit the model's window;
`overloaded`: the server's own failure (5xx), retries included; `not_a_model`: what answers there is no model server
(HTML, no stream); `not_installed`, `no_weights`: the built-in engine or its model is not there."""


class ModelError(ToolbridgeError):
    """A model could not be asked, or did not answer. The message is one line: what happened, and what to set."""

    def __init__(self, kind: ModelFailure, message: str, *, status: int | None = None, said: str = "") -> None:
        self.kind: ModelFailure = kind
        self.status = status
        self.said = said
        """What the server answered, in its own words."""
        super().__init__(message)


StoreFailure: TypeAlias = Literal["locked", "full", "corrupt", "unreachable", "conflict", "unknown", "not_installed"]
"""`conflict`: somebody else wrote to the conversation meanwhile; `unknown`: there is no such conversation."""


class StoreError(ToolbridgeError):
    """Conversations cannot be kept or read. What was kept before is not lost by it."""

    def __init__(self, kind: StoreFailure, message: str) -> None:
        self.kind: StoreFailure = kind
        super().__init__(message)


class PauseError(ToolbridgeError):
    """A run that waits for approval cannot be continued: it was altered, continued already, or the tools changed."""


class MCPToolError(ToolbridgeError):
    """An MCP tool's name or operation cannot be understood."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, for `did you mean` in an error."""
    from difflib import get_close_matches  # a slow import that only errors need

    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
