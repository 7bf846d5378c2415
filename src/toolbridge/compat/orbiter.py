"""Names of Orbiter's `mcp.tools`: MCP tools as objects with a name, a schema and `execute`.

Thin over the core, for programs written against that document. The core way is `connect("mcp.json")` for the servers,
`prepare(hub.tools, provider)` for what the model sees, and `hub.run(prepared.resolve(call))` for its calls: there
arguments are checked before they are sent, and names are legal for the provider.

Decisions where the document is silent:

- Two tools that would share a namespaced name are both kept, each with a digest of its identity after the name, and
  with a warning. A tool that is listed twice counts once.
- An entry of a listing that is no tool is left out, with a warning; a tool that its server keeps from models without.
- `execute` returns text. What is no text (images, links) is described in it, and `structuredContent` is added where
  the text does not say it already.
- Arguments are sent as they are given: the server is the judge.
"""

from __future__ import annotations

import copy
import json
import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias

from toolbridge.apps import for_models, meta_of, visible, without_meta
from toolbridge.errors import MCPToolError, ServerError, ToolbridgeError
from toolbridge.filters import MCPToolFilter
from toolbridge.history.said import result_text
from toolbridge.names import digest, namespace_tool_name, parse_namespaced_name
from toolbridge.servers.callbacks import outcome
from toolbridge.servers.hub import Hub, connect
from toolbridge.servers.paging import all_pages
from toolbridge.types import Audio, Content, Image, Resource, ResourceLink, Text, Tool, ToolResult

__all__ = [
    "MCPClient",
    "MCPServerConnection",
    "MCPToolError",
    "MCPToolFilter",
    "MCPToolWrapper",
    "ToolError",
    "convert_mcp_tools",
    "extract_schema",
    "load_mcp_client",
    "load_tools_from_client",
    "load_tools_from_connection",
    "namespace_tool_name",
    "parse_namespaced_name",
    "result_text",
]

logger = logging.getLogger(__name__)

ToolError = ToolbridgeError
"""What Orbiter calls the base of its tool errors: here it is the base of all of ours."""

MCPTool: TypeAlias = Any
"""A tool as any SDK has it: a model in the spelling of mcp 1.x or 2.x, a dict, or a `Tool` of the core."""


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def extract_schema(mcp_tool: MCPTool) -> dict[str, Any]:
    """A copy of the tool's own input schema; the schema of no arguments where it has none.

    The core way: `prepare(tools, provider)`, whose definitions are legal for that provider.
    """
    schema = _field(mcp_tool, "inputSchema", "input_schema")
    return (
        copy.deepcopy(dict(schema)) if isinstance(schema, Mapping) and schema else {"type": "object", "properties": {}}
    )


class MCPToolWrapper:
    """A tool of a server that can be executed. The core way: `hub.run(prepared.resolve(call))`."""

    def __init__(self, mcp_tool: MCPTool, server_name: str, call_fn: Any, *, namespace: str = "mcp") -> None:
        name = mcp_tool.id.name if isinstance(mcp_tool, Tool) else _field(mcp_tool, "name")
        problem = _field(mcp_tool, "problem") if isinstance(mcp_tool, Tool) else None
        if not isinstance(name, str) or not name or problem is not None:
            raise MCPToolError(f"server {server_name!r}: not an MCP tool: {problem or 'it has no name'}")
        self._name = namespace_tool_name(name, server_name, namespace=namespace)
        self._original_name = name
        self._server_name = server_name
        self._description = str(_field(mcp_tool, "description") or "")
        self._parameters = extract_schema(mcp_tool)
        self._call = call_fn

    def __repr__(self) -> str:
        return f"MCPToolWrapper({self._name!r})"

    @property
    def name(self) -> str:
        """`namespace__server__tool`, and a digest where another tool has the same."""
        return self._name

    @property
    def description(self) -> str:
        return self._description

    @property
    def parameters(self) -> dict[str, Any]:
        return self._parameters

    @property
    def original_name(self) -> str:
        """What the server calls it."""
        return self._original_name

    @property
    def server_name(self) -> str:
        return self._server_name

    async def execute(self, /, **kwargs: Any) -> str | dict[str, Any]:
        """Call the tool with these arguments; the text of its answer.

        Raises `MCPToolError` where the call fails or the tool reports an error. A `call_fn` that answers with a plain
        dict, and not with a result of MCP, gets its dict through.
        """
        try:
            answer = await outcome(self._call(self._original_name, kwargs))
        except MCPToolError:
            raise
        except Exception as error:
            raise MCPToolError(f"{self._name}: the call failed: {_words(error)}") from error
        result = read_result(answer)
        if result is None:
            return answer if isinstance(answer, dict) else "" if answer is None else str(answer)
        text = result_text(result)
        if result.is_error:
            raise MCPToolError(f"{self._name}: {text or 'the tool reports an error, and says nothing about it'}")
        return text


