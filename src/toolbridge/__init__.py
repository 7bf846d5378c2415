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
    from toolbridge.hosted import hosted_fields
    from toolbridge.names import namespace_tool_name, parse_namespaced_name
    from toolbridge.notes import Converted, Effect, Note
    from toolbridge.prepare import PreparedTools, prepare
    from toolbridge.providers import Provider, get_provider
    from toolbridge.servers.callbacks import Callbacks
    from toolbridge.servers.config import read_config
    from toolbridge.servers.hub import Hub, connect
    from toolbridge.servers.spec import Limits, OAuth, ServerSpec
    from toolbridge.servers.status import ServerStatus
    from toolbridge.servers.sync import SyncHub, connect_sync
    from toolbridge.tools import read_tools
    from toolbridge.types import (
        Audio,
        BoundCall,
        Content,
        HostedServer,
        Image,
        PromptArgument,
        PromptMessage,
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
    "Callbacks": "servers.callbacks",
    "ConfigError": "errors",
    "Content": "types",
    "Converted": "notes",
    "Effect": "notes",
    "Failure": "failure",
    "HostedServer": "types",
    "Hub": "servers.hub",
    "Image": "types",
    "Limits": "servers.spec",
    "MCPToolError": "errors",
    "MCPToolFilter": "filters",
    "Note": "notes",
    "OAuth": "servers.spec",
    "PreparedTools": "prepare",
    "PromptArgument": "types",
    "PromptMessage": "types",
    "Provider": "providers",
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
    "connect": "servers.hub",
    "connect_sync": "servers.sync",
    "get_provider": "providers",
    "hosted_fields": "hosted",
    "namespace_tool_name": "names",
    "parse_namespaced_name": "names",
    "prepare": "prepare",
    "read_config": "servers.config",
    "read_tools": "tools",
}

__all__ = [
    "Approval",
    "Audio",
    "BoundCall",
    "Callbacks",
    "ConfigError",
    "Content",
    "Converted",
    "Effect",
    "Failure",
    "HostedServer",
    "Hub",
    "Image",
    "Limits",
    "MCPToolError",
    "MCPToolFilter",
    "Note",
    "OAuth",
    "PreparedTools",
    "PromptArgument",
    "PromptMessage",
    "Provider",
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
    "__version__",
    "connect",
    "connect_sync",
    "get_provider",
    "hosted_fields",
    "namespace_tool_name",
    "parse_namespaced_name",
    "prepare",
    "read_config",
    "read_tools",
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
