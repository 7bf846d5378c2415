"""Values spoilt in one place: what stands there is replaced by something that nobody expects, or is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

JUNK: tuple[Any, ...] = (None, True, -1, 2.5, "", "x", "\ud800", [], [None], [[]], {}, {"": None}, {"a": {"b": []}})


def spoilt(value: Any) -> Iterator[Any]:
    """Copies of a JSON value, each with junk in one place, or without the member that stands there."""
    yield from JUNK
    if isinstance(value, dict):
        for key, each in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: junk} for junk in spoilt(each))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from ([*value[:index], junk, *value[index + 1 :]] for junk in spoilt(each))