def convert_mcp_tools(
    mcp_tools: Sequence[MCPTool],
    server_name: str,
    call_fn: Any,
    *,
    namespace: str = "mcp",
    tool_filter: MCPToolFilter | None = None,
) -> list[MCPToolWrapper]:
    """The tools of a server as wrappers, in their order. `call_fn(name, arguments)` calls one, plain or async."""
    wrapped: list[MCPToolWrapper] = []
    for mcp_tool in mcp_tools if tool_filter is None else tool_filter.apply(mcp_tools):
        if not visible(mcp_tool):
            continue
        try:
            wrapped.append(MCPToolWrapper(mcp_tool, server_name, call_fn, namespace=namespace))
        except MCPToolError as error:
            logger.warning("Left out: %s", error)
    return _told_apart(wrapped)


async def load_tools_from_connection(
    connection: Any, *, namespace: str = "mcp", tool_filter: MCPToolFilter | None = None
) -> list[MCPToolWrapper]:
    """The tools of a connection: of anything with `name`, `list_tools()` and `call_tool()`. All its pages are read.

    The core way: `hub.tools`, which is kept up to date.
    """

    async def page(cursor: str | None) -> tuple[Sequence[Any], str | None]:
        listed = await outcome(connection.list_tools() if cursor is None else connection.list_tools(cursor=cursor))
        tools = _field(listed, "tools")
        return list(listed if tools is None else tools), _field(listed, "nextCursor", "next_cursor")

    try:
        pages = await all_pages(page)
    except Exception as error:
        raise MCPToolError(f"server {connection.name!r}: its tools cannot be listed: {_words(error)}") from error
    if pages.problem is not None:
        logger.warning("Server %r: %s", connection.name, pages.problem)
    return convert_mcp_tools(
        pages.entries, connection.name, connection.call_tool, namespace=namespace, tool_filter=tool_filter
    )


async def load_tools_from_client(
    client: Any, *, namespace: str = "mcp", tool_filter: MCPToolFilter | None = None
) -> list[MCPToolWrapper]:
    """The tools of every server of a client: of anything with `server_names` and `connect(name)`.

    One server that fails is an `MCPToolError` for all. The core way: `hub.tools`, where it costs only its own tools.
    """
    loaded: list[MCPToolWrapper] = []
    for name in client.server_names:
        try:
            connection = await outcome(client.connect(name))
        except MCPToolError:
            raise
        except Exception as error:
            raise MCPToolError(f"server {name!r}: it cannot be connected: {_words(error)}") from error
        loaded += await load_tools_from_connection(connection, namespace=namespace, tool_filter=tool_filter)
    return _told_apart(loaded)


def _told_apart(tools: list[MCPToolWrapper]) -> list[MCPToolWrapper]:
    """Each tool once, and no two under one name."""
    unique: dict[tuple[str, str], MCPToolWrapper] = {}
    for tool in tools:
        if unique.setdefault((tool.server_name, tool.original_name), tool) is not tool:
            logger.warning("Server %r lists its tool %r twice: the first counts", tool.server_name, tool.original_name)
    count = Counter(tool.name for tool in unique.values())
    for identity, tool in unique.items():
        if count[tool.name] > 1:
            shared, tool._name = tool.name, f"{tool.name}_{digest(*identity)}"
            logger.warning("%r of server %r is named %s: not the only %s", *reversed(identity), tool.name, shared)
    return list(unique.values())


# ── the client ───────────────────────────────────────────────────────────────────────────────────────────────────


