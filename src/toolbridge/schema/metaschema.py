"""Whether a schema is one: held against the metaschema of the draft that it names, without ever fetching anything.

`repair` makes a sound schema of a broken one; this only says what is broken. The `$schema` of a foreign server picks
one of the drafts that the validator brings along and is never followed: it may be any address.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

DEEPEST: Final = 200
"""Levels of JSON that the validator is given: it is recursive, and the stack it runs on is not ours."""

MOST_PARTS: Final = 500_000
"""Objects and lists of one schema that are looked at."""

_DRAFTS: Final = (
    ("draft-04", "Draft4Validator", "http://json-schema.org/draft-04/schema#"),
    ("draft-06", "Draft6Validator", "http://json-schema.org/draft-06/schema#"),
    ("draft-07", "Draft7Validator", "http://json-schema.org/draft-07/schema#"),
    ("2019-09", "Draft201909Validator", "https://json-schema.org/draft/2019-09/schema"),
    ("2020-12", "Draft202012Validator", "https://json-schema.org/draft/2020-12/schema"),
)
"""What stands in the `$schema` of each draft, its validator, its metaschema. MCP takes the last where none is named."""


def breach(schema: Any) -> tuple[tuple[str | int, ...], str] | None:
    """Where a schema breaks its metaschema, and how; `None` where it is sound, or deeper than anyone should look."""
    if _is_deep(schema):
        return None
    named = schema.get("$schema") if isinstance(schema, dict) else None
    draft = next((each for each in _DRAFTS if isinstance(named, str) and each[0] in named), _DRAFTS[-1])
    validator = _validator(draft[1], draft[2])
    try:
        if validator.is_valid(schema):
            return None
        error = next(iter(validator.iter_errors(schema)))
    except (ValueError, TypeError, StopIteration):  # no JSON: `repair` deals with that
        return None
    return tuple(error.instance_path), str(error.message)


@cache
def _validator(name: str, metaschema: str) -> Any:
    import jsonschema_rs

    return getattr(jsonschema_rs, name)({"$ref": metaschema}, offline=True, validate_formats=False)


def _is_deep(value: Any) -> bool:
    """Whether JSON goes deeper or is more than is looked at, found level by level and so without recursion."""
    level = [value]
    seen = 0
    for _ in range(DEEPEST):
        seen += len(level)
        if seen > MOST_PARTS:
            return True
        level = [
            below
            for each in level
            if isinstance(each, dict | list)
            for below in (each.values() if isinstance(each, dict) else each)
            if isinstance(below, dict | list)
        ]
        if not level:
            return False
    return True
