"""The way back: how arguments in a provider's shape become arguments in the server's shape, and the way forth.

Where the conversion changed a shape it leaves one of these records. A record reads (the model's value becomes the
server's) and writes (the server's value as the model would have written it); no record means the value is the same on
both sides. Reading is lenient: a value that is already in the server's shape passes. Nothing here validates; `check`
does, afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol, TypeAlias

from toolbridge.schema.keywords import kind_of, same

Path: TypeAlias = tuple[str | int, ...]


class Back(Protocol):
    """One record of the way back."""

    def read(self, value: Any) -> Any: ...

    def write(self, value: Any) -> Any: ...


def read(back: Back | None, value: Any) -> Any:
    """The value in the server's shape."""
    return value if back is None else back.read(value)


def write(back: Back | None, value: Any) -> Any:
    """The value in the provider's shape."""
    return value if back is None else back.write(value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def json_value(text: str) -> Any:
    """The JSON value that a text holds; raises `ValueError` where it holds none."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def json_text(value: Any) -> str:
    """A JSON value as text, non-ASCII as it is."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class AsText:
    """A value that the provider cannot describe stands as its JSON text."""

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json_value(value)
        except ValueError:
            return value  # not JSON: the text itself, for `check` to judge

    def write(self, value: Any) -> Any:
        return json_text(value)


@dataclass(frozen=True, slots=True)
class AsWord:
    """An enum value that the provider cannot list stands as a word of its own."""

    words: tuple[tuple[str, Any], ...]

    def read(self, value: Any) -> Any:
        if isinstance(value, str):
            for word, meant in self.words:
                if word == value:
                    return meant
        return value

    def write(self, value: Any) -> Any:
        for word, meant in self.words:
            if same(meant, value):
                return word
        return value


@dataclass(frozen=True, slots=True)
class Items:
    """An array whose items have a way back; the first ones perhaps each its own."""

    rest: Back | None
    first: tuple[Back | None, ...] = ()

    def _each(self, value: Any, go: Callable[[Back | None, Any], Any]) -> Any:
        if not isinstance(value, list):
            return value
        known = len(self.first)
        return [go(self.first[i] if i < known else self.rest, each) for i, each in enumerate(value)]

    def read(self, value: Any) -> Any:
        return self._each(value, read)

    def write(self, value: Any) -> Any:
        return self._each(value, write)


@dataclass(frozen=True, slots=True)
class Pairs:
    """A map stands as a list of `{"key": …, "value": …}`."""

    values: Back | None = None

    def read(self, value: Any) -> Any:
        if not isinstance(value, list) or not all(isinstance(each, dict) and "key" in each for each in value):
            return value
        return {each["key"]: read(self.values, each.get("value")) for each in value if isinstance(each["key"], str)}

    def write(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return [{"key": key, "value": write(self.values, each)} for key, each in value.items()]


@dataclass(frozen=True, slots=True)
class Fields:
    """An object: keys renamed, absent ones marked, undeclared ones gathered under one key."""

    keys: tuple[str, ...] = ()
    """All wire keys, in order."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Wire key to the server's key, where they differ."""
    inner: dict[str, Back] = field(default_factory=dict[str, Back])
    """Wire key to the way back of its value."""
    null_is_absent: frozenset[str] = frozenset()
    """Wire keys whose null stands for a property that is not there."""
    empty_is_absent: frozenset[str] = frozenset()
    """Wire keys whose `{}` stands for a property that is not there, because null is a value of its own."""
    extras: str | None = None
    """The wire key under which undeclared properties stand."""
    extras_back: Back | None = None
    extras_always: bool = False
    """Whether that key stands there also when nothing is undeclared."""

    def read(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        more: Any = None
        for key, each in value.items():
            if each is None and key in self.null_is_absent:
                continue
            if key in self.empty_is_absent and isinstance(each, dict) and not each:
                continue
            if key == self.extras:
                more = read(self.extras_back, each)
            else:
                out[str(self.names.get(key, key))] = read(self.inner.get(key), each)
        if isinstance(more, dict):
            for key, each in more.items():
                out.setdefault(key, each)
        return out

    def write(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        rest = dict(value)
        for key in self.keys:
            name = self.names.get(key, key)
            if name in rest and key != self.extras:
                out[key] = write(self.inner.get(key), rest.pop(name))
            elif key in self.null_is_absent:
                out[key] = None
            elif key in self.empty_is_absent:
                out[key] = {}
        extras = self.extras
        if extras is None:
            out.update(rest)  # undeclared, and the provider has no place for them: say them anyway
        elif rest or self.extras_always:
            out[extras] = write(self.extras_back, rest)
        return out


@dataclass(frozen=True, slots=True)
class Named:
    """A reference to a definition that has a way back; definitions may lead to themselves."""

    name: str
    table: dict[str, Back | None] = field(compare=False, repr=False)

    def read(self, value: Any) -> Any:
        return read(self.table.get(self.name), value)

    def write(self, value: Any) -> Any:
        return write(self.table.get(self.name), value)


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a union: its schema on both sides, the kinds of value each side has, the way back."""

    wire: dict[str, Any]
    wire_kinds: int
    source_kinds: int
    back: Back | None
    fits_wire: Callable[[Any], bool] = field(compare=False, repr=False)
    fits_source: Callable[[Any], bool] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A union whose branches have different ways back: the branch that fits is followed."""

    branches: tuple[Branch, ...]

    def read(self, value: Any) -> Any:
        kind = kind_of(value)
        fitting = [each for each in self.branches if each.wire_kinds & kind]
        if len(fitting) > 1:
            fitting = [each for each in fitting if each.fits_wire(value)] or fitting
        if len(fitting) > 1:
            fitting = [each for each in fitting if each.fits_source(read(each.back, value))] or fitting
        return read(fitting[0].back, value) if fitting else value

    def write(self, value: Any) -> Any:
        kind = kind_of(value)
        fitting = [each for each in self.branches if each.source_kinds & kind]
        if len(fitting) > 1:
            fitting = [each for each in fitting if each.fits_source(value)] or fitting
        if len(fitting) > 1:
            # A value may fit a branch by keys that it does not name, which cannot be said; another may name them.
            fitting = [each for each in fitting if each.fits_wire(write(each.back, value))] or fitting
        return write(fitting[0].back, value) if fitting else value


@dataclass(frozen=True, slots=True)
class Lifted:
    """Top-level keys and the paths they stand for, and the objects that are there even when they are empty."""

    paths: tuple[tuple[str, tuple[str, ...]], ...]
    kept: tuple[tuple[str, ...], ...]

    def read(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        rest = dict(value)
        for path in self.kept:
            _holder(out, (*path, ""))
        for key, path in self.paths:
            if key in rest:
                _holder(out, path)[path[-1]] = rest.pop(key)
        out.update(rest)
        return out

    def write(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        rest = json_value(json_text(value))  # a copy to take from: what is left at the end has no place of its own
        for key, path in self.paths:
            holder: Any = rest
            for step in path[:-1]:
                holder = holder.get(step) if isinstance(holder, dict) else None
            if isinstance(holder, dict) and path[-1] in holder:
                out[key] = holder.pop(path[-1])
        lifted = {path[0] for _, path in self.paths if len(path) > 1} | {path[0] for path in self.kept}
        out.update((key, each) for key, each in rest.items() if key not in lifted or _holds(each))
        return out


def _holder(out: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for step in path[:-1]:
        out = out.setdefault(step, {})
    return out


def _holds(value: Any) -> bool:
    """Whether anything is left inside but empty objects."""
    return any(map(_holds, value.values())) if isinstance(value, dict) else True


@dataclass(frozen=True, slots=True)
class Through:
    """Nested objects lifted, and the rest of the way back after that."""

    outer: Lifted
    inner: Back | None

    def read(self, value: Any) -> Any:
        return self.outer.read(read(self.inner, value))

    def write(self, value: Any) -> Any:
        return write(self.inner, self.outer.write(value))


def record_at(back: Back | None, path: Path) -> tuple[Path, Back | None]:
    """A path into the server's shape with the keys that the model saw, as far as can be told, and what is there."""
    out: list[str | int] = []
    if isinstance(back, Through):
        for key, place in back.outer.paths:
            if path[: len(place)] == place:
                return record_at(back.inner, (key, *path[len(place) :]))
        return path, None
    for step in path:
        while isinstance(back, Named):
            back = back.table.get(back.name)
        if isinstance(back, Fields):
            wire = next((wire for wire, name in back.names.items() if name == step), step)
            out.append(wire)
            back = back.inner.get(str(wire))
        elif isinstance(back, Items):
            out.append(step)
            back = back.first[step] if isinstance(step, int) and step < len(back.first) else back.rest
        else:
            out.append(step)
            back = back.values if isinstance(back, Pairs) else back if isinstance(back, AsText) else None
    return tuple(out), back


def lost(back: Back | None, value: Any) -> Iterator[str]:
    """What a model wrote and reading would drop, in words for the model: a key given twice, text that is no object."""
    if isinstance(back, Through):
        back = back.inner
    if isinstance(back, Named):
        back = back.table.get(back.name)
    if isinstance(back, Fields) and isinstance(value, dict):
        for key, each in value.items():
            if key == back.extras and each is not None and not isinstance(read(back.extras_back, each), dict):
                yield f"Argument {key}: it must be the JSON text of an object."
            yield from lost(back.extras_back if key == back.extras else back.inner.get(key), each)
    elif isinstance(back, Items) and isinstance(value, list):
        known = len(back.first)
        for i, each in enumerate(value):
            yield from lost(back.first[i] if i < known else back.rest, each)
    elif isinstance(back, Pairs) and isinstance(value, list):
        seen: set[str] = set()
        for each in value:
            key = each.get("key") if isinstance(each, dict) else None
            if not isinstance(key, str) or "value" not in each:
                yield "A list of keys and values has an item without a key or a value."
            elif key in seen:
                yield f"The key {json_text(key)} is given twice."
            else:
                seen.add(key)
                yield from lost(back.values, each.get("value"))
    elif isinstance(back, OneOf):
        for branch in back.branches:
            if branch.wire_kinds & kind_of(value) and branch.fits_wire(value):
                yield from lost(branch.back, value)
                return
