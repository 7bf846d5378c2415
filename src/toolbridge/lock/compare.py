"""Comparing: what changed between a lock and what servers offer now, each change one value with its words.

It compares canonical forms (`surface`) and decides nothing: `judge` says what a change costs. Changes are sorted by
how grave they are, and the table of that is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from toolbridge.lock.matching import Effort
from toolbridge.lock.surface import Lock, LockedServer, LockedTool
from toolbridge.lock.words import quoted, seen, shown, word_changes
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP

Kind: TypeAlias = Literal["added", "removed", "changed"]

What: TypeAlias = Literal[
    "identity", "hints", "description", "instructions", "tool", "parameters", "meta", "annotations", "result",
    "server", "version", "protocol",
]  # fmt: skip
"""What changed. `tool` and `server` are whole ones; `description` is any text that tells a model what to do."""

GRAVEST: Final[dict[What, int]] = {
    "identity": 0,  # another program answers under the same name
    "hints": 1,  # a call that nobody was asked about may now write
    "description": 2,  # words that a model obeys: the way of a rug pull
    "instructions": 2,
    "tool": 3,  # nobody has looked at a new one
    "server": 3,
    "meta": 4,  # who may see and call a tool, what a host shows for it
    "parameters": 5,  # calls mean something else, or fail
    "annotations": 6,
    "result": 6,
    "version": 8,  # told, and no failure: see `REMARKS`
    "protocol": 8,
}
"""How grave a change is: the lowest number is told first."""

REMARKS: Final[frozenset[What]] = frozenset({"version", "protocol"})
"""What may change while everything else is as locked. A new version is the ordinary thing and says nothing about what
a model sees; the protocol is what server and client agreed on, and changes when we are upgraded."""

MOST_CHANGES = 200
"""Changes of one tool that are told one by one."""

_LEAST = 7
"""The rank of what takes power away: a tool that is gone, a hint that promises more."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was locked."""

    server: str
    tool: str | None
    """None where it is about the server itself."""
    kind: Kind
    what: What
    words: str
    """One sentence without a full stop. It may quote the server, every hidden character made visible: it is for people,
    and no model gets to read it."""
    path: str = ""
    """A JSON pointer into the tool, in the protocol's spelling."""
    grave: bool = False
    """Whether it gives the tool more power than it was locked with."""

    @property
    def fails(self) -> bool:
        """Whether it is more than a remark."""
        return self.what not in REMARKS

    @property
    def rank(self) -> int:
        """How grave it is: the lowest first."""
        milder = self.kind == "removed" or (self.what == "hints" and not self.grave)
        return _LEAST if milder else GRAVEST[self.what]


def compare(old: Lock, new: Mapping[str, LockedServer], *, gone: tuple[str, ...] = ()) -> tuple[Change, ...]:
    """The changes of these servers, the gravest first. `gone` are servers that are in the lock and no longer there."""
    found: list[Change] = []
    effort = Effort()
    for name, server in new.items():
        if name in old.servers:
            found += compare_server(name, old.servers[name], server, effort)
        else:
            count = f"{len(server.tools)} tool{'' if len(server.tools) == 1 else 's'}"
            found.append(Change(name, None, "added", "server", f"is not in the lock ({count})", grave=True))
    for name in gone:
        found.append(Change(name, None, "removed", "server", "is in the lock and no longer there"))
    return tuple(sorted(found, key=lambda each: (each.rank, each.server, each.tool or "")))


def compare_server(name: str, old: LockedServer, new: LockedServer, effort: Effort | None = None) -> tuple[Change, ...]:
    """The changes of one server, the gravest first. Every tool that differs is told; `effort` is what may be spent on
    the words for it."""
    effort = effort or Effort()
    found = [*_identity(name, old, new, effort)]
    for tool in sorted({*old.tools, *new.tools}):
        found += compare_tool(name, tool, old.tools.get(tool), new.tools.get(tool), effort)
    return tuple(sorted(found, key=lambda each: (each.rank, each.tool or "")))


def _identity(server: str, old: LockedServer, new: LockedServer, effort: Effort) -> Iterator[Change]:
    before, after = old.identity, new.identity
    said = [_named(each.get("name")) for each in (before, after)]
    if said[0] != said[1]:
        yield Change(server, None, "changed", "identity", f"called itself {said[0]} and calls itself {said[1]} now")
    if before.get("instructions") != after.get("instructions"):
        words = _text_change("instructions", before.get("instructions"), after.get("instructions"), effort)
        yield Change(server, None, "changed", "instructions", f"its {words}")
    if before.get("version") != after.get("version"):
        versions = [seen(each.get("version") or "unknown") for each in (before, after)]
        yield Change(server, None, "changed", "version", f"was version {versions[0]} and is version {versions[1]} now")
    if before.get("protocol") != after.get("protocol"):
        protocols = [seen(each.get("protocol") or "unknown") for each in (before, after)]
        yield Change(server, None, "changed", "protocol", f"spoke MCP {protocols[0]} and speaks {protocols[1]} now")


