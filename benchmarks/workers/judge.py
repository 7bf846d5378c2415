"""The judge at work: definitions and calls of every converter, held against the provider's rules and the server's
schema. It runs in an environment of its own and imports no converter, ours neither.

    python judge.py RULES VALUES TOOLS

RULES is a module with `violations(provider, definition)`, VALUES one with `Values(schema, seed).make()`. It reads one
JSON request a line and answers one JSON line:

- `values`: for each tool calls that the server's schema takes (`there`), and calls that the definition takes (`back`)
- `verdicts`: for each tool what is wrong, given the calls as a model has to write them, and what reaches the server
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import jsonschema_rs

TRIES = 12
"""Values each way; those that the schema does not take after all are left out."""
SEED = 2026


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def validator(schema: Any, of_its_draft: bool = True) -> Any:
    make = jsonschema_rs.validator_for if of_its_draft else jsonschema_rs.Draft202012Validator
    return make(schema, offline=True, validate_formats=False)


def sent_schema(definition: dict[str, Any]) -> Any:
    """The schema inside a definition of any provider, as JSON Schema; without one, a call has no arguments."""
    body = definition.get("function") or definition
    for key in ("parametersJsonSchema", "parameters_json_schema", "input_schema"):
        if key in body:
            return body[key]
    if "parameters" in body:
        return body["parameters"] if "function" in definition else plain(body["parameters"])
    return {"type": "object", "maxProperties": 0}


def plain(schema: Any) -> Any:
    """A schema of Gemini's OpenAPI kind as JSON Schema."""
    if not isinstance(schema, dict):
        return schema
    out = {
        key: int(each) if str(each).isdigit() and key[:3] in ("min", "max") else each for key, each in schema.items()
    }
    if isinstance(out.get("type"), str):
        out["type"] = out["type"].lower()
        if out["type"] == "type_unspecified":
            del out["type"]
    if isinstance(out.get("properties"), dict):
        out["properties"] = {key: plain(each) for key, each in out["properties"].items()}
    if "items" in out:
        out["items"] = plain(out["items"])
    for key in ("anyOf", "any_of"):
        if isinstance(out.get(key), list):
            out["anyOf"] = [plain(each) for each in out.pop(key)]
    return {"anyOf": [out, {"type": "null"}]} if out.pop("nullable", False) else out


class Bench:
    """The tools, their validators and the calls that they take: the same for every converter."""

    def __init__(self, rules: Any, values: Any, texts: list[str]) -> None:
        self.rules = rules
        self.values = values
        self.tools: list[dict[str, Any]] = [json.loads(each) for each in texts]
        self.sources: dict[int, Any] = {}
        self.there: dict[int, list[Any]] = {}
        self.known: dict[str, str] = {}

    def source(self, i: int) -> Any:
        """What the server takes; nothing where its schema is not one, so that nothing can be said of calls."""
        if i not in self.sources:
            schema = self.tools[i].get("inputSchema")
            try:
                self.sources[i] = validator(schema) if isinstance(schema, dict) else None
            except Exception:
                self.sources[i] = None
        return self.sources[i]

    def made(self, schema: Any, seed: int, *checks: Any) -> list[Any]:
        maker = self.values.Values(schema, seed)
        found: list[Any] = []
        for _ in range(TRIES):
            try:
                value = maker.make()
                if isinstance(value, dict) and all(each.is_valid(value) for each in checks) and value not in found:
                    found.append(value)
            except Exception:  # a schema for which no value can be made, such as one with a $ref to nowhere
                continue
        return found

    def calls(self, i: int) -> list[Any]:
        if i not in self.there:
            source, schema = self.source(i), self.tools[i].get("inputSchema")
            if source is None:
                self.there[i] = []
            else:
                checks = [source]
                if not {"additionalProperties", "patternProperties"} & schema.keys():
                    # Keys that no schema names are not asked for: closing such an object is no loss.
                    try:
                        checks.append(validator({**schema, "unevaluatedProperties": False}, of_its_draft=False))
                    except Exception:  # a schema of one draft that is none of another: which keys it names is unknown
                        self.sources[i], self.there[i] = None, []
                        return []
                self.there[i] = self.made(schema, SEED + i, *checks)
        return self.there[i]

    def both(self, i: int, definition: Any) -> dict[str, Any]:
        if definition is None or self.source(i) is None:
            return {"there": [], "back": []}
        schema = sent_schema(definition)
        try:
            return {"there": self.calls(i), "back": self.made(schema, SEED - i, validator(schema))}
        except Exception:
            return {"there": self.calls(i), "back": []}

    def illegal(self, provider: str, definition: Any) -> str:
        key = provider + json.dumps(definition)
        if key not in self.known:
            try:
                found = self.rules.violations(provider, definition)
            except Exception as failure:  # rules that cannot even be asked: no provider would take it
                found = [f"{type(failure).__name__}: {failure}"]
            self.known[key] = found[0][:160] if found else ""
        return self.known[key]

    def verdict(self, i: int, provider: str, definition: Any, written: Any, returned: Any) -> dict[str, Any]:
        if definition is None:
            return {"raised": True}
        out: dict[str, Any] = {"illegal": self.illegal(provider, definition)}
        source = self.source(i)
        if source is None:
            return {**out, "unjudged": True}
        try:
            takes = validator(sent_schema(definition)).is_valid
        except Exception:  # what is sent is no schema: nobody can say which calls it takes
            return {**out, "unjudged": True}
        out["narrowed"] = written is None or not all(takes(each) for each in written)
        reached = [each[0] for each in returned or () if each]
        out["wrong"] = not all(source.is_valid(each) for each in reached)
        out["wider"] = out["wrong"] or len(reached) < len(returned or ())
        return out


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is no answer
    warnings.simplefilter("ignore")
    texts: list[str] = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
    bench = Bench(load(sys.argv[1]), load(sys.argv[2]), texts)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            definitions = request["definitions"]
            if request["do"] == "values":
                answer: Any = [bench.both(i, each) for i, each in enumerate(definitions)]
            else:
                rows = zip(definitions, request["written"], request["returned"], strict=True)
                answer = [bench.verdict(i, request["provider"], *row) for i, row in enumerate(rows)]
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
