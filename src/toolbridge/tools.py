"""Reading tools: whatever holds a tool list becomes a list of `Tool`.

A path, a JSON text, a `tools/list` answer (as a result, as a whole JSON-RPC message, or page by page), a list of
dicts, or the SDK's `Tool` models in the spelling of mcp 1.x and 2.x. A tool is never a reason to raise: an entry that
cannot be one is kept with its `problem`, and `prepare` leaves it out by name. Only a source that is no tool list at all
raises `SourceError`.
"""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolbridge.apps import meta_of
from toolbridge.errors import SourceError
from toolbridge.types import EMPTY, NO_HINTS, Tool, ToolHints, ToolId

SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters", "inputJsonSchema", "schema")
"""Where servers put the input schema: the protocol's key first, then what is seen in the wild."""

_READ = frozenset({
    "name", "title", "description", "inputSchema", "input_schema", "outputSchema", "output_schema", "annotations",
    "_meta", "meta", "icons", "execution", "type", "function",
})  # fmt: skip
"""The keys of an entry that a field stands for, or that belong to the protocol and are no affair of models."""

_KINDS: dict[str, type] = {
    "title": str, "description": str, "outputSchema": Mapping, "annotations": Mapping, "_meta": Mapping, "icons": list,
}  # fmt: skip
"""What the value of a key must be for its field to hold it."""

_HINTS = {
    "readOnlyHint": "read_only_hint",
    "destructiveHint": "destructive_hint",
    "idempotentHint": "idempotent_hint",
    "openWorldHint": "open_world_hint",
}


def read_tools(source: Any, server: str = "") -> list[Tool]:
    """The tools in a source. `server` is the name of the server they come from, if they come from one."""
    return [_read_tool(each, server, i) for i, each in enumerate(_entries(source))]


def _entries(source: Any) -> list[Any]:
    if isinstance(source, bytes | bytearray):
        return _from_document(_parsed(_decoded(bytes(source), "the bytes"), "the bytes"), "the bytes")
    if isinstance(source, os.PathLike) or (isinstance(source, str) and not _looks_like_json(source)):
        return _from_document(*_load(Path(source)))
    if isinstance(source, str):
        return _from_document(_parsed(source, "the text"), "the text")
    if isinstance(source, Mapping):
        return _from_document(source, "the object")
    listed = _tools_of(source)
    if listed is not None:
        return listed
    if _is_entry(source):
        return [source]
    if isinstance(source, Iterable):
        return _from_document(list(source), "the list")
    raise SourceError(f"{_kind(source)} is no tool list; expected a path, JSON text, a tools/list answer or a list")


def _looks_like_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[", '"') or "\n" in text or len(text) > 4096 or not text.strip()


def _load(path: Path) -> tuple[Any, str]:
    try:
        content = path.read_bytes()
    except OSError as failure:
        raise SourceError(f"{path}: {(failure.strerror or str(failure)).lower()}") from None
    except ValueError as failure:  # a NUL in the name
        raise SourceError(f"{str(path)!r}: {failure}") from None
    return _parsed(_decoded(content, str(path)), str(path)), str(path)


def _decoded(content: bytes, where: str) -> str:
    """Text as JSON files have it: UTF-8, or the UTF-16 that some shells write."""
    try:
        return content.decode(json.detect_encoding(content))
    except UnicodeDecodeError:
        raise SourceError(f"{where}: not UTF-8 text") from None


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError as failure:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1:
            try:
                return [json.loads(line) for line in lines]  # one tool a line
            except RecursionError:
                raise SourceError(f"{where}: nested too deeply to be a tool list") from None
            except ValueError:
                pass
        raise SourceError(
            f"{where}: not JSON: {failure.msg.lower()} at line {failure.lineno}, column {failure.colno}"
        ) from None
    except RecursionError:
        raise SourceError(f"{where}: nested too deeply to be a tool list") from None
    except ValueError as failure:  # a number of too many digits
        raise SourceError(f"{where}: not readable JSON: {failure}") from None


def _from_document(document: Any, where: str) -> list[Any]:
    if isinstance(document, list):
        if document and not any(_is_entry(each) for each in document):
            pages = [_tools_of(each) for each in document]
            if any(page is None for page in pages):
                raise SourceError(f"{where}: not a list of tools: its first item is {_kind(document[0])}")
            return [tool for page in pages for tool in page or ()]
        return document
    listed = _tools_of(document)
    if listed is not None:
        return listed
    if isinstance(document, Mapping) and _is_entry(document):
        return [document]
    if isinstance(document, Mapping):
        error = document.get("error")
        if isinstance(error, Mapping):
            raise SourceError(f"{where}: the server answered with an error: {error.get('message', error)}")
        if "tools" in document:
            raise SourceError(f'{where}: "tools" is {_kind(document["tools"])}; expected a list of tools')
        keys = ", ".join(map(str, list(document)[:5]))
        raise SourceError(
            f'{where}: no "tools" in it, only {keys or "nothing"}; expected a tools/list answer or a list'
        )
    raise SourceError(f"{where}: {_kind(document)}; expected a tools/list answer or a list of tools")


def _tools_of(document: Any) -> list[Any] | None:
    """The list inside a `tools/list` answer: the result, the message around it, or an SDK model of either."""
    for holder in (document, _get(document, "result")):
        tools = _get(holder, "tools")
        if isinstance(tools, list | tuple):
            return [*tools]
    return None


def _get(holder: Any, key: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(key)
    if isinstance(holder, str | bytes | int | float | list | tuple | None):
        return None
    return getattr(holder, key, None)


def _is_entry(entry: Any) -> bool:
    """Whether this can be a tool at all, be it a broken one."""
    if isinstance(entry, Mapping):
        function = entry.get("function")
        tool = function if isinstance(function, Mapping) else entry
        return "name" in tool or any(key in tool for key in SCHEMA_KEYS[:2]) or not entry or "description" in tool
    return isinstance(entry, Tool) or (
        hasattr(entry, "name") and (hasattr(entry, "input_schema") or hasattr(entry, "inputSchema"))
    )


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), f"a {type(value).__name__}")


