"""References: what a `$ref` means inside its own document, and never outside it. No network, no file, ever.

A table per document: JSON pointers (percent- and tilde-escaped, into any location), `$anchor` and `$dynamicAnchor`,
`$id` of the document and of its parts, and draft-07's `$id: "#name"`.
"""

from __future__ import annotations

from typing import Any

from toolbridge.schema.keywords import subschemas

MOST_INDEXED = 200_000
"""Nodes that are looked at for anchors and ids; a document with more has no anchors past that."""


class Refs:
    """The references of one document."""

    __slots__ = ("_names", "root")

    def __init__(self, root: Any) -> None:
        self.root = root
        self._names: dict[str, Any] | None = None

    def resolve(self, ref: str) -> Any:
        """The node a reference leads to, or `None` where it leads nowhere in this document."""
        if ref in ("#", ""):
            return self.root
        if ref.startswith("#/"):
            return self._pointer(self.root, ref[2:])
        if self._names is None:
            self._names = self._index()
        if ref in self._names:
            return self._names[ref]
        base, hash_, fragment = ref.partition("#")
        document = self._names.get(base) if base else self.root
        if document is None:
            return None
        if not hash_ or not fragment:
            return document
        if fragment.startswith("/"):
            return self._pointer(document, fragment[1:])
        return self._names.get("#" + fragment)

    def _pointer(self, node: Any, pointer: str) -> Any:
        for step in pointer.split("/"):
            if "~" in step or "%" in step:
                step = _unquoted(step).replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict):
                if step not in node:
                    return None
                node = node[step]
            elif isinstance(node, list):
                if not step.isdecimal() or int(step) >= len(node):
                    return None
                node = node[int(step)]
            else:
                return None
        return node

    def _index(self) -> dict[str, Any]:
        """Every `$id`, `$anchor` and `$dynamicAnchor`, found without recursion."""
        names: dict[str, Any] = {}
        waiting: list[dict[str, Any]] = [self.root] if isinstance(self.root, dict) else []
        seen = 0
        while waiting and seen < MOST_INDEXED:
            node = waiting.pop()
            seen += 1
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(keyword), str):
                    names.setdefault("#" + node[keyword], node)
            for keyword in ("$id", "id"):
                identity = node.get(keyword)
                if isinstance(identity, str) and identity:
                    names.setdefault(identity, node)
                    names.setdefault(identity.rstrip("#"), node)
                    names.setdefault(identity.rstrip("#").rpartition("/")[2] or identity, node)
            waiting.extend(subschemas(node))
        return names


def _unquoted(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote  # few references need it

    return unquote(text)


def name_of(ref: str) -> str:
    """A readable name for the target of a reference: its last step."""
    last = _unquoted(ref.rpartition("/")[2] or ref).replace("~1", "_").replace("~0", "_").lstrip("#")
    kept = "".join(each if each.isascii() and (each.isalnum() or each in "_-.") else "_" for each in last)
    return kept.strip("_.-")[:60] or "root"
