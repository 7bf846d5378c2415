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
        MCPToolError,
        SourceError,
        ToolbridgeError,
        UnknownProviderError,
        UnknownToolError,
        UnsupportedError,
    )
    from toolbridge.filters import MCPToolFilter
    from toolbridge.hosted import hosted_fields
    from toolbridge.names import namespace_tool_name, parse_namespaced_name
    from toolbridge.notes import Converted, Effect, Note
    from toolbridge.prepare import PreparedTools, prepare
    from toolbridge.providers import Provider, get_provider
    from toolbridge.tools import read_tools
    from toolbridge.types import (
        Audio,
        BoundCall,
        Content,
        HostedServer,
        Image,
        Resource,
        ResourceLink,
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
    "Content": "types",
    "Converted": "notes",
    "Effect": "notes",
    "HostedServer": "types",
    "Image": "types",
    "MCPToolError": "errors",
    "MCPToolFilter": "filters",
    "Note": "notes",
    "PreparedTools": "prepare",
    "Provider": "providers",
    "Resource": "types",
    "ResourceLink": "types",
    "SourceError": "errors",
    "Text": "types",
    "Tool": "types",
    "ToolCall": "types",
    "ToolHints": "types",
    "ToolId": "types",
    "ToolResult": "types",
    "ToolbridgeError": "errors",
    "UnknownProviderError": "errors",
    "UnknownToolError": "errors",
    "UnsupportedError": "errors",
    "get_provider": "providers",
    "hosted_fields": "hosted",
    "namespace_tool_name": "names",
    "parse_namespaced_name": "names",
    "prepare": "prepare",
    "read_tools": "tools",
}

__all__ = [
    "Approval",
    "Audio",
    "BoundCall",
    "Content",
    "Converted",
    "Effect",
    "HostedServer",
    "Image",
    "MCPToolError",
    "MCPToolFilter",
    "Note",
    "PreparedTools",
    "Provider",
    "Resource",
    "ResourceLink",
    "SourceError",
    "Text",
    "Tool",
    "ToolCall",
    "ToolHints",
    "ToolId",
    "ToolResult",
    "ToolbridgeError",
    "UnknownProviderError",
    "UnknownToolError",
    "UnsupportedError",
    "__version__",
    "get_provider",
    "hosted_fields",
    "namespace_tool_name",
    "parse_namespaced_name",
    "prepare",
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
