"""Notes in words: what a note's code and effect mean to the person who reads them.

Codes are `thing.effect`. Those that need a sentence of their own have one; the others are told by their second half.
"""

from __future__ import annotations

from toolbridge.notes import Effect, Note
from toolbridge.schema.phrases import quoted

LONGEST_BEFORE = 60
"""Characters of what stood there before; enough to recognise it."""

EFFECTS: dict[Effect, str] = {
    "widened": "the definition allows more than the server does; calls are checked before they are sent",
    "narrowed": "the definition allows less than the server does; some calls can no longer be made",
    "changed": "written in another form; calls are put back into the server's own form",
}

_CODES = {
    "$ref.loosened": "recursive, without the rules beside the reference",
    "$ref.unresolved": "the reference leads nowhere: any value is allowed",
    "additionalProperties.closed": "properties that the schema does not name cannot be sent",
    "additionalProperties.dropped": "undeclared properties are not refused by this provider",
    "additionalProperties.gathered": "undeclared properties are sent in one extra property",
    "additionalProperties.loosened": "undeclared properties may have any value",
    "allOf.cyclic": "a part that contains itself is left out",
    "depth.cut": "nested too deeply: below this, any value is allowed",
    "description.shortened": "cut to the length that is allowed",
    "enum.words": "listed as text and turned back into what it was",
    "key.renamed": "not a legal property name here, so spelt another way",
    "map.pairs": "a map is sent as a list of keys and values",
    "name.spelt": "not a legal tool name here, so spelt another way",
    "nothing.said": "no value is accepted; the description says so",
    "object.lifted": "nested properties are lifted to the top level",
    "object.text": "an object of any properties is sent as JSON text",
    "optional.nullable": "optional: always sent, and null means left out",
    "optional.empty": "optional and may be null: always sent, and {} means left out",
    "prefixItems.loosened": "items may stand in any order",
    "property.forbidden": "a forbidden property is not in the definition",
    "recursion.cut": "contains itself: not followed past this depth",
    "required.hoisted": "moved from the property to the object that requires it",
    "schema.missing": "no input schema: written as a tool without arguments",
    "strict.over_budget": "not strict: the request's strict budget went to others",
    "strict.unavailable": "not strict: the provider has no strict form of it",
    "tool.duplicate": "listed more than once: the first is used",
    "type.inferred": "no type is named: it is taken from the other keywords",
    "union.text": "a choice that cannot be expressed is sent as JSON text",
    "value.text": "a value of any shape is sent as JSON text",
}

_ENDINGS = {
    "said": "not enforced here; the description says it",
    "merged": "the branches are merged into one object",
    "loosened": "replaced by something that allows more",
    "dropped": "not valid as written, so left out",
    "repaired": "not valid as written, so set right",
}


def family(code: str) -> str:
    """The code, or `*.said` for the many codes that mean the same of different keywords."""
    ending = code.rpartition(".")[2]
    return code if code in _CODES or ending not in _ENDINGS else f"*.{ending}"


def meaning(code: str) -> str:
    """What a note's code says, in a few words; the code itself where there are none for it."""
    return _CODES.get(code) or _ENDINGS.get(code.rpartition(".")[2]) or code.replace(".", " is ")


def before(note: Note) -> str:
    """What stood there before the change, in short; empty where the note does not say."""
    return "" if note.before is None else quoted(note.before, LONGEST_BEFORE)


def counted(number: int, thing: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
