"""A generator of schemas: everything that JSON Schema has and tools use, nested and mixed, mostly satisfiable."""

from __future__ import annotations

import random
from typing import Any

KEYS = ["a", "b", "c", "type", "default", "$ref", "required", "a b", "日本", "x-y", "items", "0"]
WORDS = ["", "x", "red", "日本", "null", "1", "a b"]


class Schemas:
    """Random tool schemas."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names: list[str] = []

    def tool(self) -> dict[str, Any]:
        """A root: an object, perhaps with definitions, perhaps a union."""
        rng = self.rng
        self.names = rng.sample(["Node", "a/b~c", "P", "list"], rng.randint(0, 3))
        root = self._object(0)
        place = rng.choice(["$defs", "definitions"])
        if self.names:
            # A definition that is an object or an array cannot lead in a circle without getting further.
            root[place] = {name: rng.choice([self._object, self._array])(1) for name in self.names}
        if rng.random() < 0.1:
            keyword = rng.choice(["anyOf", "oneOf"])
            root[keyword] = [self._object(1) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.1:
            root["allOf"] = [self._object(1)]
        if rng.random() < 0.1:
            root["$schema"] = "http://json-schema.org/draft-07/schema#"
        return _spelt(root, place)

    def _any(self, depth: int) -> Any:
        rng = self.rng
        kind = rng.random()
        node: Any
        if depth > 3 or kind < 0.35:
            node = self._scalar()
        elif kind < 0.5:
            node = self._object(depth)
        elif kind < 0.6:
            node = self._array(depth)
        elif kind < 0.7:
            node = self._union(depth)
        elif kind < 0.76:
            node = {"type": rng.sample(["string", "integer", "null", "boolean", "object", "array"], rng.randint(1, 3))}
        elif kind < 0.82 and self.names:
            node = {"$ref": "#/$defs/" + rng.choice(self.names).replace("~", "~0").replace("/", "~1")}
        elif kind < 0.86:
            node = {"allOf": [self._any(depth + 1) for _ in range(rng.randint(1, 2))]}
        elif kind < 0.9:
            node = self._enum()
        elif kind < 0.94:
            node = {"type": "object", **self._beyond(depth, always=True)}
        elif kind < 0.97:
            return rng.choice([True, {}, {"description": "anything"}])
        else:
            node = (
                {"properties": {"a": self._any(depth + 1)}}
                if rng.random() < 0.3
                else {"const": rng.choice([1, "x", None])}
            )
        if rng.random() < 0.2:
            node["description"] = rng.choice(["What it is.", "Größe", "Default: 5"])
        if rng.random() < 0.15:
            node["default"] = rng.choice([None, 5, "x", {"$ref": "#/nope"}, []])
        if rng.random() < 0.1:
            node["title"] = "T"
        return node

    def _scalar(self) -> dict[str, Any]:
        rng = self.rng
        match rng.choice(["string", "string", "integer", "number", "boolean", "null"]):
            case "string":
                node: dict[str, Any] = {"type": "string"}
                if rng.random() < 0.3:
                    node.update(rng.choice([
                        {"minLength": 2}, {"maxLength": 3}, {"pattern": "^[a-z]+$"}, {"format": "uri"},
                        {"format": "date-time"}, {"pattern": "^(?!x)"}, {"contentEncoding": "base64"},
                    ]))  # fmt: skip
                return node
            case "integer":
                return {
                    "type": "integer",
                    **rng.choice([{}, {"minimum": 1}, {"minimum": 0, "maximum": 9}, {"multipleOf": 3}]),
                }
            case "number":
                return {"type": "number", **rng.choice([{}, {"exclusiveMinimum": 0}, {"maximum": 2.5}])}
            case other:
                return {"type": other}

    def _enum(self) -> dict[str, Any]:
        rng = self.rng
        values = rng.choice(
            [WORDS[:4], ["a", "b"], [1, 2], ["a", 1, None], [True], [{"k": 1}, [1], "x"], ["", "x"], [None, "a"]]
        )
        node: dict[str, Any] = {"enum": list(values)}
        if all(isinstance(each, str) for each in values) and rng.random() < 0.5:
            node["type"] = "string"
        return node

    def _union(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        keyword = rng.choice(["anyOf", "anyOf", "oneOf"])
        branches = [self._any(depth + 1) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.5:
            branches.append({"type": "null"})
        if rng.random() < 0.2:
            branches = [
                {
                    "type": "object",
                    "properties": {"kind": {"const": word}, "v": self._any(depth + 1)},
                    "required": ["kind"],
                }
                for word in ("one", "two")
            ]
        node: dict[str, Any] = {keyword: branches}
        if rng.random() < 0.1:
            node["type"] = rng.choice(["string", "object", ["string", "null"]])
        return node

    def _array(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        node: dict[str, Any] = {"type": "array"}
        if rng.random() < 0.8:
            node["items"] = self._any(depth + 1)
        if rng.random() < 0.15:
            node["prefixItems"] = [self._any(depth + 1) for _ in range(2)]
            if rng.random() < 0.5:
                node["items"] = rng.choice([False, {"type": "integer"}])
        if rng.random() < 0.2:
            node.update(rng.choice([{"minItems": 1}, {"maxItems": 2}, {"uniqueItems": True}]))
        return node

    def _beyond(self, depth: int, always: bool = False) -> dict[str, Any]:
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            return {"additionalProperties": False} if not always else {}
        if kind < 0.5:
            return {"additionalProperties": self._any(depth + 1)}
        if kind < 0.6:
            return {"additionalProperties": True}
        if kind < 0.66:
            return {
                "patternProperties": {"^x-": self._any(depth + 1)},
                "additionalProperties": rng.choice([False, True]),
            }
        return {"additionalProperties": {"type": "string"}} if always else {}

    def _object(self, depth: int) -> dict[str, Any]:
        rng = self.rng
        keys = rng.sample(KEYS, rng.randint(0 if depth else 1, 4))
        node: dict[str, Any] = {"type": "object", "properties": {key: self._any(depth + 1) for key in keys}}
        if keys and rng.random() < 0.7:
            node["required"] = rng.sample(keys, rng.randint(0, len(keys)))
        node.update(self._beyond(depth))
        if rng.random() < 0.05 and len(keys) > 1:
            node["dependentRequired"] = {keys[0]: [keys[1]]}
        if rng.random() < 0.05:
            node["minProperties"] = 1
        return node


def _spelt(node: Any, place: str) -> Any:
    """References to where the definitions stand."""
    if isinstance(node, dict):
        return {
            key: value.replace("#/$defs/", f"#/{place}/")
            if key == "$ref" and isinstance(value, str)
            else _spelt(value, place)
            for key, value in node.items()
        }
    return [_spelt(each, place) for each in node] if isinstance(node, list) else node
