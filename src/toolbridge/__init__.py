"""toolbridge joins MCP servers to the tool calling of any language model.

The public names are imported when they are first used, so that `import toolbridge` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbridge.approval import Approval
    from toolbridge.errors import (
        ConfigError,
        HistoryError,
        MCPToolError,
        ServerError,
        SourceError,
        ToolbridgeError,
        UnknownProviderError,
        UnknownServerError,
        UnknownToolError,
        UnsupportedError,
    )
    from toolbridge.failure import Failure
    from toolbridge.filters import MCPToolFilter
    from toolbridge.history.document import read_history, write_history
    from toolbridge.history.excerpts import Excerpts
    from toolbridge.history.trim import trim_history
    from toolbridge.hosted import hosted_fields
    from toolbridge.moving import move_calls
    from toolbridge.names import namespace_tool_name, parse_namespaced_name
    from toolbridge.notes import Converted, Effect, Note
    from toolbridge.prepare import PreparedTools, prepare
    from toolbridge.providers import Provider, get_provider
    from toolbridge.reply import ReplyReader, read_stream
    from toolbridge.servers.callbacks import Callbacks
    from toolbridge.servers.config import read_config
    from toolbridge.servers.hub import Hub, connect
    from toolbridge.servers.spec import Limits, OAuth, ServerSpec
    from toolbridge.servers.status import ServerStatus
    from toolbridge.servers.sync import SyncHub, connect_sync
    from toolbridge.stream.events import CallDelta, Event, ReasoningDelta, Reply, TextDelta, Usage
    from toolbridge.tools import read_tools
    from toolbridge.types import (
        Audio,
        BoundCall,
        Content,
        Foreign,
        HostedServer,
        Image,
        Message,
        Part,
        PromptArgument,
        PromptMessage,
        Reasoning,
        Resource,
        ResourceLink,
        ServerPrompt,
        ServerResource,
        Text,
        Tool,
        ToolCall,
        ToolHints,
        ToolId,
        ToolResult,
    )

__version__ = "0.1.0"

_HOMES = {
    "Approval": "approval",
    "Audio": "types",
    "BoundCall": "types",
    "CallDelta": "stream.events",
    "Callbacks": "servers.callbacks",
    "ConfigError": "errors",
    "Content": "types",
    "Converted": "notes",
    "Effect": "notes",
    "Event": "stream.events",
    "Excerpts": "history.excerpts",
    "Failure": "failure",
    "Foreign": "types",
    "HistoryError": "errors",
    "HostedServer": "types",
    "Hub": "servers.hub",
    "Image": "types",
    "Limits": "servers.spec",
    "MCPToolError": "errors",
    "MCPToolFilter": "filters",
    "Message": "types",
    "Note": "notes",
    "OAuth": "servers.spec",
    "Part": "types",
    "PreparedTools": "prepare",
    "PromptArgument": "types",
    "PromptMessage": "types",
    "Provider": "providers",
    "Reasoning": "types",
    "ReasoningDelta": "stream.events",
    "Reply": "stream.events",
    "ReplyReader": "reply",
    "Resource": "types",
    "ResourceLink": "types",
    "ServerError": "errors",
    "ServerPrompt": "types",
    "ServerResource": "types",
    "ServerSpec": "servers.spec",
    "ServerStatus": "servers.status",
    "SourceError": "errors",
    "SyncHub": "servers.sync",
    "Text": "types",
    "TextDelta": "stream.events",
    "Tool": "types",
    "ToolCall": "types",
    "ToolHints": "types",
    "ToolId": "types",
    "ToolResult": "types",
    "ToolbridgeError": "errors",
    "UnknownProviderError": "errors",
    "UnknownServerError": "errors",
    "UnknownToolError": "errors",
    "UnsupportedError": "errors",
    "Usage": "stream.events",
    "connect": "servers.hub",
    "connect_sync": "servers.sync",
    "get_provider": "providers",
    "hosted_fields": "hosted",
    "move_calls": "moving",
    "namespace_tool_name": "names",
    "parse_namespaced_name": "names",
    "prepare": "prepare",
    "read_config": "servers.config",
    "read_history": "history.document",
    "read_stream": "reply",
    "read_tools": "tools",
    "trim_history": "history.trim",
    "write_history": "history.document",
}

__all__ = [
    "Approval",
    "Audio",
    "BoundCall",
    "CallDelta",
    "Callbacks",
    "ConfigError",
    "Content",
    "Converted",
    "Effect",
    "Event",
    "Excerpts",
    "Failure",
    "Foreign",
    "HistoryError",
    "HostedServer",
    "Hub",
    "Image",
    "Limits",
    "MCPToolError",
    "MCPToolFilter",
    "Message",
    "Note",
    "OAuth",
    "Part",
    "PreparedTools",
    "PromptArgument",
    "PromptMessage",
    "Provider",
    "Reasoning",
    "ReasoningDelta",
    "Reply",
    "ReplyReader",
    "Resource",
    "ResourceLink",
    "ServerError",
    "ServerPrompt",
    "ServerResource",
    "ServerSpec",
    "ServerStatus",
    "SourceError",
    "SyncHub",
    "Text",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolHints",
    "ToolId",
    "ToolResult",
    "ToolbridgeError",
    "UnknownProviderError",
    "UnknownServerError",
    "UnknownToolError",
    "UnsupportedError",
    "Usage",
    "__version__",
    "connect",
    "connect_sync",
    "get_provider",
    "hosted_fields",
    "move_calls",
    "namespace_tool_name",
    "parse_namespaced_name",
    "prepare",
    "read_config",
    "read_history",
    "read_stream",
    "read_tools",
    "trim_history",
    "write_history",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolbridge' has no attribute {name!r}")
    value = getattr(import_module(f"toolbridge.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(ModuleType):
    """The package, where `prepare` is always the function: importing the module of that name would put it there."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "prepare" and isinstance(value, ModuleType):
            value = value.prepare
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
