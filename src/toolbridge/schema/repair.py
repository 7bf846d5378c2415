"""Repair: one schema node as it came becomes one sound 2020-12 node, or says that nothing was wrong with it.

Not recursive: the walk calls it for each node it visits, before anything else looks at the node. Older drafts are
brought up to 2020-12; junk whose meaning is plain is given that meaning; the rest of the junk is dropped. Each repair
that changes what the node accepts makes a note.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from toolbridge.notes import Effect
from toolbridge.schema.keywords import COUNTS, KINDS, NUMBERS, SCHEMA_IN_VALUE, TYPE_SYNONYMS, VALUE_TYPES, same
from toolbridge.schema.phrases import quoted

Say = Callable[[str, Effect, Any], None]
"""Makes a note: code, effect, what stood there."""

_OLD_KEYWORDS = frozenset({"additionalItems", "dependencies", "$recursiveRef"})


def sound(node: dict[str, Any], say: Say) -> dict[str, Any]:
    """The node itself where it is sound, else a repaired copy."""
    for keyword, value in node.items():
        look = _LOOK.get(keyword)
        if look is None:
            if type(value) not in _JSON_SCALARS and (
                keyword in _OLD_KEYWORDS
                or type(keyword) is not str
                or (keyword in ("default", "const") and not is_json(value))
            ):
                return _repaired(node, say)
        elif type(value) not in look[0] or (look[1] is not None and not look[1](value)):
            return _repaired(node, say)
    return node


def _strings(values: Any) -> bool:
    try:
        return len(set(values)) == len(values) and all(type(each) is str for each in values)
    except TypeError:
        return False


def _members(properties: dict[Any, Any]) -> bool:
    for key, each in properties.items():
        if type(each) is not dict or type(key) is not str or type(each.get("required")) is bool:
            return False
    return True


def _distinct(values: list[Any]) -> bool:
    for each in values:
        if type(each) is not str:
            return False
    return len(set(values)) == len(values)


def _schemas_only(values: list[Any]) -> bool:
    for each in values:
        if type(each) is not dict and type(each) is not bool:
            return False
    return bool(values)


def _repaired(node: Mapping[Any, Any], say: Say) -> dict[str, Any]:
    """A sound copy of the node; the node's own keyword order is kept."""
    out: dict[str, Any] = {}
    for keyword, value in node.items():
        if not isinstance(keyword, str):
            say("keyword.dropped", "changed", str(keyword))
            continue
        repair = _REPAIRS.get(keyword)
        if repair is None:
            out[keyword] = value
        else:
            repair(out, keyword, value, node, say)
    return out


_Repair = Callable[[dict[str, Any], str, Any, Mapping[Any, Any], Say], None]


def as_schema(value: Any) -> dict[str, Any] | bool | None:
    """What a value in a schema's place plainly means: a schema, a type's name, a list of types; `None` if nothing."""
    if isinstance(value, dict | bool):
        return value
    if isinstance(value, str):
        name = value.strip().lower()
        if name in KINDS:
            return {"type": name}
        if name in TYPE_SYNONYMS:
            synonym = TYPE_SYNONYMS[name]
            return {"type": synonym} if synonym else {}
        return None
    if isinstance(value, list) and value and all(isinstance(each, str) and each in KINDS for each in value):
        return {"type": value}
    return None


def _type(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, str) and value in KINDS:
        out[keyword] = value
        return
    names: list[str] = []
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and each in KINDS:
            name: str | None = each
        elif isinstance(each, str) and each.strip().lower() in KINDS:
            name = each.strip().lower()
        elif isinstance(each, str) and each.strip().lower() in TYPE_SYNONYMS:
            name = TYPE_SYNONYMS[each.strip().lower()]
        elif isinstance(each, dict):  # a schema in a type's place: draft-03 unions
            say("type.dropped", "widened", value)
            return
        else:
            say("type.dropped", "widened", value)
            return
        if name is None:  # any value
            say("type.repaired", "changed", value)
            return
        if name not in names:
            names.append(name)
    if not names:
        say("type.dropped", "changed", value)
        return
    if names != value and [value] != names:
        say("type.repaired", "changed", value)
    out[keyword] = names[0] if len(names) == 1 else names


