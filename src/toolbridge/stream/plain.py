"""Plain values: objects of the vendors' SDKs, and JSON text, as the JSON that they stand for.

The SDKs are not imported: a model says by itself how it is dumped. Values that are plain already are handed on as they
are, not copied.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from toolbridge.errors import HistoryError

_PLAIN = (str, int, float, bool, type(None), bytes, bytearray)


def plain(value: Any) -> Any:
    """The value as JSON: dicts and lists as they are, text parsed, SDK objects dumped.

    A value that is nested too deeply is a `RecursionError`, as it is to `json`.
    """
    if isinstance(value, dict | list):
        return _opened(value)
    if isinstance(value, str | bytes | bytearray):
        return read_json(value)
    return _dumped(value)


def read_json(text: str | bytes | bytearray) -> Any:
    """JSON text, parsed; what it is in place of JSON, where it is none."""
    try:
        return json.loads(text.lstrip("\ufeff") if isinstance(text, str) else text)
    except (ValueError, RecursionError) as failure:
        start = bytes(text[:60]).decode("utf-8", "replace") if not isinstance(text, str) else text[:60]
        raise HistoryError(f"not JSON ({failure}): it starts with {start!r}") from None


def _opened(value: Any) -> Any:
    """Dicts and lists, with SDK objects among them dumped; the very same value where there is none."""
    if isinstance(value, dict):
        changed = {key: new for key, old in value.items() if (new := _inner(old)) is not old}
        return {**value, **changed} if changed else value
    if isinstance(value, list):
        opened = [_inner(each) for each in value]
        return opened if any(new is not old for new, old in zip(opened, value, strict=True)) else value
    return value


def _inner(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, dict | list):
        return _opened(value)
    return _dumped(value)


def _dumped(value: Any) -> Any:
    """An object as JSON: by its own `model_dump`, leaving out what was never set."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): _inner(each) for key, each in value.items()}
    if isinstance(value, tuple | set | frozenset):
        return [_inner(each) for each in value]
    dump = getattr(value, "model_dump", None)
    if dump is not None and not isinstance(value, type):
        return _model(dump)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _inner(getattr(value, each.name)) for each in fields(value)}
    raise HistoryError(f"expected a dict, JSON text or an SDK object, not {type(value).__name__}")


def _model(dump: Any) -> Any:
    """A model's own JSON, bytes as standard base64 (google-genai's own dump would write the other alphabet)."""
    return _with_text(dump(by_alias=True, exclude_unset=True, warnings=False))


def _with_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_text(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_text(each) for each in value]
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, Enum):
        return value.value
    return value if isinstance(value, _PLAIN) else str(value)
