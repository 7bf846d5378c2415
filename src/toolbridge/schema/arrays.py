"""Arrays: items, tuples, and tuples where the dialect has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolbridge.schema.keywords import ARRAY
from toolbridge.schema.phrases import quoted
from toolbridge.schema.restore import Back, Items

if TYPE_CHECKING:
    from toolbridge.schema.convert import Path, Walk, Written


def array(walk: Walk, node: dict[str, Any], path: Path, level: int) -> Written:
    """An array node in a dialect that does not copy."""
    dialect = walk.dialect
    out: dict[str, Any] = {"type": "array"}
    first: list[Written] = []
    if "prefixItems" in node:
        for i, each in enumerate(node["prefixItems"]):
            first.append(walk.node(each, (*path, "prefixItems", str(i)), level))
    items = node.get("items", True)
    if first and not dialect.tuples:
        return _loose_tuple(walk, node, first, items, path, level)
    if first:
        out["prefixItems"] = [each.schema for each in first]
    rest: Written | None = None
    if items is False:
        out["items"] = {"type": "string"} if dialect.typed else {}
        node = {**node, "maxItems": min(len(first), node.get("maxItems", len(first)))}
    else:
        rest = walk.node(items, (*path, "items"), level)
        out["items"] = rest.schema
    return walk.finished(out, _back(first, rest), ARRAY, node, path, [])


def _back(first: list[Written], rest: Written | None) -> Back | None:
    after = rest.back if rest else None
    if after is None and all(each.back is None for each in first):
        return None
    return Items(after, tuple(each.back for each in first))


def _loose_tuple(walk: Walk, node: dict[str, Any], first: list[Written], items: Any, path: Path, level: int) -> Written:
    """A tuple where the dialect has none: a list of any of its items, each read by its place."""
    length = len(first)
    rest: Written | None = None
    if items is False or node.get("maxItems", length + 1) <= length:
        node = {**node, "maxItems": min(length, node.get("maxItems", length))}
    else:
        rest = walk.node(items, (*path, "items"), level)
    walk.note_at(path, "prefixItems.loosened", "widened", node["prefixItems"])
    distinct: list[dict[str, Any]] = []
    for each in (*first, rest) if rest else first:
        if each.schema not in distinct:
            distinct.append(each.schema)
    walk.unions += len(distinct) > 1
    out: dict[str, Any] = {"type": "array", "items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct}}
    told = [f"In this order: {quoted(node['prefixItems'])}."]
    return walk.finished(out, _back(first, rest), ARRAY, node, path, told)