def _number(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, bool) and keyword in ("exclusiveMinimum", "exclusiveMaximum"):
        # Draft 4: a flag beside `minimum`. The bound itself moves here and leaves there.
        bound = node.get("minimum" if keyword == "exclusiveMinimum" else "maximum")
        if value and _is_number(bound):
            out[keyword] = bound
        return
    if keyword in ("minimum", "maximum"):
        flag = node.get("exclusiveMinimum" if keyword == "minimum" else "exclusiveMaximum")
        if flag is True:
            return
    number: Any = value
    if isinstance(value, str):
        try:
            number = float(value)
            number = int(number) if number.is_integer() else number
        except (ValueError, OverflowError):
            number = None
        else:
            say(f"{keyword}.repaired", "changed", value)
    if not _is_number(number) or (keyword == "multipleOf" and number <= 0):
        if value is not None:
            say(f"{keyword}.dropped", "widened", value)
        return
    out[keyword] = number


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _count(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    count = value
    if isinstance(value, str) and value.strip().isdigit():
        count = int(value)
        say(f"{keyword}.repaired", "changed", value)
    if not _is_number(count) or count != int(count) or count < 0:
        if value is not None:
            say(f"{keyword}.dropped", "widened", value)
        return
    out[keyword] = int(count)


def _properties(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if not isinstance(value, dict):
        if isinstance(value, list) and all(isinstance(each, dict) and "name" in each for each in value):
            say("properties.repaired", "changed", value)
            value = {str(each["name"]): {k: v for k, v in each.items() if k != "name"} for each in value}
        else:
            if value is not None:
                say("properties.dropped", "widened", value)
            return
    if value.get("type") == "object" and isinstance(value.get("properties"), dict):
        # The whole schema stands one level too deep. A property named `type` would have a schema for its value.
        say("properties.repaired", "changed", None)
        for inner, each in value.items():
            _REPAIRS.get(inner, _keep)(out, inner, each, value, say)
        return
    members: dict[str, Any] = {}
    hoisted: list[str] = []
    for key, each in value.items():
        if not isinstance(key, str):
            say("properties.dropped", "changed", str(key))
            continue
        if key == "required" and isinstance(each, list) and _strings(each):
            say("required.hoisted", "changed", each)
            hoisted += each
            continue
        if isinstance(each, dict):
            if each.get("required") is True:
                say("required.hoisted", "changed", key)
                hoisted.append(key)
            members[key] = each
            continue
        schema = as_schema(each)
        if schema is None:
            say(f"properties.{'described' if isinstance(each, str) else 'repaired'}", "changed", each)
            schema = {"description": each} if isinstance(each, str) else {}
        elif not isinstance(each, bool):
            say("properties.repaired", "changed", each)
        members[key] = schema
    out["properties"] = members
    if hoisted:
        declared = node.get("required")
        listed = [each for each in declared if isinstance(each, str)] if isinstance(declared, list) else []
        out["required"] = list(dict.fromkeys([*listed, *(each for each in hoisted if each in members)]))


def _required(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, bool) or value is None:
        return  # draft 3, on the property itself: the object above has taken it up
    if isinstance(value, str):
        say("required.repaired", "changed", value)
        value = [value]
    if not isinstance(value, list):
        say("required.dropped", "widened", value)
        return
    names = list(dict.fromkeys(each for each in value if isinstance(each, str)))
    if len(names) != len(value) and not _strings(names + [each for each in value if not isinstance(each, str)]):
        say("required.repaired", "changed", value)
    out[keyword] = list(dict.fromkeys([*out.get(keyword, []), *names]))


def _enum(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, dict):
        say("enum.repaired", "changed", value)
        value = list(value)
    if not isinstance(value, list):
        say("enum.dropped", "widened", value)
        return
    if not is_json(value):
        say("enum.repaired", "changed", quoted(value, 100))
        value = [each for each in value if is_json(each)]
    try:
        distinct = len(set(map(_by_kind, value))) == len(value)
    except TypeError:
        distinct = False
    if not distinct:
        kept: list[Any] = []
        for each in value[:_MOST_COMPARED]:
            if not any(same(each, other) for other in kept):
                kept.append(each)
        value = kept + value[_MOST_COMPARED:]
    out[keyword] = value


_MOST_COMPARED = 300
"""Values of an enum of lists and objects that are compared with each other; a longer one is left as it is."""


def _by_kind(value: Any) -> tuple[bool, Any]:
    return isinstance(value, bool), value


def _schema(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if keyword == "items" and isinstance(value, list):
        _tuple(out, value, node, say)
        return
    schema = as_schema(value)
    if schema is None:
        if value is not None:
            say(f"{keyword}.dropped", "changed", value)
        return
    if schema is not value:
        say(f"{keyword}.repaired", "changed", value)
    out[keyword] = schema


def _tuple(out: dict[str, Any], value: list[Any], node: Mapping[Any, Any], say: Say) -> None:
    """The list form of `items` is `prefixItems` since 2020-12, and `additionalItems` is `items`."""
    _schemas(out, "prefixItems", value, node, say)
    rest = node.get("additionalItems")
    if isinstance(rest, dict | bool):
        out["items"] = rest


def _schemas(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, dict):
        say(f"{keyword}.repaired", "changed", value)
        value = [value]
    if not isinstance(value, list):
        if value is not None:
            say(f"{keyword}.dropped", "changed", value)
        return
    kept: list[Any] = []
    for each in value:
        schema = as_schema(each)
        if schema is None:
            say(f"{keyword}.repaired", "changed", each)
        else:
            kept.append(schema)
    if kept:
        out[keyword] = kept
    elif keyword != "allOf" and value:
        say(f"{keyword}.dropped", "changed", value)


def _schema_map(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if not isinstance(value, dict):
        if value is not None:
            say(f"{keyword}.dropped", "changed", value)
        return
    kept: dict[str, Any] = {}
    for key, each in value.items():
        schema = as_schema(each)
        if not isinstance(key, str) or schema is None or (keyword == "patternProperties" and not is_regex(key)):
            say(f"{keyword}.repaired", "changed", each)
        else:
            kept[key] = schema
    out[keyword] = kept


def _dependencies(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    """Up to draft 7 one keyword held both kinds."""
    if not isinstance(value, dict):
        say("dependencies.dropped", "widened", value)
        return
    names = {key: each for key, each in value.items() if isinstance(key, str) and isinstance(each, list)}
    schemas = {key: each for key, each in value.items() if isinstance(key, str) and isinstance(each, dict | bool)}
    if names:
        _dependent_required(out, "dependentRequired", {**out.get("dependentRequired", {}), **names}, node, say)
    if schemas:
        out["dependentSchemas"] = {**out.get("dependentSchemas", {}), **schemas}


def _dependent_required(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if not isinstance(value, dict):
        say(f"{keyword}.dropped", "widened", value)
        return
    kept: dict[str, list[str]] = {}
    for key, each in value.items():
        if isinstance(key, str) and isinstance(each, list):
            kept[key] = list(dict.fromkeys(name for name in each if isinstance(name, str)))
        else:
            say(f"{keyword}.repaired", "widened", each)
    out[keyword] = kept


def _text(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, str):
        if keyword == "pattern" and not is_regex(value):
            say("pattern.dropped", "widened", value)
            return
        out[keyword] = value
    elif keyword in ("title", "description") and value not in (None, "", [], {}):
        out[keyword] = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    elif keyword in ("$ref", "$dynamicRef", "pattern") and value is not None:
        say(f"{keyword}.dropped", "widened", value)


def _flag(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if isinstance(value, bool):
        out[keyword] = value
    elif keyword == "uniqueItems" and value is not None:
        say("uniqueItems.dropped", "widened", value)


def _examples(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    kept = [each for each in (value if isinstance(value, list) else [value]) if is_json(each)]
    if kept:
        out[keyword] = kept


DEEPEST_DATA = 100
"""Levels of a default, constant or example; deeper ones are dropped."""


def is_json(value: Any, levels: int = DEEPEST_DATA) -> bool:
    """Whether this is data that JSON can hold and anyone can read: no NaN, no Python object, no abyss."""
    if type(value) in _JSON_SCALARS:
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list) and levels:
        return all(is_json(each, levels - 1) for each in value)
    if isinstance(value, dict) and levels:
        return all(isinstance(key, str) and is_json(each, levels - 1) for key, each in value.items())
    return isinstance(value, str | int)


_JSON_SCALARS = frozenset({str, int, bool, type(None)})


def _data(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    if is_json(value):
        out[keyword] = value
    else:
        say(f"{keyword}.dropped", "widened" if keyword == "const" else "changed", quoted(value, 100))


def _keep(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    out[keyword] = value


def _drop(out: dict[str, Any], keyword: str, value: Any, node: Mapping[Any, Any], say: Say) -> None:
    """`additionalItems` means nothing without a tuple, and beside one `items` has taken it up."""


_REPAIRS: dict[str, _Repair] = {
    "type": _type,
    "properties": _properties,
    "required": _required,
    "enum": _enum,
    "examples": _examples,
    "dependencies": _dependencies,
    "dependentRequired": _dependent_required,
    "additionalItems": _drop,
    "const": _data,
    "default": _data,
    **dict.fromkeys(NUMBERS, _number),
    **dict.fromkeys(COUNTS, _count),
    **dict.fromkeys(SCHEMA_IN_VALUE, _schema),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _schemas),
    **dict.fromkeys(("patternProperties", "dependentSchemas", "$defs", "definitions"), _schema_map),
    **dict.fromkeys(
        ("title", "description", "format", "pattern", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor",
         "contentEncoding", "contentMediaType"),
        _text,
    ),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
}  # fmt: skip


_INSIDE: dict[str, Callable[[Any], bool]] = {
    "type": KINDS.__contains__,
    "required": _distinct,
    "properties": _members,
    "enum": _distinct,
    "examples": is_json,
    "pattern": lambda value: is_regex(value),
    "patternProperties": lambda value: False,
    "dependentRequired": lambda value: False,
    "dependentSchemas": lambda value: False,
    "$defs": lambda value: _schemas_only([*value.values(), True]),
    "definitions": lambda value: _schemas_only([*value.values(), True]),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _schemas_only),
    **dict.fromkeys(NUMBERS, math.isfinite),
    "multipleOf": lambda value: 0 < value < math.inf,
    **dict.fromkeys(COUNTS, lambda value: value >= 0),
}
"""A second look at values whose outside is right: true where nothing inside needs a repair."""

_LOOK = {keyword: (expected, _INSIDE.get(keyword)) for keyword, expected in VALUE_TYPES.items()}

_ECMA_ONLY = re.compile(r"\\[pPucxk]|\(\?<|\[\^?\]")


@lru_cache(maxsize=4096)
def is_regex(pattern: str) -> bool:
    """Whether this is a regular expression at all; what only ECMA has gets the benefit of the doubt."""
    if len(pattern) > 20_000:
        return False
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError):
        return _ECMA_ONLY.search(pattern) is not None
    except Exception:  # a DeprecationWarning made an error, or whatever else a hostile pattern may bring about
        return False
    return True