def _named(name: str | None) -> str:
    return quoted(name) if name else "nothing"


def compare_tool(
    server: str, name: str, old: LockedTool | None, new: LockedTool | None, effort: Effort
) -> list[Change]:
    """The changes of one tool."""
    if new is None:
        return [Change(server, name, "removed", "tool", "is gone")]
    if old is None:
        reads = _is_true(new.content.get("annotations"), "readOnlyHint")
        claim = "it says that it only reads" if reads else "it may write"
        return [Change(server, name, "added", "tool", f"is new: {claim}")]
    if (why := new.unlockable or old.unlockable) is not None:
        return [Change(server, name, "changed", "parameters", why, grave=True)]
    if old.digest == new.digest:
        return []
    found: list[Change] = []
    for what, words, path, grave in _tool_changes(old.content, new.content, effort):
        if len(found) == MOST_CHANGES:
            found.append(Change(server, name, "changed", "parameters", "has more changes than are told here"))
            break
        found.append(Change(server, name, "changed", what, words, path, grave))
    # The digests differ, so something is: what no sentence is made for is said as such.
    return found or [Change(server, name, "changed", "parameters", "changed")]


_Told: TypeAlias = tuple[What, str, str, bool]


def _tool_changes(old: Mapping[str, Any], new: Mapping[str, Any], effort: Effort) -> Iterator[_Told]:
    yield from _hint_changes(_mapping(old.get("annotations")), _mapping(new.get("annotations")))
    for key in ("description", "title"):
        if old.get(key) != new.get(key):
            yield "description", f"its {_text_change(key, old.get(key), new.get(key), effort)}", f"/{key}", True
    yield from _meta_changes(_mapping(old.get("_meta")), _mapping(new.get("_meta")))
    for key, what in (("inputSchema", "parameters"), ("outputSchema", "result")):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if key not in old or key not in new:
            words = "says now what it returns" if key in new else "no longer says what it returns"
            yield "result" if what == "result" else "parameters", words, f"/{key}", False
        else:
            schemas = _Schemas("result" if what == "result" else "parameters", effort)
            yield from schemas.changes(before, after, f"/{key}", "")


_CLAIMS: Final[dict[str, tuple[bool, str, str]]] = {
    "readOnlyHint": (False, "says now that it only reads", "no longer says that it only reads"),
    "destructiveHint": (True, "no longer says that it only adds", "says now that it only adds and destroys nothing"),
    "idempotentHint": (
        False,
        "says now that doing it again does no more",
        "no longer says that doing it again does no more",
    ),
    "openWorldHint": (
        True,
        "no longer says that it stays within its own system",
        "says now that it stays within its own system",
    ),
}
"""Each hint: what is assumed where it is not there (MCP 2025-11-25), and the words where it becomes true, and false."""


def _hint_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Told]:
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if before == after and (key in old) == (key in new):
            continue
        path = f"/annotations/{_step(key)}"
        if key not in _CLAIMS or not all(each is None or isinstance(each, bool) for each in (before, after)):
            words = _value_change(f"annotation {quoted(key)}", key in old, before, key in new, after)
            yield "annotations", f"its {words}", path, False
            continue
        assumed, became_true, became_false = _CLAIMS[key]
        was, now = (assumed if each is None else each for each in (before, after))
        if was == now:
            said = "no longer says" if after is None else "says now"
            yield "annotations", f"{said} what is assumed anyway ({key}: {'true' if now else 'false'})", path, False
        else:
            # The promise is `readOnlyHint: true` and the like; whoever takes one back may do more than before.
            yield "hints", became_true if now else became_false, path, now == assumed


def _meta_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Told]:
    for key in sorted({*old, *new}):
        if old.get(key) != new.get(key) or (key in old) != (key in new):
            words = _value_change(quoted(key), key in old, old.get(key), key in new, new.get(key))
            yield "meta", f"what hosts act on: {words}", f"/_meta/{_step(key)}", False


