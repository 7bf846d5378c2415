"""Enumerations: `enum` and `const`, in dialects that take any value, only scalars, or only strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolbridge.schema.keywords import ANNOTATIONS, KINDS, NULL, STRING, kind_of, kinds_of_type, same
from toolbridge.schema.phrases import phrase
from toolbridge.schema.restore import AsWord, Back, json_text

if TYPE_CHECKING:
    from toolbridge.schema.convert import Path, Walk, Written

LONG_ENUM = 250
"""Values of a string enum past which OpenAI counts its characters."""

LONG_ENUM_CHARACTERS = 15_000
"""Characters that such an enum may have."""


def enumeration(walk: Walk, node: dict[str, Any], path: Path) -> Written | None:
    """A node with `enum` or `const`; `None` where the list itself had to be given up and the rest stands for it."""
    values = _values(node)
    declared = node.get("type")
    kinds = 0
    for each in values:
        kinds |= kind_of(each)
    if declared is not None:
        admitted = kinds_of_type(declared)
        if kinds & ~admitted:
            values = [each for each in values if kind_of(each) & admitted]
            kinds &= admitted
    if not values:
        walk.note_at(path, "enum.dropped", "widened", node.get("enum"))
        return None
    policy = walk.dialect.enums
    if not _affordable(walk, values):
        return _told(walk, node, values, kinds, path)
    rest = {key: value for key, value in node.items() if key in ANNOTATIONS or key == "allOf"}
    if policy == "any" or (policy == "scalars" and not kinds & (KINDS["array"] | KINDS["object"])):
        return walk.finished(_listed(walk, values, declared, kinds), None, kinds, rest, path, [])
    if policy == "strings and numbers" and not kinds & ~(STRING | KINDS["number"]):
        return walk.finished(_listed(walk, values, declared, kinds), None, kinds, rest, path, [])
    if kinds & NULL and kinds != NULL and policy != "scalars":
        from toolbridge.schema.unions import by_null

        return by_null(walk, values, node, path)
    if kinds == KINDS["boolean"] or kinds == NULL:
        return _told(walk, node, values, kinds, path)
    return _as_words(walk, values, kinds, rest, path)


def _values(node: dict[str, Any]) -> list[Any]:
    if "const" not in node:
        return node["enum"]
    if "enum" in node and not any(same(node["const"], each) for each in node["enum"]):
        return []
    return [node["const"]]


def _affordable(walk: Walk, values: list[Any]) -> bool:
    """Whether the list fits into what the provider still allows; counted where it does."""
    most = walk.dialect.limits.enum_values
    if most is None:
        return True
    characters = 0
    for each in values:
        characters += len(each if type(each) is str else str(each))
    if walk.enum_values + len(values) > most or (len(values) > LONG_ENUM and characters > LONG_ENUM_CHARACTERS):
        return False
    walk.enum_values += len(values) + 1  # a null may join them
    walk.characters += characters
    return True


def _listed(walk: Walk, values: list[Any], declared: Any, kinds: int) -> dict[str, Any]:
    """The list with the types its values have. `integer` stands for whole numbers only where all are."""
    if kinds & (KINDS["array"] | KINDS["object"]):
        return {"enum": values}
    if declared is None or isinstance(declared, list):
        names: list[str] = []
        for name in ("string", "boolean", "null"):
            if kinds & KINDS[name]:
                names.append(name)
        if kinds & KINDS["number"]:
            names.append("integer" if not kinds & KINDS["number"] & ~KINDS["integer"] else "number")
        declared = names[0] if len(names) == 1 else names
    if isinstance(declared, list) and not walk.dialect.type_lists:
        return {"enum": values}
    return {"type": declared, "enum": values}


def _told(walk: Walk, node: dict[str, Any], values: list[Any], kinds: int, path: Path) -> Written:
    """A list that the provider cannot take: the types stay, the values are said."""
    walk.note_at(path, "enum.said", "widened", values)
    rest = {key: value for key, value in node.items() if key not in ("enum", "const")}
    text = rest.get("description", "")
    rest["description"] = f"{text} {phrase('enum', values)}".strip()
    if "type" not in rest:
        names = [name for name in ("string", "boolean", "null", "number", "array", "object") if kinds & KINDS[name]]
        rest["type"] = names[0] if len(names) == 1 else names
    return walk.written(rest, path, 1)


def _as_words(walk: Walk, values: list[Any], kinds: int, rest: dict[str, Any], path: Path) -> Written:
    """Values that the provider cannot list, each as a word: its JSON text, or itself where all are plain strings."""
    words = [each if isinstance(each, str) and each else json_text(each) for each in values]
    if len(set(words)) < len(words):
        words = [json_text(each) for each in values]
    pairs = tuple(zip(words, values, strict=True))
    back: Back | None = None
    if any(word != value for word, value in pairs):
        back = AsWord(pairs)
        walk.note_at(path, "enum.words", "changed", values)
    return walk.finished({"type": "string", "enum": words}, back, STRING, rest, path, [])
