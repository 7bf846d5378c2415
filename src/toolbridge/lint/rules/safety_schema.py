"""Rules of safety for schemas and addresses: what costs a host dearly to handle, and what calls elsewhere."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolbridge.lint.finding import Flaw
from toolbridge.lint.rule import Rule, of
from toolbridge.lint.rules.safety_expansion import expanded_size, measured
from toolbridge.lint.rules.safety_patterns import is_slow
from toolbridge.lint.rules.safety_reading import MEASURED, MOST_FLAWS, SOURCE, quoted
from toolbridge.lint.subject import Subject, escaped
from toolbridge.lint.texts import below
from toolbridge.schema.keywords import SCHEMA_IN_VALUE, SCHEMAS_IN_LIST, SCHEMAS_IN_MAP

MOST_PROPERTIES: Final = 1_000
"""Keys of one object. The widest of 11,549 real tools has 205."""

MOST_CHOICES: Final = 5_000
"""Values of one list. The longest `enum` of 11,549 real tools has 169."""

MOST_VALUES: Final = 50_000
"""Values in one schema. The largest of 11,549 real tools has 2,210."""

MOST_LEVELS: Final = 100
"""Levels of lists and objects in one schema. The deepest of 11,549 real tools has 30."""

MOST_EXPANDED: Final = 1_000_000
"""Values of a schema with its references replaced by what they mean."""

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|[^#]")
_DIALECT = re.compile(
    r"https?://json-schema\.org/(?:draft-0[3-7]|draft/20(?:19-09|20-12))/(?:hyper-)?schema#?"
    r"|https?://json-schema\.org/schema#?"
)
_ICON = re.compile(
    r"https://|data:image/(?:png|jpe?g|gif|webp|svg\+xml|x-icon|vnd\.microsoft\.icon|avif)[;,]", re.IGNORECASE
)
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_TEMPLATES: Final = ("openai/outputTemplate", "ui/resourceUri")


def schema_bomb(subject: Subject) -> Iterator[Flaw]:
    for path, schema in (*_schemas(subject), ("", subject.tool.unread)):
        size = measured(schema, MOST_VALUES)
        if size.values > MOST_VALUES:
            yield Flaw(f"the schema holds more than {MOST_VALUES:,} values; no model can use that", path)
        if size.levels > MOST_LEVELS:
            yield Flaw(f"the schema is {size.levels:,} levels deep; readers that recurse fall over at that", path)
        if size.widest > MOST_PROPERTIES:
            yield Flaw(
                f"an object of the schema has {size.widest:,} keys; more than {MOST_PROPERTIES:,} are no interface",
                path,
            )
        if size.longest > MOST_CHOICES:
            yield Flaw(
                f"a list of the schema has {size.longest:,} items; more than {MOST_CHOICES:,} are no choice", path
            )
        if size.refers and size.values <= MOST_VALUES and expanded_size(schema, MOST_EXPANDED) > MOST_EXPANDED:
            yield Flaw(
                f"the references of the schema stand for more than {MOST_EXPANDED:,} values: who replaces them "
                f"runs out of memory",
                path,
            )


def slow_pattern(subject: Subject) -> Iterator[Flaw]:
    for where, node in _parts(subject) if "pattern" in subject.texts.joined else ():
        patterns = [(f"{where}/pattern", node.get("pattern"))]
        keyed = node.get("patternProperties")
        if isinstance(keyed, Mapping):
            patterns += [(f"{where}/patternProperties/{escaped(str(key))}", key) for key in keyed]
        for path, pattern in patterns:
            span = is_slow(pattern) if isinstance(pattern, str) else None
            if isinstance(pattern, str) and span is not None:
                message = (
                    f"{quoted(pattern[slice(*span)])} repeats a repetition: a text made for it takes a "
                    f"checker years; repeat once"
                )
                yield Flaw(message, path, pattern, span)


def remote_reference(subject: Subject) -> Iterator[Flaw]:
    if not any(keyword in subject.texts.joined for keyword in _REFERENCES):
        return
    for where, node in _parts(subject):
        for keyword in _REFERENCES:
            address = node.get(keyword)
            if isinstance(address, str) and _REMOTE.match(address):
                schema = subject.tool.output_schema if where.startswith("/outputSchema") else subject.tool.input_schema
                if not _is_own(address, schema):
                    message = (
                        f"{keyword} points outside of the schema, to {quoted(address)}; put what it means under $defs"
                    )
                    yield Flaw(message, f"{where}/{keyword}", address, (0, len(address)))


def _schemas(subject: Subject) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, schema in (("/inputSchema", subject.tool.input_schema), ("/outputSchema", subject.tool.output_schema)):
        if isinstance(schema, Mapping):
            yield path, schema


def _parts(subject: Subject) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every subschema of both schemas, however deep: no fewer than a bomb may have."""
    for path, schema in _schemas(subject):
        waiting = deque([(path, schema)])
        left = MOST_VALUES
        while waiting and left:
            left -= 1
            where, node = waiting.popleft()
            yield where, node
            waiting.extend(_subschemas(where, node))