class _Schemas:
    """Two schemas side by side."""

    def __init__(self, what: Literal["parameters", "result"], effort: Effort) -> None:
        self._what: What = what
        self._effort = effort
        self._thing = "parameter" if what == "parameters" else "result's"

    def changes(self, old: Any, new: Any, path: str, place: str) -> Iterator[_Told]:
        if old == new:
            return
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            yield self._told(place, _value_change("schema", True, old, True, new), path)
            return
        for key in sorted({*old, *new}, key=_order):
            before, after, inner = old.get(key), new.get(key), f"{path}/{_step(key)}"
            if before == after and (key in old) == (key in new):
                continue
            if key in SCHEMAS_IN_MAP and all(isinstance(each, Mapping) for each in (before or {}, after or {})):
                yield from self._map(key, before or {}, after or {}, inner, place)
            elif key == "required" and all(_is_texts(each) for each in (before or [], after or [])):
                yield from self._required(old, new, before or [], after or [], inner, place)
            elif key == "enum" and isinstance(before, list) and isinstance(after, list):
                yield from self._enum(before, after, inner, place)
            elif key in ("description", "title", "$comment"):
                was, now = (each if isinstance(each, str | None) else shown(each) for each in (before, after))
                words = _text_change(key, was, now, self._effort)
                yield "description", f"{self._of(place)} {words}" if place else f"its schema's {words}", inner, True
            elif key in SCHEMA_IN_VALUE and key in old and key in new:
                yield from self.changes(before, after, inner, f"{place}[]" if key == "items" else place)
            elif (
                key in SCHEMAS_IN_LIST
                and isinstance(before, list)
                and isinstance(after, list)
                and len(before) == len(after)
            ):
                for i, (left, right) in enumerate(zip(before, after, strict=True)):
                    yield from self.changes(left, right, f"{inner}/{i}", place)
            else:
                yield self._told(place, _value_change(seen(key), key in old, before, key in new, after), inner)

    def _map(self, key: str, old: Mapping[str, Any], new: Mapping[str, Any], path: str, place: str) -> Iterator[_Told]:
        for name in sorted({*old, *new}):
            inner = f"{path}/{_step(name)}"
            below = f"{place}.{name}" if place and key == "properties" else name if key == "properties" else place
            if name in old and name in new:
                yield from self.changes(old[name], new[name], inner, below)
            elif key == "properties":
                yield self._what, f"{self._named(below)} is {'new' if name in new else 'gone'}", inner, False
            else:
                words = f"{key} {quoted(name)} is {'new' if name in new else 'gone'}"
                yield self._told(place, words, inner)

    def _required(
        self, old: Any, new: Any, before: list[str], after: list[str], path: str, place: str
    ) -> Iterator[_Told]:
        names = [_mapping(each.get("properties")) for each in (old, new)]
        wanted = {*after}
        for name in sorted({*before} ^ wanted):
            if name in names[0] and name not in names[1]:
                continue  # it is gone, and that is told
            below = f"{place}.{name}" if place else name
            words = "is required now" if name in wanted else "is no longer required"
            yield self._what, f"{self._named(below)} {words}", path, False

    def _enum(self, before: list[Any], after: list[Any], path: str, place: str) -> Iterator[_Told]:
        left, right = ({shown(each): None for each in values} for values in (before, after))
        came = [each for each in right if each not in left]
        gone = [each for each in left if each not in right]
        parts = [f"allows {_listed(came)} as well now"] if came else []
        parts += [f"no longer allows {_listed(gone)}"] if gone else []
        yield self._what, f"{self._of(place)} {' and '.join(parts) or 'lists its values in another order'}", path, False

    def _told(self, place: str, words: str, path: str) -> _Told:
        return self._what, f"{self._of(place)} {words}", path, False

    def _of(self, place: str) -> str:
        if not place:
            return "its result:" if self._what == "result" else "its parameters:"
        return f"{self._named(place)}:"

    def _named(self, place: str) -> str:
        return f"{self._thing} {quoted(place)}"


_FIRST = ("description", "title", "properties", "required", "type", "enum")


def _order(key: str) -> tuple[int, str]:
    return (_FIRST.index(key) if key in _FIRST else len(_FIRST), key)


def _listed(values: list[str]) -> str:
    more = f" and {len(values) - 8} more" if len(values) > 8 else ""
    return ", ".join(values[:8]) + more


def _text_change(key: str, old: str | None, new: str | None, effort: Effort) -> str:
    if old is None:
        return f"{key} is new: {quoted(new or '')}"
    if new is None:
        return f"{key} is gone"
    return f"{key} changed; {word_changes(old, new, effort)}"


def _value_change(name: str, was_there: bool, before: Any, is_there: bool, after: Any) -> str:
    if not was_there:
        return f"{name} is new: {shown(after)}"
    if not is_there:
        return f"{name} is gone; it was {shown(before)}"
    return f"{name} was {shown(before)} and is {shown(after)}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_true(value: Any, key: str) -> bool:
    return _mapping(value).get(key) is True


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _step(key: str) -> str:
    """A key in a JSON pointer."""
    return seen(key).replace("~", "~0").replace("/", "~1")