def _read_tool(entry: Any, server: str, position: int) -> Tool:
    if isinstance(entry, Tool):
        return entry
    fields = _fields(entry)
    if fields is None:
        return _broken(server, position, f"entry {position} is {_kind(entry)}, not a tool")
    whole, wrapped = fields, fields.get("function")
    if "name" not in fields and isinstance(wrapped, Mapping):
        fields = wrapped
    name = fields.get("name")
    if not isinstance(name, str):
        return _broken(server, position, f"entry {position} has no name")
    schema: Any = None
    for key in SCHEMA_KEYS:
        if fields.get(key) is not None:
            schema = fields[key]
            break
    annotations = fields.get("annotations")
    annotations = annotations if isinstance(annotations, Mapping) else EMPTY
    description = fields.get("description")
    title = fields.get("title") or annotations.get("title")
    title = title if isinstance(title, str) else None
    output = fields.get("outputSchema") or fields.get("output_schema")
    icons = fields.get("icons")
    return Tool(
        id=ToolId(server, name),
        description=description if isinstance(description, str) else "",
        input_schema=_own(schema),
        output_schema=output if isinstance(output, Mapping) else None,
        title=title,
        hints=_hints(annotations),
        meta=meta_of(fields) or meta_of(whole),  # a definition may have it beside `function`
        icons=tuple(icons) if isinstance(icons, list) else (),
        unread=EMPTY if _is_written(entry) else _unread(fields, annotations, title),
    )


def _is_written(entry: Any) -> bool:
    """Whether this is a definition for a model, which is nobody's misspelt entry of a listing."""
    return isinstance(entry, Mapping) and entry.get("type") == "function"


def _unread(fields: Mapping[str, Any], annotations: Mapping[str, Any], title: str | None) -> Mapping[str, Any]:
    """What is left over. A second title beside `title` is: hosts may show it all the same."""
    rest = {
        key: value
        for key, value in fields.items()
        if key not in _READ or (value is not None and not isinstance(value, _KINDS.get(key, object)))
    }
    strange = {
        key: value
        for key, value in annotations.items()
        if not (key in _HINTS and isinstance(value, bool | None)) and not (key == "title" and value in (None, title))
    }
    if strange:
        rest["annotations"] = strange
    return rest or EMPTY


def _own(schema: Any) -> Any:
    """A copy, so that what the caller does to its dict later is not done to the tool."""
    try:
        return marshal.loads(marshal.dumps(schema))
    except ValueError:  # no plain data, or an abyss: `prepare` deals with it
        return schema


def _broken(server: str, position: int, problem: str) -> Tool:
    return Tool(ToolId(server, f"(entry {position})"), "", EMPTY, problem=problem)


def _fields(entry: Any) -> Mapping[str, Any] | None:
    """An entry's fields under the protocol's names, whichever SDK made it."""
    if isinstance(entry, Mapping):
        return entry
    if not hasattr(entry, "name"):
        return None
    dump = getattr(entry, "model_dump", None)
    if callable(dump):
        dumped = dump(mode="json", by_alias=True, exclude_none=True)
        if isinstance(dumped, Mapping):
            return dumped
    names = ("name", "title", "description", "inputSchema", "input_schema", "outputSchema", "output_schema",
             "annotations", "meta", "icons")  # fmt: skip
    return {name: getattr(entry, name) for name in names if getattr(entry, name, None) is not None}


def _hints(annotations: Mapping[str, Any]) -> ToolHints:
    claims = {field: annotations[key] for key, field in _HINTS.items() if isinstance(annotations.get(key), bool)}
    return ToolHints(**claims) if claims else NO_HINTS