def _subschemas(path: str, node: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for keyword, value in node.items():
        if keyword in SCHEMAS_IN_MAP and isinstance(value, Mapping):
            for key, each in value.items():
                if isinstance(each, Mapping):
                    yield below(below(path, escaped(keyword)), escaped(str(key))), each
        elif isinstance(value, list) and (keyword in SCHEMAS_IN_LIST or keyword == "items"):
            for i, each in enumerate(value):
                if isinstance(each, Mapping):
                    yield below(below(path, keyword), str(i)), each
        elif keyword in SCHEMA_IN_VALUE and isinstance(value, Mapping):
            yield below(path, keyword), value


def _is_own(address: str, schema: Any) -> bool:
    """Whether an address is that of the schema itself, or of a part that carries it as its `$id`."""
    base = address.partition("#")[0]
    parts = [schema, *(schema.get("$defs") or {}).values()] if isinstance(schema.get("$defs"), Mapping) else [schema]
    return any(isinstance(each, Mapping) and each.get("$id") == base for each in parts)


def unknown_dialect(subject: Subject) -> Iterator[Flaw]:
    for path, schema in _schemas(subject):
        said = schema.get("$schema")
        if isinstance(said, str) and said and not _DIALECT.fullmatch(said):
            message = (
                f"$schema names {quoted(said)}, which some checkers fetch and none knows; use a dialect of "
                f"json-schema.org"
            )
            yield Flaw(message, f"{path}/$schema", said, (0, len(said)))


def remote_content(subject: Subject) -> Iterator[Flaw]:
    icons: Any = subject.tool.icons
    for i, icon in enumerate(icons[:MOST_FLAWS]):
        address = icon.get("src") if isinstance(icon, Mapping) else None
        if isinstance(address, str) and address and not _ICON.match(address):
            message = f"the icon comes from {quoted(address[:60])}; use https: or an image in a data: address"
            yield Flaw(message, f"/icons/{i}/src", address, (0, len(address)))
    meta = subject.tool.meta
    ui = meta.get("ui")
    for path, address in (
        *((f"/_meta/{escaped(key)}", meta.get(key)) for key in _TEMPLATES),
        ("/_meta/ui/resourceUri", ui.get("resourceUri") if isinstance(ui, Mapping) else None),
    ):
        if isinstance(address, str) and re.match(r"(?:https?|data|javascript|file|ftp|wss?):", address, re.IGNORECASE):
            message = f"the template comes from {quoted(address[:60])} and not from the server; use a ui:// resource"
            yield Flaw(message, path, address, (0, len(address)))


def _bomb() -> dict[str, Any]:
    """A schema of 25 short definitions that stands for 33 million."""
    defs: dict[str, Any] = {
        f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]} for i in range(25)
    }
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": defs | {"d25": {"type": "object"}}}


RULES: Final = (
    Rule(
        "safety.schema-bomb",
        "error",
        "No schema is larger, deeper or wider than a host can handle.",
        "A few hundred bytes of references that double each other are gigabytes where they are replaced; hosts "
        "fall over.",
        MEASURED,
        bad=of({"name": "add", "inputSchema": _bomb()}),
        good=of(
            {
                "name": "add",
                "inputSchema": {
                    "type": "object",
                    "properties": {"tree": {"$ref": "#/$defs/tree"}},
                    "$defs": {
                        "tree": {
                            "type": "object",
                            "properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}},
                        }
                    },
                },
            }
        ),
        check=schema_bomb,
    ),
    Rule(
        "safety.slow-pattern",
        "warning",
        "No pattern takes for ever.",
        "Checkers that backtrack need exponential time for a repetition within a repetition: one argument stops a "
        "host.",
        "OWASP on regular expressions and denial of service, checked November 2026",
        bad=of(
            {
                "name": "add",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
            }
        ),
        good=of(
            {
                "name": "add",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+,)+$"}}},
            }
        ),
        check=slow_pattern,
    ),
    Rule(
        "safety.remote-reference",
        "error",
        "No schema refers to anything outside of itself.",
        "Who resolves it calls an address that the server chose, and the answer can be another tomorrow: no lock "
        "holds it.",
        "MCP specification 2025-11-25 (tools), checked November 2026",
        bad=of(
            {
                "name": "add",
                "inputSchema": {"type": "object", "properties": {"a": {"$ref": "https://schemas.example/a.json"}}},
            }
        ),
        good=of(
            {
                "name": "add",
                "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}},
            }
        ),
        check=remote_reference,
    ),
    Rule(
        "safety.unknown-dialect",
        "warning",
        "No schema names a dialect that nobody knows.",
        "Checkers refuse such a schema, or fetch the address to see what it means.",
        "JSON Schema 2020-12 ($schema), checked November 2026",
        bad=of({"name": "add", "inputSchema": {"$schema": "https://dialects.example/own", "type": "object"}}),
        good=of(
            {
                "name": "add",
                "inputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
            }
        ),
        check=unknown_dialect,
    ),
    Rule(
        "safety.remote-content",
        "warning",
        "Icons come over https or in a data: address of an image; templates are resources of the server.",
        "A host that loads them from elsewhere tells that address who uses what, and shows what somebody put "
        "there since.",
        SOURCE,
        bad=of({"name": "add", "icons": [{"src": "http://icons.example/add.png"}]}),
        good=of(
            {
                "name": "add",
                "icons": [{"src": "https://icons.example/add.png"}],
                "_meta": {"ui": {"resourceUri": "ui://add"}},
            }
        ),
        check=remote_content,
    ),
)
