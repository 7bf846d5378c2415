"""Every exception of toolbridge. They are for the developer; what a model can repair is a result, never an exception.

    ToolbridgeError
    ├── SourceError            a source that is no list of tools: not JSON, or JSON of another kind
    ├── UnknownProviderError   no provider of that name (the nearest name is offered)
    ├── UnknownToolError       no tool of that name or identity among the prepared ones
    ├── HistoryError           a source that is no history, no reply and no stream at all
    ├── UnsupportedError       the provider has no such feature (hosted MCP, for example)
    ├── ConfigError            a server configuration with mistakes: each names its file, server and field
    ├── UnknownServerError     no server of that name in the hub
    ├── ServerError            a server that did not start, cannot be reached or is gone (`failure` says why)
    └── MCPToolError           a tool name or a tool's operation that cannot be understood

An exception says which thing, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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


class UnknownServerError(ToolbridgeError, LookupError):
    """There is no server of that name."""


class ServerError(ToolbridgeError):
    """A server did not start, cannot be reached, or is gone."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(str(failure))


class MCPToolError(ToolbridgeError):
    """An MCP tool's name or operation cannot be understood."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, for `did you mean` in an error."""
    from difflib import get_close_matches  # a slow import that only errors need

    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
