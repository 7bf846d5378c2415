"""toolbridge joins MCP servers to the tool calling of any language model.

The public names are imported when they are first used, so that `import toolbridge` costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolbridge.approval import Approval, read_require_approval
    from toolbridge.apps import AppMeta, callers, read_app_meta, template_for
    from toolbridge.encodings import counter_for
    from toolbridge.errors import (
        ConfigError,
        HistoryError,
        MCPToolError,
        ModelError,
        PauseError,
        ServerError,
        SettingsError,
        SourceError,
        StoreError,
        ToolbridgeError,
        UnknownProviderError,
        UnknownServerError,
        UnknownToolError,
        UnsupportedError,
    )
    from toolbridge.examine import examine
    from toolbridge.failure import Failure
    from toolbridge.filters import MCPToolFilter, read_allowed_tools
    from toolbridge.history.document import read_history, write_history
    from toolbridge.history.excerpts import Excerpts
    from toolbridge.history.trim import trim_history
    from toolbridge.hosted import hosted_fields
    from toolbridge.lint.finding import Finding
    from toolbridge.lint.linting import LintReport, lint_tools
    from toolbridge.lint.report import write_report
    from toolbridge.lint.settings import LintSettings
    from toolbridge.lint.subject import ServerFacts
    from toolbridge.lock import Lock, read_lock, write_lock
    from toolbridge.model.find import get_model
    from toolbridge.model.model import Model
    from toolbridge.moving import move_calls
    from toolbridge.names import namespace_tool_name, parse_namespaced_name
    from toolbridge.notes import Converted, Effect, Note
    from toolbridge.offer import Offer
    from toolbridge.prepare import PreparedTools, prepare
    from toolbridge.providers import Provider, get_provider
    from toolbridge.reply import ReplyReader, read_stream
    from toolbridge.run.chat import Chat
    from toolbridge.run.door import chat, chat_sync
    from toolbridge.run.events import (
        Asked,
        CallEnded,
        CallProgress,
        CallStarted,
        Decision,
        Done,
        Paused,
        Replied,
        RunEvent,
        Told,
    )
    from toolbridge.run.limits import RunLimits
    from toolbridge.servers.callbacks import Callbacks
    from toolbridge.servers.config import read_config
    from toolbridge.servers.hub import Hub, connect
    from toolbridge.servers.spec import Limits, OAuth, ServerSpec
    from toolbridge.servers.status import ServerStatus
    from toolbridge.servers.sync import SyncHub, connect_sync
    from toolbridge.store.store import Store, open_store
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
    "AppMeta": "apps",
    "Approval": "approval",
    "Asked": "run.events",
    "Audio": "types",
    "BoundCall": "types",
    "CallDelta": "stream.events",
    "CallEnded": "run.events",
    "CallProgress": "run.events",
    "CallStarted": "run.events",
    "Callbacks": "servers.callbacks",
    "Chat": "run.chat",
    "ConfigError": "errors",
    "Content": "types",
    "Converted": "notes",
    "Decision": "run.events",
    "Done": "run.events",
    "Effect": "notes",
    "Event": "stream.events",
    "Excerpts": "history.excerpts",
    "Failure": "failure",
    "Finding": "lint.finding",
    "Foreign": "types",
    "HistoryError": "errors",
    "HostedServer": "types",
    "Hub": "servers.hub",
    "Image": "types",
    "Limits": "servers.spec",
    "LintReport": "lint.linting",
    "LintSettings": "lint.settings",
    "Lock": "lock",
    "MCPToolError": "errors",
    "MCPToolFilter": "filters",
    "Message": "types",
    "Model": "model.model",
    "ModelError": "errors",
    "Note": "notes",
    "OAuth": "servers.spec",
    "Offer": "offer",
    "Part": "types",
    "PauseError": "errors",
    "Paused": "run.events",
    "PreparedTools": "prepare",
    "PromptArgument": "types",
    "PromptMessage": "types",
    "Provider": "providers",
    "Reasoning": "types",
    "ReasoningDelta": "stream.events",
    "Replied": "run.events",
    "Reply": "stream.events",
    "ReplyReader": "reply",
    "Resource": "types",
    "ResourceLink": "types",
    "RunEvent": "run.events",
    "RunLimits": "run.limits",
    "ServerError": "errors",
    "ServerFacts": "lint.subject",
    "ServerPrompt": "types",
    "ServerResource": "types",
    "ServerSpec": "servers.spec",
    "ServerStatus": "servers.status",
    "SettingsError": "errors",
    "SourceError": "errors",
    "Store": "store.store",
    "StoreError": "errors",
    "SyncHub": "servers.sync",
    "Text": "types",
    "TextDelta": "stream.events",
    "Told": "run.events",
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
    "callers": "apps",
    "chat": "run.door",
    "chat_sync": "run.door",
    "connect": "servers.hub",
    "connect_sync": "servers.sync",
    "counter_for": "encodings",
    "examine": "examine",
    "get_model": "model.find",
    "get_provider": "providers",
    "hosted_fields": "hosted",
    "lint_tools": "lint.linting",
    "move_calls": "moving",
    "namespace_tool_name": "names",
    "open_store": "store.store",
    "parse_namespaced_name": "names",
    "prepare": "prepare",
    "read_allowed_tools": "filters",
    "read_app_meta": "apps",
    "read_config": "servers.config",
    "read_history": "history.document",
    "read_lock": "lock",
    "read_require_approval": "approval",
    "read_stream": "reply",
    "read_tools": "tools",
    "template_for": "apps",
    "trim_history": "history.trim",
    "write_history": "history.document",
    "write_lock": "lock",
    "write_report": "lint.report",
}

__all__ = [
    "AppMeta",
    "Approval",
    "Asked",
    "Audio",
    "BoundCall",
    "CallDelta",
    "CallEnded",
    "CallProgress",
    "CallStarted",
    "Callbacks",
    "Chat",
    "ConfigError",
    "Content",
    "Converted",
    "Decision",
    "Done",
    "Effect",
    "Event",
    "Excerpts",
    "Failure",
    "Finding",
    "Foreign",
    "HistoryError",
    "HostedServer",
    "Hub",
    "Image",
    "Limits",
    "LintReport",
    "LintSettings",
    "Lock",
    "MCPToolError",
    "MCPToolFilter",
    "Message",
    "Model",
    "ModelError",
    "Note",
    "OAuth",
    "Offer",
    "Part",
    "PauseError",
    "Paused",
    "PreparedTools",
    "PromptArgument",
    "PromptMessage",
    "Provider",
    "Reasoning",
    "ReasoningDelta",
    "Replied",
    "Reply",
    "ReplyReader",
    "Resource",
    "ResourceLink",
    "RunEvent",
    "RunLimits",
    "ServerError",
    "ServerFacts",
    "ServerPrompt",
    "ServerResource",
    "ServerSpec",
    "ServerStatus",
    "SettingsError",
    "SourceError",
    "Store",
    "StoreError",
    "SyncHub",
    "Text",
    "TextDelta",
    "Told",
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
    "callers",
    "chat",
    "chat_sync",
    "connect",
    "connect_sync",
    "counter_for",
    "examine",
    "get_model",
    "get_provider",
    "hosted_fields",
    "lint_tools",
    "move_calls",
    "namespace_tool_name",
    "open_store",
    "parse_namespaced_name",
    "prepare",
    "read_allowed_tools",
    "read_app_meta",
    "read_config",
    "read_history",
    "read_lock",
    "read_require_approval",
    "read_stream",
    "read_tools",
    "template_for",
    "trim_history",
    "write_history",
    "write_lock",
    "write_report",
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
