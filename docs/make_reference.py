"""Writes the pages of the reference: the public names of toolbridge in groups, each with what its docstring says.

The generator of the site reads the docstrings; this says which names stand where. A test compares the groups with
`toolbridge.__all__`, so that no name is missing and none is there twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import toolbridge


@dataclass(frozen=True, slots=True)
class Group:
    """A page of the reference."""

    place: str
    title: str
    about: str
    names: tuple[str, ...]


GROUPS = (
    Group(
        "servers",
        "API: servers",
        "Open the servers of an `mcp.json`, list and call their tools.",
        ("connect", "connect_sync", "Hub", "SyncHub", "read_config", "ServerSpec", "OAuth", "Limits", "Callbacks",
         "ServerStatus", "Failure", "ServerResource", "ServerPrompt", "PromptArgument", "PromptMessage"),
    ),
    Group(
        "chat",
        "API: the loop",
        "Ask a model that may use tools, and hear what happens.",
        ("chat", "chat_sync", "Chat", "Approval", "read_require_approval", "RunLimits", "RunEvent", "Replied",
         "CallStarted", "CallProgress", "CallEnded", "Asked", "Decision", "Told", "Paused", "Done", "Offer", "Excerpts",
         "Store", "open_store"),
    ),
    Group("models", "API: models", "Find a model by its name, and ask it.", ("get_model", "Model")),
    Group(
        "tools",
        "API: tools and definitions",
        "Read tools, write them for a provider, understand the calls that come back.",
        ("read_tools", "prepare", "PreparedTools", "Provider", "get_provider", "hosted_fields", "HostedServer", "Tool",
         "ToolId", "ToolHints", "ToolCall", "BoundCall", "ToolResult", "MCPToolFilter", "read_allowed_tools", "Note",
         "Effect", "Converted", "namespace_tool_name", "parse_namespaced_name", "AppMeta", "read_app_meta", "callers",
         "template_for"),
    ),
    Group(
        "history",
        "API: replies and histories",
        "Read what a model said, and write a conversation for any provider.",
        ("read_stream", "ReplyReader", "Reply", "Event", "TextDelta", "ReasoningDelta", "CallDelta", "Usage", "Message",
         "Part", "Reasoning", "Foreign", "Content", "Text", "Image", "Audio", "Resource", "ResourceLink",
         "read_history", "write_history", "trim_history", "move_calls"),
    ),
    Group(
        "lint",
        "API: linting and locking",
        "Judge tools, count what they cost, and notice when they change.",
        ("lint_tools", "LintSettings", "LintReport", "Finding", "write_report", "examine", "ServerFacts", "counter_for",
         "Lock", "read_lock", "write_lock"),
    ),
    Group(
        "errors",
        "API: exceptions",
        "What is raised, and when: [What goes wrong](../errors.md) has the table.",
        ("ToolbridgeError", "SourceError", "UnknownProviderError", "UnknownToolError", "HistoryError",
         "UnsupportedError", "ConfigError", "SettingsError", "UnknownServerError", "ServerError", "ModelError",
         "StoreError", "PauseError", "MCPToolError"),
    ),
)  # fmt: skip


DOORS = {
    "langchain": ("langchain_tools", "BridgedTool"),
    "openai_agents": ("agents_tools",),
    "pydantic_ai": ("HubToolset", "ToolProgress"),
}
"""The modules of `toolbridge.frameworks` that hand tools to a framework, and their public names."""


def reference() -> dict[str, str]:
    """The pages, by their place in the site."""
    pages = {f"reference/{each.place}.md": _page(each) for each in GROUPS}
    return {**pages, "reference/frameworks.md": _doors()}


def _page(group: Group) -> str:
    parts = [f"# {group.title}", group.about]
    parts += [f"::: toolbridge.{toolbridge._HOMES[name]}.{name}" for name in group.names]
    return "\n\n".join(parts) + "\n"


def _doors() -> str:
    parts = ["# API: frameworks", "Tools of a hub as a framework's own. Each module needs its framework, and loads it."]
    for module, names in DOORS.items():
        parts += [f"## toolbridge.frameworks.{module}"]
        parts += [f"::: toolbridge.frameworks.{module}.{name}\n    options:\n      heading_level: 3" for name in names]
    return "\n\n".join(parts) + "\n"