def load_mcp_client(path: str | os.PathLike[str] | Mapping[str, Any], **options: Any) -> MCPClient:
    """The servers of an `mcp.json` as a client, to be used in `async with`. `options` are those of `connect`.

    Raises `ConfigError` with every mistake of the file. The core way: `connect(path)`.
    """
    return MCPClient(connect(path, **options))


class MCPClient:
    """A hub in the shape of the document. The core way: the `Hub` itself."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._is_open = False

    async def __aenter__(self) -> Self:
        await self._hub.open()
        self._is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        await self._hub.close()

    @property
    def server_names(self) -> list[str]:
        """The servers that are not disabled, in the order of the file."""
        return [name for name, spec in self._hub.specs.items() if not spec.disabled]

    async def connect(self, name: str) -> MCPServerConnection:
        """A server, connected. Raises `MCPToolError` where it cannot be."""
        if not self._is_open:
            raise MCPToolError(f"server {name!r}: the client is not open; use it inside `async with client:`")
        try:
            status = self._hub.status.get(name)
            if status is None or status.state != "idle":  # known from the disk: it is started by a call
                await self._hub.client(name)
        except ToolbridgeError as error:
            raise MCPToolError(str(error)) from error
        return MCPServerConnection(name, self._hub)


@dataclass(frozen=True, slots=True)
class MCPServerConnection:
    """One server of a client."""

    name: str
    hub: Hub

    async def list_tools(self) -> list[Tool]:
        """What the server offers to models now."""
        if self.hub.status[self.name].state != "idle":
            await self.hub.refresh(self.name)
        for warning in self.hub.status[self.name].warnings:
            logger.warning("Server %r: %s", self.name, warning)
        return [tool for tool in self.hub.tools if tool.id.server == self.name]

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call a tool by the server's own name for it."""
        try:
            return await self.hub.call(self.name, name, arguments)
        except ServerError as error:
            raise MCPToolError(str(error)) from error


# ── reading foreign shapes ───────────────────────────────────────────────────────────────────────────────────────


def read_result(answer: Any) -> ToolResult | None:
    """A `CallToolResult` of any spelling as ours; `None` where the answer is something else."""
    if isinstance(answer, ToolResult):
        return answer
    content = _field(answer, "content")
    structured = _field(answer, "structuredContent", "structured_content")
    if not isinstance(content, list | tuple) and structured is None:
        return None
    shown, structured, moved = for_models([_read_block(each) for each in content or ()], structured)
    return ToolResult(
        call_id="",
        content=shown,
        structured=structured,
        is_error=bool(_field(answer, "isError", "is_error")),
        meta={**moved, **meta_of(answer)},
    )


def _read_block(block: Any) -> Content:
    match _field(block, "type"):
        case "text":
            return Text(str(_field(block, "text") or ""))
        case "image":
            return Image(_field(block, "data") or "", _mime_type(block) or "image")
        case "audio":
            return Audio(_field(block, "data") or "", _mime_type(block) or "audio")
        case "resource":
            held = _field(block, "resource")
            return Resource(
                str(_field(held, "uri") or ""), _mime_type(held), _field(held, "text"), _field(held, "blob")
            )
        case "resource_link":
            uri, name = str(_field(block, "uri") or ""), str(_field(block, "name") or "")
            return ResourceLink(uri, name, _mime_type(block), _field(block, "description"))
        case _:  # no kind that MCP has: as it is, without what is for hosts
            if isinstance(block, str):
                return Text(block)
            return Text(json.dumps(without_meta(block), ensure_ascii=False, default=_plain))


def _plain(model: Any) -> Any:
    """An SDK's model in what is written: as its dict, without what is for hosts."""
    dump = getattr(model, "model_dump", None)
    return without_meta(dump(mode="json", by_alias=True)) if callable(dump) else str(model)


def _mime_type(holder: Any) -> str | None:
    return _field(holder, "mimeType", "mime_type")


def _field(holder: Any, *names: str) -> Any:
    """A field of a dict or of an object, under the first of its names that is there."""
    for name in names:
        value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
        if value is not None:
            return value
    return None


def _words(error: BaseException) -> str:
    return str(error) if isinstance(error, ToolbridgeError) else f"{type(error).__name__}: {error}"
