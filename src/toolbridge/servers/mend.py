"""Mending: answers that the SDK would refuse as a whole for one small thing, put so that the rest of them arrives.

The SDK validates a whole answer against the protocol. One tool without `"type": "object"` at its root would cost the
server's whole list, a text block without text a whole result. Here such an entry is replaced by the least that is
legal, and what the server really said travels in `_meta` under `ENTRY` and `STRUCTURED`, where `read` finds it again.
Between the transports and the SDK's session; what is legal passes untouched.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from toolbridge.apps import without_meta
from toolbridge.servers.catalog import MAX_AGE_SECONDS

ENTRY = "toolbridge/entry"
"""In a tool's `_meta`: the entry as the server sent it."""

STRUCTURED = "toolbridge/structured"
"""In a result's `_meta`: structured content that the protocol version has no place for (a list, a string)."""

LISTS = frozenset({"tools", "resources", "resourceTemplates", "prompts"})
ANNOTATIONS = frozenset({"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
KEYS = frozenset({"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"})
"""Keys of a tool that pass through the SDK unharmed."""

UNSAID_TTL = int(MAX_AGE_SECONDS * 1000)
"""Milliseconds that a listing holds which does not say."""

_CONTENT: dict[str, dict[str, Any]] = {
    "text": {"text": ""},
    "image": {"data": "", "mimeType": "application/octet-stream"},
    "audio": {"data": "", "mimeType": "application/octet-stream"},
    "resource_link": {"uri": "", "name": ""},
}
"""The kinds of content that are flat, what each must have, and what stands in where it is missing."""


def mended(message: SessionMessage) -> SessionMessage:
    """The message with the answer in it made legal, in place."""
    answer = message.message
    if isinstance(answer, JSONRPCResponse):
        result = answer.result
        # 2026-07-28 has clients read an answer that does not say so as complete; the older versions do not look.
        result.setdefault("resultType", "complete")
        if not LISTS.isdisjoint(result):
            # mcp 2.3 refuses a listing of 2026-07-28 that does not say how long it holds; the older ones do not look.
            result.setdefault("ttlMs", UNSAID_TTL)
            result.setdefault("cacheScope", "private")
        if isinstance(result.get("tools"), list):
            result["tools"] = [_tool(each) for each in result["tools"]]
        elif "content" in result or "structuredContent" in result:
            _mend_result(result)
        if result.get("nextCursor", "") is None:  # "no more" in the spelling of some
            del result["nextCursor"]
    return message


def _tool(entry: Any) -> Any:
    if isinstance(entry, dict) and _is_legal(entry):
        return entry
    name, schema = (entry.get("name"), entry.get("inputSchema")) if isinstance(entry, dict) else (None, None)
    return {
        "name": name if isinstance(name, str) else "",
        # The SDK reads from it which arguments go into headers.
        "inputSchema": schema if _is_object_schema(schema) else {"type": "object"},
        "_meta": {ENTRY: entry},
    }


def _is_legal(entry: dict[str, Any]) -> bool:
    """Whether the SDK would take it: only what is surely legal, for a needless mending costs nothing."""
    return (
        isinstance(entry.get("name"), str)
        and _is_object_schema(entry.get("inputSchema"))
        and ("outputSchema" not in entry or _is_object_schema(entry["outputSchema"]))
        and all(isinstance(entry.get(key, ""), str) for key in ("title", "description"))
        and all(isinstance(entry.get(key, {}), dict) for key in ("_meta", "annotations"))
        and all(isinstance(each, bool | str) for each in entry.get("annotations", {}).values())
        # What the SDK's models have no field for they drop; whoever lints the tool wants to see it.
        and entry.get("annotations", {}).keys() <= ANNOTATIONS
        and entry.keys() <= KEYS
    )


def _is_object_schema(schema: Any) -> bool:
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and isinstance(schema.get("$schema", ""), str)
        and isinstance(properties := schema.get("properties", {}), dict)
        and all(isinstance(each, dict | bool) for each in properties.values())
        and isinstance(required := schema.get("required", []), list)
        and all(isinstance(each, str) for each in required)
    )


def _mend_result(result: dict[str, Any]) -> None:
    content = result.get("content")
    result["content"] = [_content(each) for each in content] if isinstance(content, list) else _sole(content)
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        meta = result.get("_meta")
        result["_meta"] = {**(meta if isinstance(meta, dict) else {}), STRUCTURED: structured}
        del result["structuredContent"]
    elif structured is None:
        result.pop("structuredContent", None)
    if not isinstance(result.get("isError", False), bool):
        result["isError"] = bool(result["isError"])
    if not isinstance(result.get("_meta", {}), dict):
        del result["_meta"]


def _sole(content: Any) -> list[Any]:
    """Content that is no list: nothing, or one block."""
    return [] if content is None else [_content(content)]


def _content(block: Any) -> Any:
    if not isinstance(block, dict):
        return {"type": "text", "text": block if isinstance(block, str) else _as_text(block)}
    needs = _CONTENT.get(block.get("type", ""))
    if needs is not None:
        if all(isinstance(block.get(key), str) for key in needs) and _is_annotated_well(block):
            return block
        whole = {key: block[key] if isinstance(block.get(key), str) else fallback for key, fallback in needs.items()}
        if whole.get("name") == "":
            whole["name"] = whole["uri"]
        kept = {key: block[key] for key in ("mimeType", "description", "title") if isinstance(block.get(key), str)}
        return {"type": block["type"], **kept, **whole}
    resource = block.get("resource")
    if block.get("type") == "resource" and isinstance(resource, dict) and isinstance(resource.get("uri"), str):
        if isinstance(resource.get("text"), str) or isinstance(resource.get("blob"), str):
            return block
        return {"type": "resource", "resource": {**resource, "text": ""}}
    # A block of no kind that the protocol has is text, and text is for the model: what is for hosts stays out of it.
    return {"type": "text", "text": _as_text(block)}


def _as_text(block: Any) -> str:
    return json.dumps(without_meta(block), ensure_ascii=False)


def _is_annotated_well(block: dict[str, Any]) -> bool:
    annotations = block.get("annotations", {})
    return (
        isinstance(annotations, dict)
        and isinstance(annotations.get("audience", []), list)
        and set(annotations.get("audience", [])) <= {"user", "assistant"}
        and isinstance(annotations.get("priority", 0), int | float)
        and 0 <= annotations.get("priority", 0) <= 1
        and isinstance(annotations.get("lastModified", ""), str)
    )


class Mended:
    """A read stream of the SDK whose messages are mended on the way, and whose end is told."""

    def __init__(self, stream: Any, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item = await self._stream.__anext__()
        except StopAsyncIteration:
            self._on_end()
            raise
        return mended(item) if isinstance(item, SessionMessage) else item

    async def receive(self) -> SessionMessage | Exception:
        item = await self._stream.receive()
        return mended(item) if isinstance(item, SessionMessage) else item

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *details: Any) -> bool | None:
        return await self._stream.__aexit__(*details)
