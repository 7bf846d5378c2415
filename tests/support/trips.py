"""There and back, for one tool and one provider: what is wrong with it, in words; nothing where nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from tests.support.values import Values
from toolbridge import BoundCall, PreparedTools, Tool, ToolCall
from toolbridge.schema.convert import convert
from toolbridge.schema.dialects import SOURCE
from toolbridge.schema.keywords import same


def validator(schema: Any) -> Any:
    return jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=False)


def wire_schema(definition: dict[str, Any]) -> dict[str, Any]:
    """The schema inside a definition of any provider, as JSON Schema."""
    body = definition.get("function") or definition.get("toolSpec") or definition
    if "inputSchema" in body:
        return body["inputSchema"]["json"]
    if "parameters" in body and str(body["parameters"].get("type")).isupper():
        return plain(body["parameters"])
    for key in ("parameters", "input_schema", "parametersJsonSchema"):
        if key in body:
            return body[key]
    return {"type": "object"}


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of the OpenAPI kind as JSON Schema."""
    out = dict(schema)
    if "type" in out:
        out["type"] = out["type"].lower()
    if "properties" in out:
        out["properties"] = {key: plain(each) for key, each in out["properties"].items()}
    if "items" in out:
        out["items"] = plain(out["items"])
    if "anyOf" in out:
        out["anyOf"] = [plain(each) for each in out["anyOf"]]
    return {"anyOf": [out, {"type": "null"}]} if out.pop("nullable", False) else out


def broken_trips(tool: Tool, ready: PreparedTools, seed: int, tries: int) -> Iterator[str]:
    """Every counterexample found in so many tries each way."""
    if ready.left_out:
        return
    source_schema = convert(tool.input_schema, SOURCE).schema
    source, wire = validator(source_schema), validator(wire_schema(ready.definitions[0]))
    # Strict definitions leave out keys that no schema names, unless the schema says that there are such.
    named = source
    if not {"additionalProperties", "patternProperties"} & source_schema.keys():
        named = validator({**source_schema, "unevaluatedProperties": False})
    name = ready.wire_name(tool.id)
    makers = Values(source_schema, seed), Values(wire_schema(ready.definitions[0]), seed + 1)
    for _ in range(tries):
        value = makers[0].make()
        if isinstance(value, dict) and source.is_valid(value) and named.is_valid(value):
            yield from _there_and_back(tool, ready, name, value, wire)
        answer = makers[1].make()
        if isinstance(answer, dict) and wire.is_valid(answer):
            outcome = ready.resolve(ToolCall("1", name, json.dumps(answer), answer))
            if isinstance(outcome, BoundCall) and not source.is_valid(outcome.arguments):
                yield f"bound although invalid: {answer} became {outcome.arguments}"


def _there_and_back(tool: Tool, ready: PreparedTools, name: str, value: Any, wire: Any) -> Iterator[str]:
    written = ready.write_arguments(tool.id, value)
    if not wire.is_valid(written):
        yield f"written does not fit: {value} became {written}: {next(wire.iter_errors(written)).message}"
    back = ready.read_arguments(name, written)
    if not same(back, value):
        yield f"not the same: {value} became {written} became {back}"
    outcome = ready.resolve(ToolCall("1", name, json.dumps(written), written))
    if not isinstance(outcome, BoundCall):
        yield f"refused although valid: {value}: {outcome.text}"
