"""Reading: the SDK's models become our values. The only module that knows both.

Tools through `read_tools`, which takes whatever a server may list; results block by block, `_meta` kept apart; and what
`mend` put aside is put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import mcp_types

from toolbridge.apps import for_models
from toolbridge.notes import Note, pointer
from toolbridge.servers.mend import ENTRY, STRUCTURED
from toolbridge.tools import read_tools
from toolbridge.types import (
    Audio,
    Content,
    Image,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceLink,
    ServerPrompt,
    ServerResource,
    Text,
    Tool,
    ToolResult,
)

MOST_MISMATCHES = 8
"""Notes on one result that is not what the tool's output schema says."""


def read_listed(tools: Iterable[mcp_types.Tool], server: str) -> list[Tool]:
    """The tools of a listing, as the server sent them."""
    return read_tools([_entry(each) for each in tools], server)


def _entry(tool: mcp_types.Tool) -> Any:
    if tool.meta and ENTRY in tool.meta:
        return tool.meta[ENTRY]
    return tool.model_dump(mode="json", by_alias=True, exclude_unset=True)


def read_result(result: mcp_types.CallToolResult, call_id: str, tool: Tool | None) -> ToolResult:
    """A result, with a note for each way in which it is not what the tool's output schema says."""
    meta = dict(result.meta or {})
    whole = meta.pop(STRUCTURED, result.structured_content)
    content, structured, moved = for_models([read_content(each) for each in result.content], whole)
    notes: tuple[Note, ...] = ()
    # A result that tells of an error owes nobody the shape of a success.
    if tool is not None and tool.output_schema is not None and not result.is_error:
        notes = _mismatches(structured, tool.output_schema)
        if notes and moved and not _mismatches(whole, tool.output_schema):
            notes = ()  # the schema itself asks for a `_meta`
    return ToolResult(
        call_id=call_id,
        content=content,
        structured=structured,
        is_error=result.is_error,
        meta={**moved, **meta},
        notes=(*notes, Note("output.meta", "changed", "/_meta")) if moved else notes,
    )


def _mismatches(structured: Any, schema: Mapping[str, Any]) -> tuple[Note, ...]:
    if structured is None:
        return (Note("output.missing", "widened"),)
    checker = _checker(schema)
    if checker.accepts(structured):
        return ()
    problems = checker.problems(structured)[:MOST_MISMATCHES]
    return tuple(Note("output.mismatch", "widened", pointer(each.path), each.why) for each in problems)


_checkers: dict[int, tuple[Mapping[str, Any], Any]] = {}
"""Compiled output schemas by identity, with the schema itself so that the identity stays its own."""


def _checker(schema: Mapping[str, Any]) -> Any:
    from toolbridge.schema.check import Checker  # the validator is loaded for the first result that has a schema

    known = _checkers.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_checkers) >= 1000:
            _checkers.clear()
        known = _checkers[id(schema)] = (schema, Checker(schema))
    return known[1]


def read_content(block: mcp_types.ContentBlock) -> Content:
    """A block of content."""
    match block:
        case mcp_types.TextContent():
            return Text(block.text)
        case mcp_types.ImageContent():
            return Image(block.data, block.mime_type)
        case mcp_types.AudioContent():
            return Audio(block.data, block.mime_type)
        case mcp_types.ResourceLink():
            return ResourceLink(str(block.uri), block.name, block.mime_type, block.description)
        case mcp_types.EmbeddedResource():
            return read_resource(block.resource)


def read_resource(contents: mcp_types.TextResourceContents | mcp_types.BlobResourceContents) -> Resource:
    """A resource that was sent."""
    if isinstance(contents, mcp_types.TextResourceContents):
        return Resource(str(contents.uri), contents.mime_type, text=contents.text)
    return Resource(str(contents.uri), contents.mime_type, blob=contents.blob)


def read_listed_resource(each: mcp_types.Resource | mcp_types.ResourceTemplate, server: str) -> ServerResource:
    """A resource or a template of a listing."""
    template = isinstance(each, mcp_types.ResourceTemplate)
    return ServerResource(
        server=server,
        uri=str(each.uri_template if isinstance(each, mcp_types.ResourceTemplate) else each.uri),
        name=each.name,
        title=each.title,
        description=each.description,
        mime_type=each.mime_type,
        size=None if isinstance(each, mcp_types.ResourceTemplate) else each.size,
        template=template,
    )


def read_prompt(prompt: mcp_types.Prompt, server: str) -> ServerPrompt:
    """A prompt of a listing."""
    return ServerPrompt(
        server=server,
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=tuple(
            PromptArgument(each.name, each.description, bool(each.required)) for each in prompt.arguments or ()
        ),
    )


def read_prompt_message(message: mcp_types.PromptMessage) -> PromptMessage:
    """A message of a prompt."""
    return PromptMessage(message.role, read_content(message.content))
